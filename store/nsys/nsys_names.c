// SPDX-License-Identifier: Apache-2.0
//
// Names in an export. What the export has named stays as it is: its rows are not ours to change,
// and a second row for the same thing would double every row of the usual joins. What we named
// ourselves is renamed as in a store. The number of a row shows which is which.
//
// Two temporary tables remember what is named, so that no scan is needed and memory stays flat:
// NVTXT_NAME_ROWS for name_rows.c (kinds as in a store; keys with the target in them), and
// NVTXT_DOMAINS with the id of a display name in each process; process -1 has the id that we gave
// it. A copy of a store has no names of others: all of them can be changed, and a third table finds
// its texts.
#include "store/nsys/nsys_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OURS (-1) // process of an id that we gave

#define NAME_OF "coalesce(%s, (SELECT s.value FROM main.StringIds s WHERE s.id = %s))"

static const char temporary[] =
    "CREATE TEMP TABLE NVTXT_NAME_ROWS (kind INTEGER NOT NULL, domainId INTEGER NOT NULL, "
    "key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (kind, domainId, key)) WITHOUT ROWID;"
    "CREATE TEMP TABLE NVTXT_DOMAINS (name TEXT NOT NULL, process INTEGER NOT NULL, "
    "id INTEGER NOT NULL, PRIMARY KEY (name, process)) WITHOUT ROWID;";

// In a copy of another program's export a process may have another name for the same id.
static const char of_a_copy[] =
    "INSERT INTO temp.NVTXT_DOMAINS SELECT d.name, -1, max(d.id) FROM temp.NVTXT_DOMAINS d WHERE "
    "d.id IN (SELECT id FROM temp.NVTXT_DOMAINS GROUP BY id HAVING count(DISTINCT name) = 1) "
    "GROUP BY d.name;"
    "CREATE TEMP TABLE NVTXT_STRINGS (value TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;"
    "INSERT OR IGNORE INTO temp.NVTXT_STRINGS SELECT value, id FROM main.StringIds;";

// ---- What the export has named -----------------------------------------------------------------

static int64_t category_key(uint32_t pid, uint32_t category) {
    return (int64_t)((uint64_t)pid << 32 | category);
}

// An SQL expression for the text of a row of NVTX_EVENTS.
static void name_expression(const struct store_nsys *nsys, char *text, size_t size) {
    bool has_text = store_shape_has(&nsys->events, COL_TEXT);
    bool has_id = store_shape_has(&nsys->events, COL_TEXT_ID);
    snprintf(text, size, NAME_OF, has_text ? "e.text" : "NULL", has_id ? "e.textId" : "NULL");
}

static int load_event_names(struct store_nsys *nsys) {
    char name[160];
    name_expression(nsys, name, sizeof(name));
    bool has_domain = store_shape_has(&nsys->events, COL_DOMAIN);
    bool has_category = store_shape_has(&nsys->events, COL_CATEGORY);
    char *text = sqlite3_mprintf(
        "INSERT OR IGNORE INTO temp.NVTXT_NAME_ROWS SELECT 33, ifnull(%s, 0), "
        "((e.globalTid >> 24) & 0xffffff) << 32 | ifnull(%s, 0), e.rowid FROM main.NVTX_EVENTS e "
        "WHERE e.eventType = %lld AND (e.globalTid >> 48) & 65535 = %d;"
        "INSERT OR IGNORE INTO temp.NVTXT_NAME_ROWS SELECT 39, 0, e.globalTid, e.rowid "
        "FROM main.NVTX_EVENTS e WHERE e.eventType = %lld AND e.globalTid IS NOT NULL;"
        "INSERT OR IGNORE INTO temp.NVTXT_DOMAINS SELECT " // the one named first
        "%s, (e.globalTid >> 24) & 0xffffff, %s FROM main.NVTX_EVENTS e "
        "WHERE e.eventType = %lld AND (e.globalTid >> 48) & 65535 = %d ORDER BY e.rowid;",
        has_domain ? "e.domainId" : "0", has_category ? "e.category" : "0",
        nsys->types[TYPE_CATEGORY], (int)nsys->place.target, nsys->types[TYPE_THREAD], name,
        has_domain ? "e.domainId" : "0", nsys->types[TYPE_DOMAIN], (int)nsys->place.target);
    int rc = text ? store_sql_exec(nsys->db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    return rc;
}

int store_nsys_names_load(struct store_nsys *nsys) {
    sqlite3 *db = nsys->db;
    int rc = store_sql_exec(db, temporary);
    if (rc == SQLITE_OK && store_shape_has(&nsys->threads, 0) &&
        store_shape_has(&nsys->threads, 1)) {
        rc =
            store_sql_exec(db, "INSERT OR IGNORE INTO temp.NVTXT_NAME_ROWS SELECT 2, 0, globalTid, "
                               "max(nameId, 1) FROM main.ThreadNames WHERE globalTid IS NOT NULL "
                               "AND nameId IS NOT NULL");
    }
    if (rc == SQLITE_OK && store_shape_has(&nsys->processes, 0)) {
        rc = store_sql_exec(
            db, "INSERT OR IGNORE INTO temp.NVTXT_NAME_ROWS SELECT 1, 0, globalPid >> 24 "
                "<< 24, rowid FROM main.PROCESSES WHERE globalPid IS NOT NULL");
    }
    rc = rc ?: load_event_names(nsys);
    return rc ?: nsys->facts.is_copy ? store_sql_exec(db, of_a_copy) : rc;
}

// ---- Statements -------------------------------------------------------------------------------

static int prepare(struct store_nsys *nsys, enum nsys_stmt which) {
    static const char *const texts[NSYS_STMTS] = {
        [FIND_DOMAIN] = "SELECT id FROM temp.NVTXT_DOMAINS WHERE name = ?1 AND process = ?2",
        [ADD_DOMAIN] = "INSERT INTO temp.NVTXT_DOMAINS (name, process, id) VALUES (?, ?, ?)",
        [SET_STRING] = "UPDATE main.StringIds SET value = ?2 WHERE id = ?1",
        [GET_PROCESS] = "SELECT name FROM main.PROCESSES WHERE rowid = ?1",
        [SET_PROCESS] = "UPDATE main.PROCESSES SET name = ?2 WHERE rowid = ?1",
        [SET_THREAD] = "UPDATE main.ThreadNames SET nameId = ?2 WHERE globalTid = ?1",
    };
    char name[160];
    char text[320];
    sqlite3_stmt **slot = &nsys->stmts[which];
    if (which == GET_NAME) {
        name_expression(nsys, name, sizeof(name));
        snprintf(text, sizeof(text), "SELECT %s FROM main.NVTX_EVENTS e WHERE e.rowid = ?1", name);
        return store_sql_prepare(nsys->db, slot, text);
    }
    if (which == SET_NAME) {
        bool has_text = store_shape_has(&nsys->events, COL_TEXT);
        bool has_id = store_shape_has(&nsys->events, COL_TEXT_ID);
        snprintf(text, sizeof(text), "UPDATE main.NVTX_EVENTS SET %s%s%s WHERE rowid = ?1",
                 has_text ? "text = ?2" : "", has_text && has_id ? ", " : "",
                 has_id ? "textId = ?3" : "");
        return store_sql_prepare(nsys->db, slot, text);
    }
    return store_sql_prepare(nsys->db, slot, texts[which]);
}

#define BIND(nsys, which, types, ...)                                                              \
    (prepare(nsys, which) ?: store_sql_bind((nsys)->stmts[which], types, __VA_ARGS__))
#define RUN(nsys, which, types, ...)                                                               \
    (BIND(nsys, which, types, __VA_ARGS__) ?: store_sql_run((nsys)->stmts[which]))

// Counts a name that the export keeps when `wanted` is another one.
static int compare_kept(struct store_nsys *nsys, enum nsys_stmt which, int64_t row,
                        struct nvtxt_slice wanted) {
    int rc = BIND(nsys, which, "i", row);
    sqlite3_stmt *stmt = nsys->stmts[which];
    struct nvtxt_slice kept;
    if (store_sql_next(stmt, &rc)) {
        rc = store_sql_view(stmt, 0, &kept);
        nsys->counts.names += !nvtxt_slice_equal(kept, wanted);
    }
    return store_sql_done(stmt, rc);
}

// ---- Processes and threads --------------------------------------------------------------------

static int add_process(struct store_nsys *nsys, uint64_t global_pid, struct nvtxt_slice name) {
    const struct store_shape *shape = &nsys->processes;
    if (!shape->insert) {
        return SQLITE_OK;
    }
    int rc = store_shape_int(shape, 0, (int64_t)global_pid);
    rc = rc ?: store_shape_int(shape, 1, (int64_t)(global_pid >> 24 & NVTXT_ID_MAX));
    rc = rc ?: store_shape_text(shape, 2, name.data, name.len);
    rc = rc ?: store_sql_run(shape->insert);
    if (rc != 0) {
        return rc;
    }
    return store_name_rows_add(&nsys->rows, STORE_ROW_PROCESS, 0, global_pid, nsys->next_process++);
}

static struct nvtxt_slice default_name(char *name, size_t size, const char *what, uint64_t number) {
    snprintf(name, size, "%s %llu", what, (unsigned long long)(number & NVTXT_ID_MAX));
    return nvtxt_slice_of(name);
}

static int see_process(struct store_nsys *nsys, uint64_t global_pid) {
    int64_t row;
    char name[32];
    int rc = store_name_rows_find(&nsys->rows, STORE_ROW_PROCESS, 0, global_pid, &row);
    if (rc != SQLITE_OK || row) {
        return rc;
    }
    return add_process(nsys, global_pid,
                       default_name(name, sizeof(name), "Process", global_pid >> 24));
}

static int add_thread(struct store_nsys *nsys, uint64_t tid, struct nvtxt_slice name) {
    const struct store_shape *threads = &nsys->threads;
    int64_t id = 0;
    if (!threads->insert) {
        return SQLITE_OK;
    }
    int rc = store_nsys_thread_string(nsys, name, &id);
    rc = rc ?: store_shape_int(threads, 0, id);
    rc = rc ?: store_shape_int(threads, 1, (int64_t)tid);
    rc = rc ?: store_sql_run(threads->insert);
    return rc ?: store_name_rows_add(&nsys->rows, STORE_ROW_THREAD, 0, tid, id > 0 ? id : 1);
}

int store_nsys_see_thread(struct store_nsys *nsys, uint64_t tid) {
    int64_t row;
    char name[32];
    int rc = store_name_rows_find(&nsys->rows, STORE_ROW_THREAD, 0, tid, &row);
    if (rc == SQLITE_OK && !row) {
        rc = add_thread(nsys, tid, default_name(name, sizeof(name), "Thread", tid));
    }
    return rc ?: see_process(nsys, tid & ~(uint64_t)NVTXT_ID_MAX);
}

// ---- Rows of NVTX_EVENTS that name something ----------------------------------------------------

// A name's time on the export's timeline. The session's window does not grow for it.
static int64_t move_name(const struct store_nsys *nsys, int64_t at) {
    const struct store_export_facts *facts = &nsys->facts;
    int64_t moved;
    if (__builtin_sub_overflow(at, nsys->place.zero_ns, &moved)) {
        return facts->has_window ? facts->first_ns : 0;
    }
    if (!facts->has_window || nsys->place.prolong) {
        return moved;
    }
    return moved < facts->first_ns ? facts->first_ns
                                   : (moved > facts->last_ns ? facts->last_ns : moved);
}

static int set_name(struct store_nsys *nsys, int64_t row, struct nvtxt_slice text) {
    int64_t id;
    int rc = store_nsys_string(nsys, text, &id);
    rc = rc ?: prepare(nsys, SET_NAME);
    sqlite3_stmt *stmt = nsys->stmts[SET_NAME];
    rc = rc ?: sqlite3_bind_int64(stmt, 1, row);
    if (rc == SQLITE_OK && store_shape_has(&nsys->events, COL_TEXT)) {
        rc = sqlite3_bind_text64(stmt, 2, text.len ? text.data : "", text.len, SQLITE_STATIC,
                                 SQLITE_UTF8);
    }
    if (rc == SQLITE_OK && store_shape_has(&nsys->events, COL_TEXT_ID)) {
        rc = sqlite3_bind_int64(stmt, 3, id);
    }
    return rc ?: store_sql_run(stmt);
}

// Names what `key` stands for; adds a row if there is none.
static int name_event(struct store_nsys *nsys, struct nsys_row *row, int kind, int64_t domain,
                      uint64_t key) {
    int64_t there;
    int rc = store_name_rows_find(&nsys->rows, kind, domain, key, &there);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (there) {
        return there < nsys->first_row ? compare_kept(nsys, GET_NAME, there, row->text)
                                       : set_name(nsys, there, row->text);
    }
    there = nsys->txn.next_row;
    rc = store_nsys_string(nsys, row->text, &row->text_id);
    rc = rc ?: store_nsys_add_row(nsys, row);
    return rc ?: store_name_rows_add(&nsys->rows, kind, domain, key, there);
}

// ---- Domains ----------------------------------------------------------------------------------

static int find_domain(struct store_nsys *nsys, struct nvtxt_slice name, int64_t process,
                       int64_t *id) {
    *id = 0;
    int rc = BIND(nsys, FIND_DOMAIN, "si", name.data, name.len, process);
    return rc ?: store_sql_run_int(nsys->stmts[FIND_DOMAIN], id);
}

static int add_domain(struct store_nsys *nsys, struct nvtxt_slice name, int64_t process,
                      int64_t id) {
    return RUN(nsys, ADD_DOMAIN, "sii", name.data, name.len, process, id);
}

// Makes the domain of a display name that is new in the process.
static int new_domain(struct store_nsys *nsys, struct nvtxt_slice name, uint32_t pid, uint64_t tid,
                      int64_t at, int64_t *id) {
    struct nsys_row row = {.type = TYPE_DOMAIN, .start = at, .end = at, .text = name, .tid = tid};
    int rc = find_domain(nsys, name, OURS, id);
    if (rc == SQLITE_OK && *id == 0) {
        *id = nsys->next_domain++;
        rc = add_domain(nsys, name, OURS, *id);
    }
    row.domain = *id;
    rc = rc ?: add_domain(nsys, name, pid, *id);
    rc = rc ?: store_nsys_string(nsys, name, &row.text_id);
    return rc ?: store_nsys_add_row(nsys, &row);
}

static int remember(struct nsys_domain *domain, struct nvtxt_slice name, uint32_t pid, int64_t id) {
    if (name.len > domain->room) {
        char *more = realloc(domain->name, name.len);
        if (!more) {
            return SQLITE_NOMEM;
        }
        domain->name = more;
        domain->room = name.len;
    }
    memcpy(domain->name, name.data, name.len);
    domain->len = name.len;
    domain->pid = pid;
    domain->id = id;
    return SQLITE_OK;
}

int store_nsys_domain(struct store_nsys *nsys, struct nvtxt_slice name, uint32_t pid, uint64_t tid,
                      int64_t at, int64_t *id) {
    const struct nsys_domain *last = &nsys->domain;
    *id = 0;
    if (name.len == 0 || !store_shape_has(&nsys->events, COL_DOMAIN)) {
        return SQLITE_OK;
    }
    if (last->pid == pid && nvtxt_slice_equal((struct nvtxt_slice){last->name, last->len}, name)) {
        *id = last->id;
        return SQLITE_OK;
    }
    int rc = find_domain(nsys, name, pid, id);
    if (rc == SQLITE_OK && *id == 0) {
        rc = new_domain(nsys, name, pid, tid, at, id);
    }
    return rc ?: remember(&nsys->domain, name, pid, *id);
}

// ---- Names that a source gives
// ------------------------------------------------------------------------

static int name_process(struct store_nsys *nsys, const struct nvtxt_name *name) {
    uint64_t global_pid = store_nsys_tid(nsys, name->pid, 0);
    int64_t row;
    int rc = store_name_rows_find(&nsys->rows, STORE_ROW_PROCESS, 0, global_pid, &row);
    if (rc != SQLITE_OK || !row) {
        return rc ?: add_process(nsys, global_pid, name->text);
    }
    if (!store_shape_has(&nsys->processes, 2)) {
        return SQLITE_OK;
    }
    if (row < nsys->first_process) {
        return compare_kept(nsys, GET_PROCESS, row, name->text);
    }
    return RUN(nsys, SET_PROCESS, "is", row, name->text.data, name->text.len);
}

static int rename_thread(struct store_nsys *nsys, uint64_t tid, int64_t id,
                         struct nvtxt_slice text) {
    if (!nsys->facts.is_copy) {
        return RUN(nsys, SET_STRING, "is", id, text.data, text.len);
    }
    int rc = store_nsys_thread_string(nsys, text, &id);
    return rc ?: RUN(nsys, SET_THREAD, "ii", (int64_t)tid, id);
}

// A row of ThreadNames that the export has stays as it is; the name stands in NVTX_EVENTS as well.
static int name_thread(struct store_nsys *nsys, const struct nvtxt_name *name) {
    uint64_t tid = store_nsys_tid(nsys, name->pid, name->tid);
    struct nsys_row row = {.type = TYPE_THREAD, .text = name->text, .tid = tid};
    int64_t id;
    int rc = store_name_rows_find(&nsys->rows, STORE_ROW_THREAD, 0, tid, &id);
    if (rc == SQLITE_OK && !id) {
        rc = add_thread(nsys, tid, name->text);
    } else if (rc == SQLITE_OK && id >= nsys->first_string && id < nsys->txn.next_string) {
        rc = rename_thread(nsys, tid, id, name->text);
    }
    rc = rc ?: see_process(nsys, tid & ~(uint64_t)NVTXT_ID_MAX);
    row.start = row.end = move_name(nsys, name->at);
    return rc ?: name_event(nsys, &row, NVTXT_EVENT_THREAD, 0, tid);
}

// As in a store: a domain is named where a source first says it, at its event.
static int see_domain(struct store_nsys *nsys, const struct nvtxt_name *name, int64_t *id) {
    uint64_t tid = store_nsys_tid(nsys, name->at_pid, name->at_tid);
    return store_nsys_domain(nsys, name->domain, name->at_pid, tid, move_name(nsys, name->at), id);
}

static int name_category(struct store_nsys *nsys, const struct nvtxt_name *name) {
    struct nsys_row row = {
        .type = TYPE_CATEGORY,
        .text = name->text,
        .category = name->category,
        .tid =
            store_nsys_tid(nsys, name->pid, name->pid == name->at_pid ? name->at_tid : name->pid)};
    row.start = row.end = move_name(nsys, name->at);
    int rc = store_nsys_see_thread(nsys, row.tid);
    if (nsys->facts.is_copy) {
        rc = rc ?: see_domain(nsys, name, &row.domain);
    } else if (rc == SQLITE_OK) {
        rc = store_nsys_domain(nsys, name->domain, name->pid, row.tid, row.start, &row.domain);
    }
    if (rc != 0) {
        return rc;
    }
    return name_event(nsys, &row, NVTXT_EVENT_CATEGORY, row.domain,
                      (uint64_t)category_key(name->pid, name->category));
}

int store_nsys_name(struct store_nsys *nsys, const struct nvtxt_name *name) {
    int64_t domain;
    switch (name->kind) {
    case NVTXT_NAME_CATEGORY:
        return name_category(nsys, name);
    case NVTXT_NAME_THREAD:
        return name_thread(nsys, name);
    case NVTXT_NAME_PROCESS:
        return name_process(nsys, name);
    case NVTXT_NAME_DOMAIN: // else the first event that bears it writes its row
        return nsys->facts.is_copy ? see_domain(nsys, name, &domain) : SQLITE_OK;
    case NVTXT_NAME_RESOURCE:
    case NVTXT_NAME_COUNTER:
        nsys->counts.resources++;
        break;
    }
    return SQLITE_OK;
}
