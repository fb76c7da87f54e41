// SPDX-License-Identifier: Apache-2.0
//
// A list of all files, in no order, and a hash table by inode. A file that loses its last name is
// not gone yet: it may have another name in any folder, so all are read first.
#include "daemon/follow/known_files.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/list.h"
#include "daemon/follow/follow.h"
#include "daemon/follow/watch_state.h"

static uint64_t hash_of(int64_t inode) {
    return nvtxt_hash_number((uint64_t)inode);
}

void known_files_deinit(struct known_files *known) {
    nvtxt_hash_deinit(&known->by_inode);
}

struct follow *known_files_add(struct watch *watch, const char *path, int64_t device,
                               int64_t inode) {
    struct known_files *known = &watch->known;
    struct follow *follow = follow_new(watch, path, device, inode);
    if (follow && nvtxt_hash_add(&known->by_inode, &follow->by_inode, hash_of(inode)) < 0) {
        follow_free(follow);
        follow = NULL;
    }
    if (!follow) {
        return NULL;
    }
    LIST_ADD(known->first, follow);
    known->count++;
    return follow;
}

void known_files_forget(struct follow *follow) {
    struct known_files *known = &follow->watch->known;
    known->blanks -= follow->blank;
    nvtxt_hash_remove(&known->by_inode, &follow->by_inode);
    LIST_REMOVE(known->first, follow);
    known->count--;
    follow_free(follow);
}

static bool may_be(const struct follow *follow, const char *path) {
    return follow->names == 0 && !follow->verified && strcmp(follow->path, path) == 0;
}

static struct follow *find_file(struct known_files *known, const char *path,
                                const struct watch_stat *stat) {
    struct follow *other = NULL;
    struct nvtxt_hash_node *node = nvtxt_hash_find(&known->by_inode, hash_of(stat->inode));
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

struct follow *known_files_find_or_add(struct watch *watch, const char *path,
                                       const struct watch_stat *stat) {
    struct follow *follow = find_file(&watch->known, path, stat);
    if (follow) {
        return follow;
    }
    follow = known_files_add(watch, path, stat->device, stat->inode);
    if (follow && stat->size == 0) {
        follow->blank = true;
        watch->known.blanks++;
    }
    return follow;
}

bool known_files_pass_over(const struct known_files *known, const struct watch_stat *stat) {
    if (!stat->is_file || stat->size > 0 || known->blanks < KNOWN_EMPTY_MOST) {
        return false;
    }
    struct nvtxt_hash_node *node = nvtxt_hash_find(&known->by_inode, hash_of(stat->inode));
    for (; node; node = nvtxt_hash_next(node)) {
        if (NVTXT_CONTAINER_OF(node, struct follow, by_inode)->at.inode == stat->inode) {
            return false;
        }
    }
    return true;
}

void known_files_retire(struct known_files *known, int64_t device, int64_t inode) {
    struct follow *follow;
    NVTXT_HASH_FIND(follow, by_inode, &known->by_inode, hash_of(inode),
                    follow->at.inode == inode && follow->at.device == device);
    if (follow) {
        nvtxt_hash_remove(&known->by_inode, &follow->by_inode);
    }
}

void known_files_see(struct follow *follow, const struct watch_stat *stat) {
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

void known_files_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat) {
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
    known_files_see(follow, stat);
}

void known_files_lose_name(struct follow *follow, bool replaced) {
    struct watch *watch = follow->watch;
    follow->names--;
    if (follow->names > 0) {
        return;
    }
    follow->lost = true;
    follow->replaced = replaced;
    follow->lost_round = watch->lost.round;
    if (!follow->live) {
        follow->verified = false;
    }
    watch->look_everywhere(watch);
}
