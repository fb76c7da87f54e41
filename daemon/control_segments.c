// SPDX-License-Identifier: Apache-2.0
//
// Control commands for the files that a store is made of.
#include <stdlib.h>
#include <string.h>

#include "daemon/control.h"
#include "daemon/control_json.h"

// ---- rotate -------------------------------------------------------------------------------------

static void on_rotated(struct job *job) {
    if (job->result == STORE_DONE && job->answer)
        control_reply(job->context, json_pack("{s:o, s:o}", "segment", control_text(job->answer),
                                              "previous", control_text(job->previous)));
    else
        control_fail(job->context, NVTXT_CTL_FAILED, job->answer ? job->answer : "out of memory");
    free(job->answer);
    free(job);
}

void control_rotate(struct control_call *call) {
    struct server *server = call->server;
    struct writer_figures figures;
    bqueue_get_figures(&server->queue, &figures);
    struct job *job = figures.in_trouble ? NULL : calloc(1, sizeof(*job));
    if (!job) {
        control_fail(call, NVTXT_CTL_FAILED,
                     figures.in_trouble ? figures.last_error : "out of memory");
        return;
    }
    job->kind = JOB_ROTATE;
    job->on_done = on_rotated;
    job->context = call;
    batcher_push(&server->batcher, false);
    server_push(server, job);
}
