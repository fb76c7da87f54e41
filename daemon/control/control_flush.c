// SPDX-License-Identifier: Apache-2.0
//
// A commit costs the disk a write, and every source has to wait for it. So one commit answers all
// calls that wait, the next one begins when it is done, and a user who asked for too many commits
// in a second waits for the next second.
#include "daemon/control/control_cmds.h"

#include <stdlib.h>

#include "protocol/base/clock.h"

#define MS_NS 1000000

static void commit_next(struct control_flushes *flushes);

static struct control_call *take_all(struct control_call **list) {
    struct control_call *all = *list;
    *list = NULL;
    return all;
}

static void answer(struct control_call *list, const char *fault) {
    struct control_call *next;
    for (struct control_call *call = list; call; call = next) {
        next = call->next_flush;
        if (fault) {
            control_fail(call, NVTXT_CTL_FAILED, fault);
        } else {
            control_reply(call, json_object());
        }
    }
}

static void on_flushed(struct job *job) {
    struct control_flushes *flushes = job->context;
    const char *fault = job->result == 0 ? NULL : "the store could not be written";
    free(job);
    answer(take_all(&flushes->asked), fault); // calls that this brings wait for the next commit
    flushes->out = false;
    commit_next(flushes);
}

static void on_timer(uv_timer_t *timer) {
    commit_next(timer->data);
}

// Moves the calls whose users may have a commit now from `waiting` to `asked`. Returns how long the
// first of the others has to wait.
static int64_t choose(struct control_flushes *flushes) {
    int64_t now_ns = nvtxt_boottime_ns(), shortest_ns = 0, wait_ns;
    struct control_call **at = &flushes->waiting, **end = &flushes->asked;
    while (*at) {
        struct control_call *call = *at;
        if (!caller_may_flush(call->caller, flushes->number, now_ns, &wait_ns)) {
            if (shortest_ns == 0 || wait_ns < shortest_ns) {
                shortest_ns = wait_ns;
            }
            at = &call->next_flush;
            continue;
        }
        *at = call->next_flush;
        call->next_flush = NULL;
        *end = call;
        end = &call->next_flush;
    }
    return shortest_ns;
}

static void commit_next(struct control_flushes *flushes) {
    if (flushes->out || !flushes->waiting) {
        return;
    }
    flushes->number++;
    int64_t wait_ns = choose(flushes);
    if (!flushes->asked) {
        if (!flushes->closing) {
            uv_timer_start(&flushes->timer, on_timer, (uint64_t)(wait_ns / MS_NS) + 1, 0);
        }
        return;
    }
    struct job *job = job_new(JOB_BATCH, on_flushed, flushes);
    flushes->out = true;
    if (!job) {
        answer(take_all(&flushes->asked), "out of memory");
        flushes->out = false;
        commit_next(flushes); // others wait, too
        return;
    }
    job->commit = true;
    batcher_push(&flushes->server->hub.batcher, true);
    hub_push(&flushes->server->hub, job);
}

void control_flush(struct control_call *call) {
    struct control_flushes *flushes = call->control->flushes;
    struct control_call **at = &flushes->waiting;
    while (*at) {
        at = &(*at)->next_flush;
    }
    call->next_flush = NULL;
    *at = call;
    commit_next(flushes);
}

void control_flush_init(struct control_flushes *flushes, struct server *server) {
    flushes->server = server;
    uv_timer_init(server->hub.loop, &flushes->timer); // cannot fail
    flushes->timer.data = flushes;
}

// No connection is left, so nobody reads these answers.
void control_flush_close(struct control_flushes *flushes) {
    flushes->closing = true;
    answer(take_all(&flushes->waiting), "the daemon stops");
    hub_close_handle(&flushes->timer);
    flushes->timer.data = NULL;
}
