// SPDX-License-Identifier: Apache-2.0
//
// report/stats: the reports of `nvtxt-report stats`, each as a table, and what two captures differ
// in. It owns the tables. One thread, no I/O. It computes nothing that report/model knows already,
// and prints nothing: report/render does.
//
// This header is a table: columns, rows of cells, notes. Which reports there are stands in
// report/stats/reports.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "store/value/arena.h"

enum report_cell_kind {
    REPORT_CELL_EMPTY = 0, // null
    REPORT_CELL_INT,
    REPORT_CELL_UINT,
    REPORT_CELL_REAL,
    REPORT_CELL_TEXT,
};

struct report_cell {
    uint32_t kind;     // enum report_cell_kind
    uint32_t text_len; // of TEXT
    union {
        int64_t int64;
        uint64_t uint64;
        double real;
        const char *text; // borrowed, of the capture or of the table's arena
    };
};

static inline struct report_cell report_cell_int(int64_t value) {
    return (struct report_cell){.kind = REPORT_CELL_INT, .int64 = value};
}
static inline struct report_cell report_cell_uint(uint64_t value) {
    return (struct report_cell){.kind = REPORT_CELL_UINT, .uint64 = value};
}
static inline struct report_cell report_cell_real(double value) {
    return (struct report_cell){.kind = REPORT_CELL_REAL, .real = value};
}
static inline struct report_cell report_cell_text(struct nvtxt_slice text) {
    return (struct report_cell){
        .kind = REPORT_CELL_TEXT, .text_len = (uint32_t)text.len, .text = text.data};
}
static inline struct nvtxt_slice report_cell_slice(const struct report_cell *cell) {
    return (struct nvtxt_slice){cell->text, cell->text_len};
}

enum report_column_kind {
    REPORT_COLUMN_TEXT,
    REPORT_COLUMN_NUMBER,
    REPORT_COLUMN_ID, // a number that stands for something: its digits are not grouped
};

struct report_column {
    const char *title; // one that ends with " (ns)" holds times, and --timeunit divides it
    enum report_column_kind kind;
};

struct report_table {
    const char *name; // NULL: none
    const struct report_column *columns;
    size_t column_count;
    struct report_cell *cells; // row after row
    size_t row_count, row_cap;
    size_t left_out; // rows that were not asked for: they would come after the last
    // NULL: `cells` has the rows. Else each row is made when it is written, so that a table of
    // everything is not kept: it fills cells that are empty.
    void (*make_row)(const void *context, size_t row, struct report_cell *cells);
    const void *context;
    const char **notes;
    size_t note_count;
    struct store_arena arena; // texts of cells, notes, titles
    void *owned;              // a block that a report keeps for its cells: freed with the table
};

// An empty table. The columns are borrowed.
void report_table_init(struct report_table *table, const char *name,
                       const struct report_column *columns, size_t column_count);
void report_table_deinit(struct report_table *table); // fine when zeroed

// A new last row of empty cells, valid until the next one is added; NULL when memory is short.
struct report_cell *report_table_row(struct report_table *table);

// The cell of a sum: a number, or its digits as a text when it does not fit into 64 bits, as JSON
// has it. Empty when memory is short.
struct report_cell report_cell_total(struct report_table *table, unsigned __int128 total);

// Room for a text of the table; no bytes are in it yet. NULL when memory is short, and when all
// texts of the table together would pass REPORT_TABLE_TEXT_BYTES: the stacks of many deep ranges
// would.
char *report_table_room(struct report_table *table, size_t len);
#define REPORT_TABLE_TEXT_BYTES ((size_t)1 << 30)

// The cell of a text that is copied into the table. Empty when memory is short.
struct report_cell report_cell_copy(struct report_table *table, struct nvtxt_slice text);

#define REPORT_TABLE_MADE 16 // the most columns of a table whose rows are made

// The cells of a row; `room` has place for REPORT_TABLE_MADE of them.
static inline const struct report_cell *report_table_cells(const struct report_table *table,
                                                           size_t row, struct report_cell *room) {
    if (!table->make_row) {
        return &table->cells[row * table->column_count];
    }
    memset(room, 0, REPORT_TABLE_MADE * sizeof(*room));
    table->make_row(table->context, row, room);
    return room;
}

// Adds a note, as printf does. Returns 0 or -ENOMEM.
int report_table_note(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
