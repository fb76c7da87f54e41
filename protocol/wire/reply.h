// SPDX-License-Identifier: Apache-2.0
//
// protocol/wire: the messages of the two sockets. Every message is built and read in this room, so
// that both ends share one text of it: what a client says on the data socket (hello.h), what the
// daemon replies (here), and the requests and replies of the control socket (ctlmsg.h). The room
// owns no socket and keeps nothing between calls; any thread may use it. It does not decide what a
// message does.
//
// The replies of the data socket are JSON objects, one a line. Their members and codes:
// nvtxt-protocol(7). A reader ignores members that it does not know.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/base/limits.h"
#include "protocol/base/slice.h"

// Codes of the reply "error".
#define NVTXT_ERROR_BUSY_SESSION "busy-session"
#define NVTXT_ERROR_UNSUPPORTED_PROTOCOL "unsupported-protocol"
#define NVTXT_ERROR_BAD_HELLO "bad-hello"
#define NVTXT_ERROR_SHUTTING_DOWN "shutting-down"
#define NVTXT_ERROR_QUOTA "quota"
#define NVTXT_ERROR_UNREADABLE_SESSION "unreadable-session"
#define NVTXT_ERROR_DISCONNECTED "disconnected"

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
    char version[32];                         // welcome: of the daemon; "" before 0.2.0
    int64_t nvtx;                             // welcome: version of the extension; 0: without
    bool levels, escapes;                     // welcome: the session has them
    uint32_t column;                          // diagnostic
    char severity[16], stage[16];             // diagnostic
    char code[64];                            // diagnostic, error
    char message[1024];                       // diagnostic, error
    uint64_t events, warnings, errors;        // end
    char how[16]; // end: "" in order, else how the daemon had closed it: "expired", "lost"
};

// What a welcome says. Texts are borrowed.
struct nvtxt_welcome {
    const char *session; // "": of a probe without one
    int64_t source;      // 0: none, of a probe
    uint64_t line;
    const struct nvtxt_limits *limits;
    const char *synchronous, *version;
    const char *control, *store; // paths; one that NVTXT_REPLY_PATH_BYTES do not hold, or that is
                                 // not UTF-8 from the root on, is left out
    bool nvtx, levels, escapes;  // the session has them
};

// Longest path of a welcome, as JSON: a client may read replies into a buffer of 8 KiB.
#define NVTXT_REPLY_PATH_BYTES 4096

// Each appends one JSON object and its LF to `out`.
void nvtxt_reply_welcome(struct nvtxt_buf *out, const struct nvtxt_welcome *welcome);
void nvtxt_reply_ack(struct nvtxt_buf *out, uint64_t line);
void nvtxt_reply_diagnostic(struct nvtxt_buf *out, uint64_t line, uint32_t column,
                            const char *severity, const char *stage, const char *code,
                            const char *message);
// `how`: "" in order.
void nvtxt_reply_end(struct nvtxt_buf *out, uint64_t line, uint64_t events, uint64_t warnings,
                     uint64_t errors, const char *how);
void nvtxt_reply_error(struct nvtxt_buf *out, const char *code, const char *message);

// Reads one reply (a line without LF). Strings are as nvtxt_utf8_show() has them, cut to their
// member. Returns 0, or 1 when it is no reply.
int nvtxt_reply_parse(struct nvtxt_slice line, struct nvtxt_reply *reply);

// Reads the paths of a welcome; each buffer has NVTXT_REPLY_PATH_BYTES. "" is a path that it does
// not give. Returns 0, or 1 when the line is no welcome.
int nvtxt_reply_paths(struct nvtxt_slice line, char *control, char *store);
