// SPDX-License-Identifier: Apache-2.0
//
// Texts of a store as the engine takes them: UTF-8 without NUL.
#pragma once

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"

// Appends the text. What is not UTF-8, and each NUL, becomes U+FFFD.
void row_text_add(struct nvtxt_buf *out, struct nvtxt_slice text);
