// SPDX-License-Identifier: Apache-2.0
//
// The last step goes up to the bound; what needs more than that is refused.
#include "report/ncurep/input.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"

#define FIRST_ROOM ((size_t)256 << 10)

int report_bytes_grow(struct report_bytes *bytes, size_t wanted, uint64_t most,
                      struct report_ncurep_fault *fault) {
    size_t room = wanted > 0        ? wanted
                  : bytes->room > 0 ? bytes->room + bytes->room / 2 + 1
                                    : FIRST_ROOM;
    if (most > 0 && bytes->len >= most) {
        snprintf(fault->what, sizeof(fault->what), "it needs more than %llu bytes (--max-memory)",
                 (unsigned long long)most);
        return REPORT_NCUREP_TOO_LARGE;
    }
    room = most > 0 && room > most ? (size_t)most : room;
    char *data = realloc(bytes->data, room);
    if (!data) {
        return nvtxt_origin(-ENOMEM);
    }
    bytes->data = data;
    bytes->room = room;
    return 0;
}
