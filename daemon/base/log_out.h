// SPDX-License-Identifier: Apache-2.0
//
// Where log lines go: a descriptor whose reader may stop reading. A thread that logs never waits:
// its line is written when the descriptor takes it now. Otherwise the line waits in a bounded
// buffer, and when that is full the line is dropped and counted; as soon as there is room, a line
// in the place of the dropped ones says how many they were. The event loop writes the lines that
// wait (daemon/log_pump.c). Any thread; each function takes the lock.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_OUT_BYTES 65536 // some hundreds of lines
#define LOG_OUT_LINE_BYTES 2048

enum log_out_how {
    LOG_OUT_POLLED,  // poll(2) is asked before each write
    LOG_OUT_WRITTEN, // write(2) does not block, or it is a regular file
    LOG_OUT_SENT,    // a socket: send(2) with MSG_DONTWAIT
};

struct log_out {
    pthread_mutex_t lock;
    enum log_out_how how;
    int fd;
    bool own; // the descriptor was opened here
    char data[LOG_OUT_BYTES];
    size_t start, end; // the bytes of `data` that wait
    uint64_t lost;     // lines that were dropped and that no line speaks of yet
    // Formats the line that says how many lines are lost; returns its length.
    size_t (*format_lost)(char *line, size_t size, uint64_t lines);
    // Lines wait: log_out_retry() has to be called soon. Any thread; the lock is held.
    void (*on_wait)(void *context);
    void *context;
};

// The state before log_out_open(): the descriptor is asked before each write.
#define LOG_OUT_INIT(descriptor, format)                                                           \
    { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = (descriptor), .format_lost = (format) }

// Finds out how the descriptor can be written without waiting.
void log_out_open(struct log_out *out);
void log_out_close(struct log_out *out); // closes what log_out_open() opened

// A whole line with its LF, at most LOG_OUT_LINE_BYTES.
void log_out_write(struct log_out *out, const char *line, size_t len);

void log_out_set_waker(struct log_out *out, void (*on_wait)(void *context), void *context);

// Writes what waits. Returns whether something still waits.
bool log_out_retry(struct log_out *out);

// Waits until everything is written, but not longer than `ms`.
void log_out_drain(struct log_out *out, int ms);
