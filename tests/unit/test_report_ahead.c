// SPDX-License-Identifier: Apache-2.0
//
// Rows that threads read ahead: that they are those of one thread, in its order, that the blocks
// hold them, and what happens where they cannot be read. unit/test_report_load.c tests what events
// become of rows.
#include "report/load/load_ahead.h"

#include <sys/resource.h>

#include "report/load/load.h"
#include "store/read/reader.h"
#include "tests/unit/store_kit.h"

#define ROWS 40000
#define LONG_TEXT (300 * 1024)

// Texts of their own, texts that come again, and in a few rows what few have; now and then texts
// that are too long for a block.
static void fill(struct kit *kit, bool with_long) {
    char *text = malloc(LONG_TEXT + 1);
    cr_assert_not_null(text);
    for (int i = 0; i < ROWS; i++) {
        struct nvtxt_event event =
            i % 3 ? kit_range(i, i + i % 1000 - 10, text) : kit_mark(i, text);
        snprintf(text, LONG_TEXT, i % 2 ? "step %d" : "request %d", i % 2 ? i % 50 : i);
        if (with_long && i % 1500 == 7) {
            memset(text, 'a' + i % 26, LONG_TEXT);
            text[LONG_TEXT] = '\0';
        }
        event.text = nvtxt_slice_of(text);
        event.tid = TID + (uint32_t)i % 5;
        event.category = (uint32_t)i % 4;
        event.payload = (struct nvtxt_payload){
            .kind = i % 7 ? NVTXT_PAYLOAD_NONE : NVTXT_PAYLOAD_UINT64, .int64 = -i};
        event.json = nvtxt_slice_of(i % 11 ? "" : "{\"a\":1}");
        kit_add(kit, 1 + i / 5000, &event);
        if (i % 5000 == 4999) {
            kit_commit(kit);
        }
    }
    free(text);
    kit_exec(kit, "UPDATE NVTXT_SOURCES SET nvtx = 1");
}

static struct report_capture *load(const char *path, int64_t threads, bool brief) {
    char sentence[REPORT_SENTENCE_BYTES];
    struct report_capture *capture;
    struct report_load_options options = REPORT_LOAD_ALL;
    options.threads = threads;
    options.brief = brief;
    cr_assert_eq(report_load(&capture, &path, 1, &options, sentence), REPORT_LOADED, "%s",
                 sentence);
    return capture;
}

static void expect_same_texts(const struct nvtxt_slice *a, const struct nvtxt_slice *b,
                              size_t count) {
    for (size_t i = 0; i < count; i++) {
        cr_assert(nvtxt_slice_equal(a[i], b[i]), "text %zu", i);
    }
}

static void expect_same(const struct report_capture *a, const struct report_capture *b) {
    cr_assert_eq(a->event_count, b->event_count);
    cr_assert_eq(memcmp(a->events, b->events, a->event_count * sizeof(*a->events)), 0);
    cr_assert_eq(a->name_count, b->name_count);
    cr_assert_eq(memcmp(a->names, b->names, a->name_count * sizeof(*a->names)), 0);
    cr_assert_eq(a->message_count, b->message_count);
    expect_same_texts(a->messages, b->messages, a->message_count);
    cr_assert_eq(a->thread_count, b->thread_count);
    cr_assert_eq(a->more_count, b->more_count);
    for (size_t i = 0; i < a->more_count; i++) {
        cr_assert(nvtxt_slice_equal(a->more[i].json, b->more[i].json), "more %zu", i);
        cr_assert_eq(a->more[i].given_end, b->more[i].given_end);
    }
}

static void expect_same_with_any_number(bool with_long, bool brief) {
    static const int64_t threads[] = {2, 3, 256};
    struct kit kit;
    kit_open(&kit);
    fill(&kit, with_long);
    struct report_capture *one = load(kit.path, 1, brief);
    cr_expect_eq(one->event_count, ROWS);
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
        struct report_capture *many = load(kit.path, threads[i], brief);
        expect_same(one, many);
        report_capture_free(many);
    }
    report_capture_free(one);
    kit_close(&kit);
}

Test(ahead, any_number_of_threads_gives_the_same) {
    expect_same_with_any_number(false, false);
}

Test(ahead, and_of_brief_loads) {
    expect_same_with_any_number(false, true);
}

Test(ahead, and_of_long_texts) {
    expect_same_with_any_number(true, false);
}

// Long texts end blocks early, and how long those to come are is guessed from those before.
static void fill_with_shorter_and_shorter(struct kit *kit) {
    char text[2048];
    for (int i = 0; i < ROWS; i++) {
        int len = snprintf(text, sizeof(text), "%d%*s", i, i < 2000 ? 1000 : 10, "");
        struct nvtxt_event event = kit_mark(i, text);
        event.text = (struct nvtxt_slice){text, (size_t)len};
        kit_add(kit, 1, &event);
    }
    kit_commit(kit);
}

Test(ahead, a_load_that_is_too_large_says_the_same) {
    struct kit kit;
    int refused = 0;
    kit_open(&kit);
    fill_with_shorter_and_shorter(&kit);
    const char *path = kit.path;
    for (uint64_t most = 1 << 20; most < 4 << 20; most += 64 << 10) {
        char sentences[2][REPORT_SENTENCE_BYTES];
        int r[2];
        for (int i = 0; i < 2; i++) {
            struct report_capture *capture;
            struct report_load_options options = REPORT_LOAD_ALL;
            options.threads = 1 + i;
            options.max_memory = most;
            r[i] = report_load(&capture, &path, 1, &options, sentences[i]);
            report_capture_free(capture);
        }
        cr_expect_eq(r[0], r[1]);
        cr_expect_str_eq(sentences[0], sentences[1]);
        refused += r[0] == REPORT_TOO_LARGE;
    }
    cr_expect_gt(refused, 10);
    kit_close(&kit);
}

// So many blocks would have no end. The difference of these rowids has no number.
Test(ahead, rows_may_lie_far_apart) {
    struct kit kit;
    kit_open(&kit);
    fill(&kit, false);
    kit_exec(&kit,
             "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, "
             "color, globalTid, domainId) SELECT rowid * (1 << 62), start, end, eventType, "
             "rangeId, text, category, color, globalTid, domainId FROM (SELECT -1 AS rowid, * "
             "FROM NVTX_EVENTS WHERE rowid = 1 UNION ALL SELECT 1, * FROM NVTX_EVENTS WHERE "
             "rowid = 1)");
    struct report_capture *one = load(kit.path, 1, false), *two = load(kit.path, 2, false);
    cr_expect_eq(one->event_count, ROWS + 2);
    expect_same(one, two);
    report_capture_free(one);
    report_capture_free(two);
    kit_close(&kit);
}

// ---- Blocks -------------------------------------------------------------------------------------

static bool ignore(void *context, const struct report_raw *raw) {
    (void)context;
    (void)raw;
    return false;
}

// A file that is loaded, up to the first block.
struct reading {
    struct report_load_state load;
    struct report_load_file file;
    struct report_raw_rows own;
    const struct store_span *spans;
    size_t span_count;
    struct report_ahead *ahead;
};

static void begin(struct reading *reading, const char *path, size_t readers) {
    char sentence[1024];
    *reading = (struct reading){.load = {.window = STORE_READ_ALL, .readers = readers},
                                .own.take = ignore};
    struct report_load_file *file = &reading->file;
    cr_assert_eq(store_read_connect(&file->reader, path, sentence, sizeof(sentence)), STORE_DONE);
    file->db = store_read_database(file->reader, &file->ours);
    cr_assert_eq(store_read_spans(file->reader, &reading->load.window, &reading->spans,
                                  &reading->span_count),
                 SQLITE_OK);
    cr_assert_eq(reading->span_count, 1);
    cr_assert_eq(report_raw_prepare(&reading->own, &reading->load, file, file->db), SQLITE_OK);
}

static void start(struct reading *reading) {
    reading->ahead = report_ahead_begin(&reading->load, &reading->file, reading->spans,
                                        reading->span_count, &reading->own);
}

static void end(struct reading *reading) {
    report_ahead_end(reading->ahead);
    sqlite3_finalize(reading->own.stmt);
    store_read_close(reading->file.reader);
}

Test(ahead, blocks_hold_all_rows_in_their_order) {
    struct kit kit;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    begin(&reading, kit.path, 4);
    start(&reading);
    cr_assert_not_null(reading.ahead);
    const struct store_span *span = reading.spans;
    for (int turn = 0; turn < 2; turn++) { // a second span is as good
        int64_t next = span->first;
        const struct report_ahead_block *block = NULL;
        report_ahead_span(reading.ahead, span);
        while ((block = report_ahead_next(reading.ahead))) {
            cr_assert_eq(block->first, next);
            cr_assert_eq(block->read, block->last, "a block is whole");
            for (size_t i = 0; i < block->count; i++) {
                cr_assert_eq(block->raws[i].row, next++);
            }
        }
        cr_assert_eq(next, span->last + 1);
    }
    end(&reading);
    kit_close(&kit);
}

// The caller reads it: so there is one of them in memory, not one of each thread.
Test(ahead, a_text_that_no_block_holds_is_not_read) {
    struct kit kit;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    kit_exec(&kit, "UPDATE NVTX_EVENTS SET text = printf('%.600000c', 'x') WHERE rowid % 2048 = 5");
    begin(&reading, kit.path, 3);
    start(&reading);
    cr_assert_not_null(reading.ahead);
    const struct report_ahead_block *block = NULL;
    report_ahead_span(reading.ahead, reading.spans);
    while ((block = report_ahead_next(reading.ahead))) {
        cr_expect_eq(block->read, block->first + 3);
        cr_expect_eq(block->count, 4);
    }
    int64_t len = 0;
    cr_expect_eq(store_sql_int(reading.file.db,
                               "SELECT length(text) FROM NVTX_EVENTS WHERE rowid = 5", &len),
                 SQLITE_OK, "the caller reads them as before");
    cr_expect_eq(len, 600000);
    end(&reading);
    struct report_capture *one = load(kit.path, 1, false), *many = load(kit.path, 3, false);
    expect_same(one, many);
    report_capture_free(one);
    report_capture_free(many);
    kit_close(&kit);
}

Test(ahead, nobody_reads_ahead_alone_or_few_rows) {
    struct kit kit;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    begin(&reading, kit.path, 1);
    start(&reading);
    cr_expect_null(reading.ahead);
    reading.load.readers = 2;
    struct store_span few = {1, 1000};
    reading.spans = &few;
    start(&reading);
    cr_expect_null(reading.ahead);
    end(&reading);
    kit_close(&kit);
}

static void expect_none_under(int resource) {
    struct kit kit;
    struct reading reading;
    struct rlimit limit;
    kit_open(&kit);
    fill(&kit, false);
    begin(&reading, kit.path, 2);
    cr_assert_eq(getrlimit(resource, &limit), 0);
    limit.rlim_cur = (rlim_t)1 << 60; // nothing fails
    cr_assert_eq(setrlimit(resource, &limit), 0);
    start(&reading);
    cr_expect_null(reading.ahead);
    end(&reading);
    kit_close(&kit);
}

Test(ahead, nobody_reads_ahead_where_address_space_has_a_bound) {
    expect_none_under(RLIMIT_AS);
}

Test(ahead, nor_where_data_has_one) {
    expect_none_under(RLIMIT_DATA);
}

Test(ahead, ends_before_all_is_read) {
    struct kit kit;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    begin(&reading, kit.path, 3);
    start(&reading);
    report_ahead_span(reading.ahead, reading.spans);
    cr_expect_not_null(report_ahead_next(reading.ahead));
    end(&reading);
    kit_close(&kit);
}

// Another file has its name by now: its rows are not those that were looked at.
Test(ahead, another_file_of_the_same_name_is_not_read) {
    struct kit kit, other;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    kit_open(&other);
    fill(&other, false);
    store_close(kit.store);
    store_close(other.store);
    kit.store = other.store = NULL;
    begin(&reading, kit.path, 2);
    cr_assert_eq(rename(other.path, kit.path), 0);
    start(&reading);
    cr_expect_null(reading.ahead);
    end(&reading);
    kit_close(&kit);
    kit_close(&other);
}

static bool always(void) {
    return true;
}

// What cannot be read ahead is left to the caller, who says why.
Test(ahead, an_interrupt_leaves_blocks_that_are_not_whole) {
    struct kit kit;
    struct reading reading;
    kit_open(&kit);
    fill(&kit, false);
    begin(&reading, kit.path, 2);
    reading.load.interrupted = always;
    start(&reading);
    cr_assert_not_null(reading.ahead);
    const struct report_ahead_block *block = NULL;
    bool any = false;
    report_ahead_span(reading.ahead, reading.spans);
    while ((block = report_ahead_next(reading.ahead))) {
        any |= block->read < block->last;
    }
    cr_expect(any);
    end(&reading);
    kit_close(&kit);
}
