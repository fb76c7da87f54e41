// SPDX-License-Identifier: Apache-2.0
//
// The commands `snapshot` and `verify`, which read the whole store and may take minutes. The writer
// first commits everything that came in before; then a thread of libuv's pool does the work, with
// connections to SQLite of its own, and the loop answers the call. When the daemon stops, the work
// ends at its next step and the call fails.
#include "daemon/control/control_cmds.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/control/control_json.h"
#include "store/copy/snapshot.h"
#include "store/copy/verify.h"
#include "store/rotation.h"

struct work {
    uv_work_t request; // first
    struct control_call *call;
    struct server *server;
    void (*finish)(struct work *work); // answers the call, on the loop's thread
    char store[PATH_MAX];              // the configured path
    char file[PATH_MAX];               // of a snapshot
    int result;
    int64_t bytes;                  // of a snapshot
    struct store_findings findings; // of verify
    bool *running;                  // set to false when the work ends; or NULL
    char error[512];
};

static void work_free(struct work *work) {
    if (work->running) {
        *work->running = false;
    }
    free(work);
}

static bool stops(const struct work *work) {
    return atomic_load(&work->server->stopping);
}

static void on_worked(uv_work_t *request, int status) {
    struct work *work = (struct work *)request;
    if (status < 0 || work->result == STORE_STOPPED) {
        control_fail(work->call, NVTXT_CTL_FAILED, "the daemon stops");
    } else {
        work->finish(work);
    }
    store_findings_deinit(&work->findings);
    work_free(work);
}

static void on_committed(struct job *job) {
    struct work *work = job->context;
    int r = job->result ? -EIO
                        : uv_queue_work(work->server->hub.loop, &work->request,
                                        work->request.work_cb, on_worked);
    if (r < 0) {
        control_fail(work->call, NVTXT_CTL_FAILED,
                     job->result ? "the store could not be written" : uv_strerror(r));
        work_free(work);
    }
    free(job);
}

static struct work *work_new(struct control_call *call, uv_work_cb run,
                             void (*finish)(struct work *work)) {
    struct work *work = calloc(1, sizeof(*work));
    if (!work) {
        control_reply(call, NULL);
        return NULL;
    }
    work->call = call;
    work->server = call->server;
    work->finish = finish;
    work->request.work_cb = run;
    snprintf(work->store, sizeof(work->store), "%s", call->server->hub.config->store);
    return work;
}

static void work_start(struct work *work) {
    struct job *job = control_job_new(work->call, JOB_BATCH, on_committed, work);
    if (!job) {
        work_free(work);
        return;
    }
    job->commit = true;
    batcher_push(&work->server->hub.batcher, true);
    hub_push(&work->server->hub, job);
}

// ---- snapshot -----------------------------------------------------------------------------------

static int on_step(void *context, uint64_t done_bytes, uint64_t total_bytes) {
    (void)done_bytes;
    (void)total_bytes;
    return stops(context);
}

static void run_snapshot(uv_work_t *request) {
    struct work *work = (struct work *)request;
    const struct store_copy_watch watch = {.on_step = on_step, .context = work};
    char segment[PATH_MAX];
    store_rotation_active(work->store, segment, sizeof(segment));
    work->result =
        store_snapshot(segment, work->file, &watch, &work->bytes, work->error, sizeof(work->error));
}

static void finish_snapshot(struct work *work) {
    if (work->result) {
        control_fail(work->call, NVTXT_CTL_FAILED, work->error);
    } else {
        control_reply(work->call, json_pack("{s:o, s:I}", "file", control_text(work->file), "bytes",
                                            (json_int_t)work->bytes));
    }
}

void control_snapshot(struct control_call *call) {
    const char *file = nvtxt_ctl_string(call->request.object, "file");
    if (*file != '/') {
        control_fail(call, NVTXT_CTL_BAD_ARGUMENT, "\"file\" must be an absolute path");
        return;
    }
    struct work *work = work_new(call, run_snapshot, finish_snapshot);
    if (!work) {
        return;
    }
    snprintf(work->file, sizeof(work->file), "%s", file);
    work_start(work);
}

// ---- verify -------------------------------------------------------------------------------------

static int may_stop(void *context) {
    return stops(context);
}

static void run_verify(uv_work_t *request) {
    struct work *work = (struct work *)request;
    work->result = store_verify(work->store, may_stop, work, &work->findings);
}

static json_t *texts_of(const struct store_findings *findings, bool problems) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < findings->count; i++) {
        if (findings->rows[i].is_problem == problems) {
            json_array_append_new(list, control_text(findings->rows[i].text));
        }
    }
    return list;
}

static void finish_verify(struct work *work) {
    const struct store_findings *findings = &work->findings;
    if (work->result) {
        control_fail(work->call, NVTXT_CTL_FAILED, strerror(-work->result));
        return;
    }
    control_reply(work->call,
                  json_pack("{s:b, s:I, s:I, s:I, s:o, s:o}", "sound", findings->problems == 0,
                            "segments", (json_int_t)findings->segments, "events",
                            (json_int_t)findings->events, "problems_total",
                            (json_int_t)findings->problems, "problems", texts_of(findings, true),
                            "advice", texts_of(findings, false)));
}

// It reads the whole store, so the disk has to bear one at a time only.
void control_verify(struct control_call *call) {
    struct control *control = call->control;
    if (control->verifying) {
        control_fail(call, NVTXT_CTL_BUSY,
                     "another verify is running; ask again when it has ended");
        return;
    }
    struct work *work = work_new(call, run_verify, finish_verify);
    if (!work) {
        return;
    }
    control->verifying = true;
    work->running = &control->verifying;
    work_start(work);
}
