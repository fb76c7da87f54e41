// SPDX-License-Identifier: Apache-2.0
//
// Batches as the filling side sees them: shares, bytes, discarding, resetting.
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "store/value/batch.h"
#include "store/value/record.h"

static struct store_batch_source *share_of(struct store_batch *batch, int64_t id) {
    struct store_source source = {.id = id, .name = "a.nvtxt"};
    struct store_batch_source *share = store_batch_source(batch, &source);
    cr_assert_not_null(share);
    return share;
}

static void add_mark(struct store_batch_source *share, int64_t at, const char *text) {
    struct nvtxt_sink sink;
    struct nvtxt_event event = {.type = NVTXT_EVENT_MARK,
                                .pid = 1,
                                .tid = 2,
                                .start = at,
                                .end = at,
                                .text = nvtxt_slice_of(text)};
    store_batch_sink(share, &sink);
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
}

static size_t count_shares(const struct store_batch *batch) {
    size_t count = 0;
    for (const struct store_batch_source *share = store_batch_first(batch); share;
         share = share->next) {
        count++;
    }
    return count;
}

// Starts of a share's events, in order.
static void starts_of(const struct store_batch_source *share, char *text, size_t size) {
    size_t len = 0;
    text[0] = '\0';
    for (const struct store_run *run = store_share_of(share)->runs; run; run = run->next) {
        for (size_t i = 0; i < run->count; i++) {
            len += (size_t)snprintf(text + len, size - len, "%s%lld", len ? " " : "",
                                    (long long)run->events[i].start);
        }
    }
}

Test(batch, a_record_takes_seventy_two_bytes) {
    cr_assert_eq(sizeof(struct store_event), 72);
}

Test(batch, is_empty_at_first_and_after_a_reset) {
    struct store_batch *batch = store_batch_new();
    cr_assert(store_batch_is_empty(batch));
    add_mark(share_of(batch, 1), 10, "text");
    cr_assert_not(store_batch_is_empty(batch));
    cr_assert_gt(store_batch_bytes(batch), sizeof(struct store_event));
    store_batch_reset(batch);
    cr_assert(store_batch_is_empty(batch));
    cr_assert_eq(batch->events, 0);
    cr_assert_eq(store_batch_bytes(batch), 0);
    cr_assert_null(store_batch_first(batch));
    store_batch_free(batch);
    store_batch_free(NULL);
}

Test(batch, answers_one_share_per_source_in_order_of_first_use) {
    struct store_batch *batch = store_batch_new();
    struct store_batch_source *first = share_of(batch, 7);
    for (int64_t id = 1; id <= 5000; id++) {
        share_of(batch, id);
    }
    cr_assert_eq(share_of(batch, 7), first);
    cr_assert_eq(count_shares(batch), 5000);
    cr_assert_eq(store_batch_first(batch)->id, 7);
    cr_assert_eq(store_batch_first(batch)->next->id, 1);
    store_batch_free(batch);
}

Test(batch, copies_what_it_is_given) {
    struct store_batch *batch = store_batch_new();
    char name[] = "name";
    char text[] = "text";
    struct store_source source = {.id = 1, .name = name};
    struct store_batch_source *share = store_batch_source(batch, &source);
    add_mark(share, 1, text);
    memset(name, 'x', 4);
    memset(text, 'x', 4);
    cr_assert_str_eq(share->source.name, "name");
    const struct store_event *event = store_share_of(share)->runs->events;
    cr_assert_eq(event->text_len, 4);
    cr_assert_eq(memcmp(event->text, "text", 4), 0);
    cr_assert_eq(event->text_hash, store_text_hash("text", 4));
    store_batch_free(batch);
}

Test(batch, keeps_the_order_of_each_source_when_sources_take_turns) {
    struct store_batch *batch = store_batch_new();
    char text[64];
    add_mark(share_of(batch, 1), 1, "");
    add_mark(share_of(batch, 1), 2, "");
    add_mark(share_of(batch, 2), 10, "");
    add_mark(share_of(batch, 1), 3, "");
    add_mark(share_of(batch, 2), 11, "");
    starts_of(share_of(batch, 1), text, sizeof(text));
    cr_assert_str_eq(text, "1 2 3");
    starts_of(share_of(batch, 2), text, sizeof(text));
    cr_assert_str_eq(text, "10 11");
    cr_assert_eq(batch->events, 5);
    store_batch_free(batch);
}

Test(batch, holds_more_events_than_a_chunk) {
    struct store_batch *batch = store_batch_new();
    struct store_batch_source *share = share_of(batch, 1);
    for (int i = 0; i < 20000; i++) {
        add_mark(share, i, "some text");
    }
    int64_t next = 0;
    for (const struct store_run *run = store_share_of(share)->runs; run; run = run->next) {
        for (size_t i = 0; i < run->count; i++) {
            cr_assert_eq(run->events[i].start, next++);
            cr_assert_eq(memcmp(run->events[i].text, "some text", 9), 0);
        }
    }
    cr_assert_eq(next, 20000);
    cr_assert_geq(store_batch_bytes(batch), 20000 * (sizeof(struct store_event) + 9));
    store_batch_free(batch);
}

Test(batch, keeps_a_bounded_amount_of_memory_after_a_reset) {
    struct store_batch *batch = store_batch_new();
    for (int i = 0; i < 200000; i++) {
        add_mark(share_of(batch, i % 3000), i, "some text that takes room");
    }
    store_batch_reset(batch);
    cr_assert_leq(batch->records.spare_bytes, 2u << 20);
    cr_assert_leq(batch->data.spare_bytes, 2u << 20);
    cr_assert_gt(batch->records.spare_bytes, 1u << 20);
    cr_assert_leq(batch->by_id.bucket_count, 1024);
    add_mark(share_of(batch, 1), 5, "again");
    cr_assert_eq(batch->events, 1);
    store_batch_free(batch);
}

Test(batch, takes_texts_longer_than_a_chunk) {
    struct store_batch *batch = store_batch_new();
    char *text = malloc(200001);
    memset(text, 'a', 200000);
    text[200000] = '\0';
    add_mark(share_of(batch, 1), 1, "before");
    add_mark(share_of(batch, 1), 2, text);
    add_mark(share_of(batch, 1), 3, "after");
    const struct store_event *events = store_share_of(share_of(batch, 1))->runs->events;
    cr_assert_eq(events[1].text_len, 200000);
    cr_assert_eq(memcmp(events[1].text, text, 200000), 0);
    cr_assert_eq(memcmp(events[2].text, "after", 5), 0);
    store_batch_reset(batch);
    cr_assert_leq(batch->data.spare_bytes, 2 * STORE_CHUNK_BYTES);
    free(text);
    store_batch_free(batch);
}

Test(batch, names_each_domain_once) {
    struct store_batch *batch = store_batch_new();
    static const char *const names[] = {"", "a", "b", "a", "a", "", "c", "b"};
    static const uint32_t expected[] = {0, 1, 2, 1, 1, 0, 3, 2};
    struct nvtxt_sink sink;
    store_batch_sink(share_of(batch, 1), &sink);
    for (size_t i = 0; i < 8; i++) {
        struct nvtxt_event event = {.type = NVTXT_EVENT_MARK, .domain = nvtxt_slice_of(names[i])};
        cr_assert_eq(sink.on_event(sink.context, &event), 0);
    }
    const struct store_event *events = store_share_of(share_of(batch, 1))->runs->events;
    for (size_t i = 0; i < 8; i++) {
        cr_assert_eq(events[i].domain, expected[i]);
    }
    cr_assert_eq(batch->domain_count, 3);
    store_batch_free(batch);
}

Test(batch, distinguishes_a_domain_that_begins_like_the_last_one) {
    struct store_batch *batch = store_batch_new();
    struct nvtxt_sink sink;
    char name[8] = "aaaa";
    store_batch_sink(share_of(batch, 1), &sink);
    struct nvtxt_event event = {.type = NVTXT_EVENT_MARK, .domain = {name, 4}};
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    name[3] = 'b'; // the same place, another name
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    event.domain.len = 3;
    cr_assert_eq(sink.on_event(sink.context, &event), 0);
    cr_assert_eq(batch->domain_count, 3);
    store_batch_free(batch);
}

Test(batch, keeps_diagnostics_in_order) {
    struct store_batch *batch = store_batch_new();
    struct store_batch_source *share = share_of(batch, 1);
    struct nvtxt_sink sink;
    store_batch_sink(share, &sink);
    for (uint64_t line = 1; line <= 3; line++) {
        struct nvtxt_diag diag = {.code = NVTXT_DIAG_BAD_COLOR, .column = 4, .line = line};
        snprintf(diag.message, sizeof(diag.message), "message %d", (int)line);
        snprintf(diag.excerpt, sizeof(diag.excerpt), "excerpt");
        cr_assert_eq(sink.on_diag(sink.context, &diag), 0);
    }
    uint64_t line = 1;
    for (const struct store_diag *diag = share->diags; diag; diag = diag->next) {
        cr_assert_eq(diag->line, line++);
        cr_assert_eq(diag->code, NVTXT_DIAG_BAD_COLOR);
        cr_assert_str_eq(diag->excerpt, "excerpt");
    }
    cr_assert_eq(line, 4);
    cr_assert_str_eq(share->diags->next->message, "message 2");
    store_batch_free(batch);
}

Test(batch, forgets_a_discarded_share_and_takes_it_up_again_empty) {
    struct store_batch *batch = store_batch_new();
    char text[64];
    struct store_batch_source *share = share_of(batch, 1);
    add_mark(share, 1, "gone");
    add_mark(share_of(batch, 2), 2, "stays");
    store_batch_discard(share);
    cr_assert(share->discarded);
    cr_assert_eq(batch->events, 1);
    cr_assert_not(store_batch_is_empty(batch));

    cr_assert_eq(share_of(batch, 1), share);
    cr_assert_not(share->discarded);
    add_mark(share, 3, "new");
    starts_of(share, text, sizeof(text));
    cr_assert_str_eq(text, "3");
    cr_assert_eq(batch->events, 2);
    store_batch_free(batch);
}

Test(batch, goes_on_with_the_share_that_was_discarded_last) {
    struct store_batch *batch = store_batch_new();
    char text[64];
    add_mark(share_of(batch, 1), 1, "gone");
    store_batch_discard(share_of(batch, 1));
    add_mark(share_of(batch, 1), 2, "new");
    starts_of(share_of(batch, 1), text, sizeof(text));
    cr_assert_str_eq(text, "2");
    store_batch_free(batch);
}

Test(batch, is_empty_when_its_only_share_is_discarded) {
    struct store_batch *batch = store_batch_new();
    add_mark(share_of(batch, 1), 1, "gone");
    store_batch_discard(share_of(batch, 1));
    store_batch_discard(store_batch_first(batch));
    cr_assert(store_batch_is_empty(batch));
    add_mark(share_of(batch, 2), 2, "next");
    cr_assert_eq(batch->events, 1);
    store_batch_free(batch);
}

Test(batch, is_not_empty_with_a_loss_or_a_clock_alone) {
    struct store_batch *batch = store_batch_new();
    cr_assert_eq(store_batch_loss(batch, 1, 0, 2, 3, "dropped", 4), 0);
    cr_assert_not(store_batch_is_empty(batch));
    store_batch_reset(batch);
    cr_assert_eq(store_batch_clock(batch, "ClockMonotonic", 1, 2, 3), 0);
    cr_assert_not(store_batch_is_empty(batch));
    store_batch_free(batch);
}

Test(batch, hashes_differ_for_texts_that_differ_little) {
    // Every length up to 40, every byte changed: no two hashes of one length may be the same.
    char text[41];
    for (size_t len = 1; len <= 40; len++) {
        memset(text, 'a', sizeof(text));
        uint32_t plain = store_text_hash(text, len);
        for (size_t i = 0; i < len; i++) {
            text[i] = 'b';
            cr_assert_neq(store_text_hash(text, len), plain, "length %zu, byte %zu", len, i);
            text[i] = 'a';
        }
    }
}

Test(batch, makes_utf8_of_the_names_of_a_source) {
    struct store_batch *batch = store_batch_new();
    struct store_source source = {
        .id = 1, .kind = STORE_SOURCE_FILE, .name = "a\xFF.nvtxt", .peer_comm = "fine"};
    const struct store_batch_source *share = store_batch_source(batch, &source);
    cr_assert_str_eq(share->source.name, "a\xEF\xBF\xBD.nvtxt");
    cr_assert_str_eq(share->source.peer_comm, "fine");
    store_batch_free(batch);
}
