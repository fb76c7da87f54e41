// SPDX-License-Identifier: Apache-2.0
//
// All of it is one row of one statement; times are the engine's clock. Lag and losses are bounded
// as the view fleet bounds them. The view itself shows all hosts, so a shipper may not read it.
#include "protocol/base/json.h"
#include "ship/tools/tools.h"

#include <stdio.h>
#include <stdlib.h>

enum failure_class status_read(struct pg *pg, int64_t store_id, int64_t behind_rows,
                               struct status *status) {
    char id[PG_NUMBER_SIZE], behind[PG_NUMBER_SIZE];
    struct pg_rows *rows;
    const char *values[] = {pg_number(id, store_id), pg_number(behind, behind_rows)};
    status->behind_rows = behind_rows;
    status->is_known = status->has_lag = false;
    pg_node(pg, status->node, sizeof(status->node));
    enum failure_class class =
        pg_ask(pg,
               "SELECT c.segment, c.event_row, c.events, (SELECT extract(epoch FROM "
               "clock_timestamp() - w.since) FROM (SELECT CASE WHEN $2::bigint > 0 THEN "
               "c.committed ELSE c.seen END) AS w (since) WHERE isfinite(w.since)), (SELECT "
               "least(coalesce(sum(greatest(l.count, 0)), 0), 9223372036854775807)::bigint FROM "
               "@.losses AS l WHERE l.store_id = $1::integer), c.shipper FROM @.cursors AS c "
               "WHERE c.store_id = $1::integer",
               values, 2, &rows);
    if (class == FAILURE_NONE && pg_rows_count(rows) > 0) {
        const char *lag = pg_text(rows, 0, 3), *shipper = pg_text(rows, 0, 5);
        status->is_known = true;
        status->segment = pg_int(rows, 0, 0);
        status->event_row = pg_int(rows, 0, 1);
        status->events = pg_int(rows, 0, 2);
        status->has_lag = lag != NULL;
        status->lag_seconds = lag ? strtod(lag, NULL) : 0;
        status->lag_seconds = status->lag_seconds > 0 ? status->lag_seconds : 0;
        status->lost = pg_int(rows, 0, 4);
        snprintf(status->shipper, sizeof(status->shipper), "%s", shipper ?: "");
    }
    pg_rows_free(rows);
    return class;
}

static void add_text(struct nvtxt_buf *out, const char *text, bool as_json) {
    if (!as_json) {
        nvtxt_buf_add_string(out, *text ? text : "none");
    } else if (*text) {
        nvtxt_buf_add_json_string(out, nvtxt_slice_of(text));
    } else {
        nvtxt_buf_add_string(out, "null");
    }
}

void status_lag(const struct status *status, char *text, size_t size, const char *none) {
    if (status->has_lag) {
        snprintf(text, size, "%.3f", status->lag_seconds);
    } else {
        snprintf(text, size, "%s", none);
    }
}

void status_write(struct nvtxt_buf *out, const struct status *status, bool as_json) {
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"segment", status->segment},
                   {"event_row", status->event_row},
                   {"events", status->events},
                   {"behind_rows", status->behind_rows}};
    char lag[32];
    status_lag(status, lag, sizeof(lag), as_json ? "null" : "none");
    nvtxt_buf_add_string(out, as_json ? "{\"store\":" : "store        ");
    add_text(out, status->store, as_json);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        char before[32];
        snprintf(before, sizeof(before), as_json ? ",\"%s\":" : "\n%-12s ", numbers[i].name);
        nvtxt_buf_add_pair_int(out, before, numbers[i].value);
    }
    nvtxt_buf_add_string(out, as_json ? ",\"lag_seconds\":" : "\nlag_seconds  ");
    nvtxt_buf_add_string(out, lag);
    nvtxt_buf_add_pair_int(out, as_json ? ",\"lost\":" : "\nlost         ", status->lost);
    nvtxt_buf_add_string(out, as_json ? ",\"shipper\":" : "\nshipper      ");
    add_text(out, status->shipper, as_json);
    nvtxt_buf_add_string(out, as_json ? ",\"node\":" : "\nnode         ");
    add_text(out, status->node, as_json);
    nvtxt_buf_add_string(out, as_json ? "}\n" : "\n");
}
