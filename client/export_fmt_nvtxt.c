// SPDX-License-Identifier: Apache-2.0
//
// NVTXT again. Every event becomes lines that make exactly this row, in the order of the rows: a
// range is opened and closed at once, which a stack does not mind, so nothing has to be remembered
// between events. A definition is written when the arguments of a call change.
//
// Names. A process is named before its first event. The other names stand in the store at the time
// of an event; each is written behind that event, so that it stands there again after an import.
// Names whose event does not come, or is not exported, are written at the end: what was said last
// counts, wherever it was said.
//
// The language has no escapes. Three things cannot be said in it: a text with both kinds of quotes,
// with a line feed or a NUL, or too long for a line; those are written as near as can be, and
// counted. So are payloads beyond Int64 and JSON.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "client/export_fmt.h"
#include "protocol/hash.h"
#include "protocol/utf8.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#define LINE_BYTES 65536          // the default limit of who reads the lines
#define TEXT_MAX (LINE_BYTES - 4) // of `M="…"`: no line can hold a longer text
#define CALL_BYTES 200            // a call without its text is shorter

enum command { MARKER, PUSH, POP, START_END, START, END, COMMANDS };

// Arguments of the calls; those with a text may have a payload behind it.
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

struct name {
    struct nvtxt_hash_node by_key;  // by what is named
    struct nvtxt_hash_node by_time; // of its event, while it waits for it
    struct name *next;
    enum nvtxt_name_kind kind;
    uint32_t category;
    uint64_t global_tid; // of what is named; else of its event
    int64_t at;
    bool waits;   // in the table by time
    bool written; // with this text
    bool used;    // by an event that was exported
    char *domain; // owned, as `text`
    char *text;
    size_t domain_len, text_len;
};

struct nvtxt_export {
    int defined[COMMANDS]; // 0: not yet; 1: without a payload, 2: with one
    struct nvtxt_hash keys, times;
    struct name *names; // owned
    size_t waiting;
    char *domain; // the display name in force; owned, NULL: none
    size_t domain_len;
    uint64_t last_tid; // whose names were looked for
    bool has_last;
};

// ---- Texts --------------------------------------------------------------------------------------

static struct nvtxt_slice domain_of(const struct name *name) {
    return (struct nvtxt_slice){name->domain, name->domain_len};
}

static struct nvtxt_slice text_of(const struct name *name) {
    return (struct nvtxt_slice){name->text, name->text_len};
}

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

// The same text with signs, and U+FFFD for what is no UTF-8, cut where a line ends.
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

// A text that leaves no room for a call in its line goes into a variable before it. True then.
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

// A decimal is a string; what is infinite is written as what reads as that.
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
    static const int64_t range_id = 1; // free again when the next range begins
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

static uint64_t key_hash(enum nvtxt_name_kind kind, uint32_t category, uint64_t global_tid,
                         struct nvtxt_slice domain) {
    uint64_t number = (uint64_t)kind << 60 ^ (uint64_t)category << 24;
    number ^= kind == NVTXT_NAME_CATEGORY ? 0 : global_tid;
    return nvtxt_hash_number(number) ^ nvtxt_hash_bytes(domain);
}

// What a name belongs to: a category to its domain, a domain to a process.
static uint64_t owner_of(enum nvtxt_name_kind kind, uint64_t global_tid) {
    return kind == NVTXT_NAME_THREAD     ? global_tid
           : kind == NVTXT_NAME_CATEGORY ? 0
                                         : global_tid >> 24 << 24;
}

static struct name *find_name(const struct nvtxt_export *state, enum nvtxt_name_kind kind,
                              uint32_t category, uint64_t global_tid, struct nvtxt_slice domain) {
    uint64_t owner = owner_of(kind, global_tid);
    struct nvtxt_hash_node *node =
        nvtxt_hash_find(&state->keys, key_hash(kind, category, owner, domain));
    for (; node; node = nvtxt_hash_next(node)) {
        struct name *name = NVTXT_HASH_ENTRY(node, struct name, by_key);
        if (name->kind == kind && name->category == category &&
            owner_of(kind, name->global_tid) == owner &&
            nvtxt_slice_equal(domain_of(name), domain)) {
            return name;
        }
    }
    return NULL;
}

static int set_text(char **text, size_t *len, struct nvtxt_slice value) {
    char *copy = malloc(value.len + 1);
    if (!copy) {
        return -ENOMEM;
    }
    if (value.len > 0) {
        memcpy(copy, value.data, value.len);
    }
    free(*text);
    *text = copy;
    *len = value.len;
    return 0;
}

static struct name *new_name(struct nvtxt_export *state, const struct store_read_name *told) {
    struct name *name = calloc(1, sizeof *name);
    uint64_t owner = owner_of(told->kind, told->global_tid);
    if (!name || set_text(&name->domain, &name->domain_len, told->domain) < 0 ||
        nvtxt_hash_add(&state->keys, &name->by_key,
                       key_hash(told->kind, told->category, owner, told->domain)) < 0) {
        free(name ? name->domain : NULL);
        free(name);
        return NULL;
    }
    name->kind = told->kind;
    name->category = told->category;
    name->global_tid = told->global_tid;
    name->next = state->names;
    state->names = name;
    return name;
}

// A name of the segment that begins. One that was said in an older segment already needs no line.
static int on_name(void *context, const struct store_read_name *told) {
    struct nvtxt_export *state = context;
    struct name *name =
        find_name(state, told->kind, told->category, told->global_tid, told->domain);
    if (!name) {
        name = new_name(state, told);
    }
    if (!name) {
        return -ENOMEM;
    }
    if (name->text && nvtxt_slice_equal(text_of(name), told->text)) {
        return 0;
    }
    if (set_text(&name->text, &name->text_len, told->text) < 0) {
        return -ENOMEM;
    }
    if (name->waits) {
        nvtxt_hash_remove(&state->times, &name->by_time);
        state->waiting--;
    }
    name->written = false;
    name->global_tid = told->global_tid;
    name->at = told->at;
    name->waits = told->kind != NVTXT_NAME_PROCESS;
    if (name->waits &&
        nvtxt_hash_add(&state->times, &name->by_time, nvtxt_hash_number((uint64_t)told->at)) < 0) {
        name->waits = false;
        return -ENOMEM;
    }
    state->waiting += name->waits;
    return 0;
}

static int set_domain(struct export_writer *writer, struct nvtxt_slice domain) {
    struct nvtxt_export *state = writer->state;
    if (nvtxt_slice_equal((struct nvtxt_slice){state->domain, state->domain_len}, domain)) {
        return 0;
    }
    bool variable = put_variable(writer, domain);
    EXPORT_LITERAL(&writer->out, "SetFileDisplayName");
    put_text_or_variable(writer, domain, variable);
    EXPORT_LITERAL(&writer->out, "\n");
    return set_text(&state->domain, &state->domain_len, domain);
}

static int write_name(struct export_writer *writer, struct name *name) {
    struct export_out *out = &writer->out;
    struct nvtxt_slice text = text_of(name);
    name->written = true;
    if (name->kind == NVTXT_NAME_DOMAIN || name->kind == NVTXT_NAME_CATEGORY) {
        int result = set_domain(writer, domain_of(name));
        if (result < 0 || name->kind == NVTXT_NAME_DOMAIN) {
            return result;
        }
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

// The names that stand at this event. A thread's bears its own thread, whatever the event's is.
static int write_waiting(struct export_writer *writer, const struct store_read_event *event) {
    struct nvtxt_export *state = writer->state;
    struct nvtxt_hash_node *node =
        nvtxt_hash_find(&state->times, nvtxt_hash_number((uint64_t)event->start));
    while (node) {
        struct name *name = NVTXT_HASH_ENTRY(node, struct name, by_time);
        node = nvtxt_hash_next(node);
        if (name->at != event->start ||
            (name->kind != NVTXT_NAME_THREAD && name->global_tid != event->global_tid)) {
            continue;
        }
        nvtxt_hash_remove(&state->times, &name->by_time);
        name->waits = false;
        state->waiting--;
        if (writer->all || name->used) {
            int result = write_name(writer, name);
            if (result < 0) {
                return result;
            }
        }
    }
    return 0;
}

static struct name *use_name(struct nvtxt_export *state, enum nvtxt_name_kind kind,
                             uint32_t category, uint64_t global_tid, struct nvtxt_slice domain) {
    struct name *name = find_name(state, kind, category, global_tid, domain);
    if (name) {
        name->used = true;
    }
    return name;
}

// What the event bears is used; its process is named now.
static int use_names(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_export *state = writer->state;
    const struct store_read_event *event = row->event;
    static const struct nvtxt_slice none = {NULL, 0};
    if (row->category.data) {
        use_name(state, NVTXT_NAME_CATEGORY, event->category, event->global_tid, row->domain);
    }
    if (state->has_last && state->last_tid == event->global_tid) {
        return 0;
    }
    state->has_last = true;
    state->last_tid = event->global_tid;
    use_name(state, NVTXT_NAME_THREAD, 0, event->global_tid, none);
    struct name *process = use_name(state, NVTXT_NAME_PROCESS, 0, event->global_tid, none);
    return process && !process->written ? write_name(writer, process) : 0;
}

// ---- The format ---------------------------------------------------------------------------------

static int begin_nvtxt(struct export_writer *writer) {
    writer->state = calloc(1, sizeof(struct nvtxt_export));
    EXPORT_LITERAL(&writer->out, "# NVTXT of nvtxt-export " PACKAGE_VERSION
                                 "; times are nanoseconds since the Unix epoch\n");
    return writer->state ? 0 : -ENOMEM;
}

static int segment_nvtxt(struct export_writer *writer, struct store_reader *reader) {
    struct nvtxt_export *state = writer->state;
    state->has_last = false;
    return store_read_names(reader, on_name, state);
}

static int row_nvtxt(struct export_writer *writer, const struct export_row *row) {
    struct nvtxt_export *state = writer->state;
    int result = use_names(writer, row);
    result = result ? result : set_domain(writer, row->domain);
    if (result == 0) {
        put_event(writer, row->event);
        result = state->waiting > 0 ? write_waiting(writer, row->event) : 0;
    }
    return result;
}

static int end_nvtxt(struct export_writer *writer) {
    const struct nvtxt_export *state = writer->state;
    int result = 0;
    for (struct name *name = state->names; name && result == 0; name = name->next) {
        bool wanted = writer->all || (name->used && name->kind != NVTXT_NAME_DOMAIN);
        if (wanted && !name->written) {
            result = write_name(writer, name);
        }
    }
    return result;
}

static void free_nvtxt(struct export_writer *writer) {
    struct nvtxt_export *state = writer->state;
    while (state && state->names) {
        struct name *next = state->names->next;
        free(state->names->domain);
        free(state->names->text);
        free(state->names);
        state->names = next;
    }
    if (state) {
        nvtxt_hash_deinit(&state->keys);
        nvtxt_hash_deinit(&state->times);
        free(state->domain);
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
