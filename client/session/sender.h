// SPDX-License-Identifier: Apache-2.0
//
// client/session: one session of a client with a daemon. The window holds the lines that are not
// acknowledged, the sender knows what is sent next and what replies mean, the link connects and
// moves bytes without blocking, session_id makes ids. All of it runs in the thread of the program's
// event loop, which calls it. The room has no loop, no options, no signals and no terminal: its
// callers wait, and tell people.
//
// The sender is one session as its client sees it. It has no socket and no clock: its caller
// reports when a connection is made and when it ends, and passes bytes in and out. So every break
// and every reply can be tested without a daemon.
//
// Exactly once: a line stays in the window until an acknowledgement covers it. After a break the
// hello carries the last acknowledged line, the welcome says which line is committed, and the
// sender goes on after that one. A diagnostic that was handed on before a break and comes again
// after it is left out.
//
// What the welcome does not answer is not sent. A daemon without levels gets the payload -1 where a
// line has none, so that nothing is lost; one without the extension nvtx, where the hello says that
// it is optional, gets comments for the lines that set Json. The window keeps the lines as they
// are, because the next daemon may have both.
#pragma once

#include "client/session/window.h"
#include "protocol/base/limits.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/reply.h"

enum sender_state {
    SENDER_AWAY,      // no connection
    SENDER_GREETING,  // connected: the hello is sent, the welcome has not come
    SENDER_STREAMING, // welcomed: lines are sent
    SENDER_ENDED,     // the reply "end" came: `end` holds its totals
    SENDER_OVER,     // the same, but the session had ended before this sender came: sender_repeat()
    SENDER_REFUSED,  // the reply "error" came: `refusal` holds its code and sentence
    SENDER_CLOSED,   // the daemon closed the session before its end, at line `end.line`; or it
                     // `forgot` lines: it knows fewer than it had acknowledged, `end.line`
    SENDER_CONFUSED, // the daemon broke the protocol: `refusal` says how
    SENDER_TOO_OLD,  // the daemon lacks what all lines need, the extension nvtx
};

struct sender_refusal {
    char code[64]; // "" when CONFUSED
    char message[1024];
};

struct sender {
    struct window window;
    enum sender_state state;
    bool welcomed;     // a welcome came, on any connection
    size_t line_bytes; // the longest line that the daemon takes; 0 before the welcome
    char version[32];  // of the daemon that sent the last welcome; "": before 0.2.0
    bool lacks_levels; // that daemon has no levels: empty payloads go out as -1
    bool lacks_nvtx;   // it has no JSON, and the hello does without
    uint64_t unfit;  // it has no escapes, and this line needs them: it and later ones are not sent
    uint64_t base;   // lines before this session: on the socket line numbers count from here
    uint64_t stored; // the last line that a spool has; 0: all lines are in the window
    bool input_over; // no more lines will come
    uint64_t skip;   // the daemon has the first so many lines: they are not sent

    // Called for each diagnostic, with the caller's `context`.
    void (*on_diag)(void *context, const struct nvtxt_reply *diag);
    void *context;

    struct nvtxt_reply end; // ENDED, CLOSED
    bool forgot;            // CLOSED
    uint64_t known;         // how many lines it knows then
    struct sender_refusal refusal;

    // Private.
    struct nvtxt_hello hello;
    struct nvtxt_buf greeting; // the hello of this connection, as a line
    size_t greeting_at;
    size_t end_at; // bytes of the end line that were sent on this connection
    bool end_sent; // the whole end line was sent, on any connection
    bool lacks_escapes;
    struct nvtxt_buf fitted; // the next lines of the window, as this daemon understands them
    size_t fitted_at;        // so many bytes of them were sent
    uint64_t fitted_line;    // the number of the last of them
    bool fresh;              // the session is one that nobody has begun: see sender_renew()
    bool resumed;            // sender_resume() was called
    bool repeats;            // sender_repeat() was called
    char *replies;           // owned: a reply that has not come whole
    size_t replies_len;
    struct sender_seen { // diagnostics of lines that are not acknowledged
        uint64_t line, hash;
    } *seen; // owned
    size_t seen_len;
};

// `hello` is copied; its `acked` is kept by the sender. Returns 0 or -ENOMEM.
int sender_init(struct sender *sender, const struct nvtxt_hello *hello, size_t window_bytes);
void sender_deinit(struct sender *sender); // zeroed or deinitialised ones are fine

// A process that is gone began the session. `line` is the last line that is known to be
// acknowledged. The daemon may have more lines than there are here, and the end.
void sender_resume(struct sender *sender, uint64_t line);

// A process that is gone may have sent the session before, wholly or in part. All its lines come
// again here; those that the daemon has are not sent. Where the session has ended in order, the
// state becomes OVER: the caller then counts the lines and compares.
void sender_repeat(struct sender *sender);

// Removes lines from the window that the daemon has. To be called when lines were added. Returns
// whether there were any.
bool sender_skip(struct sender *sender);

// The lines after `base` are a session of their own with this id, because the daemon closed the
// earlier one there. Callers keep their line numbers; on the socket they count from `base`.
void sender_renew(struct sender *sender, const char *session, uint64_t base);

// The last line that there is, in the window or in a spool.
uint64_t sender_last(const struct sender *sender);

// No more input comes: an unfinished last line counts. Returns 0 or -ENOMEM.
int sender_finish(struct sender *sender);

// A connection was made: the hello is sent first. Returns 0 or -ENOMEM.
int sender_connected(struct sender *sender);

// The connection ended. ENDED, OVER, CLOSED, CONFUSED and TOO_OLD stay; everything else becomes
// AWAY.
void sender_disconnected(struct sender *sender);

// The bytes to write now, as at most `most` pieces; 0 when there is nothing to write.
int sender_output(struct sender *sender, struct iovec *pieces, int most);
void sender_wrote(struct sender *sender, size_t n);

// Whether all lines before an `unfit` one are acknowledged: there is no more to do here.
bool sender_is_stuck(const struct sender *sender);

// Takes bytes that the daemon sent. The caller looks at `state` after it.
void sender_received(struct sender *sender, const char *data, size_t len);

// The id of a session that has a name: always the same for the same name and user. Returns 0 or
// -ENOMEM.
int session_id_of_name(const char *name, uint32_t uid, char session[NVTXT_SESSION_ID_BYTES + 1]);
