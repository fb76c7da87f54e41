// SPDX-License-Identifier: Apache-2.0
//
// Our functions for the modules of the core, by callback number, and how they get into the slots of
// a program. A program that calls at the same moment finds the old function or ours.
#pragma once

#include <stdbool.h>

#include "inject/abi.h"
#include "inject/extension.h"

extern const abi_function core_functions[ABI_CORE_COUNT];
extern const abi_function core2_functions[ABI_CORE2_COUNT];
extern const abi_function cuda_functions[ABI_CUDA_COUNT];
extern const abi_function cudart_functions[ABI_CUDART_COUNT];
extern const abi_function opencl_functions[ABI_OPENCL_COUNT];
extern const abi_function sync_functions[ABI_SYNC_COUNT];

// How many numbers a module of the core has.
unsigned tables_count(uint32_t module);

// Writes our functions into all slots that there are. Returns false, with none written, when the
// tables are not those that NVTX has.
bool tables_hook(abi_get_export get_export);

// Ours for a module of a program; NULL: we do not know it, or its layouts are of another version.
const struct extension_module *tables_extension(const struct abi_extension *module);

// The same for such a module; one that we do not know is left as it is.
bool tables_hook_extension(const struct abi_extension *module);
