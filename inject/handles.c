// SPDX-License-Identifier: Apache-2.0
//
// Memory comes in chunks. A chunk knows how much of it is used; who adds to that has what lies
// between. When one is full, whoever finds that maps another and puts it in its place; of two that
// do so at once one gives its chunk back.
#include "inject/handles.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/private.h"

#define CHUNK_BYTES ((size_t)64 * 1024)
#define STRINGS_MOST ((size_t)48 << 20) // less than libnvtxt keeps, whatever their lengths are

struct chunk {
    _Atomic size_t used;
    size_t size;
};

static struct chunk *_Atomic newest;

static size_t rounded(size_t size, size_t unit) {
    return (size + unit - 1) & ~(unit - 1);
}

static void *take(struct chunk *chunk, size_t size) {
    size_t at = chunk ? atomic_fetch_add(&chunk->used, size) : 0;
    return chunk && at <= chunk->size && size <= chunk->size - at ? (char *)chunk + at : NULL;
}

static struct chunk *map_chunk(size_t size) {
    size = rounded(size + sizeof(struct chunk) + 16, CHUNK_BYTES);
    struct chunk *chunk =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) {
        return NULL;
    }
    chunk->used = rounded(sizeof(*chunk), 16);
    chunk->size = size;
    return chunk;
}

void *inject_alloc(size_t size) {
    int saved = errno;
    size = rounded(size, 16);
    void *memory;
    struct chunk *chunk = atomic_load(&newest);
    while (!(memory = take(chunk, size))) {
        struct chunk *fresh = map_chunk(size);
        if (!fresh) {
            break;
        }
        if (atomic_compare_exchange_strong(&newest, &chunk, fresh)) {
            chunk = fresh;
        } else {
            munmap(fresh, fresh->size);
        }
    }
    errno = saved;
    return memory;
}

struct inject_domain *inject_domain_new(const char *name) {
    struct inject_domain *handle = inject_alloc(sizeof(*handle));
    if (handle) {
        handle->domain = nvtxt_domain_get(name);
    }
    return handle;
}

static bool take_room(size_t bytes) {
    static _Atomic size_t used;
    bool has_room = atomic_load(&used) + bytes <= STRINGS_MOST;
    if (has_room) {
        atomic_fetch_add(&used, bytes);
    } else {
        nvtxt_private_unsupported(1);
    }
    return has_room;
}

static struct inject_string *find_string(const struct nvtxt_string *string, const char *text) {
    struct inject_string *known = string ? atomic_load(nvtxt_private_handle_of(string)) : NULL;
    return known && strcmp(known->text, text) == 0 ? known : NULL;
}

struct inject_string *inject_string_new(const char *text, bool is_chained) {
    text = text ?: "";
    const struct nvtxt_string *string = nvtxt_string_get(text);
    struct inject_string *handle = is_chained ? NULL : find_string(string, text);
    size_t size = sizeof(*handle) + strlen(text) + 1;
    if (handle || !take_room(rounded(size, 16)) || !(handle = inject_alloc(size))) {
        return handle;
    }
    handle->string = string;
    handle->text = strcpy((char *)(handle + 1), text);
    if (string && !is_chained) {
        atomic_store(nvtxt_private_handle_of(string), handle);
    }
    return handle;
}
