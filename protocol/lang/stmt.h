// SPDX-License-Identifier: Apache-2.0
//
// Parsing: the tokens of a line to one statement (nvtxt(5), "Instructions"). The definition in
// force decides which values a call must have, so the caller passes the definitions.
#pragma once

#include "protocol/lang/lexer.h"

enum nvtxt_stmt_kind { NVTXT_STMT_ASSIGN, NVTXT_STMT_DEFINE, NVTXT_STMT_CALL };

struct nvtxt_stmt {
    enum nvtxt_stmt_kind kind;
    enum nvtxt_command command;     // DEFINE, CALL
    const struct nvtxt_token *name; // the command or the variable
    uint32_t end_column;            // the byte after the last token
    union {
        const struct nvtxt_token *value;                      // ASSIGN
        struct nvtxt_cmddef definition;                       // DEFINE
        const struct nvtxt_token *values[NVTXT_COMMAND_ARGS]; // CALL: in the definition's order
    };
};

// Parses; the statement points into `tokens`. A call that is returned has as many values as its
// definition has arguments, each of a type that the argument takes. `extensions`: bits of enum
// nvtxt_extension. Returns 0, NVTXT_WRONG with `diag` filled at the leftmost fault, or -ENOMEM.
int nvtxt_parse(const struct nvtxt_tokens *tokens, const struct nvtxt_cmddef *definitions,
                unsigned extensions, struct nvtxt_stmt *stmt, struct nvtxt_diag *diag);

// Whether the argument takes a value of this type and form. With either extension Payload takes an
// empty String, which is none; with NVTXT_NVTX also a number with its type. Returns 0, NVTXT_WRONG
// with `*fault` set to WRONG_TYPE, BAD_PAYLOAD or BAD_JSON, or -ENOMEM.
int nvtxt_check_type(enum nvtxt_arg arg, const struct nvtxt_value *value, unsigned extensions,
                     enum nvtxt_diag_code *fault);
