// SPDX-License-Identifier: Apache-2.0
//
// A watched folder: which names are in it and which files they lead to. libuv's fs events say when
// to look again; a folder that is not there is looked for when the folder above it changes, or now
// and then when that cannot be told. Sub folders are not looked into. Loop thread only; the looking
// is done in the thread pool.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/follow/watch_io.h"
#include "protocol/base/hash.h"

struct follow;
struct watch;

struct folder_name {
    struct nvtxt_hash_node node;
    struct folder_name *next, *prev;
    struct follow *follow; // NULL: nothing that is followed
    uint64_t round;        // of the folder's lists of all names: seen in it
    char name[];
};

enum folder_event { FOLDER_UNWATCHED, FOLDER_WATCHES_ITSELF, FOLDER_WATCHES_PARENT };

struct folder {
    struct watch *watch; // borrowed
    struct folder *next;
    char *path; // owned
    uv_fs_event_t event;
    uv_timer_t timer;
    unsigned handles; // not closed yet
    enum folder_event watching;
    bool closing, listing;
    bool up;                    // it was there when it was looked at last
    bool said;                  // that it cannot be watched
    struct log_limit log_names; // who renames in it cannot flood the log
    bool told;                  // that its file system is silent, or that it has too many names
    uint64_t round;             // of the watch: names are complete as of it
    uint64_t list_round;        // of the list that is being made
    uint64_t all_round;         // counts lists of all names
    bool all_wanted;
    char **wanted; // owned: names to look at
    size_t wanted_count;
    char **asked; // what the list being made looks at; NULL: all
    size_t asked_count;
    uv_work_t work;
    struct watch_list list;
    int list_result;
    struct nvtxt_hash names;
    struct folder_name *first;
};

// Watches when it is listed for the first time. NULL when memory is short.
struct folder *folder_open(struct watch *watch, const char *path);
void folder_close(struct folder *folder);    // its names are lost; it is freed by itself
void folder_list_all(struct folder *folder); // looks at everything in it again
bool folder_is_looking(const struct folder *folder);
