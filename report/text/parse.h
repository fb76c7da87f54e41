// SPDX-License-Identifier: Apache-2.0
//
// Reads the text format into structs (nvtxt-section(5), "TEXT FORMAT"). A fault of the format ends
// the reading; unknown, missing and doubled fields are told, and it goes on.
#pragma once

#include "report/text/fields.h"

#define REPORT_TEXT_FAULTY 1
#define REPORT_TEXT_DEPTH 32 // messages in messages

// Reads `text` as a message of that type. The struct and all that it points to are pieces of the
// arena; nothing of `text` is kept. Returns 0, REPORT_TEXT_FAULTY when an error went into the
// messages, which are in the order of their places then, or -ENOMEM. `*message` is what could be
// read; NULL only with -ENOMEM.
int report_text_parse(const struct report_message_type *type, struct nvtxt_slice text,
                      const char *file, struct store_arena *arena, struct report_messages *messages,
                      void **message);

// The field of that name, or NULL.
const struct report_field *report_field_find(const struct report_message_type *type,
                                             struct nvtxt_slice name);
