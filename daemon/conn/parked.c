// SPDX-License-Identifier: Apache-2.0
//
// A hash table by session id and user. Bytes are held for the user when an entry is added and
// released when it is dropped, whatever the reason.
#include "daemon/conn/parked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "protocol/base/limits.h"
#include "protocol/base/origin.h"

#define NO_TIME INT64_MAX
#define LONGEST_EXPIRY_S 1000000000 // more than SessionExpiry can be

struct waiting_session {
    struct nvtxt_hash_node node;
    char id[NVTXT_SESSION_ID_BYTES + 1];
    int64_t uid;
    size_t bytes;
    int64_t seen_ns;
    int64_t due_ns; // nvtxt_boottime_ns(); NO_TIME: SessionExpiry counts
};

static uint64_t hash_of(const char *session_id, int64_t uid) {
    return nvtxt_hash_pair((uint64_t)uid, nvtxt_slice_of(session_id));
}

static struct waiting_session *find_session(const struct parked *parked, const char *session_id,
                                            int64_t uid) {
    struct waiting_session *session;
    NVTXT_HASH_FIND(session, node, &parked->sessions, hash_of(session_id, uid),
                    session->uid == uid && strcmp(session->id, session_id) == 0);
    return session;
}

static void drop(struct parked *parked, struct waiting_session *session) {
    nvtxt_hash_remove(&parked->sessions, &session->node);
    quota_release(parked->quota, session->uid, session->bytes);
    free(session);
}

size_t parked_bytes(const struct parked *parked, const char *session_id, int64_t uid) {
    const struct waiting_session *session = find_session(parked, session_id, uid);
    return session ? session->bytes : 0;
}

void parked_take(struct parked *parked, const char *session_id, int64_t uid) {
    struct waiting_session *session = find_session(parked, session_id, uid);
    if (session) {
        drop(parked, session);
    }
}

int parked_put(struct parked *parked, const char *session_id, int64_t uid, size_t bytes,
               int64_t seen_ns, int64_t expiry_s) {
    bool is_due = expiry_s > 0 && expiry_s <= LONGEST_EXPIRY_S;
    parked_take(parked, session_id, uid);
    if (bytes == 0 && !is_due) {
        return 0;
    }
    struct waiting_session *session = calloc(1, sizeof(*session));
    if (!session || quota_hold(parked->quota, uid, bytes) < 0) {
        free(session);
        return nvtxt_origin(-ENOMEM);
    }
    snprintf(session->id, sizeof(session->id), "%s", session_id);
    session->uid = uid;
    session->bytes = bytes;
    session->seen_ns = seen_ns;
    session->due_ns = is_due ? nvtxt_boottime_ns() + expiry_s * 1000000000 : NO_TIME;
    if (nvtxt_hash_add(&parked->sessions, &session->node, hash_of(session->id, uid)) < 0) {
        quota_release(parked->quota, uid, bytes);
        free(session);
        return nvtxt_origin(-ENOMEM);
    }
    if (is_due && parked->on_due) {
        parked->on_due(parked->on_due_context);
    }
    return 0;
}

void parked_delay(struct parked *parked, const char *session_id, int64_t uid) {
    struct waiting_session *session = find_session(parked, session_id, uid);
    if (session && session->due_ns != NO_TIME) {
        session->due_ns = nvtxt_boottime_ns() + 1000000000;
    }
}

void parked_keep(struct parked *parked, const char *session_id, int64_t uid) {
    struct waiting_session *session = find_session(parked, session_id, uid);
    if (session) {
        session->due_ns = NO_TIME;
    }
}

const char *parked_first_due(const struct parked *parked, int64_t *uid, int64_t *due_ns) {
    const struct waiting_session *first = NULL;
    *due_ns = NO_TIME;
    for (size_t i = 0; i < parked->sessions.bucket_count; i++) {
        for (struct nvtxt_hash_node *node = parked->sessions.buckets[i]; node; node = node->next) {
            const struct waiting_session *session =
                NVTXT_CONTAINER_OF(node, struct waiting_session, node);
            if (session->due_ns < *due_ns) {
                *due_ns = session->due_ns;
                first = session;
            }
        }
    }
    *uid = first ? first->uid : -1;
    return first ? first->id : NULL;
}

static void drop_before(struct parked *parked, int64_t before_ns) {
    for (size_t i = 0; i < parked->sessions.bucket_count; i++) {
        struct nvtxt_hash_node *next;
        for (struct nvtxt_hash_node *node = parked->sessions.buckets[i]; node; node = next) {
            struct waiting_session *session =
                NVTXT_CONTAINER_OF(node, struct waiting_session, node);
            next = node->next;
            if (session->seen_ns < before_ns) {
                drop(parked, session);
            }
        }
    }
}

void parked_forget(struct parked *parked, int64_t before_ns) {
    drop_before(parked, before_ns);
}

void parked_deinit(struct parked *parked) {
    if (parked->sessions.count > 0) {
        drop_before(parked, INT64_MAX);
    }
    nvtxt_hash_deinit(&parked->sessions);
}
