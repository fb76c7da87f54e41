// SPDX-License-Identifier: Apache-2.0
//
// Sees whether an input is NVTXT: the interpreter reads its first lines. An input with errors and
// without any line that has an effect is most likely a log, and the user forgot --text.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/common/input.h"
#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"

#define SNIFF_BYTES ((size_t)64 << 10) // of an input are read

struct sniff {
    struct nvtxt_interp *interp; // owned; NULL when the answer is known
    struct nvtxt_frame frame;
    size_t left; // bytes
    bool is_log; // the answer
};

// `mapping` is that of the session. Returns 0 or -ENOMEM.
int sniff_init(struct sniff *sniff, const struct nvtxt_mapping *mapping);
void sniff_deinit(struct sniff *sniff); // zeroed ones are fine

// Takes the next bytes of the input; none: its end. Returns true once: when it must be a log.
bool sniff_bytes(struct sniff *sniff, const char *data, size_t len);

// Reads the beginning of a regular file; its offset does not move. Returns whether it is a log;
// false for a file that cannot be read.
bool sniff_file(struct sniff *sniff, const struct input *input);
