// SPDX-License-Identifier: Apache-2.0
//
// A text is checked once. After that the loops here only count quotes and brackets, because they
// know that these fit.
#include "protocol/text/out.h"

#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"
#include "protocol/lang/value.h"

bool nvtxt_json_is_value(struct nvtxt_slice text) {
    size_t at;
    return nvtxt_utf8_valid(text) && !nvtxt_json_fault(text, &at);
}

// The first place from `at` on that is no blank; text.len when there is none.
static size_t skip_blanks(struct nvtxt_slice text, size_t at) {
    while (at < text.len && nvtxt_char_is(text.data[at], NVTXT_CHAR_SPACE)) {
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
        room[i] = nvtxt_char_is(text.data[i], NVTXT_CHAR_SPACE) ? ' ' : text.data[i];
    }
    out->len += room ? text.len : 0;
}

bool nvtxt_json_is_events(struct nvtxt_slice text) {
    struct nvtxt_slice begin, end;
    return nvtxt_json_is_value(text) || nvtxt_json_split(text, &begin, &end);
}

void nvtxt_json_put(struct nvtxt_out *out, struct nvtxt_slice text) {
    if (nvtxt_json_is_events(text)) {
        put_on_one_line(out, text);
    } else {
        nvtxt_out_json(out, text);
    }
}

// ---- Two ends -----------------------------------------------------------------------------------

#define BEGIN "{\"begin\":"
#define END ",\"end\":"

bool nvtxt_json_split(struct nvtxt_slice text, struct nvtxt_slice *begin, struct nvtxt_slice *end) {
    const size_t first = sizeof(BEGIN) - 1, between = sizeof(END) - 1;
    if (!nvtxt_starts_with(text, BEGIN)) {
        return false;
    }
    size_t at = skip_value(text, first);
    struct nvtxt_slice rest = {text.data + at, text.len - at};
    if (!nvtxt_starts_with(rest, END) || rest.data[rest.len - 1] != '}') {
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

// ---- Parts --------------------------------------------------------------------------------------

struct nvtxt_slice nvtxt_json_trimmed(struct nvtxt_slice text) {
    size_t at = skip_blanks(text, 0), end = text.len;
    while (end > at && nvtxt_char_is(text.data[end - 1], NVTXT_CHAR_SPACE)) {
        end--;
    }
    return (struct nvtxt_slice){text.data + at, end - at};
}

bool nvtxt_json_next(struct nvtxt_slice text, struct nvtxt_json_member *member) {
    size_t open = skip_blanks(text, 0);
    size_t at = skip_blanks(text, member->next ?: open + 1);
    if (at >= text.len || text.data[at] == '}' || text.data[at] == ']') {
        return false;
    }
    member->name = (struct nvtxt_slice){NULL, 0};
    if (text.data[open] == '{') {
        size_t end = skip_string(text, at);
        member->name = (struct nvtxt_slice){text.data + at, end - at};
        at = skip_blanks(text, skip_blanks(text, end) + 1);
    }
    size_t end = skip_value(text, at);
    member->next = end + (end < text.len && text.data[end] == ',');
    member->value = nvtxt_json_trimmed((struct nvtxt_slice){text.data + at, end - at});
    return true;
}

int nvtxt_json_number(struct nvtxt_slice text, struct nvtxt_number *number) {
    struct nvtxt_scan scan = nvtxt_scan(text);
    bool negative = nvtxt_scan_take(&scan, '-');
    uint64_t value;
    if (!nvtxt_scan_take_uint(&scan, &value) || scan.at < scan.end ||
        (negative && value > (uint64_t)1 << 63)) {
        number->type = NVTXT_F64;
        return nvtxt_decimal_parse(text, &number->real);
    }
    number->type = negative || value <= INT64_MAX ? NVTXT_I64 : NVTXT_U64;
    number->integer = (int64_t)(negative ? 0 - value : value);
    return 0;
}

static uint32_t take_unit(struct nvtxt_scan *scan) {
    uint64_t unit;
    (void)nvtxt_digits_value((struct nvtxt_slice){scan->at, 4}, 16, &unit); // 4 digits always fit
    scan->at += 4;
    return (uint32_t)unit;
}

// The cursor is after \u. A half of a surrogate pair without the other one is U+FFFD.
static uint32_t take_point(struct nvtxt_scan *scan) {
    uint32_t unit = take_unit(scan);
    if (unit < 0xD800 || unit > 0xDFFF) {
        return unit;
    }
    struct nvtxt_scan after = *scan;
    uint32_t low = unit < 0xDC00 && nvtxt_scan_take_text(&after, "\\u") ? take_unit(&after) : 0;
    if (low < 0xDC00 || low > 0xDFFF) {
        return 0xFFFD;
    }
    *scan = after;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

void nvtxt_json_decode(struct nvtxt_out *out, struct nvtxt_slice string) {
    static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    struct nvtxt_scan scan = nvtxt_scan((struct nvtxt_slice){string.data + 1, string.len - 2});
    char *room = nvtxt_out_room(out, string.len); // no escape is shorter than what it means
    char *at = room;
    while (room && scan.at < scan.end) {
        char byte = *scan.at++;
        if (byte != '\\') {
            *at++ = byte;
        } else if (nvtxt_scan_take(&scan, 'u')) {
            at += nvtxt_utf8_put(at, take_point(&scan));
        } else {
            const char *letter = strchr(letters, *scan.at);
            *at++ = letter ? bytes[letter - letters] : *scan.at;
            scan.at++;
        }
    }
    out->len += (size_t)(at - room);
}

bool nvtxt_json_is_object(struct nvtxt_slice text) {
    size_t open = skip_blanks(text, 0);
    return open < text.len && text.data[open] == '{' && nvtxt_json_is_value(text);
}

bool nvtxt_json_next_number(struct nvtxt_slice text, struct nvtxt_json_member *member) {
    if (member->next == 0 && !nvtxt_json_is_object(text)) {
        return false;
    }
    while (nvtxt_json_next(text, member)) {
        if (*member->value.data == '-' || nvtxt_char_is(*member->value.data, NVTXT_CHAR_DIGIT)) {
            return true;
        }
    }
    return false;
}

unsigned nvtxt_json_numbers(struct nvtxt_out *out, struct nvtxt_slice text) {
    struct nvtxt_json_member member = {.next = 0};
    unsigned count = 0;
    while (nvtxt_json_next_number(text, &member)) {
        nvtxt_out_bytes(out, ",", count++ > 0);
        nvtxt_out_slice(out, member.name);
        NVTXT_OUT_LITERAL(out, ":");
        nvtxt_out_slice(out, member.value);
    }
    return count;
}
