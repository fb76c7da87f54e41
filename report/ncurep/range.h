// SPDX-License-Identifier: Apache-2.0
//
// A range that was open: its name and attributes. All is borrowed from the report.
#pragma once

#include "report/ncurep/state.h"

enum report_range_payload {
    REPORT_RANGE_NO_PAYLOAD,
    REPORT_RANGE_UINT64, // `number`; also of 32 bits
    REPORT_RANGE_INT64,  // the same bits as int64_t; also of 32 bits
    REPORT_RANGE_DOUBLE, // `real`; also of a float
};

struct report_range {
    struct nvtxt_slice name;    // Name, or the text of its message; never without data
    struct nvtxt_slice message; // data NULL: none
    bool has_attributes;
    uint32_t category;
    bool has_color;
    uint32_t color;        // ARGB
    uint32_t payload_type; // as the file has it: a number of NVTX
    enum report_range_payload payload;
    uint64_t number;
    double real;
    uint64_t id;  // of a start/end range
    uint32_t tid; // of a start/end range: the thread that started it
};

// A cursor over the ranges of a pile, the bottom one first.
static inline struct report_wire report_ranges_of(const struct report_pile *pile) {
    return report_wire_of(pile->bytes);
}
bool report_range_next(const struct report_state *state, const struct report_pile *pile,
                       struct report_wire *cursor, struct report_range *range);
