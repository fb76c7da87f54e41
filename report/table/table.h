// SPDX-License-Identifier: Apache-2.0
//
// report/table: tables, and what every format is written with: JSON value by value, text in aligned
// columns, texts without control characters, numbers and links for people. It owns the tables, and
// what one call needs; every function that writes puts bytes into the output of its caller, which
// remembers a failure. One thread. It knows no event, metric or rule.
//
// This header is a table: columns, rows of cells, notes.
#pragma once

#include <assert.h>
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

#define REPORT_NO_CELL ((struct report_cell){0})
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
    REPORT_COLUMN_TEXT, // names: text cuts long ones
    REPORT_COLUMN_NUMBER,
    REPORT_COLUMN_ID,     // a number that stands for something: its digits are not grouped
    REPORT_COLUMN_LABEL,  // texts that are never cut
    REPORT_COLUMN_VALUE,  // numbers with their units, as texts; never cut
    REPORT_COLUMN_MIXED,  // what a rule put there: numbers as programs read them, texts with links
    REPORT_COLUMN_SHARE,  // numbers of percent; a screen has a bar beside them
    REPORT_COLUMN_MOMENT, // times at which something was; a screen shows the time of day
    REPORT_COLUMN_LENGTH, // times that something took; on a screen each has its own unit
    REPORT_COLUMN_BAR,    // what report_cell_bar() makes
};

struct report_column {
    const char *title; // one that ends with " (ns)" holds times, and --timeunit divides it
    enum report_column_kind kind;
};

static inline bool report_cell_is_number(const struct report_cell *cell) {
    return cell->kind == REPORT_CELL_INT || cell->kind == REPORT_CELL_UINT ||
           cell->kind == REPORT_CELL_REAL;
}

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
    bool failed;              // memory was short: the writers say so
    struct store_arena arena; // texts of cells, notes, titles
    void *owned;              // a block that a report keeps for its cells: freed with the table
};

// An empty table. The columns are borrowed.
void report_table_init(struct report_table *table, const char *name,
                       const struct report_column *columns, size_t column_count);
void report_table_deinit(struct report_table *table); // fine when zeroed

// Columns in the memory of a table without rows, for the caller to fill in. NULL when memory is
// short: then it has none, and failed.
struct report_column *report_table_columns(struct report_table *table, size_t count);

// A new last row of empty cells, valid until the next one is added; NULL when memory is short, and
// then the table failed.
struct report_cell *report_table_row(struct report_table *table);

// A new last row of these cells, one for each column. Returns 0 or -ENOMEM.
int report_table_add(struct report_table *table, const struct report_cell *cells);

// The cell of a sum: a number, or its digits as a text when it does not fit into 64 bits, as JSON
// has it. Empty when memory is short.
struct report_cell report_cell_total(struct report_table *table, unsigned __int128 total);

// Room for a text of the table; no bytes are in it yet. NULL when memory is short, and when all
// texts of the table together would pass REPORT_TABLE_TEXT_BYTES: the stacks of many deep ranges
// would.
char *report_table_room(struct report_table *table, size_t len);
#define REPORT_TABLE_TEXT_BYTES ((size_t)1 << 30)

// The cell of a text that is copied into the table, with a NUL after it. When memory is short it is
// empty, and the table failed.
struct report_cell report_cell_copy(struct report_table *table, struct nvtxt_slice text);

// The same, but the cell of an empty text is empty: so it makes no line longer.
struct report_cell report_cell_label(struct report_table *table, struct nvtxt_slice text);

// A bar of '#' as long as value / most of REPORT_BAR; empty for what is not above 0.
#define REPORT_BAR 40 // characters of the longest bar
struct report_cell report_cell_bar(double value, double most);

#define REPORT_TABLE_MADE 16 // the most columns of a table whose rows are made

// The cells of a row; `room` has place for REPORT_TABLE_MADE of them.
static inline const struct report_cell *report_table_cells(const struct report_table *table,
                                                           size_t row, struct report_cell *room) {
    if (!table->make_row) {
        return &table->cells[row * table->column_count];
    }
    assert(table->column_count <= REPORT_TABLE_MADE);
    memset(room, 0, table->column_count * sizeof(*room));
    table->make_row(table->context, row, room);
    return room;
}

// Adds a note, as printf does. Returns 0 or -ENOMEM.
int report_table_note(struct report_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
