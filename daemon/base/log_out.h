// SPDX-License-Identifier: Apache-2.0
//
// Where log lines go: a descriptor whose reader may stall. A line never blocks who says it: it is
// written when the descriptor takes it now, else it waits in a bounded buffer, and when that is
// full it is dropped and counted; the count is a line of its own, in its place, as soon as there is
// room. Who owns the event loop writes what waits (daemon/log_pump.h).
//
// The flags of the descriptor are not touched, because others may share it (a shell has the same
// terminal): a socket is written with MSG_DONTWAIT, a pipe or terminal is opened once more for
// this, and where that is not allowed it is asked before each write whether it takes a page. A
// regular file is a regular file. Any thread; each function takes the lock.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_OUT_BYTES 65536 // some hundreds of lines
#define LOG_OUT_LINE_BYTES 2048

enum log_out_how { LOG_OUT_ASKED, LOG_OUT_WRITTEN, LOG_OUT_SENT };

struct log_out {
    pthread_mutex_t lock;
    enum log_out_how how;
    int fd;
    bool own; // the descriptor was opened here
    char data[LOG_OUT_BYTES];
    size_t start, end; // what waits
    uint64_t lost;     // lines, not told yet
    // Makes the line that tells of lost ones; returns its length.
    size_t (*tell_lost)(char *line, size_t size, uint64_t lines);
    // Something waits: log_out_retry() is to be called soon. With the lock held, from any thread.
    void (*on_wait)(void *context);
    void *context;
};

// The state before log_out_open(): the descriptor is asked before each write.
#define LOG_OUT_INIT(descriptor, tell)                                                             \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = (descriptor), .tell_lost = (tell) }

// Finds out how the descriptor is written.
void log_out_open(struct log_out *out);
void log_out_close(struct log_out *out); // closes what was opened here

// A whole line with its LF, at most LOG_OUT_LINE_BYTES.
void log_out_write(struct log_out *out, const char *line, size_t len);

void log_out_set_waker(struct log_out *out, void (*on_wait)(void *context), void *context);

// Writes what waits. Returns whether something still does.
bool log_out_retry(struct log_out *out);

// Waits until everything is written, at most so long.
void log_out_drain(struct log_out *out, int ms);
