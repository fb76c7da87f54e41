// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls that give names to threads, and to things of CUDA and OpenCL. The latter are all
// alike: a kind, a handle, and a name that is narrow or wide.
//
// What pthread_self() gives is an address, and libc reads there. So it is asked about a number only
// where the kernel could read. The clock of a thread has its number: inverted, above three
// bits that say which clock it is.
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "inject/chain.h"
#include "inject/core/core.h"
#include "inject/text.h"
#include "lib/private.h"

#define THREAD_BYTES 1024u // libc has the number within so many bytes of what it knows of a thread

static bool is_thread(uint64_t tid) {
    return tid > 0 && tid <= INT32_MAX && (tgkill(getpid(), (pid_t)tid, 0) == 0 || errno != ESRCH);
}

// Returns 0 for what is no thread.
static uint64_t tid_of(uint64_t pthread) {
    char bytes[THREAD_BYTES];
    struct iovec to = {bytes, sizeof(bytes)}, from = {(void *)(uintptr_t)pthread, sizeof(bytes)};
    clockid_t clock;
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof(bytes) &&
                   pthread_getcpuclockid((pthread_t)(uintptr_t)pthread, &clock) == 0
               ? (uint32_t) ~(clock >> 3)
               : 0;
}

void naming_thread(uint64_t number, const char *name) {
    int saved = errno;
    uint64_t self = (uintptr_t)pthread_self();
    uint64_t tid = number == self || number == (uint32_t)self ? (uint64_t)gettid()
                   : is_thread(number)                        ? number
                                                              : tid_of(number);
    if (is_thread(tid)) {
        nvtxt_name_thread((uint32_t)tid, name);
    } else {
        nvtxt_private_unsupported(1);
    }
    errno = saved;
}

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
