// SPDX-License-Identifier: Apache-2.0
//
// inject: what NVTX loads into a program (NVTX_INJECTION64_PATH), or finds linked into it.
// This room puts our functions into the slots of the program (entry, tables), turns what they are
// called with into calls of libnvtxt (core, core2, naming, sync; event, text), gives out handles
// (handles) and passes each call on to the library of NVTXT_CHAIN (chain, pairs). The extensions
// are in inject/ext.
//
// It owns the handles, for the life of the process, and nothing else: rings, session and sender are
// libnvtxt's. It runs on whatever thread of the program calls; it makes no thread, takes no lock,
// and allocates nothing on an event.
#pragma once

#include "inject/abi.h"

// NVTX looks these up by their names, and the pointers when the injection is linked in. Each
// linkage unit of a process that has NVTX in it calls once; the extension, once a module. They
// return 0 in a process that has other rights than its caller, and for tables that are not NVTX's.
int InitializeInjectionNvtx2(abi_get_export get_export);
int InitializeInjectionNvtx(abi_get_export get_export); // the name of NVTX 1
int InitializeInjectionNvtxExtension(struct abi_extension *module);

extern abi_initialize InitializeInjectionNvtx2_fnptr;
extern abi_initialize_extension InitializeInjectionNvtxExtension_fnptr;
