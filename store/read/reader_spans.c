// SPDX-License-Identifier: Apache-2.0
//
// Which rows a window can lie in. A batch of NVTXT_BATCHES that ends before the window, or begins
// after it, is left out. Rows that belong to no batch (rows of names, and rows that somebody else
// added) stay in, and the reader checks each one. If the window wants certain sources,
// NVTXT_EVENT_SOURCES cuts their rows out of that. Spans that touch become one, so there are few:
// the last minutes of a store are one span.
#include <stdlib.h>

#include "protocol/table/arrays.h"
#include "store/read/reader_state.h"

static int add_span(struct store_reader *reader, int64_t first, int64_t last) {
    if (first > last) {
        return SQLITE_OK;
    }
    if (reader->span_count > 0 && reader->spans[reader->span_count - 1].last == first - 1) {
        reader->spans[reader->span_count - 1].last = last;
        return SQLITE_OK;
    }
    if (nvtxt_grow(&reader->spans, &reader->span_room, reader->span_count + 1,
                   sizeof(*reader->spans)) < 0) {
        return SQLITE_NOMEM;
    }
    reader->spans[reader->span_count++] = (struct store_span){first, last};
    return SQLITE_OK;
}

// All rows but those of the batches outside of the window.
static int spans_of_time(struct store_reader *reader, const struct store_read_window *window) {
    sqlite3_stmt *stmt = NULL;
    int64_t next = reader->first_row;
    bool over = false; // no row comes after the batches up to here
    int rc = store_sql_prepare(reader->db, &stmt,
                               "SELECT firstRow, lastRow FROM NVTXT_BATCHES WHERE maxEnd < ?1 OR "
                               "minStart > ?2 ORDER BY id");
    rc = rc ?: store_sql_bind(stmt, "ii", window->since_ns, window->until_ns);
    while (!over && store_sql_next(stmt, &rc)) {
        int64_t first = sqlite3_column_int64(stmt, 0);
        int64_t last = sqlite3_column_int64(stmt, 1);
        if (first > next) {
            rc = add_span(reader, next, first <= reader->last_row ? first - 1 : reader->last_row);
        }
        over = last >= reader->last_row;
        next = !over && last >= next ? last + 1 : next;
    }
    if (rc == SQLITE_OK && !over) {
        rc = add_span(reader, next, reader->last_row);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static bool is_wanted(const struct store_read_window *window, int64_t source) {
    for (size_t i = 0; i < window->source_count; i++) {
        if (window->sources[i] == source) {
            return true;
        }
    }
    return false;
}

// Adds what the rows of a source have in common with the spans of time, which begin at `*at`.
static int add_common(struct store_reader *reader, const struct store_span *spans, size_t count,
                      size_t *at, struct store_span rows) {
    int rc = SQLITE_OK;
    while (*at < count && spans[*at].last < rows.first) {
        ++*at;
    }
    for (size_t i = *at; i < count && spans[i].first <= rows.last && rc == SQLITE_OK; i++) {
        int64_t first = spans[i].first > rows.first ? spans[i].first : rows.first;
        int64_t last = spans[i].last < rows.last ? spans[i].last : rows.last;
        rc = add_span(reader, first, last);
    }
    return rc;
}

static int only_sources(struct store_reader *reader, const struct store_read_window *window) {
    sqlite3_stmt *stmt = NULL;
    struct store_span *spans = reader->spans;
    size_t count = reader->span_count;
    size_t at = 0;
    reader->spans = NULL;
    reader->span_count = reader->span_room = 0;
    int rc = store_sql_prepare(reader->db, &stmt,
                               "SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES "
                               "ORDER BY firstRow");
    while (store_sql_next(stmt, &rc)) {
        struct store_span rows = {sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1)};
        rc = is_wanted(window, sqlite3_column_int64(stmt, 2))
                 ? add_common(reader, spans, count, &at, rows)
                 : SQLITE_OK;
    }
    free(spans);
    sqlite3_finalize(stmt);
    return rc;
}

int store_reader_spans(struct store_reader *reader, const struct store_read_window *window) {
    bool whole = window->since_ns == INT64_MIN && window->until_ns == INT64_MAX;
    int rc = SQLITE_OK;
    reader->span_count = 0;
    if (!reader->ours || whole) {
        rc = add_span(reader, reader->first_row, reader->last_row);
    } else {
        rc = spans_of_time(reader, window);
    }
    if (rc == SQLITE_OK && window->sources && reader->ours) {
        rc = only_sources(reader, window);
    } else if (window->sources) {
        reader->span_count = 0; // an export has no sources
    }
    reader->rows = 0;
    for (size_t i = 0; i < reader->span_count; i++) {
        reader->rows += (double)reader->spans[i].last - (double)reader->spans[i].first + 1;
    }
    return rc;
}
