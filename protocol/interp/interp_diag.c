// SPDX-License-Identifier: Apache-2.0
//
// A line has one fault, which stops it, or warnings. Warnings are collected while the line is
// executed; after its effect they get their sentences and are handed on from left to right.
#include "protocol/interp/interp.h"
#include "protocol/interp/interp_job.h"
#include "protocol/lang/names.h"

int nvtxt_interp_hand_on(struct nvtxt_interp *interp, const struct nvtxt_diag *diag,
                         const struct nvtxt_sink *sink) {
    if (nvtxt_diag_severity(diag->code) == NVTXT_ERROR) {
        interp->counters.errors++;
    } else {
        interp->counters.warnings++;
    }
    if (interp->diagnostics >= interp->config.limits.diagnostics) {
        return 0;
    }
    interp->diagnostics++;
    interp->rows++;
    return sink->on_diag ? sink->on_diag(sink->context, diag) : 0;
}

int nvtxt_job_report(struct nvtxt_job *job) {
    job->diag.line = job->interp->counters.lines;
    nvtxt_diag_set_excerpt(&job->diag, job->line);
    return nvtxt_interp_hand_on(job->interp, &job->diag, job->sink);
}

void nvtxt_job_warn(struct nvtxt_job *job, enum nvtxt_diag_code code, uint32_t column,
                    struct nvtxt_slice text) {
    job->warnings[job->warning_count++] =
        (struct nvtxt_warning){.code = code, .column = column, .text = text};
}

void nvtxt_job_warn_name(struct nvtxt_job *job, uint32_t pid, const char *why) {
    if (job->interp->warned_name) {
        return;
    }
    job->interp->warned_name = true;
    nvtxt_job_warn(job, NVTXT_DIAG_FOREIGN_NAME, job->stmt.name->column, nvtxt_slice_of(why));
    job->warnings[job->warning_count - 1].pid = pid;
}

int nvtxt_interp_warn_name(struct nvtxt_interp *interp, uint32_t pid, const char *why,
                           const struct nvtxt_sink *sink) {
    struct nvtxt_diag diag;
    if (interp->warned_name) {
        return 0;
    }
    interp->warned_name = true;
    nvtxt_diag_set(&diag, NVTXT_DIAG_FOREIGN_NAME, 1, "process %u %s", pid, why);
    diag.line = interp->counters.lines;
    return nvtxt_interp_hand_on(interp, &diag, sink);
}

int nvtxt_interp_warn_parent(struct nvtxt_interp *interp, struct nvtxt_slice token,
                             const struct nvtxt_sink *sink) {
    struct nvtxt_diag diag;
    if (interp->warned_parent) {
        return 0;
    }
    interp->warned_parent = true;
    nvtxt_diag_set(&diag, NVTXT_DIAG_BAD_PARENT, 1,
                   "the parent '%.*s' is no SESSION:KEY; the source is recorded without it",
                   NVTXT_QUOTED(token));
    diag.line = interp->counters.lines ?: 1;
    nvtxt_diag_set_excerpt(&diag, token);
    return nvtxt_interp_hand_on(interp, &diag, sink);
}

void nvtxt_job_warn_argument(struct nvtxt_job *job, enum nvtxt_diag_code code, enum nvtxt_arg arg,
                             struct nvtxt_slice text) {
    const struct nvtxt_cmddef *definition = &job->interp->definitions[job->stmt.command];
    nvtxt_job_warn(job, code, nvtxt_call_column(&job->stmt, definition, arg), text);
}

static const char *timebase_name(const void *context, size_t index) {
    (void)context;
    return index < NVTXT_TIMEBASE_UNKNOWN ? nvtxt_timebase_name((enum nvtxt_timebase)index) : NULL;
}

static struct nvtxt_slice unquoted(struct nvtxt_slice text) {
    bool quoted = text.len >= 2 && (text.data[0] == '"' || text.data[0] == '\'') &&
                  text.data[text.len - 1] == text.data[0];
    return quoted ? (struct nvtxt_slice){text.data + 1, text.len - 2} : text;
}

static void describe(struct nvtxt_diag *diag, const struct nvtxt_warning *warning) {
    enum nvtxt_diag_code code = warning->code;
    uint32_t column = warning->column;
    struct nvtxt_slice text = warning->text;
    switch (code) {
    case NVTXT_DIAG_INVALID_UTF8:
        nvtxt_diag_set(diag, code, column, "string is not UTF-8; each bad byte became U+FFFD");
        break;
    case NVTXT_DIAG_BAD_COLOR:
        nvtxt_diag_set(diag, code, column, "no such colour: %.*s; the event has colour 0",
                       NVTXT_QUOTED(text));
        nvtxt_diag_suggest(diag, nvtxt_near(unquoted(text), nvtxt_color_name, NULL));
        break;
    case NVTXT_DIAG_ENDS_BEFORE_START:
        nvtxt_diag_set(diag, code, column, "range ends before it starts; it is kept as given");
        break;
    case NVTXT_DIAG_FOREIGN_NAME:
        nvtxt_diag_set(diag, code, column, "process %u %.*s", warning->pid, (int)text.len,
                       text.data);
        break;
    case NVTXT_DIAG_NO_CLOCK:
        nvtxt_diag_set(diag, code, column,
                       "the offset of '%.*s' is not known; its values are taken as nanoseconds",
                       NVTXT_QUOTED(text));
        break;
    default:
        nvtxt_diag_set(diag, code, column,
                       "time base '%.*s' is a foreign clock without a mapping; its values are "
                       "taken as nanoseconds",
                       NVTXT_QUOTED(text));
        nvtxt_diag_suggest(diag, nvtxt_near(text, timebase_name, NULL));
        break;
    }
}

int nvtxt_job_hand_on_warnings(struct nvtxt_job *job) {
    for (size_t done = 0; done < job->warning_count; done++) {
        size_t leftmost = done;
        for (size_t i = done + 1; i < job->warning_count; i++) {
            if (job->warnings[i].column < job->warnings[leftmost].column) {
                leftmost = i;
            }
        }
        struct nvtxt_warning warning = job->warnings[leftmost];
        job->warnings[leftmost] = job->warnings[done];
        describe(&job->diag, &warning);
        int r = nvtxt_job_report(job);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

// Waiting names of one domain count it each.
size_t nvtxt_interp_held(const struct nvtxt_interp *interp) {
    const struct nvtxt_symtab *symtab = &interp->symtab;
    const struct nvtxt_waiting *waiting = &interp->waiting;
    return interp->ranges.bytes + symtab->table.count * sizeof(struct nvtxt_variable) +
           symtab->name_bytes + symtab->string_bytes +
           waiting->table.count * sizeof(struct nvtxt_waiting_name) + waiting->bytes +
           nvtxt_refstr_slice(interp->display).len;
}

int nvtxt_job_hold(struct nvtxt_job *job, size_t more) {
    const struct nvtxt_interp *interp = job->interp;
    if (more == 0 || interp->allowed == SIZE_MAX) {
        return 0;
    }
    size_t held = nvtxt_interp_held(interp);
    if (held <= interp->allowed && more <= interp->allowed - held) {
        return 0;
    }
    return nvtxt_job_limit(job, job->stmt.name->column,
                           "the memory for what all sources of this user keep open");
}

int nvtxt_job_limit(struct nvtxt_job *job, uint32_t column, const char *what) {
    nvtxt_diag_set(&job->diag, NVTXT_DIAG_LIMIT_EXCEEDED, column,
                   "the line would pass the limit of %s", what);
    return 1;
}
