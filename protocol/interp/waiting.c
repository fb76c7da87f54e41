// SPDX-License-Identifier: Apache-2.0
//
// A list keeps the names in their order; a hash table finds the name of a thing, so that a later
// name replaces it in its place.
#include "protocol/interp/waiting.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

static void name_free(struct nvtxt_waiting_name *name) {
    nvtxt_refstr_unref(name->domain);
    nvtxt_refstr_unref(name->text);
    free(name);
}

void nvtxt_waiting_deinit(struct nvtxt_waiting *waiting) {
    struct nvtxt_waiting_name *name = waiting->first, *next;
    for (; name; name = next) {
        next = name->next;
        name_free(name);
    }
    nvtxt_hash_deinit(&waiting->table);
    *waiting = (struct nvtxt_waiting){0};
}

// Whether the source may give the name now: the process may have become another user's.
static bool may_give(const struct nvtxt_guard *guard, enum nvtxt_name_kind kind, uint32_t pid,
                     struct nvtxt_waiting_dropped *dropped) {
    const char *why = kind != NVTXT_NAME_DOMAIN && guard->why_not_named
                          ? guard->why_not_named(guard->context, pid)
                          : NULL;
    if (why && dropped->count++ == 0) {
        dropped->pid = pid;
        dropped->why = why;
    }
    return !why;
}

int nvtxt_waiting_store(struct nvtxt_waiting *waiting, int64_t at, uint32_t pid, uint32_t tid,
                        const struct nvtxt_guard *guard, const struct nvtxt_sink *sink,
                        struct nvtxt_waiting_dropped *dropped) {
    for (const struct nvtxt_waiting_name *each = waiting->first; each; each = each->next) {
        struct nvtxt_name name = {
            .kind = each->kind,
            .text = nvtxt_refstr_slice(each->text),
            .domain = nvtxt_refstr_slice(each->domain),
            .category = each->category,
            .pid = each->kind == NVTXT_NAME_CATEGORY && !each->own_pid ? pid : each->pid,
            .tid = each->tid,
            .own_pid = each->own_pid,
            .at = at,
            .at_pid = pid,
            .at_tid = tid,
        };
        bool is_told = may_give(guard, name.kind, name.pid, dropped) && sink->on_name;
        int r = is_told ? sink->on_name(sink->context, &name) : 0;
        if (r < 0) {
            return r;
        }
    }
    nvtxt_waiting_deinit(waiting);
    return 0;
}

static bool is_same_thing(const struct nvtxt_waiting_name *waiting, const struct nvtxt_name *name) {
    if (waiting->kind != name->kind) {
        return false;
    }
    if (name->kind == NVTXT_NAME_THREAD) {
        return waiting->pid == name->pid && waiting->tid == name->tid;
    }
    if (waiting->own_pid != name->own_pid || (name->own_pid && waiting->pid != name->pid)) {
        return false;
    }
    return waiting->category == name->category &&
           nvtxt_slice_equal(nvtxt_refstr_slice(waiting->domain), name->domain);
}

static uint64_t hash_of_thing(const struct nvtxt_name *name) {
    uint64_t thing = name->kind == NVTXT_NAME_THREAD ? nvtxt_global_tid(name->pid, name->tid)
                     : name->own_pid                 ? (uint64_t)name->pid << 32 | name->category
                                                     : name->category;
    uint64_t number = thing * 4 + (unsigned)name->kind;
    return name->kind == NVTXT_NAME_THREAD ? nvtxt_hash_number(number)
                                           : nvtxt_hash_pair(number, name->domain);
}

static struct nvtxt_waiting_name *find_name(const struct nvtxt_waiting *waiting,
                                            const struct nvtxt_name *name) {
    struct nvtxt_waiting_name *found;
    NVTXT_HASH_FIND(found, node, &waiting->table, hash_of_thing(name), is_same_thing(found, name));
    return found;
}

// Adds a name without its text; NULL when memory is short.
static struct nvtxt_waiting_name *add_name(struct nvtxt_waiting *waiting,
                                           const struct nvtxt_name *name,
                                           struct nvtxt_refstr *domain) {
    struct nvtxt_waiting_name *added = calloc(1, sizeof(*added));
    if (!added) {
        return NULL;
    }
    if (nvtxt_hash_add(&waiting->table, &added->node, hash_of_thing(name)) < 0) {
        free(added);
        return NULL;
    }
    added->kind = name->kind;
    added->category = name->category;
    added->pid = name->pid;
    added->tid = name->tid;
    added->own_pid = name->own_pid;
    added->domain = nvtxt_refstr_ref(domain);
    NVTXT_APPEND(waiting->first, waiting->last, next, added);
    return added;
}

// It has a new text; the one before had `before` bytes.
static void mark(struct nvtxt_waiting *waiting, struct nvtxt_waiting_name *name, size_t before) {
    waiting->changed_bytes += name->text->len;
    if (name->changed) {
        waiting->changed_bytes -= before;
        return;
    }
    waiting->changed_bytes += nvtxt_refstr_slice(name->domain).len;
    name->changed = true;
    name->next_changed = NULL;
    NVTXT_APPEND(waiting->first_changed, waiting->last_changed, next_changed, name);
}

void nvtxt_waiting_settle(struct nvtxt_waiting *waiting) {
    struct nvtxt_waiting_name *name = waiting->first_changed;
    for (; name; name = name->next_changed) {
        name->changed = false;
    }
    waiting->first_changed = waiting->last_changed = NULL;
    waiting->changed_bytes = 0;
}

int nvtxt_waiting_set(struct nvtxt_waiting *waiting, const struct nvtxt_limits *limits,
                      const struct nvtxt_name *name, struct nvtxt_refstr *domain) {
    struct nvtxt_waiting_name *found = find_name(waiting, name);
    if (!found && waiting->table.count >= limits->waiting_names) {
        return NVTXT_WAITING_TOO_MANY;
    }
    size_t bytes = waiting->bytes + name->text.len;
    bytes = found ? bytes - found->text->len : bytes + name->domain.len;
    if (bytes > limits->variable_bytes) {
        return NVTXT_WAITING_TOO_LARGE;
    }
    struct nvtxt_refstr *text = nvtxt_refstr_new(name->text);
    if (text && !found) {
        found = add_name(waiting, name, domain);
    }
    if (!text || !found) {
        nvtxt_refstr_unref(text);
        return nvtxt_origin(-ENOMEM);
    }
    size_t before = found->text ? found->text->len : 0;
    nvtxt_refstr_unref(found->text);
    found->text = text;
    mark(waiting, found, before);
    waiting->bytes = bytes;
    return NVTXT_WAITING_DONE;
}
