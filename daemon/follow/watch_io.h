// SPDX-License-Identifier: Apache-2.0
//
// What blocks when folders are watched and files followed: list, open, read. These functions run in
// libuv's thread pool; they take values and return values, and know nothing of the loop. They never
// wait for a peer: they follow no link, and read no pipe and no device.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/value/batch.h"

#define WATCH_IO_HEAD_BYTES 1024u // hashed at the start of a file, and 64 right before its place
#define WATCH_IO_TAIL_BYTES 64u

enum {
    WATCH_IO_ABSENT = 1, // nothing is there or, for a file, another one than the one wanted
    WATCH_IO_SHORT,      // of memory or descriptors; there may be some soon
};

struct watch_stat {
    int error; // 0, one of the above or -errno: nothing else is set then
    bool is_file, is_folder;
    int64_t device, inode, size, changed_ns;
    int64_t uid, gid;
    uint64_t links;
};

// ---- Folders ------------------------------------------------------------------------------------

struct watch_entry {
    const char *name;
    struct watch_stat stat;
};

// A mapping that grows.
struct watch_room {
    void *data;
    size_t used, bytes;
};

struct watch_list {
    int error;      // of the folder: 0, WATCH_IO_ABSENT or -errno, then there are no entries
    bool silent;    // its file system may send no events for what others change
    bool truncated; // there were more names than WATCH_IO_NAMES_MAX
    bool all;       // all names of the folder
    size_t count;
    struct watch_entry *entries;   // in `rows`; their names are in `texts`
    struct watch_room rows, texts; // owned
};

#define WATCH_IO_NAMES_MAX 100000 // of a folder: bounds what it can make the daemon remember

enum {
    WATCH_IO_CAPTURES = 1, // capture folders are wanted, too
    WATCH_IO_NO_LINK = 2,  // the folder itself may not be a link
};

// Looks at `names`, or at all names that are wanted when that is NULL: those of files that are
// followed, and what `how` adds. Returns 0 or -ENOMEM. What is wrong with the folder is in the
// list.
int watch_io_list(const char *folder, unsigned how, char *const *names, size_t count,
                  struct watch_list *list);
void watch_io_list_deinit(struct watch_list *list);

// ---- Files --------------------------------------------------------------------------------------

struct watch_opened {
    int fd; // -1: not open, `stat.error` says why
    struct watch_stat stat;
    bool same;                      // what was read of it before is still there
    char tail[WATCH_IO_TAIL_BYTES]; // the bytes before its place
};

// Opens the file and compares it with what is known of it.
void watch_io_open(const char *path, const struct store_followed *known,
                   struct watch_opened *opened);

struct watch_read {
    size_t n; // bytes
    struct watch_stat stat;
};

// Reads at `offset`; fewer bytes than `size` only at the end of the file.
void watch_io_read(int fd, char *buffer, size_t size, uint64_t offset, struct watch_read *result);
