// SPDX-License-Identifier: Apache-2.0
//
// A text is checked once. After that the loops here only count quotes and brackets, because they
// know that these fit.
#include "protocol/text/json_pieces.h"

#include "protocol/base/utf8.h"
#include "protocol/lang/jsontext.h"

bool nvtxt_json_is_value(struct nvtxt_slice text) {
    size_t at;
    return nvtxt_utf8_valid(text) && !nvtxt_json_fault(text, &at);
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

// The first place from `at` on that is no blank; text.len when there is none.
static size_t skip_blanks(struct nvtxt_slice text, size_t at) {
    while (at < text.len && is_blank(text.data[at])) {
        at++;
    }
    return at;
}

// The place after the string whose opening quote is at `at`.
static size_t skip_string(struct nvtxt_slice text, size_t at) {
    for (at++; at < text.len && text.data[at] != '"'; at++) {
        at += text.data[at] == '\\';
    }
    return at + 1;
}

// The place of the comma or bracket after the value that begins at `at`.
static size_t skip_value(struct nvtxt_slice text, size_t at) {
    unsigned depth = 0;
    while (at < text.len) {
        char byte = text.data[at];
        if (depth == 0 && (byte == ',' || byte == '}' || byte == ']')) {
            return at;
        }
        depth += byte == '{' || byte == '[';
        depth -= byte == '}' || byte == ']';
        at = byte == '"' ? skip_string(text, at) : at + 1;
    }
    return text.len;
}

// ---- One value ----------------------------------------------------------------------------------

// Between tokens a line end is a blank; in a string there is none.
static void put_on_one_line(struct nvtxt_out *out, struct nvtxt_slice text) {
    char *room = nvtxt_out_room(out, text.len);
    for (size_t i = 0; room && i < text.len; i++) {
        room[i] = is_blank(text.data[i]) ? ' ' : text.data[i];
    }
    out->len += room ? text.len : 0;
}

void nvtxt_json_put(struct nvtxt_out *out, struct nvtxt_slice text) {
    struct nvtxt_slice begin, end;
    // What was joined may be one level deeper than a value of the language.
    if (nvtxt_json_is_value(text) || nvtxt_json_split(text, &begin, &end)) {
        put_on_one_line(out, text);
    } else {
        nvtxt_out_json(out, text);
    }
}

// ---- Two ends -----------------------------------------------------------------------------------

#define BEGIN "{\"begin\":"
#define END ",\"end\":"

static bool starts_with(struct nvtxt_slice text, const char *start, size_t len) {
    return text.len >= len && memcmp(text.data, start, len) == 0;
}

bool nvtxt_json_split(struct nvtxt_slice text, struct nvtxt_slice *begin, struct nvtxt_slice *end) {
    const size_t first = sizeof(BEGIN) - 1, between = sizeof(END) - 1;
    if (!starts_with(text, BEGIN, first)) {
        return false;
    }
    size_t at = skip_value(text, first);
    struct nvtxt_slice rest = {text.data + at, text.len - at};
    if (!starts_with(rest, END, between) || rest.data[rest.len - 1] != '}') {
        return false;
    }
    *begin = (struct nvtxt_slice){text.data + first, at - first};
    *end = (struct nvtxt_slice){rest.data + between, rest.len - between - 1};
    if (!nvtxt_json_is_value(*begin) || !nvtxt_json_is_value(*end)) {
        return false;
    }
    if (nvtxt_slice_equal(*begin, NVTXT_SLICE("null"))) {
        *begin = (struct nvtxt_slice){NULL, 0};
    }
    return true;
}

// ---- Numbers ------------------------------------------------------------------------------------

unsigned nvtxt_json_numbers(struct nvtxt_out *out, struct nvtxt_slice text) {
    unsigned count = 0;
    size_t at = skip_blanks(text, 0);
    if (at == text.len || text.data[at] != '{' || !nvtxt_json_is_value(text)) {
        return 0;
    }
    at = skip_blanks(text, at + 1);
    while (at < text.len && text.data[at] != '}') {
        size_t key_end = skip_string(text, at);
        size_t value = skip_blanks(text, skip_blanks(text, key_end) + 1);
        size_t value_end = skip_value(text, value);
        char first = text.data[value];
        if (first == '-' || (first >= '0' && first <= '9')) {
            nvtxt_out_bytes(out, ",", count++ > 0);
            nvtxt_out_bytes(out, text.data + at, key_end - at);
            NVTXT_OUT_LITERAL(out, ":");
            put_on_one_line(out, (struct nvtxt_slice){text.data + value, value_end - value});
        }
        at = text.data[value_end] == ',' ? skip_blanks(text, value_end + 1) : value_end;
    }
    return count;
}
