// SPDX-License-Identifier: Apache-2.0
//
// A struct pg_rows is libpq's PGresult.
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "ship/engine/pg.h"

void pg_rows_free(struct pg_rows *rows) {
    PQclear((PGresult *)rows);
}

size_t pg_rows_count(const struct pg_rows *rows) {
    return (size_t)PQntuples((const PGresult *)rows);
}

size_t pg_rows_changed(const struct pg_rows *rows) {
    return (size_t)strtoull(PQcmdTuples((PGresult *)rows), NULL, 10);
}

const char *pg_text(const struct pg_rows *rows, size_t row, size_t column) {
    const PGresult *result = (const PGresult *)rows;
    return PQgetisnull(result, (int)row, (int)column) ? NULL
                                                      : PQgetvalue(result, (int)row, (int)column);
}

int64_t pg_int(const struct pg_rows *rows, size_t row, size_t column) {
    const char *text = pg_text(rows, row, column);
    return text ? strtoll(text, NULL, 10) : 0;
}

const char *pg_number(char text[PG_NUMBER_SIZE], int64_t value) {
    snprintf(text, PG_NUMBER_SIZE, "%" PRId64, value);
    return text;
}
