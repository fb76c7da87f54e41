// SPDX-License-Identifier: Apache-2.0
//
// Rows stand in one array.
#include "report/table/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/table/number.h"

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

struct report_column *report_table_columns(struct report_table *table, size_t count) {
    struct report_column *columns = store_arena_make(&table->arena, count * sizeof(*columns));
    table->failed |= !columns;
    table->columns = columns;
    table->column_count = columns ? count : 0;
    return columns;
}

struct report_cell *report_table_row(struct report_table *table) {
    if (table->failed) {
        return NULL;
    }
    if (nvtxt_grow(&table->cells, &table->row_cap, table->row_count + 1,
                   table->column_count * sizeof(struct report_cell)) < 0) {
        table->failed = true;
        return NULL;
    }
    struct report_cell *row = &table->cells[table->row_count++ * table->column_count];
    memset(row, 0, table->column_count * sizeof(*row));
    return row;
}

int report_table_add(struct report_table *table, const struct report_cell *cells) {
    struct report_cell *row = report_table_row(table);
    if (!row) {
        return nvtxt_origin(-ENOMEM);
    }
    memcpy(row, cells, table->column_count * sizeof(*row));
    return 0;
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
        table->failed = true;
        return (struct report_cell){0};
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    copy[text.len] = '\0';
    return report_cell_text((struct nvtxt_slice){copy, text.len});
}

struct report_cell report_cell_label(struct report_table *table, struct nvtxt_slice text) {
    return text.len > 0 ? report_cell_copy(table, text) : (struct report_cell){0};
}

struct report_cell report_cell_bar(double value, double most) {
    static const char bar[REPORT_BAR + 1] = "########################################";
    double length = most > 0 && value > 0 ? value / most * REPORT_BAR + 0.5 : 0;
    size_t count = !(length < REPORT_BAR) ? REPORT_BAR : (size_t)length;
    bool any = most > 0 && value > 0 && count > 0;
    return any ? report_cell_text((struct nvtxt_slice){bar, count}) : (struct report_cell){0};
}

struct report_cell report_cell_total(struct report_table *table, unsigned __int128 total) {
    char digits[REPORT_NUMBER_WIDE];
    if (total <= UINT64_MAX) {
        return report_cell_uint((uint64_t)total);
    }
    return report_cell_copy(table, report_number_wide(digits, total));
}

int report_table_note(struct report_table *table, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const char *copy = store_arena_copy(&table->arena, text, strlen(text));
    const char **note = copy ? nvtxt_add(&table->notes, &table->note_count, sizeof(*note)) : NULL;
    if (!note) {
        return nvtxt_origin(-ENOMEM);
    }
    *note = copy;
    return 0;
}
