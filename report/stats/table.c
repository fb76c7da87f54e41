// SPDX-License-Identifier: Apache-2.0
//
// Rows stand in one array that doubles. Notes are few, so their array grows by one.
#include "report/stats/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void report_table_init(struct report_table *table, const char *name,
                       const struct report_column *columns, size_t column_count) {
    *table = (struct report_table){.name = name, .columns = columns, .column_count = column_count};
}

void report_table_deinit(struct report_table *table) {
    free(table->cells);
    free(table->notes);
    free(table->owned);
    store_arena_deinit(&table->arena);
    *table = (struct report_table){0};
}

struct report_cell *report_table_row(struct report_table *table) {
    if (table->row_count == table->row_cap) {
        size_t cap = table->row_cap ? 2 * table->row_cap : 16;
        struct report_cell *cells =
            realloc(table->cells, cap * table->column_count * sizeof(*cells));
        if (!cells) {
            return NULL;
        }
        table->cells = cells;
        table->row_cap = cap;
    }
    struct report_cell *row = &table->cells[table->row_count++ * table->column_count];
    memset(row, 0, table->column_count * sizeof(*row));
    return row;
}

char *report_table_room(struct report_table *table, size_t len) {
    size_t used = store_arena_used(&table->arena);
    if (len >= REPORT_TABLE_TEXT_BYTES || used >= REPORT_TABLE_TEXT_BYTES - len) {
        return NULL;
    }
    return store_arena_take(&table->arena, len + 1, 1);
}

struct report_cell report_cell_copy(struct report_table *table, struct nvtxt_slice text) {
    char *copy = report_table_room(table, text.len);
    if (!copy) {
        return (struct report_cell){0};
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    return report_cell_text((struct nvtxt_slice){copy, text.len});
}

struct report_cell report_cell_total(struct report_table *table, unsigned __int128 total) {
    char digits[40];
    if (total <= UINT64_MAX) {
        return report_cell_uint((uint64_t)total);
    }
    size_t at = sizeof(digits);
    for (; total > 0; total /= 10) {
        digits[--at] = (char)('0' + (int)(total % 10));
    }
    return report_cell_copy(table, (struct nvtxt_slice){digits + at, sizeof(digits) - at});
}

int report_table_note(struct report_table *table, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const char **notes = realloc(table->notes, (table->note_count + 1) * sizeof(*notes));
    const char *note = store_arena_copy(&table->arena, text, strlen(text));
    if (notes) {
        table->notes = notes;
    }
    if (!notes || !note) {
        return -ENOMEM;
    }
    notes[table->note_count++] = note;
    return 0;
}
