// SPDX-License-Identifier: Apache-2.0
//
// Ids of groups: from the index of a name, thread, source and so on to what people and scripts call
// it.
#pragma once

#include "report/catalogue/catalogue.h"
#include "report/catalogue/value.h"
#include "report/model/model.h"
#include "store/value/arena.h"

// The id of a raw number (group.h) of any key but the line. A text is of the capture or of the
// arena, with data NULL when memory is short.
struct report_id report_id_of(const struct report_model *model, enum report_key key, uint32_t raw,
                              struct store_arena *arena);

// Below, at or above 0: the order of ids of one kind.
int report_id_compare(const struct report_id *a, const struct report_id *b);

// FILE:LINE of a source; its text is of the arena, with data NULL when memory is short.
struct report_id report_line_id(const struct report_source *source, uint64_t line,
                                struct store_arena *arena);
