// SPDX-License-Identifier: Apache-2.0
//
// Reading must not cost the writer much. Only one read is under way at a time, and it looks at a
// bounded number of rows. While the writer has work, a read begins only after a commit: one for
// each commit, however many calls wait; the one that has waited longest is next. The answer to a
// call that cannot keep up says how much it does not show. Loop thread, but for ask_events(), which
// the writer runs.
#include "daemon/control/control_cmds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/table/arrays.h"

#define EVENTS_USUAL 100
#define BUSY_WAIT_MS 5000 // how long a call that does not want to wait waits for a busy writer

struct feed_call {
    struct feed_call *next;
    struct control_feed *feed;
    struct control_call *call;
    struct store_event_query query; // its texts belong to the request
    const char *path;               // of the store; borrowed from the configuration
    struct store_events events;     // result
    uint64_t skipped;               // by the reads that found nothing to show
    bool gone;                      // the segment of its cursor was removed
    bool waits;                     // the client wants to wait until there is something
    uint64_t until_ms;              // when its time is over
    bool seen;                      // the store has nothing more for it now
    bool cancelled;                 // nobody waits for the answer any more
};

// ---- The list -----------------------------------------------------------------------------------

static void append(struct control_feed *feed, struct feed_call *waiting) {
    waiting->next = NULL;
    NVTXT_APPEND(feed->first, feed->last, next, waiting);
}

static void take_out(struct control_feed *feed, struct feed_call *waiting) {
    struct feed_call *before = NULL;
    for (struct feed_call *at = feed->first; at != waiting; at = at->next) {
        before = at;
    }
    if (before) {
        before->next = waiting->next;
    } else {
        feed->first = waiting->next;
    }
    if (feed->last == waiting) {
        feed->last = before;
    }
}

// ---- Answers ------------------------------------------------------------------------------------

static json_t *cursor_text(struct store_cursor cursor) {
    char text[64];
    if (cursor.segment == UINT64_MAX) {
        return json_null(); // nothing was read yet
    }
    snprintf(text, sizeof(text), "%" PRIu64 ":%" PRId64, cursor.segment, cursor.row);
    return json_string(text);
}

static json_t *describe(const struct store_event_row *row) {
    json_t *object = json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I}", "start_ns", (json_int_t)row->start_ns,
        "duration_ns", (json_int_t)row->duration_ns, "kind", control_slice(row->kind), "message",
        control_slice(row->message), "category", control_nullable_slice(row->category_name),
        "category_id", (json_int_t)row->category, "process", control_nullable_slice(row->process),
        "thread", control_nullable_slice(row->thread), "pid", (json_int_t)row->pid, "tid",
        (json_int_t)row->tid);
    if (!object) {
        return NULL;
    }
    json_object_set_new(object, "source", control_nullable_slice(row->source));
    control_set(object, "source_id", row->source_id);
    json_object_set_new(object, "domain", control_nullable_slice(row->domain));
    json_object_set_new(object, "color", control_nullable_slice(row->color));
    json_object_set_new(object, "payload", control_nullable_slice(row->payload));
    json_object_set_new(object, "payload_type", control_nullable_slice(row->payload_type));
    json_object_set_new(object, "json", control_nullable_slice(row->json));
    json_object_set_new(object, "level", control_nullable_slice(row->level));
    control_set(object, "row", row->row);
    return object;
}

static json_t *result_of(const struct feed_call *waiting) {
    const struct store_events *events = &waiting->events;
    json_t *list = json_array();
    for (size_t i = 0; list && i < events->count; i++) {
        json_array_append_new(list, describe(&events->rows[i]));
    }
    if (!list) {
        return NULL;
    }
    return json_pack("{s:o, s:o, s:o, s:b, s:I, s:b}", "events", list, "cursor",
                     cursor_text(waiting->query.cursor), "end", cursor_text(events->end), "more",
                     events->more, "skipped", (json_int_t)waiting->skipped, "gone", waiting->gone);
}

// The call must be in no list; it is freed.
static void answer(struct feed_call *waiting, int r) {
    struct control_call *call = waiting->call;
    call->on_cancel = NULL;
    if (r == STORE_DONE) {
        control_reply(call, result_of(waiting));
    } else {
        control_fail(call, NVTXT_CTL_FAILED, "the store could not be read");
    }
    store_events_deinit(&waiting->events);
    free(waiting);
}

static void on_cancel(struct control_call *call) {
    struct feed_call *waiting = call->waiting;
    waiting->cancelled = true;
    if (waiting->feed->reading == waiting) {
        return; // on_read() answers it
    }
    take_out(waiting->feed, waiting);
    answer(waiting, STORE_DONE);
}

// ---- Time ---------------------------------------------------------------------------------------

static void on_timer(uv_timer_t *timer);

static void set_timer(struct control_feed *feed) {
    uint64_t now = uv_now(feed->server->hub.loop), until = UINT64_MAX;
    for (struct feed_call *at = feed->first; at; at = at->next) {
        until = at->until_ms < until ? at->until_ms : until;
    }
    if (feed->closing) {
        return;
    }
    if (until == UINT64_MAX) {
        uv_timer_stop(&feed->timer);
    } else {
        uv_timer_start(&feed->timer, on_timer, until > now ? until - now : 0, 0);
    }
}

static void on_timer(uv_timer_t *timer) {
    struct control_feed *feed = timer->data;
    uint64_t now = uv_now(feed->server->hub.loop);
    struct feed_call *next;
    for (struct feed_call *at = feed->first; at; at = next) {
        next = at->next;
        if (at->until_ms <= now) {
            take_out(feed, at);
            answer(at, STORE_DONE);
            next = feed->first; // an answer that cannot be sent may have freed other calls
        }
    }
    set_timer(feed);
}

// ---- Reading ------------------------------------------------------------------------------------

static int ask_events(struct store *store, void *question) {
    struct feed_call *waiting = question;
    return store_events_load(store, waiting->path, &waiting->query, &waiting->events);
}

static void on_read(struct job *job);

// Reads for the first call that has not seen everything.
static void read_next(struct control_feed *feed) {
    struct feed_call *waiting = feed->first;
    while (waiting && waiting->seen) {
        waiting = waiting->next;
    }
    struct job *job = waiting && !feed->reading ? job_new(JOB_ASK, on_read, feed) : NULL;
    if (!job) {
        return; // nothing to read; or memory is short: again after the next commit
    }
    take_out(feed, waiting);
    feed->reading = waiting;
    job->ask = ask_events;
    job->question = waiting;
    hub_push(&feed->server->hub, job);
}

static void read_if_idle(struct control_feed *feed) {
    if (feed->server->hub.batcher.jobs_out == 0) {
        read_next(feed);
    }
}

static void on_read(struct job *job) {
    struct control_feed *feed = job->context;
    struct feed_call *waiting = feed->reading;
    const struct store_events *events = &waiting->events;
    int r = job->result;
    free(job);
    feed->reading = NULL;
    if (r == STORE_DONE) {
        waiting->query.cursor = events->next;
        waiting->skipped += events->skipped;
        waiting->gone |= events->gone;
    }
    bool wanted = events->count > 0 || waiting->skipped > 0 || waiting->gone ||
                  waiting->query.backward || !(waiting->waits || events->more);
    bool over = waiting->until_ms <= uv_now(feed->server->hub.loop);
    if (r != STORE_DONE || wanted || over || waiting->cancelled || feed->closing) {
        answer(waiting, r);
    } else {
        waiting->seen = !events->more;
        append(feed, waiting);
    }
    set_timer(feed);
    read_if_idle(feed);
}

void control_events_news(struct control_feed *feed) {
    for (struct feed_call *at = feed->first; at; at = at->next) {
        at->seen = false;
    }
    read_next(feed);
}

// ---- The command --------------------------------------------------------------------------------

// "segment:row", or "end". False for anything else.
static bool read_cursor(const char *text, struct store_cursor *cursor) {
    char again[64];
    *cursor = STORE_CURSOR_END;
    if (!text || strcmp(text, "end") == 0) {
        return true;
    }
    if (sscanf(text, "%20" SCNu64 ":%19" SCNd64, &cursor->segment, &cursor->row) != 2) {
        return false;
    }
    snprintf(again, sizeof(again), "%" PRIu64 ":%" PRId64, cursor->segment, cursor->row);
    return strcmp(again, text) == 0 && cursor->segment < UINT64_MAX && cursor->row >= 0;
}

static const char *read_query(const json_t *request, struct store_event_query *query) {
    const char *after = nvtxt_ctl_string(request, "after");
    const char *before = nvtxt_ctl_string(request, "before");
    *query = (struct store_event_query){
        .backward = before != NULL,
        .limit = (size_t)nvtxt_ctl_integer(request, "limit", EVENTS_USUAL),
        .pid = nvtxt_ctl_integer(request, "pid", -1),
        .category = nvtxt_ctl_integer(request, "category", -1),
        .category_name = nvtxt_ctl_string(request, "category_name"),
        .message = nvtxt_ctl_string(request, "message"),
        .kind = nvtxt_ctl_string(request, "kind"),
    };
    if (before && after) {
        return "\"before\" and \"after\" exclude each other";
    }
    if (!read_cursor(before ?: after, &query->cursor)) {
        return before ? "\"before\" must be a cursor of an answer, or \"end\""
                      : "\"after\" must be a cursor of an answer, or \"end\"";
    }
    return NULL;
}

void control_events(struct control_call *call) {
    struct control_feed *feed = call->control->feed;
    struct feed_call *waiting = calloc(1, sizeof(*waiting));
    if (!waiting) {
        control_reply(call, NULL);
        return;
    }
    const char *why = read_query(call->request.object, &waiting->query);
    if (why) {
        free(waiting);
        control_fail(call, NVTXT_CTL_BAD_ARGUMENT, why);
        return;
    }
    uint64_t wait = (uint64_t)nvtxt_ctl_integer(call->request.object, "wait_ms", 0);
    waiting->feed = feed;
    waiting->call = call;
    waiting->path = feed->server->hub.config->store;
    waiting->waits = wait > 0;
    waiting->until_ms = uv_now(feed->server->hub.loop) + (wait ?: BUSY_WAIT_MS);
    call->waiting = waiting;
    call->on_cancel = on_cancel;
    if (waiting->waits) {
        control_let_pass(call);
    }
    append(feed, waiting);
    set_timer(feed);
    read_if_idle(feed);
}

// ---- Life ---------------------------------------------------------------------------------------

void control_events_init(struct control_feed *feed, struct server *server) {
    *feed = (struct control_feed){.server = server};
    uv_timer_init(server->hub.loop, &feed->timer); // cannot fail
    feed->timer.data = feed;
}

void control_events_close(struct control_feed *feed) {
    feed->closing = true;
    hub_close_handle(&feed->timer);
}
