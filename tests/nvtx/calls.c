// SPDX-License-Identifier: Apache-2.0
//
// calls CASE [LIBRARY]: makes calls of NVTX and prints what they return, a line each. What they are
// in the store, tests/e2e/test_inject.py says. LIBRARY is loaded first, for all to use; that of the
// case `units` has NVTX in it, too.
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/abi.h"
#include "tests/nvtx/client.h"

static nvtxEventAttributes_t event_of(const char *text) {
    nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = sizeof(event)};
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
    return event;
}

static void say(const char *what, long long value) {
    printf("%s %lld\n", what, value);
}

// ---- Without a domain ---------------------------------------------------------------------------

static void *end_it(void *id) {
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    printf("ender %d\n", gettid());
    return NULL;
}

static void end_on_a_thread(nvtxRangeId_t id) {
    pthread_t thread;
    pthread_create(&thread, NULL, end_it, &id);
    pthread_join(thread, NULL);
}

static void core(void) {
    nvtxEventAttributes_t event = event_of("mark ex");
    nvtxInitialize(NULL);
    nvtxMarkA("mark a");
    nvtxMarkW(L"mark w");
    nvtxMarkEx(&event);
    say("pop of none", nvtxRangePop());
    say("push a", nvtxRangePushA("push a"));
    say("push w", nvtxRangePushW(L"push w"));
    event = event_of("push ex");
    say("push ex", nvtxRangePushEx(&event));
    say("pop", nvtxRangePop());
    say("pop", nvtxRangePop());
    say("pop", nvtxRangePop());
    say("pop of none", nvtxRangePop());
    event = event_of("start ex");
    nvtxRangeId_t ids[] = {nvtxRangeStartA("start a"), nvtxRangeStartW(L"start w"),
                           nvtxRangeStartEx(&event)};
    for (int i = 0; i < 3; i++) {
        say("id", (long long)ids[i]);
    }
    end_on_a_thread(ids[0]);
    nvtxRangeEnd(ids[1]);
    nvtxRangeEnd(ids[1]);
    nvtxRangeEnd(ids[2]);
    nvtxRangeEnd(0);
    nvtxRangeEnd(4);
    nvtxRangeEnd(1234567);
    nvtxRangeEnd(UINT64_MAX);
    nvtxNameCategoryA(1, "category a");
    nvtxNameCategoryW(2, L"category w");
    nvtxNameOsThreadA((uint32_t)gettid(), "thread a");
    nvtxNameOsThreadW((uint32_t)(uintptr_t)pthread_self(), L"thread w");
}

#ifndef WITH_NVTX3
// The real headers have these calls only beside CUDA's and OpenCL's own.
static void name_all(int module, unsigned count, uintptr_t first, const char *narrow,
                     const wchar_t *wide) {
    for (unsigned i = 1; i < count; i++) {
        stand_in_function slot = stand_in_slot(module, i);
        bool is_int = i <= 2 && module != ABI_OPENCL;
        if (slot && i % 2 == 1) {
            is_int ? ((void (*)(int, const char *))slot)((int)(first + i), narrow)
                   : ((void (*)(void *, const char *))slot)((void *)(first + i), narrow);
        } else if (slot) {
            is_int ? ((void (*)(int, const wchar_t *))slot)((int)(first + i), wide)
                   : ((void (*)(void *, const wchar_t *))slot)((void *)(first + i), wide);
        }
    }
}
#endif

static void nulls(void) {
    nvtxMarkA(NULL);
    nvtxMarkW(NULL);
    nvtxMarkEx(NULL);
    say("push", nvtxRangePushA(NULL));
    say("push", nvtxRangePushW(NULL));
    say("push", nvtxRangePushEx(NULL));
    say("push", nvtxDomainRangePushEx(NULL, NULL));
    for (int i = 0; i < 4; i++) {
        say("pop", nvtxDomainRangePop(NULL));
    }
    nvtxRangeEnd(nvtxRangeStartA(NULL));
    nvtxRangeEnd(nvtxRangeStartW(NULL));
    nvtxRangeEnd(nvtxRangeStartEx(NULL));
    nvtxDomainRangeEnd(NULL, nvtxDomainRangeStartEx(NULL, NULL));
    nvtxDomainMarkEx(NULL, NULL);
    nvtxNameCategoryA(9, NULL);
    nvtxNameCategoryW(9, NULL);
    nvtxDomainNameCategoryA(NULL, 9, NULL);
    nvtxDomainNameCategoryW(NULL, 9, NULL);
    nvtxNameOsThreadA(0, NULL);
    nvtxNameOsThreadW(0, NULL);
    say("domain", nvtxDomainCreateA(NULL) != NULL);
    say("domain", nvtxDomainCreateW(NULL) != NULL);
    say("string", nvtxDomainRegisterStringA(NULL, NULL) != NULL);
    say("string", nvtxDomainRegisterStringW(NULL, NULL) != NULL);
    say("resource", nvtxDomainResourceCreate(NULL, NULL) != NULL);
    nvtxDomainResourceDestroy(NULL);
    nvtxDomainDestroy(NULL);
    nvtxSyncUser_t sync = nvtxDomainSyncUserCreate(NULL, NULL);
    say("sync", sync != NULL);
    nvtxDomainSyncUserAcquireStart(NULL);
    nvtxDomainSyncUserAcquireFailed(NULL);
    nvtxDomainSyncUserAcquireSuccess(NULL);
    nvtxDomainSyncUserReleasing(NULL);
    nvtxDomainSyncUserDestroy(NULL);
    nvtxEventAttributes_t event = event_of(NULL);
    nvtxMarkEx(&event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    nvtxMarkEx(&event);
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    nvtxMarkEx(&event);
#ifndef WITH_NVTX3
    name_all(ABI_CUDA, ABI_CUDA_COUNT, 0, NULL, NULL);
    name_all(ABI_CUDART, ABI_CUDART_COUNT, 0, NULL, NULL);
    name_all(ABI_OPENCL, ABI_OPENCL_COUNT, 0, NULL, NULL);
#endif
}

// ---- Attributes ---------------------------------------------------------------------------------

static void payloads(void) {
    nvtxEventAttributes_t event = event_of("payload");
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = UINT64_MAX;
    nvtxMarkEx(&event);
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = INT64_MIN;
    nvtxMarkEx(&event);
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = -0.5;
    nvtxMarkEx(&event);
    event.payload.dValue = __builtin_nan("");
    nvtxMarkEx(&event);
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
    event.payload.uiValue = UINT32_MAX;
    nvtxMarkEx(&event);
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = INT32_MIN;
    nvtxMarkEx(&event);
    event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    event.payload.fValue = 0.25f;
    nvtxRangePushEx(&event);
    nvtxRangePop();
    nvtxRangeEnd(nvtxRangeStartEx(&event));
}

// The structure ends where memory ends, so a read behind it is fatal.
static nvtxEventAttributes_t *at_the_edge(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) < 0) {
        exit(1);
    }
    return (nvtxEventAttributes_t *)(void *)(pages + page - (size + 7) / 8 * 8);
}

static void attributes(void) {
    nvtxEventAttributes_t event = event_of("all of it");
    event.category = 5;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0x80FF0000;
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = -7;
    nvtxMarkEx(&event);
    nvtxEventAttributes_t other = event; // numbers that nobody gave out
    other.colorType = 9;
    other.payloadType = 99;
    other.messageType = 77;
    nvtxMarkEx(&other);
    event.version = 1;
    nvtxMarkEx(&event);
    for (size_t size = 4; size <= sizeof(event); size += 4) {
        nvtxEventAttributes_t *edge = at_the_edge(size);
        memcpy(edge, &event, size);
        edge->size = (uint16_t)size;
        nvtxMarkEx(edge);
    }
    struct {
        nvtxEventAttributes_t known;
        char later[64];
    } longer = {.known = event};
    longer.known.size = sizeof(longer);
    nvtxMarkEx(&longer.known);
}

static void wide(void) {
    static const wchar_t bad[] = {L'a',     0xD83D, 0xDE00, L'b',   0x110000, L'c', -1,
                                  0x10FFFF, L'd',   0xE9,   0x20AC, 0x1F600,  0};
    nvtxMarkW(bad);
    nvtxEventAttributes_t event = event_of(NULL);
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    event.message.unicode = bad;
    nvtxMarkEx(&event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringW(NULL, bad);
    nvtxMarkEx(&event);
    wchar_t *much = calloc(20001, sizeof(*much));
    char *text = calloc(40001, 1);
    for (int i = 0; i < 20000 && much && text; i++) {
        much[i] = 0x20AC;
        memcpy(&text[2 * i], "\xC3\xA9", 2);
    }
    nvtxMarkW(much);
    nvtxMarkA(text);
    nvtxMarkA("quote \" back \\ line\nend\ttab \xFF not UTF-8");
    free(much);
    free(text);
}

// ---- Domains ------------------------------------------------------------------------------------

static void domains(void) {
    nvtxDomainHandle_t a = nvtxDomainCreateA("alpha"), b = nvtxDomainCreateW(L"b\u00E9ta"),
                       again = nvtxDomainCreateA("alpha"), none = nvtxDomainCreateA("");
    nvtxEventAttributes_t event = event_of("in alpha");
    event.category = 3;
    nvtxDomainNameCategoryA(a, 3, "three of alpha");
    nvtxDomainNameCategoryW(b, 3, L"three of b\u00E9ta");
    nvtxDomainMarkEx(a, &event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(a, "registered");
    say("push", nvtxDomainRangePushEx(a, &event));
    say("push", nvtxDomainRangePushEx(b, &event));
    say("push", nvtxDomainRangePushEx(again, &event));
    say("push", nvtxDomainRangePushEx(none, &event));
    say("push", nvtxRangePushA("without"));
    say("pop", nvtxDomainRangePop(b));
    say("pop", nvtxDomainRangePop(b));
    say("pop", nvtxDomainRangePop(a));
    say("pop", nvtxDomainRangePop(a));
    say("pop", nvtxRangePop());
    say("pop", nvtxRangePop());
    nvtxRangeId_t id = nvtxDomainRangeStartEx(b, &event);
    nvtxDomainDestroy(b);
    nvtxDomainRangeEnd(a, id);
    nvtxDomainMarkEx(b, &event); // after its end
    nvtxDomainDestroy(b);
}

static void excluded(void) {
    nvtxDomainHandle_t out = nvtxDomainCreateA("out"), in = nvtxDomainCreateA("in");
    nvtxEventAttributes_t event = event_of("event");
    say("push out", nvtxDomainRangePushEx(out, &event));
    say("push in", nvtxDomainRangePushEx(in, &event));
    say("pop out", nvtxDomainRangePop(out));
    say("pop in", nvtxDomainRangePop(in));
    nvtxRangeId_t first = nvtxDomainRangeStartEx(out, &event);
    nvtxRangeId_t second = nvtxDomainRangeStartEx(out, &event);
    say("even", first % 2 == 0 && first != 0 && second % 2 == 0 && second != 0);
    nvtxDomainRangeEnd(out, second);
    nvtxDomainRangeEnd(out, first);
    nvtxDomainMarkEx(out, &event);
    nvtxDomainMarkEx(in, &event);
}

static void resources(void) {
    static const int32_t types[] = {0x10001, 0x20002, 0x30001, 0x40001, 0x40002, 0x40003,   0x40004,
                                    0x50000, 0x50001, 0x50002, 0x60001, 0x60002, 0x60003,   0x60004,
                                    0x60005, 0x60006, 0x60007, 0x60008, 0,       0x7FFF0001};
    nvtxDomainHandle_t domain = nvtxDomainCreateA("owner");
    nvtxResourceAttributes_t one = {.version = NVTX_VERSION, .size = sizeof(one)};
    one.messageType = NVTX_MESSAGE_TYPE_ASCII;
    one.message.ascii = "narrow";
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        one.identifierType = types[i];
        one.identifier.ullValue = 0x1000 + i;
        nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &one));
    }
    one.identifierType = 0x10001;
    one.identifier.ullValue = UINT64_MAX;
    one.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    one.message.unicode = L"wide";
    say("resource", nvtxDomainResourceCreate(NULL, &one) != NULL);
    one.identifier.ullValue = 1;
    one.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    one.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    say("resource", nvtxDomainResourceCreate(NULL, &one) != NULL);
    one.identifier.ullValue = 2;
    one.size = offsetof(nvtxResourceAttributes_t, message); // not long enough for its name
    say("resource", nvtxDomainResourceCreate(NULL, &one) != NULL);
    one.size = 8; // nor for what it is
    say("resource", nvtxDomainResourceCreate(NULL, &one) != NULL);
}

// ---- Threads ------------------------------------------------------------------------------------

enum { NAMED = 4 };

static pthread_barrier_t named;
static _Atomic pid_t tids[NAMED];

static void *be_named(void *tid) {
    pthread_setname_np(pthread_self(), "by the system");
    *(_Atomic pid_t *)tid = gettid();
    pthread_barrier_wait(&named); // there is a thread
    pthread_barrier_wait(&named); // it has its name, if it gets one
    nvtxMarkA("named");
    return NULL;
}

static void name_by_resource(int32_t type, uint64_t handle, const char *name) {
    nvtxResourceAttributes_t thread = {.version = NVTX_VERSION, .size = sizeof(thread)};
    thread.identifierType = type;
    thread.identifier.ullValue = handle;
    thread.messageType = NVTX_MESSAGE_TYPE_ASCII;
    thread.message.ascii = name;
    nvtxDomainResourceCreate(NULL, &thread);
}

// Of numbers that are no thread's, the last ones are addresses: of nothing, of no thread.
static void name_threads(void) {
    static const uint32_t none[] = {0, 1, INT32_MAX, UINT32_MAX};
    static const char no_thread[4096];
    pthread_t threads[NAMED];
    pthread_barrier_init(&named, NULL, NAMED + 1);
    for (int i = 0; i < NAMED; i++) {
        pthread_create(&threads[i], NULL, be_named, (void *)&tids[i]);
    }
    pthread_barrier_wait(&named);
    nvtxNameOsThreadA((uint32_t)tids[0], "by its number");
    name_by_resource(0x10003, (uint64_t)tids[1], "as a native one");
    name_by_resource(0x10004, (uintptr_t)threads[2], "as one of POSIX");
    name_by_resource(0x10004, (uintptr_t)pthread_self(), "itself");
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        nvtxNameOsThreadA(none[i], "none");
    }
    name_by_resource(0x10003, (uint64_t)getppid(), "none");
    name_by_resource(0x10004, 4096, "none");
    name_by_resource(0x10004, (uintptr_t)no_thread, "none");
    pthread_barrier_wait(&named);
    for (int i = 0; i < NAMED; i++) {
        pthread_join(threads[i], NULL);
        say("tid", tids[i]);
    }
    nvtxNameOsThreadA((uint32_t)tids[0], "has ended");
    name_by_resource(0x10001, (uint64_t)tids[3], "a number");
}

static void name_nobody(void) {
    nvtxNameOsThreadA(UINT32_MAX, "none");
}

// ---- Locks --------------------------------------------------------------------------------------

static void *release(void *sync) {
    nvtxDomainSyncUserReleasing(sync);
    return NULL;
}

static void sync_calls(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("locks");
    nvtxSyncUserAttributes_t attributes = {.version = NVTX_VERSION, .size = sizeof(attributes)};
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = "mine";
    nvtxSyncUser_t mine = nvtxDomainSyncUserCreate(domain, &attributes);
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "yours");
    nvtxSyncUser_t yours = nvtxDomainSyncUserCreate(domain, &attributes);
    attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    attributes.message.unicode = L"wide";
    nvtxSyncUser_t other = nvtxDomainSyncUserCreate(NULL, &attributes);
    nvtxDomainSyncUserAcquireStart(mine);
    nvtxDomainSyncUserAcquireSuccess(mine);
    nvtxDomainSyncUserReleasing(mine);
    nvtxDomainSyncUserReleasing(mine); // once too often
    nvtxDomainSyncUserAcquireStart(yours);
    nvtxDomainSyncUserAcquireFailed(yours);
    nvtxDomainSyncUserAcquireFailed(yours);
    nvtxDomainSyncUserAcquireStart(other);
    nvtxDomainSyncUserAcquireStart(other); // without a word of the first one's end
    nvtxDomainSyncUserAcquireSuccess(other);
    pthread_t thread;
    pthread_create(&thread, NULL, release, other);
    pthread_join(thread, NULL);
    nvtxDomainSyncUserDestroy(mine);
    nvtxDomainSyncUserAcquireSuccess(mine); // after its end
    nvtxDomainSyncUserReleasing(mine);
}

// ---- The rest -----------------------------------------------------------------------------------

static void units(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    void *function = library ? dlsym(library, "unit") : NULL;
    if (!function) {
        printf("%s\n", dlerror());
        exit(1);
    }
    nvtxDomainHandle_t domain = nvtxDomainCreateA("shared");
    nvtxMarkA("of the program");
    ((unit_function)function)(domain, nvtxDomainRegisterStringA(domain, "string of the program"));
    say("pop", nvtxDomainRangePop(domain));
}

// libnvtxt beside NVTX: the same stacks.
static void both(void) {
    void *library = dlopen("libnvtxt.so.0", RTLD_NOW);
    void *push = library ? dlsym(library, "nvtxt_push") : dlsym(RTLD_DEFAULT, "nvtxt_push");
    void *pop = library ? dlsym(library, "nvtxt_pop") : dlsym(RTLD_DEFAULT, "nvtxt_pop");
    if (!push || !pop) {
        printf("%s\n", dlerror());
        exit(1);
    }
    say("push", nvtxRangePushA("by NVTX"));
    say("push", ((int (*)(const char *))push)("by libnvtxt"));
    say("pop", nvtxRangePop());
    say("pop", ((int (*)(void))pop)());
}

static void errno_stays(void) {
    errno = 12345;
    nvtxDomainHandle_t domain = nvtxDomainCreateW(L"domain");
    nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "string");
    nvtxEventAttributes_t event = event_of("event");
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = string;
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
    nvtxRangeEnd(nvtxRangeStartW(L"range"));
    nvtxNameCategoryA(1, "category");
    nvtxNameOsThreadA(0, "thread");
    nvtxRangePop();
    say("errno", errno);
}

static void many_strings(void) {
    nvtxEventAttributes_t event = event_of(NULL);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    for (int i = 0; i < 70000; i++) {
        char text[32];
        snprintf(text, sizeof(text), "string %d", i);
        event.message.registered = nvtxDomainRegisterStringA(NULL, text);
    }
    nvtxMarkEx(&event);
}

// ---- Many threads -------------------------------------------------------------------------------

enum { THREADS = 8, ROUNDS = 200 };

static struct {
    pthread_barrier_t barrier;
    _Atomic nvtxRangeId_t ids[THREADS][ROUNDS]; // by the thread that ends them
    _Atomic(nvtxSyncUser_t) sync;
} shared;

static void *round_after_round(void *number) {
    uintptr_t me = (uintptr_t)number;
    pthread_barrier_wait(&shared.barrier); // the first call of all of them is at the same time
    nvtxDomainHandle_t domain = nvtxDomainCreateA("crowd");
    nvtxEventAttributes_t event = event_of(NULL);
    if (me == 0) {
        shared.sync = nvtxDomainSyncUserCreate(domain, NULL);
    }
    pthread_barrier_wait(&shared.barrier);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "of many");
    for (int i = 0; i < ROUNDS; i++) {
        shared.ids[(me + 1) % THREADS][i] = nvtxDomainRangeStartEx(domain, &event);
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainSyncUserAcquireStart(shared.sync);
        nvtxDomainSyncUserAcquireSuccess(shared.sync);
        nvtxDomainSyncUserReleasing(shared.sync);
        nvtxDomainRangePop(domain);
    }
    for (int i = 0; i < ROUNDS; i++) {
        while (!shared.ids[me][i]) {
            sched_yield();
        }
        nvtxDomainRangeEnd(domain, shared.ids[me][i]);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[THREADS];
    pthread_barrier_init(&shared.barrier, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++) {
        pthread_create(&all[i], NULL, round_after_round, (void *)i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i], NULL);
    }
    pthread_barrier_destroy(&shared.barrier);
}

// ---- For a library behind us --------------------------------------------------------------------

// For a library that fills its slots at the second nvtxInitialize().
static void late(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("earlier");
    nvtxMarkA("before");
    nvtxRangeId_t before = nvtxRangeStartA("started before");
    nvtxRangePushA("pushed before");
    nvtxInitialize(NULL);
    nvtxInitialize(NULL);
    nvtxMarkA("after");
    nvtxDomainMarkEx(domain, NULL);
    nvtxDomainMarkEx(nvtxDomainCreateA("later"), NULL);
    nvtxRangePop();
    nvtxRangeEnd(before);
    nvtxRangeId_t after = nvtxRangeStartA("started after");
    nvtxDomainRangeEnd(domain, after);
}

#ifndef WITH_NVTX3
static void naming(void) {
    name_all(ABI_CUDA, ABI_CUDA_COUNT, 0x10, "narrow", L"wide");
    name_all(ABI_CUDART, ABI_CUDART_COUNT, 0x20, "narrow", L"wide");
    name_all(ABI_OPENCL, ABI_OPENCL_COUNT, 0x30, "narrow", L"wide");
}

static void extension(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("extended");
    stand_in_function enabled = stand_in_extension(ABI_EXTENSION_PAYLOAD, 7);
    say("enabled", enabled ? ((uint8_t(*)(nvtxDomainHandle_t))enabled)(domain) : -1);
    stand_in_function timestamp = stand_in_extension(ABI_EXTENSION_PAYLOAD, 8);
    say("time", timestamp ? ((int64_t(*)(void))timestamp)() > 1 : -1);
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"core", core},
    {"nulls", nulls},
    {"payloads", payloads},
    {"attributes", attributes},
    {"wide", wide},
    {"domains", domains},
    {"excluded", excluded},
    {"resources", resources},
    {"sync", sync_calls},
    {"errno", errno_stays},
    {"strings", many_strings},
    {"late", late},
    {"both", both},
    {"threads", threads},
    {"named", name_threads},
    {"nobody", name_nobody},
#ifndef WITH_NVTX3
    {"naming", naming},
    {"extension", extension},
#endif
};

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    printf("pid %d\n", getpid());
    if (strcmp(name, "units") == 0 && argc == 3) {
        units(argv[2]);
        return 0;
    }
    if (argc == 3 && !dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL)) {
        fprintf(stderr, "%s\n", dlerror());
        return 66;
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no case '%s'\n", name);
    return 64;
}
