// SPDX-License-Identifier: Apache-2.0
//
// inject/abi.h against the real headers: numbers, offsets and sizes are the same. It is right when
// it compiles.
#include "inject/abi.h"

#include <stdio.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(ours), sizeof(theirs))
#define SAME_PLACE(our, member, their, theirs)                                                     \
    SAME(offsetof(our, member), offsetof(their, theirs));                                          \
    SAME(sizeof(((our *)0)->member), sizeof(((their *)0)->theirs))

SAME(ABI_VERSION, NVTX_VERSION);
SAME(ABI_EXPORT_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(ABI_EXPORT_VERSION, NVTX_ETID_VERSIONINFO);
SAME(ABI_CORE, NVTX_CB_MODULE_CORE);
SAME(ABI_CUDA, NVTX_CB_MODULE_CUDA);
SAME(ABI_OPENCL, NVTX_CB_MODULE_OPENCL);
SAME(ABI_CUDART, NVTX_CB_MODULE_CUDART);
SAME(ABI_CORE2, NVTX_CB_MODULE_CORE2);
SAME(ABI_SYNC, NVTX_CB_MODULE_SYNC);
SAME(ABI_MODULES, NVTX_CB_MODULE_SIZE);
SAME_PLACE(struct abi_callbacks, size, NvtxExportTableCallbacks, struct_size);
SAME_PLACE(struct abi_callbacks, get_slots, NvtxExportTableCallbacks, GetModuleFunctionTable);
SAME_SIZE(struct abi_callbacks, NvtxExportTableCallbacks);
SAME_PLACE(struct abi_version, version, NvtxExportTableVersionInfo, version);
SAME_PLACE(struct abi_version, set_tool_version, NvtxExportTableVersionInfo,
           SetInjectionNvtxVersion);
SAME_SIZE(struct abi_version, NvtxExportTableVersionInfo);

#define CORE(ours, theirs) SAME(ABI_##ours, NVTX_CBID_CORE_##theirs)
CORE(MARK_EX, MarkEx);
CORE(MARK_A, MarkA);
CORE(MARK_W, MarkW);
CORE(RANGE_START_EX, RangeStartEx);
CORE(RANGE_START_A, RangeStartA);
CORE(RANGE_START_W, RangeStartW);
CORE(RANGE_END, RangeEnd);
CORE(RANGE_PUSH_EX, RangePushEx);
CORE(RANGE_PUSH_A, RangePushA);
CORE(RANGE_PUSH_W, RangePushW);
CORE(RANGE_POP, RangePop);
CORE(NAME_CATEGORY_A, NameCategoryA);
CORE(NAME_CATEGORY_W, NameCategoryW);
CORE(NAME_OS_THREAD_A, NameOsThreadA);
CORE(NAME_OS_THREAD_W, NameOsThreadW);
CORE(CORE_COUNT, SIZE);

#define CORE2(ours, theirs) SAME(ABI_##ours, NVTX_CBID_CORE2_##theirs)
CORE2(DOMAIN_MARK_EX, DomainMarkEx);
CORE2(DOMAIN_RANGE_START_EX, DomainRangeStartEx);
CORE2(DOMAIN_RANGE_END, DomainRangeEnd);
CORE2(DOMAIN_RANGE_PUSH_EX, DomainRangePushEx);
CORE2(DOMAIN_RANGE_POP, DomainRangePop);
CORE2(DOMAIN_RESOURCE_CREATE, DomainResourceCreate);
CORE2(DOMAIN_RESOURCE_DESTROY, DomainResourceDestroy);
CORE2(DOMAIN_NAME_CATEGORY_A, DomainNameCategoryA);
CORE2(DOMAIN_NAME_CATEGORY_W, DomainNameCategoryW);
CORE2(DOMAIN_REGISTER_STRING_A, DomainRegisterStringA);
CORE2(DOMAIN_REGISTER_STRING_W, DomainRegisterStringW);
CORE2(DOMAIN_CREATE_A, DomainCreateA);
CORE2(DOMAIN_CREATE_W, DomainCreateW);
CORE2(DOMAIN_DESTROY, DomainDestroy);
CORE2(INITIALIZE, Initialize);
CORE2(CORE2_COUNT, SIZE);

#define BOTH(module, ours, theirs)                                                                 \
    SAME(ABI_NAME_##ours##_A, NVTX_CBID_##module##_Name##theirs##A);                               \
    SAME(ABI_NAME_##ours##_W, NVTX_CBID_##module##_Name##theirs##W)
BOTH(CUDA, CU_DEVICE, CuDevice);
BOTH(CUDA, CU_CONTEXT, CuContext);
BOTH(CUDA, CU_STREAM, CuStream);
BOTH(CUDA, CU_EVENT, CuEvent);
SAME(ABI_CUDA_COUNT, NVTX_CBID_CUDA_SIZE);
BOTH(CUDART, CUDA_DEVICE, CudaDevice);
BOTH(CUDART, CUDA_STREAM, CudaStream);
BOTH(CUDART, CUDA_EVENT, CudaEvent);
SAME(ABI_CUDART_COUNT, NVTX_CBID_CUDART_SIZE);
BOTH(OPENCL, CL_DEVICE, ClDevice);
BOTH(OPENCL, CL_CONTEXT, ClContext);
BOTH(OPENCL, CL_COMMAND_QUEUE, ClCommandQueue);
BOTH(OPENCL, CL_MEM_OBJECT, ClMemObject);
BOTH(OPENCL, CL_SAMPLER, ClSampler);
BOTH(OPENCL, CL_PROGRAM, ClProgram);
BOTH(OPENCL, CL_EVENT, ClEvent);
SAME(ABI_OPENCL_COUNT, NVTX_CBID_OPENCL_SIZE);

#define SYNC(ours, theirs) SAME(ABI_SYNC_##ours, NVTX_CBID_SYNC_DomainSyncUser##theirs)
SYNC(CREATE, Create);
SYNC(DESTROY, Destroy);
SYNC(ACQUIRE_START, AcquireStart);
SYNC(ACQUIRE_FAILED, AcquireFailed);
SYNC(ACQUIRE_SUCCESS, AcquireSuccess);
SYNC(RELEASING, Releasing);
SAME(ABI_SYNC_COUNT, NVTX_CBID_SYNC_SIZE);

SAME(ABI_COLOR_NONE, NVTX_COLOR_UNKNOWN);
SAME(ABI_COLOR_ARGB, NVTX_COLOR_ARGB);
SAME(ABI_MESSAGE_NONE, NVTX_MESSAGE_UNKNOWN);
SAME(ABI_MESSAGE_BYTES, NVTX_MESSAGE_TYPE_ASCII);
SAME(ABI_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(ABI_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(ABI_PAYLOAD_NONE, NVTX_PAYLOAD_UNKNOWN);
SAME(ABI_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(ABI_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
SAME(ABI_PAYLOAD_F64, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(ABI_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(ABI_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
SAME(ABI_PAYLOAD_F32, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(ABI_PAYLOAD_EXTENSION, NVTX_PAYLOAD_TYPE_EXT);
SAME(ABI_NOT_TRACKED, NVTX_NO_PUSH_POP_TRACKING);

#define EVENT(ours, theirs)                                                                        \
    SAME_PLACE(struct abi_event, ours, struct nvtxEventAttributes_v2, theirs)
EVENT(version, version);
EVENT(size, size);
EVENT(category, category);
EVENT(color_type, colorType);
EVENT(color, color);
EVENT(payload_type, payloadType);
EVENT(reserved, reserved0);
EVENT(payload, payload);
EVENT(message_type, messageType);
EVENT(message, message);
SAME_SIZE(struct abi_event, nvtxEventAttributes_t);

#define RESOURCE(ours, theirs)                                                                     \
    SAME_PLACE(struct abi_resource, ours, struct nvtxResourceAttributes_v0, theirs)
RESOURCE(type, identifierType);
RESOURCE(handle, identifier);
RESOURCE(message_type, messageType);
RESOURCE(message, message);
SAME_SIZE(struct abi_resource, nvtxResourceAttributes_t);
SAME(ABI_CLASS_GENERIC, NVTX_RESOURCE_CLASS_GENERIC);
SAME(ABI_CLASS_SYNC_OS, NVTX_RESOURCE_CLASS_SYNC_OS);
SAME(ABI_CLASS_SYNC_PTHREAD, NVTX_RESOURCE_CLASS_SYNC_PTHREAD);
SAME(ABI_CLASS_GENERIC << 16 | 1, NVTX_RESOURCE_TYPE_GENERIC_POINTER);
SAME(ABI_THREAD_NATIVE, NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE);
SAME(ABI_THREAD_POSIX, NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX);

#define SYNC_PLACE(ours, theirs)                                                                   \
    SAME_PLACE(struct abi_sync, ours, struct nvtxSyncUserAttributes_v0, theirs)
SYNC_PLACE(message_type, messageType);
SYNC_PLACE(message, message);
SAME_SIZE(struct abi_sync, nvtxSyncUserAttributes_t);

SAME(ABI_EXTENSION_MEM, NVTX_EXT_MODULEID_MEM);
SAME(ABI_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(ABI_EXTENSION_COUNTERS, NVTX_EXT_COUNTERS_MODULEID);
SAME(ABI_SLOT_STATES, NVTX_EXTENSION_INIT_FN_FAILED);

#define SEGMENT(ours, theirs) SAME_PLACE(struct abi_segment, ours, nvtxExtModuleSegment_t, theirs)
SEGMENT(number, segmentId);
SEGMENT(count, slotCount);
SEGMENT(slots, functionSlots);
SAME_SIZE(struct abi_segment, nvtxExtModuleSegment_t);

#define MODULE(ours, theirs) SAME_PLACE(struct abi_extension, ours, nvtxExtModuleInfo_t, theirs)
MODULE(version, nvtxVer);
MODULE(size, structSize);
MODULE(module, moduleId);
MODULE(compat, compatId);
MODULE(segment_count, segmentsCount);
MODULE(segments, segments);
MODULE(get_export, getExportFunction);
MODULE(info, extInfo);
SAME_SIZE(struct abi_extension, nvtxExtModuleInfo_t);

#define PAYLOAD(ours, theirs) SAME_PLACE(struct abi_payload, ours, nvtxPayloadData_t, theirs)
PAYLOAD(schema, schemaId);
PAYLOAD(size, size);
PAYLOAD(data, payload);
SAME_SIZE(struct abi_payload, nvtxPayloadData_t);

#if __has_include(<cuda.h>)
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
SAME(ABI_CLASS_CUDA << 16 | 4, NVTX_RESOURCE_TYPE_CUDA_EVENT);
SAME(ABI_CLASS_CUDART << 16 | 2, NVTX_RESOURCE_TYPE_CUDART_EVENT);
#endif

int main(void) {
    puts("as NVTX's headers have it");
    return 0;
}
