// SPDX-License-Identifier: Apache-2.0
//
// Runs a query of a rule, guarded, on the newest segment of each store, one after the other; the
// rows of all become one table (nvtxt-rule(5), "QUERIES").
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct report_builder;
struct report_capture;

struct report_sql_query {
    struct nvtxt_slice sql, title;
    size_t rows;                // at most this many are shown; 0: all, at most REPORT_SQL_ROWS
    int64_t since_ns, until_ns; // bound as :since and :until
    bool (*interrupted)(void);  // NULL: never
};

#define REPORT_QUERY_FAILED 1

// Adds the table to the result, for `message`. Returns 0, -ENOMEM, -EINTR, or REPORT_QUERY_FAILED
// with a sentence (REPORT_SQL_REASON bytes).
int report_sql_run(struct report_builder *builder, const struct report_capture *capture,
                   size_t message, const struct report_sql_query *query, char *reason);
