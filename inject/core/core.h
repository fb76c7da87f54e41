// SPDX-License-Identifier: Apache-2.0
//
// inject/core: NVTX's calls without its extensions, and what NVTX looks up (entry). `tables` puts
// our functions into the slots of a program; core, core2, naming and sync are these functions, a
// module of NVTX each. They turn calls into calls of libnvtxt, with the attributes of `event`, and
// pass each call on to the library of NVTXT_CHAIN.
//
// The room owns nothing. It runs on whatever thread of the program calls.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inject/abi.h"
#include "inject/ext/extension.h"
#include "inject/handles.h"

#pragma GCC visibility push(default)
// NVTX looks these up by their names, and the pointers when the injection is linked in. Each
// linkage unit of a process that has NVTX in it calls once; the extension, once a module. They
// return 0 in a process that has other rights than its caller, and for tables that are not NVTX's.
int InitializeInjectionNvtx2(abi_get_export get_export);
int InitializeInjectionNvtx(abi_get_export get_export); // the name of NVTX 1
int InitializeInjectionNvtxExtension(struct abi_extension *module);

extern abi_initialize InitializeInjectionNvtx2_fnptr;
extern abi_initialize_extension InitializeInjectionNvtxExtension_fnptr;
#pragma GCC visibility pop

// ---- Tables -------------------------------------------------------------------------------------

// Our functions for the modules of the core, by callback number.
extern const abi_function core_functions[ABI_CORE_COUNT];
extern const abi_function core2_functions[ABI_CORE2_COUNT];
extern const abi_function cuda_functions[ABI_CUDA_COUNT];
extern const abi_function cudart_functions[ABI_CUDART_COUNT];
extern const abi_function opencl_functions[ABI_OPENCL_COUNT];
extern const abi_function sync_functions[ABI_SYNC_COUNT];

// Writes our functions into all slots that there are. A program that calls at the same moment finds
// the old function or ours. Returns false, with none written, when the tables are not those that
// NVTX has.
bool tables_hook(abi_get_export get_export);

// Ours for a module of a program; NULL: we do not know it, or its layouts are of another version.
const struct extension_module *tables_extension(const struct abi_extension *module);

// The same for such a module; one that we do not know is left as it is.
bool tables_hook_extension(const struct abi_extension *module);

// ---- Threads ------------------------------------------------------------------------------------

// Names a thread of this process by what programs take for its number: that of the kernel,
// pthread_self(), or the low half of the caller's. Any other number counts as `unsupported`.
void naming_thread(uint64_t number, const char *name);

// ---- Events -------------------------------------------------------------------------------------

enum event_kind { EVENT_MARK, EVENT_PUSH, EVENT_START };

// Records an event with what we know of its attributes. Returns the level of a push, as
// nvtxt_push_ex() does, or the id of a start.
uint64_t event_record(enum event_kind kind, const struct inject_domain *domain,
                      const struct abi_event *event);

// Attributes with handles of the library behind us in them.
struct event_copy {
    union {
        struct abi_event event;
        char bytes[256];
    };
    _Alignas(16) char payloads[4096];
};

// `event` itself when there is no handle in it, else what was put together at `copy`.
const struct abi_event *event_chained(const struct inject_domain *domain,
                                      const struct abi_event *event, struct event_copy *copy);
