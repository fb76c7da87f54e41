// SPDX-License-Identifier: Apache-2.0
//
// Open addressing: four of five places are taken at most, so that there always is a free one.
#include "report/ncurep/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void report_slots_deinit(struct report_slots *slots) {
    free(slots->places);
    *slots = (struct report_slots){.places = NULL};
}

int report_slots_reset(struct report_slots *slots, size_t count) {
    size_t wanted = count + count / 4 + 1;
    if (wanted > slots->room) {
        report_slots_deinit(slots);
        slots->places = calloc(wanted, sizeof(*slots->places));
        if (!slots->places) {
            return -ENOMEM;
        }
        slots->room = wanted;
    } else {
        memset(slots->places, 0, wanted * sizeof(*slots->places));
    }
    slots->count = wanted;
    return 0;
}
