// SPDX-License-Identifier: Apache-2.0
//
// A heap or region of addresses is known by its first address, as NVTX says; another heap by its
// name, another region by an object that is never freed. The store has names for them; what a
// program does with them is counted as unsupported. The store has nothing for permissions, so all
// of them are one object. The library behind us gives handles of its own, which the program gets
// then, so that they need no change on their way back.
#include <stdatomic.h>
#include <string.h>

#include "inject/chain.h"
#include "inject/ext/extension.h"
#include "inject/ext/registry.h"
#include "inject/text.h"
#include "lib/private.h"

#define PARTS 32u // elements that are passed on at once, where strings in them change

typedef const struct inject_domain domain_handle;

static abi_function next_of(unsigned callback) {
    return chain_find_extension(ABI_EXTENSION_MEM, callback);
}

#define CHAIN_MEM(callback, type, ...)                                                             \
    do {                                                                                           \
        abi_function next_ = next_of(callback);                                                    \
        if (__builtin_expect(next_ != NULL, 0)) {                                                  \
            ((type)next_)(inject_domain_chained(domain), __VA_ARGS__);                             \
        }                                                                                          \
    } while (0)

// ---- Heaps --------------------------------------------------------------------------------------

#define NAME_MOST 1024u // bytes by which a heap without an address is known

static char others; // its address is the handle of what found no room; it has no name

struct heap {
    const struct nvtxt_domain *domain;
    char name[];
};

// A heap without an address: the one of that name.
static void *named_heap(domain_handle *domain, const char *name) {
    size_t len = strnlen(name, NAME_MOST);
    uint64_t content = registry_content(domain, name, len);
    const struct heap *found = registry_find(REGISTRY_HEAP_CONTENT, NULL, content);
    if (found && found->domain == inject_domain_of(domain) &&
        strncmp(found->name, name, len) == 0 && found->name[len] == '\0') {
        return (void *)(uintptr_t)found;
    }
    struct heap *heap =
        registry_has_room(REGISTRY_HEAP_CONTENT) ? inject_alloc(sizeof(*heap) + len + 1) : NULL;
    if (heap) {
        heap->domain = inject_domain_of(domain);
        memcpy(heap->name, name, len);
        registry_put(REGISTRY_HEAP_CONTENT, NULL, content, heap);
    }
    return heap ?: (void *)&others;
}

// The first address of what is described by a range; NULL: it is not.
static void *address_of(uint32_t type, const void *description, size_t size) {
    struct abi_memory_range range = {0};
    if (type == ABI_MEMORY_VIRTUAL && description && size >= sizeof(range)) {
        memcpy(&range, description, sizeof(range));
    }
    return (void *)(uintptr_t)range.at;
}

static void *chain_heap(abi_function next, domain_handle *domain, const struct abi_heap *heap) {
    struct abi_heap copy;
    if (heap && ABI_HAS(heap, message) && heap->message_type == ABI_MESSAGE_REGISTERED) {
        copy = *heap;
        copy.size = sizeof(copy);
        copy.message = text_chained((int32_t)heap->message_type, heap->message);
        heap = &copy;
    }
    return ((void *(*)(void *, const struct abi_heap *))next)(inject_domain_chained(domain), heap);
}

static void *heap_of_name(domain_handle *domain, const struct abi_heap *heap, void *handle) {
    const char *name = TEXT_OF(heap->message_type, heap->message);
    if (name && !handle) {
        handle = named_heap(domain, name);
    }
    if (name && handle != &others) {
        nvtxt_name_resource(inject_domain_of(domain), "memHeap", (uintptr_t)handle, name);
    }
    return handle;
}

static void *heap_register(domain_handle *domain, const struct abi_heap *heap) {
    void *handle = NULL;
    if (heap && ABI_HAS(heap, description)) {
        handle = address_of(heap->type, heap->description, heap->description_size);
    }
    if (heap && ABI_HAS(heap, message)) {
        handle = heap_of_name(domain, heap, handle);
    }
    handle = handle ?: &others;
    abi_function next = next_of(ABI_MEM_HEAP_REGISTER);
    void *its = next ? chain_heap(next, domain, heap) : NULL;
    return its ?: handle;
}

static void heap_unregister(domain_handle *domain, void *heap) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_HEAP_UNREGISTER, void (*)(void *, void *), heap);
}

static void heap_reset(domain_handle *domain, void *heap) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_HEAP_RESET, void (*)(void *, void *), heap);
}

// ---- Regions ------------------------------------------------------------------------------------

// A region without an address: names come later.
static void *new_region(void) {
    static _Atomic uint32_t count;
    bool has_room =
        atomic_load(&count) < REGISTRY_MOST && atomic_fetch_add(&count, 1) < REGISTRY_MOST;
    void *handle = has_room ? inject_alloc(1) : NULL;
    if (!handle) {
        nvtxt_private_unsupported(1);
    }
    return handle ?: &others;
}

static void give_handles(const struct abi_regions *regions) {
    const char *element = regions->elements;
    for (size_t i = 0; i < regions->count; i++) {
        void *handle = address_of(regions->type, element, element ? regions->element_size : 0);
        regions->handles[i] = handle ?: new_region();
        element = element ? element + regions->element_size : NULL;
    }
}

static void regions_register(domain_handle *domain, const struct abi_regions *regions) {
    if (regions && ABI_HAS(regions, handles) && regions->handles) {
        give_handles(regions);
    }
    CHAIN_MEM(ABI_MEM_REGIONS_REGISTER, void (*)(void *, const struct abi_regions *), regions);
}

static void regions_resize(domain_handle *domain, const struct abi_regions_resize *regions) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_REGIONS_RESIZE, void (*)(void *, const struct abi_regions_resize *), regions);
}

static void regions_unregister(domain_handle *domain,
                               const struct abi_regions_unregister *regions) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_REGIONS_UNREGISTER, void (*)(void *, const struct abi_regions_unregister *),
              regions);
}

// Takes one element of a table whose elements may be shorter or longer than ours.
static struct abi_region_name region_name(const struct abi_region_names *names, size_t i) {
    struct abi_region_name name = {0};
    size_t size = names->element_size;
    memcpy(&name, (const char *)names->elements + i * size,
           size < sizeof(name) ? size : sizeof(name));
    return name;
}

static void name_region(domain_handle *domain, const struct abi_region_name *region) {
    const char *name = TEXT_OF(region->message_type, region->message);
    if (name && region->region != &others) {
        nvtxt_name_resource(inject_domain_of(domain), "memRegion", (uintptr_t)region->region, name);
    }
}

static void chain_names(abi_function next, domain_handle *domain,
                        const struct abi_region_names *names) {
    struct abi_region_name parts[PARTS];
    struct abi_region_names copy = {
        names->compat, sizeof(copy), names->reserved0, 0, sizeof(*parts), parts, 0};
    for (size_t i = 0; i < names->count; i += copy.count) {
        for (copy.count = 0; copy.count < PARTS && i + copy.count < names->count; copy.count++) {
            struct abi_region_name *part = &parts[copy.count];
            *part = region_name(names, i + copy.count);
            part->message = text_chained((int32_t)part->message_type, part->message);
        }
        ((void (*)(void *, const struct abi_region_names *))next)(inject_domain_chained(domain),
                                                                  &copy);
    }
}

static void regions_name(domain_handle *domain, const struct abi_region_names *names) {
    abi_function next = next_of(ABI_MEM_REGIONS_NAME);
    bool has_names = names && ABI_HAS(names, elements) && names->elements;
    for (size_t i = 0; has_names && i < names->count; i++) {
        struct abi_region_name name = region_name(names, i);
        name_region(domain, &name);
    }
    if (next && has_names) {
        chain_names(next, domain, names);
    } else if (next) {
        ((void (*)(void *, const struct abi_region_names *))next)(inject_domain_chained(domain),
                                                                  names);
    }
}

// ---- Permissions --------------------------------------------------------------------------------

static void permissions_assign(domain_handle *domain, const struct abi_permissions_assign *assign) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_PERMISSIONS_ASSIGN, void (*)(void *, const struct abi_permissions_assign *),
              assign);
}

static void *permissions_create(domain_handle *domain, int32_t flags) {
    abi_function next = next_of(ABI_MEM_PERMISSIONS_CREATE);
    void *its =
        next ? ((void *(*)(void *, int32_t))next)(inject_domain_chained(domain), flags) : NULL;
    return its ?: &others;
}

static void permissions_destroy(domain_handle *domain, void *permissions) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_PERMISSIONS_DESTROY, void (*)(void *, void *), permissions);
}

static void permissions_reset(domain_handle *domain, void *permissions) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_PERMISSIONS_RESET, void (*)(void *, void *), permissions);
}

static void permissions_bind(domain_handle *domain, void *permissions, uint32_t scope,
                             uint32_t flags) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_PERMISSIONS_BIND, void (*)(void *, void *, uint32_t, uint32_t), permissions,
              scope, flags);
}

static void permissions_unbind(domain_handle *domain, uint32_t scope) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_PERMISSIONS_UNBIND, void (*)(void *, uint32_t), scope);
}

// ---- CUDA ---------------------------------------------------------------------------------------

#define DEVICES 256u

static char whole_process, devices[DEVICES]; // only their addresses mean something

static void *cuda_process_permissions(domain_handle *domain) {
    abi_function next = next_of(ABI_MEM_CUDA_PROCESS_PERMISSIONS);
    void *its = next ? ((void *(*)(void *))next)(inject_domain_chained(domain)) : NULL;
    return its ?: &whole_process;
}

static void *cuda_device_permissions(domain_handle *domain, int device) {
    abi_function next = next_of(ABI_MEM_CUDA_DEVICE_PERMISSIONS);
    void *its = next ? ((void *(*)(void *, int))next)(inject_domain_chained(domain), device) : NULL;
    return its ?: &devices[(unsigned)device % DEVICES];
}

static void cuda_set_peer_access(domain_handle *domain, void *permissions, int peer,
                                 uint32_t flags) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_CUDA_SET_PEER_ACCESS, void (*)(void *, void *, int, uint32_t), permissions,
              peer, flags);
}

static void cuda_mark_initialized(domain_handle *domain, void *stream, uint8_t is_per_thread,
                                  const struct abi_regions_resize *regions) {
    nvtxt_private_unsupported(1);
    CHAIN_MEM(ABI_MEM_CUDA_MARK_INITIALIZED,
              void (*)(void *, void *, uint8_t, const struct abi_regions_resize *), stream,
              is_per_thread, regions);
}

static const abi_function functions[ABI_MEM_COUNT] = {
    [ABI_MEM_HEAP_REGISTER] = (abi_function)heap_register,
    [ABI_MEM_HEAP_UNREGISTER] = (abi_function)heap_unregister,
    [ABI_MEM_HEAP_RESET] = (abi_function)heap_reset,
    [ABI_MEM_REGIONS_REGISTER] = (abi_function)regions_register,
    [ABI_MEM_REGIONS_RESIZE] = (abi_function)regions_resize,
    [ABI_MEM_REGIONS_UNREGISTER] = (abi_function)regions_unregister,
    [ABI_MEM_REGIONS_NAME] = (abi_function)regions_name,
    [ABI_MEM_PERMISSIONS_ASSIGN] = (abi_function)permissions_assign,
    [ABI_MEM_PERMISSIONS_CREATE] = (abi_function)permissions_create,
    [ABI_MEM_PERMISSIONS_DESTROY] = (abi_function)permissions_destroy,
    [ABI_MEM_PERMISSIONS_RESET] = (abi_function)permissions_reset,
    [ABI_MEM_PERMISSIONS_BIND] = (abi_function)permissions_bind,
    [ABI_MEM_PERMISSIONS_UNBIND] = (abi_function)permissions_unbind,
    [ABI_MEM_CUDA_PROCESS_PERMISSIONS] = (abi_function)cuda_process_permissions,
    [ABI_MEM_CUDA_DEVICE_PERMISSIONS] = (abi_function)cuda_device_permissions,
    [ABI_MEM_CUDA_SET_PEER_ACCESS] = (abi_function)cuda_set_peer_access,
    [ABI_MEM_CUDA_MARK_INITIALIZED] = (abi_function)cuda_mark_initialized,
};

const struct extension_module extension_mem = {ABI_EXTENSION_MEM, ABI_MEM_COMPAT, ABI_MEM_COUNT,
                                               functions, ABI_MEM_COMPAT};
