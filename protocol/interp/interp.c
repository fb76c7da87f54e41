// SPDX-License-Identifier: Apache-2.0
//
// Makes and frees an interpreter, and takes a line through its steps: lex, parse, execute.
// Execution first looks for every fault and only then changes the state, so a line with an error
// has no effect. What a call does is in interp_call.c, what a diagnostic says in interp_diag.c.
#include "protocol/interp/interp.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/scan.h"
#include "protocol/interp/interp_job.h"

#define SCRATCH_KEPT 4096 // a larger scratch buffer is freed after its line
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

const struct nvtxt_limits nvtxt_no_limits = {
    .line_bytes = SIZE_MAX,
    .variables = SIZE_MAX,
    .variable_bytes = SIZE_MAX,
    .name_bytes = SIZE_MAX,
    .push_depth = SIZE_MAX,
    .open_ranges = SIZE_MAX,
    .open_threads = SIZE_MAX,
    .open_bytes = SIZE_MAX,
    .waiting_names = SIZE_MAX,
    .diagnostics = SIZE_MAX,
};

// ---- Life --------------------------------------------------------------------------------------

static void begin_shapes(struct nvtxt_interp *interp) {
    nvtxt_shape_init(&interp->shape, interp->definitions, nvtxt_source_extensions(&interp->config),
                     interp->config.escapes);
}

struct nvtxt_interp *nvtxt_interp_new(const struct nvtxt_source_config *config) {
    struct nvtxt_interp *interp = calloc(1, sizeof(*interp));
    if (!interp) {
        return NULL;
    }
    interp->config = *config;
    interp->clocks[NVTXT_TIMEBASE_REALTIME].known = true;
    interp->allowed = SIZE_MAX;
    interp->ranges.by_domain = config->nvtx;
    for (int command = 0; command < NVTXT_CMD_COUNT; command++) {
        nvtxt_cmddef_default(&interp->definitions[command], (enum nvtxt_command)command);
    }
    begin_shapes(interp);
    return interp;
}

void nvtxt_interp_free(struct nvtxt_interp *interp) {
    if (!interp) {
        return;
    }
    for (int command = 0; command < NVTXT_CMD_COUNT; command++) {
        free(interp->plans[command]);
    }
    nvtxt_waiting_deinit(&interp->waiting);
    nvtxt_symtab_deinit(&interp->symtab);
    nvtxt_ranges_deinit(&interp->ranges);
    nvtxt_refstr_unref(interp->display);
    nvtxt_refstr_unref(interp->domain);
    nvtxt_buf_deinit(&interp->scratch);
    nvtxt_buf_deinit(&interp->joined);
    free(interp);
}

void nvtxt_interp_set_clock(struct nvtxt_interp *interp, enum nvtxt_timebase base,
                            struct nvtxt_clock_offset offset) {
    if (nvtxt_timebase_is_clock(base)) {
        interp->clocks[base] = offset;
    }
}

void nvtxt_interp_set_guard(struct nvtxt_interp *interp, const struct nvtxt_guard *guard) {
    interp->guard = *guard;
}

uint64_t nvtxt_interp_rows(const struct nvtxt_interp *interp) {
    return interp->rows;
}

bool nvtxt_interp_has_levels(const struct nvtxt_interp *interp) {
    return interp->config.levels;
}

bool nvtxt_interp_has_escapes(const struct nvtxt_interp *interp) {
    return interp->config.escapes;
}

bool nvtxt_interp_has_nvtx(const struct nvtxt_interp *interp) {
    return interp->config.nvtx;
}

int64_t nvtxt_interp_expiry(const struct nvtxt_interp *interp) {
    return interp->config.expiry_s;
}

void nvtxt_interp_extend(struct nvtxt_interp *interp, bool escapes, bool nvtx) {
    interp->config.escapes = escapes || nvtx;
    interp->config.nvtx = nvtx;
    interp->ranges.by_domain = nvtx;
    begin_shapes(interp);
}

const char *nvtxt_interp_parent(const struct nvtxt_interp *interp) {
    return *interp->config.parent ? interp->config.parent : NULL;
}

void nvtxt_interp_next_range(struct nvtxt_interp *interp, const char *key, const char *parent) {
    snprintf(interp->next_key, sizeof(interp->next_key), "%s", key);
    snprintf(interp->next_parent, sizeof(interp->next_parent), "%s", parent);
}

const struct nvtxt_counters *nvtxt_interp_counters(const struct nvtxt_interp *interp) {
    return &interp->counters;
}

struct nvtxt_slice nvtxt_interp_display_name(const struct nvtxt_interp *interp) {
    return nvtxt_refstr_slice(interp->display);
}

bool nvtxt_interp_raw_times(const struct nvtxt_interp *interp, int64_t *smallest,
                            int64_t *largest) {
    *smallest = interp->raw_smallest;
    *largest = interp->raw_largest;
    return interp->has_latest;
}

enum nvtxt_timebase nvtxt_interp_mapped_clock(const struct nvtxt_interp *interp) {
    return (enum nvtxt_timebase)interp->mapped_clock;
}

void nvtxt_interp_allow(struct nvtxt_interp *interp, size_t bytes) {
    interp->allowed = bytes;
}

// ---- Lines -------------------------------------------------------------------------------------

// The bytes that the variable takes more than before; 0 when it takes less.
static size_t cost_of_assignment(const struct nvtxt_job *job, struct nvtxt_slice name) {
    if (job->interp->allowed == SIZE_MAX) {
        return 0;
    }
    const struct nvtxt_value *value = &job->stmt.value->value;
    const struct nvtxt_value *before = nvtxt_symtab_find(&job->interp->symtab, name);
    size_t new = value->type == NVTXT_STRING ? value->string.len : 0;
    size_t old = before ? before->string.len : 0;
    return before ? (new > old ? new - old : 0) : sizeof(struct nvtxt_variable) + name.len + new;
}

static int execute_assignment(struct nvtxt_job *job) {
    const struct nvtxt_limits *limits = &job->interp->config.limits;
    struct nvtxt_slice name = job->stmt.name->value.string;
    if (name.len > limits->name_bytes) {
        return nvtxt_job_limit(job, job->stmt.name->column, "the length of a variable's name");
    }
    int r = nvtxt_job_hold(job, cost_of_assignment(job, name));
    if (r != 0) {
        return r;
    }
    r = nvtxt_symtab_set(&job->interp->symtab, limits, name, &job->stmt.value->value);
    if (r == NVTXT_SYMTAB_TOO_MANY) {
        return nvtxt_job_limit(job, job->stmt.name->column, "the number of variables");
    }
    if (r == NVTXT_SYMTAB_TOO_LARGE) {
        return nvtxt_job_limit(job, job->stmt.value->column, "the bytes of all variables");
    }
    return r;
}

static int execute_definition(struct nvtxt_job *job) {
    enum nvtxt_command command = job->stmt.command;
    struct nvtxt_cmddef *definition = &job->interp->definitions[command];
    if (!nvtxt_cmddef_equal(definition, &job->stmt.definition)) {
        *definition = job->stmt.definition;
        job->interp->saved.definitions |= UINT32_C(1) << command;
    }
    if (job->interp->plans[command]) {
        job->interp->plans[command]->made = false;
    }
    return 0;
}

static int execute(struct nvtxt_job *job) {
    switch (job->stmt.kind) {
    case NVTXT_STMT_ASSIGN:
        return execute_assignment(job);
    case NVTXT_STMT_DEFINE:
        return execute_definition(job);
    case NVTXT_STMT_CALL:
        return nvtxt_job_call(job);
    }
    return 0;
}

static int parse(struct nvtxt_job *job) {
    struct nvtxt_interp *interp = job->interp;
    int r = nvtxt_lex(job->line, interp->config.escapes, &interp->symtab, &interp->scratch,
                      &job->tokens, &job->diag);
    return r
               ?: nvtxt_parse(&job->tokens, interp->definitions,
                              nvtxt_source_extensions(&interp->config), &job->stmt, &job->diag);
}

static int run_statement(struct nvtxt_job *job, bool parsed) {
    struct nvtxt_interp *interp = job->interp;
    int r = parsed ? 0 : parse(job);
    if (r == 0) {
        if (job->tokens.repaired != 0) {
            nvtxt_job_warn(job, NVTXT_DIAG_INVALID_UTF8, job->tokens.repaired,
                           (struct nvtxt_slice){NULL, 0});
        }
        r = execute(job);
    }
    if (r == 0 && job->warning_count > 0) {
        r = nvtxt_job_hand_on_warnings(job);
    } else if (r > 0) {
        r = nvtxt_job_report(job);
    }
    if (interp->scratch.cap > SCRATCH_KEPT) {
        nvtxt_buf_deinit(&interp->scratch);
    }
    if (interp->joined.cap > SCRATCH_KEPT) {
        nvtxt_buf_deinit(&interp->joined);
    }
    return r;
}

static struct nvtxt_slice without_mark(struct nvtxt_slice line) {
    size_t len = sizeof(BYTE_ORDER_MARK) - 1;
    if (line.len >= len && memcmp(line.data, BYTE_ORDER_MARK, len) == 0) {
        return (struct nvtxt_slice){line.data + len, line.len - len};
    }
    return line;
}

static int take_line(struct nvtxt_interp *interp, struct nvtxt_slice line,
                     const struct nvtxt_sink *sink) {
    struct nvtxt_job job;
    job.interp = interp;
    job.sink = sink;
    job.line = line;
    job.warning_count = 0;
    if (!interp->lexes_all && nvtxt_shape_read(&interp->shape, line, &job.tokens, &job.stmt)) {
        return run_statement(&job, true);
    }
    size_t i = 0;
    while (i < line.len && nvtxt_char_is(line.data[i], NVTXT_CHAR_BLANK)) {
        i++;
    }
    return i == line.len || line.data[i] == '#' ? 0 : run_statement(&job, false);
}

int nvtxt_interp_line(struct nvtxt_interp *interp, struct nvtxt_slice line,
                      const struct nvtxt_sink *sink) {
    if (interp->counters.lines++ == 0) {
        line = without_mark(line);
    }
    int r = take_line(interp, line, sink);
    interp->next_key[0] = '\0';
    return r;
}

int nvtxt_interp_overlong(struct nvtxt_interp *interp, struct nvtxt_slice start,
                          const struct nvtxt_sink *sink) {
    if (interp->counters.lines++ == 0) {
        start = without_mark(start);
    }
    interp->next_key[0] = '\0';
    struct nvtxt_diag diag;
    nvtxt_diag_set(&diag, NVTXT_DIAG_LINE_TOO_LONG, 1,
                   "line is longer than %zu bytes and was skipped",
                   interp->config.limits.line_bytes);
    diag.line = interp->counters.lines;
    nvtxt_diag_set_excerpt(&diag, start);
    return nvtxt_interp_hand_on(interp, &diag, sink);
}
