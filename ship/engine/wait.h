// SPDX-License-Identifier: Apache-2.0
//
// Waiting for the engine: until a deadline, or until the time is over that the program has left
// once it shall end, with signs of life for whoever watches it. It does not know libpq: its caller
// says whether a statement runs, and is told when to break it off. And what else only pg needs of
// this room: ends of a wait that cannot be waited for here, and how much an answer may take.
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

typedef int poll_fn(struct pollfd *fds, nfds_t count, int ms);

// Times are in ms of CLOCK_MONOTONIC. The caller sets the first five, and `stop_ms` where the
// program ends already.
struct wait {
    int stop_fd;          // readable once the program shall end; -1: never
    int64_t grace_ms;     // how long waits may last from then on, all together
    void (*alive)(void);  // called while it waits; NULL: nobody wants to know
    int64_t alive_ms;     // how often, at least
    poll_fn *poll;        // waits instead of poll(2); NULL: that one does
    int64_t stop_ms;      // no wait ends later; 0: the program goes on
    int64_t break_ms;     // when a statement is broken off; 0: it is not
    int64_t alive_due_ms; // when `alive` is called again
};

enum wait_result {
    WAIT_READY,
    WAIT_LATE, // the deadline came first, or the program ends
    WAIT_BREAK // half of the program's time is over: break the statement off and wait again; once
};

// The time in `ms` from now, or when the program ends.
int64_t wait_deadline(const struct wait *wait, int64_t ms);

// Waits for `events` of poll(2) on a socket. `may_break`: WAIT_BREAK is wanted. Returns enum
// wait_result or -errno.
int wait_for(struct wait *wait, int fd, short events, int64_t deadline, bool may_break);

// ---- Breaking a statement off (ship/engine/cancel.c) --------------------------------------------

struct pg_conn; // libpq's PGconn

// Asks the engine to break off the statement that a connection runs. That takes a connection of its
// own, for which libpq waits as long as it likes; so a child process asks, and nobody waits for it.
void cancel_statement(struct pg_conn *conn);

// ---- Names that are looked up (ship/engine/connect_guard.c) -------------------------------------
//
// Ends the program while a name of the engine's host is looked up: that is the only wait that no
// deadline ends, because the system's resolver does not return. Nothing is lost then: no
// transaction is open, and a lease that is still held ends by its age.

// From the call on, `end` is called once `stop_fd` (-1: never) has been readable for `limit_ms`: in
// a signal handler, and it must end the program.
void connect_guard_begin(int stop_fd, int64_t limit_ms, void (*end)(void));
void connect_guard_end(void);

// ---- How much an answer may take (ship/engine/bound.c) ------------------------------------------
//
// libpq keeps what the engine says until it is asked for it, and makes room for as many bytes as
// the engine says that a message has. So bytes are counted before it reads them, and while it reads
// it gets no more memory than `memory`: it reads on for as long as more comes.

// Whether there is AddressSanitizer, which takes memory of its own and has to know each stack: gcc
// and clang have a word each.
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define HAS_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

struct bound {
    int64_t bytes;  // that may come
    int64_t memory; // that may be added while the library reads
    int64_t came;   // at most: what waits at the socket is counted each time
    int64_t limit;  // of the memory of this process; 0: it is not known
};

void bound_begin(struct bound *bound, int64_t bytes, int64_t memory);
void bound_renew(struct bound *bound); // `memory` counts from now on

// Before and after the library reads. False: more came than may.
bool bound_enter(struct bound *bound, int fd);
void bound_limit(const struct bound *bound); // the same where it only looks at what it has read
void bound_leave(void);
