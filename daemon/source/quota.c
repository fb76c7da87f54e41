// SPDX-License-Identifier: Apache-2.0
//
// Events are a bucket that holds as many as may come in a second and fills steadily. A read brings
// many events at once and cannot be taken back, so the bucket may go below empty; then the user
// waits until it is not.
#include "daemon/source/quota.h"

#include <stdlib.h>

#include "protocol/base/origin.h"

static struct quota_user *find_user(struct quota *quota, int64_t uid) {
    struct quota_user *user;
    NVTXT_HASH_FIND(user, node, &quota->users, nvtxt_hash_number((uint64_t)uid), user->uid == uid);
    return user;
}

static struct quota_user *add_user(struct quota *quota, int64_t uid) {
    struct quota_user *user = calloc(1, sizeof(*user));
    if (!user) {
        return NULL;
    }
    user->uid = uid;
    if (nvtxt_hash_add(&quota->users, &user->node, nvtxt_hash_number((uint64_t)uid)) < 0) {
        free(user);
        return NULL;
    }
    return user;
}

static bool is_used(const struct quota_user *user) {
    return user->connections > 0 || user->bytes > 0 || user->held > 0 || user->loading > 0;
}

static bool drop_unused(struct quota *quota, struct quota_user *user) {
    // Else it could come again with full credit: drop_rested() drops it later.
    if (is_used(user) || user->credit_ns != 0) {
        return false;
    }
    nvtxt_hash_remove(&quota->users, &user->node);
    free(user);
    return true;
}

// Drops users whose bucket is full again.
static void drop_rested(struct quota *quota, int64_t now_ns) {
    for (size_t i = 0; i < quota->users.bucket_count; i++) {
        struct nvtxt_hash_node *next;
        for (struct nvtxt_hash_node *node = quota->users.buckets[i]; node; node = next) {
            struct quota_user *user = NVTXT_CONTAINER_OF(node, struct quota_user, node);
            next = node->next;
            if (is_used(user) || user->rested_ns > now_ns) {
                continue;
            }
            nvtxt_hash_remove(&quota->users, node);
            free(user);
        }
    }
}

int quota_take(struct quota *quota, int64_t uid, int64_t limit, int64_t now_ns,
               struct quota_user **user) {
    drop_rested(quota, now_ns);
    *user = find_user(quota, uid);
    if (*user && (*user)->connections >= limit) {
        return 1;
    }
    if (!*user) {
        *user = add_user(quota, uid);
    }
    if (!*user) {
        return nvtxt_origin(-ENOMEM);
    }
    (*user)->connections++;
    return 0;
}

void quota_give(struct quota *quota, struct quota_user *user) {
    if (!user) {
        return;
    }
    user->connections--;
    drop_unused(quota, user);
}

int quota_hold(struct quota *quota, int64_t uid, size_t bytes) {
    struct quota_user *user = find_user(quota, uid);
    if (!user) {
        user = add_user(quota, uid);
    }
    if (!user) {
        return nvtxt_origin(-ENOMEM);
    }
    user->held += bytes;
    return 0;
}

void quota_release(struct quota *quota, int64_t uid, size_t bytes) {
    struct quota_user *user = find_user(quota, uid);
    if (!user) {
        return;
    }
    user->held -= bytes < user->held ? bytes : user->held;
    drop_unused(quota, user);
}

void quota_loaded(struct quota *quota, int64_t uid, size_t bytes) {
    struct quota_user *user = find_user(quota, uid);
    if (user) {
        user->loading -= bytes < user->loading ? bytes : user->loading;
        drop_unused(quota, user);
    }
}

struct quota_user *quota_give_bytes(struct quota *quota, int64_t uid, size_t bytes) {
    struct quota_user *user = find_user(quota, uid);
    if (!user) {
        return NULL;
    }
    user->bytes -= bytes < user->bytes ? bytes : user->bytes;
    return drop_unused(quota, user) ? NULL : user;
}

void quota_check_bytes(struct quota_user *user, size_t limit) {
    user->full = user->full ? user->bytes >= limit / 2 : user->bytes >= limit;
}

void quota_spend(struct quota_user *user, uint64_t events, int64_t rate, int64_t now_ns) {
    if (rate == 0) {
        user->fast = false;
        user->credit_ns = user->rested_ns = 0;
        return;
    }
    if (user->credit_ns == 0) {
        user->credit = rate;
        user->credit_ns = now_ns;
    }
    // The time that passed adds to the credit, up to one second's events. Less than one event is
    // left for the next time.
    double earned = (double)(now_ns - user->credit_ns) * (double)rate / 1e9;
    if (earned >= (double)rate - (double)user->credit) {
        user->credit = rate;
        user->credit_ns = now_ns;
    } else if (earned >= 1) {
        user->credit += (int64_t)earned;
        user->credit_ns += (int64_t)((double)(int64_t)earned * 1e9 / (double)rate);
    }
    if (user->credit > rate) { // the rate was lowered
        user->credit = rate;
    }
    user->credit -= (int64_t)events;
    user->fast = user->credit < 0;
    user->rested_ns =
        user->credit_ns + (int64_t)((double)(rate - user->credit) * 1e9 / (double)rate);
}

uint64_t quota_wait_ms(const struct quota_user *user, int64_t rate) {
    if (!user->fast || rate == 0) {
        return 0;
    }
    return (uint64_t)(-user->credit) * 1000 / (uint64_t)rate + 1;
}

struct quota_user *quota_next_fast(struct quota *quota, struct quota_user *after) {
    bool seen = after == NULL;
    for (size_t i = 0; i < quota->users.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = quota->users.buckets[i]; node; node = node->next) {
            struct quota_user *user = NVTXT_CONTAINER_OF(node, struct quota_user, node);
            if (seen && user->fast) {
                return user;
            }
            seen = seen || user == after;
        }
    }
    return NULL;
}

void quota_deinit(struct quota *quota) {
    for (size_t i = 0; i < quota->users.bucket_count; i++) {
        struct nvtxt_hash_node *next;
        for (struct nvtxt_hash_node *node = quota->users.buckets[i]; node; node = next) {
            next = node->next;
            free(NVTXT_CONTAINER_OF(node, struct quota_user, node));
        }
    }
    nvtxt_hash_deinit(&quota->users);
}
