// SPDX-License-Identifier: Apache-2.0
//
// A walk over the members of an object and of the objects in it. Only numbers and short texts are
// kept; everything else is stepped over by counting brackets outside of strings.
#include "lib/send/session.h"

#include <string.h>

#define DEPTH_MAX 16

struct scan {
    const char *at, *end;
};

static char peek(struct scan *scan) {
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4)) {
        scan->at++;
    }
    return scan->at < scan->end ? *scan->at : '\0';
}

static bool take(struct scan *scan, char byte) {
    if (peek(scan) != byte) {
        return false;
    }
    scan->at++;
    return true;
}

// A string as it stands there: escapes are stepped over. Returns false when it has no end.
static bool take_string(struct scan *scan, const char **text, size_t *len) {
    if (!take(scan, '"')) {
        return false;
    }
    *text = scan->at;
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '"') {
            *len = (size_t)(scan->at++ - *text);
            return true;
        }
        scan->at += *scan->at == '\\';
    }
    scan->at = scan->end;
    return false;
}

static bool take_number(struct scan *scan, uint64_t *number) {
    char first = peek(scan);
    *number = 0;
    if (first < '0' || first > '9') {
        return false;
    }
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
        uint64_t digit = (uint64_t)(*scan->at - '0');
        if (*number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *number = *number * 10 + digit;
    }
    return true;
}

// Steps over a value that nobody asked for.
static bool skip_value(struct scan *scan) {
    int depth = 0;
    do {
        char byte = peek(scan);
        const char *text;
        size_t len;
        if (byte == '"') {
            if (!take_string(scan, &text, &len)) {
                return false;
            }
        } else if (byte == '\0' || scan->at == scan->end) {
            return false;
        } else {
            depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
            scan->at++;
            while (depth == 0 && scan->at < scan->end && !memchr(",}] \t", *scan->at, 5)) {
                scan->at++; // the rest of a number or word
            }
        }
    } while (depth > 0 && depth < DEPTH_MAX);
    return depth == 0;
}

static bool is_key(const char *key, size_t len, const char *name) {
    return strlen(name) == len && memcmp(key, name, len) == 0;
}

static uint64_t *number_of(struct answer *answer, const char *key, size_t len, bool in_limits) {
    if (in_limits) {
        return is_key(key, len, "line")             ? &answer->line_bytes
               : is_key(key, len, "variable_bytes") ? &answer->variable_bytes
               : is_key(key, len, "push_depth")     ? &answer->push_depth
               : is_key(key, len, "open_ranges")    ? &answer->open_ranges
                                                    : NULL;
    }
    return is_key(key, len, "line")   ? &answer->line
           : is_key(key, len, "nvtx") ? &answer->nvtx
                                      : NULL;
}

static bool read_type(struct scan *scan, struct answer *answer) {
    static const char *const names[] = {[ANSWER_WELCOME] = "welcome",
                                        [ANSWER_ACK] = "ack",
                                        [ANSWER_END] = "end",
                                        [ANSWER_ERROR] = "error"};
    const char *text;
    size_t len;
    if (!take_string(scan, &text, &len)) {
        return false;
    }
    for (int i = ANSWER_WELCOME; i <= ANSWER_ERROR; i++) {
        if (is_key(text, len, names[i])) {
            answer->type = (enum answer_type)i;
        }
    }
    return true;
}

static bool read_code(struct scan *scan, struct answer *answer) {
    const char *text;
    size_t len;
    if (!take_string(scan, &text, &len)) {
        return false;
    }
    len = len < sizeof(answer->code) ? len : sizeof(answer->code) - 1;
    memcpy(answer->code, text, len);
    answer->code[len] = '\0';
    return true;
}

static bool read_object(struct scan *scan, struct answer *answer, bool in_limits);

static bool read_member(struct scan *scan, struct answer *answer, bool in_limits) {
    const char *key;
    size_t len;
    if (!take_string(scan, &key, &len) || !take(scan, ':')) {
        return false;
    }
    uint64_t *number = number_of(answer, key, len, in_limits);
    if (number) {
        return take_number(scan, number);
    }
    if (!in_limits && is_key(key, len, "type")) {
        return read_type(scan, answer);
    }
    if (!in_limits && is_key(key, len, "code")) {
        return read_code(scan, answer);
    }
    if (!in_limits && is_key(key, len, "limits")) {
        return read_object(scan, answer, true);
    }
    return skip_value(scan);
}

static bool read_object(struct scan *scan, struct answer *answer, bool in_limits) {
    if (!take(scan, '{')) {
        return false;
    }
    if (take(scan, '}')) {
        return true;
    }
    do {
        if (!read_member(scan, answer, in_limits)) {
            return false;
        }
    } while (take(scan, ','));
    return take(scan, '}');
}

bool answer_read(const char *text, size_t len, struct answer *answer) {
    struct scan scan = {text, text + len};
    *answer = (struct answer){0};
    return read_object(&scan, answer, false) && peek(&scan) == '\0' && scan.at == scan.end;
}
