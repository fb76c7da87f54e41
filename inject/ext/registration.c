// SPDX-License-Identifier: Apache-2.0
//
// The library behind us is asked first, and its number is taken, so that events need not be changed
// for it. What says the same is not kept twice: programs register the same schema over and over, in
// a function that is called often, and get the same number again.
#include "inject/ext/registration.h"

#include <stdbool.h>
#include <string.h>

#include "inject/chain.h"
#include "inject/ext/registry.h"
#include "inject/ext/world.h"
#include "inject/schema/schema.h"

typedef const struct inject_domain domain_handle;

// What the library behind us gives for an attribute: its number, or 0.
uint64_t registration_chained(unsigned callback, domain_handle *domain, const void *attr) {
    abi_function next = chain_find_extension(ABI_EXTENSION_PAYLOAD, callback);
    return next ? ((uint64_t(*)(void *, const void *))next)(inject_domain_chained(domain), attr)
                : 0;
}

static uint64_t keep(enum registry_kind kind, domain_handle *domain, uint64_t own, uint64_t its,
                     const void *thing) {
    uint64_t number = own ? own : registry_number(kind, its);
    return registry_put(kind, domain, number, thing) ? number : its;
}

struct content {
    const struct schema *schema;
    const struct nvtxt_domain *domain;
    uint64_t number;
};

#define CONTENT_MOST 2048 // bytes of a schema that is looked for

static uint64_t content_key(domain_handle *domain, const struct schema *schema) {
    return (schema_hash(schema) ^ (uintptr_t)inject_domain_of(domain)) | ABI_ID_OURS;
}

static uint64_t find_content(domain_handle *domain, const struct schema *schema) {
    const struct content *content =
        registry_find(REGISTRY_CONTENT, NULL, content_key(domain, schema));
    bool is_same = content && content->domain == inject_domain_of(domain) &&
                   schema_equal(content->schema, schema);
    return is_same ? content->number : 0;
}

static void keep_content(domain_handle *domain, const struct schema *schema, uint64_t number) {
    struct content *content = inject_alloc(sizeof(*content));
    if (content) {
        *content = (struct content){schema, inject_domain_of(domain), number};
        registry_put(REGISTRY_CONTENT, NULL, content_key(domain, schema), content);
    }
}

typedef struct schema *(*copy_function)(const void *attr, void *memory);

static uint64_t keep_schema(domain_handle *domain, const void *attr, size_t bytes,
                            copy_function copy, uint64_t its) {
    if (bytes == 0) {
        return its;
    }
    if (bytes <= CONTENT_MOST) {
        _Alignas(16) char memory[CONTENT_MOST] = {0};
        uint64_t number = find_content(domain, copy(attr, memory));
        if (number) {
            return number;
        }
    }
    void *memory = inject_alloc(bytes);
    if (!memory) {
        return its;
    }
    const struct schema *schema = copy(attr, memory);
    uint64_t number = keep(REGISTRY_SCHEMA, domain, schema->id, its, schema);
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

#define HAS(attr, member)                                                                          \
    (offsetof(__typeof__(*(attr)), member) + sizeof((attr)->member) <= (attr)->size)

// The path after that of its parent.
static char *scope_path(domain_handle *domain, const struct abi_scope *attr) {
    const char *path = HAS(attr, path) && attr->path ? attr->path : "";
    const char *parent = HAS(attr, parent) ? world_scope(domain, attr->parent) : NULL;
    path += strspn(path, "/");
    size_t len = strnlen(path, SCHEMA_NAME_MOST), before = parent ? strlen(parent) : 0;
    char *all = before < SCHEMA_NAME_MOST * 8 ? inject_alloc(before + len + 2) : NULL;
    if (all) {
        memcpy(all, parent ? parent : "", before);
        all[before] = '/';
        memcpy(all + before + (before > 0), path, len);
        all[before + (before > 0) + len] = '\0';
    }
    return all;
}

uint64_t registration_scope(domain_handle *domain, const struct abi_scope *attr) {
    uint64_t its = registration_chained(ABI_PAYLOAD_SCOPE_REGISTER, domain, attr);
    if (!attr) {
        return its;
    }
    uint64_t own = HAS(attr, id) ? attr->id : 0;
    return keep(REGISTRY_SCOPE, domain, own, its, scope_path(domain, attr));
}
