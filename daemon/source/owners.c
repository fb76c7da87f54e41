// SPDX-License-Identifier: Apache-2.0
//
// An entry of 16 bits is the place of a user in a list; 0 is nobody.
#include "daemon/source/owners.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE_PIDS 4096u

void owners_deinit(struct owners *owners) {
    for (size_t i = 0; i < OWNERS_PAGES; i++) {
        free(owners->pages[i]);
    }
    free(owners->uids);
    *owners = (struct owners){0};
}

int64_t owners_of(const struct owners *owners, uint32_t pid) {
    const uint16_t *page = owners->pages[pid / PAGE_PIDS % OWNERS_PAGES];
    uint16_t entry = page ? page[pid % PAGE_PIDS] : 0;
    return entry ? owners->uids[entry] : OWNERS_NOBODY;
}

// The entry that stands for a user: users are few, and come again and again.
static uint16_t entry_of(struct owners *owners, int64_t uid) {
    for (size_t i = owners->uid_count; i > 0; i--) {
        if (owners->uids[i] == uid) {
            return (uint16_t)i;
        }
    }
    if (owners->uid_count >= UINT16_MAX) {
        return 0;
    }
    int64_t *uids = realloc(owners->uids, (owners->uid_count + 2) * sizeof(*uids));
    if (!uids) {
        return 0;
    }
    owners->uids = uids;
    uids[++owners->uid_count] = uid;
    return (uint16_t)owners->uid_count;
}

int owners_set(struct owners *owners, uint32_t pid, int64_t uid) {
    uint16_t **page = &owners->pages[pid / PAGE_PIDS % OWNERS_PAGES];
    uint16_t entry = entry_of(owners, uid);
    if (entry && !*page) {
        *page = calloc(PAGE_PIDS, sizeof(**page));
    }
    if (!entry || !*page) {
        return -ENOMEM;
    }
    (*page)[pid % PAGE_PIDS] = entry;
    return 0;
}
