// SPDX-License-Identifier: Apache-2.0
//
// Nothing is begun on the engine before there is a row for it. While the engine works on a chunk of
// events, the next one is read and turned into bytes; the store's read transaction is over before
// the first byte of a chunk is sent.
#include "ship/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ship/rows/rows.h"
#include "store/value/codes.h"

// No chunk has more: 512 KiB of text, one more text, and 2,048 rows of numbers.
#define CHUNK_BYTES (INT64_C(1) << 20)

struct work {
    struct session *session;
    struct round *round;
    bool begun;         // the transaction
    bool copying;       // COPY is open
    bool ended;         // all events that are there were read
    bool segment_known; // its row is written
    struct cursor_span span;
    int64_t bytes;
    int64_t copy_bytes;        // of the COPY that is open
    int64_t first_ns, last_ns; // committed, of the rows shipped
    int64_t skipped, last_skipped;
    struct store_gap gap; // rows that went before they were shipped
    bool store_ends;      // the next segment is of another store
    struct store_follow_segment segment;
};

static enum failure_class failed(struct work *work, enum failure_class class) {
    return session_pg_failure(work->session, class);
}

// Writes what is missing between two segments.
static enum failure_class write_gap(struct work *work, const struct store_gap *gap) {
    if (gap->count == 0) {
        return FAILURE_NONE;
    }
    if (work->gap.count == 0) {
        work->gap.segment = gap->segment;
    }
    work->gap.count += gap->count;
    return failed(work, small_own_loss(&work->session->small, (int64_t)gap->segment, 0, "retention",
                                       gap->count));
}

static enum failure_class begin(struct work *work) {
    struct session *session = work->session;
    if (work->begun) {
        return FAILURE_NONE;
    }
    work->begun = true;
    pg_say_what(session->pg, "the rows of segment %" PRIu64, work->segment.number);
    enum failure_class class =
        cursor_lock(session->pg, &session->cursor, session->self, &work->span);
    if (session->schema.plain_events) {
        work->span = (struct cursor_span){INT64_MIN, INT64_MAX};
    }
    class = failed(work, class);
    return class ?: write_gap(work, &session->gap);
}

// ---- Events -------------------------------------------------------------------------------------

static enum failure_class end_copy(struct work *work) {
    struct nvtxt_buf *bytes = &work->session->bytes;
    if (!work->copying) {
        return FAILURE_NONE;
    }
    work->copying = false;
    work->copy_bytes = 0;
    nvtxt_buf_clear(bytes);
    rows_end(bytes);
    enum failure_class class =
        failed(work, pg_copy_put(work->session->pg, bytes->data, bytes->len));
    return class ?: failed(work, pg_copy_end(work->session->pg));
}

// Opens a COPY with all columns that these rows need, unless that is what is open.
static enum failure_class begin_copy(struct work *work, const struct store_follow_event *rows,
                                     size_t count) {
    struct session *session = work->session;
    unsigned columns = session->columns | rows_needed(rows, count);
    if (work->copying && columns == session->columns) {
        nvtxt_buf_clear(&session->bytes);
        return FAILURE_NONE;
    }
    enum failure_class class = end_copy(work);
    session->columns = columns;
    nvtxt_buf_clear(&session->bytes);
    rows_copy_sql(&session->bytes, columns);
    if (class == FAILURE_NONE && nvtxt_buf_failed(&session->bytes)) {
        return failure_set(&session->failure, FAILURE_MEMORY, "out of memory");
    }
    class = class ?: failed(work, pg_copy_begin(session->pg, session->bytes.data));
    work->copying = class == FAILURE_NONE;
    nvtxt_buf_clear(&session->bytes);
    rows_begin(&session->bytes);
    return class;
}

static void note_row(struct work *work, const struct store_follow_event *row) {
    int64_t ns = row->committed_ns;
    work->first_ns = work->round->events == 0 || ns < work->first_ns ? ns : work->first_ns;
    work->last_ns = work->round->events == 0 || ns > work->last_ns ? ns : work->last_ns;
    work->round->events++;
}

// Makes bytes of a chunk. Rows of days that are not kept are passed over. What a clock that leapt
// says was committed after all days that have a partition goes to the end of the last one.
static void add_chunk(struct work *work, const struct store_follow_event *rows, size_t count) {
    struct nvtxt_buf *bytes = &work->session->bytes;
    const struct rows_home home = {.store_id = (int32_t)work->session->cursor.store_id,
                                   .segment = (int32_t)work->segment.number};
    for (size_t i = 0; i < count; i++) {
        struct store_follow_event row = rows[i];
        if (row.committed_ns < work->span.oldest_ns) {
            work->skipped++;
            work->last_skipped = row.event.row;
            continue;
        }
        if (row.committed_ns > work->span.newest_ns) {
            row.committed_ns = work->span.newest_ns;
        }
        rows_add(bytes, &home, work->session->columns, &row);
        note_row(work, &row);
    }
}

static enum failure_class ship_chunk(struct work *work, const struct store_follow_event *rows,
                                     size_t count) {
    struct nvtxt_buf *bytes = &work->session->bytes;
    enum failure_class class = begin(work);
    class = class ?: begin_copy(work, rows, count);
    if (class) {
        return class;
    }
    add_chunk(work, rows, count);
    if (nvtxt_buf_failed(bytes)) {
        return failure_set(&work->session->failure, FAILURE_MEMORY, "out of memory");
    }
    work->bytes += (int64_t)bytes->len;
    work->copy_bytes += (int64_t)bytes->len;
    class = failed(work, pg_copy_put(work->session->pg, bytes->data, bytes->len));
    nvtxt_buf_trim(bytes, (size_t)(2 * CHUNK_BYTES)); // it doubles when it grows
    return class;
}

// The next rows are read while the engine still has work.
static enum failure_class read_ahead_and_end_copy(struct work *work) {
    if (!work->ended && !signals_came()) {
        store_follow_read_ahead(work->session->follow);
    }
    return end_copy(work);
}

static bool has_room_for_a_chunk(const struct work *work) {
    int64_t rows = work->round->events + work->skipped;
    return rows + STORE_FOLLOW_ROWS <= ROUND_ROWS && work->bytes + CHUNK_BYTES <= ROUND_BYTES;
}

static enum failure_class ship_events(struct work *work) {
    while (has_room_for_a_chunk(work) && !signals_came()) {
        const struct store_follow_event *rows;
        size_t count;
        int r = store_follow_events(work->session->follow, &rows, &count);
        enum failure_class class = session_store_failure(work->session, r);
        if (class == FAILURE_NONE && r == STORE_DONE && count > 0) {
            class = ship_chunk(work, rows, count);
        }
        if (class == FAILURE_NONE && work->copy_bytes >= COPY_BYTES) {
            class = read_ahead_and_end_copy(work);
        }
        if (class) {
            return class;
        }
        if (r == STORE_NOT_FOUND) {
            work->ended = true;
            break;
        }
    }
    enum failure_class class = read_ahead_and_end_copy(work);
    if (class == FAILURE_NONE && work->skipped > 0) {
        class = failed(work, small_own_loss(&work->session->small, (int64_t)work->segment.number,
                                            -work->last_skipped, "expired", work->skipped));
    }
    return class;
}

// ---- The other tables ---------------------------------------------------------------------------

// Writes the segment's row, to which names refer.
static enum failure_class write_segment(struct work *work, int64_t events, bool complete) {
    enum failure_class class = begin(work);
    work->segment_known = true;
    if (class != 0) {
        return class;
    }
    return failed(work, small_segment(&work->session->small, &work->segment, events,
                                      events > 0 ? work->last_ns : 0, complete));
}

static enum failure_class need_segment(struct work *work) {
    return work->segment_known ? FAILURE_NONE : write_segment(work, work->round->events, false);
}

static enum failure_class ship_table(struct work *work, enum store_follow_table table) {
    enum store_follow_what what = work->round->changed ? STORE_FOLLOW_CHANGED : STORE_FOLLOW_ADDED;
    for (;;) {
        const void *rows;
        size_t count;
        int r = store_follow_rows(work->session->follow, table, what, &rows, &count);
        enum failure_class class = session_store_failure(work->session, r);
        if (class == FAILURE_NONE && count > 0) {
            class = need_segment(work);
            class = class ?: failed(work, small_rows(&work->session->small, table, rows, count));
        }
        if (class || r == STORE_NOT_FOUND) {
            return class;
        }
    }
}

static enum failure_class ship_open_ranges(struct work *work) {
    while (work->session->options->conf.open_ranges) {
        struct store_follow_opens open = {0};
        int r = store_follow_open_ranges(work->session->follow, &open);
        enum failure_class class = session_store_failure(work->session, r);
        if (class || r == STORE_NOT_FOUND) {
            return class;
        }
        if (open.all || open.came_count || open.went_count) {
            class = begin(work);
            class = class ?: failed(work, small_open_ranges(&work->session->small, &open));
        }
        if (class) {
            return class;
        }
    }
    return FAILURE_NONE;
}

static enum failure_class ship_rest(struct work *work) {
    bool names = work->round->events > 0 || work->round->changed;
    enum store_follow_table end = names ? STORE_FOLLOW_TABLES : STORE_FOLLOW_SOURCES;
    enum failure_class class = FAILURE_NONE;
    for (enum store_follow_table table = 0; class == FAILURE_NONE && table < end; table++) {
        bool lacks = table == STORE_FOLLOW_KEYS && !work->session->small.adds_parents;
        class = lacks ? FAILURE_NONE : ship_table(work, table);
    }
    if (class || !work->round->changed) {
        return class;
    }
    if (work->ended && store_follow_pass_names(work->session->follow)) {
        class = begin(work);
    }
    return class ?: ship_open_ranges(work);
}

// ---- The end of a round -------------------------------------------------------------------------

// Goes to the next segment: this one is complete, and what is between them is a loss. When the next
// one is of another store, the rows of this one are committed all the same.
static enum failure_class go_on(struct work *work) {
    struct session *session = work->session;
    struct store_gap gap = {0};
    enum failure_class class =
        write_segment(work, work->segment_known ? 0 : work->round->events, true);
    if (class) {
        return class;
    }
    int r = store_follow_next(session->follow, &gap);
    if (r == STORE_NOT_FOUND) {
        return FAILURE_NONE;
    }
    class = session_store_failure(session, r);
    work->store_ends = class == FAILURE_NEW_STORE;
    work->round->more = true;
    return work->store_ends ? FAILURE_NONE : class ?: write_gap(work, &gap);
}

static enum failure_class commit(struct work *work) {
    struct session *session = work->session;
    struct cursor_step step = {.events = work->round->events,
                               .committed_ns = work->round->events ? work->last_ns : 0,
                               .behind_rows = work->round->behind};
    bool goes_on = !work->ended && !signals_came();
    store_follow_place(session->follow, &step.place);
    enum failure_class class =
        failed(work, cursor_move(session->pg, session->cursor.store_id, &step));
    class = class ?: failed(work, cursor_commit(session->pg, goes_on));
    if (class == FAILURE_NONE) {
        session->cursor.place = step.place;
        session->gap = (struct store_gap){0};
        work->round->gap = work->gap;
        work->round->wrote = true;
    }
    return class;
}

static enum failure_class ship(struct work *work) {
    struct session *session = work->session;
    struct round *round = work->round;
    enum failure_class class =
        session_store_failure(session, store_follow_refresh(session->follow));
    store_follow_segment(session->follow, &work->segment);
    session->small.segment = (int64_t)work->segment.number;
    class = class ?: ship_events(work);
    bool finished = work->ended && store_follow_is_finished(session->follow);
    round->more = !work->ended;
    round->changed = round->changes || finished;
    if (class == FAILURE_NONE && session->gap.count > 0) {
        class = begin(work);
    }
    class = class ?: ship_rest(work);
    if (class == FAILURE_NONE && round->events > 0) {
        class = need_segment(work);
    }
    if (class == FAILURE_NONE && finished) {
        class = go_on(work);
    }
    round->behind = 0;
    if (class == FAILURE_NONE && !work->store_ends) {
        class =
            session_store_failure(session, store_follow_behind(session->follow, &round->behind));
    }
    if (class == FAILURE_NONE && work->begun) {
        class = commit(work);
    }
    return class == FAILURE_NONE && work->store_ends ? FAILURE_NEW_STORE : class;
}

static enum failure_class make_partitions(struct work *work) {
    int64_t made = 0;
    bool there = false;
    struct session *session = work->session;
    struct failure why = session->failure;
    bool is_sure = why.class == FAILURE_NO_PARTITION;
    enum failure_class class = failed(
        work, cursor_make_partitions(session->pg, work->first_ns, work->last_ns, &made, &there));
    if (class == FAILURE_NONE && is_sure && !there) {
        // The function passes over names that are taken.
        size_t len = strlen(why.sentence);
        len -= len > 0 && why.sentence[len - 1] == '.';
        snprintf(why.sentence + len, sizeof(why.sentence) - len,
                 "; a table events_YYYYMMDD of that day may be in the way, which is no partition");
    }
    if (class == FAILURE_NONE && (is_sure ? !there : made == 0)) {
        session->failure = why;
        class = session->failure.class = FAILURE_ENGINE;
    }
    return class ?: FAILURE_AGAIN;
}

// Whether a day may lack its partition: another machine may have said so, in words of its own.
static bool may_lack_partition(const struct work *work, enum failure_class class) {
    bool is_relayed = class == FAILURE_ENGINE && work->round->events > 0 &&
                      strcmp(work->session->failure.state, FAILURE_RELAYED) == 0;
    return class == FAILURE_NO_PARTITION || is_relayed;
}

// A right that the role had is gone: the schema was brought up meanwhile, and what this program
// does there is chosen anew at "connect".
static bool was_brought_up(struct session *session) {
    struct pg_rows *rows;
    bool is_newer =
        session->schema.version < SCHEMA_VERSION &&
        pg_ask(session->pg, "SELECT version FROM @.meta", NULL, 0, &rows) == FAILURE_NONE;
    if (is_newer) {
        is_newer = pg_rows_count(rows) > 0 && pg_int(rows, 0, 0) > session->schema.version;
        pg_rows_free(rows);
    }
    return is_newer;
}

enum failure_class round_run(struct session *session, struct round *round) {
    struct work work = {.session = session, .round = round};
    round->events = 0;
    round->more = round->wrote = round->changed = false;
    round->gap = (struct store_gap){0};
    enum failure_class class = ship(&work);
    if (class && work.begun) {
        enum failure_class again = pg_rollback(session->pg);
        class = again == FAILURE_GONE ? again : class;
    }
    if (class == FAILURE_REFUSED && was_brought_up(session)) {
        return failure_set(&session->failure, FAILURE_MOVED, "the schema was brought up");
    }
    return may_lack_partition(&work, class) ? make_partitions(&work) : class;
}
