// SPDX-License-Identifier: Apache-2.0
//
// One function for each command: it makes names, events and ranges. Each first looks for every
// fault and only then changes the state. The end of the source is here too: it closes what is open.
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/interp/interp.h"
#include "protocol/interp/interp_job.h"

// ---- Domains -----------------------------------------------------------------------------------

// The domain of the call: its Domain, else the display name in force. `*domain` (borrowed, NULL:
// none) lives until the next call. Calls seldom change it, so the last one is kept.
static int domain_of_call(struct nvtxt_job *job, struct nvtxt_refstr **domain) {
    struct nvtxt_interp *interp = job->interp;
    struct nvtxt_slice name = job->call.domain;
    *domain = interp->display;
    if (name.len == 0 || nvtxt_slice_equal(nvtxt_refstr_slice(interp->display), name)) {
        return 0;
    }
    if (!interp->domain || !nvtxt_slice_equal(nvtxt_refstr_slice(interp->domain), name)) {
        struct nvtxt_refstr *kept = nvtxt_refstr_new(name);
        if (!kept) {
            return nvtxt_origin(-ENOMEM);
        }
        nvtxt_refstr_unref(interp->domain);
        interp->domain = kept;
    }
    *domain = interp->domain;
    return 0;
}

// ---- Names -------------------------------------------------------------------------------------

static int wait_for_event(struct nvtxt_job *job, const struct nvtxt_name *name,
                          struct nvtxt_refstr *domain) {
    struct nvtxt_interp *interp = job->interp;
    int r =
        nvtxt_job_hold(job, sizeof(struct nvtxt_waiting_name) + name->text.len + name->domain.len);
    if (r != 0) {
        return r;
    }
    r = nvtxt_waiting_set(&interp->waiting, &interp->config.limits, name, domain);
    if (r == NVTXT_WAITING_TOO_MANY) {
        return nvtxt_job_limit(job, job->stmt.name->column, "names before the first event");
    }
    if (r == NVTXT_WAITING_TOO_LARGE) {
        return nvtxt_job_limit(job, job->stmt.name->column,
                               "bytes of names before the first event");
    }
    return r;
}

// Processes, resources and counters have tables of their own.
static bool stands_at_event(enum nvtxt_name_kind kind) {
    return kind == NVTXT_NAME_CATEGORY || kind == NVTXT_NAME_THREAD || kind == NVTXT_NAME_DOMAIN;
}

// Why the name may not be given; NULL: it may. A domain is a label that anybody may use: it is
// never foreign. A category without a process of its own is of the event's, which `*pid` then is.
static const char *why_foreign(const struct nvtxt_interp *interp, const struct nvtxt_name *name,
                               uint32_t *pid) {
    bool of_event = name->kind == NVTXT_NAME_CATEGORY && !name->own_pid;
    *pid = of_event ? interp->event_pid : name->pid;
    if (name->kind == NVTXT_NAME_DOMAIN || (of_event && !interp->has_event)) {
        return NULL;
    }
    return nvtxt_interp_why_not_named(interp, *pid);
}

// `domain` (may be NULL) is what name->domain shows.
static int give_name(struct nvtxt_job *job, struct nvtxt_name *name, struct nvtxt_refstr *domain) {
    struct nvtxt_interp *interp = job->interp;
    uint32_t pid;
    const char *why = why_foreign(interp, name, &pid);
    if (why) {
        nvtxt_job_warn_name(job, pid, why);
        return 0;
    }
    if (!interp->has_event && stands_at_event(name->kind)) {
        return wait_for_event(job, name, domain);
    }
    interp->rows++;
    name->at = interp->event_start;
    name->at_pid = interp->event_pid;
    name->at_tid = interp->event_tid;
    if (name->kind == NVTXT_NAME_CATEGORY && !name->own_pid) {
        name->pid = name->at_pid;
    }
    return job->sink->on_name ? job->sink->on_name(job->sink->context, name) : 0;
}

// ---- Events ------------------------------------------------------------------------------------

static void count_event(struct nvtxt_counters *counters, const struct nvtxt_event *event) {
    counters->events++;
    if (!counters->has_time || event->start < counters->first_ns) {
        counters->first_ns = event->start;
    }
    if (!counters->has_time || event->end > counters->last_ns) {
        counters->last_ns = event->end;
    }
    counters->has_time = true;
}

// Hands on the names that waited. Those that the source may not give now have no effect; the
// warning has the line of the event.
static int store_waiting(struct nvtxt_interp *interp, int64_t at, uint32_t pid, uint32_t tid,
                         const struct nvtxt_sink *sink) {
    struct nvtxt_waiting_dropped dropped = {0};
    size_t names = interp->waiting.table.count;
    int r = nvtxt_waiting_store(&interp->waiting, at, pid, tid, &interp->guard, sink, &dropped);
    if (r < 0) {
        return r;
    }
    interp->rows += names - dropped.count;
    interp->saved.waited |= names > 0;
    return dropped.count ? nvtxt_interp_warn_name(interp, dropped.pid, dropped.why, sink) : 0;
}

// Something of the source is of the process. If another user named it, too, and neither can prove
// that it is theirs, it has no name from now on.
static int use_process(struct nvtxt_interp *interp, uint32_t pid, const struct nvtxt_sink *sink) {
    const struct nvtxt_guard *guard = &interp->guard;
    int r = guard->on_use ? guard->on_use(guard->context, pid) : 0;
    return r > 0 ? nvtxt_interp_warn_name(interp, pid, NVTXT_WHY_SHARED, sink) : r;
}

static int store_event(struct nvtxt_interp *interp, const struct nvtxt_event *event,
                       const struct nvtxt_sink *sink) {
    int r = sink->on_event ? sink->on_event(sink->context, event) : 0;
    r = r ?: use_process(interp, event->pid, sink);
    if (r >= 0 && event->ended_elsewhere) {
        r = use_process(interp, event->end_pid, sink);
    }
    if (r < 0) {
        return r;
    }
    count_event(&interp->counters, event);
    interp->event_start = event->start;
    interp->event_pid = event->pid;
    interp->event_tid = event->tid;
    interp->has_event = true;
    if (interp->waiting.first) {
        return store_waiting(interp, event->start, event->pid, event->tid, sink);
    }
    return 0;
}

static struct nvtxt_event event_of_call(const struct nvtxt_job *job, enum nvtxt_event_type type) {
    struct nvtxt_slice domain = job->call.domain;
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
        .domain = domain.len > 0 ? domain : nvtxt_refstr_slice(job->interp->display),
        .payload = call->payload,
        .json = call->json,
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
        .json = view->json,
        .open_seq = range->announced ? view->seq : 0,
    };
}

// ---- Calls -------------------------------------------------------------------------------------

static int open_range(struct nvtxt_job *job, enum nvtxt_event_type type) {
    const struct nvtxt_call *call = &job->call;
    char excerpt[NVTXT_DIAG_EXCERPT_SIZE];
    struct nvtxt_refstr *domain;
    int r = domain_of_call(job, &domain);
    if (r < 0) {
        return r;
    }
    struct nvtxt_open_range range = {
        .type = type,
        .pid = call->pid,
        .tid = call->tid,
        .range_id = call->range_id,
        .start = call->time,
        .category = call->category,
        .color = call->color,
        .text = call->text,
        .domain = nvtxt_refstr_slice(domain),
        .excerpt = nvtxt_excerpt(job->line, excerpt),
        .payload = call->payload,
        .json = call->json,
        .line = job->interp->counters.lines,
        .column = job->stmt.name->column,
    };
    r = nvtxt_job_hold(job, nvtxt_ranges_memory(&range));
    if (r != 0) {
        return r;
    }
    r = nvtxt_ranges_open(&job->interp->ranges, &job->interp->config.limits, &range, domain);
    if (r > 0) {
        return nvtxt_job_limit(job, job->stmt.name->column, nvtxt_ranges_limit_name(r));
    }
    return r ?: use_process(job->interp, call->pid, job->sink);
}

static void warn_if_backwards(struct nvtxt_job *job, const struct nvtxt_event *event,
                              enum nvtxt_arg arg) {
    if (event->end < event->start) {
        nvtxt_job_warn_argument(job, NVTXT_DIAG_ENDS_BEFORE_START, arg,
                                (struct nvtxt_slice){NULL, 0});
    }
}

// What the end of a range says goes beside what its start said.
static int join_json(struct nvtxt_job *job, struct nvtxt_slice *json) {
    struct nvtxt_slice end = job->call.json;
    struct nvtxt_buf *joined = &job->interp->joined;
    if (end.len == 0) {
        return 0;
    }
    nvtxt_buf_clear(joined);
    nvtxt_buf_add_string(joined, "{\"begin\":");
    nvtxt_buf_add(joined, json->len ? json->data : "null", json->len ?: 4);
    nvtxt_buf_add_string(joined, ",\"end\":");
    nvtxt_buf_add(joined, end.data, end.len);
    nvtxt_buf_add_string(joined, "}");
    *json = (struct nvtxt_slice){joined->data, joined->len};
    return nvtxt_buf_failed(joined) ? nvtxt_origin(-ENOMEM) : 0;
}

static int close_range(struct nvtxt_job *job, struct nvtxt_range *range,
                       struct nvtxt_event *event) {
    warn_if_backwards(job, event, NVTXT_ARG_TIME);
    int r = join_json(job, &event->json);
    if (r < 0) {
        return r;
    }
    r = store_event(job->interp, event, job->sink);
    nvtxt_ranges_close(&job->interp->ranges, range);
    return r;
}

static int call_range_pop(struct nvtxt_job *job) {
    const struct nvtxt_call *call = &job->call;
    struct nvtxt_slice domain =
        call->domain.len > 0 ? call->domain : nvtxt_refstr_slice(job->interp->display);
    struct nvtxt_range *range =
        nvtxt_ranges_top(&job->interp->ranges, call->pid, call->tid, domain);
    if (!range && job->interp->config.nvtx && domain.len > 0) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_POP_WITHOUT_PUSH, job->stmt.name->column,
                       "thread %u of process %u has no range to pop in the domain '%.*s'",
                       call->tid, call->pid, NVTXT_QUOTED(domain));
        return 1;
    }
    if (!range) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_POP_WITHOUT_PUSH, job->stmt.name->column,
                       "thread %u of process %u has no range to pop", call->tid, call->pid);
        return 1;
    }
    struct nvtxt_event event = event_of_range(range, call->time);
    return close_range(job, range, &event);
}

static uint32_t range_id_column(const struct nvtxt_job *job) {
    return nvtxt_call_column(&job->stmt, &job->interp->definitions[job->stmt.command],
                             NVTXT_ARG_RANGE_ID);
}

static int call_range_start(struct nvtxt_job *job) {
    const struct nvtxt_range *range = nvtxt_ranges_find(&job->interp->ranges, job->call.range_id);
    if (range) {
        nvtxt_diag_set(&job->diag, NVTXT_DIAG_RANGE_ALREADY_OPEN, range_id_column(job),
                       "range %lld is open already, since line %llu", (long long)job->call.range_id,
                       (unsigned long long)range->view.line);
        return 1;
    }
    return open_range(job, NVTXT_EVENT_START_END);
}

static int call_range_end(struct nvtxt_job *job) {
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

static int call_range_start_end(struct nvtxt_job *job) {
    struct nvtxt_event event = event_of_call(job, NVTXT_EVENT_START_END);
    event.end = job->call.end;
    if (*job->interp->next_key) {
        event.key = nvtxt_slice_of(job->interp->next_key);
        event.parent = nvtxt_slice_of(job->interp->next_parent);
        job->interp->rows++;
    }
    warn_if_backwards(job, &event, NVTXT_ARG_END);
    return store_event(job->interp, &event, job->sink);
}

static int call_set_display_name(struct nvtxt_job *job) {
    struct nvtxt_interp *interp = job->interp;
    struct nvtxt_slice text = job->call.text;
    struct nvtxt_refstr *display = NULL, *before = interp->display;
    bool same = nvtxt_slice_equal(nvtxt_refstr_slice(before), text);
    size_t old = nvtxt_refstr_slice(before).len;
    int r = nvtxt_job_hold(job, text.len > old ? text.len - old : 0);
    if (r != 0) {
        return r;
    }
    if (text.len > 0) {
        display = nvtxt_refstr_new(text);
        if (!display) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    interp->display = display;
    struct nvtxt_name name = {.kind = NVTXT_NAME_DOMAIN, .text = text, .domain = text};
    r = display ? give_name(job, &name, display) : 0;
    if (r != 0) {
        interp->display = before;
        before = display;
    } else if (!same) {
        interp->saved.display = true;
    }
    nvtxt_refstr_unref(before);
    return r;
}

// A category is named in the process that $ProcessId says, if it says one.
static void set_category_process(const struct nvtxt_job *job, struct nvtxt_name *name) {
    const struct nvtxt_value *pid = nvtxt_symtab_static(&job->interp->symtab, NVTXT_ARG_PROCESS_ID);
    name->own_pid =
        pid && pid->type == NVTXT_INTEGER && pid->integer >= 0 && pid->integer <= NVTXT_ID_MAX;
    name->pid = name->own_pid ? (uint32_t)pid->integer : 0;
    name->tid = 0;
}

// A counter is named in the process that $ProcessId says, else in the default one.
static void set_counter_process(const struct nvtxt_job *job, struct nvtxt_name *name) {
    set_category_process(job, name);
    name->pid = name->own_pid ? name->pid : job->interp->config.default_pid;
    name->own_pid = true;
}

static int call_set_name(struct nvtxt_job *job, enum nvtxt_name_kind kind) {
    struct nvtxt_refstr *domain;
    int r = domain_of_call(job, &domain);
    if (r < 0) {
        return r;
    }
    struct nvtxt_name name = {
        .kind = kind,
        .text = job->call.text,
        .domain = nvtxt_refstr_slice(domain),
        .resource_kind = job->call.resource_kind,
        .json = job->call.json,
        .handle = job->call.handle,
        .category = job->call.category,
        .pid = job->call.pid,
        .tid = job->call.tid,
    };
    if (kind == NVTXT_NAME_CATEGORY) {
        set_category_process(job, &name);
    } else if (kind == NVTXT_NAME_COUNTER) {
        set_counter_process(job, &name);
    }
    const struct nvtxt_source_config *config = &job->interp->config;
    const char *why = // call.c checks the other commands
        name.own_pid ? nvtxt_why_not_claimed(config, &job->interp->guard, name.pid) : NULL;
    if (why) {
        nvtxt_not_claimed(config, name.pid, why, job->stmt.name->column, &job->diag);
        return 1;
    }
    return give_name(job, &name, domain);
}

static int execute_command(struct nvtxt_job *job) {
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
    case NVTXT_CMD_SET_RESOURCE_NAME:
        return call_set_name(job, NVTXT_NAME_RESOURCE);
    case NVTXT_CMD_SET_COUNTER:
        return call_set_name(job, NVTXT_NAME_COUNTER);
    case NVTXT_CMD_COUNT:
        break;
    }
    return 0;
}

static void note_time(struct nvtxt_interp *interp, int64_t raw, int64_t ns) {
    bool first = !interp->has_latest;
    interp->has_latest = true;
    if (first || ns > interp->latest) {
        interp->latest = ns;
    }
    if (first || raw < interp->raw_smallest) {
        interp->raw_smallest = raw;
    }
    if (first || raw > interp->raw_largest) {
        interp->raw_largest = raw;
    }
}

// Remembers the times of a call that had an effect. Warns once a source when the time base is a
// clock without an offset or without a mapping.
static void note_times(struct nvtxt_job *job) {
    struct nvtxt_interp *interp = job->interp;
    const struct nvtxt_call *call = &job->call;
    enum nvtxt_timebase base = (enum nvtxt_timebase)call->timebase;
    note_time(interp, call->raw_time, call->time);
    if (call->given & nvtxt_arg_bit(NVTXT_ARG_END)) {
        note_time(interp, call->raw_end, call->end);
    }
    bool mapped = interp->config.mapping.mode != NVTXT_MAPPING_NONE;
    if (mapped && base > NVTXT_TIMEBASE_RELATIVE && interp->clocks[base].known &&
        interp->mapped_clock == NVTXT_TIMEBASE_MANUAL) {
        interp->mapped_clock = (uint8_t)base;
    }
    if (mapped || base <= NVTXT_TIMEBASE_RELATIVE || interp->clocks[base].known) {
        return;
    }
    bool clock = nvtxt_timebase_is_clock(base);
    bool *warned = clock ? &interp->warned_clock : &interp->warned_timebase;
    if (*warned) {
        return;
    }
    *warned = true;
    nvtxt_job_warn_argument(job, clock ? NVTXT_DIAG_NO_CLOCK : NVTXT_DIAG_UNKNOWN_TIMEBASE,
                            NVTXT_ARG_TIME_BASE, call->timebase_name);
}

static struct nvtxt_slice color_text(const struct nvtxt_job *job) {
    const struct nvtxt_cmddef *definition = &job->interp->definitions[job->stmt.command];
    for (unsigned i = 0; i < definition->count; i++) {
        if (definition->args[i] == NVTXT_ARG_COLOR) {
            return job->stmt.values[i]->source;
        }
    }
    const struct nvtxt_value *value = nvtxt_symtab_static(&job->interp->symtab, NVTXT_ARG_COLOR);
    return value && value->type == NVTXT_STRING ? value->string : NVTXT_SLICE("$Color");
}

int nvtxt_job_call(struct nvtxt_job *job) {
    struct nvtxt_interp *interp = job->interp;
    enum nvtxt_command command = job->stmt.command;
    if (!interp->plans[command]) {
        interp->plans[command] = calloc(1, sizeof(*interp->plans[command]));
        if (!interp->plans[command]) {
            return nvtxt_origin(-ENOMEM);
        }
    }
    struct nvtxt_call_context context = {&interp->config,
                                         &interp->guard,
                                         interp->clocks,
                                         &interp->symtab,
                                         &interp->definitions[command],
                                         interp->plans[command]};
    int r = nvtxt_call_resolve(&context, &job->stmt, &job->call, &job->diag);
    r = r ?: execute_command(job);
    if (r != 0) {
        return r;
    }
    if (job->call.bad_color) {
        nvtxt_job_warn_argument(job, NVTXT_DIAG_BAD_COLOR, NVTXT_ARG_COLOR, color_text(job));
    }
    if (nvtxt_commands[command].accepted & nvtxt_arg_bit(NVTXT_ARG_TIME_BASE)) {
        note_times(job);
    }
    return 0;
}

// ---- The end -----------------------------------------------------------------------------------

static int end_range(struct nvtxt_interp *interp, struct nvtxt_range *range,
                     const struct nvtxt_sink *sink) {
    struct nvtxt_event event = event_of_range(range, interp->latest);
    event.unclosed = true;
    int r = store_event(interp, &event, sink);
    if (r < 0) {
        return r;
    }
    struct nvtxt_diag diag;
    nvtxt_diag_set(&diag, NVTXT_DIAG_NEVER_CLOSED, range->view.column,
                   "range '%.*s' was never closed; it ends with the source",
                   NVTXT_QUOTED(range->view.text));
    diag.line = range->view.line;
    nvtxt_diag_set_excerpt(&diag, range->view.excerpt);
    nvtxt_ranges_close(&interp->ranges, range);
    return nvtxt_interp_hand_on(interp, &diag, sink);
}

int nvtxt_interp_end(struct nvtxt_interp *interp, const struct nvtxt_sink *sink) {
    while (interp->ranges.oldest) {
        int r = end_range(interp, interp->ranges.oldest, sink);
        if (r < 0) {
            return r;
        }
    }
    uint32_t pid = interp->config.default_pid;
    return store_waiting(interp, interp->config.opened_ns, pid, pid, sink);
}
