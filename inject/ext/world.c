// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of a schema_world, by the registry. A handle of a string is taken at its word, as
// those of messages are.
#include "inject/ext/world.h"

#include "inject/ext/registry.h"

static const struct schema *find_schema(const struct schema_world *world, uint64_t id) {
    return registry_find(REGISTRY_SCHEMA, ((const struct world *)world)->domain, id);
}

static const char *find_string(const struct schema_world *world, uint64_t handle, const char *at) {
    (void)world, (void)at;
    return ((const struct inject_string *)(uintptr_t)handle)->text; // NOLINT
}

static const char *find_scope(const struct schema_world *world, uint64_t id) {
    return world_scope(((const struct world *)world)->domain, id);
}

struct world world_of(const struct inject_domain *domain) {
    return (struct world){{find_schema, find_string, find_scope, NULL}, domain};
}

size_t world_value_size(const struct inject_domain *domain, uint64_t schema) {
    struct world world = world_of(domain);
    return schema_json_size(&world.world, schema);
}

const char *world_scope(const struct inject_domain *domain, uint64_t scope) {
    const struct scope *found = registry_find(REGISTRY_SCOPE, domain, scope);
    return found ? found->path : NULL;
}
