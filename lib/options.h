// SPDX-License-Identifier: Apache-2.0
//
// What the environment and nvtxt_init() ask for (nvtxt(3), "Environment"). A value that cannot be
// is named on stderr with the one that is used; the program goes on. A process that was given other
// rights than its caller's asks for nothing, and nothing is recorded.
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "lib/nvtxt.h"
#include "lib/send/sender.h"

struct lib_options {
    bool is_secure;     // set user id and the like: record nothing
    bool has_no_socket; // NVTXT_SOCKET is no path that a socket can have
    char socket[108], name[256], spool[512], log[512];
    char parent[NVTXT_PARENT_BYTES + 1]; // of all that is recorded; "": none
    uint64_t ring_bytes, window_bytes;
    uint32_t exit_ms;
    bool levels;                   // payloads of marks are severities
    const char *include, *exclude; // copies; NULL: not given
};

extern struct lib_options lib_options;

// Checks what nvtxt_init() was given and takes what the environment has not said. Returns 0, or
// -EINVAL; then nothing has changed.
int options_give(const struct nvtxt_options *given);

// Reads the environment, once in a process and its children. Any thread; the value of what was
// given before is named in a complaint.
void options_read(void);

// Whether events of a domain are left out; "default" is the one without a name. Reads the
// environment when nobody has.
bool options_is_excluded(const char *name);

// The sockets to try, in the order of all programs: the one that was named; else one's own
// daemon's, then the system's, and for root the other way round.
uint32_t options_paths(char paths[SENDER_PATHS][108]);

// One line on stderr, for what a person asked for and cannot have.
void options_complain(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

// One line into NVTXT_LOG.
void options_vlog(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
void options_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
