// SPDX-License-Identifier: Apache-2.0
//
// Lexing: a line to tokens (nvtxt(5), "Tokens"). Variables are expanded here: the token of `$name`
// has the value of the variable. The whole line is lexed before anything is parsed, but only the
// first NVTXT_LINE_TOKENS tokens are kept. The parser needs no more: a statement has at most one
// name, NVTXT_COMMAND_ARGS values and as many commas, and the first value too many is a fault.
#pragma once

#include "protocol/base/buf.h"
#include "protocol/lang/diag.h"
#include "protocol/lang/symtab.h"

#define NVTXT_LINE_TOKENS 32

enum nvtxt_token_kind {
    NVTXT_TOKEN_END, // after the last token; its column is the byte after that
    NVTXT_TOKEN_COMMA,
    NVTXT_TOKEN_EQUALS,
    NVTXT_TOKEN_AT,
    NVTXT_TOKEN_WORD,   // value: the word as a String; it can be a name
    NVTXT_TOKEN_STRING, // value: a String; it cannot be a name
    NVTXT_TOKEN_INTEGER,
};

struct nvtxt_token {
    enum nvtxt_token_kind kind;
    uint32_t column;           // 1-based
    struct nvtxt_value value;  // WORD, STRING, INTEGER
    struct nvtxt_slice source; // the token as the line has it ("$Pid", with quotes)
};

struct nvtxt_tokens {
    size_t count;      // kept, the END token among them
    uint32_t repaired; // column of the first string that had invalid UTF-8; 0: none
    struct nvtxt_token items[NVTXT_LINE_TOKENS];
};

static inline bool nvtxt_token_is_value(const struct nvtxt_token *token) {
    return token->kind >= NVTXT_TOKEN_WORD;
}

// Lexes a line. Values are views of the line, of variables, or of `scratch` (rewritten strings);
// they live as long as these do not change. With `escapes`, \" \\ and \n in double quotes mean a
// quote, a backslash and LF (nvtxt-protocol(7), "escapes"). Returns 0, NVTXT_WRONG with `diag`
// filled at the leftmost fault, or -ENOMEM.
int nvtxt_lex(struct nvtxt_slice line, bool escapes, const struct nvtxt_symtab *symtab,
              struct nvtxt_buf *scratch, struct nvtxt_tokens *tokens, struct nvtxt_diag *diag);
