// SPDX-License-Identifier: Apache-2.0
//
// The commands `snapshot` and `verify`, which read the whole store and may take minutes. The writer
// first commits everything that came in before; then a thread of libuv's pool does the work, with
// connections to SQLite of its own, and the loop answers the call. When the daemon stops, the work
// ends at its next step and the call fails.
#include "daemon/control/control_cmds.h"

#include <limits.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/copy/snapshot.h"
#include "store/copy/verify.h"
#include "store/rotation.h"

struct work {
    uv_work_t request; // first
    struct control_call *call;
    struct server *server;
    void (*finish)(struct work *work); // answers the call, on the loop's thread
    char store[PATH_MAX];              // the configured path
    char file[PATH_MAX];               // of a snapshot; "": into `descriptor`
    int descriptor;                    // owned; -1: none
    char user[64];                     // of the daemon, whom the snapshot's file belongs to
    int result;
    int64_t bytes;                  // of a snapshot
    struct store_findings findings; // of verify
    bool *running;                  // set to false when the work ends; or NULL
    char error[512];
};

static void work_free(struct work *work) {
    if (work->descriptor >= 0) {
        close(work->descriptor);
    }
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
    int r = job->result ? nvtxt_origin(-EIO)
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
    work->descriptor = -1;
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

static void name_user(char *name, size_t size) {
    struct passwd entry, *found = NULL;
    char room[4096];
    uid_t uid = geteuid();
    if (getpwuid_r(uid, &entry, room, sizeof(room), &found) != 0 || !found) {
        snprintf(name, size, "%u", (unsigned)uid);
        return;
    }
    snprintf(name, size, "%s", entry.pw_name);
}

static void run_snapshot(uv_work_t *request) {
    struct work *work = (struct work *)request;
    const struct store_copy_watch watch = {.on_step = on_step, .context = work};
    char segment[PATH_MAX];
    store_rotation_active(work->store, segment, sizeof(segment));
    name_user(work->user, sizeof(work->user));
    work->result = *work->file
                       ? store_snapshot(segment, work->file, &watch, &work->bytes, work->error,
                                        sizeof(work->error))
                       : store_snapshot_into(segment, work->descriptor, &watch, &work->bytes,
                                             work->error, sizeof(work->error));
}

static void finish_snapshot(struct work *work) {
    char why[sizeof(work->error) + 256];
    json_int_t bytes = work->bytes;
    if (work->result && *work->file) {
        snprintf(why, sizeof(why),
                 "%s; the daemon writes as user %s ('snapshot -o FILE' makes a file of yours)",
                 work->error, work->user);
        control_fail(work->call, NVTXT_CTL_FAILED, why);
    } else if (work->result) {
        control_fail(work->call, NVTXT_CTL_FAILED, work->error);
    } else if (*work->file) {
        control_reply(work->call, json_pack("{s:o, s:I, s:o}", "file", control_text(work->file),
                                            "bytes", bytes, "user", control_text(work->user)));
    } else {
        control_reply(work->call, json_pack("{s:I}", "bytes", bytes));
    }
}

// Why the request is refused; NULL: it is not.
static const char *check_snapshot(const struct control_call *call, const char *file, bool into) {
    if (file && into) {
        return "\"file\" and \"into\" do not go together";
    }
    if (!file && !into) {
        return "the argument \"file\" is missing";
    }
    if (into && call->conn->descriptor < 0) {
        return "\"into\" needs a descriptor, which is passed with the request";
    }
    return file && *file != '/' ? "\"file\" must be an absolute path" : NULL;
}

void control_snapshot(struct control_call *call) {
    const char *file = nvtxt_ctl_string(call->request.object, "file");
    bool into = nvtxt_ctl_string(call->request.object, "into") != NULL;
    const char *fault = check_snapshot(call, file, into);
    if (fault) {
        control_fail(call, NVTXT_CTL_BAD_ARGUMENT, fault);
        return;
    }
    struct work *work = work_new(call, run_snapshot, finish_snapshot);
    if (!work) {
        return;
    }
    snprintf(work->file, sizeof(work->file), "%s", file ?: "");
    if (into) {
        work->descriptor = call->conn->descriptor;
        call->conn->descriptor = -1;
    }
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
