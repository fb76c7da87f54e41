// SPDX-License-Identifier: Apache-2.0
//
// An injection of the tests' own, for NVTXT_CHAIN: it writes each call that it gets as a line into
// CHAIN_TOOL_LOG, with handles and ids of its own making, and says so when it is given one that is
// not. CHAIN_TOOL_MODE: `late` fills its slots only when nvtxInitialize() is called a second time,
// `refuse` fills them and refuses, `extension` refuses the extension only, `calls` calls NVTX
// itself at its start, through the unit CHAIN_TOOL_UNIT, and `waits` does so on a thread that it
// waits for.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "inject/abi.h"
#include "tests/nvtx/chain_tool.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int InitializeInjectionNvtx2(abi_get_export get_export);
EXPORT int InitializeInjectionNvtxExtension(struct abi_extension *module);

static abi_get_export program;
static _Atomic unsigned counts[KINDS];
static _Atomic uint64_t next_range = 900000;
static _Atomic int initialized;

void say(const char *format, ...) {
    static int log = -1;
    char line[1024];
    va_list args;
    if (log < 0) {
        log = open(getenv("CHAIN_TOOL_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    }
    va_start(args, format);
    int len = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    len = len < (int)sizeof(line) - 1 ? len : (int)sizeof(line) - 2;
    line[len++] = '\n';
    if (write(log, line, (size_t)len) != len) {
        abort();
    }
}

int is_mode(const char *mode) {
    const char *is = getenv("CHAIN_TOOL_MODE");
    return is && strcmp(is, mode) == 0;
}

// A handle is a kind and a number, and no address: whoever reads through it is killed.
void *new_handle(int kind) {
    return (void *)((uintptr_t)kind << 16 | ++counts[kind]);
}

const char *show(const void *handle, int kind, char *text) {
    uintptr_t number = (uintptr_t)handle;
    if (!handle) {
        strcpy(text, "none");
    } else if (number >> 16 != (uintptr_t)kind || (number & 0xFFFF) > counts[kind]) {
        strcpy(text, "FOREIGN");
    } else {
        sprintf(text, "%c%u", kind, (unsigned)(number & 0xFFFF));
    }
    return text;
}

// What is not ASCII as a question mark: this has nothing to do with the code that is tested.
static const char *narrow(const wchar_t *wide, char *text, size_t size) {
    size_t len = 0;
    for (; wide && wide[len] && len + 1 < size; len++) {
        text[len] = wide[len] < 0x80 && wide[len] > 0 ? (char)wide[len] : '?';
    }
    text[len] = '\0';
    return wide ? text : "(null)";
}

#define NARROW(wide) narrow(wide, (char[64]){0}, 64)

const char *message(int32_t type, union abi_message message, char *text, size_t size) {
    switch (type) {
    case ABI_MESSAGE_BYTES:
        return message.bytes;
    case ABI_MESSAGE_WIDE:
        return narrow(message.wide, text, size);
    case ABI_MESSAGE_REGISTERED:
        return show(message.handle, STRINGS, text);
    default:
        return "-";
    }
}

static void event(const char *call, const void *domain, const struct abi_event *attributes) {
    char text[256];
    if (!attributes || attributes->size < sizeof(*attributes)) {
        say("%s %s %s 0", call, SHOW(domain, DOMAINS), attributes ? "short" : "null");
        return;
    }
    say("%s %s %s %u", call, SHOW(domain, DOMAINS),
        message(attributes->message_type, attributes->message, text, sizeof(text)),
        attributes->category);
}

// ---- CORE ---------------------------------------------------------------------------------------

static void mark_ex(const struct abi_event *attributes) {
    event("MarkEx", NULL, attributes);
}
static void mark_a(const char *text) {
    say("MarkA %s", text);
}
static void mark_w(const wchar_t *text) {
    say("MarkW %s", NARROW(text));
}
static uint64_t start_ex(const struct abi_event *attributes) {
    event("RangeStartEx", NULL, attributes);
    return ++next_range;
}
static uint64_t start_a(const char *text) {
    say("RangeStartA %s", text);
    return ++next_range;
}
static uint64_t start_w(const wchar_t *text) {
    say("RangeStartW %s", NARROW(text));
    return ++next_range;
}
static void end(uint64_t id) {
    say("RangeEnd %llu", (unsigned long long)id);
}
static int push_ex(const struct abi_event *attributes) {
    event("RangePushEx", NULL, attributes);
    return 70;
}
static int push_a(const char *text) {
    say("RangePushA %s", text);
    return 71;
}
static int push_w(const wchar_t *text) {
    say("RangePushW %s", NARROW(text));
    return 72;
}
static int pop(void) {
    say("RangePop");
    return 73;
}
static void name_category_a(uint32_t category, const char *name) {
    say("NameCategoryA %u %s", category, name);
}
static void name_category_w(uint32_t category, const wchar_t *name) {
    say("NameCategoryW %u %s", category, NARROW(name));
}
static void name_thread_a(uint32_t tid, const char *name) {
    (void)tid;
    say("NameOsThreadA %s", name);
}
static void name_thread_w(uint32_t tid, const wchar_t *name) {
    (void)tid;
    say("NameOsThreadW %s", NARROW(name));
}

static const abi_function core[ABI_CORE_COUNT] = {
    NULL,
    (abi_function)mark_ex,
    (abi_function)mark_a,
    (abi_function)mark_w,
    (abi_function)start_ex,
    (abi_function)start_a,
    (abi_function)start_w,
    (abi_function)end,
    (abi_function)push_ex,
    (abi_function)push_a,
    (abi_function)push_w,
    (abi_function)pop,
    (abi_function)name_category_a,
    (abi_function)name_category_w,
    (abi_function)name_thread_a,
    (abi_function)name_thread_w,
};

// ---- CORE2 --------------------------------------------------------------------------------------

static void domain_mark(void *domain, const struct abi_event *attributes) {
    event("DomainMarkEx", domain, attributes);
}
static uint64_t domain_start(void *domain, const struct abi_event *attributes) {
    event("DomainRangeStartEx", domain, attributes);
    return ++next_range;
}
static void domain_end(void *domain, uint64_t id) {
    say("DomainRangeEnd %s %llu", SHOW(domain, DOMAINS), (unsigned long long)id);
}
static int domain_push(void *domain, const struct abi_event *attributes) {
    event("DomainRangePushEx", domain, attributes);
    return 74;
}
static int domain_pop(void *domain) {
    say("DomainRangePop %s", SHOW(domain, DOMAINS));
    return 75;
}
static void *resource_create(void *domain, struct abi_resource *resource) {
    char text[256];
    say("DomainResourceCreate %s %llx %s", SHOW(domain, DOMAINS),
        resource ? (unsigned long long)resource->handle : 0,
        resource && resource->size == sizeof(*resource)
            ? message(resource->message_type, resource->message, text, sizeof(text))
            : "-");
    return new_handle(RESOURCES);
}
static void resource_destroy(void *resource) {
    say("DomainResourceDestroy %s", SHOW(resource, RESOURCES));
}
static void domain_category_a(void *domain, uint32_t category, const char *name) {
    say("DomainNameCategoryA %s %u %s", SHOW(domain, DOMAINS), category, name);
}
static void domain_category_w(void *domain, uint32_t category, const wchar_t *name) {
    say("DomainNameCategoryW %s %u %s", SHOW(domain, DOMAINS), category, NARROW(name));
}
static void *string_a(void *domain, const char *text) {
    say("DomainRegisterStringA %s %s", SHOW(domain, DOMAINS), text);
    return new_handle(STRINGS);
}
static void *string_w(void *domain, const wchar_t *text) {
    say("DomainRegisterStringW %s %s", SHOW(domain, DOMAINS), NARROW(text));
    return new_handle(STRINGS);
}
static void *create_a(const char *name) {
    say("DomainCreateA %s", name);
    return new_handle(DOMAINS);
}
static void *create_w(const wchar_t *name) {
    say("DomainCreateW %s", NARROW(name));
    return new_handle(DOMAINS);
}
static void destroy(void *domain) {
    say("DomainDestroy %s", SHOW(domain, DOMAINS));
}
static void initialize(const void *reserved);

static const abi_function core2[ABI_CORE2_COUNT] = {
    NULL,
    (abi_function)domain_mark,
    (abi_function)domain_start,
    (abi_function)domain_end,
    (abi_function)domain_push,
    (abi_function)domain_pop,
    (abi_function)resource_create,
    (abi_function)resource_destroy,
    (abi_function)domain_category_a,
    (abi_function)domain_category_w,
    (abi_function)string_a,
    (abi_function)string_w,
    (abi_function)create_a,
    (abi_function)create_w,
    (abi_function)destroy,
    (abi_function)initialize,
};

// ---- Names, locks -------------------------------------------------------------------------------

// All calls of CUDA, CUDART and OPENCL look alike: a handle, which is a number for devices, and a
// name.
#define NAMING(module, number, type, shown)                                                        \
    static void module##number(void *handle, type name) {                                          \
        say(#module " " #number " %x %s", (unsigned)(uintptr_t)handle, shown);                     \
    }
#define NAMINGS(module, bytes, wide)                                                               \
    NAMING(module, bytes, const char *, name) NAMING(module, wide, const wchar_t *, NARROW(name))
NAMINGS(cuda, 1, 2)
NAMINGS(cuda, 3, 4)
NAMINGS(cuda, 5, 6)
NAMINGS(cuda, 7, 8)
NAMINGS(cudart, 1, 2)
NAMINGS(cudart, 3, 4)
NAMINGS(cudart, 5, 6)
NAMINGS(opencl, 1, 2)
NAMINGS(opencl, 3, 4)
NAMINGS(opencl, 5, 6)
NAMINGS(opencl, 7, 8)
NAMINGS(opencl, 9, 10)
NAMINGS(opencl, 11, 12)
NAMINGS(opencl, 13, 14)

#define BOTH(module, narrow, wide) (abi_function) module##narrow, (abi_function)module##wide
static const abi_function cuda[ABI_CUDA_COUNT] = {NULL, BOTH(cuda, 1, 2), BOTH(cuda, 3, 4),
                                                  BOTH(cuda, 5, 6), BOTH(cuda, 7, 8)};
static const abi_function cudart[ABI_CUDART_COUNT] = {NULL, BOTH(cudart, 1, 2), BOTH(cudart, 3, 4),
                                                      BOTH(cudart, 5, 6)};
static const abi_function opencl[ABI_OPENCL_COUNT] = {NULL,
                                                      BOTH(opencl, 1, 2),
                                                      BOTH(opencl, 3, 4),
                                                      BOTH(opencl, 5, 6),
                                                      BOTH(opencl, 7, 8),
                                                      BOTH(opencl, 9, 10),
                                                      BOTH(opencl, 11, 12),
                                                      BOTH(opencl, 13, 14)};

static void *sync_create(void *domain, const struct abi_sync *sync) {
    char text[256];
    say("SyncUserCreate %s %s", SHOW(domain, DOMAINS),
        sync ? message(sync->message_type, sync->message, text, sizeof(text)) : "null");
    return new_handle(SYNCS);
}
#define SYNC(name)                                                                                 \
    static void sync_##name(void *sync) {                                                          \
        say("SyncUser" #name " %s", SHOW(sync, SYNCS));                                            \
    }
SYNC(Destroy)
SYNC(AcquireStart)
SYNC(AcquireFailed)
SYNC(AcquireSuccess)
SYNC(Releasing)

static const abi_function sync_functions[ABI_SYNC_COUNT] = {
    NULL,
    (abi_function)sync_create,
    (abi_function)sync_Destroy,
    (abi_function)sync_AcquireStart,
    (abi_function)sync_AcquireFailed,
    (abi_function)sync_AcquireSuccess,
    (abi_function)sync_Releasing,
};

// ---- Slots --------------------------------------------------------------------------------------

static void hook(uint32_t module, unsigned count, const abi_function *functions) {
    const struct abi_callbacks *callbacks = program(ABI_EXPORT_CALLBACKS);
    abi_function **slots;
    unsigned size;
    if (!callbacks->get_slots(module, &slots, &size) || size != count) {
        say("module %u has a table of another size", module);
        return;
    }
    for (unsigned i = 1; i < count; i++) {
        __atomic_store_n(slots[i], functions[i], __ATOMIC_RELEASE);
    }
}

static void hook_all(void) {
    hook(ABI_CORE, ABI_CORE_COUNT, core);
    hook(ABI_CUDA, ABI_CUDA_COUNT, cuda);
    hook(ABI_OPENCL, ABI_OPENCL_COUNT, opencl);
    hook(ABI_CUDART, ABI_CUDART_COUNT, cudart);
    hook(ABI_CORE2, ABI_CORE2_COUNT, core2);
    hook(ABI_SYNC, ABI_SYNC_COUNT, sync_functions);
}

static void hook_late(void);

static void initialize(const void *reserved) {
    say("Initialize %d", reserved != NULL);
    if (++initialized == 2 && is_mode("late")) {
        hook_all();
    }
    if (initialized > 2 && is_mode("late")) { // each module asks for it once more
        hook_late();
    }
}

static void *call_nvtx(void *none) {
    void *library = dlopen(getenv("CHAIN_TOOL_UNIT"), RTLD_NOW);
    void *unit = library ? dlsym(library, "unit") : NULL;
    if (!unit) {
        abort();
    }
    ((void (*)(void *, void *))unit)(NULL, NULL);
    return none;
}

static void call_nvtx_and_wait(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, call_nvtx, NULL);
    pthread_join(thread, NULL);
}

int InitializeInjectionNvtx2(abi_get_export get_export) {
    const struct abi_version *version = get_export(ABI_EXPORT_VERSION);
    abi_function **slots;
    unsigned size;
    program = get_export;
    say("version %u, tables %d %d", version->version, get_export(2) != NULL,
        ((const struct abi_callbacks *)get_export(ABI_EXPORT_CALLBACKS))
            ->get_slots(ABI_MODULES, &slots, &size));
    version->set_tool_version(1);
    if (is_mode("late")) {
        const struct abi_callbacks *callbacks = get_export(ABI_EXPORT_CALLBACKS);
        callbacks->get_slots(ABI_CORE2, &slots, &size);
        *slots[ABI_INITIALIZE] = (abi_function)initialize;
    } else {
        hook_all();
    }
    if (is_mode("calls")) {
        call_nvtx(NULL);
    } else if (is_mode("waits")) {
        call_nvtx_and_wait();
    }
    return !is_mode("refuse");
}

// ---- Extension ----------------------------------------------------------------------------------

static intptr_t *late_slots[KINDS];

static void hook_late(void) {
    for (unsigned module = 0; module < KINDS; module++) {
        if (late_slots[module]) {
            chain_tool_ext_hook(module, late_slots[module]);
        }
    }
}

int InitializeInjectionNvtxExtension(struct abi_extension *module) {
    say("extension %u with %zu slots", module->module, module->segments[0].count);
    if (is_mode("late") && module->module < KINDS) {
        late_slots[module->module] = module->segments[0].slots;
    } else {
        chain_tool_ext_hook(module->module, module->segments[0].slots);
    }
    return !is_mode("extension");
}
