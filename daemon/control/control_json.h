// SPDX-License-Identifier: Apache-2.0
//
// Values of a command's result. A text from outside (a path, a name, an error) may hold any bytes:
// it becomes valid UTF-8.
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "protocol/base/slice.h"

struct removed; // daemon/writer/bqueue.h

// Each returns NULL when memory is short.
json_t *control_text(const char *text);
json_t *control_nullable(const char *text); // null for NULL and ""
json_t *control_slice(struct nvtxt_slice text);
json_t *control_nullable_slice(struct nvtxt_slice text); // null for an empty one

void control_set(json_t *object, const char *name, int64_t value);

json_t *control_removed(const struct removed *removed); // what retention removed
