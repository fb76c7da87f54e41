// SPDX-License-Identifier: Apache-2.0
//
// A walk over the bytes with a bit for each open level, so that no depth of input makes the stack
// grow. After a value comes a comma or the end of what is open; `expect` says what may come now.
#include "lib/ring/json_check.h"

#include <stdint.h>
#include <string.h>

struct walk {
    const char *at, *end;
    uint64_t objects; // of each open level: it is an object
    uint32_t depth;
};

static void skip_blanks(struct walk *walk) {
    while (walk->at < walk->end &&
           (*walk->at == ' ' || *walk->at == '\t' || *walk->at == '\n' || *walk->at == '\r')) {
        walk->at++;
    }
}

static bool take(struct walk *walk, char byte) {
    if (walk->at == walk->end || *walk->at != byte) {
        return false;
    }
    walk->at++;
    return true;
}

static bool is_hex(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

static int hex(char byte) {
    return byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10;
}

// The four digits of a \u; -1 when they are not there.
static int take_unit(struct walk *walk) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        if (walk->at == walk->end || !is_hex(*walk->at)) {
            return -1;
        }
        unit = unit * 16 + hex(*walk->at++);
    }
    return unit;
}

// Surrogates come in pairs, and U+0000 is in no text of the store.
static bool take_unicode(struct walk *walk) {
    int unit = take_unit(walk);
    if (unit <= 0 || (unit >= 0xdc00 && unit <= 0xdfff)) {
        return false;
    }
    if (unit < 0xd800 || unit > 0xdbff) {
        return true;
    }
    if (!take(walk, '\\') || !take(walk, 'u')) {
        return false;
    }
    unit = take_unit(walk);
    return unit >= 0xdc00 && unit <= 0xdfff;
}

static bool take_string(struct walk *walk) {
    if (!take(walk, '"')) {
        return false;
    }
    while (walk->at < walk->end) {
        char byte = *walk->at++;
        if (byte == '"') {
            return true;
        }
        if ((unsigned char)byte < 0x20) {
            return false;
        }
        if (byte == '\\') {
            if (walk->at == walk->end) {
                return false;
            }
            byte = *walk->at++;
            if (byte == 'u' ? !take_unicode(walk) : !memchr("\"\\/bfnrt", byte, 8)) {
                return false;
            }
        }
    }
    return false;
}

static bool take_digits(struct walk *walk) {
    const char *from = walk->at;
    while (walk->at < walk->end && *walk->at >= '0' && *walk->at <= '9') {
        walk->at++;
    }
    return walk->at > from;
}

static bool take_number(struct walk *walk) {
    take(walk, '-');
    if (!take(walk, '0') && !take_digits(walk)) {
        return false;
    }
    if (take(walk, '.') && !take_digits(walk)) {
        return false;
    }
    if (take(walk, 'e') || take(walk, 'E')) {
        if (!take(walk, '+')) {
            take(walk, '-');
        }
        return take_digits(walk);
    }
    return true;
}

static bool take_word(struct walk *walk, const char *word) {
    size_t len = strlen(word);
    if ((size_t)(walk->end - walk->at) < len || memcmp(walk->at, word, len) != 0) {
        return false;
    }
    walk->at += len;
    return true;
}

static bool take_scalar(struct walk *walk) {
    switch (walk->at < walk->end ? *walk->at : '\0') {
    case '"':
        return take_string(walk);
    case 't':
        return take_word(walk, "true");
    case 'f':
        return take_word(walk, "false");
    case 'n':
        return take_word(walk, "null");
    default:
        return take_number(walk);
    }
}

static bool in_object(const struct walk *walk) {
    return walk->objects >> (walk->depth - 1) & 1;
}

static bool take_key(struct walk *walk) {
    skip_blanks(walk);
    if (!take_string(walk)) {
        return false;
    }
    skip_blanks(walk);
    return take(walk, ':');
}

// Opens what begins here. Returns 1 when a value must follow, 0 when it was empty and is closed, -1
// for a fault.
static int open_level(struct walk *walk, bool object) {
    if (walk->depth == JSON_DEPTH) {
        return -1;
    }
    uint64_t bit = (uint64_t)1 << walk->depth++;
    walk->objects = object ? walk->objects | bit : walk->objects & ~bit;
    skip_blanks(walk);
    if (take(walk, object ? '}' : ']')) {
        walk->depth--;
        return 0;
    }
    return !object || take_key(walk) ? 1 : -1;
}

// After a value: closes levels until a comma asks for another. Returns as open_level().
static int close_levels(struct walk *walk) {
    for (;;) {
        skip_blanks(walk);
        if (walk->depth == 0) {
            return walk->at == walk->end ? 0 : -1;
        }
        if (take(walk, ',')) {
            return !in_object(walk) || take_key(walk) ? 1 : -1;
        }
        if (!take(walk, in_object(walk) ? '}' : ']')) {
            return -1;
        }
        walk->depth--;
    }
}

bool json_check(const char *text, size_t len) {
    struct walk walk = {.at = text, .end = text + len};
    for (;;) {
        skip_blanks(&walk);
        bool object = take(&walk, '{');
        if (object || take(&walk, '[')) {
            int r = open_level(&walk, object);
            if (r != 0) {
                if (r < 0) {
                    return false;
                }
                continue;
            }
        } else if (!take_scalar(&walk)) {
            return false;
        }
        int r = close_levels(&walk);
        if (r <= 0) {
            return r == 0;
        }
    }
}
