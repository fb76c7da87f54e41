// SPDX-License-Identifier: Apache-2.0
//
// Writes NVTXT. Each event becomes lines that make exactly this row again, in the order of the
// rows. A range is opened and closed at once; the stack of its thread is then as before, so nothing
// has to be remembered between events. A definition is written when the arguments of a call change.
//
// Names: a process is named before its first event. Each other name has the time of an event in the
// store; it is written after that event, so that it has the same time after an import. Names whose
// event does not come, or is not exported, are written at the end: the last name of a thing counts,
// wherever it is.
//
// The language has no escapes. It cannot hold a text with both kinds of quotes, a text with a line
// feed or a NUL, or one that is too long for a line. Such texts are changed as little as possible,
// and counted. The same goes for payloads beyond Int64 and for JSON.
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "client/format/export_fmt.h"
#include "client/format/export_names.h"
#include "protocol/base/refstr.h"
#include "protocol/base/utf8.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#define LINE_BYTES 65536          // the default limit of those that read the lines
#define TEXT_MAX (LINE_BYTES - 4) // of `M="…"`: no line can hold a longer text
#define CALL_BYTES 200            // a call without its text is shorter

enum command { MARKER, PUSH, POP, START_END, START, END, COMMANDS };

// Arguments of the calls; a call with a text may have a payload after it.
static const struct {
    const char *name;
    const char *arguments;
    bool has_text;
} commands[COMMANDS] = {
    [MARKER] = {"Marker", "Time, ProcessId, ThreadId", true},
    [PUSH] = {"RangePush", "Time, ProcessId, ThreadId", true},
    [POP] = {"RangePop", "Time, ProcessId, ThreadId", false},
    [START_END] = {"RangeStartEnd", "Start, End, ProcessId, ThreadId", true},
    [START] = {"RangeStart", "Time, RangeId, ProcessId, ThreadId", true},
    [END] = {"RangeEnd", "Time, RangeId, ProcessId, ThreadId", false},
};

struct nvtxt_export {
    int defined[COMMANDS]; // 0: not yet; 1: without a payload, 2: with one
    struct export_names names;
    struct nvtxt_refstr *domain; // the current display name; NULL: none
    uint64_t last_tid;           // the thread whose names were written last
    bool has_last;
    int64_t event_pid, variable_pid; // of the last event; of the variable ProcessId; -1: none
};

// ---- Texts --------------------------------------------------------------------------------------

static bool has_byte(struct nvtxt_slice text, char byte) {
    return text.len > 0 && memchr(text.data, byte, text.len) != NULL;
}

// Signs that stand for what a text cannot hold: U+240A for LF, U+2400 for NUL, and between single
// quotes U+2019, which is what an apostrophe is in print.
static char *put_sign(char *at, char byte) {
    const char *sign = byte == '\n'   ? "\xE2\x90\x8A"
                       : byte == '\0' ? "\xE2\x90\x80"
                                      : "\xE2\x80\x99";
    memcpy(at, sign, 3);
    return at + 3;
}

// The same text with these signs, and U+FFFD for what is not UTF-8, cut to fit into a line.
static void put_changed(struct export_out *out, struct nvtxt_slice text) {
    char *room = export_out_room(out, text.len * 3 + 2);
    char quote = has_byte(text, '"') ? '\'' : '"';
    char *at = room;
    if (!room) {
        return;
    }
    *at++ = quote;
    for (size_t i = 0; i < text.len && at - room < TEXT_MAX - 3;) {
        size_t n = nvtxt_utf8_sequence(text.data + i, text.len - i);
        char byte = text.data[i];
        if (n == 0) {
            memcpy(at, "\xEF\xBF\xBD", 3);
            at += 3;
        } else if (byte == '\n' || byte == '\0' || byte == quote) {
            at = put_sign(at, byte);
        } else {
            memcpy(at, text.data + i, n);
            at += n;
        }
        i += n ? n : 1;
    }
    *at++ = quote;
    out->len += (size_t)(at - room);
}

static bool can_be_written(struct nvtxt_slice text) {
    return text.len <= TEXT_MAX && !(has_byte(text, '"') && has_byte(text, '\'')) &&
           !has_byte(text, '\n') && !has_byte(text, '\0') && nvtxt_utf8_valid(text);
}

static void put_text(struct export_writer *writer, struct nvtxt_slice text) {
    struct export_out *out = &writer->out;
    if (!can_be_written(text)) {
        writer->changed++;
        put_changed(out, text);
        return;
    }
    const char *quote = has_byte(text, '"') ? "'" : "\"";
    export_bytes(out, quote, 1);
    export_slice(out, text);
    export_bytes(out, quote, 1);
}

// A text that leaves no room for a call in its line goes into a variable before the call. Returns
// true then.
static bool put_variable(struct export_writer *writer, struct nvtxt_slice text) {
    if (text.len + CALL_BYTES <= LINE_BYTES) {
        return false;
    }
    EXPORT_LITERAL(&writer->out, "M=");
    put_text(writer, text);
    EXPORT_LITERAL(&writer->out, "\n");
    return true;
}

static void put_text_or_variable(struct export_writer *writer, struct nvtxt_slice text,
                                 bool variable) {
    EXPORT_LITERAL(&writer->out, ", ");
    if (variable) {
        EXPORT_LITERAL(&writer->out, "$M");
    } else {
        put_text(writer, text);
    }
}

// ---- Calls --------------------------------------------------------------------------------------

static void put_string(struct export_out *out, const char *string) {
    export_bytes(out, string, strlen(string));
}

static void define(struct export_writer *writer, enum command command, bool payload) {
    struct nvtxt_export *state = writer->state;
    struct export_out *out = &writer->out;
    if (state->defined[command] == 1 + payload) {
        return;
    }
    state->defined[command] = 1 + payload;
    EXPORT_LITERAL(out, "@");
    put_string(out, commands[command].name);
    EXPORT_LITERAL(out, ", ");
    put_string(out, commands[command].arguments);
    if (commands[command].has_text) {
        EXPORT_LITERAL(out, ", CategoryId, Color, Message");
    }
    if (payload) {
        EXPORT_LITERAL(out, ", Payload");
    }
    EXPORT_LITERAL(out, "\n");
}

static void put_number(struct export_out *out, int64_t number) {
    EXPORT_LITERAL(out, ", ");
    export_int(out, number);
}

static void put_thread(struct export_out *out, uint64_t global_tid) {
    put_number(out, export_pid(global_tid));
    put_number(out, export_tid(global_tid));
}

static bool has_payload(const struct store_read_event *event) {
    return event->payload_kind != STORE_READ_NONE && event->payload_kind != STORE_READ_JSON;
}

// A decimal is a string; an infinite one is written so that it reads as infinite again.
static void put_payload(struct export_writer *writer, const struct store_read_event *event) {
    struct export_out *out = &writer->out;
    if (event->payload_kind == STORE_READ_INT64) {
        put_number(out, event->int64);
        return;
    }
    EXPORT_LITERAL(out, ", \"");
    if (event->payload_kind == STORE_READ_UINT64) {
        writer->changed++;
        export_uint(out, event->uint64);
    } else if (!export_double(out, event->real)) {
        put_string(out, event->real < 0 ? "-1e999" : "1e999");
    }
    EXPORT_LITERAL(out, "\"");
}

// A call that carries the event's attributes. `second` is End or RangeId where there is one.
static void put_call(struct export_writer *writer, enum command command,
                     const struct store_read_event *event, const int64_t *second) {
    struct export_out *out = &writer->out;
    define(writer, command, has_payload(event));
    bool variable = put_variable(writer, event->text);
    put_string(out, commands[command].name);
    put_number(out, event->start);
    if (second) {
        put_number(out, *second);
    }
    put_thread(out, event->global_tid);
    put_number(out, event->category);
    EXPORT_LITERAL(out, ", 0x");
    char *room = export_out_room(out, 8);
    for (int i = 0; room && i < 8; i++) {
        room[i] = "0123456789ABCDEF"[event->color >> (28 - 4 * i) & 15];
    }
    out->len += room ? 8 : 0;
    put_text_or_variable(writer, event->text, variable);
    if (has_payload(event)) {
        put_payload(writer, event);
    }
    EXPORT_LITERAL(out, "\n");
}

static void put_end(struct export_writer *writer, enum command command, int64_t time,
                    const int64_t *range_id, uint64_t global_tid) {
    struct export_out *out = &writer->out;
    define(writer, command, false);
    put_string(out, commands[command].name);
    put_number(out, time);
    if (range_id) {
        put_number(out, *range_id);
    }
    put_thread(out, global_tid);
    EXPORT_LITERAL(out, "\n");
}

static void put_event(struct export_writer *writer, const struct store_read_event *event) {
    static const int64_t range_id = 1; // it is free again when the next range begins
    writer->changed += event->payload_kind == STORE_READ_JSON;
    if (event->type == NVTXT_EVENT_MARK) {
        put_call(writer, MARKER, event, NULL);
    } else if (event->type == NVTXT_EVENT_PUSH_POP) {
        put_call(writer, PUSH, event, NULL);
        put_end(writer, POP, event->end, NULL, event->global_tid);
    } else if (!event->ended_elsewhere) {
        put_call(writer, START_END, event, &event->end);
    } else {
        put_call(writer, START, event, &range_id);
        put_end(writer, END, event->end, &range_id, event->end_global_tid);
    }
}

// ---- Names --------------------------------------------------------------------------------------

static int set_domain(struct export_writer *writer, struct nvtxt_slice domain) {
    struct nvtxt_export *state = writer->state;
    if (nvtxt_slice_equal(nvtxt_refstr_slice(state->domain), domain)) {
        return 0;
    }
    bool variable = put_variable(writer, domain);
    EXPORT_LITERAL(&writer->out, "SetFileDisplayName");
    put_text_or_variable(writer, domain, variable);
    EXPORT_LITERAL(&writer->out, "\n");
    nvtxt_refstr_unref(state->domain);
    state->domain = nvtxt_refstr_new(domain);
    return state->domain ? 0 : -ENOMEM;
}

// A category is named in the process of the variable ProcessId, else of the last event.
static void put_process(struct export_writer *writer, uint64_t global_tid) {
    struct nvtxt_export *state = writer->state;
    int64_t pid = export_pid(global_tid);
    if (pid == (state->variable_pid < 0 ? state->event_pid : state->variable_pid)) {
        return;
    }
    state->variable_pid = pid;
    EXPORT_LITERAL(&writer->out, "ProcessId = ");
    export_int(&writer->out, pid);
    EXPORT_LITERAL(&writer->out, "\n");
}

static int write_name(struct export_writer *writer, struct export_name *name) {
    struct export_out *out = &writer->out;
    struct nvtxt_slice text = nvtxt_refstr_slice(name->text);
    name->written = true;
    if (name->kind == NVTXT_NAME_DOMAIN || name->kind == NVTXT_NAME_CATEGORY) {
        int result = set_domain(writer, nvtxt_refstr_slice(name->domain));
        if (result < 0 || name->kind == NVTXT_NAME_DOMAIN) {
            return result;
        }
    }
    if (name->kind == NVTXT_NAME_CATEGORY) {
        put_process(writer, name->global_tid);
    }
    bool variable = put_variable(writer, text);
    if (name->kind == NVTXT_NAME_CATEGORY) {
        EXPORT_LITERAL(out, "SetCategoryName");
        put_number(out, name->category);
    } else if (name->kind == NVTXT_NAME_PROCESS) {
        EXPORT_LITERAL(out, "SetProcessName");
        put_number(out, export_pid(name->global_tid));
    } else {
        EXPORT_LITERAL(out, "SetThreadName");
        put_thread(out, name->global_tid);
    }
    put_text_or_variable(writer, text, variable);
    EXPORT_LITERAL(out, "\n");
    return 0;
}

static int write_if_wanted(void *context, struct export_name *name) {
    struct export_writer *writer = context;
    return writer->all || name->used ? write_name(writer, name) : 0;
}

// A name that an older version stored for all processes is also that of this process.
static int use_category(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_export *state = writer->state;
    const struct store_read_event *event = row->event;
    const struct store_read_name given = {.kind = NVTXT_NAME_CATEGORY,
                                          .category = event->category,
                                          .global_tid = event->global_tid,
                                          .domain = row->domain,
                                          .text = row->category,
                                          .at = event->start};
    if (export_names_use(&state->names, given.kind, given.category, given.global_tid,
                         given.domain)) {
        return 0;
    }
    int result = export_names_add(&state->names, &given);
    export_names_use(&state->names, given.kind, given.category, given.global_tid, given.domain);
    return result;
}

// Marks the names of the event as used; its process is named now.
static int use_names(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_export *state = writer->state;
    const struct store_read_event *event = row->event;
    static const struct nvtxt_slice none = {NULL, 0};
    if (row->category.data && use_category(writer, row) < 0) {
        return -ENOMEM;
    }
    if (state->has_last && state->last_tid == event->global_tid) {
        return 0;
    }
    state->has_last = true;
    state->last_tid = event->global_tid;
    export_names_use(&state->names, NVTXT_NAME_THREAD, 0, event->global_tid, none);
    struct export_name *process =
        export_names_use(&state->names, NVTXT_NAME_PROCESS, 0, event->global_tid, none);
    return process && !process->written ? write_name(writer, process) : 0;
}

// ---- The format ---------------------------------------------------------------------------------

static int begin_nvtxt(struct export_writer *writer) {
    writer->state = calloc(1, sizeof(struct nvtxt_export));
    EXPORT_LITERAL(&writer->out, "# NVTXT of nvtxt-export " PACKAGE_VERSION
                                 "; times are nanoseconds since the Unix epoch\n");
    struct nvtxt_export *state = writer->state;
    if (!state) {
        return -ENOMEM;
    }
    state->event_pid = state->variable_pid = -1;
    return 0;
}

static int on_name(void *context, const struct store_read_name *given) {
    return export_names_add(context, given);
}

static int segment_nvtxt(struct export_writer *writer, struct store_reader *reader) {
    struct nvtxt_export *state = writer->state;
    state->has_last = false;
    return store_read_names(reader, on_name, &state->names);
}

static int row_nvtxt(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_export *state = writer->state;
    int result = use_names(writer, row);
    result = result ? result : set_domain(writer, row->domain);
    if (result == 0) {
        put_event(writer, row->event);
        state->event_pid = export_pid(row->event->global_tid);
        result = export_names_each_at(&state->names, row->event->start, row->event->global_tid,
                                      write_if_wanted, writer);
    }
    return result;
}

static int end_nvtxt(struct export_writer *writer) {
    const struct nvtxt_export *state = writer->state;
    int result = 0;
    for (struct export_name *name = state->names.first; name && result == 0; name = name->next) {
        bool wanted = writer->all || (name->used && name->kind != NVTXT_NAME_DOMAIN);
        if (wanted && !name->written) {
            result = write_name(writer, name);
        }
    }
    return result;
}

static void free_nvtxt(struct export_writer *writer) {
    struct nvtxt_export *state = writer->state;
    if (state) {
        export_names_deinit(&state->names);
        nvtxt_refstr_unref(state->domain);
        free(state);
    }
}

const struct export_format export_nvtxt = {.name = "nvtxt",
                                           .loss = "texts or payloads were changed: NVTXT cannot "
                                                   "hold them (see nvtxt-export(1))",
                                           .begin = begin_nvtxt,
                                           .segment = segment_nvtxt,
                                           .row = row_nvtxt,
                                           .end = end_nvtxt,
                                           .free = free_nvtxt};
