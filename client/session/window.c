// SPDX-License-Identifier: Apache-2.0
//
// A list of chunks. Invariants: chunks are in stream order; `complete <= scanned <= len <= cap` in
// each; every chunk but the tail is complete to its end; the first line of a chunk is the one after
// the last of the chunk before. No byte is searched twice for its line end.
#include "client/session/window.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/wire/hello.h"

struct window_chunk {
    struct window_chunk *next;
    char *data;      // owned
    size_t cap;      // bytes of data
    size_t len;      // bytes filled
    size_t complete; // end of the last whole line
    size_t scanned;  // no line end between complete and here
    uint64_t first;  // number of the first line
    uint64_t lines;  // whole lines
};

void window_init(struct window *window, size_t limit, size_t chunk_size, size_t line_max) {
    *window = (struct window){.limit = limit, .chunk_size = chunk_size, .line_max = line_max};
}

static void free_chunk(struct window *window, struct window_chunk *chunk) {
    window->used -= chunk->cap;
    free(chunk->data);
    free(chunk);
}

void window_restart(struct window *window, uint64_t line) {
    while (window->head) {
        struct window_chunk *next = window->head->next;
        free_chunk(window, window->head);
        window->head = next;
    }
    window->tail = window->out = NULL;
    window->out_at = 0;
    window->last = window->acked = line;
    window->cutting = false;
}

void window_deinit(struct window *window) {
    window_restart(window, 0);
    *window = (struct window){0};
}

static int resize_chunk(struct window *window, struct window_chunk *chunk, size_t cap) {
    char *data = realloc(chunk->data, cap);
    if (!data) {
        return nvtxt_origin(-ENOMEM);
    }
    window->used += cap - chunk->cap;
    chunk->data = data;
    chunk->cap = cap;
    return 0;
}

// A new tail with room for `size` bytes, to which the unfinished line of the old one moves.
static int add_chunk(struct window *window, size_t size) {
    struct window_chunk *chunk = calloc(1, sizeof(*chunk));
    struct window_chunk *tail = window->tail;
    size_t partial = tail ? tail->len - tail->complete : 0;
    if (!chunk || resize_chunk(window, chunk, size + partial) != 0) {
        free(chunk);
        return nvtxt_origin(-ENOMEM);
    }
    if (partial) {
        memcpy(chunk->data, tail->data + tail->complete, partial);
        chunk->len = chunk->scanned = partial;
        tail->len = tail->scanned = tail->complete;
    }
    chunk->first = window->last + 1;
    if (tail) {
        tail->next = chunk;
    } else {
        window->head = chunk;
    }
    window->tail = chunk;
    if (!window->out) {
        window->out = chunk;
        window->out_at = 0;
    }
    return 0;
}

int window_space(struct window *window, char **at, size_t *size) {
    struct window_chunk *tail = window->tail;
    int r = 0;
    // A small rest is not worth a read of its own.
    if (!tail || tail->cap - tail->len < window->chunk_size / 8 + 1) {
        if (tail && tail->complete == 0) {
            r = resize_chunk(window, tail, tail->cap + window->chunk_size); // one long line
        } else if (window->used + window->chunk_size > window->limit && tail) {
            r = WINDOW_FULL;
        } else {
            r = add_chunk(window, window->chunk_size);
        }
    }
    if (r == 0) {
        tail = window->tail;
        *at = tail->data + tail->len;
        *size = tail->cap - tail->len;
    }
    return r;
}

bool window_is_full(const struct window *window) {
    // A line that fills the window alone must be read to its end, because no part of it can be
    // acknowledged.
    return window->tail && window->tail->complete > 0 &&
           window->used + window->chunk_size > window->limit &&
           window->tail->cap - window->tail->len < window->chunk_size / 8 + 1;
}

static bool is_reserved(const char *line, size_t len) {
    size_t prefix = sizeof(NVTXT_RESERVED_PREFIX) - 1;
    return len >= prefix && *line == '#' && memcmp(line, NVTXT_RESERVED_PREFIX, prefix) == 0;
}

static void add_bytes(struct window_chunk *chunk, const char *data, size_t len) {
    memcpy(chunk->data + chunk->len, data, len);
    chunk->len += len;
}

#define LONG_RESERVED 1024 // below the smallest MaxLine of a daemon

// Adds a reserved line with its line end. A long one loses its last byte to the blank, so that it
// does not become too long; it is a comment, so nothing is missed.
static void add_guarded(struct window_chunk *chunk, const char *line, size_t len) {
    size_t end = len > 1 && line[len - 2] == '\r' ? 2 : 1;
    add_bytes(chunk, " ", 1);
    add_bytes(chunk, line, len - end - (len > LONG_RESERVED));
    add_bytes(chunk, line + len - end, end);
}

// Writes the bytes after the last whole line of the tail anew, with a blank before each reserved
// line. Such a line has at least eight bytes, so an eighth more room is enough for any number of
// them.
static int guard_reserved(struct window *window) {
    struct window_chunk *tail = window->tail;
    size_t left = tail->len - tail->complete;
    char *copy = malloc(left);
    if (!copy || resize_chunk(window, tail, tail->cap + left / 8 + 1) != 0) {
        free(copy);
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(copy, tail->data + tail->complete, left);
    tail->len = tail->complete;
    const char *at = copy;
    const char *end = copy + left;
    const char *lf;
    while (at < end && (lf = memchr(at, '\n', (size_t)(end - at)))) {
        size_t len = (size_t)(lf + 1 - at);
        if (is_reserved(at, len)) {
            add_guarded(tail, at, len);
        } else {
            add_bytes(tail, at, len);
        }
        tail->lines++;
        at += len;
    }
    tail->complete = tail->len;
    if (at < end) {
        add_bytes(tail, at, (size_t)(end - at));
    }
    tail->scanned = tail->len;
    free(copy);
    return 0;
}

// Counts the whole lines among the bytes that are new in the tail.
static int scan(struct window *window) {
    struct window_chunk *tail = window->tail;
    const char *end = tail->data + tail->len;
    const char *line = tail->data + tail->complete;
    const char *at = tail->data + tail->scanned;
    const char *lf;
    uint64_t before = tail->lines;
    bool reserved = false;
    while (at < end && (lf = memchr(at, '\n', (size_t)(end - at)))) {
        reserved = is_reserved(line, (size_t)(lf - line));
        if (reserved) {
            break;
        }
        tail->lines++;
        line = at = lf + 1;
    }
    tail->complete = (size_t)(line - tail->data);
    tail->scanned = tail->len;
    int r = reserved ? guard_reserved(window) : 0;
    window->last += tail->lines - before;
    return r;
}

int window_filled(struct window *window, size_t n) {
    struct window_chunk *tail = window->tail;
    assert(tail && n <= tail->cap - tail->len);
    if (window->cutting) {
        char *rest = tail->data + tail->len;
        char *lf = memchr(rest, '\n', n);
        if (!lf) {
            return 0;
        }
        n -= (size_t)(lf - rest);
        memmove(rest, lf, n);
        window->cutting = false;
    }
    tail->len += n;
    int r = scan(window);
    if (r == 0 && tail->len - tail->complete > window->line_max) {
        tail->len = tail->scanned = tail->complete + window->line_max;
        window->cutting = true;
    }
    return r;
}

int window_append(struct window *window, const char *data, size_t len, uint64_t lines) {
    struct window_chunk *tail = window->tail;
    assert(!tail || tail->len == tail->complete);
    if (!tail || tail->cap - tail->len < len) {
        size_t size = len > window->chunk_size ? len : window->chunk_size;
        int r = add_chunk(window, size);
        if (r != 0) {
            return r;
        }
        tail = window->tail;
    }
    add_bytes(tail, data, len);
    tail->complete = tail->scanned = tail->len;
    tail->lines += lines;
    window->last += lines;
    return 0;
}

// The offset after the first `lines` lines of a chunk.
static size_t skip_lines(const struct window_chunk *chunk, uint64_t lines) {
    size_t at = 0;
    for (; lines > 0; lines--) {
        const char *lf = memchr(chunk->data + at, '\n', chunk->complete - at);
        assert(lf);
        at = (size_t)(lf + 1 - chunk->data);
    }
    return at;
}

bool window_block(const struct window *window, struct iovec *block, uint64_t *lines) {
    const struct window_chunk *head = window->head;
    if (!head || head->lines == 0) {
        return false;
    }
    uint64_t gone = window->acked + 1 - head->first;
    size_t at = skip_lines(head, gone);
    *block = (struct iovec){head->data + at, head->complete - at};
    *lines = head->lines - gone;
    return true;
}

int window_finish(struct window *window) {
    struct window_chunk *tail = window->tail;
    if (!tail || tail->len == tail->complete) {
        return 0;
    }
    window->cutting = false;
    int r = tail->len == tail->cap ? resize_chunk(window, tail, tail->cap + 1) : 0;
    if (r < 0) {
        return r;
    }
    tail->data[tail->len++] = '\n';
    return scan(window);
}

void window_forget_partial(struct window *window) {
    struct window_chunk *tail = window->tail;
    if (tail) {
        tail->len = tail->scanned = tail->complete;
    }
    window->cutting = false;
}

// Of the tail only an unfinished line is still needed: the tail begins anew with it.
static void reset_tail(struct window *window, struct window_chunk *tail) {
    size_t partial = tail->len - tail->complete;
    memmove(tail->data, tail->data + tail->complete, partial);
    tail->len = tail->scanned = partial;
    tail->complete = 0;
    tail->lines = 0;
    tail->first = window->last + 1;
    window->out_at = 0;
}

void window_ack(struct window *window, uint64_t line) {
    if (line > window->last) {
        line = window->last;
    }
    if (line <= window->acked) {
        return;
    }
    window->acked = line;
    while (window->head && window->head->first + window->head->lines <= line + 1) {
        struct window_chunk *head = window->head;
        if (head == window->tail) {
            reset_tail(window, head);
            return;
        }
        if (window->out == head) {
            window->out = head->next;
            window->out_at = 0;
        }
        window->head = head->next;
        free_chunk(window, head);
    }
}

int window_rewind(struct window *window, uint64_t line) {
    if (line < window->acked || line > window->last) {
        return nvtxt_origin(-EINVAL);
    }
    struct window_chunk *chunk = window->head;
    while (chunk && chunk->next && chunk->first + chunk->lines <= line + 1) {
        chunk = chunk->next;
    }
    window->out = chunk;
    window->out_at = chunk ? skip_lines(chunk, line + 1 - chunk->first) : 0;
    return 0;
}

int window_peek(const struct window *window, struct iovec *pieces, int most) {
    int count = 0;
    size_t at = window->out_at;
    for (struct window_chunk *chunk = window->out; chunk && count < most; chunk = chunk->next) {
        if (chunk->complete > at) {
            pieces[count].iov_base = chunk->data + at;
            pieces[count++].iov_len = chunk->complete - at;
        }
        at = 0;
    }
    return count;
}

size_t window_ready(const struct window *window) {
    size_t ready = 0;
    size_t at = window->out_at;
    for (struct window_chunk *chunk = window->out; chunk; chunk = chunk->next) {
        ready += chunk->complete - at;
        at = 0;
    }
    return ready;
}

void window_take(struct window *window, size_t n) {
    while (n > 0) {
        size_t here = window->out->complete - window->out_at;
        if (n <= here) {
            window->out_at += n;
            return;
        }
        n -= here;
        window->out = window->out->next;
        window->out_at = 0;
    }
}
