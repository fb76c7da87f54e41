// SPDX-License-Identifier: Apache-2.0
//
// Each piece asks for room once, for the longest that it can become, so the loops over bytes and
// digits need no checks. A piece that is longer than the buffer makes the buffer grow.
//
// Most texts hold nothing that must be escaped, and the times have 19 digits, so both go eight
// bytes at a time in a word of 64 bits. The bytes of a word are looked at one by one only where one
// of them is not plain.
#include "protocol/text/out.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "protocol/base/json.h"
#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"
#include "protocol/text/civil.h"

#define SHOWN_BYTES 4096                  // what a terminal takes at once
#define BUFFER_BYTES ((size_t)256 * 1024) // some thousand events a write

int nvtxt_out_init(struct nvtxt_out *out, int fd) {
    *out = (struct nvtxt_out){.fd = fd,
                              .is_terminal = fd >= 0 && isatty(fd),
                              .data = malloc(BUFFER_BYTES),
                              .cap = BUFFER_BYTES};
    return out->data ? 0 : nvtxt_origin(-ENOMEM);
}

void nvtxt_out_deinit(struct nvtxt_out *out) {
    free(out->data);
    *out = (struct nvtxt_out){.fd = -1};
}

// A signal ends the wait for a reader that does not read: the write fails or is short then, and
// `interrupted` says so.
void nvtxt_out_put(struct nvtxt_out *out, const char *data, size_t len) {
    size_t at = 0;
    while (at < len && out->error == 0) {
        ssize_t n = write(out->fd, data + at, len - at);
        int error = n == 0 ? ENOSPC : n < 0 ? errno : 0;
        at += n > 0 ? (size_t)n : 0;
        if (at < len && out->interrupted && out->interrupted()) {
            out->error = nvtxt_origin(-EINTR);
        } else if (error == EPIPE) {
            out->error = NVTXT_OUT_CLOSED;
        } else if (error != EINTR) {
            out->error = nvtxt_origin(-error);
        }
    }
    out->written += at;
}

// Pieces are whole characters, so none lies in two flushes.
static void put_shown(struct nvtxt_out *out, struct nvtxt_slice text) {
    char shown[SHOWN_BYTES];
    size_t len = 0;
    while (text.len > 0) {
        struct nvtxt_slice character;
        size_t taken = nvtxt_utf8_shown_in_lines(text, &character);
        memcpy(shown + len, character.data, character.len);
        len += character.len;
        text.data += taken;
        text.len -= taken;
        if (text.len == 0 || len + NVTXT_UTF8_MOST > sizeof(shown)) {
            nvtxt_out_put(out, shown, len);
            len = 0;
        }
    }
}

// Writes what the buffer holds; `show` may leave the end of it.
static int flush(struct nvtxt_out *out, bool last) {
    const struct nvtxt_slice text = {out->data, out->len};
    size_t taken = out->len;
    if (out->show) {
        taken = out->show(out, text, last);
    } else if (out->is_terminal) {
        put_shown(out, text);
    } else {
        nvtxt_out_put(out, text.data, text.len);
    }
    out->len = out->error ? 0 : out->len - taken;
    memmove(out->data, out->data + taken, out->len);
    return out->error;
}

int nvtxt_out_flush(struct nvtxt_out *out) {
    return flush(out, true);
}

static int grow(struct nvtxt_out *out, size_t size) {
    char *data = realloc(out->data, size);
    if (!data) {
        out->error = nvtxt_origin(-ENOMEM);
        return nvtxt_origin(-ENOMEM);
    }
    out->data = data;
    out->cap = size;
    return 0;
}

char *nvtxt_out_make_room(struct nvtxt_out *out, size_t size) {
    if (out->fd < 0) {
        bool grown = out->error == 0 && grow(out, 2 * out->cap + size) == 0;
        return grown ? out->data + out->len : NULL;
    }
    if (flush(out, false) != 0) {
        return NULL;
    }
    size += out->len;
    return size > out->cap && grow(out, size) < 0 ? NULL : out->data + out->len;
}

#define IN_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (unsigned char)(byte))

// ---- Numbers ------------------------------------------------------------------------------------

static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

#define EIGHT_DIGITS 100000000u

// All steps divide the parts of one word at once: in two, in four, in eight. The factors are 1/100
// and 1/10, exact for numbers of four and two digits.
static void put_eight_digits(char *to, uint32_t value) {
    uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = halves * 10486 >> 20 & UINT64_C(0x7F0000007F);
    uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
    uint64_t tens = quarters * 103 >> 10 & UINT64_C(0x000F000F000F000F);
    uint64_t digits = tens | (quarters - 10 * tens) << 8 | UINT64_C(0x3030303030303030);
    digits = htole64(digits); // the first digit is the lowest byte
    memcpy(to, &digits, sizeof(digits));
}

#define FOUR_POWERS(first) first, first##0, first##00, first##000u

// For a number from 1 on. A bit is 1233/4096 of a digit, and this rounded down is the number of
// digits or one less.
static size_t count_digits(uint64_t value) {
    static const uint64_t powers[NVTXT_DIGITS] = {
        FOUR_POWERS(1), FOUR_POWERS(10000), FOUR_POWERS(100000000), FOUR_POWERS(1000000000000),
        FOUR_POWERS(10000000000000000)};
    size_t log = (size_t)(64 - __builtin_clzll(value)) * 1233 >> 12;
    return log + (value >= powers[log]);
}

char *nvtxt_put_digits(char *to, uint64_t value) {
    if (value < 10) {
        *to = (char)('0' + value);
        return to + 1;
    }
    char *end = to + count_digits(value), *at = end;
    for (; value >= EIGHT_DIGITS; value /= EIGHT_DIGITS) {
        at -= 8;
        put_eight_digits(at, (uint32_t)(value % EIGHT_DIGITS));
    }
    uint32_t rest = (uint32_t)value;
    for (; rest >= 100; rest /= 100) {
        at -= 2;
        memcpy(at, pairs + (size_t)(rest % 100) * 2, 2);
    }
    if (rest >= 10) {
        memcpy(at - 2, pairs + (size_t)rest * 2, 2);
    } else {
        at[-1] = (char)('0' + rest);
    }
    return end;
}

void nvtxt_out_uint(struct nvtxt_out *out, uint64_t value) {
    char *room = nvtxt_out_room(out, NVTXT_DIGITS);
    out->len += room ? (size_t)(nvtxt_put_digits(room, value) - room) : 0;
}

void nvtxt_out_int(struct nvtxt_out *out, int64_t value) {
    if (value < 0) {
        NVTXT_OUT_LITERAL(out, "-");
    }
    nvtxt_out_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void nvtxt_out_microseconds(struct nvtxt_out *out, uint64_t ns) {
    char *room = nvtxt_out_room(out, NVTXT_DIGITS + 4);
    if (!room) {
        return;
    }
    char *at = nvtxt_put_digits(room, ns / 1000);
    unsigned rest = (unsigned)(ns % 1000);
    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    memcpy(at + 2, pairs + (size_t)(rest % 100) * 2, 2);
    out->len += (size_t)(at + 4 - room);
}

// ---- Times --------------------------------------------------------------------------------------

#define DAY 86400

static int64_t divide_down(int64_t value, int64_t by) {
    int64_t quotient = value / by;
    return quotient - (value % by < 0);
}

// The Gregorian date of a day since 1970-01-01, by eras of 400 years that begin on a 1st of March,
// so that the leap day is a year's last.
static void date_of(int64_t day, char out[10]) {
    int64_t shifted = day + 719468; // days from 0000-03-01 to 1970-01-01
    int64_t era = divide_down(shifted, 146097);
    unsigned of_era = (unsigned)(shifted - era * 146097);
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned march = (5 * of_year + 2) / 153; // months since March
    unsigned date = of_year - (153 * march + 2) / 5 + 1;
    unsigned month = march < 10 ? march + 3 : march - 9;
    unsigned whole = (unsigned)((int64_t)year + era * 400) + (month <= 2);
    memcpy(out, pairs + whole / 100 * 2, 2);
    memcpy(out + 2, pairs + whole % 100 * 2, 2);
    out[4] = out[7] = '-';
    memcpy(out + 5, pairs + (size_t)month * 2, 2);
    memcpy(out + 8, pairs + (size_t)date * 2, 2);
}

static void find_second(struct nvtxt_out *out, int64_t second) {
    int64_t day = divide_down(second, DAY);
    unsigned of_day = (unsigned)(second - day * DAY);
    memcpy(out->second_text, "0000-00-00T00:00:00.", sizeof(out->second_text));
    date_of(day, out->second_text);
    memcpy(out->second_text + 11, pairs + of_day / 3600 * 2, 2);
    memcpy(out->second_text + 14, pairs + of_day / 60 % 60 * 2, 2);
    memcpy(out->second_text + 17, pairs + of_day % 60 * 2, 2);
    out->second = second;
}

void nvtxt_out_utc(struct nvtxt_out *out, int64_t ns) {
    char text[30];
    int64_t second = divide_down(ns, NVTXT_NS_A_SECOND);
    uint64_t rest = (uint64_t)ns - (uint64_t)second * NVTXT_NS_A_SECOND; // may wrap on the way
    if (second != out->second || !out->second_text[0]) {
        find_second(out, second);
    }
    memcpy(text, out->second_text, sizeof(out->second_text));
    text[20] = (char)('0' + rest / EIGHT_DIGITS);
    put_eight_digits(text + 21, (uint32_t)(rest % EIGHT_DIGITS));
    text[29] = 'Z';
    nvtxt_out_bytes(out, text, sizeof(text));
}

void nvtxt_out_format(struct nvtxt_out *out, const char *format, ...) {
    char text[NVTXT_OUT_FORMATTED];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert(len >= 0 && (size_t)len < sizeof(text));
    nvtxt_out_bytes(out, text, (size_t)len);
}

// Each digit gets a byte of its own; from 10 on it is a letter.
void nvtxt_out_color(struct nvtxt_out *out, uint32_t argb) {
    char text[9] = "#";
    uint64_t digits = (argb | (uint64_t)argb << 16) & UINT64_C(0x0000FFFF0000FFFF);
    digits = (digits | digits << 8) & UINT64_C(0x00FF00FF00FF00FF);
    digits = (digits | digits << 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    uint64_t letters = (digits + IN_EACH_BYTE(6)) >> 4 & IN_EACH_BYTE(1);
    digits = htobe64(digits + IN_EACH_BYTE('0') + letters * ('A' - '0' - 10));
    memcpy(text + 1, &digits, sizeof(digits));
    nvtxt_out_bytes(out, text, sizeof(text));
}

bool nvtxt_out_double(struct nvtxt_out *out, double value) {
    char text[40];
    if (!isfinite(value)) {
        return false;
    }
    // No program of this project calls setlocale(), so the decimal sign is a point.
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text) - 2, "%.*g", precision, value);
        if (precision == 17 || strtod(text, NULL) == value) {
            break;
        }
    }
    if (!strpbrk(text, ".e")) {
        strcat(text, ".0");
    }
    nvtxt_out_bytes(out, text, strlen(text));
    return true;
}

// ---- Texts --------------------------------------------------------------------------------------

#define PLAIN 0   // stands as it is
#define SPECIAL 1 // must be escaped
#define WIDE 2    // part of UTF-8

static const uint8_t json_classes[256] = {
    [0 ... 31] = SPECIAL, ['"'] = SPECIAL, ['\\'] = SPECIAL, [127] = SPECIAL, [128 ... 255] = WIDE,
};
// The separator of the fields is special, too.
static const uint8_t field_classes[256] = {
    ['"'] = SPECIAL,
    ['\r'] = SPECIAL,
    ['\n'] = SPECIAL,
    [128 ... 255] = WIDE,
};

// One character of UTF-8, or U+FFFD for a byte that belongs to none. Moves `*i` on.
static char *put_wide(char *at, struct nvtxt_slice text, size_t *i) {
    size_t n = nvtxt_utf8_sequence(text.data + *i, text.len - *i);
    if (n == 0) {
        memcpy(at, "\xEF\xBF\xBD", 3);
        ++*i;
        return at + 3;
    }
    memcpy(at, text.data + *i, n);
    *i += n;
    return at + n;
}

#define WORD sizeof(uint64_t)

// Whether all bytes are printable ASCII, not `"` and not the one in `special`: a byte that is not
// sets the high bit of its place.
static bool is_plain(uint64_t word, uint64_t special) {
    uint64_t odd = word | (word + IN_EACH_BYTE(1)) | (word - IN_EACH_BYTE(' ')) |
                   ((word ^ IN_EACH_BYTE('"')) - IN_EACH_BYTE(1)) |
                   ((word ^ special) - IN_EACH_BYTE(1));
    return (odd & IN_EACH_BYTE(0x80)) == 0;
}

// How many bytes from `from` on are plain, in whole words or up to the end. The last word overlaps
// the one before it; a shorter text is filled up. May be too few.
static size_t plain_run(struct nvtxt_slice text, size_t from, char special_byte) {
    uint64_t word = IN_EACH_BYTE('0'), special = IN_EACH_BYTE(special_byte);
    size_t at = from;
    for (; text.len - at >= WORD; at += WORD) {
        memcpy(&word, text.data + at, WORD);
        if (!is_plain(word, special)) {
            return at - from;
        }
    }
    if (text.len >= WORD) {
        memcpy(&word, text.data + text.len - WORD, WORD);
    } else {
        memcpy(&word, text.data, text.len);
    }
    return (is_plain(word, special) ? text.len : at) - from;
}

// The end of the word at `i`.
static size_t word_end(struct nvtxt_slice text, size_t i) {
    return text.len - i < WORD ? text.len : i + WORD;
}

#define CSV_GROWTH 3 // U+FFFD

void nvtxt_out_repaired(struct nvtxt_out *out, struct nvtxt_slice text) {
    char *room = nvtxt_out_room(out, NVTXT_UTF8_GROWTH * text.len);
    out->len += room ? nvtxt_utf8_repair(room, text) : 0;
}

// Copies the runs; `escape` writes what is SPECIAL.
static char *put_text(char *at, struct nvtxt_slice text, char special, const uint8_t classes[256],
                      char *(*escape)(char *at, char byte)) {
    for (size_t i = 0; i < text.len;) {
        size_t run = plain_run(text, i, special);
        memcpy(at, text.data + i, run);
        at += run;
        i += run;
        for (size_t end = word_end(text, i); i < end;) {
            char byte = text.data[i];
            if (classes[(unsigned char)byte] == WIDE) {
                at = put_wide(at, text, &i);
                continue;
            }
            at[0] = byte;
            at = classes[(unsigned char)byte] == PLAIN ? at + 1 : escape(at, byte);
            i++;
        }
    }
    return at;
}

void nvtxt_out_json(struct nvtxt_out *out, struct nvtxt_slice text) {
    char *room = nvtxt_out_room(out, text.len * NVTXT_JSON_ESCAPE + 2);
    if (!room) {
        return;
    }
    char *at = room;
    *at++ = '"';
    at = put_text(at, text, '\\', json_classes, nvtxt_json_escape);
    *at++ = '"';
    out->len += (size_t)(at - room);
}

static bool has_blank_end(struct nvtxt_slice text) {
    return text.len > 0 && (text.data[0] == ' ' || text.data[text.len - 1] == ' ');
}

// The bytes before `from` are plain.
static bool needs_quotes(struct nvtxt_slice text, size_t from, char separator) {
    for (size_t i = from; i < text.len; i += plain_run(text, i, separator)) {
        for (size_t end = word_end(text, i); i < end; i++) {
            char byte = text.data[i];
            if (field_classes[(unsigned char)byte] == SPECIAL || byte == separator) {
                return true;
            }
        }
    }
    return has_blank_end(text);
}

static char *double_quote(char *at, char byte) {
    at[0] = at[1] = byte;
    return at + (byte == '"' ? 2 : 1);
}

void nvtxt_out_field(struct nvtxt_out *out, struct nvtxt_slice text, char separator) {
    size_t run = text.len > 0 ? plain_run(text, 0, separator) : 0;
    if (run == text.len && !has_blank_end(text)) {
        nvtxt_out_slice(out, text);
        return;
    }
    char *room = nvtxt_out_room(out, text.len * CSV_GROWTH + 2);
    if (!room) {
        return;
    }
    bool quoted = needs_quotes(text, run, separator);
    char *at = room;
    if (quoted) {
        *at++ = '"';
    }
    at = put_text(at, text, '"', field_classes, double_quote);
    if (quoted) {
        *at++ = '"';
    }
    out->len += (size_t)(at - room);
}

// ---- Strings of NVTXT ---------------------------------------------------------------------------

#define NVTXT_MAX (NVTXT_OUT_LINE_BYTES - 4) // of `M="…"`: no line can hold a longer text

enum quoting { DOUBLE, SINGLE, ESCAPED, CHANGED };

static bool has_byte(struct nvtxt_slice text, char byte) {
    return text.len > 0 && memchr(text.data, byte, text.len) != NULL;
}

// Whether the byte at `i` gets a backslash before it. A backslash gets one only where the next byte
// would make an escape of it.
static bool is_escaped(struct nvtxt_slice text, size_t i) {
    char byte = text.data[i], next = i + 1 < text.len ? text.data[i + 1] : '"';
    return byte == '"' || byte == '\n' ||
           (byte == '\\' && (next == '"' || next == '\\' || next == 'n' || next == '\n'));
}

static size_t escaped_len(struct nvtxt_slice text) {
    size_t len = text.len;
    for (size_t i = 0; i < text.len; i++) {
        len += is_escaped(text, i);
    }
    return len;
}

static enum quoting quoting_of(struct nvtxt_slice text, bool escapes) {
    if (text.len > NVTXT_MAX || has_byte(text, '\0') || !nvtxt_utf8_valid(text)) {
        return CHANGED;
    }
    bool one_line = !has_byte(text, '\n');
    if (one_line && !has_byte(text, '"') && !(escapes && has_byte(text, '\\'))) {
        return DOUBLE;
    }
    if (one_line && !has_byte(text, '\'')) {
        return SINGLE;
    }
    return escapes && escaped_len(text) <= NVTXT_MAX ? ESCAPED : CHANGED;
}

static char *put_slashed(char *at, char byte) {
    *at++ = '\\';
    *at++ = byte == '\n' ? 'n' : byte;
    return at;
}

static void put_escapes(struct nvtxt_out *out, struct nvtxt_slice text) {
    char *room = nvtxt_out_room(out, text.len * 2 + 2);
    char *at = room;
    if (!room) {
        return;
    }
    *at++ = '"';
    for (size_t i = 0; i < text.len; i++) {
        if (is_escaped(text, i)) {
            at = put_slashed(at, text.data[i]);
        } else {
            *at++ = text.data[i];
        }
    }
    *at++ = '"';
    out->len += (size_t)(at - room);
}

// Signs that stand for what a text cannot hold: U+240A for LF, U+2400 for NUL, and between single
// quotes U+2019, which is what an apostrophe is in print.
static char *put_sign(char *at, char byte) {
    const char *sign = byte == '\n'   ? "\xE2\x90\x8A"
                       : byte == '\0' ? "\xE2\x90\x80"
                                      : "\xE2\x80\x99";
    memcpy(at, sign, 3);
    return at + 3;
}

// The same text with these signs, and U+FFFD for what is not UTF-8, cut to fit into a line.
static void put_changed(struct nvtxt_out *out, struct nvtxt_slice text, bool escapes) {
    char *room = nvtxt_out_room(out, text.len * 3 + 2);
    char quote = !escapes && has_byte(text, '"') ? '\'' : '"';
    char *at = room;
    if (!room) {
        return;
    }
    *at++ = quote;
    for (size_t i = 0; i < text.len && at - room < NVTXT_MAX - 3;) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        char byte = text.data[i];
        if (n == 0) {
            memcpy(at, "\xEF\xBF\xBD", 3);
            at += 3;
        } else if (escapes && (byte == '\\' || is_escaped(text, i))) {
            at = put_slashed(at, byte);
        } else if (byte == '\n' || byte == '\0' || byte == quote) {
            at = put_sign(at, byte);
        } else {
            memcpy(at, text.data + i, n);
            at += n;
        }
        i += n ?: 1;
    }
    *at++ = quote;
    out->len += (size_t)(at - room);
}

bool nvtxt_out_string_holds(struct nvtxt_slice text, bool escapes) {
    return quoting_of(text, escapes) != CHANGED;
}

bool nvtxt_out_string(struct nvtxt_out *out, struct nvtxt_slice text, bool escapes) {
    enum quoting quoting = quoting_of(text, escapes);
    if (quoting == CHANGED) {
        put_changed(out, text, escapes);
    } else if (quoting == ESCAPED) {
        put_escapes(out, text);
    } else {
        const char *quote = quoting == SINGLE ? "'" : "\"";
        nvtxt_out_bytes(out, quote, 1);
        nvtxt_out_slice(out, text);
        nvtxt_out_bytes(out, quote, 1);
    }
    return quoting != CHANGED;
}
