// SPDX-License-Identifier: Apache-2.0
//
// A slot is written once, whole, after everything that our function needs is there. Tables of older
// programs are shorter, and slots that a program does without are NULL: both are passed over.
#include "inject/core/core.h"

#include "lib/private.h"

static const abi_function *const functions_of[ABI_MODULES] = {
    [ABI_CORE] = core_functions,     [ABI_CUDA] = cuda_functions,   [ABI_OPENCL] = opencl_functions,
    [ABI_CUDART] = cudart_functions, [ABI_CORE2] = core2_functions, [ABI_SYNC] = sync_functions,
};

static void hook_module(const struct abi_callbacks *callbacks, uint32_t module) {
    abi_function **slots = NULL;
    unsigned count = 0;
    if (!callbacks->get_slots(module, &slots, &count) || !slots) {
        return;
    }
    for (unsigned i = 1; i < count && i < abi_count(module); i++) {
        if (slots[i] && functions_of[module][i]) {
            __atomic_store_n(slots[i], functions_of[module][i], __ATOMIC_RELEASE);
        }
    }
}

bool tables_hook(abi_get_export get_export) {
    const struct abi_callbacks *callbacks = get_export ? get_export(ABI_EXPORT_CALLBACKS) : NULL;
    if (!callbacks || callbacks->size < sizeof(*callbacks) || !callbacks->get_slots) {
        return false;
    }
    for (uint32_t module = ABI_CORE; module < ABI_MODULES; module++) {
        hook_module(callbacks, module);
    }
    return true;
}

const struct extension_module *tables_extension(const struct abi_extension *module) {
    static const struct extension_module *const extensions[] = {&extension_mem, &extension_payload,
                                                                &extension_counters};
    for (size_t i = 0; i < sizeof(extensions) / sizeof(*extensions); i++) {
        if (extensions[i]->module == module->module) {
            return module->compat >= extensions[i]->oldest_compat &&
                           module->compat <= extensions[i]->compat
                       ? extensions[i]
                       : NULL;
        }
    }
    return NULL;
}

bool tables_hook_extension(const struct abi_extension *module) {
    if (!module || module->size < offsetof(struct abi_extension, get_export) ||
        !module->segment_count || !module->segments) {
        return false;
    }
    const struct extension_module *ours = tables_extension(module);
    const struct abi_segment *segment = &module->segments[0];
    if (!ours || !segment->slots) {
        nvtxt_private_log(
            "NVTX's extension %u, version %#x, is not known: its calls are not recorded",
            module->module, module->compat);
        return true;
    }
    for (size_t i = 0; i < segment->count && i < ours->count; i++) {
        if (ours->functions[i]) {
            __atomic_store_n(&segment->slots[i], (intptr_t)ours->functions[i], __ATOMIC_RELEASE);
        }
    }
    return true;
}
