// SPDX-License-Identifier: Apache-2.0
//
// The hot side of a batch: it makes records of what an interpreter hands out. It runs on the loop
// thread, once for each event. An event costs a record in one arena, a copy of its text in the
// other and a hash; it allocates nothing else.
//
// Records are appended in the order in which events come. A share knows its records as runs; a run
// goes on until another source appends. So a source that is alone has one run for each chunk, and
// writing source by source costs a pointer for each run.

#include "protocol/table/arrays.h"
#include "store/value/batch.h"
#include "store/value/record.h"

// ---- Domains ----------------------------------------------------------------------------------

static struct store_domain *find_domain(struct store_batch *batch, struct nvtxt_slice name,
                                        uint32_t hash) {
    struct store_domain *domain;
    NVTXT_HASH_FIND(domain, node, &batch->by_name, hash,
                    nvtxt_slice_equal((struct nvtxt_slice){domain->name, domain->len}, name));
    return domain;
}

static struct store_domain *new_domain(struct store_batch *batch, struct nvtxt_slice name,
                                       uint32_t hash) {
    if (nvtxt_grow(&batch->domains, &batch->domain_room, (size_t)batch->domain_count + 2,
                   sizeof(*batch->domains)) < 0) {
        return NULL;
    }
    struct store_domain *domain = store_arena_make(&batch->data, sizeof(*domain));
    if (!domain) {
        return NULL;
    }
    domain->name_hash = hash;
    domain->name = store_arena_copy(&batch->data, name.data, name.len);
    domain->len = (uint32_t)name.len;
    domain->index = batch->domain_count + 1;
    if (!domain->name || nvtxt_hash_add(&batch->by_name, &domain->node, hash) < 0) {
        return NULL;
    }
    batch->domains[++batch->domain_count] = domain;
    return domain;
}

// A source usually keeps its display name, so its last one is compared first.
int store_share_domain(struct store_share *share, struct nvtxt_slice name, uint32_t *index) {
    struct store_batch *batch = share->pub.batch;
    *index = 0;
    if (name.len == 0) {
        return 0;
    }
    if (share->last_domain) {
        const struct store_domain *last = batch->domains[share->last_domain];
        if (last->len == name.len && memcmp(last->name, name.data, name.len) == 0) {
            *index = share->last_domain;
            return 0;
        }
    }
    uint32_t hash = store_text_hash(name.data, name.len);
    struct store_domain *domain = find_domain(batch, name, hash);
    if (!domain) {
        domain = new_domain(batch, name, hash);
    }
    if (!domain) {
        return nvtxt_origin(-ENOMEM);
    }
    *index = share->last_domain = domain->index;
    return 0;
}

// ---- The sink ---------------------------------------------------------------------------------

static struct store_event *first_of_run(struct store_batch *batch, struct store_share *share) {
    struct store_event *event =
        store_arena_take(&batch->records, sizeof(*event), _Alignof(struct store_event));
    struct store_run *run = store_arena_make(&batch->data, sizeof(*run));
    if (!event || !run) {
        batch->tail_share = NULL; // an unused slot may be at the end
        return NULL;
    }
    run->events = event;
    NVTXT_APPEND(share->runs, share->last_run, next, run);
    batch->tail_share = share;
    return event;
}

static struct store_event *take_event(struct store_batch *batch, struct store_share *share) {
    struct store_arena *records = &batch->records;
    if (batch->tail_share == share && records->left >= sizeof(struct store_event)) {
        struct store_event *event = (struct store_event *)(void *)records->at;
        records->at += sizeof(*event);
        records->left -= sizeof(*event);
        return event;
    }
    return first_of_run(batch, share);
}

// Moves what few events have out of the record.
static int add_extra(struct store_share *share, struct store_event *record,
                     const struct nvtxt_event *event) {
    struct store_event_extra *extra = store_arena_make(&share->pub.batch->data, sizeof(*extra));
    if (!extra) {
        return nvtxt_origin(-ENOMEM);
    }
    extra->payload = record->payload;
    extra->open_seq = event->open_seq;
    if (event->json.len > 0) {
        int r = store_batch_copy(share->pub.batch, event->json, &extra->json);
        if (r < 0) {
            return r;
        }
        record->flags |= STORE_EVENT_JSON;
    }
    if (event->key.len > 0) {
        if (store_batch_copy(share->pub.batch, event->key, &extra->key) < 0 ||
            store_batch_copy(share->pub.batch, event->parent, &extra->parent) < 0) {
            return nvtxt_origin(-ENOMEM);
        }
        record->flags |= STORE_EVENT_KEY;
    }
    if (event->ended_elsewhere) {
        extra->elsewhere = true;
        extra->end_global_tid = nvtxt_global_tid(event->end_pid, event->end_tid);
        record->flags |= STORE_EVENT_ELSEWHERE;
    }
    extra->next = share->extras;
    share->extras = extra;
    record->payload.extra = extra;
    record->flags |= STORE_EVENT_EXTRA;
    return 0;
}

static void set_payload(struct store_event *record, const struct nvtxt_payload *payload) {
    static const uint16_t flags[] = {
        [NVTXT_PAYLOAD_INT64] = STORE_EVENT_INT64,   [NVTXT_PAYLOAD_DOUBLE] = STORE_EVENT_DOUBLE,
        [NVTXT_PAYLOAD_UINT64] = STORE_EVENT_UINT64, [NVTXT_PAYLOAD_UINT32] = STORE_EVENT_UINT32,
        [NVTXT_PAYLOAD_INT32] = STORE_EVENT_INT32,   [NVTXT_PAYLOAD_FLOAT] = STORE_EVENT_FLOAT,
    };
    record->flags |= flags[payload->kind];
    if (record->flags & (STORE_EVENT_DOUBLE | STORE_EVENT_FLOAT)) {
        record->payload.real = payload->real;
    } else {
        record->payload.int64 = payload->kind == NVTXT_PAYLOAD_NONE ? 0 : payload->int64;
    }
}

static int fill_event(struct store_share *share, struct store_event *record,
                      const struct nvtxt_event *event) {
    struct store_batch *batch = share->pub.batch;
    const char *text = "";
    if (event->text.len > 0) {
        char *copy = store_arena_take(&batch->data, event->text.len, 1);
        if (!copy) {
            return nvtxt_origin(-ENOMEM);
        }
        text = memcpy(copy, event->text.data, event->text.len);
    }
    int r = store_share_domain(share, event->domain, &record->domain);
    if (r < 0) {
        return r;
    }
    record->start = event->start;
    record->end = event->end;
    record->global_tid = nvtxt_global_tid(event->pid, event->tid);
    record->text = text;
    record->text_id = 0;
    record->text_len = (uint32_t)event->text.len;
    record->text_hash = store_text_hash(text, event->text.len);
    record->category = event->category;
    record->color = event->color;
    record->type = (uint8_t)event->type;
    record->flags = event->unclosed ? STORE_EVENT_UNCLOSED : 0;
    set_payload(record, &event->payload);
    if (event->open_seq || event->ended_elsewhere || event->json.len > 0 || event->key.len > 0) {
        return add_extra(share, record, event);
    }
    return 0;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct store_share *share = context;
    struct store_batch *batch = share->pub.batch;
    struct store_event *record = take_event(batch, share);
    if (!record) {
        return nvtxt_origin(-ENOMEM);
    }
    if (fill_event(share, record, event) < 0) {
        batch->tail_share = NULL; // the slot is lost, its run ends before it
        return nvtxt_origin(-ENOMEM);
    }
    share->flags |= record->flags;
    share->last_run->count++;
    share->events++;
    batch->events++;
    return 0;
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct store_share *share = context;
    struct store_batch *batch = share->pub.batch;
    struct store_name *copy = store_arena_make(&batch->data, sizeof(*copy));
    if (!copy || store_share_domain(share, name->domain, &copy->domain) < 0 ||
        store_batch_copy(batch, name->resource_kind, &copy->resource_kind) < 0 ||
        store_batch_copy(batch, name->json, &copy->json) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    copy->handle = name->handle;
    copy->text = store_arena_copy(&batch->data, name->text.data, name->text.len);
    if (!copy->text) {
        return nvtxt_origin(-ENOMEM);
    }
    copy->kind = name->kind;
    copy->events_before = share->events;
    copy->category = name->category;
    copy->text_len = (uint32_t)name->text.len;
    copy->text_hash = store_text_hash(copy->text, name->text.len);
    copy->global_tid = nvtxt_global_tid(name->pid, name->kind == NVTXT_NAME_THREAD ? name->tid : 0);
    copy->at = name->at;
    copy->at_global_tid = nvtxt_global_tid(name->at_pid, name->at_tid);
    NVTXT_APPEND(share->names, share->last_name, next, copy);
    return 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    struct store_share *share = context;
    struct store_batch *batch = share->pub.batch;
    struct store_diag *copy = store_arena_make(&batch->data, sizeof(*copy));
    if (!copy) {
        return nvtxt_origin(-ENOMEM);
    }
    copy->message = store_arena_copy(&batch->data, diag->message, strlen(diag->message));
    copy->excerpt = store_arena_copy(&batch->data, diag->excerpt, strlen(diag->excerpt));
    if (!copy->message || !copy->excerpt) {
        return nvtxt_origin(-ENOMEM);
    }
    copy->code = diag->code;
    copy->column = diag->column;
    copy->line = diag->line;
    NVTXT_APPEND(share->pub.diags, share->last_diag, next, copy);
    return 0;
}

void store_batch_sink(struct store_batch_source *share, struct nvtxt_sink *sink) {
    *sink = (struct nvtxt_sink){
        .on_event = on_event, .on_name = on_name, .on_diag = on_diag, .context = share};
}
