// SPDX-License-Identifier: Apache-2.0
//
// Values of a control command's result. What comes from outside may hold any bytes and is repaired.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct removed; // daemon/writer/bqueue.h

// A text of the outside (a path, an error, a name). NULL when memory is short.
json_t *control_text(const char *text);
json_t *control_nullable(const char *text); // null for NULL and ""

json_t *control_slice(struct nvtxt_slice text);

void control_set(json_t *object, const char *name, int64_t value);

json_t *control_removed(const struct removed *removed); // what retention took away
