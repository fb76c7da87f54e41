// SPDX-License-Identifier: Apache-2.0
//
// The tokens of the text format, with their places.
#pragma once

#include "protocol/base/scan.h"
#include "report/text/message.h"

enum report_token_kind {
    REPORT_TOKEN_END,
    REPORT_TOKEN_WORD,
    REPORT_TOKEN_STRING,
    REPORT_TOKEN_INTEGER,
    REPORT_TOKEN_FLOAT,
    REPORT_TOKEN_SIGN, // one other byte
};

struct report_token {
    enum report_token_kind kind;
    struct report_place at;
    struct nvtxt_slice text; // as it stands in the file; of a string what it means
    bool plain;              // STRING: without escapes
    bool decimal;            // INTEGER: not octal, not hexadecimal
    bool too_large;          // INTEGER: it does not fit into 64 bits
    uint64_t integer;        // INTEGER
    double real;             // FLOAT, and INTEGER when it is decimal
};

struct report_lexer {
    struct nvtxt_scan in; // ends where the text cannot be read any further
    const char *line;     // where the current line begins
    uint32_t line_number;
    const char *fault; // what is wrong at `end`; NULL: it is the end of the text
    const char *fault_code;
    const char *file;
    struct store_arena *arena;        // for strings
    struct report_messages *messages; // for the one fault
};

#define REPORT_TEXT_MAX ((size_t)1024 * 1024) // bytes of a file

// `text` is borrowed while tokens are read. Texts of strings go into the arena.
int report_lexer_init(struct report_lexer *lexer, struct nvtxt_slice text, const char *file,
                      struct store_arena *arena, struct report_messages *messages);

// Reads the next token. Returns 0, NVTXT_WRONG when there is none because of a fault, which is in
// the messages then, or -ENOMEM.
int report_lexer_next(struct report_lexer *lexer, struct report_token *token);
