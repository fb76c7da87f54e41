// SPDX-License-Identifier: Apache-2.0
//
// Writes NVTXT: the calls of each event (export_calls.h), in the order of the rows. A range is
// opened and closed at once; the stack of its thread is then as before, so nothing has to be
// remembered between events.
//
// Names: a process is named before its first event. Each other name has the time of an event in the
// store; it is written after that event, so that it has the same time after an import. Names whose
// event does not come, or is not exported, are written at the end: the last name of a thing counts,
// wherever it is.
//
// What needs the extension `nvtx` begins with a hello: payloads with a type, JSON, resources,
// counters, domains that SetFileDisplayName would give to the wrong process, and texts of a source
// with the extension that need escapes. Then the domain of a call is the variable Domain. All other
// stores give the same NVTXT as before there was the extension, which every reader of NVTXT
// understands.
//
// Without escapes a text cannot have both kinds of quotes or a line feed. Such a text is changed as
// little as possible, and counted. In both cases that goes for a NUL, for what is not UTF-8 and for
// what is too long for a line; JSON of another program that is none is left out, and counted.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/format/export_calls.h"
#include "client/format/export_names.h"
#include "protocol/base/origin.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#define HELLO "#nvtxt-session {\"protocol\":1,\"nvtx\":1}\n"

struct nvtxt_export {
    struct export_calls calls;
    bool resource_defined, counter_defined;
    struct export_names names;
    bool has_resources, has_counters;
    struct nvtxt_refstr *domain;   // the current display name; NULL: none
    struct nvtxt_refstr *variable; // the value of the variable Domain; NULL: none
    struct category {
        uint32_t id, pid;
        int64_t domain_id;
    } last_category;                 // of an event; its name is used
    uint64_t last_tid;               // the thread whose names were written last
    bool has_last;                   // in this segment
    bool has_any;                    // there was an event; only look_nvtxt() uses this
    int64_t event_pid, variable_pid; // of the last event; of the variable ProcessId; -1: none
};

// ---- Names --------------------------------------------------------------------------------------

static int keep_text(struct nvtxt_refstr **kept, struct nvtxt_slice text) {
    nvtxt_refstr_unref(*kept);
    *kept = nvtxt_refstr_new(text);
    return *kept ? 0 : nvtxt_origin(-ENOMEM);
}

static int set_display_name(struct export_writer *writer, struct nvtxt_slice name) {
    struct nvtxt_export *state = writer->state;
    bool variable = calls_put_variable(writer, name);
    NVTXT_OUT_LITERAL(&writer->out, "SetFileDisplayName");
    calls_put_text_or_variable(writer, name, variable);
    NVTXT_OUT_LITERAL(&writer->out, "\n");
    return keep_text(&state->domain, name);
}

static int set_domain_variable(struct export_writer *writer, struct nvtxt_slice domain) {
    struct nvtxt_export *state = writer->state;
    if (nvtxt_slice_equal(nvtxt_refstr_slice(state->variable), domain)) {
        return 0;
    }
    if (calls_put_variable(writer, domain)) {
        NVTXT_OUT_LITERAL(&writer->out, "Domain=$M\n");
    } else {
        calls_assign(writer, "Domain", domain);
    }
    return keep_text(&state->variable, domain);
}

// Makes `domain` the domain of the calls that follow. The display name counts where the variable is
// empty.
static int set_domain(struct export_writer *writer, struct nvtxt_slice domain) {
    const struct nvtxt_export *state = writer->state;
    struct nvtxt_slice display = nvtxt_refstr_slice(state->domain);
    if (!writer->nvtx) {
        return nvtxt_slice_equal(display, domain) ? 0 : set_display_name(writer, domain);
    }
    if (domain.len == 0 && display.len > 0) {
        int r = set_display_name(writer, domain);
        if (r < 0) {
            return r;
        }
    }
    return set_domain_variable(writer, domain);
}

// A category is named in the process of the variable ProcessId, else of the last event.
// A counter is named in the process of the variable alone.
static void put_process(struct export_writer *writer, uint64_t global_tid, bool event_counts) {
    struct nvtxt_export *state = writer->state;
    int64_t pid = store_event_pid(global_tid);
    bool by_event = event_counts && state->variable_pid < 0;
    if (pid == (by_event ? state->event_pid : state->variable_pid)) {
        return;
    }
    state->variable_pid = pid;
    NVTXT_OUT_LITERAL(&writer->out, "ProcessId = ");
    nvtxt_out_int(&writer->out, pid);
    NVTXT_OUT_LITERAL(&writer->out, "\n");
}

static void name_resource(struct export_writer *writer, const struct export_name *name) {
    struct nvtxt_export *state = writer->state;
    struct nvtxt_out *out = &writer->out;
    char handle[32];
    if (!state->resource_defined) {
        NVTXT_OUT_LITERAL(out, "@SetResourceName, ProcessId, Kind, Handle, Name\n");
        state->resource_defined = true;
    }
    bool variable = calls_put_variable(writer, nvtxt_refstr_slice(name->text));
    NVTXT_OUT_LITERAL(out, "SetResourceName");
    calls_put_number(out, store_event_pid(name->global_tid));
    calls_put_text_or_variable(writer, nvtxt_refstr_slice(name->what), false);
    snprintf(handle, sizeof(handle), ", \"0x%" PRIX64 "\"", name->handle);
    calls_put_string(out, handle);
    calls_put_text_or_variable(writer, nvtxt_refstr_slice(name->text), variable);
    NVTXT_OUT_LITERAL(out, "\n");
}

static void name_counter(struct export_writer *writer, const struct export_name *name) {
    struct nvtxt_export *state = writer->state;
    struct nvtxt_out *out = &writer->out;
    struct nvtxt_slice text = nvtxt_refstr_slice(name->text), json = nvtxt_refstr_slice(name->json);
    if (!state->counter_defined) {
        NVTXT_OUT_LITERAL(out, "@SetCounter, Name, Json\n");
        state->counter_defined = true;
    }
    put_process(writer, name->global_tid, false);
    bool json_variable = calls_put_json_variable(writer, json, text.len);
    bool variable = calls_put_variable(writer, text);
    NVTXT_OUT_LITERAL(out, "SetCounter");
    calls_put_text_or_variable(writer, text, variable);
    NVTXT_OUT_LITERAL(out, ", ");
    if (json_variable) {
        NVTXT_OUT_LITERAL(out, "$J");
    } else {
        calls_put_text(writer, json);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void name_thing(struct export_writer *writer, const struct export_name *name) {
    struct nvtxt_out *out = &writer->out;
    struct nvtxt_slice text = nvtxt_refstr_slice(name->text);
    if (name->kind == NVTXT_NAME_CATEGORY) {
        put_process(writer, name->global_tid, true);
    }
    bool variable = calls_put_variable(writer, text);
    if (name->kind == NVTXT_NAME_CATEGORY) {
        NVTXT_OUT_LITERAL(out, "SetCategoryName");
        calls_put_number(out, name->category);
    } else if (name->kind == NVTXT_NAME_PROCESS) {
        NVTXT_OUT_LITERAL(out, "SetProcessName");
        calls_put_number(out, store_event_pid(name->global_tid));
    } else {
        NVTXT_OUT_LITERAL(out, "SetThreadName");
        calls_put_thread(out, name->global_tid);
    }
    calls_put_text_or_variable(writer, text, variable);
    NVTXT_OUT_LITERAL(out, "\n");
}

// With the extension an event alone makes a domain one of its process; the display name is for
// domains that no event of their process has at that place.
static int write_domain(struct export_writer *writer, struct nvtxt_slice domain) {
    const struct nvtxt_export *state = writer->state;
    if (!writer->nvtx) {
        return set_domain(writer, domain);
    }
    bool is_there = nvtxt_slice_equal(nvtxt_refstr_slice(state->variable), domain);
    return is_there ? 0 : set_display_name(writer, domain);
}

static int write_name(struct export_writer *writer, struct export_name *name) {
    struct nvtxt_slice domain = nvtxt_refstr_slice(name->domain);
    name->written = true;
    if (name->kind == NVTXT_NAME_DOMAIN) {
        return write_domain(writer, domain);
    }
    if (name->kind != NVTXT_NAME_THREAD && name->kind != NVTXT_NAME_PROCESS) {
        int r = set_domain(writer, domain);
        if (r < 0) {
            return r;
        }
    }
    if (name->kind == NVTXT_NAME_RESOURCE) {
        name_resource(writer, name);
    } else if (name->kind == NVTXT_NAME_COUNTER) {
        name_counter(writer, name);
    } else {
        name_thing(writer, name);
    }
    return 0;
}

static int write_if_wanted(void *context, struct export_name *name) {
    struct export_writer *writer = context;
    return writer->all || name->used ? write_name(writer, name) : 0;
}

// A name that an older version stored for all processes is also that of this process.
static int use_category(struct nvtxt_export *state, const struct store_named_event *row) {
    const struct store_read_event *event = row->event;
    struct category *last = &state->last_category;
    if (last->id == event->category && last->pid == store_event_pid(event->global_tid) &&
        last->domain_id == event->domain_id) {
        return 0;
    }
    *last =
        (struct category){event->category, store_event_pid(event->global_tid), event->domain_id};
    const struct store_read_name category = {.kind = NVTXT_NAME_CATEGORY,
                                             .category = event->category,
                                             .global_tid = event->global_tid,
                                             .domain = row->domain,
                                             .text = row->category,
                                             .at = event->start};
    if (export_names_use(&state->names, &category)) {
        return 0;
    }
    int r = export_names_add(&state->names, &category);
    export_names_use(&state->names, &category);
    return r;
}

// The name of the event's process; NULL when it has none. If only the resources of some processes
// are wanted, a name that is never written says that the process has an event.
static struct export_name *use_process(struct export_writer *writer, uint64_t global_tid) {
    struct nvtxt_export *state = writer->state;
    const struct store_read_name process = {.kind = NVTXT_NAME_PROCESS, .global_tid = global_tid};
    struct export_name *name = export_names_use(&state->names, &process);
    if (name || writer->all || !state->has_resources ||
        export_names_add(&state->names, &process) < 0) {
        return name;
    }
    name = export_names_use(&state->names, &process);
    name->written = true;
    return name;
}

// Marks the names of the event as used.
static int use_names(struct export_writer *writer, const struct store_named_event *row,
                     struct export_name **process) {
    struct nvtxt_export *state = writer->state;
    const struct store_read_event *event = row->event;
    *process = NULL;
    if (row->category.data && use_category(state, row) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (state->has_counters && event->type == NVTXT_EVENT_MARK) {
        export_names_use(&state->names, &(struct store_read_name){.kind = NVTXT_NAME_COUNTER,
                                                                  .global_tid = event->global_tid,
                                                                  .domain = row->domain,
                                                                  .text = event->text});
    }
    if (state->has_last && state->last_tid == event->global_tid) {
        return 0;
    }
    state->has_last = true;
    state->last_tid = event->global_tid;
    export_names_use(&state->names, &(struct store_read_name){.kind = NVTXT_NAME_THREAD,
                                                              .global_tid = event->global_tid});
    *process = use_process(writer, event->global_tid);
    return 0;
}

// Whether a name is written at the end, if its event did not come.
static bool is_wanted(const struct export_writer *writer, const struct export_name *name) {
    const struct nvtxt_export *state = writer->state;
    if (writer->all || name->kind != NVTXT_NAME_RESOURCE) {
        return writer->all || (name->used && name->kind != NVTXT_NAME_DOMAIN);
    }
    const struct store_read_name process = {.kind = NVTXT_NAME_PROCESS,
                                            .global_tid = name->global_tid};
    const struct export_name *found = export_names_find(&state->names, &process);
    return found && found->used;
}

// ---- Is the extension needed? -------------------------------------------------------------------

// Without it a change of domain is SetFileDisplayName, which makes the domain one of the process of
// the event before. That is right only if the store has it there.
static int look_at_domain(struct export_writer *writer, const struct store_named_event *row,
                          uint64_t last_tid) {
    struct nvtxt_export *state = writer->state;
    struct store_read_name domain = {.kind = NVTXT_NAME_DOMAIN, .domain = row->domain};
    bool changes = !nvtxt_slice_equal(nvtxt_refstr_slice(state->domain), row->domain);
    if (changes && keep_text(&state->domain, row->domain) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (row->domain.len == 0) {
        return 0;
    }
    if (changes && last_tid != UINT64_MAX) {
        domain.global_tid = last_tid;
        const struct export_name *name = export_names_find(&state->names, &domain);
        writer->nvtx |= !name || !name->used;
    }
    domain.global_tid = row->event->global_tid;
    export_names_use(&state->names, &domain);
    return 0;
}

// What write_name() would do to the display name.
static int look_at_name(void *context, struct export_name *name) {
    struct nvtxt_export *state = context;
    if (name->kind != NVTXT_NAME_DOMAIN && name->kind != NVTXT_NAME_CATEGORY) {
        return 0;
    }
    name->used |= name->kind == NVTXT_NAME_DOMAIN;
    return keep_text(&state->domain, nvtxt_refstr_slice(name->domain));
}

// The extension brings escapes with it.
static bool needs_escapes(struct nvtxt_slice text) {
    return !nvtxt_out_string_holds(text, false) && nvtxt_out_string_holds(text, true);
}

static void look_at_the_rest(struct export_writer *writer) {
    const struct nvtxt_export *state = writer->state;
    for (const struct export_name *name = state->names.first; name; name = name->next) {
        bool needs = name->kind == NVTXT_NAME_RESOURCE || name->kind == NVTXT_NAME_COUNTER ||
                     needs_escapes(nvtxt_refstr_slice(name->text));
        writer->nvtx |= needs && is_wanted(writer, name);
    }
}

static int look_nvtxt(struct export_writer *writer, const struct store_named_event *row) {
    struct nvtxt_export *state = writer->state;
    struct export_name *process;
    if (!row) {
        look_at_the_rest(writer);
        return 0;
    }
    const struct store_read_event *event = row->event;
    writer->nvtx |= event->payload.kind > NVTXT_PAYLOAD_DOUBLE || event->json.len > 0 ||
                    needs_escapes(event->text);
    uint64_t last_tid = state->has_any ? state->last_tid : UINT64_MAX;
    int r = use_names(writer, row, &process);
    state->has_any = true;
    r = r ?: look_at_domain(writer, row, last_tid);
    if (r != 0) {
        return r;
    }
    return export_names_each_at(&state->names, event->start, event->global_tid, false, look_at_name,
                                state);
}

// ---- The format ---------------------------------------------------------------------------------

static int begin_nvtxt(struct export_writer *writer) {
    struct nvtxt_export *state = calloc(1, sizeof(*state));
    writer->state = state;
    if (!state) {
        return nvtxt_origin(-ENOMEM);
    }
    state->event_pid = state->variable_pid = -1;
    if (writer->looks) {
        return 0;
    }
    if (writer->nvtx) {
        NVTXT_OUT_LITERAL(&writer->out, HELLO);
    }
    NVTXT_OUT_LITERAL(&writer->out, "# NVTXT of nvtxt-export " PACKAGE_VERSION
                                    "; times are nanoseconds since the Unix epoch\n");
    return 0;
}

static int on_name(void *context, const struct store_read_name *given) {
    struct nvtxt_export *state = context;
    state->has_resources |= given->kind == NVTXT_NAME_RESOURCE;
    state->has_counters |= given->kind == NVTXT_NAME_COUNTER;
    return export_names_add(&state->names, given);
}

static int segment_nvtxt(struct export_writer *writer, struct store_reader *reader) {
    struct nvtxt_export *state = writer->state;
    state->has_last = false;
    state->last_category = (struct category){0, UINT32_MAX, 0};
    return store_read_names(reader, on_name, state);
}

static int row_nvtxt(struct export_writer *writer, const struct store_named_event *row) {
    struct nvtxt_export *state = writer->state;
    struct export_name *process;
    int r = use_names(writer, row, &process);
    if (r == 0 && process && !process->written) {
        r = write_name(writer, process); // before its first event
    }
    r = r ?: set_domain(writer, row->domain);
    if (r == 0) {
        calls_put_event(writer, row->event);
        state->event_pid = store_event_pid(row->event->global_tid);
        r = export_names_each_at(&state->names, row->event->start, row->event->global_tid,
                                 writer->nvtx, write_if_wanted, writer);
    }
    return r;
}

static int end_nvtxt(struct export_writer *writer) {
    const struct nvtxt_export *state = writer->state;
    int r = 0;
    for (struct export_name *name = state->names.first; name && r == 0; name = name->next) {
        if (!name->written && is_wanted(writer, name)) {
            r = write_name(writer, name);
        }
    }
    return r;
}

static void free_nvtxt(struct export_writer *writer) {
    struct nvtxt_export *state = writer->state;
    if (state) {
        export_names_deinit(&state->names);
        nvtxt_refstr_unref(state->domain);
        nvtxt_refstr_unref(state->variable);
        free(state);
    }
}

const struct export_format export_nvtxt = {.name = "nvtxt",
                                           .loss = "texts or payloads were changed: NVTXT cannot "
                                                   "hold them (see nvtxt-export(1))",
                                           .begin = begin_nvtxt,
                                           .look = look_nvtxt,
                                           .segment = segment_nvtxt,
                                           .row = row_nvtxt,
                                           .end = end_nvtxt,
                                           .free = free_nvtxt};
