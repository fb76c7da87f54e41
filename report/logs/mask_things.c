// SPDX-License-Identifier: Apache-2.0
//
// Each function reads one form from its begin and returns how long it is, or 0. A form ends where
// no letter and no digit follows, so that no part of a longer word is taken.
#include <string.h>

#include "protocol/base/scan.h"
#include "report/logs/mask.h"

static bool is_digit(char byte) {
    return nvtxt_char_is(byte, NVTXT_CHAR_DIGIT);
}

static char byte_at(const char *at, const char *end) {
    return at < end ? *at : '\0';
}

static size_t run_of(const char *at, const char *end, enum nvtxt_char_class classes, size_t most) {
    size_t len = 0;
    while (len < most && at + len < end && nvtxt_char_is(at[len], classes)) {
        len++;
    }
    return len;
}

// A shape: 'd' is a digit, 'h' a hexadecimal one, all else itself.
static size_t shape(const char *at, const char *end, const char *wanted) {
    size_t len = 0;
    for (; wanted[len]; len++) {
        char byte = byte_at(at + len, end);
        bool fits = wanted[len] == 'd'   ? is_digit(byte)
                    : wanted[len] == 'h' ? nvtxt_char_is(byte, NVTXT_CHAR_HEX)
                                         : byte == wanted[len];
        if (!fits) {
            return 0;
        }
    }
    return len;
}

static size_t ended(const char *at, const char *end, size_t len) {
    return len > 0 && !report_mask_is_word(byte_at(at + len, end)) ? len : 0;
}

// ---- Times --------------------------------------------------------------------------------------

static size_t zone(const char *at, const char *end) {
    size_t blank = byte_at(at, end) == ' ';
    const char *sign = at + blank;
    if (byte_at(at, end) == 'Z') {
        return 1;
    }
    if (byte_at(sign, end) != '+' && byte_at(sign, end) != '-') {
        return 0;
    }
    size_t len = shape(sign + 1, end, "dddd") ?: shape(sign + 1, end, "dd:dd");
    return ended(sign + 1, end, len) ? blank + 1 + len : 0;
}

// 1:02:03 or 01:02:03.456, with a zone perhaps.
static size_t clock_of(const char *at, const char *end) {
    size_t len = shape(at, end, "dd:dd:dd") ?: shape(at, end, "d:dd:dd");
    if (len == 0) {
        return 0;
    }
    char point = byte_at(at + len, end);
    if ((point == '.' || point == ',') && is_digit(byte_at(at + len + 1, end))) {
        len += 1 + run_of(at + len + 1, end, NVTXT_CHAR_DIGIT, SIZE_MAX);
    }
    len += zone(at + len, end);
    return ended(at, end, len);
}

// 2026-11-24, perhaps with 'T' or a blank and a clock.
static size_t iso(const char *at, const char *end) {
    size_t len = shape(at, end, "dddd-dd-dd") ?: shape(at, end, "dddd/dd/dd");
    char between = byte_at(at + len, end);
    if (len > 0 && (between == 'T' || between == ' ')) {
        size_t more = clock_of(at + len + 1, end);
        len += more > 0 ? 1 + more : 0;
    }
    return ended(at, end, len);
}

static size_t name_of(const char *at, const char *end, const char *names) {
    for (; *names && end - at >= 3; names += 3) {
        if (memcmp(at, names, 3) == 0) {
            return 3;
        }
    }
    return 0;
}

static size_t month(const char *at, const char *end) {
    return name_of(at, end, "JanFebMarAprMayJunJulAugSepOctNovDec");
}

// Nov 24 01:02:03, perhaps with a year after it.
static size_t month_first(const char *at, const char *end) {
    size_t len = month(at, end);
    if (len == 0 || byte_at(at + len, end) != ' ') {
        return 0;
    }
    len++;
    len += byte_at(at + len, end) == ' ';
    size_t day = run_of(at + len, end, NVTXT_CHAR_DIGIT, 2);
    if (day == 0 || byte_at(at + len + day, end) != ' ') {
        return 0;
    }
    len += day + 1;
    size_t clock = clock_of(at + len, end);
    if (clock == 0) {
        return 0;
    }
    len += clock;
    size_t year = shape(at + len, end, " dddd");
    return len + ended(at + len, end, year);
}

// 24/Nov/2026:01:02:03 +0000, 24 Nov 2026, 24-Nov-2026 01:02:03.
static size_t day_first(const char *at, const char *end) {
    size_t len = run_of(at, end, NVTXT_CHAR_DIGIT, 2);
    char between = byte_at(at + len, end);
    bool fits = len > 0 && (between == '/' || between == ' ' || between == '-') &&
                month(at + len + 1, end) > 0 && byte_at(at + len + 4, end) == between &&
                shape(at + len + 5, end, "dddd") > 0;
    if (!fits) {
        return 0;
    }
    len += 9;
    char after = byte_at(at + len, end);
    size_t clock = after == ' ' || after == ':' ? clock_of(at + len + 1, end) : 0;
    len += clock > 0 ? 1 + clock : 0;
    return ended(at, end, len);
}

// With the name of a day before it, perhaps.
static size_t dated(const char *at, const char *end) {
    size_t len = name_of(at, end, "MonTueWedThuFriSatSun");
    len += len > 0 && byte_at(at + len, end) == ',';
    if (len > 0 && byte_at(at + len, end) != ' ') {
        return 0;
    }
    len += len > 0;
    size_t rest = month_first(at + len, end) ?: day_first(at + len, end);
    return rest > 0 ? len + rest : 0;
}

// ---- Ids and addresses --------------------------------------------------------------------------

static size_t uuid(const char *at, const char *end) {
    return ended(at, end, shape(at, end, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"));
}

static size_t mac(const char *at, const char *end) {
    size_t len = shape(at, end, "hh:hh:hh:hh:hh:hh") ?: shape(at, end, "hh-hh-hh-hh-hh-hh");
    bool more = byte_at(at + len, end) == byte_at(at + 2, end) &&
                report_mask_is_word(byte_at(at + len + 1, end));
    return more ? 0 : ended(at, end, len);
}

static size_t hex_number(const char *at, const char *end) {
    bool begins = byte_at(at, end) == '0' && nvtxt_lower(byte_at(at + 1, end)) == 'x';
    size_t digits = begins ? run_of(at + 2, end, NVTXT_CHAR_HEX, SIZE_MAX) : 0;
    return digits > 0 ? ended(at, end, 2 + digits) : 0;
}

static size_t ipv4(const char *at, const char *end) {
    size_t len = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0 && byte_at(at + len++, end) != '.') {
            return 0;
        }
        size_t digits = run_of(at + len, end, NVTXT_CHAR_DIGIT, 3);
        unsigned value = 0;
        for (size_t k = 0; k < digits; k++) {
            value = value * 10 + (unsigned)(at[len + k] - '0');
        }
        if (digits == 0 || value > 255) {
            return 0;
        }
        len += digits;
    }
    bool more = byte_at(at + len, end) == '.' && is_digit(byte_at(at + len + 1, end));
    return more ? 0 : ended(at, end, len);
}

static bool has_digit(const char *at, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (is_digit(at[i])) {
            return true;
        }
    }
    return false;
}

// Eight groups, or fewer with "::" for the others; the last two may be an address of IPv4. Words
// with colons between them, such as add::bad, have no digit.
size_t report_mask_ipv6(const char *at, const char *end) {
    size_t len = shape(at, end, "::"), groups = 0;
    bool gap = len > 0;
    for (bool more = true; more;) {
        size_t digits = run_of(at + len, end, NVTXT_CHAR_HEX, 4);
        size_t tail = byte_at(at + len + digits, end) == '.' ? ipv4(at + len, end) : 0;
        len += tail ?: digits;
        groups += tail > 0 ? 2 : digits > 0;
        more = tail == 0 && digits > 0 && byte_at(at + len, end) == ':';
        if (more && byte_at(at + len + 1, end) == ':' && !gap) {
            gap = true;
            len += 2;
        } else if (more && nvtxt_char_is(byte_at(at + len + 1, end), NVTXT_CHAR_HEX)) {
            len++;
        } else {
            more = false;
        }
    }
    char next = byte_at(at + len + 1, end);
    bool goes_on = byte_at(at + len, end) == ':' &&
                   (next == ':' || (len > 0 && at[len - 1] == ':') || report_mask_is_word(next));
    bool whole = gap ? groups > 0 && groups < 8 : groups == 8;
    return whole && !goes_on && has_digit(at, len) ? ended(at, end, len) : 0;
}

// An address may begin as a clock does: 52:54:00:12:34:56.
static size_t clock_or_address(const char *at, const char *end) {
    size_t len = clock_of(at, end);
    return len > 0 ? mac(at, end) ?: report_mask_ipv6(at, end) ?: len : 0;
}

// What begins with a digit, with a capital letter as months and days do, or with a letter of a
// hexadecimal number can be one.
size_t report_mask_thing(const char *at, const char *end) {
    if (is_digit(*at)) {
        size_t len = iso(at, end) ?: clock_or_address(at, end) ?: day_first(at, end);
        len = len ?: hex_number(at, end) ?: ipv4(at, end);
        if (len > 0) {
            return len;
        }
    } else if (*at <= 'Z') {
        size_t len = dated(at, end);
        if (len > 0) {
            return len;
        }
    }
    return nvtxt_char_is(*at, NVTXT_CHAR_HEX)
               ? uuid(at, end) ?: mac(at, end) ?: report_mask_ipv6(at, end)
               : 0;
}
