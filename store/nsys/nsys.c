// SPDX-License-Identifier: Apache-2.0
//
// One transaction from the opening to the end, without a journal: the file is a copy that is thrown
// away when anything fails. Memory stays flat because SQLite writes pages when it needs room.
#include "store/nsys/nsys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "store/db/header.h"
#include "store/nsys/nsys_rows.h"
#include "store/value/codes.h"

#define CACHE_KIB "16384"

static int translate(struct store_nsys *nsys, int rc, const char *what) {
    return store_result_say(nsys->db, rc, what, nsys->name, nsys->error, sizeof(nsys->error));
}

const char *store_nsys_error(const struct store_nsys *nsys) {
    return nsys->error;
}

const struct store_export_facts *store_nsys_facts(const struct store_nsys *nsys) {
    return &nsys->facts;
}

const struct store_nsys_counts *store_nsys_counts(const struct store_nsys *nsys) {
    return &nsys->counts;
}

// ---- Opening ----------------------------------------------------------------------------------

static int open_file(struct store_nsys *nsys, const char *path) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int rc = sqlite3_open_v2(path, &nsys->db, flags, NULL);
    if (rc != SQLITE_OK) {
        return rc;
    }
    sqlite3_extended_result_codes(nsys->db, 1);
    // Before the guard: a guarded connection cannot switch its journal off.
    rc = store_sql_exec(nsys->db, "PRAGMA journal_mode = OFF");
    rc = rc ?: store_stranger_guard(nsys->db);
    if (rc != 0) {
        return rc;
    }
    return store_sql_exec(nsys->db, "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
                                    "PRAGMA cache_size = -" CACHE_KIB "; BEGIN IMMEDIATE");
}

static int open_rest(struct store_nsys *nsys) {
    nsys->txn.db = nsys->db;
    int rc = store_export_facts_read(nsys->db, &nsys->facts);
    rc = rc ?: store_nsys_rows_open(nsys);
    if (rc == SQLITE_OK && (store_intern_init(&nsys->intern) < 0 ||
                            store_name_rows_init(&nsys->rows, &nsys->txn) < 0)) {
        rc = SQLITE_NOMEM;
    }
    return rc;
}

int store_nsys_open(struct store_nsys **out, const char *path, const char *name, char *error,
                    size_t size) {
    struct store_nsys *nsys = calloc(1, sizeof(*nsys));
    *out = NULL;
    if (nsys) {
        nsys->name = strdup(name);
    }
    if (!nsys || !nsys->name) {
        free(nsys);
        snprintf(error, size, "cannot open %s: out of memory", name);
        return nvtxt_origin(-ENOMEM);
    }
    int rc = open_file(nsys, path);
    rc = rc ?: open_rest(nsys);
    int r = store_result_say(nsys->db, rc, "read", name, error, size);
    const char *missing = r == STORE_DONE ? store_nsys_rows_lack(nsys) : NULL;
    if (missing) {
        snprintf(error, size,
                 "the table NVTX_EVENTS of %s has no column '%s': events cannot be added to it",
                 name, missing);
        r = STORE_FOREIGN;
    }
    if (r != STORE_DONE) {
        store_nsys_close(nsys);
        return r;
    }
    *out = nsys;
    return STORE_DONE;
}

void store_nsys_close(struct store_nsys *nsys) {
    if (!nsys) {
        return;
    }
    store_nsys_rows_close(nsys);
    store_sql_finalize(nsys->stmts, NSYS_STMTS);
    store_name_rows_deinit(&nsys->rows);
    store_intern_deinit(&nsys->intern);
    sqlite3_close(nsys->db);
    free(nsys->domain.name);
    free(nsys->name);
    free(nsys);
}

int store_nsys_place(struct store_nsys *nsys, const struct store_nsys_place *place) {
    nsys->place = *place;
    int rc = store_nsys_names_load(nsys);
    sqlite3_progress_handler(nsys->db, 0, NULL, NULL); // from here on the loader asks by itself
    return translate(nsys, rc, "read");
}

// ---- The sink ---------------------------------------------------------------------------------

// What a sink returns for `rc`. Every failure ends the merge; its sentence is kept.
static int sink_result(struct store_nsys *nsys, int rc) {
    int r = translate(nsys, rc, "write to");
    return r > 0 ? nvtxt_origin(-EIO) : r;
}

static void leave_out(struct store_nsys *nsys, int64_t first, int64_t last) {
    struct store_nsys_counts *counts = &nsys->counts;
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
static bool move_event(struct store_nsys *nsys, const struct nvtxt_event *event, int64_t *start,
                       int64_t *end) {
    const struct store_export_facts *facts = &nsys->facts;
    int64_t zero = nsys->place.zero_ns;
    bool fits = !__builtin_sub_overflow(event->start, zero, start) &&
                !__builtin_sub_overflow(event->end, zero, end);
    int64_t first = *start < *end ? *start : *end;
    int64_t last = *start < *end ? *end : *start;
    bool inside = !facts->has_window || nsys->place.prolong ||
                  (last >= facts->first_ns && first <= facts->last_ns);
    if (!fits || !inside) {
        leave_out(nsys, event->start < event->end ? event->start : event->end,
                  event->start < event->end ? event->end : event->start);
        return false;
    }
    bool is_first = nsys->counts.events == 0;
    nsys->first_ns = is_first || first < nsys->first_ns ? first : nsys->first_ns;
    nsys->last_ns = is_first || last > nsys->last_ns ? last : nsys->last_ns;
    return true;
}

static int add_event(struct store_nsys *nsys, const struct nvtxt_event *event, int64_t start,
                     int64_t end) {
    bool is_range = event->type == NVTXT_EVENT_START_END;
    struct nsys_row row = {.type = event->type == NVTXT_EVENT_MARK ? TYPE_MARK
                                   : is_range                      ? TYPE_START_END
                                                                   : TYPE_PUSH_POP,
                           .start = start,
                           .end = end,
                           .text = event->text,
                           .category = event->category,
                           .color = event->color,
                           .tid = store_nsys_tid(nsys, event->pid, event->tid),
                           .ended_elsewhere = event->ended_elsewhere,
                           .payload = event->payload,
                           .json = event->json};
    int rc = SQLITE_OK;
    if (event->ended_elsewhere) {
        row.end_tid = store_nsys_tid(nsys, event->end_pid, event->end_tid);
        rc = store_nsys_see_thread(nsys, row.end_tid);
    }
    if (!nsys->has_last_tid || nsys->last_tid != row.tid) {
        rc = rc ?: store_nsys_see_thread(nsys, row.tid);
        nsys->last_tid = row.tid;
        nsys->has_last_tid = true;
    }
    rc = rc ?: store_nsys_domain(nsys, event->domain, event->pid, row.tid, start, &row.domain);
    rc = rc ?: store_nsys_string(nsys, event->text, &row.text_id);
    row.range_id = is_range ? nsys->next_range++ : 0;
    rc = rc ?: store_nsys_add_row(nsys, &row);
    nsys->counts.events++;
    return rc;
}

static int on_event(void *context, const struct nvtxt_event *event) {
    struct store_nsys *nsys = context;
    int64_t start = 0;
    int64_t end = 0;
    if (!move_event(nsys, event, &start, &end)) {
        return 0;
    }
    return sink_result(nsys, add_event(nsys, event, start, end));
}

static int on_name(void *context, const struct nvtxt_name *name) {
    struct store_nsys *nsys = context;
    return sink_result(nsys, store_nsys_name(nsys, name));
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    (void)diag;
    return 0;
}

void store_nsys_sink(struct store_nsys *nsys, struct nvtxt_sink *sink) {
    *sink = (struct nvtxt_sink){
        .on_event = on_event, .on_name = on_name, .on_diag = on_diag, .context = nsys};
}

// ---- The end ----------------------------------------------------------------------------------

static int widen_session(struct store_nsys *nsys) {
    const struct store_export_facts *facts = &nsys->facts;
    int64_t shift = facts->details_first_ns - facts->first_ns;
    int64_t first;
    int64_t last;
    bool has_duration = false;
    sqlite3_stmt *stmt = NULL;
    if (!nsys->place.prolong || !facts->has_window || nsys->counts.events == 0 ||
        (nsys->first_ns >= facts->first_ns && nsys->last_ns <= facts->last_ns) ||
        __builtin_add_overflow(nsys->first_ns, shift, &first) ||
        __builtin_add_overflow(nsys->last_ns, shift, &last)) {
        return SQLITE_OK;
    }
    int rc = sqlite3_prepare_v2(nsys->db,
                                "UPDATE main.ANALYSIS_DETAILS SET startTime = min(startTime, ?1), "
                                "stopTime = max(stopTime, ?2)",
                                -1, &stmt, NULL);
    rc = rc ?: store_sql_bind(stmt, "ii", first, last);
    rc = rc ?: store_sql_run(stmt);
    sqlite3_finalize(stmt);
    rc = rc ?: store_export_has(nsys->db, "ANALYSIS_DETAILS", "duration", &has_duration);
    if (rc == SQLITE_OK && has_duration) {
        rc = store_sql_exec(nsys->db,
                            "UPDATE main.ANALYSIS_DETAILS SET duration = stopTime - startTime");
    }
    return rc;
}

int store_nsys_finish(struct store_nsys *nsys) {
    int rc = widen_session(nsys);
    rc = rc ?: store_sql_exec(nsys->db, "COMMIT");
    return translate(nsys, rc, "write to");
}
