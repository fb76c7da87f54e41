// SPDX-License-Identifier: Apache-2.0
//
// A loop over the tokens, without recursion. Of the arrays and objects that are open it keeps one
// bit each: an array or an object. jansson, which reads all other JSON, would build every value,
// and refuses numbers and escapes that RFC 8259 allows.
#include "protocol/lang/jsontext.h"

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/chars.h"

_Static_assert(NVTXT_JSON_DEPTH <= 64, "a bit of `objects` for each level");

struct scan {
    const char *begin, *at, *end;
    const char *fault;
    uint64_t objects; // bit n: level n is an object
    unsigned depth;
};

static bool fail(struct scan *scan, const char *fault) {
    scan->fault = fault;
    return false;
}

static void skip_blanks(struct scan *scan) {
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r')) {
        scan->at++;
    }
}

static bool take(struct scan *scan, char byte) {
    bool is_there = scan->at < scan->end && *scan->at == byte;
    scan->at += is_there;
    return is_there;
}

static bool take_word(struct scan *scan, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0) {
        return fail(scan, "a value must stand");
    }
    scan->at += len;
    return true;
}

static bool take_digits(struct scan *scan) {
    const char *begin = scan->at;
    while (scan->at < scan->end && nvtxt_char_is(*scan->at, NVTXT_CHAR_DIGIT)) {
        scan->at++;
    }
    return scan->at > begin || fail(scan, "a digit must stand");
}

static bool take_number(struct scan *scan) {
    take(scan, '-');
    if (!take(scan, '0') && !take_digits(scan)) {
        return false;
    }
    if (take(scan, '.') && !take_digits(scan)) {
        return false;
    }
    if (take(scan, 'e') || take(scan, 'E')) {
        if (!take(scan, '+')) {
            take(scan, '-');
        }
        return take_digits(scan);
    }
    return true;
}

static bool take_escape(struct scan *scan) {
    char byte = scan->at < scan->end ? *scan->at : '\0';
    if (byte == '\0' || !strchr("\"\\/bfnrtu", byte)) {
        return fail(scan, "an escape is wrong");
    }
    scan->at++;
    for (int i = 0; byte == 'u' && i < 4; i++, scan->at++) {
        if (scan->at == scan->end || !nvtxt_char_is(*scan->at, NVTXT_CHAR_HEX)) {
            return fail(scan, "a hexadecimal digit must stand");
        }
    }
    return true;
}

// The cursor is after the opening quote.
static bool take_string(struct scan *scan) {
    while (scan->at < scan->end) {
        char byte = *scan->at;
        if ((unsigned char)byte < ' ') {
            return fail(scan, "a control character stands in a string");
        }
        scan->at++;
        if (byte == '"') {
            return true;
        }
        if (byte == '\\' && !take_escape(scan)) {
            return false;
        }
    }
    return fail(scan, "a string has no end");
}

static bool take_key(struct scan *scan) {
    skip_blanks(scan);
    if (!take(scan, '"')) {
        return fail(scan, "the name of a member must stand");
    }
    if (!take_string(scan)) {
        return false;
    }
    skip_blanks(scan);
    return take(scan, ':') || fail(scan, "a colon must stand");
}

static bool is_object(const struct scan *scan) {
    return scan->objects >> (scan->depth - 1) & 1;
}

static bool open_level(struct scan *scan, bool object) {
    if (scan->depth == NVTXT_JSON_DEPTH) {
        return fail(scan, "the 65th level begins");
    }
    scan->at++;
    uint64_t bit = UINT64_C(1) << scan->depth++;
    scan->objects = object ? scan->objects | bit : scan->objects & ~bit;
    return true;
}

// Takes what begins at the cursor: a scalar, an empty array or object, or the beginning of one with
// its first key. `*complete` says that the value is over.
static bool take_value(struct scan *scan, bool *complete) {
    *complete = true;
    char byte = scan->at < scan->end ? *scan->at : '\0';
    switch (byte) {
    case '{':
    case '[':
        if (!open_level(scan, byte == '{')) {
            return false;
        }
        skip_blanks(scan);
        if (take(scan, byte == '{' ? '}' : ']')) {
            scan->depth--;
            return true;
        }
        *complete = false;
        return byte == '[' || take_key(scan);
    case '"':
        scan->at++;
        return take_string(scan);
    case 't':
        return take_word(scan, "true");
    case 'f':
        return take_word(scan, "false");
    case 'n':
        return take_word(scan, "null");
    default:
        if (byte == '-' || nvtxt_char_is(byte, NVTXT_CHAR_DIGIT)) {
            return take_number(scan);
        }
        return fail(scan, "a value must stand");
    }
}

// After a value: ends the levels that end here. False with `fault` NULL: another value follows.
static bool take_ends(struct scan *scan) {
    while (scan->depth > 0) {
        skip_blanks(scan);
        if (take(scan, ',')) {
            if (is_object(scan)) {
                (void)take_key(scan);
            }
            return false;
        }
        if (!take(scan, is_object(scan) ? '}' : ']')) {
            return fail(scan, is_object(scan) ? "a comma or '}' must stand"
                                              : "a comma or ']' must stand");
        }
        scan->depth--;
    }
    return true;
}

const char *nvtxt_json_fault(struct nvtxt_slice text, size_t *at) {
    struct scan scan = {.begin = text.data, .at = text.data, .end = text.data + text.len};
    bool complete = false;
    do {
        skip_blanks(&scan);
        if (take_value(&scan, &complete) && complete) {
            complete = take_ends(&scan);
        }
    } while (!complete && !scan.fault);
    if (!scan.fault) {
        skip_blanks(&scan);
    }
    if (!scan.fault && scan.at < scan.end) {
        scan.fault = "text follows the value";
    }
    *at = (size_t)(scan.at - scan.begin);
    return scan.fault;
}
