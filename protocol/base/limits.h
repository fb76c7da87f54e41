// SPDX-License-Identifier: Apache-2.0
//
// Numbers and names that the daemon and the programs around it share: the ranges of ids, the limits
// of what a source may keep open (nvtxt(5), "Limits"), the default places (nvtxtd(1), "FILES").
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NVTXT_ID_MAX 0xFFFFFFu // ProcessId and ThreadId: 24 bits each, what globalTid holds
#define NVTXT_CATEGORY_MAX 0xFFFFFFFFu
#define NVTXT_RESOURCE_KIND_BYTES 31 // longest Kind of SetResourceName
#define NVTXT_EXCERPT_BYTES 200      // what a diagnostic keeps of its line
#define NVTXT_SESSION_ID_BYTES 36 // a UUID in its canonical form; 32 hexadecimal digits do as well
#define NVTXT_KEY_BYTES 64        // longest key of a range that may be a parent
#define NVTXT_PARENT_BYTES 255    // longest token of a parent: SESSION:KEY

// Limits of one source. Each of them guards against a peer that would grow our memory without end.
// The defaults are far beyond what a working producer needs.
struct nvtxt_limits {
    size_t line_bytes;     // longest line, without its LF
    size_t variables;      // variables a source may have
    size_t variable_bytes; // bytes of all their string values together
    size_t name_bytes;     // longest variable name
    size_t push_depth;     // ranges pushed and not popped, per thread
    size_t open_ranges;    // start/end ranges open at once
    size_t open_threads;   // threads that have a push stack
    size_t open_bytes;     // memory that all open ranges take together
    size_t waiting_names;  // names given before the first event
    size_t diagnostics;    // diagnostics handed on; further ones are only counted
};

#define NVTXT_LIMITS_DEFAULT                                                                       \
    {                                                                                              \
        .line_bytes = 65536, .variables = 4096, .variable_bytes = 1 << 20, .name_bytes = 255,      \
        .push_depth = 1024, .open_ranges = 65536, .open_threads = 65536, .open_bytes = 32 << 20,   \
        .waiting_names = 65536, .diagnostics = 1000                                                \
    }

// globalTid of the export schema: PID << 24 | TID, bit 63 clear.
static inline uint64_t nvtxt_global_tid(uint32_t pid, uint32_t tid) {
    return (uint64_t)pid << 24 | tid;
}

// ---- Default places ----------------------------------------------------------------------------

#define NVTXT_SOCKET_BYTES 107 // longest path of a socket: sun_path of unix(7) without its NUL

// The folders of a daemon: those of root's, and those of a person's, which are made of an
// environment variable or of what stands for it when it is not set.
#define NVTXT_SYSTEM_SOCKETS "/run/nvtxtd"
#define NVTXT_RUNTIME_SOCKETS "%s/nvtxtd"  // $XDG_RUNTIME_DIR, else:
#define NVTXT_TMP_SOCKETS "/tmp/nvtxtd-%u" // the user's number
#define NVTXT_SYSTEM_STORE "/var/lib/nvtxtd"
#define NVTXT_STATE_STORE "%s/nvtxtd"             // $XDG_STATE_HOME, else:
#define NVTXT_HOME_STORE "%s/.local/state/nvtxtd" // the home folder

// Where programs put files of NVTXT during a session of Nsight: an absolute path.
#define NVTXT_SESSION_VARIABLE "NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH"

// The files in them.
#define NVTXT_DATA_SOCKET "nvtxtd.sock"
#define NVTXT_CONTROL_SOCKET "control.sock"
#define NVTXT_STORE_FILE "nvtxt.sqlite"
