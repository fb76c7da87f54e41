// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls that give names to things of CUDA and OpenCL. They are all alike: a kind, a handle,
// and a name that is narrow or wide.
#include <wchar.h>

#include "inject/chain.h"
#include "inject/tables.h"
#include "inject/text.h"
#include "lib/nvtxt.h"

// A number or a pointer as the store holds it.
static uint64_t number_of_int(int handle) {
    return (uint32_t)handle;
}

static uint64_t number_of_pointer(const void *handle) {
    return (uintptr_t)handle;
}

#define NAMING(function, kind, type, number_of, module, callback)                                  \
    static void function##_a(type handle, const char *name) {                                      \
        nvtxt_name_resource(NULL, kind, number_of(handle), name);                                  \
        CHAIN(module, callback##_A, void (*)(type, const char *), handle, name);                   \
    }                                                                                              \
    static void function##_w(type handle, const wchar_t *name) {                                   \
        nvtxt_name_resource(NULL, kind, number_of(handle), TEXT_OF_WIDE(name));                    \
        CHAIN(module, callback##_W, void (*)(type, const wchar_t *), handle, name);                \
    }

#define NAMING_POINTER(function, kind, module, callback)                                           \
    NAMING(function, kind, void *, number_of_pointer, module, callback)
#define NAMING_INT(function, kind, module, callback)                                               \
    NAMING(function, kind, int, number_of_int, module, callback)

NAMING_INT(cu_device, "cuDevice", ABI_CUDA, ABI_NAME_CU_DEVICE)
NAMING_POINTER(cu_context, "cuContext", ABI_CUDA, ABI_NAME_CU_CONTEXT)
NAMING_POINTER(cu_stream, "cuStream", ABI_CUDA, ABI_NAME_CU_STREAM)
NAMING_POINTER(cu_event, "cuEvent", ABI_CUDA, ABI_NAME_CU_EVENT)
NAMING_INT(cuda_device, "cudaDevice", ABI_CUDART, ABI_NAME_CUDA_DEVICE)
NAMING_POINTER(cuda_stream, "cudaStream", ABI_CUDART, ABI_NAME_CUDA_STREAM)
NAMING_POINTER(cuda_event, "cudaEvent", ABI_CUDART, ABI_NAME_CUDA_EVENT)
NAMING_POINTER(cl_device, "clDevice", ABI_OPENCL, ABI_NAME_CL_DEVICE)
NAMING_POINTER(cl_context, "clContext", ABI_OPENCL, ABI_NAME_CL_CONTEXT)
NAMING_POINTER(cl_command_queue, "clCommandQueue", ABI_OPENCL, ABI_NAME_CL_COMMAND_QUEUE)
NAMING_POINTER(cl_mem_object, "clMemObject", ABI_OPENCL, ABI_NAME_CL_MEM_OBJECT)
NAMING_POINTER(cl_sampler, "clSampler", ABI_OPENCL, ABI_NAME_CL_SAMPLER)
NAMING_POINTER(cl_program, "clProgram", ABI_OPENCL, ABI_NAME_CL_PROGRAM)
NAMING_POINTER(cl_event, "clEvent", ABI_OPENCL, ABI_NAME_CL_EVENT)

#define BOTH(callback, function)                                                                   \
    [callback##_A] = (abi_function)function##_a, [callback##_W] = (abi_function)function##_w

const abi_function cuda_functions[ABI_CUDA_COUNT] = {
    BOTH(ABI_NAME_CU_DEVICE, cu_device),
    BOTH(ABI_NAME_CU_CONTEXT, cu_context),
    BOTH(ABI_NAME_CU_STREAM, cu_stream),
    BOTH(ABI_NAME_CU_EVENT, cu_event),
};

const abi_function cudart_functions[ABI_CUDART_COUNT] = {
    BOTH(ABI_NAME_CUDA_DEVICE, cuda_device),
    BOTH(ABI_NAME_CUDA_STREAM, cuda_stream),
    BOTH(ABI_NAME_CUDA_EVENT, cuda_event),
};

const abi_function opencl_functions[ABI_OPENCL_COUNT] = {
    BOTH(ABI_NAME_CL_DEVICE, cl_device),
    BOTH(ABI_NAME_CL_CONTEXT, cl_context),
    BOTH(ABI_NAME_CL_COMMAND_QUEUE, cl_command_queue),
    BOTH(ABI_NAME_CL_MEM_OBJECT, cl_mem_object),
    BOTH(ABI_NAME_CL_SAMPLER, cl_sampler),
    BOTH(ABI_NAME_CL_PROGRAM, cl_program),
    BOTH(ABI_NAME_CL_EVENT, cl_event),
};
