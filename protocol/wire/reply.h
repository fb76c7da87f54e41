// SPDX-License-Identifier: Apache-2.0
//
// The data socket's session messages: the hello line that a client begins with, the line
// that tells of dropped lines, and the JSON replies of the daemon, all built and read here so that
// both sides hold one truth. Members and codes: nvtxt-protocol(7). Unknown members are ignored in
// both directions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/base/limits.h"
#include "protocol/base/slice.h"
#include "protocol/lang/timebase.h"

#define NVTXT_SOURCE_NAME_BYTES 1024 // kept of "name" and "client" of a hello

struct nvtxt_hello {
    int64_t protocol;
    char session[NVTXT_SESSION_ID_BYTES + 1];
    char client[NVTXT_SOURCE_NAME_BYTES + 1]; // "" when not given
    char name[NVTXT_SOURCE_NAME_BYTES + 1];   // "" when not given
    bool has_pid;
    uint32_t pid;
    struct nvtxt_mapping mapping; // NONE when not given
    bool escapes;                 // default false
    bool levels;                  // default false
    bool diagnostics;             // default true
    bool has_acked;
    uint64_t acked;
};

// The spelling of a session id is kept, with small letters: 8-4-4-4-12 hexadecimal digits or 32 of
// them. Whoever holds an id as a key compares it as text.

// True when a first line is a hello and not an ordinary comment: the prefix, then a blank or the
// end.
bool nvtxt_hello_is(struct nvtxt_slice line);

// Reads a hello line (with its prefix, without LF). Returns 0, or 1 for a malformed one with a
// sentence in `why` (valid UTF-8), or 2 for a protocol number that is not supported, or -ENOMEM.
int nvtxt_hello_parse(struct nvtxt_slice line, struct nvtxt_hello *hello, char *why, size_t size);

// Appends the hello line with its LF. Names that are not UTF-8 are made so, and cut where the line
// would grow past NVTXT_HELLO_BYTES.
void nvtxt_hello_format(struct nvtxt_buf *out, const struct nvtxt_hello *hello);

// What a client had to drop, told in-band: `#nvtxt-lost {"lines":12,"reason":"full"}`. It is a line
// of the session like any other, so sending it again after a break tells nothing twice.
struct nvtxt_lost {
    uint64_t lines;  // how many, at least 1
    char reason[32]; // small letters and hyphens
};

// Returns 1 when a line (without LF) is such a line of a session, 0 for anything else, which is a
// comment, or -ENOMEM.
int nvtxt_lost_parse(struct nvtxt_slice line, struct nvtxt_lost *lost);

// Appends the line with its LF.
void nvtxt_lost_format(struct nvtxt_buf *out, const struct nvtxt_lost *lost);

enum nvtxt_reply_type {
    NVTXT_REPLY_OTHER, // a type that this version does not know: ignore it
    NVTXT_REPLY_WELCOME,
    NVTXT_REPLY_ACK,
    NVTXT_REPLY_DIAGNOSTIC,
    NVTXT_REPLY_END,
    NVTXT_REPLY_ERROR,
};

// One reply. Only the members of its type mean something.
struct nvtxt_reply {
    enum nvtxt_reply_type type;
    uint64_t line;                            // welcome, ack, diagnostic, end
    int64_t protocol;                         // welcome
    char session[NVTXT_SESSION_ID_BYTES + 1]; // welcome
    int64_t source;                           // welcome: the source's id in the store
    size_t line_bytes;                        // welcome: limits.line
    char synchronous[8];                      // welcome: "full" or "normal"
    uint32_t column;                          // diagnostic
    char severity[16], stage[16];             // diagnostic
    char code[64];                            // diagnostic, error
    char message[1024];                       // diagnostic, error
    uint64_t events, warnings, errors;        // end
    char how[16]; // end: "" in order, else how the daemon had closed it: "expired", "lost"
};

// Each appends one JSON object and its LF to `out`.
void nvtxt_reply_welcome(struct nvtxt_buf *out, const char *session, int64_t source, uint64_t line,
                         const struct nvtxt_limits *limits, const char *synchronous);
void nvtxt_reply_ack(struct nvtxt_buf *out, uint64_t line);
void nvtxt_reply_diagnostic(struct nvtxt_buf *out, uint64_t line, uint32_t column,
                            const char *severity, const char *stage, const char *code,
                            const char *message);
// `how`: "" in order.
void nvtxt_reply_end(struct nvtxt_buf *out, uint64_t line, uint64_t events, uint64_t warnings,
                     uint64_t errors, const char *how);
void nvtxt_reply_error(struct nvtxt_buf *out, const char *code, const char *message);

// Reads one reply (a line without LF). Strings that are too long for their member are cut, control
// characters in them become blanks. Returns 0, or 1 when it is no reply.
int nvtxt_reply_parse(struct nvtxt_slice line, struct nvtxt_reply *reply);
