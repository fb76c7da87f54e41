// SPDX-License-Identifier: Apache-2.0
//
// Byte by byte with one look ahead. The text is cut at its first byte that is not UTF-8, or NUL:
// when the lexer comes there, in whatever it is, that is the fault. Numbers are checked by hand;
// strtod() only converts what is known to be one. A string is decoded into memory of its own
// length, since no escape is shorter than what it means.
#include "report/text/lexer.h"

#include <errno.h>
#include <stdlib.h>

#include "protocol/base/chars.h"
#include "protocol/base/utf8.h"

static struct report_place place_of(const struct report_lexer *lexer, const char *at) {
    return (struct report_place){lexer->line_number, (uint32_t)(at - lexer->line) + 1};
}

static int fault(struct report_lexer *lexer, const char *at, const char *code, const char *text) {
    report_messages_add(lexer->messages, lexer->file, place_of(lexer, at), REPORT_FILE_ERROR, code,
                        "%s", text);
    return 1;
}

// The text of a scanned file ends where it cannot be read any further.
static void cut(struct report_lexer *lexer, struct nvtxt_slice text) {
    size_t at = 0, n = 1;
    while (at < text.len && text.data[at] != '\0' && n > 0) {
        n = nvtxt_utf8_sequence(text.data + at, text.len - at);
        at += n;
    }
    lexer->end = text.data + at;
    if (at < text.len) {
        lexer->fault = n == 0 ? "the file is not UTF-8" : "a NUL byte";
        lexer->fault_code = n == 0 ? "not-utf8" : "syntax";
    }
}

int report_lexer_init(struct report_lexer *lexer, struct nvtxt_slice text, const char *file,
                      struct store_arena *arena, struct report_messages *messages) {
    static const char mark[] = "\xEF\xBB\xBF"; // a byte order mark counts as nothing
    size_t skipped = text.len >= 3 && memcmp(text.data, mark, 3) == 0 ? 3 : 0;
    *lexer =
        (struct report_lexer){.line_number = 1, .file = file, .arena = arena, .messages = messages};
    if (text.len == 0) {
        text.data = mark;
    }
    lexer->at = text.data + skipped;
    lexer->line = lexer->at;
    if (text.len > REPORT_TEXT_MAX) {
        return fault(lexer, lexer->at, "too-large", "the file has more than 1 MiB");
    }
    cut(lexer, text);
    return 0;
}

static char byte_at(const struct report_lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void skip_blanks(struct report_lexer *lexer) {
    bool comment = false;
    for (; lexer->at < lexer->end; lexer->at++) {
        char byte = *lexer->at;
        if (byte == '\n') {
            comment = false;
            lexer->line = lexer->at + 1;
            lexer->line_number++;
        } else if (byte == '#') {
            comment = true;
        } else if (!comment && byte != ' ' && (byte < '\t' || byte > '\r')) {
            return;
        }
    }
}

static size_t count_of(const struct report_lexer *lexer, size_t from, enum nvtxt_char_class class) {
    size_t n = from;
    while (nvtxt_char_is(byte_at(lexer, n), class)) {
        n++;
    }
    return n - from;
}

// The length of `[.digits][exponent][f]` from `at` on; 0: it is an integer.
static size_t fraction(const struct report_lexer *lexer, size_t at) {
    size_t n = at;
    if (byte_at(lexer, n) == '.') {
        n += 1 + count_of(lexer, n + 1, NVTXT_CHAR_DIGIT);
    }
    if (nvtxt_lower(byte_at(lexer, n)) == 'e') {
        size_t sign = byte_at(lexer, n + 1) == '+' || byte_at(lexer, n + 1) == '-';
        size_t digits = count_of(lexer, n + 1 + sign, NVTXT_CHAR_DIGIT);
        n += digits ? 1 + sign + digits : 0;
    }
    return n - at + (nvtxt_lower(byte_at(lexer, n)) == 'f');
}

static bool read_digits(struct report_token *token, const char *digits, size_t count,
                        unsigned base) {
    for (size_t i = 0; i < count; i++) {
        unsigned digit = nvtxt_hex_digit(digits[i]);
        if (digit >= base) {
            return false;
        }
        token->too_large |= __builtin_mul_overflow(token->integer, base, &token->integer) ||
                            __builtin_add_overflow(token->integer, digit, &token->integer);
    }
    return true;
}

static int read_number(struct report_lexer *lexer, struct report_token *token) {
    const char *start = lexer->at;
    bool hex = *start == '0' && nvtxt_lower(byte_at(lexer, 1)) == 'x';
    size_t prefix = hex ? 2 : 0;
    size_t digits = count_of(lexer, prefix, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT);
    size_t rest = hex ? 0 : fraction(lexer, digits);
    size_t len = prefix + digits + rest;
    bool zero = !hex && digits > 1 && *start == '0'; // then it is octal, or nothing
    token->kind = rest ? REPORT_TOKEN_FLOAT : REPORT_TOKEN_INTEGER;
    token->decimal = !hex && !zero;
    token->text = (struct nvtxt_slice){start, len};
    bool good = rest ? !zero : digits > 0;
    if (good && !rest) {
        good = read_digits(token, start + prefix, digits, hex ? 16 : zero ? 8 : 10);
    }
    if (!good || nvtxt_char_is(byte_at(lexer, len), NVTXT_CHAR_RUNS_ON)) {
        return fault(lexer, start, "bad-number", "not a number");
    }
    if (token->decimal) {
        // No program of this project calls setlocale(), so the decimal sign is a point.
        const char *copy = store_arena_copy(lexer->arena, start, len);
        if (!copy) {
            return -ENOMEM;
        }
        token->real = strtod(copy, NULL);
    }
    lexer->at += len;
    return 0;
}

static size_t put_character(char *to, uint32_t code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(leads[more] | code >> 6 * more);
    for (size_t i = 1; i <= more; i++) {
        to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    }
    return more + 1;
}

// `count` hexadecimal digits at lexer->at; UINT32_MAX when they are not there.
static uint32_t take_hex(struct report_lexer *lexer, size_t count) {
    uint32_t code = 0;
    for (size_t i = 0; i < count; i++) {
        if (!nvtxt_char_is(byte_at(lexer, i), NVTXT_CHAR_HEX)) {
            return UINT32_MAX;
        }
        code = code << 4 | nvtxt_hex_digit(lexer->at[i]);
    }
    lexer->at += count;
    return code;
}

// \uD83D\uDE00 is one character.
static uint32_t take_character(struct report_lexer *lexer, size_t digits) {
    uint32_t code = take_hex(lexer, digits);
    if (code >= 0xD800 && code < 0xDC00 && digits == 4 && byte_at(lexer, 0) == '\\' &&
        byte_at(lexer, 1) == 'u') {
        lexer->at += 2;
        uint32_t low = take_hex(lexer, 4);
        bool pair = low >= 0xDC00 && low < 0xE000;
        code = pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : UINT32_MAX;
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return surrogate || code > 0x10FFFF ? UINT32_MAX : code;
}

static uint32_t take_octal(struct report_lexer *lexer) {
    uint32_t code = 0;
    for (size_t i = 0; i < 3 && byte_at(lexer, 0) >= '0' && byte_at(lexer, 0) <= '7'; i++) {
        code = code * 8 + (uint32_t)(*lexer->at++ - '0');
    }
    return code <= 0xFF ? code : UINT32_MAX;
}

// Decodes the escape after the backslash at lexer->at. Returns the number of bytes, 0: a bad one.
static size_t take_escape(struct report_lexer *lexer, char *to) {
    static const char letters[] = "abfnrtv?\\'\"", bytes[] = "\a\b\f\n\r\t\v?\\'\"";
    lexer->at++;
    char letter = byte_at(lexer, 0);
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        lexer->at++;
        *to = bytes[known - letters];
        return 1;
    }
    if (letter == 'u' || letter == 'U') {
        lexer->at++;
        uint32_t code = take_character(lexer, letter == 'u' ? 4 : 8);
        return code == UINT32_MAX ? 0 : put_character(to, code);
    }
    uint32_t byte = UINT32_MAX;
    if (letter >= '0' && letter <= '7') {
        byte = take_octal(lexer);
    } else if (letter == 'x') {
        lexer->at++;
        size_t digits = count_of(lexer, 0, NVTXT_CHAR_HEX);
        byte = digits ? take_hex(lexer, digits < 2 ? 1 : 2) : UINT32_MAX;
    }
    *to = (char)byte;
    return byte != UINT32_MAX;
}

static size_t length_of_string(const struct report_lexer *lexer) {
    char quote = *lexer->at;
    size_t n = 1;
    while (byte_at(lexer, n) && byte_at(lexer, n) != quote && byte_at(lexer, n) != '\n') {
        n += byte_at(lexer, n) == '\\' && byte_at(lexer, n + 1) != '\n' ? 2 : 1;
    }
    return n;
}

static int read_string(struct report_lexer *lexer, struct report_token *token) {
    char quote = *lexer->at;
    const char *start = lexer->at;
    size_t len = length_of_string(lexer);
    char *to = store_arena_take(lexer->arena, len + 1, 1);
    if (!to) {
        return -ENOMEM;
    }
    token->kind = REPORT_TOKEN_STRING;
    token->text.data = to;
    for (lexer->at++; byte_at(lexer, 0) != quote;) {
        const char *here = lexer->at;
        if (here >= lexer->end && lexer->fault) {
            return fault(lexer, here, lexer->fault_code, lexer->fault);
        }
        if (here >= lexer->end || *here == '\n') {
            return fault(lexer, start, "bad-string", "the string does not end in its line");
        }
        size_t n = 1;
        if (*here == '\\') {
            n = take_escape(lexer, to);
        } else {
            *to = *lexer->at++;
        }
        if (n == 0) {
            return fault(lexer, here, "bad-string", "no such escape");
        }
        to += n;
    }
    lexer->at++;
    *to = '\0';
    token->text.len = (size_t)(to - token->text.data);
    token->plain = token->text.len + 2 == (size_t)(lexer->at - start);
    return 0;
}

int report_lexer_next(struct report_lexer *lexer, struct report_token *token) {
    skip_blanks(lexer);
    *token = (struct report_token){.at = place_of(lexer, lexer->at)};
    if (lexer->at >= lexer->end) {
        return lexer->fault ? fault(lexer, lexer->at, lexer->fault_code, lexer->fault) : 0;
    }
    char byte = *lexer->at;
    if (byte == '"' || byte == '\'') {
        return read_string(lexer, token);
    }
    if (nvtxt_char_is(byte, NVTXT_CHAR_DIGIT) ||
        (byte == '.' && nvtxt_char_is(byte_at(lexer, 1), NVTXT_CHAR_DIGIT))) {
        return read_number(lexer, token);
    }
    bool word = nvtxt_char_is(byte, NVTXT_CHAR_WORD_START);
    token->kind = word ? REPORT_TOKEN_WORD : REPORT_TOKEN_SIGN;
    size_t character = nvtxt_utf8_sequence(lexer->at, (size_t)(lexer->end - lexer->at));
    size_t len = word ? count_of(lexer, 0, NVTXT_CHAR_WORD) : character;
    token->text = (struct nvtxt_slice){lexer->at, len};
    lexer->at += len;
    return 0;
}
