// SPDX-License-Identifier: Apache-2.0
//
// daemon/conf: the configuration of the daemon: the table of keys, files, the command line, and the
// paths that follow from them. The room owns the configuration and the lock files; it opens no
// socket and no store. It is used at the start and by a reload, before and in the loop's thread.
//
// This header: the values and the table of keys, one row each: name, type, range, default, meaning,
// and when a reload applies a change. A value from the command line or a file is checked against
// its row. nvtxtd.conf(5) and the installed nvtxtd.conf are made from the table. While the daemon
// runs, only a reload changes the values (daemon/reload.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/limits.h"

enum conf_claim { CONF_CLAIM_NONE, CONF_CLAIM_PEER };
enum conf_synchronous { CONF_SYNCHRONOUS_FULL, CONF_SYNCHRONOUS_NORMAL };

// Texts are owned, and "" when not given; all numbers are int64_t, as the table fills them.
struct conf {
    char *socket;
    char *control_socket;
    char *store;
    char *socket_group;
    int64_t socket_mode; // -1: depends on the user that the daemon runs as
    int64_t store_mode;
    int64_t lock_timeout_ms;
    int64_t log_level; // enum log_level
    int64_t commit_interval_ms;
    int64_t synchronous; // enum conf_synchronous
    int64_t memory_budget;
    int64_t checkpoint_pages;
    int64_t cupti_views; // 0, 1
    char *store_group;
    int64_t rotate_size;
    int64_t rotate_age_ms; // 0: any age
    int64_t rotate_wal;
    int64_t keep_files;  // 0: any number
    int64_t keep_size;   // 0: any size
    int64_t keep_age_ms; // 0: any age
    int64_t keep_free;   // a share, see conf_share()
    int64_t keep_at_least;
    char *shipped_file;
    int64_t keep_unshipped; // 0: nothing waits
    int64_t max_line;
    int64_t max_variables;
    int64_t max_variable_bytes;
    int64_t max_name_bytes;
    int64_t max_push_depth;
    int64_t max_open_ranges;
    int64_t max_open_threads;
    int64_t max_open_bytes;
    int64_t max_waiting_names;
    int64_t diagnostics_per_source;
    int64_t max_connections_per_user;
    int64_t max_bytes_per_user;
    int64_t max_open_bytes_per_user;
    int64_t max_sessions_per_user;
    int64_t max_events_per_second; // 0: any number
    int64_t session_expiry_ms;
    int64_t claim; // enum conf_claim
    int64_t stop_timeout_ms;
    char *watch_directory; // absolute paths, a line each
    int64_t file_expiry_ms;
};

enum conf_type {
    CONF_TEXT,
    CONF_PATH,   // must be absolute in a file, but not on the command line
    CONF_PATHS,  // absolute paths: each value adds one, "" clears the list
    CONF_CHOICE, // a word of `choices`; the value is its place there
    CONF_INTEGER,
    CONF_SIZE,     // bytes; K, M, G: powers of 1024
    CONF_DURATION, // milliseconds; ms, s, min, h, d; a bare number is seconds
    CONF_MODE,     // octal; "" is -1
    CONF_SHARE,    // a percentage, and a size that bounds it: 10, 10%, "10%,4G"
};

enum conf_change {
    CONF_AT_ONCE,     // a reload applies it
    CONF_NEW_SOURCES, // a reload applies it to sources that begin later
    CONF_RESTART,     // a reload only says that a restart is needed
};

struct conf_key {
    const char *name;
    enum conf_type type;
    enum conf_change change;
    size_t offset;
    int64_t min, max;    // PATH: `max` is its greatest length in bytes, 0: any
    const char *choices; // CHOICE: "full|normal"
    const char *initial; // the default, as a user would write it
    const char *topic;   // keys of one topic stand together
    const char *help;
};

// The two numbers in the value of a SHARE.
struct conf_share {
    int64_t percent;
    int64_t bytes; // upper bound; 0: none
};
struct conf_share conf_share(int64_t value);

extern const struct conf_key conf_keys[]; // daemon/conf/conf_keys.c
extern const size_t conf_key_count;
#define CONF_KEYS_MAX 64 // at least as many as there are

// What a reload of the configuration did.
struct reload_result {
    const struct conf_key *applied[CONF_KEYS_MAX]; // changed, and in force now
    size_t applied_count;
    const struct conf_key *restart[CONF_KEYS_MAX]; // changed, but a restart is needed
    size_t restart_count;
    char why[2048]; // the faults, a line each
};

// Sets all keys to their defaults. Returns 0 or -ENOMEM; needs conf_deinit() in both cases.
int conf_init(struct conf *config);
void conf_deinit(struct conf *config);

// NULL when there is no such key. Names are matched exactly.
const struct conf_key *conf_find(const char *name);

// The name of the key that somebody meant who wrote this one; NULL when none is near.
const char *conf_near(const char *name);

// Sets one key. Returns 0, 1 for a bad value (`why` says what is allowed), or -ENOMEM.
int conf_set(struct conf *config, const struct conf_key *key, const char *value, char *why,
             size_t size);

// Whether keys contradict each other. Returns 0, or 1 with a sentence in `why` and the two keys.
int conf_check(const struct conf *config, const struct conf_key *keys[2], char *why, size_t size);

bool conf_differs(const struct conf *a, const struct conf *b, const struct conf_key *key);
int conf_copy(struct conf *to, const struct conf *from, const struct conf_key *key); // 0, -ENOMEM

void conf_limits(const struct conf *config, struct nvtxt_limits *limits); // for a new source

const char *conf_synchronous_name(const struct conf *config); // "full" or "normal"
