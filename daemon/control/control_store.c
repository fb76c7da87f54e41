// SPDX-License-Identifier: Apache-2.0
//
// The commands `diagnostics`, `checkpoint` and `rotate`, which the writer answers: each becomes a
// job in its queue, after everything that came in before. A writer in trouble would answer only
// when the trouble is over, so then the command fails at once and says why.
#include "daemon/control/control_cmds.h"

#include <stdio.h>
#include <stdlib.h>

struct job *control_job_new(struct control_call *call, enum job_kind kind,
                            void (*on_done)(struct job *job), void *context) {
    struct writer_state state;
    char why[320];
    bqueue_get_state(&call->server->hub.queue, &state);
    if (state.in_trouble) {
        snprintf(why, sizeof(why), "the store cannot be written now: %s", state.last_error);
        control_fail(call, NVTXT_CTL_FAILED, why);
        return NULL;
    }
    struct job *job = job_new(kind, on_done, context);
    if (!job) {
        control_reply(call, NULL);
    }
    return job;
}

// The open batch goes first.
static void push(struct control_call *call, struct job *job) {
    batcher_push(&call->server->hub.batcher, false);
    hub_push(&call->server->hub, job);
}

// Takes the question, also when the call cannot wait for its answer.
static void ask_store(struct control_call *call, int (*ask)(struct store *store, void *question),
                      void *question_take, void (*on_done)(struct job *job)) {
    struct job *job = control_job_new(call, JOB_ASK, on_done, call);
    if (!job) {
        free(question_take);
        return;
    }
    job->commit = true;
    job->ask = ask;
    job->question = question_take;
    push(call, job);
}

// ---- diagnostics --------------------------------------------------------------------------------

#define DIAGNOSTICS_USUAL 20 // a screenful

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
    if (!question) {
        control_reply(call, NULL);
        return;
    }
    question->source_id = nvtxt_ctl_integer(request, "source", 0);
    question->limit = (size_t)nvtxt_ctl_integer(request, "limit", DIAGNOSTICS_USUAL);
    ask_store(call, ask_diags, question, on_diags);
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
    if (question) {
        ask_store(call, ask_checkpoint, question, on_checkpointed);
    } else {
        control_reply(call, NULL);
    }
}

// ---- rotate -------------------------------------------------------------------------------------

static void on_rotated(struct job *job) {
    if (job->result == STORE_DONE && job->answer) {
        control_reply(job->context,
                      json_pack("{s:o, s:o, s:b}", "segment", control_text(job->answer), "previous",
                                control_nullable(job->previous), "previous_removed",
                                job->previous_removed));
    } else {
        control_fail(job->context, NVTXT_CTL_FAILED, job->answer ?: "out of memory");
    }
    free(job->answer);
    free(job);
}

void control_rotate(struct control_call *call) {
    struct job *job = control_job_new(call, JOB_ROTATE, on_rotated, call);
    if (job) {
        push(call, job);
    }
}
