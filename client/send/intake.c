// SPDX-License-Identifier: Apache-2.0
//
// Lines wait in a window of the intake's own and are copied on, into the spool and the sender's
// window. Without a spool and without dropping there is no copy: the input is read into the
// sender's window.
#include "client/send/intake.h"

#include <string.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

#define MOVES 8 // records from the disk a call, so that replies and signals are seen

void intake_init(struct intake *intake, struct input *input, struct sender *sender,
                 struct spool *spool, bool drop) {
    *intake = (struct intake){.input = input, .sender = sender, .spool = spool, .drop = drop};
    size_t most = sender->window.line_max;
    if (spool) {
        most = spool->limit / 4 < SPOOL_LINE_MOST ? (size_t)(spool->limit / 4) : SPOOL_LINE_MOST;
        sender->stored = spool->last;
    }
    window_init(&intake->lines, 4 * sender->window.chunk_size, sender->window.chunk_size, most);
}

void intake_deinit(struct intake *intake) {
    window_deinit(&intake->lines);
}

static bool is_plain(const struct intake *intake) {
    return !intake->spool && !intake->drop && !intake->pushed;
}

bool intake_wants(const struct intake *intake) {
    if (intake->over || intake->stuck || (!intake->spool && !intake->sender->welcomed)) {
        return false;
    }
    return !is_plain(intake) || !window_is_full(&intake->sender->window);
}

// ---- Into the window ----------------------------------------------------------------------------

// What a function of the spool returned.
static int of_spool(int r) {
    return r == 0 ? 0 : r == SPOOL_FULL ? INTAKE_FULL : INTAKE_BAD_SPOOL;
}

// Puts the line that counts dropped ones into the window. Returns 0 or -ENOMEM.
static int put_loss(struct intake *intake) {
    struct nvtxt_lost lost = {.lines = intake->unreported, .reason = NVTXT_LOST_FULL};
    struct nvtxt_buf line = {0};
    if (lost.lines == 0) {
        return 0;
    }
    nvtxt_lost_format(&line, &lost);
    int r = nvtxt_buf_failed(&line)
                ? nvtxt_origin(-ENOMEM)
                : window_append(&intake->sender->window, line.data, line.len, 1);
    nvtxt_buf_deinit(&line);
    intake->unreported = r == 0 ? 0 : intake->unreported;
    return r;
}

static int put_into_window(struct intake *intake, const struct iovec *block, uint64_t lines) {
    struct window *window = &intake->sender->window;
    if (window_is_full(window)) {
        return INTAKE_FULL;
    }
    int r = put_loss(intake);
    return r ?: window_append(window, block->iov_base, block->iov_len, lines);
}

static int put_into_spool(struct intake *intake, const struct iovec *block, uint64_t lines) {
    struct spool *spool = intake->spool;
    struct window *window = &intake->sender->window;
    if (window->last > spool->last) { // lines before them went past the spool, too
        return window_is_full(window)
                   ? INTAKE_FULL
                   : window_append(window, block->iov_base, block->iov_len, lines);
    }
    bool direct = window->last == spool->last && !spool->open_loss && !window_is_full(window);
    int r = of_spool(spool_append(spool, block->iov_base, block->iov_len, (uint32_t)lines));
    if (r == 0 && direct) {
        r = window_append(window, block->iov_base, block->iov_len, lines);
        spool_seen(spool);
    }
    return r;
}

// Cuts the block to the first half of its lines.
static void halve(struct iovec *block, uint64_t *lines) {
    const char *at = block->iov_base;
    const char *end = at + block->iov_len;
    *lines /= 2;
    for (uint64_t i = 0; i < *lines; i++) {
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
    block->iov_len = (size_t)(at - (const char *)block->iov_base);
}

// When not all lines have room, and no acknowledgement will make it, perhaps some have. Sets
// `*lines` to how many the result is about: those that were stored, or all that have no room.
static int put_some_into_spool(struct intake *intake, const struct iovec *block, uint64_t *lines) {
    struct iovec part = *block;
    uint64_t some = *lines;
    int r = put_into_spool(intake, &part, some);
    while (r == INTAKE_FULL && some > 1 && spool_wants_less(intake->spool)) {
        halve(&part, &some);
        r = put_into_spool(intake, &part, some);
    }
    if (r != INTAKE_FULL) {
        *lines = some;
        return r;
    }
    // The window has all lines that the spool has, so order is kept. Whoever resumes the session
    // learns from the daemon that it has more.
    struct window *window = &intake->sender->window;
    bool past = intake->past_spool && !intake->drop && window->last == intake->spool->last &&
                !intake->spool->open_loss && !window_is_full(window);
    return past ? window_append(window, block->iov_base, block->iov_len, *lines) : r;
}

static void lose(struct intake *intake, uint64_t lines) {
    intake->dropped += lines;
    if (intake->spool) {
        (void)spool_lose(intake->spool, lines); // a failure leaves it noted in memory
    } else {
        intake->unreported += lines;
    }
}

// Lines that were read move on, or wait, or are dropped.
static int move_lines(struct intake *intake) {
    struct window *lines = &intake->lines;
    struct iovec block;
    uint64_t count;
    int r = 0;
    intake->stuck = false;
    while (r == 0 && window_block(lines, &block, &count)) {
        r = intake->spool ? put_some_into_spool(intake, &block, &count)
                          : put_into_window(intake, &block, count);
        if (r == INTAKE_FULL && !intake->drop) {
            intake->stuck = true;
            return 0;
        }
        if (r == INTAKE_FULL) {
            lose(intake, count);
            r = 0;
        }
        if (r == 0) {
            window_ack(lines, lines->acked + count);
        }
    }
    return r;
}

// Lines that are on the disk and not in the window go into the window.
static int load(struct intake *intake) {
    struct window *window = &intake->sender->window;
    struct segment_record record;
    int r = 0;
    for (int i = 0; r == 0 && i < MOVES && !window_is_full(window); i++) {
        int next = spool_next(intake->spool, window->last, &record);
        if (next == SPOOL_NONE) {
            return 0;
        }
        r = next == 0 ? window_append(window, record.data, record.len, record.lines)
                      : INTAKE_BAD_SPOOL;
    }
    return r;
}

static int move_on(struct intake *intake) {
    struct spool *spool = intake->spool;
    struct window *window = &intake->sender->window;
    int r = move_lines(intake);
    bool last = intake->over && !intake->stuck;
    if (r == 0 && spool) {
        r = of_spool(spool_settle(spool, last));
    }
    if (r == 0 && spool) {
        r = load(intake);
        intake->sender->stored = spool->last;
    } else if (r == 0 && (last || !window_is_full(window))) {
        r = put_loss(intake);
    }
    if (r == 0 && last && window->last == sender_last(intake->sender)) {
        r = sender_finish(intake->sender);
    }
    return r;
}

int intake_move(struct intake *intake) {
    int r = 0;
    if (!is_plain(intake) && !intake->sender->input_over) {
        if (intake->sender->window.line_max > intake->lines.line_max) {
            intake->lines.line_max =
                intake->sender->window.line_max; // the daemon takes longer ones
        }
        r = move_on(intake);
    }
    return r;
}

// ---- From elsewhere -----------------------------------------------------------------------------

bool intake_has_room(const struct intake *intake) {
    return !intake->over && !window_is_full(&intake->lines);
}

int intake_put(struct intake *intake, struct nvtxt_slice line) {
    return window_append(&intake->lines, line.data, line.len, 1);
}

// ---- From a log ---------------------------------------------------------------------------------

size_t intake_line_max(const struct sender *sender) {
    const struct nvtxt_limits limits = NVTXT_LIMITS_DEFAULT;
    size_t most = sender->line_bytes;
    if (most == 0 || most > limits.line_bytes) {
        most = limits.line_bytes;
    }
    return most < TEXTLOG_LINE_LEAST ? TEXTLOG_LINE_LEAST : most;
}

int intake_move_log(struct intake *intake, struct textlog *log) {
    struct nvtxt_slice line;
    int r;
    textlog_limit(log, intake_line_max(intake->sender));
    do {
        while (intake_has_room(intake) && textlog_next(log, &line)) {
            r = intake_put(intake, line);
            if (r != 0) {
                return r;
            }
        }
        r = intake_move(intake);
    } while (r == 0 && intake_has_room(intake) && textlog_has_next(log));
    return r;
}

// ---- From the input -----------------------------------------------------------------------------

int intake_end(struct intake *intake) {
    if (intake->over) {
        return 0;
    }
    intake->over = true;
    intake->cut = !input_at_end(intake->input);
    if (intake->cut) {
        window_forget_partial(is_plain(intake) ? &intake->sender->window : &intake->lines);
    }
    if (is_plain(intake)) {
        return sender_finish(intake->sender);
    }
    int r = window_finish(&intake->lines);
    return r ?: intake_move(intake);
}

int intake_read(struct intake *intake, int *error) {
    struct window *window = is_plain(intake) ? &intake->sender->window : &intake->lines;
    char *at;
    size_t size;
    if (window_space(window, &at, &size) != 0) {
        return nvtxt_origin(-ENOMEM); // the caller has asked whether it is full
    }
    size_t got;
    int read = input_read(intake->input, at, size, &got);
    if (read == INPUT_NOTHING) {
        return 0;
    }
    if (read != 0) {
        int r = intake_end(intake);
        *error = read < 0 ? -read : 0;
        return r == 0 && read < 0 ? INTAKE_BAD_INPUT : r;
    }
    int r = window_filled(window, got);
    return r ?: intake_move(intake);
}

void intake_acked(struct intake *intake) {
    if (intake->spool) {
        spool_ack(intake->spool, intake->sender->window.acked);
    }
}

uint64_t intake_unacked(const struct intake *intake) {
    return sender_last(intake->sender) - intake->sender->window.acked +
           (intake->lines.last - intake->lines.acked);
}

uint64_t intake_unspooled(const struct intake *intake) {
    const struct window *window = &intake->sender->window;
    uint64_t waiting = intake->lines.last - intake->lines.acked;
    if (!intake->spool || window->last <= intake->spool->last) {
        return waiting;
    }
    uint64_t safe = window->acked > intake->spool->last ? window->acked : intake->spool->last;
    return waiting + (window->last - safe);
}
