// SPDX-License-Identifier: Apache-2.0
//
// Whether an input is NVTXT at all: its first lines through the interpreter. One with errors and
// no line with an effect is most likely a log that --text was forgotten for.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/common/input.h"
#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"

#define SNIFF_BYTES ((size_t)64 << 10) // of an input are looked at

struct sniff {
    struct nvtxt_interp *interp; // owned; NULL when nothing more is looked at
    struct nvtxt_frame frame;
    size_t left; // bytes
    bool is_log; // what was found
};

// `mapping` is that of the session. Returns 0 or -ENOMEM.
int sniff_init(struct sniff *sniff, const struct nvtxt_mapping *mapping);
void sniff_deinit(struct sniff *sniff); // zeroed ones are fine

// The next bytes of the input; none: its end. Returns true once, when it is known to be a log.
bool sniff_bytes(struct sniff *sniff, const char *data, size_t len);

// Looks at the beginning of a regular file, whose place of reading stays. Whether it is a log; one
// that cannot be read is none.
bool sniff_file(struct sniff *sniff, const struct input *input);
