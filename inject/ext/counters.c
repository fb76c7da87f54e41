// SPDX-License-Identifier: Apache-2.0
//
// Counters: none of their calls is ours yet.
#include "inject/extension.h"

const struct extension_module extension_counters = {ABI_EXTENSION_COUNTERS, 0x0102, 0, NULL};
