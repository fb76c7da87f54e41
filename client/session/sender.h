// SPDX-License-Identifier: Apache-2.0
//
// One session, seen from its client: which bytes go out next and what the daemon's answers mean.
// No socket and no clock in here: a connection is reported when it stands and when it breaks, bytes
// go in and out through calls. So every break and every answer can be tested without a daemon.
//
// Exactly once: lines stay in the window until an ack covers them; after a break the hello carries
// the last acknowledged line, the welcome says which line is committed, and sending goes on behind
// it. Diagnostics that were handed on before a break and come again after it are left out.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "client/session/window.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/reply.h"

enum sender_state {
    SENDER_AWAY,      // no connection
    SENDER_GREETING,  // connected: the hello goes out, the welcome is awaited
    SENDER_STREAMING, // welcomed: lines go out
    SENDER_ENDED,     // the reply "end" came: `end` holds its figures
    SENDER_OVER,      // likewise, but the session had ended before this sender came; see below
    SENDER_REFUSED,   // the reply "error" came: `refusal` holds its code and sentence
    SENDER_CLOSED,    // the daemon had closed the session before its end, at line `end.line`, or
                      // `forgot` it: it knows fewer lines than it had acknowledged, `end.line`
    SENDER_CONFUSED,  // the daemon broke the protocol: `refusal` says how
};

struct sender_refusal {
    char code[64]; // "" when CONFUSED
    char message[1024];
};

struct sender {
    struct window window;
    enum sender_state state;
    bool welcomed;     // ever
    size_t line_bytes; // the longest line that the daemon takes; 0 before it said so
    uint64_t base;     // lines before the session that is spoken of over the socket
    uint64_t stored;   // number of the last line that exists outside the window; 0: all are in it
    bool input_over;   // no more lines will come
    uint64_t skip;     // lines that the daemon has: of those here the first so many do not go out

    // What the caller wants to hear of; `context` is theirs.
    void (*on_diag)(void *context, const struct nvtxt_reply *diag);
    void *context;

    struct nvtxt_reply end; // ENDED, CLOSED
    bool forgot;            // CLOSED
    uint64_t known;         // the lines that it knows then
    struct sender_refusal refusal;

    // Private.
    struct nvtxt_hello hello;
    struct nvtxt_buf greeting; // the hello line of this connection
    size_t greeting_at;
    size_t end_at; // bytes of the end line that went out on this connection
    bool end_sent; // went out whole, ever
    bool resumed;
    bool repeats;
    char *replies; // owned: a reply that has not come whole
    size_t replies_len;
    struct sender_seen { // diagnostics of lines that are not acknowledged
        uint64_t line, hash;
    } *seen; // owned
    size_t seen_len, seen_cap;
};

// `hello` is copied; its `acked` is kept by the sender. Returns 0 or -ENOMEM.
int sender_init(struct sender *sender, const struct nvtxt_hello *hello, size_t window_bytes);
void sender_deinit(struct sender *sender); // zeroed or deinitialised ones are fine

// The session was begun by a process that is gone: `line` is the last line that is known to be
// acknowledged. The daemon may know more lines than there are here, and the end.
void sender_resume(struct sender *sender, uint64_t line);

// The session is one that may have been sent before, by a process that is gone, and all its lines
// will come again here: those that the daemon has are left out. When it has ended in order already,
// the state becomes OVER: whoever called counts the lines and finds whether they are as many.
void sender_repeat(struct sender *sender);

// Lets go of lines in the window that the daemon has. To be called when lines came. Returns whether
// there were any.
bool sender_skip(struct sender *sender);

// What follows line `base` is a session of its own, with this id: an earlier one was closed there.
// Line numbers stay what they were, whatever is said over the socket.
void sender_renew(struct sender *sender, const char *session, uint64_t base);

// The last line that is known, in the window or outside.
uint64_t sender_last(const struct sender *sender);

// No more input: an unfinished last line counts. Returns 0 or -ENOMEM.
int sender_finish(struct sender *sender);

// A connection stands: begins with the hello. Returns 0 or -ENOMEM.
int sender_connected(struct sender *sender);

// The connection is gone. ENDED, CLOSED and CONFUSED stay; everything else becomes AWAY.
void sender_disconnected(struct sender *sender);

// Bytes that are to be written now, as at most `most` pieces; 0 when there is nothing to write.
int sender_output(const struct sender *sender, struct iovec *pieces, int most);
void sender_wrote(struct sender *sender, size_t n);

// Bytes that the daemon sent; then look at `state`.
void sender_received(struct sender *sender, const char *data, size_t len);
