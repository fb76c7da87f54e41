// SPDX-License-Identifier: Apache-2.0
//
// A definition is written when the arguments of a call change. A text that is too long for the line
// of a call goes into a variable before it.
#include "client/format/export_calls.h"

#include <string.h>

#define CALL_BYTES 200 // a call without its texts is shorter

enum command { MARKER, PUSH, POP, START_END, START, END };

// Arguments of the calls; a call with a text may have a payload after it, each may end in JSON.
static const struct {
    const char *name;
    const char *arguments;
    bool has_text;
} commands[CALLS_COMMANDS] = {
    [MARKER] = {"Marker", "Time, ProcessId, ThreadId", true},
    [PUSH] = {"RangePush", "Time, ProcessId, ThreadId", true},
    [POP] = {"RangePop", "Time, ProcessId, ThreadId", false},
    [START_END] = {"RangeStartEnd", "Start, End, ProcessId, ThreadId", true},
    [START] = {"RangeStart", "Time, RangeId, ProcessId, ThreadId", true},
    [END] = {"RangeEnd", "Time, RangeId, ProcessId, ThreadId", false},
};

enum { DEFINED = 1, PAYLOAD = 2, JSON = 4 };

void calls_put_text(struct export_writer *writer, struct nvtxt_slice text) {
    writer->changed += !nvtxt_out_string(&writer->out, text, writer->nvtx);
}

// Whether texts of so many bytes may leave no room for a call in its line. Escapes may double them.
static bool is_long(const struct export_writer *writer, size_t bytes) {
    return (writer->nvtx ? 2 * bytes : bytes) + CALL_BYTES > NVTXT_OUT_LINE_BYTES;
}

void calls_put_string(struct nvtxt_out *out, const char *string) {
    nvtxt_out_bytes(out, string, strlen(string));
}

void calls_assign(struct export_writer *writer, const char *name, struct nvtxt_slice text) {
    calls_put_string(&writer->out, name);
    NVTXT_OUT_LITERAL(&writer->out, "=");
    calls_put_text(writer, text);
    NVTXT_OUT_LITERAL(&writer->out, "\n");
}

bool calls_put_variable(struct export_writer *writer, struct nvtxt_slice text) {
    if (!is_long(writer, text.len)) {
        return false;
    }
    calls_assign(writer, "M", text);
    return true;
}

void calls_put_text_or_variable(struct export_writer *writer, struct nvtxt_slice text,
                                bool variable) {
    NVTXT_OUT_LITERAL(&writer->out, ", ");
    if (variable) {
        NVTXT_OUT_LITERAL(&writer->out, "$M");
    } else {
        calls_put_text(writer, text);
    }
}

bool calls_put_json_variable(struct export_writer *writer, struct nvtxt_slice json, size_t beside) {
    if (json.len == 0 || !is_long(writer, json.len + beside)) {
        return false;
    }
    calls_assign(writer, "J", json);
    return true;
}

static void put_json(struct export_writer *writer, enum command command, struct nvtxt_slice json,
                     bool variable) {
    const struct export_calls *calls = writer->state;
    if (!(calls->defined[command] & JSON)) {
        return;
    }
    NVTXT_OUT_LITERAL(&writer->out, ", ");
    if (variable) {
        NVTXT_OUT_LITERAL(&writer->out, "$J");
    } else {
        calls_put_text(writer, json);
    }
}

// ---- Calls --------------------------------------------------------------------------------------

// In the extension an empty string says that there is none, so what was defined stays.
static void define(struct export_writer *writer, enum command command, unsigned wanted) {
    struct export_calls *calls = writer->state;
    struct nvtxt_out *out = &writer->out;
    wanted |= DEFINED | (writer->nvtx ? calls->defined[command] : 0);
    if (calls->defined[command] == wanted) {
        return;
    }
    calls->defined[command] = wanted;
    NVTXT_OUT_LITERAL(out, "@");
    calls_put_string(out, commands[command].name);
    NVTXT_OUT_LITERAL(out, ", ");
    calls_put_string(out, commands[command].arguments);
    if (commands[command].has_text) {
        NVTXT_OUT_LITERAL(out, ", CategoryId, Color, Message");
    }
    if (wanted & PAYLOAD) {
        NVTXT_OUT_LITERAL(out, ", Payload");
    }
    if (wanted & JSON) {
        NVTXT_OUT_LITERAL(out, ", Json");
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

void calls_put_number(struct nvtxt_out *out, int64_t number) {
    NVTXT_OUT_LITERAL(out, ", ");
    nvtxt_out_int(out, number);
}

void calls_put_thread(struct nvtxt_out *out, uint64_t global_tid) {
    calls_put_number(out, store_event_pid(global_tid));
    calls_put_number(out, store_event_tid(global_tid));
}

// A decimal without a type is a string; an infinite one is written so that it reads as infinite
// again.
static void put_payload(struct export_writer *writer, const struct nvtxt_payload *payload) {
    static const char *const types[] = {
        [NVTXT_PAYLOAD_NONE] = "",       [NVTXT_PAYLOAD_DOUBLE] = "",
        [NVTXT_PAYLOAD_UINT64] = "u64:", [NVTXT_PAYLOAD_UINT32] = "u32:",
        [NVTXT_PAYLOAD_INT32] = "i32:",  [NVTXT_PAYLOAD_FLOAT] = "f32:",
    };
    struct nvtxt_out *out = &writer->out;
    if (payload->kind == NVTXT_PAYLOAD_INT64) {
        calls_put_number(out, payload->int64);
        return;
    }
    NVTXT_OUT_LITERAL(out, ", \"");
    calls_put_string(out, types[payload->kind]);
    if (payload->kind != NVTXT_PAYLOAD_NONE && !store_event_number(out, payload)) {
        calls_put_string(out, payload->real < 0 ? "-" : "");
        calls_put_string(out, payload->kind == NVTXT_PAYLOAD_FLOAT ? "inf" : "1e999");
    }
    NVTXT_OUT_LITERAL(out, "\"");
}

// A call that carries the event's attributes. `second` is End or RangeId where there is one.
static void put_call(struct export_writer *writer, enum command command,
                     const struct store_read_event *event, const int64_t *second,
                     struct nvtxt_slice json) {
    const struct export_calls *calls = writer->state;
    struct nvtxt_out *out = &writer->out;
    define(writer, command, (event->payload.kind ? PAYLOAD : 0u) | (json.len > 0 ? JSON : 0u));
    bool json_variable = calls_put_json_variable(writer, json, event->text.len);
    bool variable = calls_put_variable(writer, event->text);
    calls_put_string(out, commands[command].name);
    calls_put_number(out, event->start);
    if (second) {
        calls_put_number(out, *second);
    }
    calls_put_thread(out, event->global_tid);
    calls_put_number(out, event->category);
    NVTXT_OUT_LITERAL(out, ", 0x");
    char *room = nvtxt_out_room(out, 8);
    for (int i = 0; room && i < 8; i++) {
        room[i] = "0123456789ABCDEF"[event->color >> (28 - 4 * i) & 15];
    }
    out->len += room ? 8 : 0;
    calls_put_text_or_variable(writer, event->text, variable);
    if (calls->defined[command] & PAYLOAD) {
        put_payload(writer, &event->payload);
    }
    put_json(writer, command, json, json_variable);
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_end(struct export_writer *writer, enum command command, int64_t time,
                    const int64_t *range_id, uint64_t global_tid, struct nvtxt_slice json) {
    struct nvtxt_out *out = &writer->out;
    define(writer, command, json.len > 0 ? JSON : 0u);
    bool variable = calls_put_json_variable(writer, json, 0);
    calls_put_string(out, commands[command].name);
    calls_put_number(out, time);
    if (range_id) {
        calls_put_number(out, *range_id);
    }
    calls_put_thread(out, global_tid);
    put_json(writer, command, json, variable);
    NVTXT_OUT_LITERAL(out, "\n");
}

struct ends { // what the two ends of a range say
    struct nvtxt_slice begin, end;
};

// The JSON of an event, as its calls give it. What they cannot give is left out.
static struct ends ends_of(struct export_writer *writer, const struct store_read_event *event) {
    struct ends ends = {{NULL, 0}, {NULL, 0}};
    if (event->json.len == 0) {
        return ends;
    }
    bool is_range = event->type != NVTXT_EVENT_MARK;
    if (!is_range || !nvtxt_json_split(event->json, &ends.begin, &ends.end)) {
        ends = (struct ends){event->json, {NULL, 0}};
    }
    if (!nvtxt_out_string_holds(ends.begin, true) || !nvtxt_out_string_holds(ends.end, true) ||
        (ends.end.len == 0 && !nvtxt_json_is_value(ends.begin))) {
        writer->changed++;
        ends = (struct ends){{NULL, 0}, {NULL, 0}};
    }
    return ends;
}

void calls_put_event(struct export_writer *writer, const struct store_read_event *event) {
    static const int64_t range_id = 1; // it is free again when the next range begins
    struct ends json = ends_of(writer, event);
    if (event->type == NVTXT_EVENT_MARK) {
        put_call(writer, MARKER, event, NULL, json.begin);
    } else if (event->type == NVTXT_EVENT_PUSH_POP) {
        put_call(writer, PUSH, event, NULL, json.begin);
        put_end(writer, POP, event->end, NULL, event->global_tid, json.end);
    } else if (!event->ended_elsewhere && json.end.len == 0) {
        put_call(writer, START_END, event, &event->end, json.begin);
    } else {
        put_call(writer, START, event, &range_id, json.begin);
        put_end(writer, END, event->end, &range_id,
                event->ended_elsewhere ? event->end_global_tid : event->global_tid, json.end);
    }
}
