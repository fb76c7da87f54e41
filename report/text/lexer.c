// SPDX-License-Identifier: Apache-2.0
//
// Byte by byte with one look ahead. The text is cut at its first byte that is not UTF-8, or NUL:
// when the lexer comes there, in whatever it is, that is the fault. Numbers are checked by hand;
// strtod() only converts what is known to be one. A string is decoded into memory of its own
// length, since no escape is shorter than what it means.
#include "report/text/lexer.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"

static struct report_place place_of(const struct report_lexer *lexer, const char *at) {
    return (struct report_place){lexer->line_number, (uint32_t)(at - lexer->line) + 1};
}

static int fault(struct report_lexer *lexer, const char *at, const char *code, const char *text) {
    report_messages_add(lexer->messages, lexer->file, place_of(lexer, at), REPORT_FILE_ERROR, code,
                        "%s", text);
    return NVTXT_WRONG;
}

// The text of a scanned file ends where it cannot be read any further.
static void cut(struct report_lexer *lexer, struct nvtxt_slice text) {
    size_t at = 0, n = 1;
    while (at < text.len && text.data[at] != '\0' && n > 0) {
        n = nvtxt_utf8_sequence(text.data + at, text.len - at);
        at += n;
    }
    lexer->in.end = lexer->in.begin + at;
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
    lexer->in = nvtxt_scan(text);
    lexer->in.at += skipped;
    lexer->line = lexer->in.at;
    if (text.len > REPORT_TEXT_MAX) {
        return fault(lexer, lexer->in.at, "too-large", "the file has more than 1 MiB");
    }
    cut(lexer, text);
    return 0;
}

static void skip_blanks(struct report_lexer *lexer) {
    bool comment = false;
    for (; lexer->in.at < lexer->in.end; lexer->in.at++) {
        char byte = *lexer->in.at;
        if (byte == '\n') {
            comment = false;
            lexer->line = lexer->in.at + 1;
            lexer->line_number++;
        } else if (byte == '#') {
            comment = true;
        } else if (!comment && byte != ' ' && (byte < '\t' || byte > '\r')) {
            return;
        }
    }
}

static size_t count_of(const struct report_lexer *lexer, size_t from, enum nvtxt_char_class class) {
    const char *begin = lexer->in.at + from;
    return (size_t)(nvtxt_scan_run(&lexer->in, begin, class) - begin);
}

// The length of `[.digits][exponent][f]` from `at` on; 0: it is an integer.
static size_t fraction(const struct report_lexer *lexer, size_t at) {
    const struct nvtxt_scan *in = &lexer->in;
    size_t n = at;
    if (nvtxt_scan_byte(in, n) == '.') {
        n += 1 + count_of(lexer, n + 1, NVTXT_CHAR_DIGIT);
    }
    if (nvtxt_lower(nvtxt_scan_byte(in, n)) == 'e') {
        char next = nvtxt_scan_byte(in, n + 1);
        size_t sign = next == '+' || next == '-';
        size_t digits = count_of(lexer, n + 1 + sign, NVTXT_CHAR_DIGIT);
        n += digits ? 1 + sign + digits : 0;
    }
    return n - at + (nvtxt_lower(nvtxt_scan_byte(in, n)) == 'f');
}

// False: it has a digit that is none of the base, or no digit.
static bool read_integer(struct report_token *token, struct nvtxt_slice digits, unsigned base) {
    for (size_t i = 0; i < digits.len; i++) {
        if (nvtxt_hex_digit(digits.data[i]) >= base) {
            return false;
        }
    }
    token->too_large = !nvtxt_digits_value(digits, base, &token->integer);
    return digits.len > 0;
}

static int read_number(struct report_lexer *lexer, struct report_token *token) {
    const char *start = lexer->in.at;
    bool hex = *start == '0' && nvtxt_lower(nvtxt_scan_byte(&lexer->in, 1)) == 'x';
    size_t prefix = hex ? 2 : 0;
    size_t digits = count_of(lexer, prefix, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT);
    size_t rest = hex ? 0 : fraction(lexer, digits);
    size_t len = prefix + digits + rest;
    bool zero = !hex && digits > 1 && *start == '0'; // then it is octal, or nothing
    token->kind = rest ? REPORT_TOKEN_FLOAT : REPORT_TOKEN_INTEGER;
    token->decimal = !hex && !zero;
    token->text = (struct nvtxt_slice){start, len};
    struct nvtxt_slice value = {start + prefix, digits};
    bool good = rest ? !zero : read_integer(token, value, hex ? 16 : zero ? 8 : 10);
    if (!good || nvtxt_char_is(nvtxt_scan_byte(&lexer->in, len), NVTXT_CHAR_DOTTED)) {
        return fault(lexer, start, "bad-number", "not a number");
    }
    if (token->decimal) {
        // No program of this project calls setlocale(), so the decimal sign is a point.
        const char *copy = store_arena_copy(lexer->arena, start, len);
        if (!copy) {
            return nvtxt_origin(-ENOMEM);
        }
        token->real = strtod(copy, NULL);
    }
    lexer->in.at += len;
    return 0;
}

// `count` hexadecimal digits at the cursor; UINT32_MAX when they are not there.
static uint32_t take_hex(struct report_lexer *lexer, size_t count) {
    uint64_t code;
    struct nvtxt_slice digits = {lexer->in.at, count};
    if (count_of(lexer, 0, NVTXT_CHAR_HEX) < count) {
        return UINT32_MAX;
    }
    (void)nvtxt_digits_value(digits, 16, &code); // 8 digits always fit
    lexer->in.at += count;
    return (uint32_t)code;
}

// \uD83D\uDE00 is one character.
static uint32_t take_character(struct report_lexer *lexer, size_t digits) {
    uint32_t code = take_hex(lexer, digits);
    bool first = code >= 0xD800 && code < 0xDC00 && digits == 4;
    if (first && nvtxt_scan_take_text(&lexer->in, "\\u")) {
        uint32_t low = take_hex(lexer, 4);
        bool pair = low >= 0xDC00 && low < 0xE000;
        code = pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : UINT32_MAX;
    }
    bool surrogate = code >= 0xD800 && code < 0xE000;
    return surrogate || code > 0x10FFFF ? UINT32_MAX : code;
}

static uint32_t take_octal(struct report_lexer *lexer) {
    uint32_t code = 0;
    for (size_t i = 0; i < 3; i++) {
        char byte = nvtxt_scan_byte(&lexer->in, 0);
        if (byte < '0' || byte > '7') {
            break;
        }
        code = code * 8 + (uint32_t)(byte - '0');
        lexer->in.at++;
    }
    return code <= 0xFF ? code : UINT32_MAX;
}

// Decodes the escape after the backslash at the cursor. Returns the number of bytes, 0: a bad one.
static size_t take_escape(struct report_lexer *lexer, char *to) {
    static const char letters[] = "abfnrtv?\\'\"", bytes[] = "\a\b\f\n\r\t\v?\\'\"";
    lexer->in.at++;
    char letter = nvtxt_scan_byte(&lexer->in, 0);
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        lexer->in.at++;
        *to = bytes[known - letters];
        return 1;
    }
    if (letter == 'u' || letter == 'U') {
        lexer->in.at++;
        uint32_t code = take_character(lexer, letter == 'u' ? 4 : 8);
        return code == UINT32_MAX ? 0 : nvtxt_utf8_put(to, code);
    }
    uint32_t byte = UINT32_MAX;
    if (letter >= '0' && letter <= '7') {
        byte = take_octal(lexer);
    } else if (letter == 'x') {
        lexer->in.at++;
        size_t digits = count_of(lexer, 0, NVTXT_CHAR_HEX);
        byte = digits ? take_hex(lexer, digits < 2 ? 1 : 2) : UINT32_MAX;
    }
    *to = (char)byte;
    return byte != UINT32_MAX;
}

// With its first quote; not less than what it means takes.
static size_t length_of_string(const struct report_lexer *lexer) {
    const struct nvtxt_scan *in = &lexer->in;
    char quote = *in->at, byte;
    size_t n = 1;
    while ((byte = nvtxt_scan_byte(in, n)) && byte != quote && byte != '\n') {
        n += byte == '\\' && nvtxt_scan_byte(in, n + 1) != '\n' ? 2 : 1;
    }
    return n;
}

static int read_string(struct report_lexer *lexer, struct report_token *token) {
    char quote = *lexer->in.at;
    const char *start = lexer->in.at;
    size_t len = length_of_string(lexer);
    char *to = store_arena_take(lexer->arena, len + 1, 1);
    if (!to) {
        return nvtxt_origin(-ENOMEM);
    }
    token->kind = REPORT_TOKEN_STRING;
    token->text.data = to;
    for (lexer->in.at++; nvtxt_scan_byte(&lexer->in, 0) != quote;) {
        const char *here = lexer->in.at;
        if (here >= lexer->in.end && lexer->fault) {
            return fault(lexer, here, lexer->fault_code, lexer->fault);
        }
        if (here >= lexer->in.end || *here == '\n') {
            return fault(lexer, start, "bad-string", "the string does not end in its line");
        }
        size_t n = 1;
        if (*here == '\\') {
            n = take_escape(lexer, to);
        } else {
            *to = *lexer->in.at++;
        }
        if (n == 0) {
            return fault(lexer, here, "bad-string", "no such escape");
        }
        to += n;
    }
    lexer->in.at++;
    *to = '\0';
    token->text.len = (size_t)(to - token->text.data);
    token->plain = token->text.len + 2 == (size_t)(lexer->in.at - start);
    return 0;
}

int report_lexer_next(struct report_lexer *lexer, struct report_token *token) {
    skip_blanks(lexer);
    *token = (struct report_token){.at = place_of(lexer, lexer->in.at)};
    if (lexer->in.at >= lexer->in.end) {
        return lexer->fault ? fault(lexer, lexer->in.at, lexer->fault_code, lexer->fault) : 0;
    }
    char byte = *lexer->in.at;
    if (byte == '"' || byte == '\'') {
        return read_string(lexer, token);
    }
    if (nvtxt_char_is(byte, NVTXT_CHAR_DIGIT) ||
        (byte == '.' && nvtxt_char_is(nvtxt_scan_byte(&lexer->in, 1), NVTXT_CHAR_DIGIT))) {
        return read_number(lexer, token);
    }
    bool word = nvtxt_char_is(byte, NVTXT_CHAR_WORD_START);
    token->kind = word ? REPORT_TOKEN_WORD : REPORT_TOKEN_SIGN;
    size_t character = nvtxt_utf8_sequence(lexer->in.at, nvtxt_scan_left(&lexer->in));
    size_t len = word ? count_of(lexer, 0, NVTXT_CHAR_WORD) : character;
    token->text = (struct nvtxt_slice){lexer->in.at, len};
    lexer->in.at += len;
    return 0;
}
