// SPDX-License-Identifier: Apache-2.0
//
// A state is written by hand, piece by piece, because every commit of every session writes one. It
// is read with jansson, once a reconnect. The members of the object, all required:
//
//   version       1
//   config        [default pid, opened_ns, origin_ns]
//   mapping       [mode, ns_a, ns_b, nvtxt_a, nvtxt_b, freq]
//   escapes       [1], or left out without escapes
//   levels        [1], or left out without levels
//   nvtx          [1], or left out without the extension nvtx
//   expiry        [seconds], or left out when the session did not say
//   variables     [[name, integer or string], …] in the order of their first assignment
//   definitions   [[command, argument, …], …] of commands whose definition is not the default
//   display       string, "" for none
//   waiting       [[kind, category, pid, tid, domain, text], …]; a category's tid is 1 when its
//                 pid is that of $ProcessId
//   counters      [lines, events, warnings, errors, has_time, first_ns, last_ns]
//   diagnostics   [handed on, a time base had its warning, a clock had its warning]
//   latest        [has_latest, latest, raw_smallest, raw_largest]
//   event         [has_event, start, pid, tid]
//   last_seq      number of the newest range
//   ranges        [[seq, announced, type, pid, tid, depth, range_id, start, category, color,
//                  payload kind, payload bits, line, column, text, domain, excerpt], …]; with the
//                 extension nvtx the JSON is after the excerpt
//
// Doubles are kept as the integer of their bits, so that every value survives.
#include "protocol/interp/state.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "protocol/base/json.h"
#include "protocol/interp/interp_state.h"

#define STATE_VERSION 1

// ---- Saving ------------------------------------------------------------------------------------

static void begin_ints_from(struct nvtxt_buf *out, const char *key, size_t count, va_list values) {
    nvtxt_buf_add_string(out, key);
    for (size_t i = 0; i < count; i++) {
        nvtxt_buf_add_string(out, i ? "," : "[");
        nvtxt_buf_add_int(out, va_arg(values, int64_t));
    }
}

// An array that begins with `count` integers, all of them int64_t, and is not closed yet.
static void begin_ints(struct nvtxt_buf *out, const char *key, size_t count, ...) {
    va_list values;
    va_start(values, count);
    begin_ints_from(out, key, count, values);
    va_end(values);
}

// An array of `count` integers, all of them int64_t.
static void add_ints(struct nvtxt_buf *out, const char *key, size_t count, ...) {
    va_list values;
    va_start(values, count);
    begin_ints_from(out, key, count, values);
    va_end(values);
    nvtxt_buf_add_string(out, "]");
}

static void add_text(struct nvtxt_buf *out, struct nvtxt_slice text) {
    nvtxt_buf_add_string(out, ",");
    nvtxt_buf_add_json_string(out, text);
}

static void add_int(struct nvtxt_buf *out, int64_t value) {
    nvtxt_buf_add_string(out, ",");
    nvtxt_buf_add_int(out, value);
}

static void save_variables(struct nvtxt_buf *out, const struct nvtxt_symtab *symtab) {
    nvtxt_buf_add_string(out, ",\"variables\":[");
    const struct nvtxt_variable *variable = symtab->first;
    for (; variable; variable = variable->next) {
        nvtxt_buf_add_string(out, variable == symtab->first ? "[" : ",[");
        nvtxt_buf_add_json_string(out, (struct nvtxt_slice){variable->name, variable->name_len});
        if (variable->value.type == NVTXT_INTEGER) {
            add_int(out, variable->value.integer);
        } else {
            add_text(out, variable->value.string);
        }
        nvtxt_buf_add_string(out, "]");
    }
    nvtxt_buf_add_string(out, "]");
}

static bool is_default(const struct nvtxt_cmddef *definition, enum nvtxt_command command) {
    struct nvtxt_cmddef standard;
    nvtxt_cmddef_default(&standard, command);
    return definition->count == standard.count &&
           memcmp(definition->args, standard.args, standard.count) == 0;
}

static void save_definitions(struct nvtxt_buf *out, const struct nvtxt_cmddef *definitions) {
    const char *separator = "[";
    nvtxt_buf_add_string(out, ",\"definitions\":[");
    for (int command = 0; command < NVTXT_CMD_COUNT; command++) {
        const struct nvtxt_cmddef *definition = &definitions[command];
        if (is_default(definition, (enum nvtxt_command)command)) {
            continue;
        }
        nvtxt_buf_add_string(out, separator);
        nvtxt_buf_add_json_string(out, nvtxt_commands[command].name);
        for (unsigned i = 0; i < definition->count; i++) {
            add_text(out, nvtxt_args[definition->args[i]].name);
        }
        nvtxt_buf_add_string(out, "]");
        separator = ",[";
    }
    nvtxt_buf_add_string(out, "]");
}

static void save_waiting(struct nvtxt_buf *out, const struct nvtxt_interp *interp) {
    nvtxt_buf_add_string(out, ",\"waiting\":[");
    const struct nvtxt_waiting_name *name = interp->waiting.first;
    for (; name; name = name->next) {
        begin_ints(out, name == interp->waiting.first ? "" : ",", 4, (int64_t)name->kind,
                   (int64_t)name->category, (int64_t)name->pid,
                   name->own_pid ? 1 : (int64_t)name->tid);
        add_text(out, nvtxt_refstr_slice(name->domain));
        add_text(out, nvtxt_refstr_slice(name->text));
        nvtxt_buf_add_string(out, "]");
    }
    nvtxt_buf_add_string(out, "]");
}

static bool is_real(enum nvtxt_payload_kind kind) {
    return kind == NVTXT_PAYLOAD_DOUBLE || kind == NVTXT_PAYLOAD_FLOAT;
}

static int64_t payload_bits(const struct nvtxt_payload *payload) {
    int64_t bits = 0;
    if (is_real(payload->kind)) {
        memcpy(&bits, &payload->real, sizeof(bits));
    } else if (payload->kind != NVTXT_PAYLOAD_NONE) {
        bits = payload->int64;
    }
    return bits;
}

static void save_ranges(struct nvtxt_buf *out, const struct nvtxt_ranges *ranges, bool nvtx) {
    nvtxt_buf_add_string(out, ",\"ranges\":[");
    const struct nvtxt_range *range = ranges->oldest;
    for (; range; range = range->newer) {
        const struct nvtxt_open_range *view = &range->view;
        begin_ints(out, range == ranges->oldest ? "" : ",", 14, (int64_t)view->seq,
                   (int64_t)range->announced, (int64_t)view->type, (int64_t)view->pid,
                   (int64_t)view->tid, (int64_t)view->depth, view->range_id, view->start,
                   (int64_t)view->category, (int64_t)view->color, (int64_t)view->payload.kind,
                   payload_bits(&view->payload), (int64_t)view->line, (int64_t)view->column);
        add_text(out, view->text);
        add_text(out, view->domain);
        add_text(out, view->excerpt);
        if (nvtx) {
            add_text(out, view->json);
        }
        nvtxt_buf_add_string(out, "]");
    }
    nvtxt_buf_add_string(out, "]");
}

int nvtxt_state_save(const struct nvtxt_interp *interp, bool with_open_ranges,
                     struct nvtxt_buf *out) {
    const struct nvtxt_source_config *config = &interp->config;
    const struct nvtxt_mapping *mapping = &config->mapping;
    const struct nvtxt_counters *counters = &interp->counters;
    nvtxt_buf_add_string(out, "{\"version\":");
    nvtxt_buf_add_int(out, STATE_VERSION);
    add_ints(out, ",\"config\":", 3, (int64_t)config->default_pid, config->opened_ns,
             config->origin_ns);
    add_ints(out, ",\"mapping\":", 6, (int64_t)mapping->mode, mapping->ns_a, mapping->ns_b,
             mapping->nvtxt_a, mapping->nvtxt_b, mapping->freq);
    if (config->escapes) {
        add_ints(out, ",\"escapes\":", 1, (int64_t)1);
    }
    if (config->levels) {
        add_ints(out, ",\"levels\":", 1, (int64_t)1);
    }
    if (config->nvtx) {
        add_ints(out, ",\"nvtx\":", 1, (int64_t)1);
    }
    if (config->expiry_s) {
        add_ints(out, ",\"expiry\":", 1, config->expiry_s);
    }
    save_variables(out, &interp->symtab);
    save_definitions(out, interp->definitions);
    nvtxt_buf_add_string(out, ",\"display\":");
    nvtxt_buf_add_json_string(out, nvtxt_refstr_slice(interp->display));
    save_waiting(out, interp);
    add_ints(out, ",\"counters\":", 7, (int64_t)counters->lines, (int64_t)counters->events,
             (int64_t)counters->warnings, (int64_t)counters->errors, (int64_t)counters->has_time,
             counters->first_ns, counters->last_ns);
    add_ints(out, ",\"diagnostics\":", 3, (int64_t)interp->diagnostics,
             (int64_t)interp->warned_timebase, (int64_t)interp->warned_clock);
    add_ints(out, ",\"latest\":", 4, (int64_t)interp->has_latest, interp->latest,
             interp->raw_smallest, interp->raw_largest);
    add_ints(out, ",\"event\":", 4, (int64_t)interp->has_event, interp->event_start,
             (int64_t)interp->event_pid, (int64_t)interp->event_tid);
    nvtxt_buf_add_string(out, ",\"last_seq\":");
    nvtxt_buf_add_uint(out, interp->ranges.last_seq);
    if (with_open_ranges) {
        save_ranges(out, &interp->ranges, config->nvtx);
    } else {
        nvtxt_buf_add_string(out, ",\"ranges\":[]");
    }
    nvtxt_buf_add_string(out, "}");
    return nvtxt_buf_failed(out) ? -ENOMEM : 0;
}

// ---- Restoring ---------------------------------------------------------------------------------

// Reads the elements of an array one after another. The first element that is wrong makes the
// reader bad; everything that it reads after that is zero or empty.
struct reader {
    const json_t *array;
    size_t at;
    bool bad;
};

static const json_t *next_element(struct reader *reader) {
    const json_t *element = json_array_get(reader->array, reader->at++);
    if (!element) {
        reader->bad = true;
    }
    return element;
}

static int64_t read_int(struct reader *reader, int64_t min, int64_t max) {
    const json_t *element = next_element(reader);
    int64_t value = json_integer_value(element);
    if (!json_is_integer(element) || value < min || value > max) {
        reader->bad = true;
    }
    return reader->bad ? min : value;
}

static int64_t read_any(struct reader *reader) {
    return read_int(reader, INT64_MIN, INT64_MAX);
}

static uint64_t read_count(struct reader *reader) {
    return (uint64_t)read_int(reader, 0, INT64_MAX);
}

static bool read_flag(struct reader *reader) {
    return read_int(reader, 0, 1) != 0;
}

static uint32_t read_id(struct reader *reader) {
    return (uint32_t)read_int(reader, 0, NVTXT_ID_MAX);
}

static uint32_t read_u32(struct reader *reader) {
    return (uint32_t)read_int(reader, 0, UINT32_MAX);
}

static struct nvtxt_slice read_text(struct reader *reader) {
    const json_t *element = next_element(reader);
    if (!json_is_string(element)) {
        reader->bad = true;
        return (struct nvtxt_slice){NULL, 0};
    }
    return (struct nvtxt_slice){json_string_value(element), json_string_length(element)};
}

static struct reader member(const json_t *object, const char *key) {
    const json_t *array = json_object_get(object, key);
    return (struct reader){.array = array, .bad = !json_is_array(array)};
}

static int finished(const struct reader *reader) {
    return reader->bad || reader->at != json_array_size(reader->array) ? NVTXT_RESTORE_BAD : 0;
}

// [1], or left out.
static int restore_flag(const json_t *state, const char *key, bool *flag) {
    struct reader in = member(state, key);
    *flag = in.array && read_flag(&in);
    return in.array ? finished(&in) : 0;
}

static int restore_config(struct nvtxt_source_config *config, const json_t *state) {
    struct reader in = member(state, "config");
    config->default_pid = read_id(&in);
    config->opened_ns = read_any(&in);
    config->origin_ns = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "mapping");
    struct nvtxt_mapping *mapping = &config->mapping;
    mapping->mode = (enum nvtxt_mapping_mode)read_int(&in, NVTXT_MAPPING_NONE, NVTXT_MAPPING_LIN);
    mapping->ns_a = read_any(&in);
    mapping->ns_b = read_any(&in);
    mapping->nvtxt_a = read_any(&in);
    mapping->nvtxt_b = read_any(&in);
    mapping->freq = read_any(&in);
    if (finished(&in) != 0 || nvtxt_mapping_fault(mapping)) {
        return NVTXT_RESTORE_BAD;
    }
    int r = restore_flag(state, "escapes", &config->escapes);
    r = r ? r : restore_flag(state, "levels", &config->levels);
    r = r ? r : restore_flag(state, "nvtx", &config->nvtx);
    in = member(state, "expiry");
    config->expiry_s = in.array ? read_int(&in, 1, INT64_MAX) : 0;
    return r || !in.array ? r : finished(&in);
}

static int restore_variable(struct nvtxt_interp *interp, const json_t *pair) {
    struct reader in = {.array = pair, .bad = !json_is_array(pair)};
    struct nvtxt_slice name = read_text(&in);
    struct nvtxt_value value = {.type = NVTXT_INTEGER};
    if (json_is_string(json_array_get(pair, 1))) {
        value.type = NVTXT_STRING;
        value.string = read_text(&in);
    } else {
        value.integer = read_any(&in);
    }
    if (finished(&in) != 0 || !nvtxt_is_word(name)) {
        return NVTXT_RESTORE_BAD;
    }
    int r = nvtxt_symtab_set(&interp->symtab, &interp->config.limits, name, &value);
    return r > 0 ? NVTXT_RESTORE_BAD : r;
}

static int restore_definition(struct nvtxt_interp *interp, const json_t *list) {
    struct reader in = {.array = list, .bad = !json_is_array(list)};
    enum nvtxt_command command = nvtxt_command_find(read_text(&in));
    unsigned extensions = nvtxt_source_extensions(&interp->config);
    if (in.bad || !nvtxt_command_known(command, extensions)) {
        return NVTXT_RESTORE_BAD;
    }
    uint16_t accepted = nvtxt_command_accepts(&nvtxt_commands[command], extensions);
    struct nvtxt_cmddef definition = {0};
    while (in.at < json_array_size(list)) {
        enum nvtxt_arg arg = nvtxt_arg_find(read_text(&in));
        if (in.bad || arg == NVTXT_ARG_COUNT || !(accepted & nvtxt_arg_bit(arg)) ||
            (definition.listed & nvtxt_arg_bit(arg))) {
            return NVTXT_RESTORE_BAD;
        }
        nvtxt_cmddef_add(&definition, arg);
    }
    interp->definitions[command] = definition;
    return 0;
}

static int restore_display(struct nvtxt_interp *interp, const json_t *state) {
    const json_t *display = json_object_get(state, "display");
    if (!json_is_string(display)) {
        return NVTXT_RESTORE_BAD;
    }
    struct nvtxt_slice text = {json_string_value(display), json_string_length(display)};
    if (text.len == 0) {
        return 0;
    }
    interp->display = nvtxt_refstr_new(text);
    return interp->display ? 0 : -ENOMEM;
}

static int restore_waiting(struct nvtxt_interp *interp, const json_t *list) {
    struct reader in = {.array = list, .bad = !json_is_array(list)};
    struct nvtxt_name name = {
        .kind = (enum nvtxt_name_kind)read_int(&in, NVTXT_NAME_CATEGORY, NVTXT_NAME_DOMAIN)};
    name.category = read_u32(&in);
    name.pid = read_id(&in);
    name.tid = read_id(&in);
    name.own_pid = name.kind == NVTXT_NAME_CATEGORY && name.tid == 1;
    name.tid = name.own_pid ? 0 : name.tid;
    name.domain = read_text(&in);
    name.text = read_text(&in);
    if (finished(&in) != 0 || name.kind == NVTXT_NAME_PROCESS) {
        return NVTXT_RESTORE_BAD;
    }
    struct nvtxt_refstr *domain = name.domain.len ? nvtxt_refstr_new(name.domain) : NULL;
    if (name.domain.len && !domain) {
        return -ENOMEM;
    }
    int r = nvtxt_waiting_set(&interp->waiting, &interp->config.limits, &name, domain);
    nvtxt_refstr_unref(domain);
    return r > 0 ? NVTXT_RESTORE_BAD : r;
}

static int restore_counters(struct nvtxt_interp *interp, const json_t *state) {
    struct reader in = member(state, "counters");
    struct nvtxt_counters *counters = &interp->counters;
    counters->lines = read_count(&in);
    counters->events = read_count(&in);
    counters->warnings = read_count(&in);
    counters->errors = read_count(&in);
    counters->has_time = read_flag(&in);
    counters->first_ns = read_any(&in);
    counters->last_ns = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "diagnostics");
    interp->diagnostics = read_count(&in);
    interp->warned_timebase = read_flag(&in);
    interp->warned_clock = read_flag(&in);
    return finished(&in);
}

static int restore_times(struct nvtxt_interp *interp, const json_t *state) {
    struct reader in = member(state, "latest");
    interp->has_latest = read_flag(&in);
    interp->latest = read_any(&in);
    interp->raw_smallest = read_any(&in);
    interp->raw_largest = read_any(&in);
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    in = member(state, "event");
    interp->has_event = read_flag(&in);
    interp->event_start = read_any(&in);
    interp->event_pid = read_id(&in);
    interp->event_tid = read_id(&in);
    return finished(&in);
}

static struct nvtxt_payload payload_of(enum nvtxt_payload_kind kind, int64_t bits) {
    struct nvtxt_payload payload = {.kind = kind};
    if (is_real(kind)) {
        memcpy(&payload.real, &bits, sizeof(bits));
    } else if (kind != NVTXT_PAYLOAD_NONE) {
        payload.int64 = bits;
    }
    return payload;
}

static int restore_range(struct nvtxt_interp *interp, const json_t *list) {
    struct reader in = {.array = list, .bad = !json_is_array(list)};
    struct nvtxt_open_range range = {.seq = read_count(&in)};
    bool announced = read_flag(&in);
    range.type = (enum nvtxt_event_type)read_int(&in, 0, INT32_MAX);
    range.pid = read_id(&in);
    range.tid = read_id(&in);
    range.depth = read_u32(&in);
    range.range_id = read_any(&in);
    range.start = read_any(&in);
    range.category = read_u32(&in);
    range.color = read_u32(&in);
    bool nvtx = interp->config.nvtx;
    int64_t largest_kind = nvtx ? NVTXT_PAYLOAD_FLOAT : NVTXT_PAYLOAD_DOUBLE;
    enum nvtxt_payload_kind kind =
        (enum nvtxt_payload_kind)read_int(&in, NVTXT_PAYLOAD_NONE, largest_kind);
    range.payload = payload_of(kind, read_any(&in));
    range.line = read_count(&in);
    range.column = read_u32(&in);
    range.text = read_text(&in);
    range.domain = read_text(&in);
    range.excerpt = read_text(&in);
    if (nvtx) {
        range.json = read_text(&in);
    }
    if (finished(&in) != 0) {
        return NVTXT_RESTORE_BAD;
    }
    struct nvtxt_ranges *ranges = &interp->ranges;
    struct nvtxt_range *unannounced = ranges->unannounced;
    int r = nvtxt_interp_restore_open(interp, &range);
    if (r != 0) {
        return r;
    }
    ranges->newest->announced = announced;
    ranges->unannounced = unannounced ? unannounced : announced ? NULL : ranges->newest;
    return announced && unannounced ? NVTXT_RESTORE_BAD : 0; // announced ones are the older ones
}

// Restores each element of an array member.
static int restore_each(struct nvtxt_interp *interp, const json_t *state, const char *key,
                        int (*restore)(struct nvtxt_interp *interp, const json_t *element)) {
    const json_t *array = json_object_get(state, key);
    int r = json_is_array(array) ? 0 : NVTXT_RESTORE_BAD;
    for (size_t i = 0; r == 0 && i < json_array_size(array); i++) {
        r = restore(interp, json_array_get(array, i));
    }
    return r;
}

static int restore_all(struct nvtxt_interp *interp, const json_t *state) {
    const json_t *last_seq = json_object_get(state, "last_seq");
    if (!json_is_integer(last_seq) || json_integer_value(last_seq) < 0) {
        return NVTXT_RESTORE_BAD;
    }
    interp->ranges.last_seq = (uint64_t)json_integer_value(last_seq);
    int r = restore_each(interp, state, "variables", restore_variable);
    r = r ? r : restore_each(interp, state, "definitions", restore_definition);
    r = r ? r : restore_display(interp, state);
    r = r ? r : restore_each(interp, state, "waiting", restore_waiting);
    r = r ? r : restore_counters(interp, state);
    r = r ? r : restore_times(interp, state);
    r = r ? r : restore_each(interp, state, "ranges", restore_range);
    return r;
}

int nvtxt_state_restore(struct nvtxt_interp **interp, const struct nvtxt_source_config *config,
                        struct nvtxt_slice state) {
    json_t *root;
    int r = nvtxt_json_read(state, JSON_REJECT_DUPLICATES, &root, NULL);
    if (r != 0) {
        return r < 0 ? r : NVTXT_RESTORE_BAD;
    }
    struct nvtxt_source_config merged = *config;
    struct nvtxt_interp *restored = NULL;
    r = NVTXT_RESTORE_BAD;
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != STATE_VERSION) {
        goto done;
    }
    r = restore_config(&merged, root);
    if (r != 0) {
        goto done;
    }
    merged.limits = nvtxt_no_limits;
    restored = nvtxt_interp_new(&merged);
    r = restored ? restore_all(restored, root) : -ENOMEM;
    if (r == 0) {
        restored->config.limits = config->limits;
        *interp = restored;
        restored = NULL;
    }
done:
    nvtxt_interp_free(restored);
    json_decref(root);
    return r;
}
