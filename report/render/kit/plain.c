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

// The number of characters, or `most` when there are more.
static size_t width_to(struct nvtxt_slice text, size_t most) {
    size_t width = 0;
    while (text.len > 0 && width < most) {
        width += next_character(&text).len > 0;
    }
    return width;
}

size_t report_plain_width(struct nvtxt_slice text) {
    return width_to(text, SIZE_MAX);
}

// ---- Names --------------------------------------------------------------------------------------

bool report_plain_full_names;

// A name may have hundreds of megabytes: it is not looked at character by character.
static uint64_t count_characters(struct nvtxt_slice text) {
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

size_t report_plain_name_cut(struct nvtxt_slice name, char note[REPORT_PLAIN_NOTE]) {
    struct nvtxt_slice rest = name;
    char digits[REPORT_PLAIN_NUMBER];
    *note = '\0';
    size_t colon = name.len > 0 && name.data[0] == ':'; // a name of the domain without one
    for (size_t i = 0; i < REPORT_PLAIN_NAME + colon && rest.len > 0;) {
        i += next_character(&rest).len > 0;
    }
    if (rest.len == 0 || report_plain_full_names) {
        return name.len;
    }
    report_plain_uint(digits, count_characters(name) - colon);
    snprintf(note, REPORT_PLAIN_NOTE, "\xE2\x80\xA6 (%.32s characters)", digits);
    return name.len - rest.len;
}

void report_plain_name(struct nvtxt_out *out, struct nvtxt_slice name) {
    char note[REPORT_PLAIN_NOTE];
    name.len = report_plain_name_cut(name, note);
    report_plain_text(out, name);
    nvtxt_out_slice(out, nvtxt_slice_of(note));
}

size_t report_plain_name_width(struct nvtxt_slice name) {
    char note[REPORT_PLAIN_NOTE];
    name.len = report_plain_name_cut(name, note);
    return report_plain_width(name) + report_plain_width(nvtxt_slice_of(note));
}

// ---- Texts --------------------------------------------------------------------------------------

size_t report_plain_column(size_t width, struct nvtxt_slice text) {
    size_t own = width_to(text, REPORT_PLAIN_COLUMN);
    return own > width ? own : width;
}

void report_plain_cut(struct nvtxt_out *out, struct nvtxt_slice text, size_t width) {
    if (width == SIZE_MAX || width_to(text, width + 1) <= width) {
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
