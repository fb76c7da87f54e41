// SPDX-License-Identifier: Apache-2.0
//
// NVTX's calls with a domain, and what makes handles. A range that was started is ended by its id
// alone, whatever domain its end names.
#include <wchar.h>

#include "inject/chain.h"
#include "inject/core/core.h"
#include "inject/text.h"

typedef struct inject_domain domain;

static __attribute__((noinline)) void chain_mark(abi_function next, const domain *in,
                                                 const struct abi_event *event) {
    struct event_copy copy;
    ((void (*)(void *, const struct abi_event *))next)(inject_domain_chained(in),
                                                       event_chained(in, event, &copy));
}

static void mark_ex(const domain *in, const struct abi_event *event) {
    event_record(EVENT_MARK, in, event);
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_MARK_EX);
    if (next) {
        chain_mark(next, in, event);
    }
}

static __attribute__((noinline)) uint64_t chain_start(abi_function next, const domain *in,
                                                      const struct abi_event *event, uint64_t id) {
    struct event_copy copy;
    return chain_range_put(id, ((uint64_t(*)(void *, const struct abi_event *))next)(
                                   inject_domain_chained(in), event_chained(in, event, &copy)));
}

static uint64_t start_ex(const domain *in, const struct abi_event *event) {
    uint64_t id = event_record(EVENT_START, in, event);
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_RANGE_START_EX);
    return next ? chain_start(next, in, event, id) : id;
}

static void end(const domain *in, uint64_t id) {
    uint64_t its;
    nvtxt_end(id);
    if (chain_is_loaded() && chain_range_take(id, &its)) {
        CHAIN(ABI_CORE2, ABI_DOMAIN_RANGE_END, void (*)(void *, uint64_t),
              inject_domain_chained(in), its);
    }
}

static __attribute__((noinline)) void chain_push(abi_function next, const domain *in,
                                                 const struct abi_event *event) {
    struct event_copy copy;
    ((int (*)(void *, const struct abi_event *))next)(inject_domain_chained(in),
                                                      event_chained(in, event, &copy));
}

static int push_ex(const domain *in, const struct abi_event *event) {
    int level = (int)event_record(EVENT_PUSH, in, event);
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_RANGE_PUSH_EX);
    if (next) {
        chain_push(next, in, event);
    }
    return inject_level(level);
}

static int pop(const domain *in) {
    int level = nvtxt_pop_ex(inject_domain_of(in), NULL);
    CHAIN(ABI_CORE2, ABI_DOMAIN_RANGE_POP, int (*)(void *), inject_domain_chained(in));
    return inject_level(level);
}

// ---- Resources ----------------------------------------------------------------------------------

#define KINDS 8u

static const char *kind_of(int32_t type) {
    static const char *const kinds[][KINDS] = {
        [ABI_CLASS_CUDA] = {NULL, "cuDevice", "cuContext", "cuStream", "cuEvent"},
        [ABI_CLASS_CUDART] = {"cudaDevice", "cudaStream", "cudaEvent"},
        [ABI_CLASS_OPENCL] = {NULL, "clDevice", "clContext", "clCommandQueue", "clMemObject",
                              "clSampler", "clProgram", "clEvent"},
    };
    uint32_t class = (uint32_t)type >> 16, number = (uint32_t)type & 0xFFFF;
    switch (class) {
    case ABI_CLASS_GENERIC:
        return "generic";
    case ABI_CLASS_SYNC_OS:
        return "syncOs";
    case ABI_CLASS_SYNC_PTHREAD:
        return "syncPthread";
    default:
        return class <= ABI_CLASS_OPENCL && number < KINDS && kinds[class][number]
                   ? kinds[class][number]
                   : "unknown";
    }
}

static void name_resource(const domain *in, const struct abi_resource *resource) {
    const char *name = NULL;
    if (ABI_HAS(resource, message)) {
        name = TEXT_OF(resource->message_type, resource->message);
    }
    nvtxt_name_resource(inject_domain_of(in), kind_of(resource->type), resource->handle, name);
    if (resource->type == ABI_THREAD_NATIVE || resource->type == ABI_THREAD_POSIX) {
        naming_thread(resource->handle, name);
    }
}

static struct inject_resource *chain_resource(abi_function next, const domain *in,
                                              struct abi_resource *resource) {
    struct inject_resource *handle = inject_alloc(sizeof(*handle));
    struct abi_resource copy;
    if (resource && ABI_HAS(resource, message) &&
        resource->message_type == ABI_MESSAGE_REGISTERED) {
        copy = *resource;
        copy.size = sizeof(copy);
        copy.message = text_chained(resource->message_type, resource->message);
        resource = &copy;
    }
    void *its =
        ((void *(*)(void *, struct abi_resource *))next)(inject_domain_chained(in), resource);
    if (handle) {
        handle->chained = its;
    }
    return handle;
}

// Without a library behind us nothing has to be remembered of a resource.
static struct inject_resource no_resource;

static struct inject_resource *resource_create(const domain *in, struct abi_resource *resource) {
    struct inject_resource *handle = NULL;
    if (resource && ABI_HAS(resource, handle)) {
        name_resource(in, resource);
    }
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_RESOURCE_CREATE);
    if (next) {
        handle = chain_resource(next, in, resource);
    }
    return handle ?: &no_resource;
}

static void resource_destroy(const struct inject_resource *resource) {
    CHAIN(ABI_CORE2, ABI_DOMAIN_RESOURCE_DESTROY, void (*)(void *),
          resource ? resource->chained : NULL);
}

// ---- Names, strings, domains --------------------------------------------------------------------

static void name_category_a(const domain *in, uint32_t category, const char *name) {
    nvtxt_name_category(inject_domain_of(in), category, name);
    CHAIN(ABI_CORE2, ABI_DOMAIN_NAME_CATEGORY_A, void (*)(void *, uint32_t, const char *),
          inject_domain_chained(in), category, name);
}

static void name_category_w(const domain *in, uint32_t category, const wchar_t *name) {
    nvtxt_name_category(inject_domain_of(in), category, TEXT_OF_WIDE(name));
    CHAIN(ABI_CORE2, ABI_DOMAIN_NAME_CATEGORY_W, void (*)(void *, uint32_t, const wchar_t *),
          inject_domain_chained(in), category, name);
}

static struct inject_string *register_string_a(const domain *in, const char *text) {
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_REGISTER_STRING_A);
    struct inject_string *handle = inject_string_new(text, next != NULL);
    if (next) {
        void *its = ((void *(*)(void *, const char *))next)(inject_domain_chained(in), text);
        if (handle) {
            handle->chained = its;
        }
    }
    return handle;
}

static struct inject_string *register_string_w(const domain *in, const wchar_t *text) {
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_REGISTER_STRING_W);
    struct inject_string *handle = inject_string_new(TEXT_OF_WIDE(text), next != NULL);
    if (next) {
        void *its = ((void *(*)(void *, const wchar_t *))next)(inject_domain_chained(in), text);
        if (handle) {
            handle->chained = its;
        }
    }
    return handle;
}

static domain *create_a(const char *name) {
    domain *handle = inject_domain_new(name);
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_CREATE_A);
    if (next) {
        void *its = ((void *(*)(const char *))next)(name);
        if (handle) {
            handle->chained = its;
        }
    }
    return handle;
}

static domain *create_w(const wchar_t *name) {
    domain *handle = inject_domain_new(TEXT_OF_WIDE(name));
    abi_function next = chain_find(ABI_CORE2, ABI_DOMAIN_CREATE_W);
    if (next) {
        void *its = ((void *(*)(const wchar_t *))next)(name);
        if (handle) {
            handle->chained = its;
        }
    }
    return handle;
}

static void destroy(const domain *in) {
    CHAIN(ABI_CORE2, ABI_DOMAIN_DESTROY, void (*)(void *), inject_domain_chained(in));
}

static void initialize(const void *reserved) {
    CHAIN(ABI_CORE2, ABI_INITIALIZE, void (*)(const void *), reserved);
}

const abi_function core2_functions[ABI_CORE2_COUNT] = {
    [ABI_DOMAIN_MARK_EX] = (abi_function)mark_ex,
    [ABI_DOMAIN_RANGE_START_EX] = (abi_function)start_ex,
    [ABI_DOMAIN_RANGE_END] = (abi_function)end,
    [ABI_DOMAIN_RANGE_PUSH_EX] = (abi_function)push_ex,
    [ABI_DOMAIN_RANGE_POP] = (abi_function)pop,
    [ABI_DOMAIN_RESOURCE_CREATE] = (abi_function)resource_create,
    [ABI_DOMAIN_RESOURCE_DESTROY] = (abi_function)resource_destroy,
    [ABI_DOMAIN_NAME_CATEGORY_A] = (abi_function)name_category_a,
    [ABI_DOMAIN_NAME_CATEGORY_W] = (abi_function)name_category_w,
    [ABI_DOMAIN_REGISTER_STRING_A] = (abi_function)register_string_a,
    [ABI_DOMAIN_REGISTER_STRING_W] = (abi_function)register_string_w,
    [ABI_DOMAIN_CREATE_A] = (abi_function)create_a,
    [ABI_DOMAIN_CREATE_W] = (abi_function)create_w,
    [ABI_DOMAIN_DESTROY] = (abi_function)destroy,
    [ABI_INITIALIZE] = (abi_function)initialize,
};
