// SPDX-License-Identifier: Apache-2.0
//
// One pass from left to right. A quoted text is looked for first, then a thing that is masked as a
// whole, then a word: it is an id, or has a number in it. A mark that opens a quotation and finds
// no end is remembered, so that no text is searched again and again.
#include "report/logs/mask.h"

#include <math.h>
#include <stdlib.h>

#include "protocol/base/scan.h"

#define HEX_LEAST 7 // digits of an id: a short one of git
#define NUMBER 64   // characters of a number that is read

struct masking {
    struct report_mask *mask;
    const char *begin, *at, *end;
    const char *said_end;   // the quotation mark that ends a text which is not masked
    bool unclosed['z' + 1]; // no more of these closing marks come; see close_of()
};

static bool is_digit(char byte) {
    return nvtxt_char_is(byte, NVTXT_CHAR_DIGIT);
}

static char byte_before(const struct masking *masking) {
    return masking->at > masking->begin ? masking->at[-1] : '\0';
}

static char byte_at(const struct masking *masking, const char *at) {
    return at < masking->end ? *at : '\0';
}

// ---- Output -------------------------------------------------------------------------------------

static void copy(struct masking *masking, const char *to) {
    size_t len = (size_t)(to - masking->at);
    memcpy(masking->mask->pattern + masking->mask->len, masking->at, len);
    masking->mask->len += len;
    masking->at = to;
}

static void mask_to(struct masking *masking, const char *to) {
    struct report_mask *mask = masking->mask;
    if (mask->place_count < REPORT_MASK_PLACES) {
        mask->places[mask->place_count++] = nvtxt_slice_between(masking->at, to);
    }
    mask->pattern[mask->len++] = '#';
    masking->at = to;
}

// ---- Quoted texts -------------------------------------------------------------------------------

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && *at == ' ') {
        at++;
    }
    return at;
}

static const char *skip_blanks_back(const char *begin, const char *at) {
    while (at > begin && at[-1] == ' ') {
        at--;
    }
    return at;
}

// A key of JSON: after '{' or ',', and before one ':'.
static bool is_key(const struct masking *masking, const char *close) {
    const char *before = skip_blanks_back(masking->begin, masking->at);
    const char *after = skip_blanks(close + 1, masking->end);
    return before > masking->begin && (before[-1] == '{' || before[-1] == ',') &&
           after < masking->end && *after == ':' && byte_at(masking, after + 1) != ':';
}

static bool is_saying(struct nvtxt_slice word) {
    static const char *const words[] = {"msg",      "message", "event", "level",
                                        "severity", "error",   "err",   "reason"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (nvtxt_equal_any_case(word, words[i])) {
            return true;
        }
    }
    return false;
}

// The value of a key that says what happened: "msg":"…" or msg="…".
static bool is_said(const struct masking *masking) {
    const char *begin = masking->begin, *to = masking->at;
    bool plain = to > begin && to[-1] == '=';
    if (plain) {
        to--;
    } else {
        to = skip_blanks_back(begin, to);
        to = to > begin && to[-1] == ':' ? skip_blanks_back(begin, to - 1) : begin;
        to = to > begin && to[-1] == '"' ? to - 1 : begin;
    }
    const char *from = to;
    while (from > begin && nvtxt_char_is(from[-1], NVTXT_CHAR_WORD_START)) {
        from--;
    }
    bool opened =
        plain ? from == begin || !report_mask_is_word(from[-1]) : from > begin && from[-1] == '"';
    return opened && is_saying(nvtxt_slice_between(from, to));
}

// What makes a single mark an apostrophe; '#' is what was a number.
static bool is_of_word(char byte) {
    return report_mask_is_word(byte) || byte == '#';
}

// The mark that closes the quotation which begins before `from`, or NULL.
static const char *close_of(const struct masking *masking, const char *from, char open) {
    for (const char *at = from; at < masking->end; at++) {
        if (open == '"' && *at == '\\') {
            at++;
        } else if (open == '"'   ? *at == '"'
                   : open == '`' ? *at == '`' || *at == '\''
                                 : *at == '\'' && !is_of_word(byte_at(masking, at + 1))) {
            return at;
        }
    }
    return NULL;
}

// A single one after a letter is an apostrophe.
static bool mask_quoted(struct masking *masking) {
    char open = *masking->at;
    if (masking->unclosed[(unsigned char)open] ||
        (open == '\'' && is_of_word(byte_before(masking)))) {
        return false;
    }
    const char *close = close_of(masking, masking->at + 1, open);
    if (!close) {
        masking->unclosed[(unsigned char)open] = true;
        return false;
    }
    if (open == '"' && is_key(masking, close)) {
        copy(masking, close + 1);
    } else if (open == '"' && is_said(masking)) {
        masking->said_end = close;
        copy(masking, masking->at + 1);
    } else {
        copy(masking, masking->at + 1);
        mask_to(masking, close);
        copy(masking, close + 1);
    }
    return true;
}

// U+2018 to U+2019 and U+201C to U+201D: three bytes, of which the last tells.
static bool mask_curled(struct masking *masking) {
    static const char start[] = "\xE2\x80";
    const char *at = masking->at;
    bool opens =
        masking->end - at > 2 && memcmp(at, start, 2) == 0 && (at[2] == '\x98' || at[2] == '\x9C');
    char kind = opens ? at[2] : '\0';
    if (!opens || masking->unclosed[kind == '\x98' ? 1 : 2]) {
        return false;
    }
    for (const char *close = at + 3; masking->end - close > 2; close++) {
        if (memcmp(close, start, 2) == 0 && close[2] == kind + 1) {
            copy(masking, at + 3);
            mask_to(masking, close);
            copy(masking, close + 3);
            return true;
        }
    }
    masking->unclosed[kind == '\x98' ? 1 : 2] = true;
    return false;
}

// ---- Words --------------------------------------------------------------------------------------

// The end of a number: digits, with points and commas between them, and an exponent.
static const char *number_end(const struct masking *masking, const char *at) {
    const struct nvtxt_scan scan = {masking->begin, at, masking->end};
    at = nvtxt_scan_run(&scan, at, NVTXT_CHAR_DIGIT);
    while ((byte_at(masking, at) == '.' || byte_at(masking, at) == ',') &&
           is_digit(byte_at(masking, at + 1))) {
        at = nvtxt_scan_run(&scan, at + 1, NVTXT_CHAR_DIGIT);
    }
    const char *power = at + 1;
    power += byte_at(masking, power) == '-' || byte_at(masking, power) == '+';
    if (nvtxt_lower(byte_at(masking, at)) == 'e' && is_digit(byte_at(masking, power))) {
        const char *end = nvtxt_scan_run(&scan, power, NVTXT_CHAR_DIGIT);
        return report_mask_is_word(byte_at(masking, end)) ? at : end;
    }
    return at;
}

// An id: two or more separate numbers in one word, or at least HEX_LEAST hexadecimal digits, of
// which some are decimal ones and some are not.
static bool is_id(const char *at, const char *end) {
    size_t numbers = 0, digits = 0;
    bool hex = end - at >= HEX_LEAST;
    for (const char *from = at; from < end; from++) {
        bool digit = is_digit(*from);
        numbers += digit && (from == at || !is_digit(from[-1]));
        digits += digit;
        hex = hex && nvtxt_char_is(*from, NVTXT_CHAR_HEX);
    }
    return numbers > 1 || (hex && digits > 0 && digits < (size_t)(end - at));
}

static const char *word_end(const struct masking *masking, const char *at) {
    while (at < masking->end && report_mask_is_word(*at)) {
        at++;
    }
    return at;
}

// The rest of a word: each number in it.
static void mask_numbers(struct masking *masking) {
    const char *end = word_end(masking, masking->at);
    while (masking->at < end) {
        const char *digits = masking->at;
        while (digits < end && !is_digit(*digits)) {
            digits++;
        }
        copy(masking, digits);
        if (digits < end) {
            mask_to(masking, number_end(masking, digits));
            end = word_end(masking, masking->at);
        }
    }
}

static void mask_word(struct masking *masking) {
    size_t thing = report_mask_thing(masking->at, masking->end);
    const char *end = word_end(masking, masking->at);
    if (thing > 0) {
        mask_to(masking, masking->at + thing);
    } else if (is_id(masking->at, end)) {
        mask_to(masking, end);
    } else {
        mask_numbers(masking);
    }
}

// A sign after nothing, a blank, or what comes before a value; and before a number that is no thing
// and no id.
static bool mask_signed(struct masking *masking) {
    static const char before[] = " \t=([{,:";
    char last = byte_before(masking);
    const char *number = masking->at + 1;
    if ((last && !strchr(before, last)) || !is_digit(byte_at(masking, number)) ||
        report_mask_thing(number, masking->end) > 0 || is_id(number, word_end(masking, number))) {
        return false;
    }
    mask_to(masking, number_end(masking, number));
    mask_numbers(masking);
    return true;
}

// "::1"; a word before it, or another colon, makes it something else.
static bool mask_colons(struct masking *masking) {
    char last = byte_before(masking);
    size_t len =
        last == ':' || report_mask_is_word(last) ? 0 : report_mask_ipv6(masking->at, masking->end);
    if (len > 0) {
        mask_to(masking, masking->at + len);
    }
    return len > 0;
}

// ---- The whole ----------------------------------------------------------------------------------

static bool mask_mark(struct masking *masking) {
    switch (*masking->at) {
    case '"':
        return masking->at != masking->said_end && mask_quoted(masking);
    case '\'':
    case '`':
        return mask_quoted(masking);
    case '\xE2':
        return mask_curled(masking);
    case '-':
    case '+':
        return mask_signed(masking);
    case ':':
        return mask_colons(masking);
    default:
        return false;
    }
}

void report_mask(struct report_mask *mask, struct nvtxt_slice text) {
    mask->text = nvtxt_slice_cut(text, REPORT_MASK_BYTES);
    mask->len = mask->place_count = 0;
    struct masking masking = {.mask = mask,
                              .begin = mask->text.data,
                              .at = mask->text.data,
                              .end = mask->text.data + mask->text.len};
    while (masking.at < masking.end) {
        if (report_mask_is_word(*masking.at)) {
            mask_word(&masking);
        } else if (!mask_mark(&masking)) {
            copy(&masking, masking.at + 1);
        }
    }
    if (mask->text.len < text.len) {
        memcpy(mask->pattern + mask->len, "\xE2\x80\xA6", 3);
        mask->len += 3;
    }
}

// ---- Numbers ------------------------------------------------------------------------------------

static size_t digits_at(struct nvtxt_slice text, size_t at) {
    size_t len = 0;
    while (at + len < text.len && is_digit(text.data[at + len])) {
        len++;
    }
    return len;
}

// Commas stand before groups of three digits.
static size_t whole_part(struct nvtxt_slice text, size_t at) {
    size_t len = digits_at(text, at);
    if (len == 0 || len > 3) {
        return len;
    }
    while (at + len < text.len && text.data[at + len] == ',' &&
           digits_at(text, at + len + 1) == 3) {
        len += 4;
    }
    return len;
}

static size_t exponent(struct nvtxt_slice text, size_t at) {
    if (at >= text.len || nvtxt_lower(text.data[at]) != 'e') {
        return 0;
    }
    size_t sign = at + 1 < text.len && (text.data[at + 1] == '-' || text.data[at + 1] == '+');
    size_t digits = digits_at(text, at + 1 + sign);
    return digits > 0 ? 1 + sign + digits : 0;
}

bool report_mask_number(struct nvtxt_slice place, double *value) {
    char text[NUMBER];
    size_t len = 0;
    size_t at = place.len > 0 && (place.data[0] == '-' || place.data[0] == '+');
    size_t whole = whole_part(place, at);
    at += whole;
    if (whole > 0 && at < place.len && place.data[at] == '.') {
        at += 1 + digits_at(place, at + 1);
    }
    at += whole > 0 ? exponent(place, at) : 0;
    if (whole == 0 || at != place.len || place.len >= NUMBER) {
        return false;
    }
    for (size_t i = 0; i < place.len; i++) {
        if (place.data[i] != ',') {
            text[len++] = place.data[i];
        }
    }
    text[len] = '\0';
    *value = strtod(text, NULL);
    return isfinite(*value);
}
