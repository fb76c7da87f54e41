// SPDX-License-Identifier: Apache-2.0
//
// The extensions of NVTX as stand_in.h has the core: types of the same layout, and calls that go
// through the slots of an injection. Only what the clients of the tests use has a name here.
#pragma once

#include "inject/ext/abi_ext.h"
#include "tests/nvtx/stand_in.h"

#define NVTX_PAYLOAD_TYPE_EXT ABI_PAYLOAD_EXTENSION
#define NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE ABI_ENTRY_MESSAGE
#define NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX (ABI_ARRAY_LENGTH_INDEX << ABI_ENTRY_ARRAY_SHIFT)
#define NVTX_PAYLOAD_ENTRY_TYPE_INT ABI_TYPE_INT
#define NVTX_PAYLOAD_ENTRY_TYPE_INT32 ABI_TYPE_INT32
#define NVTX_PAYLOAD_ENTRY_TYPE_INT64 ABI_TYPE_INT64
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT8 ABI_TYPE_UINT8
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 ABI_TYPE_UINT64
#define NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE ABI_TYPE_DOUBLE
#define NVTX_PAYLOAD_ENTRY_TYPE_FLOAT ABI_TYPE_FLOAT
#define NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY ABI_TYPE_CATEGORY
#define NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB ABI_TYPE_COLOR
#define NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID ABI_TYPE_SCOPE
#define NVTX_PAYLOAD_ENTRY_TYPE_CSTRING ABI_TYPE_STRING
#define NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE ABI_TYPE_REGISTERED_STRING
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC ABI_SCHEMA_STATIC
#define NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC ABI_SCHEMA_DYNAMIC
#define NVTX_SEMANTIC_ID_COUNTERS_V1 ABI_SEMANTICS_COUNTER
#define NVTX_COUNTER_SEMANTIC_VERSION 2
#define NVTX_COUNTER_FLAG_LIMITS (ABI_COUNTER_LIMIT_MIN | ABI_COUNTER_LIMIT_MAX)
#define NVTX_COUNTER_FLAG_VALUETYPE_DELTA (2 << ABI_COUNTER_VALUE_SHIFT)
#define NVTX_COUNTER_LIMIT_I64 ABI_LIMIT_I64
#define NVTX_COUNTER_LIMIT_F64 ABI_LIMIT_F64
#define NVTX_COUNTER_SAMPLE_UNAVAILABLE 2
#define NVTX_EXT_COMPATID_MEM ABI_MEM_COMPAT
#define NVTX_MEM_TYPE_VIRTUAL_ADDRESS ABI_MEMORY_VIRTUAL
#define NVTX_MEM_REGION_REF_TYPE_POINTER ABI_REGION_POINTER
#define NVTX_MEM_REGION_REF_TYPE_HANDLE ABI_REGION_HANDLE

typedef struct {
    uint64_t schemaId;
    size_t size;
    const void *payload;
} nvtxPayloadData_t;

typedef struct nvtxSemanticsHeader_v1 {
    uint32_t structSize;
    uint16_t semanticId, version;
    const struct nvtxSemanticsHeader_v1 *next;
} nvtxSemanticsHeader_t;

typedef struct {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t arrayOrUnionDetail, offset;
    const nvtxSemanticsHeader_t *semantics;
    const void *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
    uint64_t fieldMask;
    const char *name;
    uint64_t type, flags;
    const nvtxPayloadSchemaEntry_t *entries;
    size_t numEntries, payloadStaticSize, packAlign;
    uint64_t schemaId;
    void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
    const char *name;
    uint64_t value;
    int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
    uint64_t fieldMask;
    const char *name;
    const nvtxPayloadEnum_t *entries;
    size_t numEntries, sizeOfEnum;
    uint64_t schemaId;
    void *extension;
} nvtxPayloadEnumAttr_t;

typedef struct {
    size_t structSize;
    const char *path;
    uint64_t parentScope, scopeId;
} nvtxScopeAttr_t;

typedef struct {
    uint64_t scopeId, timestampTypeId, timeDomainId, timerFlags;
    int64_t timerResolution;
    uint64_t timerStart;
} nvtxTimeDomainAttr_t;

typedef struct {
    int64_t src, dst;
} nvtxSyncPoint_t;

typedef struct {
    uint64_t eventSchemaId;
    size_t size;
    const void *events;
    uint64_t scope, flags;
    const void *flexData;
    size_t flexDataSize, flexDataOffset;
} nvtxEventBatch_t;

typedef struct {
    size_t structSize;
    uint64_t schemaId;
    const char *name, *description;
    uint64_t scopeId;
    const nvtxSemanticsHeader_t *semantics;
    uint64_t counterId;
} nvtxCounterAttr_t;

typedef struct {
    nvtxSemanticsHeader_t header;
    uint64_t flags;
    const char *unit;
    uint64_t unitScaleNumerator, unitScaleDenominator;
    int64_t limitType;
    union abi_limit min, max;
} nvtxSemanticsCounter_t;

typedef struct {
    uint64_t counterId;
    const void *counters;
    size_t countersSize;
    uint64_t flags;
    const int64_t *timestamps;
    size_t timestampsSize;
} nvtxCounterBatch_t;

typedef struct stand_in_heap *nvtxMemHeapHandle_t;
typedef struct stand_in_region *nvtxMemRegionHandle_t;
typedef struct stand_in_permissions *nvtxMemPermissionsHandle_t;

typedef union {
    const void *pointer;
    nvtxMemRegionHandle_t handle;
} nvtxMemRegionRef_t;

typedef struct {
    size_t size;
    const void *ptr;
} nvtxMemVirtualRangeDesc_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t reserved0, usage, type;
    size_t typeSpecificDescSize;
    const void *typeSpecificDesc;
    uint32_t category, messageType;
    nvtxMessageValue_t message;
} nvtxMemHeapDesc_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    nvtxMemHeapHandle_t heap;
    size_t regionCount, regionDescElementSize;
    const void *regionDescElements;
    nvtxMemRegionHandle_t *regionHandleElementsOut;
} nvtxMemRegionsRegisterBatch_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t regionType;
    size_t regionDescCount, regionDescElementSize;
    const void *regionDescElements;
} nvtxMemRegionsResizeBatch_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t refType;
    size_t refCount, refElementSize;
    const nvtxMemRegionRef_t *refElements;
} nvtxMemRegionsUnregisterBatch_t;

typedef struct {
    uint32_t regionRefType, nameType;
    nvtxMemRegionRef_t region;
    nvtxMessageValue_t name;
    uint32_t category, reserved0;
} nvtxMemRegionNameDesc_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    size_t regionCount, regionElementSize;
    const nvtxMemRegionNameDesc_t *regionElements;
    size_t reserved1;
} nvtxMemRegionsNameBatch_t;

typedef struct {
    uint32_t flags, regionRefType;
    nvtxMemRegionRef_t region;
} nvtxMemPermissionsAssignRegionDesc_t;

typedef struct {
    uint16_t extCompatID, structSize;
    uint32_t reserved0;
    nvtxMemPermissionsHandle_t permissions;
    size_t regionCount, regionElementSize;
    const nvtxMemPermissionsAssignRegionDesc_t *regionElements;
    size_t reserved1;
} nvtxMemPermissionsAssignBatch_t;

// ---- The calls ----------------------------------------------------------------------------------

#define EXT_CALL(type, none, name, module, callback, parameters, arguments)                        \
    static inline type name parameters {                                                           \
        stand_in_function function = stand_in_extension(module, callback);                         \
        return function ? ((type(*) parameters)function)arguments : none;                          \
    }
#define EXT_CALL_VOID(name, module, callback, parameters, arguments)                               \
    static inline void name parameters {                                                           \
        stand_in_function function = stand_in_extension(module, callback);                         \
        if (function) {                                                                            \
            ((void(*) parameters)function) arguments;                                              \
        }                                                                                          \
    }
#define PAYLOAD_CALL(type, none, name, callback, parameters, arguments)                            \
    EXT_CALL(type, none, name, ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_##callback, parameters, arguments)
#define PAYLOAD_VOID(name, callback, parameters, arguments)                                        \
    EXT_CALL_VOID(name, ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_##callback, parameters, arguments)
#define COUNTER_VOID(name, callback, parameters, arguments)                                        \
    EXT_CALL_VOID(name, ABI_EXTENSION_COUNTERS, ABI_COUNTER_##callback, parameters, arguments)
#define MEM_VOID(name, callback, parameters, arguments)                                            \
    EXT_CALL_VOID(name, ABI_EXTENSION_MEM, ABI_MEM_##callback, parameters, arguments)

#define IN nvtxDomainHandle_t domain
#define PAYLOADS IN, const nvtxPayloadData_t *payloads, size_t count
#define WITH_PAYLOADS domain, payloads, count

PAYLOAD_CALL(uint64_t, 0, nvtxPayloadSchemaRegister, SCHEMA_REGISTER,
             (IN, const nvtxPayloadSchemaAttr_t *attr), (domain, attr))
PAYLOAD_CALL(uint64_t, 0, nvtxPayloadEnumRegister, ENUM_REGISTER,
             (IN, const nvtxPayloadEnumAttr_t *attr), (domain, attr))
PAYLOAD_CALL(uint64_t, 0, nvtxScopeRegister, SCOPE_REGISTER, (IN, const nvtxScopeAttr_t *attr),
             (domain, attr))
PAYLOAD_VOID(nvtxMarkPayload, MARK, (PAYLOADS), (WITH_PAYLOADS))
PAYLOAD_CALL(int, -2, nvtxRangePushPayload, RANGE_PUSH, (PAYLOADS), (WITH_PAYLOADS))
PAYLOAD_CALL(int, -2, nvtxRangePopPayload, RANGE_POP, (PAYLOADS), (WITH_PAYLOADS))
PAYLOAD_CALL(nvtxRangeId_t, 0, nvtxRangeStartPayload, RANGE_START, (PAYLOADS), (WITH_PAYLOADS))
PAYLOAD_VOID(nvtxRangeEndPayload, RANGE_END,
             (IN, nvtxRangeId_t id, const nvtxPayloadData_t *payloads, size_t count),
             (domain, id, payloads, count))
PAYLOAD_CALL(uint8_t, 0, nvtxDomainIsEnabled, DOMAIN_IS_ENABLED, (IN), (domain))
PAYLOAD_CALL(int64_t, 0, nvtxTimestampGet, TIMESTAMP_GET, (void), ())
PAYLOAD_CALL(uint64_t, 0, nvtxTimeDomainRegister, TIME_DOMAIN_REGISTER,
             (IN, const nvtxTimeDomainAttr_t *attr), (domain, attr))
PAYLOAD_VOID(nvtxTimerSource, TIMER_SOURCE, (IN, uint64_t id, uint64_t flags, int64_t (*now)(void)),
             (domain, id, flags, now))
PAYLOAD_VOID(nvtxTimerSourceWithData, TIMER_SOURCE_DATA,
             (IN, uint64_t id, uint64_t flags, int64_t (*now)(void *), void *data),
             (domain, id, flags, now, data))
PAYLOAD_VOID(nvtxTimeSyncPoint, TIME_SYNC_POINT,
             (IN, uint64_t one, uint64_t two, int64_t time1, int64_t time2),
             (domain, one, two, time1, time2))
PAYLOAD_VOID(nvtxTimeSyncPointTable, TIME_SYNC_TABLE,
             (IN, uint64_t from, uint64_t to, const nvtxSyncPoint_t *points, size_t count),
             (domain, from, to, points, count))
PAYLOAD_VOID(nvtxTimestampConversionFactor, TIME_FACTOR,
             (IN, uint64_t from, uint64_t to, double slope, int64_t time1, int64_t time2),
             (domain, from, to, slope, time1, time2))
PAYLOAD_VOID(nvtxEventSubmit, EVENT_SUBMIT, (PAYLOADS), (WITH_PAYLOADS))
PAYLOAD_VOID(nvtxEventBatchSubmit, EVENT_BATCH_SUBMIT, (IN, const nvtxEventBatch_t *batch),
             (domain, batch))

EXT_CALL(uint64_t, 0, nvtxCounterRegister, ABI_EXTENSION_COUNTERS, ABI_COUNTER_REGISTER,
         (IN, const nvtxCounterAttr_t *attr), (domain, attr))
COUNTER_VOID(nvtxCounterSampleInt64, SAMPLE_I64, (IN, uint64_t id, int64_t value),
             (domain, id, value))
COUNTER_VOID(nvtxCounterSampleFloat64, SAMPLE_F64, (IN, uint64_t id, double value),
             (domain, id, value))
COUNTER_VOID(nvtxCounterSample, SAMPLE, (IN, uint64_t id, const void *value, size_t size),
             (domain, id, value, size))
COUNTER_VOID(nvtxCounterSampleNoValue, SAMPLE_NO_VALUE, (IN, uint64_t id, uint8_t reason),
             (domain, id, reason))
COUNTER_VOID(nvtxCounterBatchSubmit, BATCH_SUBMIT, (IN, const nvtxCounterBatch_t *batch),
             (domain, batch))

EXT_CALL(nvtxMemHeapHandle_t, NULL, nvtxMemHeapRegister, ABI_EXTENSION_MEM, ABI_MEM_HEAP_REGISTER,
         (IN, const nvtxMemHeapDesc_t *heap), (domain, heap))
MEM_VOID(nvtxMemHeapUnregister, HEAP_UNREGISTER, (IN, nvtxMemHeapHandle_t heap), (domain, heap))
MEM_VOID(nvtxMemHeapReset, HEAP_RESET, (IN, nvtxMemHeapHandle_t heap), (domain, heap))
MEM_VOID(nvtxMemRegionsRegister, REGIONS_REGISTER, (IN, const nvtxMemRegionsRegisterBatch_t *desc),
         (domain, desc))
MEM_VOID(nvtxMemRegionsResize, REGIONS_RESIZE, (IN, const nvtxMemRegionsResizeBatch_t *desc),
         (domain, desc))
MEM_VOID(nvtxMemRegionsUnregister, REGIONS_UNREGISTER,
         (IN, const nvtxMemRegionsUnregisterBatch_t *desc), (domain, desc))
MEM_VOID(nvtxMemRegionsName, REGIONS_NAME, (IN, const nvtxMemRegionsNameBatch_t *desc),
         (domain, desc))
MEM_VOID(nvtxMemPermissionsAssign, PERMISSIONS_ASSIGN,
         (IN, const nvtxMemPermissionsAssignBatch_t *desc), (domain, desc))
EXT_CALL(nvtxMemPermissionsHandle_t, NULL, nvtxMemPermissionsCreate, ABI_EXTENSION_MEM,
         ABI_MEM_PERMISSIONS_CREATE, (IN, int32_t flags), (domain, flags))
MEM_VOID(nvtxMemPermissionsDestroy, PERMISSIONS_DESTROY,
         (IN, nvtxMemPermissionsHandle_t permissions), (domain, permissions))
MEM_VOID(nvtxMemPermissionsReset, PERMISSIONS_RESET, (IN, nvtxMemPermissionsHandle_t permissions),
         (domain, permissions))
MEM_VOID(nvtxMemPermissionsBind, PERMISSIONS_BIND,
         (IN, nvtxMemPermissionsHandle_t permissions, uint32_t scope, uint32_t flags),
         (domain, permissions, scope, flags))
MEM_VOID(nvtxMemPermissionsUnbind, PERMISSIONS_UNBIND, (IN, uint32_t scope), (domain, scope))
