// SPDX-License-Identifier: Apache-2.0
//
// daemon/conf: the configuration of the daemon: the table of keys, files, the command line, and the
// paths that follow from them. The room owns the configuration and the lock files; it opens no
// socket and no store. It is used at the start and by a reload, before and in the loop's thread.
//
// This header: the values, the table of their keys, and what fills them: files and the command
// line. A value is checked against its row. nvtxtd.conf(5) and the installed nvtxtd.conf are made
// from the table. While the daemon runs, only a reload changes the values (daemon/reload.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/limits.h"
#include "protocol/conf/ini.h"

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
    int64_t keep_free;   // see nvtxt_conf_share()
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
    char *watch_directory;  // absolute paths, a line each
    int64_t watch_captures; // 0, 1; -1: in the folder of the environment only
    int64_t file_expiry_ms;
};

enum conf_change {
    CONF_AT_ONCE,     // a reload applies it
    CONF_NEW_SOURCES, // a reload applies it to sources that begin later
    CONF_RESTART,     // a reload only says that a restart is needed
};

extern const struct nvtxt_conf_table conf_table; // daemon/conf/conf_keys.c
#define CONF_KEYS_MAX 64                         // at least as many as there are

// What a reload of the configuration did.
struct reload_result {
    const struct nvtxt_conf_key *applied[CONF_KEYS_MAX]; // changed, and in force now
    size_t applied_count;
    const struct nvtxt_conf_key *restart[CONF_KEYS_MAX]; // changed, but a restart is needed
    size_t restart_count;
    char why[2048]; // the faults, a line each
};

// Sets all keys to their defaults. Returns 0 or -ENOMEM; needs conf_deinit() in both cases.
int conf_init(struct conf *config);
void conf_deinit(struct conf *config);

const struct nvtxt_conf_key *conf_find(const char *name); // NULL: there is no such key

// Whether keys contradict each other. Returns 0, or NVTXT_WRONG with a sentence in `why` and the
// two keys.
int conf_check(const struct conf *config, const struct nvtxt_conf_key *keys[2], char *why,
               size_t size);

void conf_limits(const struct conf *config, struct nvtxt_limits *limits); // for a new source

const char *conf_synchronous_name(const struct conf *config); // "full" or "normal"

// ---- Files (daemon/conf/conf_file.c) ------------------------------------------------------------

// Reads the main file and its drop-ins, and checks what they say together. Returns 0, NVTXT_WRONG
// when there were faults, or -errno when the main file cannot be read; `complain` has got a
// sentence for each, with file and line. A main file that does not exist is a fault only if
// `must_exist`.
int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct nvtxt_faults *faults);

// ---- The command line (daemon/conf/command_line.c) ----------------------------------------------

// Options set keys. The file of -c, or the usual one, is read first, so an option overrides the
// file wherever it stands.

enum options_result {
    OPTIONS_RUN = 0,
    OPTIONS_FAULT = NVTXT_WRONG, // a sentence is on standard error
    OPTIONS_DONE,                // --help, --version, --check-config: the answer is printed
};

// `*status` is the exit status for DONE and FAULT.
enum options_result options_read(int argc, char **argv, struct conf *config, int *status);

// For a reload: reads file and options again, into a configuration that has its defaults. Returns
// 0, NVTXT_WRONG, or -errno; `faults` has got a sentence for each.
int options_read_again(int argc, char **argv, struct conf *config,
                       const struct nvtxt_faults *faults);
