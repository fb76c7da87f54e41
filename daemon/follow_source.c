// SPDX-License-Identifier: Apache-2.0
#include "daemon/follow_source.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/follow.h"
#include "daemon/server.h"
#include "daemon/session.h"
#include "daemon/source.h"
#include "daemon/watch.h"

// How far it was read, as of the last line that was taken.
static void where(const struct source *source, struct store_followed *at) {
    const struct follow *follow = source->owner;
    *at = follow->at;
    at->path = follow->path;
    at->tail_hash = watch_io_hash(0, follow->live->tail, follow->at.tail_bytes);
}

static int take_source(struct follow *follow, int64_t id, int64_t opened_ns, const char *name,
                       struct nvtxt_interp *interp_take) {
    struct server *server = follow->watch->server;
    struct source *source = source_new(&server->batcher, id, STORE_SOURCE_FILE, interp_take);
    if (!source)
        return -ENOMEM;
    source->peer = (struct peer){.uid = follow->uid, .gid = follow->gid};
    source->opened_ns = follow->opened_ns = opened_ns;
    source->owner = follow;
    source->where = where;
    if (source_set_name(source, name) < 0 ||
        nvtxt_hash_add(&server->sources, &source->by_id, nvtxt_hash_number((uint64_t)id)) < 0) {
        source_free(source);
        return -ENOMEM;
    }
    follow->source_id = id;
    follow->live->source = source;
    return 0;
}

int follow_source_open(struct follow *follow) {
    struct server *server = follow->watch->server;
    struct nvtxt_source_config config = {.limits = server->limits,
                                         .opened_ns = clocks_realtime_ns()};
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    if (!interp)
        return -ENOMEM;
    server->stats.files_new++;
    return take_source(follow, server->next_source_id++, config.opened_ns, follow->path, interp);
}

void follow_source_drop(struct follow *follow) {
    struct follow_live *live = follow->live;
    struct server *server = follow->watch->server;
    if (!live->source)
        return;
    batcher_settle(&server->batcher, live->source);
    follow->counters = *nvtxt_interp_counters(live->source->interp);
    nvtxt_hash_remove(&server->sources, &live->source->by_id);
    source_free(live->source);
    live->source = NULL;
}

int follow_source_load(struct follow *follow, void (*on_loaded)(struct job *job)) {
    struct server *server = follow->watch->server;
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        return -ENOMEM;
    job->kind = JOB_FILE_LOAD;
    job->on_done = on_loaded;
    job->context = follow;
    job->source_id = follow->source_id;
    batcher_push(&server->batcher, false); // what was read of it before goes first
    server_push(server, job);
    return 0;
}

int follow_source_restore(struct follow *follow, const struct job *job) {
    struct server *server = follow->watch->server;
    const struct store_session *stored = &job->session;
    struct nvtxt_source_config config = {.limits = server->limits};
    struct nvtxt_interp *interp = NULL;
    int r = session_restore(stored, &config, &interp);
    if (r == 0)
        r = take_source(follow, follow->source_id, stored->opened_ns, stored->name, interp);
    return r;
}

void follow_source_loaded(struct job *job) {
    if (job->result == STORE_DONE) {
        store_session_deinit(&job->session);
        store_file_deinit(&job->file);
    }
    free(job);
}
