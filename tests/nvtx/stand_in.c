// SPDX-License-Identifier: Apache-2.0
//
// The first call loads what NVTX_INJECTION64_PATH names, or takes the injection that is linked in,
// lets it write into the slots, and from then on calls go through them. When it says 0, or there is
// none, all slots are NULL and calls do nothing.
#include "tests/nvtx/stand_in.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "inject/abi.h"

_Static_assert(sizeof(nvtxEventAttributes_t) == sizeof(struct abi_event), "");
_Static_assert(sizeof(nvtxResourceAttributes_t) == sizeof(struct abi_resource), "");
_Static_assert(sizeof(nvtxSyncUserAttributes_t) == sizeof(struct abi_sync), "");

#define EXTENSIONS 8
#define EXTENSION_SLOTS 63

static abi_function slots[ABI_MODULES][ABI_SLOTS_MOST];
static abi_function *pointers[ABI_MODULES][ABI_SLOTS_MOST + 1];
static intptr_t extension_slots[EXTENSIONS][EXTENSION_SLOTS];
static const char *age = "";

static bool is_age(const char *word) {
    return strcmp(age, word) == 0;
}

// ---- What the injection sees --------------------------------------------------------------------

static unsigned count_of(uint32_t module) {
    static const unsigned counts[ABI_MODULES] = {
        [ABI_CORE] = ABI_CORE_COUNT,     [ABI_CUDA] = ABI_CUDA_COUNT,
        [ABI_OPENCL] = ABI_OPENCL_COUNT, [ABI_CUDART] = ABI_CUDART_COUNT,
        [ABI_CORE2] = ABI_CORE2_COUNT,   [ABI_SYNC] = ABI_SYNC_COUNT,
    };
    if (is_age("v1") && module != ABI_CORE) {
        return 0;
    }
    return module >= ABI_MODULES ? 0 : is_age("v2") ? counts[module] * 3 / 4 : counts[module];
}

static int get_slots(uint32_t module, abi_function ***to, unsigned *count) {
    if (count_of(module) == 0) {
        return 0;
    }
    *count = count_of(module);
    *to = pointers[module];
    for (unsigned i = 1; i < ABI_SLOTS_MOST; i++) { // what lies behind a short table is no slot
        pointers[module][i] = is_age("holes") && i % 2 == 0 ? NULL : &slots[module][i];
    }
    return 1;
}

static void set_tool_version(uint32_t version) {
    (void)version;
}

static const void *get_export(uint32_t table) {
    static struct abi_callbacks callbacks = {sizeof(callbacks), get_slots};
    static const struct abi_version version = {sizeof(version), ABI_VERSION, 0, set_tool_version};
    callbacks.size = is_age("small") ? sizeof(size_t) : sizeof(callbacks);
    return table == ABI_EXPORT_CALLBACKS ? (const void *)&callbacks
           : table == ABI_EXPORT_VERSION ? (const void *)&version
                                         : NULL;
}

// ---- Finding it ---------------------------------------------------------------------------------

__attribute__((weak)) abi_initialize InitializeInjectionNvtx2_fnptr;
__attribute__((weak)) abi_initialize_extension InitializeInjectionNvtxExtension_fnptr;

static void *find(const char *name, void *linked_in) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    return path ? library ? dlsym(library, name) : NULL : linked_in;
}

static void load(void) {
    age = getenv("STAND_IN") ? getenv("STAND_IN") : "";
    abi_initialize initialize =
        (abi_initialize)find(is_age("v1") ? "InitializeInjectionNvtx" : "InitializeInjectionNvtx2",
                             (void *)InitializeInjectionNvtx2_fnptr);
    if (!initialize || !initialize(get_export)) {
        memset(slots, 0, sizeof(slots));
    }
}

stand_in_function stand_in_slot(int module, unsigned callback) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return __atomic_load_n(&slots[module][callback], __ATOMIC_ACQUIRE);
}

static void load_extension(int module) {
    uint16_t compat = is_age("other") ? 0x0909 : module == ABI_EXTENSION_PAYLOAD ? 0x0104 : 0x0102;
    struct abi_segment segment = {0, EXTENSION_SLOTS, extension_slots[module]};
    struct abi_extension given = {ABI_VERSION, sizeof(given), (uint16_t)module, compat, 1, &segment,
                                  NULL,        NULL};
    abi_initialize_extension initialize = (abi_initialize_extension)find(
        "InitializeInjectionNvtxExtension", (void *)InitializeInjectionNvtxExtension_fnptr);
    if (!initialize || !initialize(&given)) {
        memset(extension_slots[module], 0, sizeof(extension_slots[module]));
    }
}

stand_in_function stand_in_extension(int module, unsigned callback) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded[EXTENSIONS];
    nvtxInitialize(NULL);
    pthread_mutex_lock(&lock);
    if (!loaded[module]) {
        load_extension(module);
        loaded[module] = true;
    }
    pthread_mutex_unlock(&lock);
    intptr_t slot = __atomic_load_n(&extension_slots[module][callback], __ATOMIC_ACQUIRE);
    return slot > ABI_SLOT_STATES || slot < 0 ? (stand_in_function)slot : NULL;
}

// ---- The calls ----------------------------------------------------------------------------------

// A call that returns `none` when no injection wants it.
#define CALL(type, none, name, module, callback, parameters, arguments)                            \
    type name parameters {                                                                         \
        stand_in_function function = stand_in_slot(module, callback);                              \
        return function ? ((type(*) parameters)function)arguments : none;                          \
    }
#define CALL_VOID(name, module, callback, parameters, arguments)                                   \
    void name parameters {                                                                         \
        stand_in_function function = stand_in_slot(module, callback);                              \
        if (function) {                                                                            \
            ((void(*) parameters)function) arguments;                                              \
        }                                                                                          \
    }

#define EVENT const nvtxEventAttributes_t *event
#define DOMAIN nvtxDomainHandle_t domain

CALL_VOID(nvtxMarkA, ABI_CORE, ABI_MARK_A, (const char *text), (text))
CALL_VOID(nvtxMarkW, ABI_CORE, ABI_MARK_W, (const wchar_t *text), (text))
CALL_VOID(nvtxMarkEx, ABI_CORE, ABI_MARK_EX, (EVENT), (event))
CALL(nvtxRangeId_t, 0, nvtxRangeStartA, ABI_CORE, ABI_RANGE_START_A, (const char *text), (text))
CALL(nvtxRangeId_t, 0, nvtxRangeStartW, ABI_CORE, ABI_RANGE_START_W, (const wchar_t *text), (text))
CALL(nvtxRangeId_t, 0, nvtxRangeStartEx, ABI_CORE, ABI_RANGE_START_EX, (EVENT), (event))
CALL_VOID(nvtxRangeEnd, ABI_CORE, ABI_RANGE_END, (nvtxRangeId_t id), (id))
CALL(int, -2, nvtxRangePushA, ABI_CORE, ABI_RANGE_PUSH_A, (const char *text), (text))
CALL(int, -2, nvtxRangePushW, ABI_CORE, ABI_RANGE_PUSH_W, (const wchar_t *text), (text))
CALL(int, -2, nvtxRangePushEx, ABI_CORE, ABI_RANGE_PUSH_EX, (EVENT), (event))
CALL(int, -2, nvtxRangePop, ABI_CORE, ABI_RANGE_POP, (void), ())
CALL_VOID(nvtxNameCategoryA, ABI_CORE, ABI_NAME_CATEGORY_A, (uint32_t category, const char *name),
          (category, name))
CALL_VOID(nvtxNameCategoryW, ABI_CORE, ABI_NAME_CATEGORY_W,
          (uint32_t category, const wchar_t *name), (category, name))
CALL_VOID(nvtxNameOsThreadA, ABI_CORE, ABI_NAME_OS_THREAD_A, (uint32_t thread, const char *name),
          (thread, name))
CALL_VOID(nvtxNameOsThreadW, ABI_CORE, ABI_NAME_OS_THREAD_W, (uint32_t thread, const wchar_t *name),
          (thread, name))

CALL_VOID(nvtxInitialize, ABI_CORE2, ABI_INITIALIZE, (const void *reserved), (reserved))
CALL(nvtxDomainHandle_t, NULL, nvtxDomainCreateA, ABI_CORE2, ABI_DOMAIN_CREATE_A,
     (const char *name), (name))
CALL(nvtxDomainHandle_t, NULL, nvtxDomainCreateW, ABI_CORE2, ABI_DOMAIN_CREATE_W,
     (const wchar_t *name), (name))
CALL_VOID(nvtxDomainDestroy, ABI_CORE2, ABI_DOMAIN_DESTROY, (DOMAIN), (domain))
CALL_VOID(nvtxDomainMarkEx, ABI_CORE2, ABI_DOMAIN_MARK_EX, (DOMAIN, EVENT), (domain, event))
CALL(nvtxRangeId_t, 0, nvtxDomainRangeStartEx, ABI_CORE2, ABI_DOMAIN_RANGE_START_EX,
     (DOMAIN, EVENT), (domain, event))
CALL_VOID(nvtxDomainRangeEnd, ABI_CORE2, ABI_DOMAIN_RANGE_END, (DOMAIN, nvtxRangeId_t id),
          (domain, id))
CALL(int, -2, nvtxDomainRangePushEx, ABI_CORE2, ABI_DOMAIN_RANGE_PUSH_EX, (DOMAIN, EVENT),
     (domain, event))
CALL(int, -2, nvtxDomainRangePop, ABI_CORE2, ABI_DOMAIN_RANGE_POP, (DOMAIN), (domain))
CALL_VOID(nvtxDomainNameCategoryA, ABI_CORE2, ABI_DOMAIN_NAME_CATEGORY_A,
          (DOMAIN, uint32_t category, const char *name), (domain, category, name))
CALL_VOID(nvtxDomainNameCategoryW, ABI_CORE2, ABI_DOMAIN_NAME_CATEGORY_W,
          (DOMAIN, uint32_t category, const wchar_t *name), (domain, category, name))
CALL(nvtxStringHandle_t, NULL, nvtxDomainRegisterStringA, ABI_CORE2, ABI_DOMAIN_REGISTER_STRING_A,
     (DOMAIN, const char *text), (domain, text))
CALL(nvtxStringHandle_t, NULL, nvtxDomainRegisterStringW, ABI_CORE2, ABI_DOMAIN_REGISTER_STRING_W,
     (DOMAIN, const wchar_t *text), (domain, text))
CALL(nvtxResourceHandle_t, NULL, nvtxDomainResourceCreate, ABI_CORE2, ABI_DOMAIN_RESOURCE_CREATE,
     (DOMAIN, nvtxResourceAttributes_t *resource), (domain, resource))
CALL_VOID(nvtxDomainResourceDestroy, ABI_CORE2, ABI_DOMAIN_RESOURCE_DESTROY,
          (nvtxResourceHandle_t resource), (resource))

#define SYNC_CALL(name, callback)                                                                  \
    CALL_VOID(nvtxDomainSyncUser##name, ABI_SYNC, callback, (nvtxSyncUser_t sync), (sync))
CALL(nvtxSyncUser_t, NULL, nvtxDomainSyncUserCreate, ABI_SYNC, ABI_SYNC_CREATE,
     (DOMAIN, const nvtxSyncUserAttributes_t *sync), (domain, sync))
SYNC_CALL(Destroy, ABI_SYNC_DESTROY)
SYNC_CALL(AcquireStart, ABI_SYNC_ACQUIRE_START)
SYNC_CALL(AcquireFailed, ABI_SYNC_ACQUIRE_FAILED)
SYNC_CALL(AcquireSuccess, ABI_SYNC_ACQUIRE_SUCCESS)
SYNC_CALL(Releasing, ABI_SYNC_RELEASING)
