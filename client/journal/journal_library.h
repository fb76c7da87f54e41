// SPDX-License-Identifier: Apache-2.0
//
// libsystemd, loaded when it is needed. nvtxt-send is started for each step of a build, and for
// each mark of a script; libsystemd and the libraries that it needs would make each start take half
// as long again. Where the library is missing, all but --journal works.
#pragma once

#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>

#define JOURNAL_CALLS(CALL)                                                                        \
    CALL(sd_id128_get_machine)                                                                     \
    CALL(sd_id128_to_string)                                                                       \
    CALL(sd_journal_add_conjunction)                                                               \
    CALL(sd_journal_add_disjunction)                                                               \
    CALL(sd_journal_add_match)                                                                     \
    CALL(sd_journal_close)                                                                         \
    CALL(sd_journal_flush_matches)                                                                 \
    CALL(sd_journal_get_cursor)                                                                    \
    CALL(sd_journal_get_data)                                                                      \
    CALL(sd_journal_get_events)                                                                    \
    CALL(sd_journal_get_fd)                                                                        \
    CALL(sd_journal_get_realtime_usec)                                                             \
    CALL(sd_journal_get_timeout)                                                                   \
    CALL(sd_journal_next)                                                                          \
    CALL(sd_journal_open)                                                                          \
    CALL(sd_journal_open_directory)                                                                \
    CALL(sd_journal_open_files)                                                                    \
    CALL(sd_journal_previous)                                                                      \
    CALL(sd_journal_process)                                                                       \
    CALL(sd_journal_seek_cursor)                                                                   \
    CALL(sd_journal_seek_head)                                                                     \
    CALL(sd_journal_seek_realtime_usec)                                                            \
    CALL(sd_journal_seek_tail)                                                                     \
    CALL(sd_journal_set_data_threshold)                                                            \
    CALL(sd_journal_test_cursor)

// The functions, each under its name.
struct journal_library {
#define JOURNAL_POINTER(name) __typeof__(&name) name;
    JOURNAL_CALLS(JOURNAL_POINTER)
#undef JOURNAL_POINTER
};

// Loads it, once for the life of the process. NULL: it cannot be; `*fault` says why, a view that
// lives until the next call of the dynamic linker.
const struct journal_library *journal_library(const char **fault);
