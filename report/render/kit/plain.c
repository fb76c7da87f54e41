// SPDX-License-Identifier: Apache-2.0
//
// Text goes character by character: each is copied, or something harmless is written for it. The
// commas are put into the digits from the right, in place.
#include "report/render/kit/plain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "protocol/base/utf8.h"

// What stands for the first character of a text that is not empty; moves `text` on.
static struct nvtxt_slice next_character(struct nvtxt_slice *text) {
    struct nvtxt_slice character;
    size_t len = nvtxt_utf8_shown(*text, &character);
    text->data += len;
    text->len -= len;
    return character;
}

void report_plain_text(struct nvtxt_out *out, struct nvtxt_slice text) {
    while (text.len > 0) {
        nvtxt_out_slice(out, next_character(&text));
    }
}

size_t report_plain_width(struct nvtxt_slice text) {
    size_t width = 0;
    while (text.len > 0) {
        width += next_character(&text).len > 0;
    }
    return width;
}

size_t report_plain_column(size_t width, struct nvtxt_slice text) {
    size_t own = report_plain_width(text);
    own = own < REPORT_PLAIN_COLUMN ? own : REPORT_PLAIN_COLUMN;
    return own > width ? own : width;
}

void report_plain_cut(struct nvtxt_out *out, struct nvtxt_slice text, size_t width) {
    if (report_plain_width(text) <= width) {
        report_plain_text(out, text);
        return;
    }
    for (size_t i = 1; i < width;) {
        struct nvtxt_slice character = next_character(&text);
        nvtxt_out_slice(out, character);
        i += character.len > 0;
    }
    NVTXT_OUT_LITERAL(out, "\xE2\x80\xA6");
}

void report_plain_markdown(struct nvtxt_out *out, struct nvtxt_slice text) {
    while (text.len > 0) {
        struct nvtxt_slice character = next_character(&text);
        if (character.len == 1 && strchr("\\`*_[]<>|", character.data[0])) {
            NVTXT_OUT_LITERAL(out, "\\");
        }
        nvtxt_out_slice(out, character);
    }
}

void report_plain_blanks(struct nvtxt_out *out, size_t count) {
    char *room = nvtxt_out_room(out, count);
    if (room && count > 0) {
        memset(room, ' ', count);
        out->len += count;
    }
}

// Puts commas between the digits of `text`, which begin after a sign and end before a point.
static size_t group(char *text, size_t len) {
    size_t first = text[0] == '-';
    char *point = memchr(text, '.', len);
    size_t end = point ? (size_t)(point - text) : len;
    size_t commas = end > first ? (end - first - 1) / 3 : 0;
    memmove(text + end + commas, text + end, len - end + 1);
    for (size_t from = end, to = end + commas; to > from; from -= 3, to -= 4) {
        memmove(text + to - 3, text + from - 3, 3);
        text[to - 4] = ',';
    }
    return len + commas;
}

size_t report_plain_uint(char text[REPORT_PLAIN_NUMBER], uint64_t value) {
    return group(text, (size_t)snprintf(text, REPORT_PLAIN_NUMBER, "%" PRIu64, value));
}

size_t report_plain_int(char text[REPORT_PLAIN_NUMBER], int64_t value) {
    return group(text, (size_t)snprintf(text, REPORT_PLAIN_NUMBER, "%" PRId64, value));
}

size_t report_plain_real(char text[REPORT_PLAIN_NUMBER], double value) {
    if (!isfinite(value)) {
        const char *word = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
        return (size_t)snprintf(text, REPORT_PLAIN_NUMBER, "%s", word);
    }
    return group(text, (size_t)snprintf(text, REPORT_PLAIN_NUMBER, "%.1f", value));
}
