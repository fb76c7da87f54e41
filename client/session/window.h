// SPDX-License-Identifier: Apache-2.0
//
// The lines of a session that are not acknowledged yet. The program reads input straight into the
// window and writes it to the socket from there; a line stays until the daemon has committed it, so
// that it can be sent again after a break. There is one copy in memory for all three.
//
// Mechanism: a list of chunks in the order of the stream. Each knows the number of its first line
// and how many whole lines it holds. Only the last chunk can end in an unfinished line, and only
// whole lines are given out. There is no table of lines: going back to a line (rare) counts line
// ends in one chunk, an acknowledgement (often) frees whole chunks. A line that begins with
// "#nvtxt-" already has its blank here, as it is sent.
//
// Memory is bounded: from `limit` bytes on window_space() returns WINDOW_FULL until an
// acknowledgement comes. Of a line longer than `line_max` the first `line_max` bytes are kept; the
// daemon takes fewer, so it refuses the line all the same.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "protocol/base/slice.h"

struct window_chunk;

struct window {
    size_t limit;                     // bytes of all chunks together
    size_t chunk_size;                // of a new chunk
    size_t line_max;                  // bytes kept of a line
    size_t used;                      // bytes of all chunks
    uint64_t last;                    // number of the last whole line, 0 before the first
    uint64_t acked;                   // lines up to here are not needed any more
    bool cutting;                     // inside a line longer than line_max: its rest is dropped
    struct window_chunk *head, *tail; // owned
    struct window_chunk *out;         // the next bytes to send: here, at out_at; NULL: nothing yet
    size_t out_at;
};

#define WINDOW_LIMIT ((size_t)16 << 20)  // what a sender holds by default
#define WINDOW_CHUNK ((size_t)256 << 10) // one read and one write
#define WINDOW_LINE ((size_t)1 << 20)    // sixteen times the daemon's default

void window_init(struct window *window, size_t limit, size_t chunk_size, size_t line_max);
void window_deinit(struct window *window);

enum { WINDOW_FULL = NVTXT_WRONG + 1 };

// Where input may be read to. Returns 0 and sets `*at` and `*size` (not 0), WINDOW_FULL, or
// -ENOMEM. The place is good until the next call on the window.
int window_space(struct window *window, char **at, size_t *size);

// `n` bytes were read there. Returns 0 or -ENOMEM.
int window_filled(struct window *window, size_t n);

// Appends whole lines from elsewhere, as they are sent. This may go beyond `limit`: ask
// window_is_full() before. Not allowed while the last line is unfinished. Returns 0 or -ENOMEM.
int window_append(struct window *window, const char *data, size_t len, uint64_t lines);
bool window_is_full(const struct window *window);

// The first lines that are held, as many as stand together in memory: their bytes, and how many
// they are. False when there is no whole line. window_ack() removes them.
bool window_block(const struct window *window, struct iovec *block, uint64_t *lines);

// Empty; lines up to `line` are acknowledged.
void window_restart(struct window *window, uint64_t line);

// The input is over: a last line without its LF counts. Returns 0 or -ENOMEM.
int window_finish(struct window *window);

// The input ends inside its last line because it was stopped: that line does not count.
void window_forget_partial(struct window *window);

// Lines up to `line` are committed and are removed. A number beyond the last line means that one.
void window_ack(struct window *window, uint64_t line);

// The next byte to give out is the first one after `line`. Returns 0, or -EINVAL when that line is
// not held (acknowledged already, or not read yet).
int window_rewind(struct window *window, uint64_t line);

// The bytes of whole lines to send now, as at most `most` pieces; returns how many.
int window_peek(const struct window *window, struct iovec *pieces, int most);
void window_take(struct window *window, size_t n); // `n` of them were sent

size_t window_ready(const struct window *window); // all the bytes that window_peek could give
