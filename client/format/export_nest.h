// SPDX-License-Identifier: Apache-2.0
//
// Which range is in which. Rows come in the order in which ranges ended, so what is around a range
// comes after it: all rows are shown first, and come again when everything is known. 40 bytes are
// kept for each push/pop range and each mark, 44 while they are sorted.
//
// A push/pop range is around what begins and ends in it on its thread. Where ranges cross, several
// may be around a thing, and none of them in the other: the one that started last counts. Of ranges
// with the same times the one that ended last, the later row, is the outer one. A range is open
// until before its end; so what has no length is not in a range that ends there, and is around
// nothing. A range that ends before it starts counts as one without length.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/read/read_event.h"

#define EXPORT_NEST_NONE UINT32_MAX

struct export_nested {
    uint64_t global_tid : 48;
    uint64_t is_range : 1;
    uint64_t is_wanted : 1; // it comes again
    int64_t start, end;     // never before the start
    uint64_t id;            // the caller's; no other row has it
    uint32_t around;        // the next outer range that comes again, or EXPORT_NEST_NONE
    uint32_t outermost;     // the one that nothing is around, or the thing itself
};

struct export_nest {             // zeroed: empty
    struct export_nested *items; // owned; in the order of rows
    size_t count, room;
    size_t next; // of the rows that come again
};

void export_nest_deinit(struct export_nest *nest);

// Adds the next row, unless it is a start/end range: that is in nothing. Returns 0 or -ENOMEM.
int export_nest_add(struct export_nest *nest, const struct store_read_event *event, uint64_t id,
                    bool is_wanted);

// After the last row: finds out what is around each. Returns 0 or -ENOMEM.
int export_nest_find(struct export_nest *nest);

// The thing of a row that came again, in the same order; NULL for what was not added. An index is
// smaller than that of a row that comes later.
const struct export_nested *export_nest_next(struct export_nest *nest, uint64_t id);
