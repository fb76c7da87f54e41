// SPDX-License-Identifier: Apache-2.0
//
// The buffer holds what was read and has not gone out. When it has no whole line, it holds one
// unfinished line, which moves to the front before the next read. A piece of that line goes out as
// soon as the buffer has as many bytes as can ever fit into a line of NVTXT. So the place where a
// line is cut does not depend on the sizes of the reads.
#include "client/text/textlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash_value.h"

#define HEAD_BYTES 128u // of a Marker before and after its message: six numbers and words

uint32_t textlog_category(const char *name) {
    uint64_t hash = nvtxt_hash_stored(0, nvtxt_slice_of(name));
    return (uint32_t)(hash ^ hash >> 32) | 0x80000000u;
}

int textlog_init(struct textlog *log, const struct textlog_options *options, const char *category,
                 uint32_t pid, size_t line_max) {
    *log = (struct textlog){.options = options,
                            .stamp = options->stamp,
                            .category = category ?: options->category,
                            .pid = pid,
                            .tid = pid,
                            .line_max = line_max};
    log->category_id = log->category ? textlog_category(log->category) : 0;
    log->cap = line_max + TEXTLOG_READ;
    log->data = malloc(log->cap);
    log->out = malloc(line_max + 1);
    return log->data && log->out ? 0 : nvtxt_origin(-ENOMEM);
}

void textlog_deinit(struct textlog *log) {
    free(log->data);
    free(log->out);
    *log = (struct textlog){0};
}

void textlog_limit(struct textlog *log, size_t line_max) {
    log->line_max = line_max < log->line_max ? line_max : log->line_max;
}

char *textlog_space(struct textlog *log, size_t *size) {
    if (log->at > 0) {
        memmove(log->data, log->data + log->at, log->len - log->at);
        log->len -= log->at;
        log->scanned -= log->at;
        log->at = 0;
    }
    *size = log->cap - log->len;
    return log->data + log->len;
}

void textlog_filled(struct textlog *log, size_t n, int64_t now_ns) {
    if (log->at == log->len && !log->inside) {
        log->begun_ns = now_ns;
    }
    log->len += n;
    log->read_ns = now_ns;
}

void textlog_finish(struct textlog *log) {
    log->over = true;
}

// ---- Which bytes --------------------------------------------------------------------------------

// Finds the end of the current line, and whether it is whole (an LF follows, or the input has
// ended). False when more has to be read first.
static bool find_line(struct textlog *log, struct nvtxt_slice *line, bool *whole) {
    const char *lf = memchr(log->data + log->scanned, '\n', log->len - log->scanned);
    size_t end = lf ? (size_t)(lf - log->data) : log->len;
    log->scanned = end;
    *line = (struct nvtxt_slice){log->data + log->at, end - log->at};
    *whole = lf || log->over;
    if (!lf && log->over) {
        return line->len > 0;
    }
    return lf || line->len >= log->line_max;
}

bool textlog_has_next(const struct textlog *log) {
    size_t left = log->len - log->at;
    if (left == 0) {
        return false;
    }
    return left >= log->line_max || log->over ||
           memchr(log->data + log->scanned, '\n', log->len - log->scanned);
}

// ---- What they become ---------------------------------------------------------------------------

static int64_t time_of(struct textlog *log, struct nvtxt_slice line) {
    int64_t ns;
    if (log->options->has_stamp && timestamp_read(&log->stamp, line, log->begun_ns, &ns)) {
        log->has_line_ns = true;
        return ns;
    }
    if (log->options->has_stamp) {
        log->first_unstamped = log->unstamped++ ? log->first_unstamped : log->lines;
    }
    return log->has_line_ns ? log->line_ns : log->begun_ns;
}

static void begin_line(struct textlog *log, struct nvtxt_slice line) {
    log->lines++;
    log->line_ns = time_of(log, line);
    log->line_color = log->options->color;
    log->line_level = levels_find(&log->options->levels, line, &log->line_color);
}

size_t textlog_call(char *out, size_t room, const char *head, struct nvtxt_slice string,
                    const char *tail) {
    size_t written;
    size_t head_len = strlen(head);
    size_t tail_len = strlen(tail) + 1;
    memcpy(out, head, head_len);
    size_t left = room - head_len - tail_len;
    size_t taken = printable_encode(out + head_len, left, string, &written);
    if (taken < string.len) {
        char note[64];
        taken = printable_encode(out + head_len, left - sizeof(note), string, &written);
        int len = snprintf(note, sizeof(note), " (and %zu bytes)", string.len - taken);
        char quote = out[head_len];
        memcpy(out + head_len + written - 1, note, (size_t)len);
        written += (size_t)len;
        out[head_len + written - 1] = quote;
    }
    memcpy(out + head_len + written, tail, tail_len - 1);
    out[head_len + written + tail_len - 1] = '\n';
    return head_len + written + tail_len;
}

static bool name_category(struct textlog *log, struct nvtxt_slice *line) {
    char head[HEAD_BYTES];
    if (log->named || log->category_id == 0) {
        return false;
    }
    log->named = true;
    snprintf(head, sizeof(head), "SetCategoryName,%u,", log->category_id);
    line->data = log->out;
    line->len = textlog_call(log->out, log->line_max + 1, head, nvtxt_slice_of(log->category), "");
    return true;
}

size_t textlog_mark(char *out, size_t line_max, const struct textlog_marker *marker,
                    struct nvtxt_slice text, size_t *written) {
    char tail[HEAD_BYTES] = ",''\n";
    size_t quoted;
    int head_len =
        snprintf(out, line_max, "Marker,%lld,Manual,%u,%u,%u,0x%08x,", (long long)marker->time_ns,
                 marker->pid, marker->tid, marker->category, marker->color);
    if (marker->level >= 0) {
        snprintf(tail, sizeof(tail), ",%d\n", marker->level);
    }
    size_t tail_len = strlen(tail);
    out += head_len;
    size_t taken = printable_encode(out, line_max - HEAD_BYTES, text, &quoted);
    memcpy(out + quoted, tail, tail_len);
    *written = (size_t)head_len + quoted + tail_len;
    return taken;
}

// The line's text, or its next piece, as a Marker. Returns the bytes taken.
static size_t mark(struct textlog *log, struct nvtxt_slice text, struct nvtxt_slice *line) {
    const struct textlog_marker marker = {log->line_ns,     log->pid,        log->tid,
                                          log->category_id, log->line_color, log->line_level};
    line->data = log->out;
    return textlog_mark(log->out, log->line_max, &marker, text, &line->len);
}

bool textlog_next(struct textlog *log, struct nvtxt_slice *line) {
    struct nvtxt_slice text;
    bool whole;
    if (log->at == log->len || !find_line(log, &text, &whole)) {
        return false;
    }
    if (name_category(log, line)) {
        return true;
    }
    if (!log->inside) {
        begin_line(log, text);
    }
    size_t taken = mark(log, text, line);
    log->inside = !(whole && taken == text.len);
    log->at += taken;
    if (!log->inside) {
        log->at += !log->over || log->at < log->len;
        log->scanned = log->at;
        log->begun_ns = log->read_ns;
    }
    return true;
}
