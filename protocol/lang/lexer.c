// SPDX-License-Identifier: Apache-2.0
//
// The first byte of a token decides its kind, and each kind has one function. The function finds
// the cursor at that byte and leaves it after the last one. Strings are views of the line where
// they can be; those that are repaired or have escapes are written to the scratch buffer.
#include "protocol/lang/lexer.h"

#include <errno.h>
#include <string.h>

#include "protocol/base/chars.h"
#include "protocol/base/utf8.h"

#define SAFE_DIGITS 18 // decimal digits that always fit an Int64

struct lexer {
    const char *begin, *at, *end;
    bool escapes;
    const struct nvtxt_symtab *symtab;
    struct nvtxt_buf *scratch;
    struct nvtxt_tokens *tokens;
    struct nvtxt_diag *diag;
};

static uint32_t column(const struct lexer *lx, const char *at) {
    return (uint32_t)(at - lx->begin) + 1;
}

static struct nvtxt_slice from_to(const char *from, const char *to) {
    return (struct nvtxt_slice){from, (size_t)(to - from)};
}

static const char *skip_class(const struct lexer *lx, const char *at, enum nvtxt_char_class class) {
    while (at < lx->end && nvtxt_char_is(*at, class)) {
        at++;
    }
    return at;
}

static void lex_word(struct lexer *lx, struct nvtxt_token *token) {
    const char *end = skip_class(lx, lx->at + 1, NVTXT_CHAR_WORD);
    token->kind = NVTXT_TOKEN_WORD;
    token->value.type = NVTXT_STRING;
    token->value.string = from_to(lx->at, end);
    lx->at = end;
}

static int bad_number(struct lexer *lx, enum nvtxt_diag_code code, const char *end) {
    while (end < lx->end && nvtxt_char_is(*end, NVTXT_CHAR_RUNS_ON)) {
        end++;
    }
    struct nvtxt_slice text = from_to(lx->at, end);
    if (code == NVTXT_DIAG_BAD_INTEGER) {
        nvtxt_diag_set(lx->diag, code, column(lx, lx->at), "'%.*s' is no integer",
                       NVTXT_QUOTED(text));
    } else {
        nvtxt_diag_set(lx->diag, code, column(lx, lx->at),
                       "'%.*s' does not fit a signed 64-bit integer", NVTXT_QUOTED(text));
    }
    return 1;
}

static bool decimal_value(const char *digits, const char *end, bool negative, int64_t *value) {
    uint64_t sum = 0;
    if (end - digits <= SAFE_DIGITS) {
        for (; digits < end; digits++) {
            sum = sum * 10 + (uint64_t)(*digits - '0');
        }
        *value = negative ? -(int64_t)sum : (int64_t)sum;
        return true;
    }
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    for (; digits < end; digits++) {
        uint64_t digit = (uint64_t)(*digits - '0');
        if (sum > (limit - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static bool hex_value(const char *digits, const char *end, int64_t *value) {
    uint64_t sum = 0;
    for (; digits < end; digits++) {
        if (sum >> 59 != 0) {
            return false;
        }
        sum = sum << 4 | nvtxt_hex_digit(*digits);
    }
    *value = (int64_t)sum;
    return sum <= INT64_MAX;
}

// At the cursor is a digit, or a minus and a digit.
static int lex_integer(struct lexer *lx, struct nvtxt_token *token) {
    const char *digits = lx->at;
    bool negative = *digits == '-';
    if (negative) {
        digits++;
    }
    bool hex = !negative && *digits == '0' && lx->end - digits > 2 && (digits[1] | 0x20) == 'x' &&
               nvtxt_char_is(digits[2], NVTXT_CHAR_HEX);
    if (hex) {
        digits += 2;
    }
    const char *end = skip_class(lx, digits, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT);
    if (end < lx->end && nvtxt_char_is(*end, NVTXT_CHAR_RUNS_ON)) {
        return bad_number(lx, NVTXT_DIAG_BAD_INTEGER, end);
    }
    if (hex ? !hex_value(digits, end, &token->value.integer)
            : !decimal_value(digits, end, negative, &token->value.integer)) {
        return bad_number(lx, NVTXT_DIAG_INTEGER_OUT_OF_RANGE, end);
    }
    token->kind = NVTXT_TOKEN_INTEGER;
    token->value.type = NVTXT_INTEGER;
    lx->at = end;
    return 0;
}

// True when every byte is ASCII and not NUL: eight at a time.
static bool is_plain_ascii(const char *text, size_t len) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t found = 0, word;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        memcpy(&word, text + i, 8);
        found |= (word - ones) | word; // a NUL or a byte from 0x81 sets its high bit
    }
    for (; i < len; i++) {
        found |= (uint64_t)((unsigned char)(text[i] - 1) | (unsigned char)text[i]);
    }
    return (found & highs) == 0;
}

// Where the next string can be written, or NULL when memory is short. The first call takes room for
// all strings that the line may hold: the buffer must not move, because tokens point into it.
static char *place_string(struct lexer *lx) {
    struct nvtxt_buf *scratch = lx->scratch;
    size_t room = (size_t)(lx->end - lx->begin) * NVTXT_UTF8_GROWTH;
    if (scratch->len == 0 && nvtxt_buf_reserve(scratch, room) < 0) {
        return NULL;
    }
    return scratch->data + scratch->len;
}

// For a string that is not plain ASCII: refuses NUL bytes and repairs what is not UTF-8.
static int check_string(struct lexer *lx, struct nvtxt_slice *text, uint32_t quote_column) {
    const char *nul = memchr(text->data, '\0', text->len);
    if (nul) {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_NUL_BYTE, column(lx, nul), "NUL byte in a string");
        return 1;
    }
    if (nvtxt_utf8_valid(*text)) {
        return 0;
    }
    if (lx->tokens->repaired == 0) {
        lx->tokens->repaired = quote_column;
    }
    char *repaired = place_string(lx);
    if (!repaired) {
        return -ENOMEM;
    }
    size_t len = nvtxt_utf8_repair(repaired, *text);
    lx->scratch->len += len;
    *text = (struct nvtxt_slice){repaired, len};
    return 0;
}

// What a backslash before this byte means; 0 when the backslash is data.
static char escaped(char byte) {
    return byte == '"' || byte == '\\' ? byte : byte == 'n' ? '\n' : '\0';
}

// Replaces the escapes. A text that is in the scratch buffer already is rewritten in its place: it
// only becomes shorter.
static int unescape(struct lexer *lx, struct nvtxt_slice *text) {
    bool rewritten = lx->scratch->len > 0 && text->data + text->len == place_string(lx);
    char *to = rewritten ? lx->scratch->data + (lx->scratch->len - text->len) : place_string(lx);
    if (!to) {
        return -ENOMEM;
    }
    char *out = to;
    for (size_t i = 0; i < text->len; i++) {
        char byte = i + 1 < text->len && text->data[i] == '\\' ? escaped(text->data[i + 1]) : '\0';
        i += byte != '\0';
        *out++ = byte ? byte : text->data[i];
    }
    lx->scratch->len = (size_t)(out - lx->scratch->data);
    *text = (struct nvtxt_slice){to, (size_t)(out - to)};
    return 0;
}

// The quote that ends a string whose text begins at `text`, or NULL. A quote after an odd number of
// backslashes is escaped.
static const char *find_close(const struct lexer *lx, const char *text, bool escapes) {
    const char *close = text;
    while ((close = memchr(close, text[-1], (size_t)(lx->end - close))) && escapes) {
        const char *slash = close;
        while (slash > text && slash[-1] == '\\') {
            slash--;
        }
        if ((close - slash) % 2 == 0) {
            break;
        }
        close++;
    }
    return close;
}

static int lex_string(struct lexer *lx, struct nvtxt_token *token) {
    const char *text = lx->at + 1;
    bool escapes = lx->escapes && *lx->at == '"';
    const char *close = find_close(lx, text, escapes);
    if (!close) {
        struct nvtxt_slice rest = from_to(lx->at, lx->end);
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_UNTERMINATED_STRING, column(lx, lx->at),
                       "no closing quote for %.*s", NVTXT_QUOTED(rest));
        return 1;
    }
    struct nvtxt_slice value = from_to(text, close);
    if (!is_plain_ascii(value.data, value.len)) {
        int r = check_string(lx, &value, column(lx, lx->at));
        if (r != 0) {
            return r;
        }
    }
    if (escapes && memchr(value.data, '\\', value.len) && unescape(lx, &value) < 0) {
        return -ENOMEM;
    }
    token->kind = NVTXT_TOKEN_STRING;
    token->value.type = NVTXT_STRING;
    token->value.string = value;
    lx->at = close + 1;
    return 0;
}

static int stray(struct lexer *lx) {
    unsigned char byte = (unsigned char)*lx->at;
    if (byte == '\0') {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_NUL_BYTE, column(lx, lx->at), "NUL byte");
    } else if (nvtxt_is_printable((char)byte)) {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_STRAY_BYTE, column(lx, lx->at), "stray '%c'", byte);
    } else {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_STRAY_BYTE, column(lx, lx->at), "stray byte 0x%02X",
                       byte);
    }
    return 1;
}

static int lex_expansion(struct lexer *lx, struct nvtxt_token *token) {
    const char *name = lx->at + 1;
    if (name == lx->end || !nvtxt_char_is(*name, NVTXT_CHAR_WORD_START)) {
        return stray(lx);
    }
    const char *end = skip_class(lx, name, NVTXT_CHAR_WORD);
    struct nvtxt_slice text = from_to(name, end);
    const struct nvtxt_value *value = nvtxt_symtab_find(lx->symtab, text);
    if (!value) {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_UNDEFINED_VARIABLE, column(lx, lx->at),
                       "undefined variable '$%.*s'", NVTXT_QUOTED(text));
        return 1;
    }
    token->value = *value;
    if (value->type == NVTXT_INTEGER) {
        token->kind = NVTXT_TOKEN_INTEGER;
    } else {
        token->kind = nvtxt_is_word(value->string) ? NVTXT_TOKEN_WORD : NVTXT_TOKEN_STRING;
    }
    lx->at = end;
    return 0;
}

static int lex_punctuation(struct lexer *lx, struct nvtxt_token *token,
                           enum nvtxt_token_kind kind) {
    token->kind = kind;
    lx->at++;
    return 0;
}

static int lex_token(struct lexer *lx, struct nvtxt_token *token) {
    char c = *lx->at;
    switch (c) {
    case ',':
        return lex_punctuation(lx, token, NVTXT_TOKEN_COMMA);
    case '=':
        return lex_punctuation(lx, token, NVTXT_TOKEN_EQUALS);
    case '@':
        return lex_punctuation(lx, token, NVTXT_TOKEN_AT);
    case '"':
    case '\'':
        return lex_string(lx, token);
    case '$':
        return lex_expansion(lx, token);
    default:
        break;
    }
    if (nvtxt_char_is(c, NVTXT_CHAR_WORD_START)) {
        lex_word(lx, token);
        return 0;
    }
    const char *digit = c == '-' ? lx->at + 1 : lx->at;
    if (digit < lx->end && nvtxt_char_is(*digit, NVTXT_CHAR_DIGIT)) {
        return lex_integer(lx, token);
    }
    return stray(lx);
}

int nvtxt_lex(struct nvtxt_slice line, bool escapes, const struct nvtxt_symtab *symtab,
              struct nvtxt_buf *scratch, struct nvtxt_tokens *tokens, struct nvtxt_diag *diag) {
    struct lexer lx = {.begin = line.data,
                       .at = line.data,
                       .end = line.data + line.len,
                       .escapes = escapes,
                       .symtab = symtab,
                       .scratch = scratch,
                       .tokens = tokens,
                       .diag = diag};
    const char *last = lx.at;
    size_t count = 0;
    tokens->repaired = 0;
    nvtxt_buf_clear(scratch);
    while ((lx.at = skip_class(&lx, lx.at, NVTXT_CHAR_BLANK)) < lx.end) {
        // Tokens that are too many are lexed into the last place, only to find their faults.
        struct nvtxt_token *token = &tokens->items[count];
        const char *begin = lx.at;
        int r = lex_token(&lx, token);
        if (r != 0) {
            return r;
        }
        token->column = column(&lx, begin);
        token->source = from_to(begin, lx.at);
        last = lx.at;
        if (count < NVTXT_LINE_TOKENS - 1) {
            count++;
        }
    }
    tokens->items[count] =
        (struct nvtxt_token){.kind = NVTXT_TOKEN_END, .column = column(&lx, last)};
    tokens->count = count + 1;
    return 0;
}
