// SPDX-License-Identifier: Apache-2.0
//
// Control commands that only the store can answer. The question goes through the writer's queue,
// behind everything that was handed over before, and is asked on the writer's thread. A writer in
// trouble would answer only after it: then the command fails at once, with the reason.
#include "daemon/control/control_cmds.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/control/control_json.h"

// Asks for an answer of the store; false when the call was answered already.
static bool put_question(struct control_call *call, int (*ask)(struct store *store, void *question),
                         void *question, void (*on_done)(struct job *job)) {
    struct server *server = call->server;
    struct writer_figures figures;
    char why[320];
    bqueue_get_figures(&server->hub.queue, &figures);
    struct job *job = question && !figures.in_trouble ? calloc(1, sizeof(*job)) : NULL;
    if (!job) {
        snprintf(why, sizeof(why), "%s%s",
                 figures.in_trouble ? "the store cannot be written now: " : "out of memory",
                 figures.in_trouble ? figures.last_error : "");
        control_fail(call, NVTXT_CTL_FAILED, why);
        return false;
    }
    job->kind = JOB_ASK;
    job->commit = true;
    job->ask = ask;
    job->question = question;
    job->on_done = on_done;
    job->context = call;
    batcher_push(&server->hub.batcher, false);
    hub_push(&server->hub, job);
    return true;
}

// ---- diagnostics --------------------------------------------------------------------------------

#define DIAGNOSTICS_USUAL 20 // a screen

struct diags_question {
    int64_t source_id;
    size_t limit;
    struct store_diags diags;
};

static int ask_diags(struct store *store, void *question) {
    struct diags_question *asked = question;
    return store_diags_load(store, asked->source_id, asked->limit, &asked->diags);
}

static json_t *describe_diag(const struct store_diag_row *row) {
    return json_pack("{s:I, s:I, s:o, s:I, s:I, s:s, s:s, s:s, s:o, s:o}", "at_ns",
                     (json_int_t)row->at_ns, "source", (json_int_t)row->source_id, "name",
                     control_nullable(row->source), "line", (json_int_t)row->line, "column",
                     (json_int_t)row->column, "severity", row->severity, "stage", row->stage,
                     "code", row->code, "message", control_text(row->message), "excerpt",
                     control_text(row->excerpt));
}

static void on_diags(struct job *job) {
    struct diags_question *asked = job->question;
    json_t *list = job->result == STORE_DONE ? json_array() : NULL;
    for (size_t i = asked->diags.count; list && i-- > 0;) { // the newest one last
        json_array_append_new(list, describe_diag(&asked->diags.rows[i]));
    }
    if (job->result == STORE_DONE) {
        control_reply(job->context, list ? json_pack("{s:o}", "diagnostics", list) : NULL);
    } else {
        control_fail(job->context, NVTXT_CTL_FAILED, "the store could not be read");
    }
    store_diags_deinit(&asked->diags);
    free(asked);
    free(job);
}

void control_diagnostics(struct control_call *call) {
    const json_t *request = call->request.object;
    struct diags_question *question = calloc(1, sizeof(*question));
    if (question) {
        question->source_id = nvtxt_ctl_integer(request, "source", 0);
        question->limit = (size_t)nvtxt_ctl_integer(request, "limit", DIAGNOSTICS_USUAL);
    }
    if (!put_question(call, ask_diags, question, on_diags)) {
        free(question);
    }
}

// ---- checkpoint ---------------------------------------------------------------------------------

static int ask_checkpoint(struct store *store, void *question) {
    return store_checkpoint(store, question);
}

static void on_checkpointed(struct job *job) {
    struct store_checkpointed *done = job->question;
    if (job->result == STORE_DONE) {
        control_reply(job->context,
                      json_pack("{s:I, s:I, s:I, s:I, s:b}", "wal_bytes_before",
                                (json_int_t)done->before_bytes, "wal_bytes",
                                (json_int_t)done->bytes, "pages", (json_int_t)done->pages,
                                "pages_moved", (json_int_t)done->moved_pages, "pinned",
                                done->pinned));
    } else {
        control_fail(job->context, NVTXT_CTL_FAILED, "the store could not be checkpointed");
    }
    free(done);
    free(job);
}

void control_checkpoint(struct control_call *call) {
    struct store_checkpointed *question = calloc(1, sizeof(*question));
    if (!put_question(call, ask_checkpoint, question, on_checkpointed)) {
        free(question);
    }
}
