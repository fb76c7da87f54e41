// SPDX-License-Identifier: Apache-2.0
//
// The walk that makes JSON of payloads meets each handle. Here it runs without writing, and the
// places are noted.
#include "inject/ext/world.h"

#include <string.h>

struct finder {
    struct world world; // first
    struct handles_in *found;
};

static const char *note(const struct schema_world *world, uint64_t handle, const char *at) {
    struct handles_in *found = ((const struct finder *)world)->found;
    (void)handle;
    for (size_t i = 0; i < found->count; i++) {
        if (found->at[i] == at) { // a pointer leads there, too
            return "";
        }
    }
    if (found->count == HANDLES_IN_MOST) {
        found->is_over = true;
    } else {
        found->at[found->count++] = at;
    }
    return "";
}

void handles_in_find(struct handles_in *found, const struct inject_domain *domain,
                     const struct abi_payload *payloads, size_t count) {
    struct finder finder = {world_of(domain), found};
    struct json_out none = {.room = SIZE_MAX};
    struct schema_event event;
    finder.world.world.string = note;
    found->count = 0;
    found->is_over = false;
    if (!schema_json(&none, &finder.world.world, payloads, count, &event)) {
        found->is_over = true;
    }
}

size_t handles_in_replace(const struct handles_in *found, const char *from, size_t size,
                          char *copy) {
    size_t replaced = 0;
    for (size_t i = 0; i < found->count; i++) {
        size_t at = (size_t)((uintptr_t)found->at[i] - (uintptr_t)from);
        if (at < size && size - at >= sizeof(void *)) {
            const struct inject_string *ours;
            memcpy(&ours, copy + at, sizeof(ours));
            void *its = inject_string_chained(ours);
            memcpy(copy + at, &its, sizeof(its));
            replaced++;
        }
    }
    return replaced;
}
