// SPDX-License-Identifier: Apache-2.0
#include "daemon/follow/known_files.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/follow/follow.h"
#include "daemon/follow/schedule.h"
#include "daemon/follow/watch_state.h"
#include "protocol/base/hash.h"

static uint64_t hash_of(int64_t inode) {
    return nvtxt_hash_number((uint64_t)inode);
}

void follows_deinit(struct follows *follows) {
    nvtxt_hash_deinit(&follows->by_inode);
}

struct follow *follows_new(struct watch *watch, const char *path, int64_t device, int64_t inode) {
    struct follows *follows = &watch->follows;
    struct follow *follow = follow_new(watch, path, device, inode);
    if (follow && nvtxt_hash_add(&follows->by_inode, &follow->by_inode, hash_of(inode)) < 0) {
        follow_free(follow);
        follow = NULL;
    }
    if (!follow) {
        return NULL;
    }
    follow->next = follows->first;
    if (follow->next) {
        follow->next->prev = follow;
    }
    follows->first = follow;
    follows->count++;
    return follow;
}

void follows_forget(struct follow *follow) {
    struct follows *follows = &follow->watch->follows;
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
    follow_free(follow);
}

static bool may_be(const struct follow *follow, const char *path) {
    return follow->names == 0 && !follow->verified && strcmp(follow->path, path) == 0;
}

static struct follow *find(struct follows *follows, const char *path,
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

struct follow *follows_find(struct watch *watch, const char *path, const struct watch_stat *stat) {
    struct follow *follow = find(&watch->follows, path, stat);
    return follow ? follow : follows_new(watch, path, stat->device, stat->inode);
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

void follows_see(struct follow *follow, const struct watch_stat *stat) {
    uint64_t read =
        follow->live && follow->live->fd >= 0 ? follow->live->position : follow->at.offset;
    follow->size = stat->size;
    if (!follow->live) {
        follow->at.changed_ns = stat->changed_ns;
    }
    if (!follow->verified || read != (uint64_t)stat->size) {
        schedule_want(follow);
    }
}

void follows_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat) {
    char *copy = strcmp(path, follow->path) ? strdup(path) : NULL;
    if (copy) {
        free(follow->path);
        follow->path = copy;
    }
    follow->names++;
    follow->lost = false;
    follow->replaced = false;
    if (!follow->anew) {
        follow->ending = NULL; // it is not gone after all
    }
    follows_see(follow, stat);
}

void follows_lose_name(struct follow *follow, bool replaced) {
    struct watch *watch = follow->watch;
    follow->names--;
    if (follow->names > 0) {
        return;
    }
    follow->lost = true;
    follow->replaced = replaced;
    follow->lost_round = watch->search.round;
    if (!follow->live) {
        follow->verified = false;
    }
    watch->look_everywhere(watch);
}
