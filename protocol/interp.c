// SPDX-License-Identifier: Apache-2.0
//
// The interpreter; see the header. A line is lexed, parsed and executed; execution first looks for
// every fault and only then changes the state, so a line with an error leaves no trace. Warnings of
// a line are collected on the way and handed on after its effect.
#include "protocol/interp.h"

#include <errno.h>
#include <stdlib.h>

#include "protocol/chars.h"
#include "protocol/quote.h"
#include "protocol/source_state.h"

#define LINE_WARNINGS 4   // invalid-utf8, bad-color, ends-before-start, a time base's
#define SCRATCH_KEPT 4096 // a larger scratch buffer is given back after its line
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

struct warning {
    enum nvtxt_diag_code code;
    uint32_t column;
    struct nvtxt_slice text;
};

// The line at hand.
struct job {
    struct nvtxt_interp *interp;
    const struct nvtxt_sink *sink;
    struct nvtxt_slice line;
    struct nvtxt_tokens tokens;
    struct nvtxt_stmt stmt;
    struct nvtxt_call call;
    struct nvtxt_diag diag;
    struct warning warnings[LINE_WARNINGS];
    size_t warning_count;
};

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

struct nvtxt_interp *nvtxt_interp_new(const struct nvtxt_source_config *config) {
    struct nvtxt_interp *interp = calloc(1, sizeof *interp);
    if (!interp)
        return NULL;
    interp->config = *config;
    interp->clocks[NVTXT_TIMEBASE_REALTIME].known = true;
    for (int command = 0; command < NVTXT_CMD_COUNT; command++)
        nvtxt_cmddef_default(&interp->definitions[command], (enum nvtxt_command)command);
    return interp;
}

void nvtxt_interp_free(struct nvtxt_interp *interp) {
    if (!interp)
        return;
    for (int command = 0; command < NVTXT_CMD_COUNT; command++)
        free(interp->plans[command]);
    nvtxt_waiting_deinit(&interp->waiting);
    nvtxt_symtab_deinit(&interp->symtab);
    nvtxt_ranges_deinit(&interp->ranges);
    nvtxt_refstr_unref(interp->display);
    nvtxt_buf_deinit(&interp->scratch);
    free(interp);
}

void nvtxt_interp_set_clock(struct nvtxt_interp *interp, enum nvtxt_timebase base,
                            struct nvtxt_clock_offset offset) {
    if (nvtxt_timebase_is_clock(base))
        interp->clocks[base] = offset;
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

// ---- Diagnostics -------------------------------------------------------------------------------

static int hand_on(struct nvtxt_interp *interp, const struct nvtxt_diag *diag,
                   const struct nvtxt_sink *sink) {
    if (nvtxt_diag_severity(diag->code) == NVTXT_ERROR)
        interp->counters.errors++;
    else
        interp->counters.warnings++;
    if (interp->diagnostics >= interp->config.limits.diagnostics)
        return 0;
    interp->diagnostics++;
    return sink->on_diag(sink->context, diag);
}

static int report(struct job *job) {
    job->diag.line = job->interp->counters.lines;
    nvtxt_diag_set_excerpt(&job->diag, job->line);
    return hand_on(job->interp, &job->diag, job->sink);
}

static void warn(struct job *job, enum nvtxt_diag_code code, uint32_t column,
                 struct nvtxt_slice text) {
    job->warnings[job->warning_count++] = (struct warning){code, column, text};
}

static void warn_argument(struct job *job, enum nvtxt_diag_code code, enum nvtxt_arg arg,
                          struct nvtxt_slice text) {
    const struct nvtxt_cmddef *definition = &job->interp->definitions[job->stmt.command];
    warn(job, code, nvtxt_call_column(&job->stmt, definition, arg), text);
}

static void describe(struct nvtxt_diag *diag, const struct warning *warning) {
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
        break;
    case NVTXT_DIAG_ENDS_BEFORE_START:
        nvtxt_diag_set(diag, code, column, "range ends before it starts; it is kept as given");
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
        break;
    }
}

// Hands on the line's warnings, leftmost first.
static int hand_on_warnings(struct job *job) {
    for (size_t done = 0; done < job->warning_count; done++) {
        size_t leftmost = done;
        for (size_t i = done + 1; i < job->warning_count; i++) {
            if (job->warnings[i].column < job->warnings[leftmost].column)
                leftmost = i;
        }
        struct warning warning = job->warnings[leftmost];
        job->warnings[leftmost] = job->warnings[done];
        describe(&job->diag, &warning);
        int r = report(job);
        if (r < 0)
            return r;
    }
    return 0;
}

static int limit(struct job *job, uint32_t column, const char *what) {
    nvtxt_diag_set(&job->diag, NVTXT_DIAG_LIMIT_EXCEEDED, column,
                   "the line would pass the limit of %s", what);
    return 1;
}

// ---- Names -------------------------------------------------------------------------------------

static int wait_for_event(struct job *job, const struct nvtxt_name *name) {
    struct nvtxt_interp *interp = job->interp;
    int r = nvtxt_waiting_set(&interp->waiting, &interp->config.limits, name, interp->display);
    if (r == NVTXT_WAITING_TOO_MANY)
        return limit(job, job->stmt.name->column, "names before the first event");
    if (r == NVTXT_WAITING_TOO_LARGE)
        return limit(job, job->stmt.name->column, "bytes of names before the first event");
    return r;
}

static int give_name(struct job *job, struct nvtxt_name *name) {
    struct nvtxt_interp *interp = job->interp;
    if (!interp->has_event && name->kind != NVTXT_NAME_PROCESS)
        return wait_for_event(job, name);
    name->at = interp->event_start;
    name->at_pid = interp->event_pid;
    name->at_tid = interp->event_tid;
    return job->sink->on_name(job->sink->context, name);
}

// ---- Events ------------------------------------------------------------------------------------

static void count_event(struct nvtxt_counters *counters, const struct nvtxt_event *event) {
    counters->events++;
    if (!counters->has_time || event->start < counters->first_ns)
        counters->first_ns = event->start;
    if (!counters->has_time || event->end > counters->last_ns)
        counters->last_ns = event->end;
    counters->has_time = true;
}

static int store_event(struct nvtxt_interp *interp, const struct nvtxt_event *event,
                       const struct nvtxt_sink *sink) {
    int r = sink->on_event(sink->context, event);
    if (r < 0)
        return r;
    count_event(&interp->counters, event);
    interp->event_start = event->start;
    interp->event_pid = event->pid;
    interp->event_tid = event->tid;
    interp->has_event = true;
    if (interp->waiting.first)
        return nvtxt_waiting_store(&interp->waiting, event->start, event->pid, event->tid, sink);
    return 0;
}

static struct nvtxt_event event_of_call(const struct job *job, enum nvtxt_event_type type) {
    const struct nvtxt_call *call = &job->call;
    return (struct nvtxt_event){
        .type = type,
        .pid = call->pid,
        .tid = call->tid,
        .category = call->category,
        .color = call->color,
        .start = call->time,
        .end = call->time,
        .text = call->text,
        .domain = nvtxt_refstr_slice(job->interp->display),
        .payload = call->payload,
    };
}

static struct nvtxt_event event_of_range(const struct nvtxt_range *range, int64_t end) {
    const struct nvtxt_open_range *view = &range->view;
    return (struct nvtxt_event){
        .type = view->type,
        .pid = view->pid,
        .tid = view->tid,
        .category = view->category,
        .color = view->color,
        .start = view->start,
        .end = end,
        .text = view->text,
        .domain = view->domain,
        .payload = view->payload,
        .open_seq = range->announced ? view->seq : 0,
    };
}

// ---- Calls -------------------------------------------------------------------------------------

static int open_range(struct job *job, enum nvtxt_event_type type) {
    const struct nvtxt_call *call = &job->call;
    char excerpt[NVTXT_DIAG_EXCERPT_SIZE];
    struct nvtxt_open_range range = {
        .type = type,
        .pid = call->pid,
        .tid = call->tid,
        .range_id = call->range_id,
        .start = call->time,
        .category = call->category,
        .color = call->color,
        .text = call->text,
        .domain = nvtxt_refstr_slice(job->interp->display),
        .excerpt = nvtxt_excerpt(job->line, excerpt),
        .payload = call->payload,
        .line = job->interp->counters.lines,
        .column = job->stmt.name->column,
    };
    int r = nvtxt_ranges_open(&job->interp->ranges, &job->interp->config.limits, &range,
                              job->interp->display);
    return r > 0 ? limit(job, job->stmt.name->column, nvtxt_ranges_limit_name(r)) : r;
}

static void warn_if_backwards(struct job *job, const struct nvtxt_event *event,
                              enum nvtxt_arg arg) {
    if (event->end < event->start)
        warn_argument(job, NVTXT_DIAG_ENDS_BEFORE_START, arg, (struct nvtxt_slice){NULL, 0});
}

static int close_range(struct job *job, struct nvtxt_range *range, struct nvtxt_event *event) {
    warn_if_backwards(job, event, NVTXT_ARG_TIME);
    int r = store_event(job->interp, event, job->sink);
    nvtxt_ranges_close(&job->interp->ranges, range);
    return r;
}

static int call_range_pop(struct job *job) {
    const struct nvtxt_call *call = &job->call;
    struct nvtxt_range *range = nvtxt_ranges_top(&job->interp->ranges, call->pid, call->tid);
    if (!range) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_POP_WITHOUT_PUSH, job->stmt.name->column,
                       "thread %u of process %u has no range to pop", call->tid, call->pid);
        return 1;
    }
    struct nvtxt_event event = event_of_range(range, call->time);
    return close_range(job, range, &event);
}

static uint32_t range_id_column(const struct job *job) {
    return nvtxt_call_column(&job->stmt, &job->interp->definitions[job->stmt.command],
                             NVTXT_ARG_RANGE_ID);
}

static int call_range_start(struct job *job) {
    const struct nvtxt_range *range = nvtxt_ranges_find(&job->interp->ranges, job->call.range_id);
    if (range) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_RANGE_ALREADY_OPEN, range_id_column(job),
                       "range %lld is open already, since line %llu", (long long)job->call.range_id,
                       (unsigned long long)range->view.line);
        return 1;
    }
    return open_range(job, NVTXT_EVENT_START_END);
}

static int call_range_end(struct job *job) {
    const struct nvtxt_call *call = &job->call;
    struct nvtxt_range *range = nvtxt_ranges_find(&job->interp->ranges, call->range_id);
    if (!range) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_END_WITHOUT_START, range_id_column(job),
                       "no range %lld is open", (long long)call->range_id);
        return 1;
    }
    struct nvtxt_event event = event_of_range(range, call->time);
    event.end_pid = event.pid;
    event.end_tid = event.tid;
    if (call->given & nvtxt_arg_bit(NVTXT_ARG_THREAD_ID)) {
        event.end_pid = call->pid;
        event.end_tid = call->tid;
    }
    event.ended_elsewhere = event.end_pid != event.pid || event.end_tid != event.tid;
    return close_range(job, range, &event);
}

static int call_range_start_end(struct job *job) {
    struct nvtxt_event event = event_of_call(job, NVTXT_EVENT_START_END);
    event.end = job->call.end;
    warn_if_backwards(job, &event, NVTXT_ARG_END);
    return store_event(job->interp, &event, job->sink);
}

static int call_set_display_name(struct job *job) {
    struct nvtxt_interp *interp = job->interp;
    struct nvtxt_slice text = job->call.text;
    struct nvtxt_refstr *display = NULL, *before = interp->display;
    if (text.len > 0) {
        display = nvtxt_refstr_new(text);
        if (!display)
            return -ENOMEM;
    }
    interp->display = display;
    struct nvtxt_name name = {.kind = NVTXT_NAME_DOMAIN, .text = text, .domain = text};
    int r = display ? give_name(job, &name) : 0;
    if (r != 0) {
        interp->display = before;
        before = display;
    }
    nvtxt_refstr_unref(before);
    return r;
}

static int call_set_name(struct job *job, enum nvtxt_name_kind kind) {
    struct nvtxt_name name = {
        .kind = kind,
        .text = job->call.text,
        .domain = nvtxt_refstr_slice(job->interp->display),
        .category = job->call.category,
        .pid = job->call.pid,
        .tid = job->call.tid,
    };
    return give_name(job, &name);
}

static int execute_command(struct job *job) {
    struct nvtxt_event event;
    switch (job->stmt.command) {
    case NVTXT_CMD_SET_FILE_DISPLAY_NAME:
        return call_set_display_name(job);
    case NVTXT_CMD_MARKER:
        event = event_of_call(job, NVTXT_EVENT_MARK);
        return store_event(job->interp, &event, job->sink);
    case NVTXT_CMD_RANGE_PUSH:
        return open_range(job, NVTXT_EVENT_PUSH_POP);
    case NVTXT_CMD_RANGE_POP:
        return call_range_pop(job);
    case NVTXT_CMD_RANGE_START_END:
        return call_range_start_end(job);
    case NVTXT_CMD_RANGE_START:
        return call_range_start(job);
    case NVTXT_CMD_RANGE_END:
        return call_range_end(job);
    case NVTXT_CMD_SET_CATEGORY_NAME:
        return call_set_name(job, NVTXT_NAME_CATEGORY);
    case NVTXT_CMD_SET_THREAD_NAME:
        return call_set_name(job, NVTXT_NAME_THREAD);
    case NVTXT_CMD_SET_PROCESS_NAME:
        return call_set_name(job, NVTXT_NAME_PROCESS);
    case NVTXT_CMD_COUNT:
        break;
    }
    return 0;
}

static void note_time(struct nvtxt_interp *interp, int64_t raw, int64_t ns) {
    bool first = !interp->has_latest;
    interp->has_latest = true;
    if (first || ns > interp->latest)
        interp->latest = ns;
    if (first || raw < interp->raw_smallest)
        interp->raw_smallest = raw;
    if (first || raw > interp->raw_largest)
        interp->raw_largest = raw;
}

// What a call that had an effect says of time: the source's latest one, and once per source that
// its time base is not what it seems.
static void note_times(struct job *job) {
    struct nvtxt_interp *interp = job->interp;
    const struct nvtxt_call *call = &job->call;
    enum nvtxt_timebase base = (enum nvtxt_timebase)call->timebase;
    note_time(interp, call->raw_time, call->time);
    if (call->given & nvtxt_arg_bit(NVTXT_ARG_END))
        note_time(interp, call->raw_end, call->end);
    if (base <= NVTXT_TIMEBASE_RELATIVE || interp->clocks[base].known ||
        interp->config.mapping.mode != NVTXT_MAPPING_NONE)
        return;
    bool clock = nvtxt_timebase_is_clock(base);
    bool *warned = clock ? &interp->warned_clock : &interp->warned_timebase;
    if (*warned)
        return;
    *warned = true;
    warn_argument(job, clock ? NVTXT_DIAG_NO_CLOCK : NVTXT_DIAG_UNKNOWN_TIMEBASE,
                  NVTXT_ARG_TIME_BASE, call->timebase_name);
}

static struct nvtxt_slice color_text(const struct job *job) {
    const struct nvtxt_cmddef *definition = &job->interp->definitions[job->stmt.command];
    for (unsigned i = 0; i < definition->count; i++) {
        if (definition->args[i] == NVTXT_ARG_COLOR)
            return job->stmt.values[i]->source;
    }
    const struct nvtxt_value *value = nvtxt_symtab_static(&job->interp->symtab, NVTXT_ARG_COLOR);
    return value && value->type == NVTXT_STRING ? value->string : NVTXT_SLICE("$Color");
}

static int execute_call(struct job *job) {
    struct nvtxt_interp *interp = job->interp;
    enum nvtxt_command command = job->stmt.command;
    if (!interp->plans[command]) {
        interp->plans[command] = calloc(1, sizeof *interp->plans[command]);
        if (!interp->plans[command])
            return -ENOMEM;
    }
    struct nvtxt_call_context context = {&interp->config, interp->clocks, &interp->symtab,
                                         &interp->definitions[command], interp->plans[command]};
    int r = nvtxt_call_resolve(&context, &job->stmt, &job->call, &job->diag);
    if (r == 0)
        r = execute_command(job);
    if (r != 0)
        return r;
    if (job->call.bad_color)
        warn_argument(job, NVTXT_DIAG_BAD_COLOR, NVTXT_ARG_COLOR, color_text(job));
    if (nvtxt_commands[command].accepted & nvtxt_arg_bit(NVTXT_ARG_TIME_BASE))
        note_times(job);
    return 0;
}

// ---- Lines -------------------------------------------------------------------------------------

static int execute_assignment(struct job *job) {
    const struct nvtxt_limits *limits = &job->interp->config.limits;
    struct nvtxt_slice name = job->stmt.name->value.string;
    if (name.len > limits->name_bytes)
        return limit(job, job->stmt.name->column, "the length of a variable's name");
    int r = nvtxt_symtab_set(&job->interp->symtab, limits, name, &job->stmt.value->value);
    if (r == NVTXT_SYMTAB_TOO_MANY)
        return limit(job, job->stmt.name->column, "the number of variables");
    if (r == NVTXT_SYMTAB_TOO_LARGE)
        return limit(job, job->stmt.value->column, "the bytes of all variables");
    return r;
}

static int execute_definition(struct job *job) {
    enum nvtxt_command command = job->stmt.command;
    job->interp->definitions[command] = job->stmt.definition;
    if (job->interp->plans[command])
        job->interp->plans[command]->made = false;
    return 0;
}

static int execute(struct job *job) {
    switch (job->stmt.kind) {
    case NVTXT_STMT_ASSIGN:
        return execute_assignment(job);
    case NVTXT_STMT_DEFINE:
        return execute_definition(job);
    case NVTXT_STMT_CALL:
        return execute_call(job);
    }
    return 0;
}

static int run(struct job *job) {
    struct nvtxt_interp *interp = job->interp;
    int r = nvtxt_lex(job->line, interp->config.escapes, &interp->symtab, &interp->scratch,
                      &job->tokens, &job->diag);
    if (r == 0)
        r = nvtxt_parse(&job->tokens, interp->definitions, &job->stmt, &job->diag);
    if (r == 0) {
        if (job->tokens.repaired != 0)
            warn(job, NVTXT_DIAG_INVALID_UTF8, job->tokens.repaired, (struct nvtxt_slice){NULL, 0});
        r = execute(job);
    }
    if (r == 0 && job->warning_count > 0)
        r = hand_on_warnings(job);
    else if (r > 0)
        r = report(job);
    if (interp->scratch.cap > SCRATCH_KEPT)
        nvtxt_buf_deinit(&interp->scratch);
    return r;
}

static struct nvtxt_slice without_mark(struct nvtxt_slice line) {
    size_t len = sizeof BYTE_ORDER_MARK - 1;
    if (line.len >= len && memcmp(line.data, BYTE_ORDER_MARK, len) == 0)
        return (struct nvtxt_slice){line.data + len, line.len - len};
    return line;
}

int nvtxt_interp_line(struct nvtxt_interp *interp, struct nvtxt_slice line,
                      const struct nvtxt_sink *sink) {
    if (interp->counters.lines++ == 0)
        line = without_mark(line);
    size_t i = 0;
    while (i < line.len && nvtxt_char_is(line.data[i], NVTXT_CHAR_BLANK))
        i++;
    if (i == line.len || line.data[i] == '#')
        return 0;
    struct job job;
    job.interp = interp;
    job.sink = sink;
    job.line = line;
    job.warning_count = 0;
    return run(&job);
}

int nvtxt_interp_overlong(struct nvtxt_interp *interp, struct nvtxt_slice start,
                          const struct nvtxt_sink *sink) {
    if (interp->counters.lines++ == 0)
        start = without_mark(start);
    struct nvtxt_diag diag;
    nvtxt_diag_set(&diag, NVTXT_DIAG_LINE_TOO_LONG, 1,
                   "line is longer than %zu bytes and was skipped",
                   interp->config.limits.line_bytes);
    diag.line = interp->counters.lines;
    nvtxt_diag_set_excerpt(&diag, start);
    return hand_on(interp, &diag, sink);
}

// ---- The end -----------------------------------------------------------------------------------

static int end_range(struct nvtxt_interp *interp, struct nvtxt_range *range,
                     const struct nvtxt_sink *sink) {
    struct nvtxt_event event = event_of_range(range, interp->latest);
    event.unclosed = true;
    int r = store_event(interp, &event, sink);
    if (r < 0)
        return r;
    struct nvtxt_diag diag;
    nvtxt_diag_set(&diag, NVTXT_DIAG_NEVER_CLOSED, range->view.column,
                   "range '%.*s' was never closed; it ends with the source",
                   NVTXT_QUOTED(range->view.text));
    diag.line = range->view.line;
    nvtxt_diag_set_excerpt(&diag, range->view.excerpt);
    nvtxt_ranges_close(&interp->ranges, range);
    return hand_on(interp, &diag, sink);
}

int nvtxt_interp_end(struct nvtxt_interp *interp, const struct nvtxt_sink *sink) {
    while (interp->ranges.oldest) {
        int r = end_range(interp, interp->ranges.oldest, sink);
        if (r < 0)
            return r;
    }
    uint32_t pid = interp->config.default_pid;
    return nvtxt_waiting_store(&interp->waiting, interp->config.opened_ns, pid, pid, sink);
}
