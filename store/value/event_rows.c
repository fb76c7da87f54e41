// SPDX-License-Identifier: Apache-2.0
//
// All texts of an event are one allocation of their own.
#include "store/value/event_rows.h"

#include <stdlib.h>

void store_events_deinit(struct store_events *events) {
    for (size_t i = 0; i < events->count; i++) {
        free(events->rows[i].texts);
    }
    free(events->rows);
    *events = (struct store_events){0};
}
