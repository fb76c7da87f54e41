// SPDX-License-Identifier: Apache-2.0
//
// Where a follower reads. A place is compared with the store by the number of its segment and by
// the time at which its batch was committed, in nanoseconds: no other store has that one. When the
// segment is gone, the next one must have begun after that time, and the numbers of its rows must
// begin after those of the place; by how much is the size of the gap. A segment whose predecessor
// is older than the place takes the place of one that could not be read (nvtxt-store(5)): how many
// rows that one had is not known.
#include "store/follow/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "store/db/header.h"
#include "store/db/sql.h"
#include "store/follow/follow_state.h"
#include "store/read/reader.h"
#include "store/value/codes.h"

#define NS_PER_S INT64_C(1000000000)
#define LAST_ROW "SELECT ifnull(max(rowid), 0) FROM NVTX_EVENTS"
#define LAST_EVENT "SELECT lastRow FROM NVTXT_BATCHES ORDER BY id DESC LIMIT 1"

const char *store_follow_error(const struct store_follow *follow) {
    return follow->error;
}

const char *store_follow_id(const struct store_follow *follow) {
    return follow->id;
}

static int say(struct store_follow *follow, const char *what, int r) {
    snprintf(follow->error, sizeof(follow->error), "the store %s %s", follow->path, what);
    return r;
}

// ---- Opening ------------------------------------------------------------------------------------

// The link, or the file, names the newest segment.
static int read_id(struct store_follow *follow) {
    struct store_segment newest = {.path = follow->path};
    struct store_follow_facts facts;
    int r = store_follow_ask(follow, &newest, NULL, 0, NULL, &facts);
    if (r != STORE_DONE) {
        return r;
    }
    strcpy(follow->id, facts.id);
    return *follow->id ? STORE_DONE
                       : say(follow, "has no STORE_ID: start nvtxtd once", STORE_FOLLOW_NO_ID);
}

int store_follow_open(struct store_follow **out, const char *path, char *error, size_t size) {
    struct store_follow *follow = calloc(1, sizeof(*follow));
    *out = NULL;
    if (!follow || strlen(path) >= sizeof(follow->path)) {
        int r = follow ? nvtxt_origin(-ENAMETOOLONG) : nvtxt_origin(-ENOMEM);
        snprintf(error, size, "cannot read %s: %s", path, strerror(-r));
        free(follow);
        return r;
    }
    strcpy(follow->path, path);
    follow->watch = follow->watched = -1;
    follow->open_is_new = true;
    int r = read_id(follow);
    snprintf(error, size, "%s", follow->error);
    if (r != STORE_DONE && r != STORE_FOLLOW_NO_ID) {
        store_follow_close(follow);
        return r;
    }
    *out = follow;
    return r;
}

void store_follow_close(struct store_follow *follow) {
    if (!follow) {
        return;
    }
    store_follow_leave(follow);
    store_follow_forget_open(follow);
    store_segments_deinit(&follow->list);
    nvtxt_map_deinit(&follow->seen);
    store_arena_deinit(&follow->texts);
    free(follow->events);
    free(follow->rows);
    if (follow->watch >= 0) {
        close(follow->watch);
    }
    free(follow);
}

// ---- Segments -----------------------------------------------------------------------------------

static const struct store_segment *newest_of(const struct store_follow *follow) {
    return &follow->list.rows[follow->list.count - 1];
}

static bool is_same_file(const struct store_follow *follow, const char *path) {
    struct stat status;
    return stat(path, &status) < 0 ||
           (status.st_ino == follow->inode && status.st_dev == follow->device);
}

// Whether the configured path leads to another store now: to a file in place of segments or the
// other way round, to other segments with the same numbers, or to older ones only.
static bool is_replaced(const struct store_follow *follow) {
    const struct store_segment *newest = newest_of(follow);
    if (newest->number == 0) {
        return !is_same_file(follow, newest->path);
    }
    for (size_t i = 0; i < follow->list.count; i++) {
        if (follow->list.rows[i].number == follow->facts.number) {
            return !is_same_file(follow, follow->list.rows[i].path);
        }
    }
    return follow->facts.number == 0 || newest->number < follow->facts.number;
}

static int read_list(struct store_follow *follow) {
    char target[PATH_MAX];
    enum store_link link;
    struct store_segments list;
    int r = store_segments_link(follow->path, &link, target);
    if (r == 0 && (link == STORE_LINK_NONE || link == STORE_LINK_VANISHED)) {
        return say(follow, "is not there at the moment", STORE_NOT_FOUND);
    }
    r = r ?: store_segments_list(follow->path, &list);
    if (r < 0) {
        snprintf(follow->error, sizeof(follow->error), "cannot read the folder of %s: %s",
                 follow->path, strerror(-r));
        return r;
    }
    if (list.count == 0) {
        store_segments_deinit(&list);
        return say(follow, "is not there at the moment", STORE_NOT_FOUND);
    }
    store_segments_deinit(&follow->list);
    follow->list = list;
    return STORE_DONE;
}

int store_follow_refresh(struct store_follow *follow) {
    int r = read_list(follow);
    follow->at_end = false;
    if (r != STORE_DONE || !follow->reader) {
        return r;
    }
    follow->is_replaced = is_replaced(follow); // what is open is read to its end first
    follow->is_later = follow->is_replaced || newest_of(follow)->number > follow->facts.number;
    // What nobody had open was opened as a file that does not change.
    if (!follow->had_shm && store_file_size(follow->file, "-shm") >= 0) {
        char file[PATH_MAX];
        snprintf(file, sizeof(file), "%s", follow->file);
        return store_follow_enter(follow, file, follow->facts.number);
    }
    return STORE_DONE;
}

// Enters the oldest segment with at least this number. STORE_NOT_FOUND: there is none.
static int enter_from(struct store_follow *follow, uint64_t number) {
    int r = STORE_NOT_FOUND;
    for (size_t i = 0; i < follow->list.count; i++) {
        const struct store_segment *row = &follow->list.rows[i];
        if (row->number < number && row->number > 0) {
            continue;
        }
        r = store_follow_enter(follow, row->path, row->number);
        if (r == STORE_DONE || access(row->path, F_OK) == 0) {
            return r;
        }
        r = STORE_NOT_FOUND; // retention has removed it since it was listed
    }
    return r;
}

static void begin_segment(struct store_follow *follow) {
    follow->place =
        (struct store_place){.segment = follow->facts.number, .base = follow->facts.base};
    follow->batch = (struct store_follow_batch){0};
    follow->scanned = 0;
    follow->at_end = false;
    follow->is_replaced = false;
    follow->is_later = newest_of(follow)->number > follow->facts.number;
    store_follow_forget_rows(follow);
}

// ---- Seeking ------------------------------------------------------------------------------------

static int read_batch(struct store_follow *follow, int64_t id, struct store_follow_batch *batch) {
    sqlite3_stmt *stmt = NULL;
    *batch = (struct store_follow_batch){0};
    int rc = store_sql_prepare(follow->db, &stmt,
                               "SELECT id, firstRow, lastRow, committedNs FROM NVTXT_BATCHES "
                               "WHERE id = ?");
    rc = rc ?: store_sql_bind(stmt, "i", id);
    if (store_sql_next(stmt, &rc)) {
        *batch = (struct store_follow_batch){
            sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
            sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3)};
    }
    sqlite3_finalize(stmt);
    return rc;
}

// Whether the segment that is open has the batch of the place, and which one that is.
static int compare(struct store_follow *follow, const struct store_place *place, bool *is_same,
                   struct store_follow_batch *batch) {
    *batch = (struct store_follow_batch){0};
    if (place->batch == 0) {
        *is_same = follow->facts.base == place->base;
        return STORE_DONE;
    }
    int r = store_follow_translate(follow, read_batch(follow, place->batch, batch));
    *is_same = batch->id == place->batch && batch->committed_ns == place->batch_ns;
    return r;
}

static int refuse(struct store_follow *follow) {
    return say(follow, "is not the one that was read before: it was cloned or restored",
               STORE_FOLLOW_OTHER);
}

// Whether what is open is of a store that began after the one that is followed. Older segments may
// have another STORE_ID, too, but then the newest one has the one that is followed.
static int look_for_new_store(struct store_follow *follow, bool *is_new) {
    struct store_follow_facts newest;
    *is_new = false;
    if (!*follow->id || !*follow->facts.id || strcmp(follow->id, follow->facts.id) == 0) {
        return STORE_DONE;
    }
    int r = store_follow_ask(follow, newest_of(follow), NULL, 0, NULL, &newest);
    *is_new = r == STORE_DONE && strcmp(follow->id, newest.id) != 0;
    return r;
}

// The segment of the place is gone, and the next one is open.
static int skip_gap(struct store_follow *follow, const struct store_place *place,
                    struct store_gap *gap) {
    const struct store_follow_facts *facts = &follow->facts;
    bool is_substitute = facts->previous > 0 && facts->previous < place->segment;
    int64_t missing;
    bool is_new;
    int r = look_for_new_store(follow, &is_new);
    if (r != STORE_DONE) {
        return r;
    }
    if (is_new) {
        return say(follow, "has another STORE_ID: it is a new one", STORE_FOLLOW_NEW_ID);
    }
    if (__builtin_sub_overflow(facts->base, place->base, &missing) ||
        __builtin_sub_overflow(missing, place->event_row, &missing)) {
        return refuse(follow);
    }
    if (!is_substitute && (facts->started_ns <= place->batch_ns || missing < 0)) {
        return refuse(follow);
    }
    *gap = (struct store_gap){place->segment, missing > 0 ? missing : 0};
    begin_segment(follow);
    return STORE_DONE;
}

static void go_on(struct store_follow *follow, const struct store_place *place,
                  const struct store_follow_batch *batch) {
    begin_segment(follow);
    follow->place = *place;
    follow->place.segment = follow->facts.number;
    follow->batch = *batch;
    follow->scanned = place->event_row;
}

static int seek(struct store_follow *follow, const struct store_place *place,
                struct store_gap *gap) {
    static const struct store_place start;
    struct store_follow_batch batch;
    bool is_same = false;
    int r = enter_from(follow, place->segment);
    if (r == STORE_NOT_FOUND) {
        return refuse(follow); // there are older segments only
    }
    if (r != STORE_DONE) {
        return r;
    }
    if (memcmp(place, &start, sizeof(start)) == 0) {
        begin_segment(follow);
        return STORE_DONE;
    }
    // A plain file becomes the first segment when nvtxtd takes it over.
    bool may_be_same = place->segment == follow->facts.number || place->segment == 0;
    r = may_be_same ? compare(follow, place, &is_same, &batch) : STORE_DONE;
    if (r == STORE_DONE && is_same) {
        go_on(follow, place, &batch);
    } else if (r == STORE_DONE) {
        r = follow->facts.number > place->segment ? skip_gap(follow, place, gap) : refuse(follow);
    }
    return r;
}

int store_follow_seek(struct store_follow *follow, const struct store_place *place,
                      struct store_gap *gap) {
    *gap = (struct store_gap){0};
    follow->open_is_new = true;
    follow->open_is_on = false;
    store_follow_leave(follow);
    int r = store_follow_refresh(follow);
    r = r ?: seek(follow, place, gap);
    if (r != STORE_DONE) {
        store_follow_leave(follow);
    }
    return r;
}

void store_follow_place(const struct store_follow *follow, struct store_place *place) {
    *place = follow->place;
}

void store_follow_segment(const struct store_follow *follow, struct store_follow_segment *segment) {
    *segment = (struct store_follow_segment){.number = follow->facts.number,
                                             .name = nvtxt_base_name(follow->file),
                                             .started_ns = follow->facts.started_ns,
                                             .base = follow->facts.base};
}

// ---- The next segment ---------------------------------------------------------------------------

bool store_follow_is_finished(const struct store_follow *follow) {
    bool ends_here = follow->has_limit && follow->facts.number >= follow->limit_segment;
    return follow->reader && follow->is_later && follow->at_end && !ends_here;
}

int store_follow_next(struct store_follow *follow, struct store_gap *gap) {
    int64_t last = 0;
    uint64_t number = follow->facts.number;
    char left[STORE_ID_SIZE];
    *gap = (struct store_gap){0};
    strcpy(left, follow->facts.id);
    if (!store_follow_is_finished(follow)) {
        return STORE_NOT_FOUND;
    }
    if (follow->is_replaced) {
        return say(follow, "was replaced by another one", STORE_FOLLOW_NEW_ID);
    }
    int r = store_follow_translate(follow, store_sql_int(follow->db, LAST_ROW, &last));
    int64_t end = follow->place.base + last;
    r = r ?: enter_from(follow, number + 1);
    if (r != STORE_DONE) {
        return r;
    }
    if (*follow->id && *follow->facts.id && strcmp(follow->id, follow->facts.id) != 0 &&
        strcmp(left, follow->facts.id) != 0) {
        store_follow_leave(follow);
        return say(follow, "has another STORE_ID: it is a new one", STORE_FOLLOW_NEW_ID);
    }
    if (follow->facts.base > end) {
        *gap = (struct store_gap){number, follow->facts.base - end};
    }
    begin_segment(follow);
    return STORE_DONE;
}

// Whether a segment has nothing to say any more: it has gone, or will never be read. One that
// cannot be read at the moment may be whose STORE_ID counts.
static bool is_lost(const struct store_segment *segment, int r) {
    return r == STORE_CORRUPT || r == STORE_EMPTY || r == STORE_FOREIGN || r == STORE_NEWER ||
           access(segment->path, F_OK) < 0;
}

int store_follow_first(struct store_follow *follow, size_t changes, struct store_place *place,
                       char other[STORE_ID_SIZE]) {
    struct store_follow_facts facts;
    struct store_place first = {0};
    char later[STORE_ID_SIZE];
    *place = first;
    other[0] = '\0';
    strcpy(later, follow->id);
    int r = store_follow_refresh(follow);
    for (size_t i = follow->list.count; r == STORE_DONE && i-- > 0 && !*other;) {
        const struct store_segment *segment = &follow->list.rows[i];
        r = store_follow_ask(follow, segment, NULL, 0, NULL, &facts);
        if (r != STORE_DONE) {
            bool is_newest = i == follow->list.count - 1;
            r = !is_newest && is_lost(segment, r) ? STORE_DONE : r;
            continue;
        }
        if (*facts.id && strcmp(facts.id, later) != 0) {
            strcpy(changes > 0 ? later : other, facts.id);
            changes -= changes > 0;
        }
        if (!*other) {
            first = (struct store_place){.segment = facts.number, .base = facts.base};
        }
    }
    if (*other) {
        *place = first;
    }
    return r;
}

void store_follow_take(struct store_follow *follow, const char *id) {
    snprintf(follow->id, sizeof(follow->id), "%s", id);
}

// ---- Questions ----------------------------------------------------------------------------------

int store_follow_behind(struct store_follow *follow, int64_t *rows) {
    static const char *const query[] = {LAST_EVENT};
    struct store_follow_facts facts;
    int64_t last = 0;
    *rows = 0;
    if (!follow->reader || follow->list.count == 0) {
        return STORE_NOT_FOUND;
    }
    if (follow->at_end && !follow->is_later) {
        return STORE_DONE;
    }
    int r = store_follow_ask(follow, newest_of(follow), query, 1, &last, &facts);
    if (r == STORE_DONE) {
        int64_t behind = facts.base + last - follow->place.base - follow->place.event_row;
        *rows = behind > 0 ? behind : 0;
    }
    return r;
}

int store_follow_until_now(struct store_follow *follow) {
    static const char *const queries[] = {LAST_ROW,
                                          "SELECT ifnull(max(rowid), 0) FROM NVTXT_DIAGNOSTICS",
                                          "SELECT ifnull(max(rowid), 0) FROM NVTXT_LOSSES"};
    struct store_follow_facts facts;
    int64_t last[3] = {0};
    int r = store_follow_refresh(follow);
    r = r ?: store_follow_ask(follow, newest_of(follow), queries, 3, last, &facts);
    if (r == STORE_DONE) {
        follow->has_limit = true;
        follow->limit_segment = facts.number;
        follow->limit = (struct store_place){
            .event_row = last[0], .diagnostic_row = last[1], .loss_row = last[2]};
    }
    return r;
}

// ---- A place by time ----------------------------------------------------------------------------

// The last value of a query that is not after the time; 0 when there is none.
static int last_before(struct store_follow *follow, const char *query, int64_t ns, int64_t *value) {
    sqlite3_stmt *stmt = NULL;
    int rc = store_sql_prepare(follow->db, &stmt, query);
    rc = rc ?: store_sql_bind(stmt, "i", ns);
    rc = rc ?: store_sql_run_int(stmt, value);
    sqlite3_finalize(stmt);
    return rc;
}

// The batch before the first one that was committed at the time or later: clocks may go back.
static const char batch_before[] =
    "SELECT ifnull(max(id), 0) FROM NVTXT_BATCHES WHERE id < ifnull((SELECT min(id) FROM "
    "NVTXT_BATCHES WHERE committedNs >= ?1), 9223372036854775807)";

static int find_in_segment(struct store_follow *follow, int64_t ns, struct store_place *place) {
    struct store_follow_batch batch;
    int rc = last_before(follow, batch_before, ns, &place->batch);
    if (rc == 0) {
        rc = last_before(follow,
                         "SELECT ifnull(max(rowid), 0) FROM NVTXT_DIAGNOSTICS WHERE atNs < ?1", ns,
                         &place->diagnostic_row);
    }
    if (rc == 0) {
        rc = last_before(follow, "SELECT ifnull(max(rowid), 0) FROM NVTXT_LOSSES WHERE atNs < ?1",
                         ns, &place->loss_row);
    }
    rc = rc ?: read_batch(follow, place->batch, &batch);
    place->batch = batch.id;
    place->batch_ns = batch.committed_ns;
    place->event_row = batch.last;
    return store_follow_translate(follow, rc);
}

int store_follow_find(struct store_follow *follow, int64_t committed_ns,
                      struct store_place *place) {
    int r = store_follow_refresh(follow);
    if (r != STORE_DONE) {
        return r;
    }
    // The last one that had begun then. The time in a name has whole seconds.
    uint64_t number = 0;
    for (size_t i = 0; i < follow->list.count; i++) {
        const struct store_segment *row = &follow->list.rows[i];
        bool had_begun = committed_ns > NS_PER_S && row->started_ns <= committed_ns - NS_PER_S;
        number = i == 0 || had_begun ? row->number : number;
    }
    r = enter_from(follow, number);
    if (r != STORE_DONE) {
        return r;
    }
    *place = (struct store_place){.segment = follow->facts.number, .base = follow->facts.base};
    r = find_in_segment(follow, committed_ns, place);
    store_follow_leave(follow);
    return r;
}
