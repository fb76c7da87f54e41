// SPDX-License-Identifier: Apache-2.0
//
// extensions CASE: makes calls of NVTX's extensions and prints what they return, a line each. What
// they are in the store, tests/e2e/test_inject_ext.py says.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_NVTX3
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#else
#include "tests/nvtx/stand_in_ext.h"
#endif

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define OWN 0x1000007u // a number of the program's own
#define ALL_FIELDS 0x3FEu
#define LARGE 6000
#define HUGE ((size_t)30000)

static void say(const char *what, long long value) {
    printf("%s %lld\n", what, value);
}

static nvtxEventAttributes_t event_of(const char *text) {
    nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = sizeof(event)};
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
    return event;
}

static void attach(nvtxEventAttributes_t *event, const nvtxPayloadData_t *payloads, int count) {
    event->payloadType = (int32_t)NVTX_PAYLOAD_TYPE_EXT;
    event->reserved0 = count;
    event->payload.ullValue = (uintptr_t)payloads;
}

// ---- Payloads -----------------------------------------------------------------------------------

static uint64_t schema_of(nvtxDomainHandle_t domain, uint64_t type, uint64_t id,
                          const nvtxPayloadSchemaEntry_t *entries, size_t count) {
    nvtxPayloadSchemaAttr_t attr = {.fieldMask = ALL_FIELDS, .type = type, .schemaId = id};
    attr.entries = entries;
    attr.numEntries = count;
    return nvtxPayloadSchemaRegister(domain, &attr);
}

struct step {
    int32_t number;
    double loss;
    uint8_t phase;
};

static uint64_t step_schema(nvtxDomainHandle_t domain) {
    const nvtxPayloadEnum_t phases[] = {{"forward", 0, 0}, {"backward", 1, 0}};
    nvtxPayloadEnumAttr_t enumeration = {.fieldMask = 0x1E, .entries = phases, .numEntries = 2};
    enumeration.sizeOfEnum = 1;
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "step"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "loss"},
        {.type = nvtxPayloadEnumRegister(domain, &enumeration), .name = "phase"}};
    return schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, entries, COUNT(entries));
}

static void payloads(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");
    uint64_t schema = step_schema(domain);
    say("from 2^32 on", schema >> 32 >= 1);
    say("the same again", step_schema(domain) == schema);
    say("another in another domain", step_schema(NULL) != schema);
    struct step step = {1, 0.5, 1}, other = {2, 0.25, 9};
    const nvtxPayloadData_t one[] = {{schema, sizeof(step), &step}};
    const nvtxPayloadData_t two[] = {{schema, sizeof(step), &step},
                                     {schema, sizeof(other), &other}};
    nvtxEventAttributes_t event = event_of("attached");
    attach(&event, one, 1);
    nvtxDomainMarkEx(domain, &event);
    event.message.ascii = "two";
    attach(&event, two, 2);
    say("push", nvtxDomainRangePushEx(domain, &event));
    say("pop", nvtxRangePopPayload(domain, one, 1));
    event.message.ascii = "short";
    const nvtxPayloadData_t cut[] = {{schema, 11, &step}};
    attach(&event, cut, 1);
    nvtxDomainMarkEx(domain, &event);
    event.message.ascii = "unknown";
    const nvtxPayloadData_t unknown[] = {{OWN + 1, sizeof(step), &step}};
    attach(&event, unknown, 1);
    nvtxDomainMarkEx(domain, &event);
    event.message.ascii = "another domain"; // numbers of ours are the same everywhere
    attach(&event, one, 1);
    nvtxMarkEx(&event);
}

struct logged {
    nvtxStringHandle_t message;
    uint32_t category, color;
    uint64_t scope;
};

static uint64_t logged_schema_of(nvtxDomainHandle_t domain, uint64_t id) {
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
         .type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
         .name = "message"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, .name = "category"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, .name = "color"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, .name = "scope"}};
    return schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, id, entries, COUNT(entries));
}

static void events(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
    const nvtxScopeAttr_t node = {sizeof(node), "/node[1]", 0, 0};
    nvtxScopeAttr_t gpu = {sizeof(gpu), "gpu", nvtxScopeRegister(domain, &node), OWN};
    say("own scope", (long long)nvtxScopeRegister(domain, &gpu) - OWN);
    say("own schema", (long long)logged_schema_of(domain, OWN) - OWN);
    struct logged logged = {nvtxDomainRegisterStringA(domain, "from the payload"), 5, 0xFF0000FF,
                            OWN};
    const nvtxPayloadData_t payload = {OWN, sizeof(logged), &logged};
    nvtxMarkPayload(domain, &payload, 1);
    say("push", nvtxRangePushPayload(domain, &payload, 1));
    say("push", nvtxRangePushPayload(domain, NULL, 0));
    say("pop", nvtxRangePopPayload(domain, &payload, 1));
    say("pop", nvtxRangePopPayload(domain, NULL, 0));
    say("pop of none", nvtxRangePopPayload(domain, &payload, 1));
    nvtxRangeId_t id = nvtxRangeStartPayload(domain, &payload, 1);
    say("id", (long long)id);
    nvtxRangeEndPayload(domain, id, &payload, 1);
    nvtxRangeEndPayload(domain, id, &payload, 1);
    nvtxEventAttributes_t event = event_of("in the attributes");
    attach(&event, &payload, 1);
    nvtxDomainMarkEx(domain, &event); // what a payload says comes later
    say("enabled", nvtxDomainIsEnabled(domain));
    say("time", nvtxTimestampGet() > 1);
}

struct large {
    nvtxStringHandle_t message;
    char text[LARGE];
};

// Payloads with handles in them, of which a copy has no room where small ones are made.
static void large_ones(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE,
         .type = NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
         .name = "message"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, .name = "text", .arrayOrUnionDetail = LARGE}};
    schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, OWN, entries, COUNT(entries));
    logged_schema_of(domain, OWN + 1);
    struct logged logged = {nvtxDomainRegisterStringA(domain, "small"), 5, 0xFF0000FF, 0};
    struct large large = {nvtxDomainRegisterStringA(domain, "large"), "x"};
    const nvtxPayloadData_t payloads[] = {{OWN + 1, sizeof(logged), &logged},
                                          {OWN, sizeof(large), &large}};
    nvtxMarkPayload(domain, payloads, 1);
    nvtxMarkPayload(domain, payloads + 1, 1);
    nvtxMarkPayload(domain, payloads, 2);
    say("push", nvtxRangePushPayload(domain, payloads + 1, 1));
    say("pop", nvtxRangePopPayload(domain, payloads, 1));
}

// Texts that do not fit where small ones are read, and one that is too long for JSON.
static void long_ones(void) {
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "n"},
        {.flags =
             NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE | NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX,
         .type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
         .name = "text"}};
    uint64_t schema = schema_of(NULL, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, entries, COUNT(entries));
    char *data = malloc(HUGE);
    const int lengths[] = {5, 1015, 1500, 10000, (int)HUGE - 4};
    memset(data, 'x', HUGE);
    errno = 77;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        memcpy(data, &lengths[i], sizeof(*lengths));
        const nvtxPayloadData_t payload = {schema, sizeof(int) + (size_t)lengths[i], data};
        nvtxMarkPayload(NULL, &payload, 1);
    }
    say("errno", errno);
    free(data);
}

// ---- Counters -----------------------------------------------------------------------------------

static uint64_t counter_of(nvtxDomainHandle_t domain, const char *name, uint64_t schema,
                           const nvtxSemanticsHeader_t *semantics, uint64_t id) {
    nvtxCounterAttr_t attr = {sizeof(attr), schema, name, NULL, 0, semantics, id};
    if (semantics) {
        attr.description = "what it \"counts\"";
    }
    return nvtxCounterRegister(domain, &attr);
}

static void counters(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("meters");
    nvtxSemanticsCounter_t watts = {.header = {sizeof(watts), NVTX_SEMANTIC_ID_COUNTERS_V1,
                                               NVTX_COUNTER_SEMANTIC_VERSION, NULL}};
    watts.flags = NVTX_COUNTER_FLAG_LIMITS | NVTX_COUNTER_FLAG_VALUETYPE_DELTA;
    watts.unit = "W";
    watts.unitScaleNumerator = 1;
    watts.unitScaleDenominator = 1000;
    watts.limitType = NVTX_COUNTER_LIMIT_F64;
    watts.min.f64 = 0;
    watts.max.f64 = 250.5;
    nvtxSemanticsHeader_t other = {sizeof(other), 77, 1, &watts.header};
    uint64_t power = counter_of(domain, "power", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, &other, 0);
    say("from 2^32 on", power >> 32 >= 1);
    uint64_t queue = counter_of(domain, "queue", NVTX_PAYLOAD_ENTRY_TYPE_INT64, NULL, OWN);
    say("own", (long long)queue - OWN);
    nvtxCounterSampleFloat64(domain, power, 99.5);
    nvtxCounterSampleInt64(domain, queue, -7);
    nvtxCounterSampleNoValue(domain, queue, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
    const int64_t depths[] = {1, 2, 3};
    nvtxCounterSample(domain, queue, depths, sizeof(*depths));
    nvtxCounterBatch_t batch = {queue, depths, sizeof(depths), 0, NULL, 0};
    nvtxCounterBatchSubmit(domain, &batch);
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, .name = "in"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8, .name = "out"}};
    uint64_t schema =
        schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, entries, COUNT(entries));
    struct {
        float in;
        uint8_t out;
    } both[] = {{0.1f, 1}, {0.2f, 2}};
    uint64_t traffic = counter_of(domain, "traffic", schema, NULL, 0);
    nvtxCounterSample(domain, traffic, both, sizeof(*both));
    batch = (nvtxCounterBatch_t){traffic, both, sizeof(both), 0, NULL, 0};
    nvtxCounterBatchSubmit(domain, &batch);
    nvtxCounterSampleInt64(domain, OWN + 1, 5); // nobody's
    say("no name", (long long)counter_of(domain, NULL, 0, NULL, OWN + 2) - OWN);
    const uint64_t most = UINT64_MAX;
    uint64_t total = counter_of(NULL, "total", NVTX_PAYLOAD_ENTRY_TYPE_UINT64, NULL, 0);
    nvtxCounterSample(NULL, total, &most, sizeof(most));
}

// ---- Memory -------------------------------------------------------------------------------------

static char memory[256];

static void mem(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("allocator");
    const nvtxMemVirtualRangeDesc_t whole = {sizeof(memory), memory};
    nvtxMemHeapDesc_t desc = {.extCompatID = NVTX_EXT_COMPATID_MEM, .structSize = sizeof(desc)};
    desc.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    desc.typeSpecificDesc = &whole;
    desc.typeSpecificDescSize = sizeof(whole);
    desc.messageType = NVTX_MESSAGE_TYPE_ASCII;
    desc.message.ascii = "pool";
    nvtxMemHeapHandle_t heap = nvtxMemHeapRegister(domain, &desc);
    printf("memory %lu\n", (unsigned long)(uintptr_t)memory);
    say("heap is its address", (void *)heap == memory);
    desc.type = 0x11;
    desc.message.ascii = NULL;
    desc.messageType = NVTX_MESSAGE_UNKNOWN;
    say("other heap", nvtxMemHeapRegister(domain, &desc) != NULL);
    const nvtxMemVirtualRangeDesc_t ranges[] = {{16, memory + 16}, {16, memory + 32}};
    nvtxMemRegionHandle_t handles[2] = {NULL};
    nvtxMemRegionsRegisterBatch_t batch = {NVTX_EXT_COMPATID_MEM,
                                           sizeof(batch),
                                           NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           heap,
                                           2,
                                           sizeof(*ranges),
                                           ranges,
                                           handles};
    nvtxMemRegionsRegister(domain, &batch);
    say("regions are their addresses",
        (void *)handles[0] == memory + 16 && (void *)handles[1] == memory + 32);
    nvtxMemRegionNameDesc_t names[3] = {
        {NVTX_MEM_REGION_REF_TYPE_POINTER, NVTX_MESSAGE_TYPE_ASCII, {memory + 16}, {"one"}, 0, 0},
        {NVTX_MEM_REGION_REF_TYPE_HANDLE, NVTX_MESSAGE_TYPE_UNICODE, {handles[1]}, {NULL}, 0, 0},
        {NVTX_MEM_REGION_REF_TYPE_POINTER,
         NVTX_MESSAGE_TYPE_REGISTERED,
         {memory + 48},
         {NULL},
         0,
         0}};
    names[1].name.unicode = L"zw\u00f6lf";
    names[2].name.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxMemRegionsNameBatch_t naming = {NVTX_EXT_COMPATID_MEM, sizeof(naming), 0, 3,
                                        sizeof(*names),        names,          0};
    nvtxMemRegionsName(domain, &naming);
    nvtxMemPermissionsHandle_t permissions = nvtxMemPermissionsCreate(domain, 0);
    say("permissions", permissions != NULL);
    const nvtxMemPermissionsAssignRegionDesc_t access = {
        1, NVTX_MEM_REGION_REF_TYPE_POINTER, {memory}};
    nvtxMemPermissionsAssignBatch_t assign = {
        NVTX_EXT_COMPATID_MEM, sizeof(assign), 0, permissions, 1, sizeof(access), &access, 0};
    nvtxMemPermissionsAssign(domain, &assign); // from here on unsupported
    nvtxMemPermissionsBind(domain, permissions, 1, 0);
    nvtxMemPermissionsUnbind(domain, 1);
    nvtxMemPermissionsReset(domain, permissions);
    nvtxMemPermissionsDestroy(domain, permissions);
    nvtxMemRegionsResizeBatch_t resize = {NVTX_EXT_COMPATID_MEM, sizeof(resize), 1, 2,
                                          sizeof(*ranges),       ranges};
    nvtxMemRegionsResize(domain, &resize);
    const nvtxMemRegionRef_t refs[] = {{memory + 16}, {memory + 32}};
    nvtxMemRegionsUnregisterBatch_t unregister = {NVTX_EXT_COMPATID_MEM,
                                                  sizeof(unregister),
                                                  NVTX_MEM_REGION_REF_TYPE_POINTER,
                                                  2,
                                                  sizeof(*refs),
                                                  refs};
    nvtxMemRegionsUnregister(domain, &unregister);
    nvtxMemHeapReset(domain, heap);
    nvtxMemHeapUnregister(domain, heap);
}

// ---- Events of other clocks ---------------------------------------------------------------------

static int64_t now(void) {
    return 1;
}
static int64_t now_of(void *data) {
    return data ? 1 : 2;
}

static void deferred(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("device");
    nvtxTimeDomainAttr_t attr = {.timestampTypeId = 12};
    uint64_t time_domain = nvtxTimeDomainRegister(domain, &attr);
    say("time domain", time_domain != 0);
    attr.timeDomainId = OWN;
    say("own time domain", (long long)nvtxTimeDomainRegister(domain, &attr) - OWN);
    const nvtxSyncPoint_t points[] = {{1, 2}, {3, 4}};
    nvtxTimerSource(domain, time_domain, 0, now);
    nvtxTimerSourceWithData(domain, time_domain, 0, now_of, NULL);
    nvtxTimeSyncPoint(domain, time_domain, OWN, 1, 2);
    nvtxTimeSyncPointTable(domain, time_domain, OWN, points, 2);
    nvtxTimestampConversionFactor(domain, time_domain, OWN, 1.5, 1, 2);
    const int64_t times[] = {1, 2, 3};
    const nvtxPayloadSchemaEntry_t entry = {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64, .name = "t"};
    uint64_t schema = schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, &entry, 1);
    const nvtxPayloadData_t payload = {schema, sizeof(*times), times};
    nvtxEventSubmit(domain, &payload, 1);
    nvtxEventBatch_t batch = {.eventSchemaId = schema, .size = sizeof(times), .events = times};
    nvtxEventBatchSubmit(domain, &batch);
    nvtxEventBatchSubmit(domain, NULL);
    nvtxEventAttributes_t event = event_of("still here");
    nvtxDomainMarkEx(domain, &event);
}

// ---- Again and again ----------------------------------------------------------------------------

#define TIMES 20000
#define COUNTERS_MOST 65536 // that are kept, as nvtxt-inject(7) says
#define LONG_ENTRIES 100    // a schema of more than 2 KiB

// ThreadSanitizer keeps memory of its own for each mapping, also when that is gone.
static size_t resident_pages(void) {
    size_t size, resident = 0;
#ifdef __SANITIZE_THREAD__
    return 0;
#endif
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu %zu", &size, &resident) != 2) {
        resident = 0;
    }
    if (file) {
        fclose(file);
    }
    return resident;
}

struct registered {
    uint64_t counter, schema, scope;
    const void *heap, *permissions;
};

static struct registered register_all(nvtxDomainHandle_t domain) {
    nvtxPayloadSchemaEntry_t entries[LONG_ENTRIES] = {{0}};
    for (size_t i = 0; i < LONG_ENTRIES; i++) {
        entries[i].type = NVTX_PAYLOAD_ENTRY_TYPE_INT32;
        entries[i].name = "a member of a long schema";
    }
    nvtxScopeAttr_t scope = {.structSize = sizeof(scope), .path = "rack/node"};
    nvtxMemHeapDesc_t heap = {.extCompatID = NVTX_EXT_COMPATID_MEM, .structSize = sizeof(heap)};
    heap.type = 0x11;
    heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
    heap.message.ascii = "arena";
    struct registered all = {0};
    all.counter = counter_of(domain, "again", NVTX_PAYLOAD_ENTRY_TYPE_INT64, NULL, 0);
    all.schema = schema_of(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 0, entries, LONG_ENTRIES);
    all.scope = nvtxScopeRegister(domain, &scope);
    all.heap = nvtxMemHeapRegister(domain, &heap);
    all.permissions = nvtxMemPermissionsCreate(domain, 0);
    return all;
}

static void again(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("often");
    struct registered first = register_all(domain), other = register_all(NULL);
    say("another in another domain", first.counter != other.counter &&
                                         first.schema != other.schema &&
                                         first.scope != other.scope && first.heap != other.heap);
    size_t before = resident_pages(), same = 0;
    for (int i = 0; i < TIMES; i++) {
        struct registered now = register_all(domain);
        same += now.counter == first.counter && now.schema == first.schema &&
                now.scope == first.scope && now.heap == first.heap &&
                now.permissions == first.permissions;
    }
    say("the same", same == TIMES);
    say("memory stays", resident_pages() - before < 512); // copies of the schema would take 100 MB
    nvtxCounterSampleInt64(domain, first.counter, 1);
}

static void too_many(void) {
    char name[32];
    uint64_t counter = 0, first = counter_of(NULL, "first", 0, NULL, 0);
    for (int i = 1; i < COUNTERS_MOST + 10; i++) {
        snprintf(name, sizeof(name), "counter of many %d", i);
        counter = counter_of(NULL, name, 0, NULL, 0);
    }
    nvtxCounterSampleInt64(NULL, counter, 1);
    nvtxCounterSampleInt64(NULL, first, 2);
    nvtxCounterSampleInt64(NULL, counter_of(NULL, "first", 0, NULL, 0), 3);
}

// ---- NULLs and short sizes ----------------------------------------------------------------------

static void null_payloads(void) {
    const nvtxPayloadData_t null = {NVTX_PAYLOAD_ENTRY_TYPE_INT32, 4, NULL};
    say("schema", (long long)nvtxPayloadSchemaRegister(NULL, NULL));
    say("enum", (long long)nvtxPayloadEnumRegister(NULL, NULL));
    say("scope", (long long)nvtxScopeRegister(NULL, NULL));
    const nvtxPayloadSchemaAttr_t no_fields = {0};
    const nvtxPayloadEnumAttr_t no_enum = {0};
    const nvtxScopeAttr_t no_scope = {0};
    uint64_t empty = nvtxPayloadSchemaRegister(NULL, &no_fields);
    uint64_t number = nvtxPayloadEnumRegister(NULL, &no_enum);
    say("empty", empty && number && nvtxScopeRegister(NULL, &no_scope));
    nvtxMarkPayload(NULL, NULL, 0);
    nvtxMarkPayload(NULL, NULL, 3);
    nvtxMarkPayload(NULL, &null, 1);
    const int32_t five = 5;
    const nvtxPayloadData_t both[] = {{empty, 4, &five}, {number, 4, &five}};
    nvtxMarkPayload(NULL, both, 2);
    say("push", nvtxRangePushPayload(NULL, NULL, 1));
    say("pop", nvtxRangePopPayload(NULL, NULL, 1));
    nvtxRangeEndPayload(NULL, nvtxRangeStartPayload(NULL, NULL, 1), NULL, 1);
    nvtxRangeEndPayload(NULL, 0, NULL, 0);
    say("enabled", nvtxDomainIsEnabled(NULL));
    nvtxTimeDomainRegister(NULL, NULL);
    nvtxTimerSource(NULL, 0, 0, NULL);
    nvtxTimerSourceWithData(NULL, 0, 0, NULL, NULL);
    nvtxTimeSyncPoint(NULL, 0, 0, 0, 0);
    nvtxTimeSyncPointTable(NULL, 0, 0, NULL, 0);
    nvtxTimestampConversionFactor(NULL, 0, 0, 0, 0, 0);
    nvtxEventSubmit(NULL, NULL, 0);
    nvtxEventBatchSubmit(NULL, NULL);
    nvtxEventAttributes_t event = event_of("no payloads");
    attach(&event, NULL, 3);
    nvtxMarkEx(&event);
    attach(&event, &null, 0);
    nvtxMarkEx(&event);
    attach(&event, &null, -1);
    nvtxMarkEx(&event);
}

static void null_counters(void) {
    say("counter", (long long)nvtxCounterRegister(NULL, NULL));
    // The members behind the size are not there: reading them would be seen.
    nvtxCounterAttr_t attr = {sizeof(size_t),
                              1,
                              (const char *)8,
                              (const char *)8,
                              1,
                              (const nvtxSemanticsHeader_t *)8,
                              OWN};
    say("short", nvtxCounterRegister(NULL, &attr) != OWN);
    attr.structSize = offsetof(nvtxCounterAttr_t, description);
    attr.name = "short";
    say("short", nvtxCounterRegister(NULL, &attr) != OWN);
    nvtxCounterSampleInt64(NULL, 0, 1);
    nvtxCounterSampleFloat64(NULL, 0, 1.5);
    nvtxCounterSample(NULL, 0, NULL, 8);
    nvtxCounterSample(NULL, 0, "x", 0);
    nvtxCounterSampleNoValue(NULL, 0, 200);
    nvtxCounterBatchSubmit(NULL, NULL);
    const nvtxCounterBatch_t batch = {0, NULL, 100, 0, NULL, 0};
    nvtxCounterBatchSubmit(NULL, &batch);
}

static void null_mem(void) {
    nvtxMemHeapDesc_t heap = {.structSize = 4, .messageType = NVTX_MESSAGE_TYPE_ASCII};
    heap.message.ascii = (const char *)8;
    heap.typeSpecificDesc = (const void *)8;
    say("heaps", nvtxMemHeapRegister(NULL, NULL) && nvtxMemHeapRegister(NULL, &heap));
    nvtxMemHeapUnregister(NULL, NULL);
    nvtxMemHeapReset(NULL, NULL);
    nvtxMemRegionHandle_t handles[2] = {NULL};
    nvtxMemRegionsRegisterBatch_t regions = {.structSize = 8, .regionCount = 1000};
    regions.regionHandleElementsOut = (nvtxMemRegionHandle_t *)8;
    nvtxMemRegionsRegister(NULL, NULL);
    nvtxMemRegionsRegister(NULL, &regions);
    regions.structSize = sizeof(regions);
    regions.regionCount = 2;
    regions.regionHandleElementsOut = handles;
    nvtxMemRegionsRegister(NULL, &regions);
    say("regions", handles[0] && handles[1] && handles[0] != handles[1]);
    nvtxMemRegionsResize(NULL, NULL);
    nvtxMemRegionsUnregister(NULL, NULL);
    nvtxMemRegionsName(NULL, NULL);
    nvtxMemRegionsNameBatch_t names = {.structSize = 4, .regionCount = 1000};
    names.regionElements = (const nvtxMemRegionNameDesc_t *)8;
    nvtxMemRegionsName(NULL, &names);
    nvtxMemPermissionsAssign(NULL, NULL);
    say("permissions", nvtxMemPermissionsCreate(NULL, -1) != NULL);
    nvtxMemPermissionsDestroy(NULL, NULL);
    nvtxMemPermissionsReset(NULL, NULL);
    nvtxMemPermissionsBind(NULL, NULL, 0, 0);
    nvtxMemPermissionsUnbind(NULL, 0);
}

#ifdef WITH_NVTX3
// A schema made by the macros of the headers.
static void helpers(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("helped");
    NVTX_DEFINE_STRUCT_WITH_SCHEMA_AND_REGISTER(
        domain, tensor, "Tensor",
        NVTX_PAYLOAD_ENTRIES((int, rank, TYPE_INT, "rank"), (double, norm, TYPE_DOUBLE, "norm"),
                             (char, (layer, 8), TYPE_CSTRING, "layer", NULL, 8)))
    tensor value = {3, 0.75, "conv1"};
    nvtxEventAttributes_t event = event_of("helped");
    const nvtxPayloadData_t data = {tensor_schemaId, sizeof(value), &value};
    attach(&event, &data, 1);
    nvtxDomainMarkEx(domain, &event);
}
#endif

#ifndef WITH_NVTX3
// The headers have these calls only beside CUDA's own headers.
static void cuda(void) {
#define SLOT(callback, type) ((type)stand_in_extension(ABI_EXTENSION_MEM, callback))
    void *process = SLOT(ABI_MEM_CUDA_PROCESS_PERMISSIONS, void *(*)(void *))(NULL);
    void *(*device)(void *, int) = SLOT(ABI_MEM_CUDA_DEVICE_PERMISSIONS, void *(*)(void *, int));
    say("process", process != NULL);
    say("devices", device(NULL, 0) && device(NULL, 0) != device(NULL, 1) &&
                       device(NULL, 1) == device(NULL, 1) && device(NULL, -5));
    SLOT(ABI_MEM_CUDA_SET_PEER_ACCESS, void (*)(void *, void *, int, uint32_t))
    (NULL, process, -1, 1);
    SLOT(ABI_MEM_CUDA_MARK_INITIALIZED, void (*)(void *, void *, uint8_t, void *))
    (NULL, NULL, 0, NULL);
}
#endif

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"payloads", payloads},
    {"events", events},
    {"large", large_ones},
    {"long", long_ones},
    {"counters", counters},
    {"mem", mem},
    {"deferred", deferred},
    {"again", again},
    {"too_many", too_many},
    {"null_payloads", null_payloads},
    {"null_counters", null_counters},
    {"null_mem", null_mem},
#ifdef WITH_NVTX3
    {"helpers", helpers},
#else
    {"cuda", cuda},
#endif
};

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    printf("pid %d\n", getpid());
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    }
    fprintf(stderr, "no case '%s'\n", name);
    return 64;
}
