// SPDX-License-Identifier: Apache-2.0
//
// Text goes character by character: each is copied, or something harmless is written for it. Most
// are printable ASCII, of which a run is taken at once.
#include "report/table/plain.h"

#include <stdio.h>

#include "protocol/base/utf8.h"
#include "report/table/number.h"

// What stands for the first character of a text that is not empty; moves `text` on.
static struct nvtxt_slice next_character(struct nvtxt_slice *text) {
    struct nvtxt_slice character;
    size_t len = nvtxt_utf8_shown(*text, &character);
    text->data += len;
    text->len -= len;
    return character;
}

// The bytes at the beginning that stand for themselves, a character each; moves `text` on.
static struct nvtxt_slice next_run(struct nvtxt_slice *text, size_t most) {
    struct nvtxt_slice run = {text->data, 0};
    while (run.len < text->len && run.len < most && run.data[run.len] >= ' ' &&
           run.data[run.len] <= '~') {
        run.len++;
    }
    text->data += run.len;
    text->len -= run.len;
    return run;
}

void report_plain_text(struct nvtxt_out *out, struct nvtxt_slice text) {
    while (text.len > 0) {
        nvtxt_out_slice(out, next_run(&text, SIZE_MAX));
        if (text.len > 0) {
            nvtxt_out_slice(out, next_character(&text));
        }
    }
}

// The number of characters, or `most` when there are more.
static size_t width_to(struct nvtxt_slice text, size_t most) {
    size_t width = 0;
    while (text.len > 0 && width < most) {
        width += next_run(&text, most - width).len;
        if (text.len > 0 && width < most) {
            width += next_character(&text).len > 0;
        }
    }
    return width;
}

size_t report_plain_width(struct nvtxt_slice text) {
    return width_to(text, SIZE_MAX);
}

// ---- Names --------------------------------------------------------------------------------------

// A name may have hundreds of megabytes: it is not looked at character by character.
static uint64_t count_characters(struct nvtxt_slice text) {
    uint64_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    }
    return count;
}

size_t report_plain_name_cut(struct nvtxt_slice name, bool full, char note[REPORT_PLAIN_NOTE]) {
    struct nvtxt_slice rest = name;
    char digits[REPORT_NUMBER];
    *note = '\0';
    if (full || name.len <= REPORT_PLAIN_NAME) { // a character has a byte, or more
        return name.len;
    }
    size_t colon = name.len > 0 && name.data[0] == ':'; // a name of the domain without one
    for (size_t i = 0; i < REPORT_PLAIN_NAME + colon && rest.len > 0;) {
        i += next_character(&rest).len > 0;
    }
    if (rest.len == 0) {
        return name.len;
    }
    report_number_uint(digits, count_characters(name) - colon);
    snprintf(note, REPORT_PLAIN_NOTE, "\xE2\x80\xA6 (%.32s characters)", digits);
    return name.len - rest.len;
}

void report_plain_name(struct nvtxt_out *out, struct nvtxt_slice name, bool full) {
    char note[REPORT_PLAIN_NOTE];
    name.len = report_plain_name_cut(name, full, note);
    report_plain_text(out, name);
    nvtxt_out_slice(out, nvtxt_slice_of(note));
}

size_t report_plain_name_width(struct nvtxt_slice name, bool full) {
    char note[REPORT_PLAIN_NOTE];
    name.len = report_plain_name_cut(name, full, note);
    return report_plain_width(name) + report_plain_width(nvtxt_slice_of(note));
}

// ---- Texts --------------------------------------------------------------------------------------

size_t report_plain_column(size_t width, struct nvtxt_slice text) {
    size_t own = width_to(text, REPORT_PLAIN_COLUMN);
    return own > width ? own : width;
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
