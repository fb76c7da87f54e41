// SPDX-License-Identifier: Apache-2.0
//
// The first byte of a token decides its kind, and each kind has one function. The function finds
// the cursor at that byte and leaves it after the last one. Strings are views of the line where
// they can be; those that are repaired or have escapes are written to the scratch buffer.
#include "protocol/lang/lexer.h"

#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "protocol/base/utf8.h"

struct lexer {
    struct nvtxt_scan in;
    bool escapes;
    const struct nvtxt_symtab *symtab;
    struct nvtxt_buf *scratch;
    struct nvtxt_tokens *tokens;
    struct nvtxt_diag *diag;
};

static uint32_t column(const struct lexer *lx, const char *at) {
    return (uint32_t)(at - lx->in.begin) + 1;
}

static void lex_word(struct lexer *lx, struct nvtxt_token *token) {
    token->kind = NVTXT_TOKEN_WORD;
    token->value.type = NVTXT_STRING;
    token->value.string = nvtxt_scan_take_run(&lx->in, NVTXT_CHAR_WORD);
}

static int bad_number(struct lexer *lx, enum nvtxt_diag_code code, const char *end) {
    struct nvtxt_slice text =
        nvtxt_slice_between(lx->in.at, nvtxt_scan_run(&lx->in, end, NVTXT_CHAR_DOTTED));
    if (code == NVTXT_DIAG_BAD_INTEGER) {
        nvtxt_diag_set(lx->diag, code, column(lx, lx->in.at), "'%.*s' is no integer",
                       NVTXT_QUOTED(text));
    } else {
        nvtxt_diag_set(lx->diag, code, column(lx, lx->in.at),
                       "'%.*s' does not fit a signed 64-bit integer", NVTXT_QUOTED(text));
    }
    return NVTXT_WRONG;
}

static bool int64_value(struct nvtxt_slice digits, bool hex, bool negative, int64_t *value) {
    uint64_t size;
    bool fits = hex ? nvtxt_digits_value(digits, 16, &size) : nvtxt_decimal_value(digits, &size);
    if (!fits || size > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *value = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

// At the cursor is a digit, or a minus and a digit.
static int lex_integer(struct lexer *lx, struct nvtxt_token *token) {
    const struct nvtxt_scan *in = &lx->in;
    bool negative = *in->at == '-';
    const char *digits = in->at + negative;
    bool hex = !negative && *digits == '0' && in->end - digits > 2 && (digits[1] | 0x20) == 'x' &&
               nvtxt_char_is(digits[2], NVTXT_CHAR_HEX);
    if (hex) {
        digits += 2;
    }
    const char *end = nvtxt_scan_run(in, digits, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT);
    if (end < in->end && nvtxt_char_is(*end, NVTXT_CHAR_DOTTED)) {
        return bad_number(lx, NVTXT_DIAG_BAD_INTEGER, end);
    }
    if (!int64_value(nvtxt_slice_between(digits, end), hex, negative, &token->value.integer)) {
        return bad_number(lx, NVTXT_DIAG_INTEGER_OUT_OF_RANGE, end);
    }
    token->kind = NVTXT_TOKEN_INTEGER;
    token->value.type = NVTXT_INTEGER;
    lx->in.at = end;
    return 0;
}

// Where the next string can be written, or NULL when memory is short. The first call takes room for
// all strings that the line may hold: the buffer must not move, because tokens point into it.
static char *place_string(struct lexer *lx) {
    struct nvtxt_buf *scratch = lx->scratch;
    size_t room = (size_t)(lx->in.end - lx->in.begin) * NVTXT_UTF8_GROWTH;
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
        return NVTXT_WRONG;
    }
    if (nvtxt_utf8_valid(*text)) {
        return 0;
    }
    if (lx->tokens->repaired == 0) {
        lx->tokens->repaired = quote_column;
    }
    char *repaired = place_string(lx);
    if (!repaired) {
        return nvtxt_origin(-ENOMEM);
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
        return nvtxt_origin(-ENOMEM);
    }
    char *out = to;
    for (size_t i = 0; i < text->len; i++) {
        char byte = i + 1 < text->len && text->data[i] == '\\' ? escaped(text->data[i + 1]) : '\0';
        i += byte != '\0';
        *out++ = byte ?: text->data[i];
    }
    lx->scratch->len = (size_t)(out - lx->scratch->data);
    *text = (struct nvtxt_slice){to, (size_t)(out - to)};
    return 0;
}

// The quote that ends a string whose text begins at `text`, or NULL. A quote after an odd number of
// backslashes is escaped.
static const char *find_close(const struct lexer *lx, const char *text, bool escapes) {
    const char *close = text;
    while ((close = memchr(close, text[-1], (size_t)(lx->in.end - close))) && escapes) {
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
    const char *text = lx->in.at + 1;
    bool escapes = lx->escapes && *lx->in.at == '"';
    const char *close = find_close(lx, text, escapes);
    if (!close) {
        struct nvtxt_slice rest = nvtxt_slice_between(lx->in.at, lx->in.end);
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_UNTERMINATED_STRING, column(lx, lx->in.at),
                       "no closing quote for %.*s", NVTXT_QUOTED(rest));
        return NVTXT_WRONG;
    }
    struct nvtxt_slice value = nvtxt_slice_between(text, close);
    if (!nvtxt_is_plain_ascii(value)) {
        int r = check_string(lx, &value, column(lx, lx->in.at));
        if (r != 0) {
            return r;
        }
    }
    if (escapes && memchr(value.data, '\\', value.len) && unescape(lx, &value) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    token->kind = NVTXT_TOKEN_STRING;
    token->value.type = NVTXT_STRING;
    token->value.string = value;
    lx->in.at = close + 1;
    return 0;
}

static int stray(struct lexer *lx) {
    unsigned char byte = (unsigned char)*lx->in.at;
    if (byte == '\0') {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_NUL_BYTE, column(lx, lx->in.at), "NUL byte");
    } else if (nvtxt_is_printable((char)byte)) {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_STRAY_BYTE, column(lx, lx->in.at), "stray '%c'", byte);
    } else {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_STRAY_BYTE, column(lx, lx->in.at), "stray byte 0x%02X",
                       byte);
    }
    return NVTXT_WRONG;
}

static int lex_expansion(struct lexer *lx, struct nvtxt_token *token) {
    const char *name = lx->in.at + 1;
    if (name == lx->in.end || !nvtxt_char_is(*name, NVTXT_CHAR_WORD_START)) {
        return stray(lx);
    }
    const char *end = nvtxt_scan_run(&lx->in, name, NVTXT_CHAR_WORD);
    struct nvtxt_slice text = nvtxt_slice_between(name, end);
    const struct nvtxt_value *value = nvtxt_symtab_find(lx->symtab, text);
    if (!value) {
        nvtxt_diag_set(lx->diag, NVTXT_DIAG_UNDEFINED_VARIABLE, column(lx, lx->in.at),
                       "undefined variable '$%.*s'", NVTXT_QUOTED(text));
        return NVTXT_WRONG;
    }
    token->value = *value;
    if (value->type == NVTXT_INTEGER) {
        token->kind = NVTXT_TOKEN_INTEGER;
    } else {
        token->kind = nvtxt_is_word(value->string) ? NVTXT_TOKEN_WORD : NVTXT_TOKEN_STRING;
    }
    lx->in.at = end;
    return 0;
}

static int lex_punctuation(struct lexer *lx, struct nvtxt_token *token,
                           enum nvtxt_token_kind kind) {
    token->kind = kind;
    lx->in.at++;
    return 0;
}

// Most tokens are words, so these come first.
static int lex_token(struct lexer *lx, struct nvtxt_token *token) {
    char c = *lx->in.at;
    if (nvtxt_char_is(c, NVTXT_CHAR_WORD_START)) {
        lex_word(lx, token);
        return 0;
    }
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
    const char *digit = c == '-' ? lx->in.at + 1 : lx->in.at;
    if (digit < lx->in.end && nvtxt_char_is(*digit, NVTXT_CHAR_DIGIT)) {
        return lex_integer(lx, token);
    }
    return stray(lx);
}

int nvtxt_lex(struct nvtxt_slice line, bool escapes, const struct nvtxt_symtab *symtab,
              struct nvtxt_buf *scratch, struct nvtxt_tokens *tokens, struct nvtxt_diag *diag) {
    struct lexer lx = {.in = nvtxt_scan(line),
                       .escapes = escapes,
                       .symtab = symtab,
                       .scratch = scratch,
                       .tokens = tokens,
                       .diag = diag};
    const char *last = lx.in.at;
    // Tokens that are too many are lexed into the last place, only to find their faults.
    struct nvtxt_token *token = tokens->items, *most = token + NVTXT_LINE_TOKENS - 1;
    tokens->repaired = 0;
    nvtxt_buf_clear(scratch);
    while ((lx.in.at = nvtxt_scan_run(&lx.in, lx.in.at, NVTXT_CHAR_BLANK)) < lx.in.end) {
        const char *begin = lx.in.at;
        int r = lex_token(&lx, token);
        if (r != 0) {
            return r;
        }
        last = lx.in.at;
        token->column = column(&lx, begin);
        token->source = nvtxt_slice_between(begin, last);
        token += token < most;
    }
    *token = (struct nvtxt_token){.kind = NVTXT_TOKEN_END, .column = column(&lx, last)};
    tokens->count = (size_t)(token - tokens->items) + 1;
    return 0;
}
