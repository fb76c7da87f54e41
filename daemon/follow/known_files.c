// SPDX-License-Identifier: Apache-2.0
#include "daemon/follow/known_files.h"

#include <errno.h>
#include <string.h>

#include "daemon/follow/follow.h"
#include "protocol/base/hash.h"

static uint64_t hash_of(int64_t inode) {
    return nvtxt_hash_number((uint64_t)inode);
}

void follows_deinit(struct follows *follows) {
    nvtxt_hash_deinit(&follows->by_inode);
}

int follows_add(struct follows *follows, struct follow *follow) {
    if (nvtxt_hash_add(&follows->by_inode, &follow->by_inode, hash_of(follow->at.inode)) < 0) {
        return -ENOMEM;
    }
    follow->next = follows->first;
    if (follow->next) {
        follow->next->prev = follow;
    }
    follows->first = follow;
    follows->count++;
    return 0;
}

void follows_remove(struct follows *follows, struct follow *follow) {
    nvtxt_hash_remove(&follows->by_inode, &follow->by_inode);
    if (follow->prev) {
        follow->prev->next = follow->next;
    } else {
        follows->first = follow->next;
    }
    if (follow->next) {
        follow->next->prev = follow->prev;
    }
    follows->count--;
}

static bool may_be(const struct follow *follow, const char *path) {
    return follow->names == 0 && !follow->verified && strcmp(follow->path, path) == 0;
}

struct follow *follows_find(struct follows *follows, const char *path,
                            const struct watch_stat *stat) {
    struct follow *other = NULL;
    struct nvtxt_hash_node *node = nvtxt_hash_find(&follows->by_inode, hash_of(stat->inode));
    for (; node; node = nvtxt_hash_next(node)) {
        struct follow *follow = NVTXT_CONTAINER_OF(node, struct follow, by_inode);
        if (follow->at.inode != stat->inode) {
            continue;
        }
        if (follow->at.device == stat->device) {
            return follow;
        }
        if (may_be(follow, path)) {
            other = follow;
        }
    }
    if (other) {
        other->at.device = stat->device;
    }
    return other;
}

void follows_retire(struct follows *follows, int64_t device, int64_t inode) {
    struct nvtxt_hash_node *node = nvtxt_hash_find(&follows->by_inode, hash_of(inode));
    for (; node; node = nvtxt_hash_next(node)) {
        struct follow *follow = NVTXT_CONTAINER_OF(node, struct follow, by_inode);
        if (follow->at.inode == inode && follow->at.device == device) {
            nvtxt_hash_remove(&follows->by_inode, node);
            return;
        }
    }
}
