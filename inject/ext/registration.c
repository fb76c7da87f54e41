// SPDX-License-Identifier: Apache-2.0
//
// The library behind us is asked first, and its number is taken, so that events need not be changed
// for it. What says the same is not kept twice: programs register the same schema over and over, in
// a function that is called often, and get the same number again.
#include "inject/ext/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/chain.h"
#include "inject/ext/world.h"
#include "inject/schema/schema.h"

typedef const struct inject_domain domain_handle;

// What the library behind us gives for an attribute: its number, or 0.
uint64_t registration_chained(unsigned callback, domain_handle *domain, const void *attr) {
    abi_function next = chain_find_extension(ABI_EXTENSION_PAYLOAD, callback);
    return next ? ((uint64_t(*)(void *, const void *))next)(inject_domain_chained(domain), attr)
                : 0;
}

struct content {
    const struct schema *schema;
    const struct nvtxt_domain *domain;
    uint64_t number;
};

#define STACK_MOST 2048u // bytes of a schema that is copied onto the stack, to look for it

static uint64_t content_key(domain_handle *domain, const struct schema *schema) {
    return (schema_hash(schema) ^ (uintptr_t)inject_domain_of(domain)) | ABI_ID_OURS;
}

static uint64_t find_content(domain_handle *domain, const struct schema *schema) {
    const struct content *content =
        registry_find(REGISTRY_SCHEMA_CONTENT, NULL, content_key(domain, schema));
    bool is_same = content && content->domain == inject_domain_of(domain) &&
                   schema_equal(content->schema, schema);
    return is_same ? content->number : 0;
}

static void keep_content(domain_handle *domain, const struct schema *schema, uint64_t number) {
    struct content *content = inject_alloc(sizeof(*content));
    if (content) {
        *content = (struct content){schema, inject_domain_of(domain), number};
        registry_put(REGISTRY_SCHEMA_CONTENT, NULL, content_key(domain, schema), content);
    }
}

typedef struct schema *(*copy_function)(const void *attr, void *memory);

// Looks for a schema of so many bytes with a copy that goes again. 0: it is not there.
static uint64_t find_copy(domain_handle *domain, const void *attr, size_t bytes,
                          copy_function copy) {
    _Alignas(16) char stack[STACK_MOST] = {0};
    void *memory = stack;
    int saved = errno;
    if (bytes > STACK_MOST) {
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    uint64_t number = memory == MAP_FAILED ? 0 : find_content(domain, copy(attr, memory));
    if (memory != stack && memory != MAP_FAILED) {
        munmap(memory, bytes);
    }
    errno = saved;
    return number;
}

static uint64_t keep_schema(domain_handle *domain, const void *attr, size_t bytes,
                            copy_function copy, uint64_t its) {
    uint64_t number = bytes > 0 ? find_copy(domain, attr, bytes, copy) : its;
    if (bytes == 0 || number) {
        return number;
    }
    bool has_room = registry_has_room(REGISTRY_SCHEMA);
    void *memory = has_room ? inject_alloc(bytes) : NULL;
    if (!memory) {
        return registry_lost(REGISTRY_SCHEMA, its);
    }
    const struct schema *schema = copy(attr, memory);
    number = schema->id ?: registry_number(REGISTRY_SCHEMA, its);
    registry_put(REGISTRY_SCHEMA, domain, number, schema);
    keep_content(domain, schema, number);
    return number;
}

static struct schema *copy_schema(const void *attr, void *memory) {
    return schema_copy(attr, memory);
}
static struct schema *copy_enum(const void *attr, void *memory) {
    return schema_enum_copy(attr, memory);
}

#define ENTRIES_MOST 64u // of a schema that names others by numbers that only we gave

// Asks the library behind us, with its numbers of the schemas that this one names.
static uint64_t chained_schema(domain_handle *domain, const struct abi_schema *attr) {
    struct abi_entry entries[ENTRIES_MOST];
    struct abi_schema given;
    const uint64_t needed = ABI_SCHEMA_HAS_ENTRIES | ABI_SCHEMA_HAS_COUNT;
    if (registry_has_chained() && attr && (attr->fields & needed) == needed && attr->entries &&
        attr->count <= ENTRIES_MOST) {
        memcpy(entries, attr->entries, attr->count * sizeof(entries[0]));
        for (size_t i = 0; i < attr->count; i++) {
            entries[i].type = registry_chained(REGISTRY_SCHEMA, entries[i].type);
        }
        given = *attr;
        given.entries = entries;
        attr = &given;
    }
    return registration_chained(ABI_PAYLOAD_SCHEMA_REGISTER, domain, attr);
}

uint64_t registration_schema(domain_handle *domain, const struct abi_schema *attr) {
    uint64_t its = chained_schema(domain, attr);
    return keep_schema(domain, attr, schema_bytes(attr), copy_schema, its);
}

uint64_t registration_enum(domain_handle *domain, const struct abi_enum *attr) {
    uint64_t its = registration_chained(ABI_PAYLOAD_ENUM_REGISTER, domain, attr);
    return keep_schema(domain, attr, schema_enum_bytes(attr), copy_enum, its);
}

#define SCOPE_MOST (SCHEMA_NAME_MOST * 8) // bytes of a path that is kept

// The path after that of its parent, in `path`. Returns its length, -1 when it is too long.
static int scope_path(domain_handle *domain, const struct abi_scope *attr, char path[SCOPE_MOST]) {
    const char *last = ABI_HAS(attr, path) && attr->path ? attr->path : "";
    const char *parent = ABI_HAS(attr, parent) ? world_scope(domain, attr->parent) : NULL;
    last += strspn(last, "/");
    parent = parent ?: "";
    int len = snprintf(path, SCOPE_MOST, "%s%s%.*s", parent, *parent ? "/" : "",
                       (int)SCHEMA_NAME_MOST, last);
    return len < (int)SCOPE_MOST ? len : -1;
}

// Whether the scope says that; `own`: the number that the program gave, 0: none.
static bool is_scope(const struct scope *scope, domain_handle *domain, uint64_t own,
                     const char *path) {
    return scope && scope->domain == inject_domain_of(domain) && scope->own == own &&
           strcmp(scope->path, path) == 0;
}

static struct scope *new_scope(domain_handle *domain, uint64_t own, const char *path, size_t len) {
    struct scope *scope =
        registry_has_room(REGISTRY_SCOPE) ? inject_alloc(sizeof(*scope) + len + 1) : NULL;
    if (scope) {
        scope->domain = inject_domain_of(domain);
        scope->own = own;
        memcpy(scope->path, path, len);
    }
    return scope;
}

uint64_t registration_scope(domain_handle *domain, const struct abi_scope *attr) {
    uint64_t its = registration_chained(ABI_PAYLOAD_SCOPE_REGISTER, domain, attr);
    char path[SCOPE_MOST];
    int len = attr ? scope_path(domain, attr, path) : -1;
    if (len < 0) {
        return its;
    }
    uint64_t own = ABI_HAS(attr, id) ? attr->id : 0;
    uint64_t content = registry_content(domain, path, (size_t)len);
    const struct scope *known = own ? registry_find(REGISTRY_SCOPE, domain, own)
                                    : registry_find(REGISTRY_SCOPE_CONTENT, NULL, content);
    if (is_scope(known, domain, own, path)) {
        return known->number;
    }
    struct scope *scope = new_scope(domain, own, path, (size_t)len);
    if (!scope) {
        return own ?: registry_lost(REGISTRY_SCOPE, its);
    }
    scope->number = own ?: registry_number(REGISTRY_SCOPE, its);
    if (registry_put(REGISTRY_SCOPE, domain, scope->number, scope) && !own) {
        registry_put(REGISTRY_SCOPE_CONTENT, NULL, content, scope);
    }
    return scope->number;
}
