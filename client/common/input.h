// SPDX-License-Identifier: Apache-2.0
//
// An input of a client: a file or stdin, under the name that people gave it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvtxt_buf;

#define INPUT_STDIN_NAME "<stdin>"

struct input {
    const char *name; // as given, "<stdin>" for "-"; borrowed
    int fd;           // -1 when closed
    bool is_regular;  // a file: never blocks, has a size
    uint64_t size;    // of a regular file, bytes
    uint64_t taken;   // bytes read so far
    bool ended;       // its end was read
    bool limited;     // only `limit` bytes more are read (input_stop)
    uint64_t limit;
    // Called with what was read, and with 0 bytes at the end; may be NULL.
    void (*on_read)(void *context, const char *data, size_t len);
    void *context;
};

enum {
    INPUT_IS_FOLDER = 1, // input_open
    INPUT_END,           // input_read: there is no more
    INPUT_NOTHING,       // input_read: there is nothing yet
};

// Opens `path`, "-" for stdin. Returns 0, INPUT_IS_FOLDER or -errno.
int input_open(struct input *input, const char *path);
void input_close(struct input *input); // stdin stays open; fine when closed or zeroed but for fd

// Whether both are there and are one file, by whatever names.
bool input_is_same(const char *a, const char *b);

// Why it was not opened: the system's words for what input_open() returned.
const char *input_why(int r);

// Reads what is there, at most `size` bytes (not 0). Returns 0 with `*got` bytes, INPUT_END,
// INPUT_NOTHING or -errno.
int input_read(struct input *input, char *data, size_t size, size_t *got);

// Reads all of it into `text`, or fails with -EFBIG when that is more than `most` bytes. Returns 0
// or -errno; -EAGAIN when there is nothing yet.
int input_read_all(struct input *input, struct nvtxt_buf *text, size_t most);

// The input ends here: a file at once, a pipe after the bytes that are in it now. So nothing is
// lost that a producer has written already.
void input_stop(struct input *input);

// How many lines of a file were not read, a last one without its end included; reads it to its end
// from there. -1 when it is no file, or cannot be read, or takes too long after a signal.
int64_t input_count_rest(struct input *input);

// True when nothing more will come: the end was read, or only the end is left.
bool input_at_end(const struct input *input);

// For who opens whole stores: each segment needs some descriptors, and there may be thousands.
void input_raise_descriptors(void);
