// SPDX-License-Identifier: Apache-2.0
//
// A loop over the tokens, without recursion. Of the arrays and objects that are open it keeps one
// bit each: an array or an object. jansson, which reads all other JSON, would build every value,
// and refuses numbers and escapes that RFC 8259 allows.
#include "protocol/lang/value.h"

#include "protocol/base/scan.h"

_Static_assert(NVTXT_JSON_DEPTH <= 64, "a bit of `objects` for each level");

struct reader {
    struct nvtxt_scan in;
    const char *fault;
    uint64_t objects; // bit n: level n is an object
    unsigned depth;
};

static bool fail(struct reader *reader, const char *fault) {
    reader->fault = fault;
    return false;
}

static void skip_blanks(struct reader *reader) {
    nvtxt_scan_skip(&reader->in, NVTXT_CHAR_SPACE);
}

static bool take(struct reader *reader, char byte) {
    return nvtxt_scan_take(&reader->in, byte);
}

static bool take_word(struct reader *reader, const char *word) {
    return nvtxt_scan_take_text(&reader->in, word) || fail(reader, "a value must stand");
}

static bool take_digits(struct reader *reader) {
    return nvtxt_scan_take_run(&reader->in, NVTXT_CHAR_DIGIT).len > 0 ||
           fail(reader, "a digit must stand");
}

static bool take_number(struct reader *reader) {
    take(reader, '-');
    if (!take(reader, '0') && !take_digits(reader)) {
        return false;
    }
    if (take(reader, '.') && !take_digits(reader)) {
        return false;
    }
    if (take(reader, 'e') || take(reader, 'E')) {
        if (!take(reader, '+')) {
            take(reader, '-');
        }
        return take_digits(reader);
    }
    return true;
}

static bool take_escape(struct reader *reader) {
    char byte = nvtxt_scan_byte(&reader->in, 0);
    if (byte == '\0' || !strchr("\"\\/bfnrtu", byte)) {
        return fail(reader, "an escape is wrong");
    }
    reader->in.at++;
    for (int i = 0; byte == 'u' && i < 4; i++, reader->in.at++) {
        if (!nvtxt_scan_is(&reader->in, NVTXT_CHAR_HEX)) {
            return fail(reader, "a hexadecimal digit must stand");
        }
    }
    return true;
}

// The cursor is after the opening quote.
static bool take_string(struct reader *reader) {
    while (reader->in.at < reader->in.end) {
        char byte = *reader->in.at;
        if ((unsigned char)byte < ' ') {
            return fail(reader, "a control character stands in a string");
        }
        reader->in.at++;
        if (byte == '"') {
            return true;
        }
        if (byte == '\\' && !take_escape(reader)) {
            return false;
        }
    }
    return fail(reader, "a string has no end");
}

static bool take_key(struct reader *reader) {
    skip_blanks(reader);
    if (!take(reader, '"')) {
        return fail(reader, "the name of a member must stand");
    }
    if (!take_string(reader)) {
        return false;
    }
    skip_blanks(reader);
    return take(reader, ':') || fail(reader, "a colon must stand");
}

static bool is_object(const struct reader *reader) {
    return reader->objects >> (reader->depth - 1) & 1;
}

static bool open_level(struct reader *reader, bool object) {
    if (reader->depth == NVTXT_JSON_DEPTH) {
        return fail(reader, "the 65th level begins");
    }
    reader->in.at++;
    uint64_t bit = UINT64_C(1) << reader->depth++;
    reader->objects = object ? reader->objects | bit : reader->objects & ~bit;
    return true;
}

// Takes what begins at the cursor: a scalar, an empty array or object, or the beginning of one with
// its first key. `*complete` says that the value is over.
static bool take_value(struct reader *reader, bool *complete) {
    *complete = true;
    char byte = nvtxt_scan_byte(&reader->in, 0);
    switch (byte) {
    case '{':
    case '[':
        if (!open_level(reader, byte == '{')) {
            return false;
        }
        skip_blanks(reader);
        if (take(reader, byte == '{' ? '}' : ']')) {
            reader->depth--;
            return true;
        }
        *complete = false;
        return byte == '[' || take_key(reader);
    case '"':
        reader->in.at++;
        return take_string(reader);
    case 't':
        return take_word(reader, "true");
    case 'f':
        return take_word(reader, "false");
    case 'n':
        return take_word(reader, "null");
    default:
        if (byte == '-' || nvtxt_char_is(byte, NVTXT_CHAR_DIGIT)) {
            return take_number(reader);
        }
        return fail(reader, "a value must stand");
    }
}

// After a value: ends the levels that end here. False with `fault` NULL: another value follows.
static bool take_ends(struct reader *reader) {
    while (reader->depth > 0) {
        skip_blanks(reader);
        if (take(reader, ',')) {
            if (is_object(reader)) {
                (void)take_key(reader);
            }
            return false;
        }
        if (!take(reader, is_object(reader) ? '}' : ']')) {
            return fail(reader, is_object(reader) ? "a comma or '}' must stand"
                                                  : "a comma or ']' must stand");
        }
        reader->depth--;
    }
    return true;
}

const char *nvtxt_json_fault(struct nvtxt_slice text, size_t *at) {
    struct reader reader = {.in = nvtxt_scan(text)};
    bool complete = false;
    do {
        skip_blanks(&reader);
        if (take_value(&reader, &complete) && complete) {
            complete = take_ends(&reader);
        }
    } while (!complete && !reader.fault);
    if (!reader.fault) {
        skip_blanks(&reader);
    }
    if (!reader.fault && reader.in.at < reader.in.end) {
        reader.fault = "text follows the value";
    }
    *at = nvtxt_scan_place(&reader.in);
    return reader.fault;
}
