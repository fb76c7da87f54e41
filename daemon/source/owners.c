// SPDX-License-Identifier: Apache-2.0
//
// An entry of 16 bits is the place of a user in a list, and whether it is proven; 0 is nobody.
#include "daemon/source/owners.h"
#include "protocol/table/arrays.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

#define PAGE_PIDS 4096u
#define PROVEN 0x8000u
#define USERS_MAX 0x7fffu
#define PLACES 65536u // of `changed`: more than most machines have processes at a time

void owners_deinit(struct owners *owners) {
    for (size_t i = 0; i < OWNERS_PAGES; i++) {
        free(owners->pages[i]);
    }
    free(owners->uids);
    free(owners->changed);
    *owners = (struct owners){0};
}

static uint16_t entry_at(const struct owners *owners, uint32_t pid) {
    const uint16_t *page = owners->pages[pid / PAGE_PIDS % OWNERS_PAGES];
    return page ? page[pid % PAGE_PIDS] : 0;
}

int64_t owners_of(const struct owners *owners, uint32_t pid) {
    uint16_t user = entry_at(owners, pid) & USERS_MAX;
    return user ? owners->uids[user] : OWNERS_NOBODY;
}

bool owners_is_proven(const struct owners *owners, uint32_t pid) {
    return entry_at(owners, pid) & PROVEN;
}

// The entry that stands for a user: users are few, and come again and again.
static uint16_t entry_of(struct owners *owners, int64_t uid) {
    for (size_t i = owners->uid_count; i > 0; i--) {
        if (owners->uids[i] == uid) {
            return (uint16_t)i;
        }
    }
    if (owners->uid_count >= USERS_MAX) {
        return 0;
    }
    size_t count = owners->uid_count + 1;
    int64_t *added = nvtxt_add(&owners->uids, &count, sizeof(*added));
    if (!added) {
        return 0;
    }
    *added = uid;
    return (uint16_t)++owners->uid_count;
}

int owners_set(struct owners *owners, uint32_t pid, int64_t uid, bool proven) {
    uint16_t **page = &owners->pages[pid / PAGE_PIDS % OWNERS_PAGES];
    uint16_t user = entry_of(owners, uid);
    if (user && !*page) {
        *page = calloc(PAGE_PIDS, sizeof(**page));
    }
    if (!owners->changed) {
        owners->changed = calloc(PLACES, sizeof(*owners->changed));
    }
    if (!user || !*page || !owners->changed) {
        return nvtxt_origin(-ENOMEM);
    }
    uint16_t *entry = &(*page)[pid % PAGE_PIDS];
    if ((*entry & USERS_MAX) != user) {
        owners->changed[pid % PLACES] = ++owners->changes;
    }
    *entry = (uint16_t)(user | (proven ? PROVEN : 0u));
    return 0;
}

bool owners_changed_since(const struct owners *owners, uint32_t pid, uint32_t changes) {
    uint32_t changed = owners->changed ? owners->changed[pid % PLACES] : 0;
    return (int32_t)(changed - changes) > 0; // the count may begin anew
}
