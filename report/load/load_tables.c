// SPDX-License-Identifier: Apache-2.0
//
// Small tables, a statement each. A column that an older version lacks is NULL.
#include "report/load/load_state.h"

#include <stdio.h>

#include "store/db/sql.h"

#define CHECK_EVERY 4096 // keys

// A view of the column, kept once; data NULL for NULL.
static int word_at(struct report_load_state *load, sqlite3_stmt *row, int column,
                   struct nvtxt_slice *word) {
    *word = (struct nvtxt_slice){NULL, 0};
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        return SQLITE_OK;
    }
    const char *data = (const char *)sqlite3_column_text(row, column);
    struct nvtxt_slice text = {data, (size_t)sqlite3_column_bytes(row, column)};
    return data ? report_load_word(load, text, word) : SQLITE_NOMEM;
}

static int words_at(struct report_load_state *load, sqlite3_stmt *row, int first,
                    struct nvtxt_slice *const words[], size_t count) {
    int rc = SQLITE_OK;
    for (size_t i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = word_at(load, row, first + (int)i, words[i]);
    }
    return rc;
}

// ---- Facts --------------------------------------------------------------------------------------

static int load_product(struct report_load_state *load, const struct report_load_file *file) {
    struct report_store *store = &load->capture->stores[file->store];
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    if (!store_read_has_column(file->reader, "META_DATA_EXPORT", "value", &rc)) {
        return rc;
    }
    rc = store_sql_prepare(file->db, &row,
                           "SELECT CASE WHEN name LIKE '%NAME' THEN 0 "
                           "WHEN name LIKE '%PRODUCT_VERSION' THEN 1 ELSE 2 END, value "
                           "FROM META_DATA_EXPORT WHERE name IN ('PRODUCT_NAME', "
                           "'PRODUCT_VERSION', 'EXPORT_PRODUCT_NAME', 'EXPORT_PRODUCT_VERSION', "
                           "'EXPORT_SCHEMA_VERSION')");
    struct nvtxt_slice *const words[] = {&store->product, &store->version, &store->schema};
    while (store_sql_next(row, &rc)) {
        rc = word_at(load, row, 1, words[sqlite3_column_int(row, 0)]);
    }
    sqlite3_finalize(row);
    return rc;
}

static int load_tables(struct report_load_state *load, const struct report_load_file *file) {
    struct report_store *store = &load->capture->stores[file->store];
    sqlite3_stmt *row = NULL;
    int rc = store_sql_prepare(file->db, &row,
                               "SELECT name FROM sqlite_master WHERE type = 'table' "
                               "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
    while (store_sql_next(row, &rc)) {
        struct nvtxt_slice *table = nvtxt_add(&store->tables, &store->table_count, sizeof(*table));
        rc = table ? word_at(load, row, 0, table) : SQLITE_NOMEM;
    }
    sqlite3_finalize(row);
    return rc;
}

int report_load_facts(struct report_load_state *load, const struct report_load_file *file) {
    struct report_store *store = &load->capture->stores[file->store];
    if (!file->newest) {
        return SQLITE_OK;
    }
    int rc = load_product(load, file);
    rc = rc ?: load_tables(load, file);
    if (rc == SQLITE_OK && file->ours) {
        rc = store_sql_int(file->db, "PRAGMA user_version", &store->schema_version);
    }
    return rc;
}

// ---- Sources ------------------------------------------------------------------------------------

static int find_source(struct report_load_state *load, int64_t id, uint32_t *index) {
    struct report_capture *capture = load->capture;
    if (nvtxt_map_get(&load->sources, (uint64_t)id, index)) {
        return SQLITE_OK;
    }
    *index = (uint32_t)capture->source_count;
    if (REPORT_GROW(load, sources, source_count) != SQLITE_OK ||
        nvtxt_map_set(&load->sources, (uint64_t)id, *index) < 0) {
        return SQLITE_NOMEM;
    }
    capture->sources[capture->source_count++] = (struct report_source){.id = id};
    return SQLITE_OK;
}

static bool number_at(sqlite3_stmt *row, int column, int64_t *number) {
    *number = sqlite3_column_int64(row, column);
    return sqlite3_column_type(row, column) != SQLITE_NULL;
}

static int take_source(struct report_load_state *load, const struct report_load_file *file,
                       sqlite3_stmt *row) {
    uint32_t index = 0;
    int rc = find_source(load, sqlite3_column_int64(row, 0), &index);
    if (rc != SQLITE_OK) {
        return rc;
    }
    struct report_source *source = &load->capture->sources[index];
    source->store = file->store;
    source->has_pid = number_at(row, 6, &source->pid);
    number_at(row, 7, &source->opened_ns);
    source->has_closed = number_at(row, 8, &source->closed_ns);
    source->has_times = number_at(row, 9, &source->first_ns);
    number_at(row, 10, &source->last_ns);
    number_at(row, 11, &source->lines);
    number_at(row, 12, &source->events);
    number_at(row, 13, &source->warnings);
    number_at(row, 14, &source->errors);
    source->has_levels = sqlite3_column_int(row, 15) == 1;
    source->has_uid = number_at(row, 16, &source->uid);
    struct nvtxt_slice *const words[] = {&source->name, &source->display_name, &source->peer_comm,
                                         &source->kind, &source->ended};
    rc = words_at(load, row, 1, words, 5);
    rc = rc ?: word_at(load, row, 17, &source->session);
    rc = rc ?: word_at(load, row, 18, &source->parent);
    load->capture->has_parents |= source->parent.data != NULL;
    return rc;
}

static int each_source(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    char sql[320];
    bool levels = store_read_has_column(file->reader, "NVTXT_SOURCES", "levels", &rc);
    bool parents = store_read_has_column(file->reader, "NVTXT_SOURCES", "parent", &rc);
    snprintf(sql, sizeof(sql),
             "SELECT id, name, displayName, peerComm, kind, ended, peerPid, openedNs, closedNs, "
             "firstNs, lastNs, lines, events, warnings, errors, %s, peerUid, sessionId, %s "
             "FROM NVTXT_SOURCES ORDER BY id",
             levels ? "levels" : "NULL", parents ? "parent" : "NULL");
    rc = rc ?: store_sql_prepare(file->db, &row, sql);
    while (store_sql_next(row, &rc)) {
        rc = take_source(load, file, row);
    }
    sqlite3_finalize(row);
    return rc;
}

// ---- Keys of ranges -----------------------------------------------------------------------------

static int take_key(struct report_load_state *load, const struct report_load_file *file,
                    sqlite3_stmt *row) {
    struct report_range_key key = {.event = REPORT_NONE};
    if (!nvtxt_map_get(&load->sources, (uint64_t)sqlite3_column_int64(row, 1), &key.source)) {
        return SQLITE_OK;
    }
    struct nvtxt_slice *const words[] = {&key.key, &key.parent};
    int rc = words_at(load, row, 2, words, 2);
    rc = rc ?: REPORT_GROW(load, keys, key_count);
    if (rc == SQLITE_OK && key.key.data) {
        key.row = report_load_row(file, sqlite3_column_int64(row, 0));
        load->capture->keys[load->capture->key_count++] = key;
        load->capture->has_parents |= key.parent.data != NULL;
    }
    return rc;
}

int report_load_keys(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    if (!file->ours || !store_read_has_column(file->reader, "NVTXT_RANGE_KEYS", "key", &rc)) {
        return rc;
    }
    rc = store_sql_prepare(file->db, &row,
                           "SELECT eventRow, sourceId, key, parent FROM NVTXT_RANGE_KEYS "
                           "ORDER BY eventRow");
    while (store_sql_next(row, &rc)) {
        rc = take_key(load, file, row);
        if (rc == SQLITE_OK && load->capture->key_count % CHECK_EVERY == 0) {
            rc = report_load_check(load);
        }
    }
    sqlite3_finalize(row);
    return rc;
}

// ---- Diagnostics and losses ---------------------------------------------------------------------

static int take_diagnostic(struct report_load_state *load, sqlite3_stmt *row) {
    uint32_t source;
    if (!nvtxt_map_get(&load->sources, (uint64_t)sqlite3_column_int64(row, 0), &source)) {
        return SQLITE_OK;
    }
    struct report_load_diagnostic *diagnostic =
        nvtxt_add(&load->diagnostics, &load->diagnostic_count, sizeof(*diagnostic));
    if (!diagnostic) {
        return SQLITE_NOMEM;
    }
    *diagnostic = (struct report_load_diagnostic){
        .source = source,
        .order = load->diagnostic_count - 1,
        .row = {.line = sqlite3_column_int64(row, 1), .column = sqlite3_column_int64(row, 2)}};
    struct nvtxt_slice *const words[] = {&diagnostic->row.severity, &diagnostic->row.stage,
                                         &diagnostic->row.code, &diagnostic->row.message,
                                         &diagnostic->row.excerpt};
    diagnostic->row.has_at = number_at(row, 8, &diagnostic->row.at_ns);
    return words_at(load, row, 3, words, 5);
}

static int each_diagnostic(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_OK;
    bool times = store_read_has_column(file->reader, "NVTXT_DIAGNOSTICS", "atNs", &rc);
    char sql[192];
    snprintf(sql, sizeof(sql),
             "SELECT sourceId, line, \"column\", severity, stage, code, message, excerpt, %s "
             "FROM NVTXT_DIAGNOSTICS ORDER BY rowid",
             times ? "atNs" : "NULL");
    rc = rc ?: store_sql_prepare(file->db, &row, sql);
    while (store_sql_next(row, &rc)) {
        rc = take_diagnostic(load, row);
    }
    sqlite3_finalize(row);
    return rc;
}

static int each_loss(struct report_load_state *load, const struct report_load_file *file) {
    sqlite3_stmt *row = NULL;
    int rc = store_sql_prepare(file->db, &row,
                               "SELECT atNs, sourceId, count, reason FROM NVTXT_LOSSES "
                               "ORDER BY rowid");
    while (store_sql_next(row, &rc)) {
        struct report_loss loss = {.store = file->store, .at_ns = sqlite3_column_int64(row, 0)};
        loss.has_source = number_at(row, 1, &loss.source);
        loss.count = (uint64_t)sqlite3_column_int64(row, 2);
        rc = word_at(load, row, 3, &loss.reason);
        rc = rc ?: REPORT_GROW(load, losses, loss_count);
        if (rc == SQLITE_OK) {
            load->capture->losses[load->capture->loss_count++] = loss;
        }
    }
    sqlite3_finalize(row);
    return rc;
}

int report_load_sources(struct report_load_state *load, const struct report_load_file *file) {
    if (!file->ours) {
        return SQLITE_OK;
    }
    int rc = each_source(load, file);
    rc = rc ?: each_diagnostic(load, file);
    return rc ?: each_loss(load, file);
}
