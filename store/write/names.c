// SPDX-License-Identifier: Apache-2.0
//
// For each event there is one question: are its thread, and its domain in this process, known?
// Mostly a comparison with the event before answers it, else name_rows.c; only then something is
// written.
//
// A thread's name has a StringIds row of its own, which no event shares, so a rename changes only
// its value.
#include "store/write/names.h"

#include <stdio.h>
#include <string.h>

enum statement {
    ADD_STRING,
    SET_STRING,
    ADD_THREAD,
    ADD_PROCESS,
    SET_PROCESS,
    RAISE_PROCESS,
    ADD_EVENT,
    SET_EVENT,
    SET_EVENT_TEXT,
};

static const char *const texts[STORE_NAMES_STMTS] = {
    [ADD_STRING] = "INSERT INTO StringIds (id, value) VALUES (?, ?)",
    [SET_STRING] = "UPDATE StringIds SET value = ?2 WHERE id = ?1",
    [ADD_THREAD] = "INSERT INTO ThreadNames (nameId, globalTid) VALUES (?, ?)",
    [ADD_PROCESS] = "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?, ?, ?)",
    [SET_PROCESS] = "UPDATE PROCESSES SET name = ?2 WHERE rowid = ?1",
    [RAISE_PROCESS] = "UPDATE PROCESSES SET name = ?2 WHERE rowid = ?1 AND name = ?3",
    [ADD_EVENT] =
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
        "globalTid, domainId, textId) VALUES (?1, ?2, ?2, ?3, 0, ?4, ?5, 0, ?6, ?7, ?8)",
    [SET_EVENT] = "UPDATE NVTX_EVENTS SET text = ?2, textId = ?3 WHERE rowid = ?1",
    [SET_EVENT_TEXT] = "UPDATE NVTX_EVENTS SET text = ?2 WHERE rowid = ?1",
};

void store_names_init(struct store_names *names, struct store_txn *txn, struct store_intern *intern,
                      struct store_domains *domains, struct store_name_rows *rows,
                      struct store_owners *owners) {
    *names = (struct store_names){
        .txn = txn, .intern = intern, .domains = domains, .rows = rows, .owners = owners};
}

void store_names_deinit(struct store_names *names) {
    store_sql_finalize(names->stmts, STORE_NAMES_STMTS);
}

// ---- Strings ----------------------------------------------------------------------------------

static int add_string(struct store_names *names, const char *data, size_t len, int64_t *id) {
    *id = names->txn->next_string++;
    return STORE_SQL_RUN(names, ADD_STRING, "is", *id, data, len);
}

// The id of a string that may be shared.
static int intern(struct store_names *names, uint32_t hash, const char *data, size_t len,
                  int64_t *id) {
    *id = store_intern_find(names->intern, hash, data, len);
    if (*id >= 0) {
        return SQLITE_OK;
    }
    int rc = add_string(names, data, len, id);
    if (rc == SQLITE_OK) {
        store_intern_add(names->intern, hash, data, len, *id);
    }
    return rc;
}

// ---- Processes and threads --------------------------------------------------------------------

static int add_process(struct store_names *names, const struct store_source *source, uint64_t pid,
                       const char *name, size_t len) {
    int rc =
        STORE_SQL_RUN(names, ADD_PROCESS, "iis", (int64_t)(pid << 24), (int64_t)pid, name, len);
    if (rc == 0) {
        rc = store_name_rows_add(names->rows, STORE_ROW_PROCESS, 0, pid,
                                 sqlite3_last_insert_rowid(names->txn->db));
    }
    return rc ?: source->has_peer ? store_owners_see(names->owners, pid) : rc;
}

// Whether the name of the peer's program may stand for the process, which must be the peer.
static int is_peer(struct store_names *names, const struct store_source *source, uint64_t pid,
                   bool *is) {
    *is = source->has_peer && source->peer_comm && (uint64_t)source->peer_pid == pid;
    return *is ? store_owners_is(names->owners, pid, source->peer_uid, is) : SQLITE_OK;
}

static size_t default_name(char *name, size_t size, const char *what, uint64_t number) {
    return (size_t)snprintf(name, size, "%s %llu", what, (unsigned long long)number);
}

static int see_process(struct store_names *names, uint64_t pid, const struct store_source *source) {
    int64_t row;
    int rc = store_name_rows_find(names->rows, STORE_ROW_PROCESS, 0, pid, &row);
    if (rc != SQLITE_OK || row) {
        return rc;
    }
    bool peer;
    rc = is_peer(names, source, pid, &peer);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (peer) {
        return add_process(names, source, pid, source->peer_comm, strlen(source->peer_comm));
    }
    char name[32];
    size_t len = default_name(name, sizeof(name), "Process", pid);
    return add_process(names, source, pid, name, len);
}

static int add_thread(struct store_names *names, uint64_t global_tid, const char *name, size_t len,
                      int64_t *id) {
    int rc = add_string(names, name, len, id);
    rc = rc ?: STORE_SQL_RUN(names, ADD_THREAD, "ii", *id, (int64_t)global_tid);
    rc = rc ?: store_name_rows_add(names->rows, STORE_ROW_THREAD, 0, global_tid, *id);
    return rc;
}

static int see_thread(struct store_names *names, uint64_t global_tid,
                      const struct store_source *source) {
    int64_t row;
    int rc = store_name_rows_find(names->rows, STORE_ROW_THREAD, 0, global_tid, &row);
    if (rc != SQLITE_OK || row) {
        return rc;
    }
    char name[32];
    size_t len = default_name(name, sizeof(name), "Thread", global_tid & NVTXT_ID_MAX);
    rc = add_thread(names, global_tid, name, len, &row);
    return rc ?: see_process(names, global_tid >> 24, source);
}

int store_names_new_source(struct store_names *names, const struct store_source *source) {
    if (!source->has_peer || !source->peer_comm) {
        return SQLITE_OK;
    }
    int64_t row;
    bool peer = false;
    uint64_t pid = (uint64_t)source->peer_pid;
    int rc = store_name_rows_find(names->rows, STORE_ROW_PROCESS, 0, pid, &row);
    rc = rc ?: row ? is_peer(names, source, pid, &peer) : rc;
    if (rc != SQLITE_OK || !peer) {
        return rc;
    }
    char name[32];
    default_name(name, sizeof(name), "Process", (uint64_t)source->peer_pid);
    return STORE_SQL_RUN(names, RAISE_PROCESS, "itt", row, source->peer_comm, name);
}

// ---- Name rows of NVTX_EVENTS -----------------------------------------------------------------

struct name_row {
    enum nvtxt_event_type type;
    int64_t domain;
    uint32_t category;
    uint64_t global_tid;
    int64_t at;
    const char *text;
    size_t len;
    int64_t text_id;
};

static int add_name_row(struct store_names *names, const struct name_row *row, uint64_t key) {
    int64_t rowid = names->txn->next_row++;
    int rc = STORE_SQL_RUN(names, ADD_EVENT, "iiisiiii", rowid, row->at, (int64_t)row->type,
                           row->text, row->len, (int64_t)row->category, (int64_t)row->global_tid,
                           row->domain, row->text_id);
    int64_t domain = row->type == NVTXT_EVENT_THREAD ? 0 : row->domain;
    int kind = row->type == NVTXT_EVENT_CATEGORY ? STORE_ROW_CATEGORY : (int)row->type;
    return rc ?: store_name_rows_add(names->rows, kind, domain, key, rowid);
}

// Where the row of a category stands: at the event, or in the main thread of another process.
static int category_place(struct store_names *names, const struct store_name *name,
                          const struct store_source *source, uint64_t *global_tid) {
    uint64_t pid = name->global_tid >> 24;
    *global_tid = name->at_global_tid;
    if (name->at_global_tid >> 24 == pid) {
        return SQLITE_OK;
    }
    *global_tid = pid << 24 | pid;
    return see_thread(names, *global_tid, source);
}

static int name_category(struct store_names *names, const struct store_name *name, int64_t domain,
                         const struct store_source *source) {
    uint64_t key = store_category_key(name->global_tid, name->category);
    uint64_t global_tid = 0;
    int64_t row;
    int64_t text_id = 0;
    int rc = store_name_rows_find(names->rows, STORE_ROW_CATEGORY, domain, key, &row);
    rc = rc ?: intern(names, name->text_hash, name->text, name->text_len, &text_id);
    rc = rc ?: row ? rc : category_place(names, name, source, &global_tid);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (row) {
        return STORE_SQL_RUN(names, SET_EVENT, "isi", row, name->text, (size_t)name->text_len,
                             text_id);
    }
    struct name_row new_row = {.type = NVTXT_EVENT_CATEGORY,
                               .domain = domain,
                               .category = name->category,
                               .global_tid = global_tid,
                               .at = name->at,
                               .text = name->text,
                               .len = name->text_len,
                               .text_id = text_id};
    return add_name_row(names, &new_row, key);
}

static int name_thread(struct store_names *names, const struct store_name *name,
                       const struct store_source *source) {
    int64_t id;
    int64_t row;
    size_t len = name->text_len;
    int rc = store_name_rows_find(names->rows, STORE_ROW_THREAD, 0, name->global_tid, &id);
    if (rc == SQLITE_OK && id) {
        rc = STORE_SQL_RUN(names, SET_STRING, "is", id, name->text, len);
    } else if (rc == SQLITE_OK) {
        rc = add_thread(names, name->global_tid, name->text, len, &id);
        rc = rc ?: see_process(names, name->global_tid >> 24, source);
    }
    rc = rc ?: store_name_rows_find(names->rows, NVTXT_EVENT_THREAD, 0, name->global_tid, &row);
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (row) {
        return STORE_SQL_RUN(names, SET_EVENT_TEXT, "is", row, name->text, len);
    }
    struct name_row new_row = {.type = NVTXT_EVENT_THREAD,
                               .global_tid = name->global_tid,
                               .at = name->at,
                               .text = name->text,
                               .len = len,
                               .text_id = id};
    return add_name_row(names, &new_row, name->global_tid);
}

static int name_process(struct store_names *names, const struct store_name *name,
                        const struct store_source *source) {
    uint64_t pid = name->global_tid >> 24;
    int64_t row;
    int rc = store_name_rows_find(names->rows, STORE_ROW_PROCESS, 0, pid, &row);
    if (rc != SQLITE_OK) {
        return rc;
    }
    return row ? STORE_SQL_RUN(names, SET_PROCESS, "is", row, name->text, (size_t)name->text_len)
               : add_process(names, source, pid, name->text, name->text_len);
}

// One row for each domain and process, at the first event or name that bears it.
static int see_domain(struct store_names *names, const struct store_batch *batch, uint32_t index,
                      int64_t at, uint64_t global_tid) {
    const struct store_domain *domain = batch->domains[index];
    uint64_t pid = global_tid >> 24;
    int64_t id;
    int64_t row = 0;
    int64_t text_id;
    int rc = store_domains_id(names->domains, batch, index, &id);
    rc = rc ?: store_name_rows_find(names->rows, NVTXT_EVENT_DOMAIN, id, pid, &row);
    if (rc != SQLITE_OK || row) {
        return rc;
    }
    rc = intern(names, domain->name_hash, domain->name, domain->len, &text_id);
    if (rc != SQLITE_OK) {
        return rc;
    }
    struct name_row new_row = {.type = NVTXT_EVENT_DOMAIN,
                               .domain = id,
                               .global_tid = global_tid,
                               .at = at,
                               .text = domain->name,
                               .len = domain->len,
                               .text_id = text_id};
    return add_name_row(names, &new_row, pid);
}

// ---- A share ----------------------------------------------------------------------------------

// Whether a name still has an effect, when a process got another owner in the same batch.
static int may_name(struct store_names *names, const struct store_source *source,
                    const struct store_name *name, bool *may) {
    *may = !source->has_peer || source->peer_uid == 0 || name->kind == NVTXT_NAME_DOMAIN;
    return *may ? SQLITE_OK
                : store_owners_is(names->owners, name->global_tid >> 24, source->peer_uid, may);
}

static int write_name(struct store_names *names, const struct store_batch *batch,
                      const struct store_source *source, const struct store_name *name) {
    int64_t id = 0;
    bool may = true;
    int rc = batch->names_taken ? may_name(names, source, name, &may) : SQLITE_OK;
    if (rc != SQLITE_OK || !may) {
        return rc;
    }
    switch (name->kind) {
    case NVTXT_NAME_CATEGORY:
        rc = store_domains_id(names->domains, batch, name->domain, &id);
        return rc ?: name_category(names, name, id, source);
    case NVTXT_NAME_THREAD:
        return name_thread(names, name, source);
    case NVTXT_NAME_PROCESS:
        return name_process(names, name, source);
    case NVTXT_NAME_DOMAIN:
        return rc; // see_named_domains() writes it, in the order of events
    case NVTXT_NAME_RESOURCE:
    case NVTXT_NAME_COUNTER:
        rc = see_process(names, name->global_tid >> 24, source);
        rc = rc ?: store_domains_id(names->domains, batch, name->domain, &id);
        return rc ?: store_domains_name(names->domains, name, id, source->id);
    }
    return rc;
}

// A display name or the name of a category may be the first thing in its domain. Those that were
// given before the event number `before` are seen here; `*next` moves past them. So the row of a
// domain stands where the stream first says it, however the stream was cut into batches.
static int see_named_domains(struct store_names *names, const struct store_batch *batch,
                             uint64_t before, const struct store_name **next) {
    int rc = SQLITE_OK;
    const struct store_name *name = *next;
    for (; name && name->events_before <= before && rc == SQLITE_OK; name = name->next) {
        bool brings_domain = name->kind == NVTXT_NAME_CATEGORY || name->kind == NVTXT_NAME_DOMAIN;
        if (brings_domain && name->domain) {
            rc = see_domain(names, batch, name->domain, name->at, name->at_global_tid);
        }
    }
    *next = name;
    return rc;
}

static int see_events(struct store_names *names, const struct store_batch *batch,
                      const struct store_share *share) {
    const struct store_source *source = &share->pub.source;
    const struct store_name *name = share->names;
    uint64_t before = 0;
    int rc = SQLITE_OK;
    uint64_t last_tid = UINT64_MAX;
    uint32_t last_domain = 0;
    for (const struct store_run *run = share->runs; run; run = run->next) {
        for (size_t i = 0; i < run->count; i++) {
            const struct store_event *event = &run->events[i];
            if (name && name->events_before <= before) {
                rc = see_named_domains(names, batch, before, &name);
            }
            before++;
            if (rc == SQLITE_OK && event->global_tid == last_tid && event->domain == last_domain) {
                continue;
            }
            last_tid = event->global_tid;
            last_domain = event->domain;
            rc = rc ?: see_thread(names, last_tid, source);
            if (rc == SQLITE_OK && last_domain) {
                rc = see_domain(names, batch, last_domain, event->start, last_tid);
            }
            if (rc != SQLITE_OK) {
                return rc;
            }
        }
    }
    return see_named_domains(names, batch, before, &name);
}

int store_names_write(struct store_names *names, const struct store_batch *batch,
                      const struct store_share *share) {
    int rc = SQLITE_OK;
    for (const struct store_name *name = share->names; name && rc == SQLITE_OK; name = name->next) {
        rc = write_name(names, batch, &share->pub.source, name);
    }
    rc = rc ?: see_events(names, batch, share);
    for (const struct store_event_extra *extra = share->extras; extra && rc == SQLITE_OK;
         extra = extra->next) {
        if (extra->elsewhere) {
            rc = see_thread(names, extra->end_global_tid, &share->pub.source);
        }
    }
    for (const struct store_opened *opened = share->opened; opened && rc == SQLITE_OK;
         opened = opened->next) {
        rc = see_thread(names, nvtxt_global_tid(opened->range.pid, opened->range.tid),
                        &share->pub.source);
    }
    return rc;
}
