// SPDX-License-Identifier: Apache-2.0
//
// The first unit that comes loads the library behind us; only then are slots written, so that its
// calls are passed on from the first. Another unit waits for that, but not for ever, and not on the
// thread that loads: foreign code runs there, which may call NVTX itself or wait for a thread that
// does.
#include "inject/core/core.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "inject/chain.h"
#include "lib/private.h"

#define DONE UINT32_MAX
#define WAITS 1000 // milliseconds

static _Atomic uint32_t set_up_by; // the thread that does it; 0: none yet

static int initialize(abi_get_export get_export);

static void set_up(void) {
    uint32_t nobody = 0, me = (uint32_t)gettid();
    if (atomic_compare_exchange_strong(&set_up_by, &nobody, me)) {
        chain_load(initialize);
        atomic_store(&set_up_by, DONE);
        return;
    }
    int saved = errno;
    for (int i = 0; i < WAITS; i++) {
        uint32_t by = atomic_load(&set_up_by);
        if (by == DONE || by == me) {
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    errno = saved;
}

static void tell_version(abi_get_export get_export) {
    const struct abi_version *version = get_export(ABI_EXPORT_VERSION);
    if (version && version->size >= sizeof(*version) && version->set_tool_version) {
        version->set_tool_version(ABI_VERSION);
    }
}

static int initialize(abi_get_export get_export) {
    if (nvtxt_private_is_secure() || !get_export) {
        return 0;
    }
    set_up();
    if (!tables_hook(get_export)) {
        return 0;
    }
    tell_version(get_export);
    return 1;
}

static int initialize_extension(struct abi_extension *module) {
    if (nvtxt_private_is_secure() || !module) {
        return 0;
    }
    set_up();
    if (tables_extension(module)) {
        chain_load_extension(module);
    }
    return tables_hook_extension(module);
}

#define ALIAS_OF(function) __attribute__((alias(#function)))
int InitializeInjectionNvtx2(abi_get_export get_export) ALIAS_OF(initialize);
int InitializeInjectionNvtx(abi_get_export get_export) ALIAS_OF(initialize);
int InitializeInjectionNvtxExtension(struct abi_extension *module) ALIAS_OF(initialize_extension);

abi_initialize InitializeInjectionNvtx2_fnptr = initialize;
abi_initialize_extension InitializeInjectionNvtxExtension_fnptr = initialize_extension;
