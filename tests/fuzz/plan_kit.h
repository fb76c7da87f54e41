// SPDX-License-Identifier: Apache-2.0
//
// Two interpreters side by side: one reads what it can by the shape of a line, the other lexes and
// parses all. Each line must be the same statement to both, value by value and column by column;
// events, names, diagnostics with their sentences, counters and states must be the same to the
// byte.
#pragma once

#include <stdlib.h>

#include "protocol/interp/interp_state.h"
#include "protocol/interp/state.h"
#include "tests/golden/record.h"

struct both {
    struct nvtxt_source_config config;
    struct nvtxt_interp *shaped, *lexed;
    struct record shaped_record, lexed_record;
    struct nvtxt_shape shape; // of the comparison of statements
    uint64_t fitting;         // lines that a shape read
};

static inline void both_must(bool condition) {
    if (!condition) {
        abort();
    }
}

static inline void both_start(struct both *both, const struct nvtxt_source_config *config) {
    *both = (struct both){.config = *config};
    both->shaped_record.full = both->lexed_record.full = true;
    both->shaped = nvtxt_interp_new(config);
    both->lexed = nvtxt_interp_new(config);
    both_must(both->shaped && both->lexed);
    both->lexed->lexes_all = true;
    both->shape = both->shaped->shape;
}

static inline void same_token(const struct nvtxt_token *one, const struct nvtxt_token *other) {
    both_must(one->kind == other->kind && one->column == other->column &&
              one->source.data == other->source.data && one->source.len == other->source.len &&
              one->value.type == other->value.type);
    both_must(one->value.type == NVTXT_INTEGER
                  ? one->value.integer == other->value.integer
                  : nvtxt_slice_equal(one->value.string, other->value.string));
}

// If the line fits, it is the same statement to the lexer and the parser.
static inline void same_statement(struct both *both, struct nvtxt_slice line) {
    struct nvtxt_interp *interp = both->shaped;
    struct nvtxt_tokens tokens, lexed_tokens;
    struct nvtxt_stmt stmt, parsed;
    struct nvtxt_buf scratch = {0};
    struct nvtxt_diag diag;
    both->shape.definitions = interp->definitions;
    if (!nvtxt_shape_read(&both->shape, line, &tokens, &stmt)) {
        return;
    }
    both->fitting++;
    both_must(nvtxt_lex(line, interp->config.escapes, &interp->symtab, &scratch, &lexed_tokens,
                        &diag) == 0);
    both_must(nvtxt_parse(&lexed_tokens, interp->definitions,
                          nvtxt_source_extensions(&interp->config), &parsed, &diag) == 0);
    both_must(tokens.repaired == 0 && lexed_tokens.repaired == 0);
    both_must(stmt.kind == parsed.kind && stmt.command == parsed.command &&
              stmt.end_column == parsed.end_column && stmt.name->column == parsed.name->column);
    for (unsigned i = 0; i < interp->definitions[stmt.command].count; i++) {
        same_token(stmt.values[i], parsed.values[i]);
    }
    nvtxt_buf_deinit(&scratch);
}

// Takes a line as nvtxt_frame_next() gives it.
static inline void both_line(struct both *both, bool overlong, struct nvtxt_slice line) {
    struct nvtxt_sink shaped = record_sink(&both->shaped_record);
    struct nvtxt_sink lexed = record_sink(&both->lexed_record);
    if (overlong) {
        both_must(nvtxt_interp_overlong(both->shaped, line, &shaped) == 0);
        both_must(nvtxt_interp_overlong(both->lexed, line, &lexed) == 0);
        return;
    }
    same_statement(both, line);
    both_must(nvtxt_interp_line(both->shaped, line, &shaped) == 0);
    both_must(nvtxt_interp_line(both->lexed, line, &lexed) == 0);
}

// Saves the one that reads shapes, and goes on with what is restored; both states are the same.
static inline void both_interrupt(struct both *both) {
    struct nvtxt_buf state = {0}, lexed = {0};
    struct nvtxt_source_config bare = {.limits = both->config.limits,
                                       .claim = both->config.claim,
                                       .claimed_pid = both->config.claimed_pid};
    both_must(nvtxt_state_save_in_one(both->shaped, true, &state) == 0);
    both_must(nvtxt_state_save_in_one(both->lexed, true, &lexed) == 0);
    struct nvtxt_slice text = {state.data, state.len};
    both_must(nvtxt_slice_equal(text, (struct nvtxt_slice){lexed.data, lexed.len}));
    nvtxt_interp_free(both->shaped);
    both->shaped = NULL;
    both_must(nvtxt_state_restore(&both->shaped, &bare, text, NULL, 0) == 0);
    nvtxt_buf_deinit(&state);
    nvtxt_buf_deinit(&lexed);
}

static inline void both_finish(struct both *both) {
    struct nvtxt_sink shaped = record_sink(&both->shaped_record);
    struct nvtxt_sink lexed = record_sink(&both->lexed_record);
    both_must(nvtxt_interp_end(both->shaped, &shaped) == 0);
    both_must(nvtxt_interp_end(both->lexed, &lexed) == 0);
    record_finish(&both->shaped_record, nvtxt_interp_counters(both->shaped));
    record_finish(&both->lexed_record, nvtxt_interp_counters(both->lexed));
    both_must(record_equal(&both->shaped_record, &both->lexed_record));
    nvtxt_interp_free(both->shaped);
    nvtxt_interp_free(both->lexed);
    record_deinit(&both->shaped_record);
    record_deinit(&both->lexed_record);
}
