// SPDX-License-Identifier: Apache-2.0
//
// One transaction from the opening to the end, without a journal: the file is a copy that is thrown
// away when anything fails, and memory stays flat because SQLite writes pages as it needs room.
#include "store/nsys/nsys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db/connection.h"
#include "store/db/result.h"
#include "store/db/sql.h"
#include "store/db/stranger.h"
#include "store/nsys/nsys_names.h"
#include "store/nsys/nsys_rows.h"
#include "store/value/codes.h"

#define CACHE_KIB "16384"

static int translate(struct store_foreign *foreign, int rc, const char *what) {
    return store_result_say(foreign->db, rc, what, foreign->name, foreign->error,
                            sizeof(foreign->error));
}

const char *store_foreign_error(const struct store_foreign *foreign) {
    return foreign->error;
}

const struct store_export_facts *store_foreign_facts(const struct store_foreign *foreign) {
    return &foreign->facts;
}

const struct store_foreign_counts *store_foreign_counts(const struct store_foreign *foreign) {
    return &foreign->counts;
}

// ---- Opening ----------------------------------------------------------------------------------

static int open_file(struct store_foreign *foreign, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(path, &foreign->db, flags, NULL);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_extended_result_codes(foreign->db, 1);
    // A guarded connection could not do without a journal any more.
    rc = sqlite3_exec(foreign->db, "PRAGMA journal_mode = OFF", NULL, NULL, NULL);
    rc = rc ?: store_stranger_guard(foreign->db);
    return rc
               ?: sqlite3_exec(foreign->db,
                               "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                               "PRAGMA cache_size = -" CACHE_KIB "; BEGIN IMMEDIATE",
                               NULL, NULL, NULL);
}

static int open_rest(struct store_foreign *foreign) {
    foreign->txn.db = foreign->db;
    int rc = store_export_facts_read(foreign->db, &foreign->facts);
    rc = rc ?: store_foreign_rows_open(foreign);
    if (rc == SQLITE_OK && (store_intern_init(&foreign->intern) < 0 ||
                            store_name_rows_init(&foreign->rows, &foreign->txn) < 0)) {
        rc = SQLITE_NOMEM;
    }
    return rc;
}

int store_foreign_open(struct store_foreign **out, const char *path, const char *name, char *error,
                       size_t size) {
    struct store_foreign *foreign = calloc(1, sizeof(*foreign));
    *out = NULL;
    if (foreign) {
        foreign->name = strdup(name);
    }
    if (!foreign || !foreign->name) {
        free(foreign);
        snprintf(error, size, "cannot open %s: out of memory", name);
        return -ENOMEM;
    }
    int rc = open_file(foreign, path);
    rc = rc ?: open_rest(foreign);
    int result = store_result_say(foreign->db, rc, "read", name, error, size);
    const char *missing = result == STORE_DONE ? store_foreign_rows_lack(foreign) : NULL;
    if (missing) {
        snprintf(error, size,
                 "the table NVTX_EVENTS of %s has no column '%s': events cannot be added to it",
                 name, missing);
        result = STORE_FOREIGN;
    }
    if (result != STORE_DONE) {
        store_foreign_close(foreign);
        return result;
    }
    *out = foreign;
    return STORE_DONE;
}

void store_foreign_close(struct store_foreign *foreign) {
    if (!foreign) {
        return;
    }
    store_foreign_rows_close(foreign);
    store_sql_finalize(foreign->stmts, FOREIGN_STMTS);
    store_name_rows_deinit(&foreign->rows);
    store_intern_deinit(&foreign->intern);
    sqlite3_close(foreign->db);
    free(foreign->domain.name);
    free(foreign->name);
    free(foreign);
}

int store_foreign_place(struct store_foreign *foreign, const struct store_foreign_place *place) {
    foreign->place = *place;
    int rc = store_foreign_names_load(foreign);
    sqlite3_progress_handler(foreign->db, 0, NULL, NULL); // who loads looks for itself
    return translate(foreign, rc, "read");
}

// ---- The sink ---------------------------------------------------------------------------------

// Every failure ends the merge: its sentence is kept, the code is what a sink may return.
static int told(struct store_foreign *foreign, int rc) {
    int result = translate(foreign, rc, "write to");
    return result == STORE_DONE ? 0 : result == -ENOMEM ? -ENOMEM : -EIO;
}

static void leave_out(struct store_foreign *foreign, int64_t first, int64_t last) {
    struct store_foreign_counts *counts = &foreign->counts;
    if (!counts->any_outside || first < counts->outside_first_ns) {
        counts->outside_first_ns = first;
    }
    if (!counts->any_outside || last > counts->outside_last_ns) {
        counts->outside_last_ns = last;
    }
    counts->any_outside = true;
    counts->outside++;
}

// Moves an event to the export's time. False when it is left out.
static bool move_event(struct store_foreign *foreign, const struct nvtxt_event *event,
                       int64_t *start, int64_t *end) {
    const struct store_export_facts *facts = &foreign->facts;
    int64_t zero = foreign->place.zero_ns;
    bool fits = !__builtin_sub_overflow(event->start, zero, start) &&
                !__builtin_sub_overflow(event->end, zero, end);
    int64_t first = *start < *end ? *start : *end;
    int64_t last = *start < *end ? *end : *start;
    bool inside = !facts->has_window || foreign->place.prolong ||
                  (last >= facts->first_ns && first <= facts->last_ns);
    if (!fits || !inside) {
        leave_out(foreign, event->start < event->end ? event->start : event->end,
                  event->start < event->end ? event->end : event->start);
        return false;
    }
    bool is_first = foreign->counts.events == 0;
    foreign->first_ns = is_first || first < foreign->first_ns ? first : foreign->first_ns;
    foreign->last_ns = is_first || last > foreign->last_ns ? last : foreign->last_ns;
    return true;
}

static int add_event(struct store_foreign *foreign, const struct nvtxt_event *event, int64_t start,
                     int64_t end) {
    bool is_range = event->type == NVTXT_EVENT_START_END;
    struct foreign_row row = {.type = event->type == NVTXT_EVENT_MARK ? TYPE_MARK
                                      : is_range                      ? TYPE_START_END
                                                                      : TYPE_PUSH_POP,
                              .start = start,
                              .end = end,
                              .text = event->text,
                              .category = event->category,
                              .color = event->color,
                              .tid = store_foreign_tid(foreign, event->pid, event->tid),
                              .ended_elsewhere = event->ended_elsewhere,
                              .payload = event->payload};
    int rc = SQLITE_OK;
    if (event->ended_elsewhere) {
        row.end_tid = store_foreign_tid(foreign, event->end_pid, event->end_tid);
        rc = store_foreign_see_thread(foreign, row.end_tid);
    }
    if (!foreign->has_last_tid || foreign->last_tid != row.tid) {
        rc = rc ?: store_foreign_see_thread(foreign, row.tid);
        foreign->last_tid = row.tid;
        foreign->has_last_tid = true;
    }
    rc =
        rc ?: store_foreign_domain(foreign, event->domain, event->pid, row.tid, start, &row.domain);
    rc = rc ?: store_foreign_string(foreign, event->text, &row.text_id);
    row.range_id = is_range ? foreign->next_range++ : 0;
    rc = rc ?: store_foreign_add_row(foreign, &row);
    foreign->counts.events++;
    return rc;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct store_foreign *foreign = context;
    int64_t start = 0;
    int64_t end = 0;
    if (!move_event(foreign, event, &start, &end)) {
        return 0;
    }
    return told(foreign, add_event(foreign, event, start, end));
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct store_foreign *foreign = context;
    return told(foreign, store_foreign_name(foreign, name));
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    (void)diag;
    return 0;
}

void store_foreign_sink(struct store_foreign *foreign, struct nvtxt_sink *sink) {
    *sink = (struct nvtxt_sink){
        .on_event = on_event, .on_name = on_name, .on_diag = on_diag, .context = foreign};
}

// ---- The end ----------------------------------------------------------------------------------

static int widen_session(struct store_foreign *foreign) {
    const struct store_export_facts *facts = &foreign->facts;
    int64_t shift = facts->details_first_ns - facts->first_ns;
    int64_t first;
    int64_t last;
    bool has_duration = false;
    sqlite3_stmt *stmt = NULL;
    if (!foreign->place.prolong || !facts->has_window || foreign->counts.events == 0 ||
        (foreign->first_ns >= facts->first_ns && foreign->last_ns <= facts->last_ns) ||
        __builtin_add_overflow(foreign->first_ns, shift, &first) ||
        __builtin_add_overflow(foreign->last_ns, shift, &last)) {
        return SQLITE_OK;
    }
    int rc = sqlite3_prepare_v2(foreign->db,
                                "UPDATE main.ANALYSIS_DETAILS SET startTime = min(startTime, ?1), "
                                "stopTime = max(stopTime, ?2)",
                                -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "ii", first, last);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    rc = rc ?: store_export_has(foreign->db, "ANALYSIS_DETAILS", "duration", &has_duration);
    if (rc == SQLITE_OK && has_duration) {
        rc = sqlite3_exec(foreign->db,
                          "UPDATE main.ANALYSIS_DETAILS SET duration = stopTime - startTime", NULL,
                          NULL, NULL);
    }
    return rc;
}

int store_foreign_finish(struct store_foreign *foreign) {
    int rc = widen_session(foreign);
    rc = rc ?: sqlite3_exec(foreign->db, "COMMIT", NULL, NULL, NULL);
    return translate(foreign, rc, "write to");
}
