// SPDX-License-Identifier: Apache-2.0
//
// inject/ext/abi_ext.h against the real headers: numbers, offsets and sizes are the same. It is
// right when it compiles.
#include "inject/ext/abi_ext.h"

#include <stdio.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(our, member, their, theirs)                                                     \
    SAME(offsetof(our, member), offsetof(their, theirs));                                          \
    SAME(sizeof(((our *)0)->member), sizeof(((their *)0)->theirs))

// ---- Payloads -----------------------------------------------------------------------------------

#define ENTRY(ours, theirs) SAME(ABI_ENTRY_##ours, NVTX_PAYLOAD_ENTRY_FLAG_##theirs)
ENTRY(POINTER, POINTER);
ENTRY(OFFSET_FROM_BASE, OFFSET_FROM_BASE);
ENTRY(OFFSET_FROM_HERE, OFFSET_FROM_HERE);
ENTRY(DEEP_COPY, DEEP_COPY);
ENTRY(MESSAGE, EVENT_MESSAGE);
#define ARRAY(ours, theirs)                                                                        \
    SAME(ABI_ARRAY_##ours << ABI_ENTRY_ARRAY_SHIFT, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_##theirs)
ARRAY(FIXED, FIXED_SIZE);
ARRAY(ZERO_TERMINATED, ZERO_TERMINATED);
ARRAY(LENGTH_INDEX, LENGTH_INDEX);
ARRAY(LENGTH_PAYLOAD, LENGTH_PAYLOAD_INDEX);

#define TYPE(ours, theirs) SAME(ABI_TYPE_##ours, NVTX_PAYLOAD_ENTRY_TYPE_##theirs)
TYPE(CHAR, CHAR);
TYPE(UCHAR, UCHAR);
TYPE(SHORT, SHORT);
TYPE(USHORT, USHORT);
TYPE(INT, INT);
TYPE(UINT, UINT);
TYPE(LONG, LONG);
TYPE(ULONG, ULONG);
TYPE(LONG_LONG, LONGLONG);
TYPE(ULONG_LONG, ULONGLONG);
TYPE(INT8, INT8);
TYPE(UINT8, UINT8);
TYPE(INT16, INT16);
TYPE(UINT16, UINT16);
TYPE(INT32, INT32);
TYPE(UINT32, UINT32);
TYPE(INT64, INT64);
TYPE(UINT64, UINT64);
TYPE(FLOAT, FLOAT);
TYPE(DOUBLE, DOUBLE);
TYPE(LONG_DOUBLE, LONGDOUBLE);
TYPE(SIZE, SIZE);
TYPE(ADDRESS, ADDRESS);
TYPE(WCHAR, WCHAR);
TYPE(CHAR8, CHAR8);
TYPE(CHAR16, CHAR16);
TYPE(CHAR32, CHAR32);
TYPE(BYTE, BYTE);
TYPE(INT128, INT128);
TYPE(UINT128, UINT128);
TYPE(FLOAT16, FLOAT16);
TYPE(FLOAT32, FLOAT32);
TYPE(FLOAT64, FLOAT64);
TYPE(FLOAT128, FLOAT128);
TYPE(BF16, BF16);
TYPE(TF32, TF32);
TYPE(CATEGORY, CATEGORY);
TYPE(COLOR, COLOR_ARGB);
TYPE(SCOPE, SCOPE_ID);
TYPE(PID32, PID_UINT32);
TYPE(PID64, PID_UINT64);
TYPE(TID32, TID_UINT32);
TYPE(TID64, TID_UINT64);
TYPE(STRING, CSTRING);
TYPE(STRING_UTF8, CSTRING_UTF8);
TYPE(STRING_UTF16, CSTRING_UTF16);
TYPE(STRING_UTF32, CSTRING_UTF32);
TYPE(REGISTERED_STRING, NVTX_REGISTERED_STRING_HANDLE);
TYPE(SELECTOR, UNION_SELECTOR);
SAME(ABI_TYPE_REFERENCED, NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
SAME(ABI_TYPE_RAW, NVTX_TYPE_PAYLOAD_SCHEMA_RAW);
SAME(ABI_TYPE_OWN, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(ABI_ID_OURS, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
SAME(ABI_ID_OURS, NVTX_SCOPE_ID_DYNAMIC_START);
SAME(ABI_ID_OURS, NVTX_COUNTER_ID_DYNAMIC_START);

#define SCHEMA(ours, theirs) SAME(ABI_SCHEMA_##ours, NVTX_PAYLOAD_SCHEMA_##theirs)
SCHEMA(STATIC, TYPE_STATIC);
SCHEMA(DYNAMIC, TYPE_DYNAMIC);
SCHEMA(UNION, TYPE_UNION);
SCHEMA(UNION_SELECTED, TYPE_UNION_WITH_INTERNAL_SELECTOR);
SCHEMA(HAS_NAME, ATTR_FIELD_NAME);
SCHEMA(HAS_TYPE, ATTR_FIELD_TYPE);
SCHEMA(HAS_FLAGS, ATTR_FIELD_FLAGS);
SCHEMA(HAS_ENTRIES, ATTR_FIELD_ENTRIES);
SCHEMA(HAS_COUNT, ATTR_FIELD_NUM_ENTRIES);
SCHEMA(HAS_SIZE, ATTR_FIELD_STATIC_SIZE);
SCHEMA(HAS_ALIGN, ATTR_FIELD_ALIGNMENT);
SCHEMA(HAS_ID, ATTR_FIELD_SCHEMA_ID);
#define ENUM(ours, theirs) SAME(ABI_ENUM_HAS_##ours, NVTX_PAYLOAD_ENUM_ATTR_FIELD_##theirs)
ENUM(NAME, NAME);
ENUM(ENTRIES, ENTRIES);
ENUM(COUNT, NUM_ENTRIES);
ENUM(SIZE, SIZE);
ENUM(ID, SCHEMA_ID);

#define SEMANTICS(member, theirs)                                                                  \
    SAME_PLACE(struct abi_semantics, member, nvtxSemanticsHeader_t, theirs)
SEMANTICS(size, structSize);
SEMANTICS(id, semanticId);
SEMANTICS(version, version);
SEMANTICS(next, next);
SAME_SIZE(struct abi_semantics, nvtxSemanticsHeader_t);
#define ENTRY_OF(member, theirs)                                                                   \
    SAME_PLACE(struct abi_entry, member, nvtxPayloadSchemaEntry_t, theirs)
ENTRY_OF(flags, flags);
ENTRY_OF(type, type);
ENTRY_OF(name, name);
ENTRY_OF(description, description);
ENTRY_OF(detail, arrayOrUnionDetail);
ENTRY_OF(offset, offset);
ENTRY_OF(semantics, semantics);
SAME_SIZE(struct abi_entry, nvtxPayloadSchemaEntry_t);
#define SCHEMA_OF(member, theirs)                                                                  \
    SAME_PLACE(struct abi_schema, member, nvtxPayloadSchemaAttr_t, theirs)
SCHEMA_OF(fields, fieldMask);
SCHEMA_OF(name, name);
SCHEMA_OF(type, type);
SCHEMA_OF(flags, flags);
SCHEMA_OF(entries, entries);
SCHEMA_OF(count, numEntries);
SCHEMA_OF(size, payloadStaticSize);
SCHEMA_OF(align, packAlign);
SCHEMA_OF(id, schemaId);
SAME_SIZE(struct abi_schema, nvtxPayloadSchemaAttr_t);
#define VALUE_OF(member, theirs)                                                                   \
    SAME_PLACE(struct abi_enumerator, member, nvtxPayloadEnum_t, theirs)
VALUE_OF(name, name);
VALUE_OF(value, value);
VALUE_OF(is_flag, isFlag);
SAME_SIZE(struct abi_enumerator, nvtxPayloadEnum_t);
#define ENUM_OF(member, theirs) SAME_PLACE(struct abi_enum, member, nvtxPayloadEnumAttr_t, theirs)
ENUM_OF(fields, fieldMask);
ENUM_OF(entries, entries);
ENUM_OF(count, numEntries);
ENUM_OF(size, sizeOfEnum);
ENUM_OF(id, schemaId);
SAME_SIZE(struct abi_enum, nvtxPayloadEnumAttr_t);
#define SCOPE_OF(member, theirs) SAME_PLACE(struct abi_scope, member, nvtxScopeAttr_t, theirs)
SCOPE_OF(size, structSize);
SCOPE_OF(path, path);
SCOPE_OF(parent, parentScope);
SCOPE_OF(id, scopeId);
SAME_SIZE(struct abi_scope, nvtxScopeAttr_t);
SAME_PLACE(struct abi_time_domain, id, nvtxTimeDomainAttr_t, timeDomainId);
SAME_SIZE(struct abi_time_domain, nvtxTimeDomainAttr_t);
SAME_PLACE(struct abi_event_batch, schema, nvtxEventBatch_t, eventSchemaId);
SAME_PLACE(struct abi_event_batch, size, nvtxEventBatch_t, size);
SAME_PLACE(struct abi_event_batch, events, nvtxEventBatch_t, events);
SAME_SIZE(struct abi_event_batch, nvtxEventBatch_t);
SAME_PLACE(struct abi_payload, schema, nvtxPayloadData_t, schemaId);
SAME_PLACE(struct abi_payload, size, nvtxPayloadData_t, size);
SAME_PLACE(struct abi_payload, data, nvtxPayloadData_t, payload);
SAME_SIZE(struct abi_payload, nvtxPayloadData_t);
SAME(ABI_PAYLOAD_EXTENSION, NVTX_PAYLOAD_TYPE_EXT);

#define PAYLOAD(ours, theirs) SAME(ABI_PAYLOAD_##ours, NVTX3EXT_CBID_nvtx##theirs)
PAYLOAD(SCHEMA_REGISTER, PayloadSchemaRegister);
PAYLOAD(ENUM_REGISTER, PayloadEnumRegister);
PAYLOAD(MARK, MarkPayload);
PAYLOAD(RANGE_PUSH, RangePushPayload);
PAYLOAD(RANGE_POP, RangePopPayload);
PAYLOAD(RANGE_START, RangeStartPayload);
PAYLOAD(RANGE_END, RangeEndPayload);
PAYLOAD(DOMAIN_IS_ENABLED, DomainIsEnabled);
PAYLOAD(TIMESTAMP_GET, TimestampGet);
PAYLOAD(TIME_DOMAIN_REGISTER, TimeDomainRegister);
PAYLOAD(TIMER_SOURCE, TimerSource);
PAYLOAD(TIMER_SOURCE_DATA, TimerSourceWithData);
PAYLOAD(SCOPE_REGISTER, ScopeRegister);
PAYLOAD(TIME_SYNC_POINT, TimeSyncPoint);
PAYLOAD(TIME_SYNC_TABLE, TimeSyncPointTable);
PAYLOAD(TIME_FACTOR, TimestampConversionFactor);
PAYLOAD(EVENT_SUBMIT, EventSubmit);
PAYLOAD(EVENT_BATCH_SUBMIT, EventBatchSubmit);
SAME(ABI_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(ABI_PAYLOAD_COMPAT, NVTX_EXT_PAYLOAD_COMPATID);

// ---- Counters -----------------------------------------------------------------------------------

#define COUNTER_OF(member, theirs) SAME_PLACE(struct abi_counter, member, nvtxCounterAttr_t, theirs)
COUNTER_OF(size, structSize);
COUNTER_OF(schema, schemaId);
COUNTER_OF(name, name);
COUNTER_OF(description, description);
COUNTER_OF(scope, scopeId);
COUNTER_OF(semantics, semantics);
COUNTER_OF(id, counterId);
SAME_SIZE(struct abi_counter, nvtxCounterAttr_t);
#define MEANING_OF(member, theirs)                                                                 \
    SAME_PLACE(struct abi_counter_semantics, member, nvtxSemanticsCounter_t, theirs)
MEANING_OF(head, header);
MEANING_OF(flags, flags);
MEANING_OF(unit, unit);
MEANING_OF(numerator, unitScaleNumerator);
MEANING_OF(denominator, unitScaleDenominator);
MEANING_OF(limit_type, limitType);
MEANING_OF(min, min);
MEANING_OF(max, max);
SAME_SIZE(struct abi_counter_semantics, nvtxSemanticsCounter_t);
SAME(ABI_SEMANTICS_COUNTER, NVTX_SEMANTIC_ID_COUNTERS_V1);
SAME(ABI_COUNTER_NORMALIZE, NVTX_COUNTER_FLAG_NORMALIZE);
SAME(ABI_COUNTER_LIMIT_MIN, NVTX_COUNTER_FLAG_LIMIT_MIN);
SAME(ABI_COUNTER_LIMIT_MAX, NVTX_COUNTER_FLAG_LIMIT_MAX);
SAME(1 << ABI_COUNTER_VALUE_SHIFT, NVTX_COUNTER_FLAG_VALUETYPE_ABSOLUTE);
SAME(2 << ABI_COUNTER_VALUE_SHIFT, NVTX_COUNTER_FLAG_VALUETYPE_DELTA);
SAME(3 << ABI_COUNTER_VALUE_SHIFT, NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START);
SAME(1 << ABI_COUNTER_DRAW_SHIFT, NVTX_COUNTER_FLAG_INTERPOLATION_POINT);
SAME(4 << ABI_COUNTER_DRAW_SHIFT, NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR);
SAME(ABI_LIMIT_I64, NVTX_COUNTER_LIMIT_I64);
SAME(ABI_LIMIT_U64, NVTX_COUNTER_LIMIT_U64);
SAME(ABI_LIMIT_F64, NVTX_COUNTER_LIMIT_F64);
#define BATCH_OF(member, theirs)                                                                   \
    SAME_PLACE(struct abi_counter_batch, member, nvtxCounterBatch_t, theirs)
BATCH_OF(id, counterId);
BATCH_OF(samples, counters);
BATCH_OF(size, countersSize);
BATCH_OF(flags, flags);
BATCH_OF(times, timestamps);
BATCH_OF(times_size, timestampsSize);
SAME_SIZE(struct abi_counter_batch, nvtxCounterBatch_t);
#define COUNTER(ours, theirs) SAME(ABI_COUNTER_##ours, NVTX3EXT_CBID_nvtxCounter##theirs)
COUNTER(REGISTER, Register);
COUNTER(SAMPLE_I64, SampleInt64);
COUNTER(SAMPLE_F64, SampleFloat64);
COUNTER(SAMPLE, Sample);
COUNTER(SAMPLE_NO_VALUE, SampleNoValue);
COUNTER(BATCH_SUBMIT, BatchSubmit);
SAME(ABI_EXTENSION_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(ABI_COUNTERS_COMPAT, NVTX_EXT_COUNTERS_COMPATID);

// ---- Memory -------------------------------------------------------------------------------------

SAME_PLACE(struct abi_memory_range, size, nvtxMemVirtualRangeDesc_t, size);
SAME_PLACE(struct abi_memory_range, at, nvtxMemVirtualRangeDesc_t, ptr);
#define HEAP_OF(member, theirs) SAME_PLACE(struct abi_heap, member, nvtxMemHeapDesc_t, theirs)
HEAP_OF(compat, extCompatID);
HEAP_OF(size, structSize);
HEAP_OF(usage, usage);
HEAP_OF(type, type);
HEAP_OF(description_size, typeSpecificDescSize);
HEAP_OF(description, typeSpecificDesc);
HEAP_OF(category, category);
HEAP_OF(message_type, messageType);
HEAP_OF(message, message);
SAME_SIZE(struct abi_heap, nvtxMemHeapDesc_t);
#define REGIONS_OF(member, theirs)                                                                 \
    SAME_PLACE(struct abi_regions, member, nvtxMemRegionsRegisterBatch_t, theirs)
REGIONS_OF(size, structSize);
REGIONS_OF(type, regionType);
REGIONS_OF(heap, heap);
REGIONS_OF(count, regionCount);
REGIONS_OF(element_size, regionDescElementSize);
REGIONS_OF(elements, regionDescElements);
REGIONS_OF(handles, regionHandleElementsOut);
SAME_SIZE(struct abi_regions, nvtxMemRegionsRegisterBatch_t);
#define NAME_OF(member, theirs)                                                                    \
    SAME_PLACE(struct abi_region_name, member, nvtxMemRegionNameDesc_t, theirs)
NAME_OF(region_type, regionRefType);
NAME_OF(message_type, nameType);
NAME_OF(region, region);
NAME_OF(message, name);
NAME_OF(category, category);
SAME_SIZE(struct abi_region_name, nvtxMemRegionNameDesc_t);
#define NAMES_OF(member, theirs)                                                                   \
    SAME_PLACE(struct abi_region_names, member, nvtxMemRegionsNameBatch_t, theirs)
NAMES_OF(size, structSize);
NAMES_OF(count, regionCount);
NAMES_OF(element_size, regionElementSize);
NAMES_OF(elements, regionElements);
SAME_SIZE(struct abi_region_names, nvtxMemRegionsNameBatch_t);
SAME_SIZE(struct abi_regions_resize, nvtxMemRegionsResizeBatch_t);
SAME_SIZE(struct abi_regions_unregister, nvtxMemRegionsUnregisterBatch_t);
SAME_SIZE(struct abi_permission, nvtxMemPermissionsAssignRegionDesc_t);
SAME_SIZE(struct abi_permissions_assign, nvtxMemPermissionsAssignBatch_t);
SAME(ABI_MEMORY_VIRTUAL, NVTX_MEM_TYPE_VIRTUAL_ADDRESS);
SAME(ABI_REGION_POINTER, NVTX_MEM_REGION_REF_TYPE_POINTER);
SAME(ABI_REGION_HANDLE, NVTX_MEM_REGION_REF_TYPE_HANDLE);
#define MEM(ours, theirs) SAME(ABI_MEM_##ours, NVTX3EXT_CBID_nvtxMem##theirs)
MEM(HEAP_REGISTER, HeapRegister);
MEM(HEAP_UNREGISTER, HeapUnregister);
MEM(HEAP_RESET, HeapReset);
MEM(REGIONS_REGISTER, RegionsRegister);
MEM(REGIONS_RESIZE, RegionsResize);
MEM(REGIONS_UNREGISTER, RegionsUnregister);
MEM(REGIONS_NAME, RegionsName);
MEM(PERMISSIONS_ASSIGN, PermissionsAssign);
MEM(PERMISSIONS_CREATE, PermissionsCreate);
MEM(PERMISSIONS_DESTROY, PermissionsDestroy);
MEM(PERMISSIONS_RESET, PermissionsReset);
MEM(PERMISSIONS_BIND, PermissionsBind);
MEM(PERMISSIONS_UNBIND, PermissionsUnbind);
MEM(CUDA_PROCESS_PERMISSIONS, CudaGetProcessWidePermissions);
MEM(CUDA_DEVICE_PERMISSIONS, CudaGetDeviceWidePermissions);
MEM(CUDA_SET_PEER_ACCESS, CudaSetPeerAccess);
MEM(CUDA_MARK_INITIALIZED, CudaMarkInitialized);
SAME(ABI_EXTENSION_MEM, NVTX_EXT_MODULEID_MEM);
SAME(ABI_MEM_COMPAT, NVTX_EXT_COMPATID_MEM);

int main(void) {
    puts("the binary interface of the extensions is as it was written down");
    return 0;
}
