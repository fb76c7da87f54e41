// SPDX-License-Identifier: Apache-2.0
//
// Memory: none of its calls is ours yet.
#include "inject/extension.h"

const struct extension_module extension_mem = {ABI_EXTENSION_MEM, 0x0102, 0, NULL};
