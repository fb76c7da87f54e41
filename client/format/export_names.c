// SPDX-License-Identifier: Apache-2.0
//
// Two hash tables over the same names: one by what is named, one by time and thread for those that
// wait for an event. A name that waits leaves the second table when its event comes.
#include "client/format/export_names.h"

#include <errno.h>
#include <stdlib.h>

#include "protocol/base/hash.h"

static uint64_t key_hash(enum nvtxt_name_kind kind, uint32_t category, uint64_t global_tid,
                         struct nvtxt_slice domain) {
    uint64_t number = (uint64_t)kind << 60 ^ (uint64_t)category;
    return nvtxt_hash_pair(nvtxt_hash_number(number) ^ global_tid, domain);
}

// What a name belongs to: a thread, or a process.
static uint64_t owner_of(enum nvtxt_name_kind kind, uint64_t global_tid) {
    return kind == NVTXT_NAME_THREAD ? global_tid : global_tid >> 24 << 24;
}

static struct export_name *find(const struct export_names *names, enum nvtxt_name_kind kind,
                                uint32_t category, uint64_t global_tid, struct nvtxt_slice domain) {
    uint64_t owner = owner_of(kind, global_tid);
    struct export_name *name;
    NVTXT_HASH_FIND(name, by_key, &names->keys, key_hash(kind, category, owner, domain),
                    name->kind == kind && name->category == category &&
                        owner_of(kind, name->global_tid) == owner &&
                        nvtxt_slice_equal(nvtxt_refstr_slice(name->domain), domain));
    return name;
}

static struct export_name *add(struct export_names *names, const struct store_read_name *given) {
    struct export_name *name = calloc(1, sizeof(*name));
    struct nvtxt_refstr *domain = nvtxt_refstr_new(given->domain);
    uint64_t owner = owner_of(given->kind, given->global_tid);
    uint64_t hash = key_hash(given->kind, given->category, owner, given->domain);
    if (!name || !domain || nvtxt_hash_add(&names->keys, &name->by_key, hash) < 0) {
        nvtxt_refstr_unref(domain);
        free(name);
        return NULL;
    }
    name->domain = domain;
    name->kind = given->kind;
    name->category = given->category;
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
    int result = nvtxt_hash_add(&names->times, &name->by_time, hash);
    name->waits = result == 0;
    names->waiting += name->waits;
    return result;
}

int export_names_add(struct export_names *names, const struct store_read_name *given) {
    struct export_name *name =
        find(names, given->kind, given->category, given->global_tid, given->domain);
    if (!name) {
        name = add(names, given);
    }
    if (!name) {
        return -ENOMEM;
    }
    if (name->text && nvtxt_slice_equal(nvtxt_refstr_slice(name->text), given->text)) {
        return 0;
    }
    struct nvtxt_refstr *text = nvtxt_refstr_new(given->text);
    if (!text) {
        return -ENOMEM;
    }
    nvtxt_refstr_unref(name->text);
    name->text = text;
    if (name->waits) {
        stop_waiting(names, name);
    }
    name->written = false;
    name->global_tid = given->global_tid;
    name->at = given->at;
    return given->kind == NVTXT_NAME_PROCESS ? 0 : wait_for_event(names, name);
}

struct export_name *export_names_use(struct export_names *names, enum nvtxt_name_kind kind,
                                     uint32_t category, uint64_t global_tid,
                                     struct nvtxt_slice domain) {
    struct export_name *name = find(names, kind, category, global_tid, domain);
    if (name) {
        name->used = true;
    }
    return name;
}

int export_names_each_at(struct export_names *names, int64_t at, uint64_t global_tid,
                         int (*visit)(void *context, struct export_name *name), void *context) {
    if (names->waiting == 0) {
        return 0;
    }
    int result = 0;
    struct nvtxt_hash_node *node = nvtxt_hash_find(&names->times, nvtxt_hash_number((uint64_t)at));
    while (node && result == 0) {
        struct export_name *name = NVTXT_CONTAINER_OF(node, struct export_name, by_time);
        node = nvtxt_hash_next(node);
        // The name of a thread has that thread, also when another thread's event made it.
        if (name->at == at && (name->kind == NVTXT_NAME_THREAD || name->global_tid == global_tid)) {
            stop_waiting(names, name);
            result = visit(context, name);
        }
    }
    return result;
}

void export_names_deinit(struct export_names *names) {
    while (names->first) {
        struct export_name *next = names->first->next;
        nvtxt_refstr_unref(names->first->domain);
        nvtxt_refstr_unref(names->first->text);
        free(names->first);
        names->first = next;
    }
    nvtxt_hash_deinit(&names->keys);
    nvtxt_hash_deinit(&names->times);
}
