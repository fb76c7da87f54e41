// SPDX-License-Identifier: Apache-2.0
//
// What changes seldom is saved in parts: the first part is whole, each later one has what changed
// since. So a batch costs what its lines changed, whatever the source keeps. When the changes have
// become as long as the whole, the caller folds: it saves a whole one again in place of all. So a
// part that was saved is written once more at most, as a share of the next whole one.
//
// A part is an object; each of its members may be missing:
//
//   variables     [[name, integer or string], …] in the order of their first assignment
//   definitions   [[command, argument, …], …]; commands that are not here have the default
//   display       string, "" for none
//   waiting       [[kind, category, pid, tid, domain, text], …]; a category's tid is 1 when its
//                 pid is that of $ProcessId
//   waited        [1]: the waiting names of the parts before were handed on

#include "protocol/base/origin.h"
#include "protocol/interp/state.h"
#include "protocol/interp/state_json.h"

#define PART_BYTES 64            // what a part costs beside its text: a row, and its parsing
#define DEFINITION_BYTES 128     // of one, about
#define LEAST_FOLDED_BYTES 16384 // fewer are not worth it

// ---- Saving ------------------------------------------------------------------------------------

static void save_variables(struct nvtxt_buf *out, const struct nvtxt_symtab *symtab, bool all) {
    const struct nvtxt_variable *first = all ? symtab->first : symtab->first_changed;
    nvtxt_buf_add_string(out, ",\"variables\":[");
    for (const struct nvtxt_variable *variable = first; variable;
         variable = all ? variable->next : variable->next_changed) {
        nvtxt_buf_add_string(out, variable == first ? "[" : ",[");
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
    return nvtxt_cmddef_equal(definition, &standard);
}

// Those that are not the default, or those that were made since.
static void save_definitions(struct nvtxt_buf *out, const struct nvtxt_interp *interp, bool all) {
    const char *separator = "[";
    nvtxt_buf_add_string(out, ",\"definitions\":[");
    for (int command = 0; command < NVTXT_CMD_COUNT; command++) {
        const struct nvtxt_cmddef *definition = &interp->definitions[command];
        if (all ? is_default(definition, (enum nvtxt_command)command)
                : !(interp->saved.definitions & UINT32_C(1) << command)) {
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

static void save_waiting(struct nvtxt_buf *out, const struct nvtxt_waiting *waiting, bool all) {
    const struct nvtxt_waiting_name *first = all ? waiting->first : waiting->first_changed;
    nvtxt_buf_add_string(out, ",\"waiting\":[");
    for (const struct nvtxt_waiting_name *name = first; name;
         name = all ? name->next : name->next_changed) {
        begin_ints(out, name == first ? "" : ",", 4, (int64_t)name->kind, (int64_t)name->category,
                   (int64_t)name->pid, name->own_pid ? 1 : (int64_t)name->tid);
        add_text(out, nvtxt_refstr_slice(name->domain));
        add_text(out, nvtxt_refstr_slice(name->text));
        nvtxt_buf_add_string(out, "]");
    }
    nvtxt_buf_add_string(out, "]");
}

static void save_display(struct nvtxt_buf *out, const struct nvtxt_interp *interp) {
    nvtxt_buf_add_string(out, ",\"display\":");
    nvtxt_buf_add_json_string(out, nvtxt_refstr_slice(interp->display));
}

void nvtxt_state_put_parts(const struct nvtxt_interp *interp, struct nvtxt_buf *out) {
    save_variables(out, &interp->symtab, true);
    save_definitions(out, interp, true);
    save_display(out, interp);
    save_waiting(out, &interp->waiting, true);
}

static void put_changes(const struct nvtxt_interp *interp, struct nvtxt_buf *out) {
    if (interp->symtab.first_changed) {
        save_variables(out, &interp->symtab, false);
    }
    if (interp->saved.definitions) {
        save_definitions(out, interp, false);
    }
    if (interp->saved.display) {
        save_display(out, interp);
    }
    if (interp->saved.waited) {
        add_ints(out, ",\"waited\":", 1, (int64_t)1);
    }
    if (interp->waiting.first_changed) {
        save_waiting(out, &interp->waiting, false);
    }
}

size_t nvtxt_state_unsaved(const struct nvtxt_interp *interp) {
    const struct nvtxt_state_saved *saved = &interp->saved;
    size_t definitions = (size_t)__builtin_popcount(saved->definitions) * DEFINITION_BYTES;
    size_t display = saved->display ? nvtxt_refstr_slice(interp->display).len : 0;
    return interp->symtab.changed_bytes + interp->waiting.changed_bytes + definitions + display;
}

bool nvtxt_state_is_begun(const struct nvtxt_interp *interp) {
    return interp->saved.begun;
}

bool nvtxt_state_is_long(const struct nvtxt_interp *interp) {
    const struct nvtxt_state_saved *saved = &interp->saved;
    return saved->change_bytes >= LEAST_FOLDED_BYTES && saved->change_bytes >= saved->whole_bytes;
}

void nvtxt_state_begin_anew(struct nvtxt_interp *interp) {
    struct nvtxt_ranges *ranges = &interp->ranges;
    for (struct nvtxt_range *range = ranges->oldest; range; range = range->newer) {
        range->announced = false;
    }
    ranges->unannounced = ranges->oldest;
    interp->saved.begun = false;
}

// Nothing counts as changed any more.
static void settle(struct nvtxt_interp *interp) {
    nvtxt_symtab_settle(&interp->symtab);
    nvtxt_waiting_settle(&interp->waiting);
    interp->saved.definitions = 0;
    interp->saved.display = interp->saved.waited = false;
}

static void count_part(struct nvtxt_state_saved *saved, size_t len) {
    if (saved->parts++ == 0) {
        saved->whole_bytes = len;
    } else {
        saved->change_bytes += len + PART_BYTES;
    }
}

int nvtxt_state_save_part(struct nvtxt_interp *interp, bool whole, struct nvtxt_buf *out,
                          uint64_t *part) {
    struct nvtxt_state_saved *saved = &interp->saved;
    size_t before = out->len;
    if (whole) {
        nvtxt_state_put_parts(interp, out);
    } else {
        put_changes(interp, out);
    }
    if (nvtxt_buf_failed(out)) {
        return nvtxt_origin(-ENOMEM);
    }
    if (out->len == before) {
        return 0;
    }
    out->data[before] = '{'; // in place of the first comma
    nvtxt_buf_add_string(out, "}");
    if (nvtxt_buf_failed(out)) {
        return nvtxt_origin(-ENOMEM);
    }
    if (whole) {
        *saved = (struct nvtxt_state_saved){.begun = true};
    }
    settle(interp);
    count_part(saved, out->len - before);
    *part = saved->parts;
    return 0;
}

// ---- Restoring ---------------------------------------------------------------------------------

static int restore_variable(struct nvtxt_interp *interp, const json_t *pair) {
    struct state_reader in = {.array = pair, .bad = !json_is_array(pair)};
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
    struct state_reader in = {.array = list, .bad = !json_is_array(list)};
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
    nvtxt_refstr_unref(interp->display);
    interp->display = text.len ? nvtxt_refstr_new(text) : NULL;
    return interp->display || text.len == 0 ? 0 : nvtxt_origin(-ENOMEM);
}

static int restore_waiting(struct nvtxt_interp *interp, const json_t *list) {
    struct state_reader in = {.array = list, .bad = !json_is_array(list)};
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
        return nvtxt_origin(-ENOMEM);
    }
    int r = nvtxt_waiting_set(&interp->waiting, &interp->config.limits, &name, domain);
    nvtxt_refstr_unref(domain);
    return r > 0 ? NVTXT_RESTORE_BAD : r;
}

int nvtxt_state_restore_each(struct nvtxt_interp *interp, const json_t *state, const char *key,
                             int (*restore)(struct nvtxt_interp *interp, const json_t *element)) {
    const json_t *array = json_object_get(state, key);
    int r = json_is_array(array) ? 0 : NVTXT_RESTORE_BAD;
    for (size_t i = 0; r == 0 && i < json_array_size(array); i++) {
        r = restore(interp, json_array_get(array, i));
    }
    return r;
}

int nvtxt_state_take_parts(struct nvtxt_interp *interp, const json_t *object, bool all) {
    static const struct {
        const char *key;
        int (*restore)(struct nvtxt_interp *interp, const json_t *element);
    } members[] = {{"variables", restore_variable},
                   {"definitions", restore_definition},
                   {"waiting", restore_waiting}};
    int r = 0;
    if (json_object_get(object, "waited")) {
        nvtxt_waiting_deinit(&interp->waiting);
    }
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && r == 0; i++) {
        if (all || json_object_get(object, members[i].key)) {
            r = nvtxt_state_restore_each(interp, object, members[i].key, members[i].restore);
        }
    }
    if (r == 0 && (all || json_object_get(object, "display"))) {
        r = restore_display(interp, object);
    }
    return r;
}

static int take_text(struct nvtxt_interp *interp, struct nvtxt_slice text) {
    json_t *root;
    int r = nvtxt_json_read(text, JSON_REJECT_DUPLICATES, &root, NULL);
    if (r != 0) {
        return r < 0 ? r : NVTXT_RESTORE_BAD;
    }
    r = json_is_object(root) ? nvtxt_state_take_parts(interp, root, false) : NVTXT_RESTORE_BAD;
    json_decref(root);
    return r;
}

int nvtxt_state_take_texts(struct nvtxt_interp *interp, const struct nvtxt_slice *parts,
                           size_t count) {
    int r = 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        r = take_text(interp, parts[i]);
        count_part(&interp->saved, parts[i].len);
    }
    interp->saved.begun = true;
    settle(interp);
    return r;
}
