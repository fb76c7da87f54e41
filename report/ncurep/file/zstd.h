// SPDX-License-Identifier: Apache-2.0
//
// What zstd compressed, decompressed. zstd.c does it with libzstd; zstd_none.c says that it cannot.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "report/ncurep/file/bytes.h"
#include "report/ncurep/file/refusal.h"

// Decompresses all frames of `packed`. Returns 0 (the bytes are owned by the caller, from
// malloc()), REPORT_NCUREP_BROKEN or REPORT_NCUREP_TOO_LARGE with a fault, REPORT_NCUREP_STOPPED,
// or -ENOMEM. The offset of the fault is one of `packed`.
int report_zstd_unpack(struct nvtxt_slice packed, const struct report_ncurep_options *options,
                       struct report_bytes *bytes, struct report_ncurep_fault *fault);
