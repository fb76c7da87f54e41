// SPDX-License-Identifier: Apache-2.0
//
// Two hash tables over the same names: one by what is named, one by time and thread for those that
// wait for an event. A name that waits leaves the second table when its event comes.
#include "client/format/export_names.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

// What a name belongs to: a thread, or a process.
static uint64_t owner_of(enum nvtxt_name_kind kind, uint64_t global_tid) {
    return kind == NVTXT_NAME_THREAD ? global_tid : global_tid >> 24 << 24;
}

static struct nvtxt_slice what_of(const struct store_read_name *thing) {
    switch (thing->kind) {
    case NVTXT_NAME_RESOURCE:
        return thing->resource_kind;
    case NVTXT_NAME_COUNTER:
        return thing->text;
    case NVTXT_NAME_DOMAIN:
    case NVTXT_NAME_CATEGORY:
    case NVTXT_NAME_THREAD:
    case NVTXT_NAME_PROCESS:
        break;
    }
    return (struct nvtxt_slice){NULL, 0};
}

static uint64_t key_hash(const struct store_read_name *thing) {
    uint64_t number = (uint64_t)thing->kind << 60 ^ (uint64_t)thing->category;
    uint64_t owner = owner_of(thing->kind, thing->global_tid);
    uint64_t hash = nvtxt_hash_pair(nvtxt_hash_number(number) ^ owner, thing->domain);
    struct nvtxt_slice what = what_of(thing);
    return what.len > 0 ? nvtxt_hash_pair(hash ^ thing->handle, what) : hash;
}

struct export_name *export_names_find(const struct export_names *names,
                                      const struct store_read_name *thing) {
    uint64_t owner = owner_of(thing->kind, thing->global_tid);
    struct nvtxt_slice what = what_of(thing);
    struct export_name *name;
    NVTXT_HASH_FIND(name, by_key, &names->keys, key_hash(thing),
                    name->kind == thing->kind && name->category == thing->category &&
                        owner_of(thing->kind, name->global_tid) == owner &&
                        name->handle == thing->handle &&
                        nvtxt_slice_equal(nvtxt_refstr_slice(name->domain), thing->domain) &&
                        nvtxt_slice_equal(nvtxt_refstr_slice(name->what), what));
    return name;
}

static void free_name(struct export_name *name) {
    nvtxt_refstr_unref(name->domain);
    nvtxt_refstr_unref(name->what);
    nvtxt_refstr_unref(name->text);
    nvtxt_refstr_unref(name->json);
    free(name);
}

static struct export_name *add_name(struct export_names *names,
                                    const struct store_read_name *given) {
    struct nvtxt_slice what = what_of(given);
    struct export_name *name = calloc(1, sizeof(*name));
    if (!name) {
        return NULL;
    }
    name->domain = nvtxt_refstr_new(given->domain);
    name->what = what.len > 0 ? nvtxt_refstr_new(what) : NULL;
    if (!name->domain || (what.len > 0 && !name->what) ||
        nvtxt_hash_add(&names->keys, &name->by_key, key_hash(given)) < 0) {
        free_name(name);
        return NULL;
    }
    name->kind = given->kind;
    name->category = given->category;
    name->handle = given->handle;
    name->global_tid = given->global_tid;
    name->next = names->first;
    names->first = name;
    return name;
}

static void stop_waiting(struct export_names *names, struct export_name *name) {
    nvtxt_hash_remove(&names->times, &name->by_time);
    name->waits = false;
    names->waiting--;
}

static int wait_for_event(struct export_names *names, struct export_name *name) {
    uint64_t hash = nvtxt_hash_number((uint64_t)name->at);
    int r = nvtxt_hash_add(&names->times, &name->by_time, hash);
    name->waits = r == 0;
    names->waiting += name->waits;
    return r;
}

static bool is_same(const struct export_name *name, const struct store_read_name *given) {
    return name->text && nvtxt_slice_equal(nvtxt_refstr_slice(name->text), given->text) &&
           nvtxt_slice_equal(nvtxt_refstr_slice(name->json), given->json);
}

static int set_texts(struct export_name *name, const struct store_read_name *given) {
    struct nvtxt_refstr *text = nvtxt_refstr_new(given->text);
    struct nvtxt_refstr *json = given->json.len > 0 ? nvtxt_refstr_new(given->json) : NULL;
    if (!text || (given->json.len > 0 && !json)) {
        nvtxt_refstr_unref(text);
        return nvtxt_origin(-ENOMEM);
    }
    nvtxt_refstr_unref(name->text);
    nvtxt_refstr_unref(name->json);
    name->text = text;
    name->json = json;
    return 0;
}

int export_names_add(struct export_names *names, const struct store_read_name *given) {
    struct export_name *name = export_names_find(names, given);
    if (!name) {
        name = add_name(names, given);
    }
    if (!name) {
        return nvtxt_origin(-ENOMEM);
    }
    if (is_same(name, given)) {
        return 0;
    }
    if (set_texts(name, given) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    if (name->waits) {
        stop_waiting(names, name);
    }
    name->written = false;
    name->global_tid = given->global_tid;
    name->at = given->at;
    return store_read_name_has_time(given->kind) ? wait_for_event(names, name) : 0;
}

static int on_counter(void *context, const struct store_read_name *given) {
    return export_names_add(context, given);
}

int export_names_add_counters(struct export_names *names, struct store_reader *reader) {
    return store_read_counters(reader, on_counter, names);
}

const struct export_name *export_names_counter(const struct export_names *names,
                                               const struct store_named_event *row) {
    if (!names->first || row->event->type != NVTXT_EVENT_MARK) {
        return NULL;
    }
    const struct store_read_name counter = {.kind = NVTXT_NAME_COUNTER,
                                            .global_tid = row->event->global_tid,
                                            .domain = row->domain,
                                            .text = row->event->text};
    return export_names_find(names, &counter);
}

// The name of a thread has that thread, also when another thread's event made it.
static bool is_of_event(const struct export_name *name, uint64_t global_tid, bool others) {
    uint64_t pid = name->global_tid >> 24;
    return name->kind == NVTXT_NAME_THREAD || name->global_tid == global_tid ||
           (others && name->kind == NVTXT_NAME_CATEGORY && name->global_tid == (pid << 24 | pid) &&
            pid != global_tid >> 24);
}

int export_names_each_at(struct export_names *names, int64_t at, uint64_t global_tid, bool others,
                         int (*visit)(void *context, struct export_name *name), void *context) {
    if (names->waiting == 0) {
        return 0;
    }
    int r = 0;
    struct nvtxt_hash_node *node = nvtxt_hash_find(&names->times, nvtxt_hash_number((uint64_t)at));
    while (node && r == 0) {
        struct export_name *name = NVTXT_CONTAINER_OF(node, struct export_name, by_time);
        node = nvtxt_hash_next(node);
        if (name->at == at && is_of_event(name, global_tid, others)) {
            stop_waiting(names, name);
            r = visit(context, name);
        }
    }
    return r;
}

void export_names_deinit(struct export_names *names) {
    while (names->first) {
        struct export_name *next = names->first->next;
        free_name(names->first);
        names->first = next;
    }
    nvtxt_hash_deinit(&names->keys);
    nvtxt_hash_deinit(&names->times);
}
