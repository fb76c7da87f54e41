// SPDX-License-Identifier: Apache-2.0
//
// Calls of a known shape, read in one pass: nearly every line of a stream is one. The definition of
// its command says which value stands where, so a line is compared with that, value after value,
// and neither lexed nor parsed. What fits is the statement that nvtxt_lex() and nvtxt_parse() make
// of the line; of everything else nothing is said: they read it, with its faults and their columns.
//
// A line fits that is the name of a command and as many values as its definition has arguments,
// each after a comma and at most one space: words, decimal digits, and quoted Strings that are
// UTF-8 and, with escapes, have no backslash. No other blanks, no variables.
#pragma once

#include "protocol/lang/stmt.h"

struct nvtxt_shape {
    const struct nvtxt_cmddef *definitions; // in force, by command; borrowed
    unsigned extensions;                    // bits of enum nvtxt_extension
    bool escapes;                           // as of nvtxt_lex()
    uint16_t takes[2]; // by enum nvtxt_value_type: the arguments that take each value of it; bits
    uint8_t last;      // enum nvtxt_command
    uint8_t next[NVTXT_CMD_COUNT]; // after each command, what came the last time: a guess
    // The last eight digits that an Integer began with, as bytes, and their value: times share
    // them.
    uint64_t eight, eight_value;
};

// `definitions`: NVTXT_CMD_COUNT of them, which may change between two lines.
void nvtxt_shape_init(struct nvtxt_shape *shape, const struct nvtxt_cmddef *definitions,
                      unsigned extensions, bool escapes);

// Whether the line fits; then `stmt` is as nvtxt_parse() leaves it. It points into `tokens`: to the
// values, and to the command, of which there is only the column.
bool nvtxt_shape_read(struct nvtxt_shape *shape, struct nvtxt_slice line,
                      struct nvtxt_tokens *tokens, struct nvtxt_stmt *stmt);
