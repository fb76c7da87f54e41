// SPDX-License-Identifier: Apache-2.0
//
// Most events say little: their JSON fits into a small piece of the stack. Larger ones get memory
// from mmap for the time of the call, because threads may have small stacks and malloc is the
// program's. A call is passed on after it was recorded.
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "inject/chain.h"
#include "inject/ext/extension.h"
#include "inject/ext/registry.h"
#include "inject/ext/world.h"
#include "lib/private.h"

#define SMALL 2048u
#define MESSAGE_MOST (16u << 10) // more is not recorded
#define LARGE (SCHEMA_JSON_MOST + MESSAGE_MOST + 2)

typedef const struct inject_domain domain_handle;

// ---- Reading ------------------------------------------------------------------------------------

// The message where it is, when it is UTF-8 with a NUL; else a copy in what is left of the room.
static bool set_message(struct nvtxt_attr *attr, struct code_units message, char *room,
                        size_t size) {
    size_t len = code_units_len(message);
    attr->string = NULL;
    attr->message = message.at;
    if (message.width == 1 && len < message.count) {
        return true;
    }
    attr->message = room;
    code_units_copy(message, room, size);
    return strlen(room) + 4 < size;
}

// Returns whether all of it was read; with a larger room more may be.
static bool read_into(domain_handle *domain, const struct abi_payload *payloads, size_t count,
                      struct nvtxt_attr *attr, char *room, size_t size) {
    struct world world = world_of(domain);
    struct schema_event event = {0};
    size_t most = size < LARGE ? size - 2 : SCHEMA_JSON_MOST;
    struct json_out out = {room, most, 0, false};
    bool is_whole = schema_json(&out, &world.world, payloads, count, &event);
    room[out.len] = '\0';
    attr->json = out.len ? room : NULL;
    if (event.has_category) {
        attr->category = event.category;
    }
    if (event.has_color) {
        attr->color = event.color;
    }
    if (event.has_message) {
        is_whole =
            set_message(attr, event.message, room + out.len + 1, size - out.len - 1) && is_whole;
    }
    return is_whole;
}

// What has too little room is handed on all the same when `must`. Returns whether it was handed on.
static __attribute__((noinline)) bool read_small(domain_handle *domain,
                                                 const struct abi_payload *payloads, size_t count,
                                                 const struct nvtxt_attr *attr,
                                                 extension_consumer consume, const void *context,
                                                 bool must, uint64_t *result) {
    char room[SMALL];
    struct nvtxt_attr more = *attr;
    int saved = errno;
    bool is_whole = read_into(domain, payloads, count, &more, room, sizeof(room));
    errno = saved;
    if (is_whole || must) {
        *result = consume(context, &more);
    }
    return is_whole || must;
}

uint64_t extension_read(domain_handle *domain, const struct abi_payload *payloads, size_t count,
                        const struct nvtxt_attr *attr, extension_consumer consume,
                        const void *context) {
    uint64_t result = 0;
    if (!payloads || !count || nvtxt_private_is_excluded(inject_domain_of(domain))) {
        return consume(context, attr);
    }
    if (read_small(domain, payloads, count, attr, consume, context, false, &result)) {
        return result;
    }
    int saved = errno;
    struct nvtxt_attr more = *attr;
    char *room = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        errno = saved;
        read_small(domain, payloads, count, attr, consume, context, true, &result);
        return result;
    }
    read_into(domain, payloads, count, &more, room, LARGE);
    errno = saved;
    result = consume(context, &more);
    munmap(room, LARGE);
    errno = saved;
    return result;
}

// ---- For the library behind us ------------------------------------------------------------------

// Copies a payload to `*to`, with its handles, when it has some; `*to` and `*size` go on after it.
// Returns how many there were.
static size_t copy_payload(struct abi_payload *payload, const struct handles_in *found, char **to,
                           size_t *size) {
    if (!payload->data || payload->size > *size) {
        return 0;
    }
    memcpy(*to, payload->data, payload->size);
    size_t replaced = handles_in_replace(found, payload->data, payload->size, *to);
    if (replaced) {
        size_t used = (payload->size + 15) & ~(size_t)15;
        payload->data = *to;
        *to += used < *size ? used : *size;
        *size -= used < *size ? used : *size;
    }
    return replaced;
}

static const struct abi_payload *replace_handles(const struct handles_in *found,
                                                 const struct abi_payload *payloads, size_t count,
                                                 char *room, size_t size) {
    struct abi_payload *copies = (struct abi_payload *)room;
    size_t replaced = 0;
    if (count > size / sizeof(*copies)) {
        return NULL;
    }
    memcpy(copies, payloads, count * sizeof(*copies));
    room += count * sizeof(*copies);
    size -= count * sizeof(*copies);
    for (size_t i = 0; i < count; i++) {
        replaced += copy_payload(&copies[i], found, &room, &size);
    }
    return replaced == found->count ? copies : NULL;
}

// `payloads` are in `room` already when their handles were replaced.
static const struct abi_payload *replace_schemas(const struct abi_payload *payloads, size_t count,
                                                 void *room, size_t size) {
    struct abi_payload *copies = room;
    if (count > size / sizeof(*copies)) {
        return NULL;
    }
    memmove(copies, payloads, count * sizeof(*copies));
    for (size_t i = 0; i < count; i++) {
        copies[i].schema = registry_chained(REGISTRY_SCHEMA, copies[i].schema);
    }
    return copies;
}

const struct abi_payload *extension_chained(domain_handle *domain,
                                            const struct abi_payload *payloads, size_t count,
                                            void *room, size_t size) {
    struct handles_in found = {0};
    int saved = errno;
    handles_in_find(&found, domain, payloads, count);
    errno = saved;
    if (found.is_over) {
        return NULL;
    }
    const struct abi_payload *its =
        found.count ? replace_handles(&found, payloads, count, room, size) : payloads;
    return its && registry_has_chained() ? replace_schemas(its, count, room, size) : its;
}

// ---- Events -------------------------------------------------------------------------------------

#define ROOM 4096 // for payloads as the library behind us gets them

// Calls it as `type` with its handle of the domain, and its view of the payloads last.
#define CHAIN_PAYLOADS(callback, type, ...)                                                        \
    do {                                                                                           \
        abi_function next_ = chain_find_extension(ABI_EXTENSION_PAYLOAD, callback);                \
        if (__builtin_expect(next_ != NULL, 0)) {                                                  \
            _Alignas(16) char room_[ROOM];                                                         \
            const struct abi_payload *its_ =                                                       \
                extension_chained(domain, payloads, count, room_, sizeof(room_));                  \
            ((type)next_)(__VA_ARGS__, its_, its_ ? count : 0);                                    \
        }                                                                                          \
    } while (0)

#define CHAIN_EXTENSION(callback, type, ...)                                                       \
    do {                                                                                           \
        abi_function next_ = chain_find_extension(ABI_EXTENSION_PAYLOAD, callback);                \
        if (__builtin_expect(next_ != NULL, 0)) {                                                  \
            ((type)next_)(__VA_ARGS__);                                                            \
        }                                                                                          \
    } while (0)

typedef const struct abi_payload *payloads_view;

static uint64_t read_event(domain_handle *domain, payloads_view payloads, size_t count,
                           extension_consumer consume, const void *context) {
    struct nvtxt_attr attr = {.size = sizeof(attr)};
    return extension_read(domain, payloads, count, &attr, consume, context);
}

static uint64_t consume_mark(const void *domain, const struct nvtxt_attr *attr) {
    nvtxt_mark_ex(inject_domain_of(domain), attr);
    return 0;
}

static void mark(domain_handle *domain, payloads_view payloads, size_t count) {
    read_event(domain, payloads, count, consume_mark, domain);
    CHAIN_PAYLOADS(ABI_PAYLOAD_MARK, void (*)(void *, payloads_view, size_t),
                   inject_domain_chained(domain));
}

static uint64_t consume_push(const void *domain, const struct nvtxt_attr *attr) {
    return (uint64_t)nvtxt_push_ex(inject_domain_of(domain), attr);
}

static int range_push(domain_handle *domain, payloads_view payloads, size_t count) {
    int level = (int)read_event(domain, payloads, count, consume_push, domain);
    CHAIN_PAYLOADS(ABI_PAYLOAD_RANGE_PUSH, int (*)(void *, payloads_view, size_t),
                   inject_domain_chained(domain));
    return inject_level(level);
}

static uint64_t consume_pop(const void *context, const struct nvtxt_attr *attr) {
    return (uint64_t)nvtxt_pop_ex(inject_domain_of(context), attr->json);
}

static int range_pop(domain_handle *domain, payloads_view payloads, size_t count) {
    int level = (int)read_event(domain, payloads, count, consume_pop, domain);
    CHAIN_PAYLOADS(ABI_PAYLOAD_RANGE_POP, int (*)(void *, payloads_view, size_t),
                   inject_domain_chained(domain));
    return inject_level(level);
}

static uint64_t consume_start(const void *domain, const struct nvtxt_attr *attr) {
    return nvtxt_start_ex(inject_domain_of(domain), attr);
}

static uint64_t range_start(domain_handle *domain, payloads_view payloads, size_t count) {
    uint64_t id = read_event(domain, payloads, count, consume_start, domain);
    abi_function next = chain_find_extension(ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_RANGE_START);
    if (next) {
        _Alignas(16) char room[ROOM];
        payloads_view its = extension_chained(domain, payloads, count, room, sizeof(room));
        chain_range_put(id, ((uint64_t(*)(void *, payloads_view, size_t))next)(
                                inject_domain_chained(domain), its, its ? count : 0));
    }
    return id;
}

static uint64_t consume_end(const void *context, const struct nvtxt_attr *attr) {
    nvtxt_end_ex(*(const uint64_t *)context, attr->json);
    return 0;
}

static void range_end(domain_handle *domain, uint64_t id, payloads_view payloads, size_t count) {
    uint64_t its_id;
    read_event(domain, payloads, count, consume_end, &id);
    if (chain_is_loaded() && chain_range_take(id, &its_id)) {
        CHAIN_PAYLOADS(ABI_PAYLOAD_RANGE_END, void (*)(void *, uint64_t, payloads_view, size_t),
                       inject_domain_chained(domain), its_id);
    }
}

static uint8_t domain_is_enabled(domain_handle *domain) {
    CHAIN_EXTENSION(ABI_PAYLOAD_DOMAIN_IS_ENABLED, uint8_t(*)(void *),
                    inject_domain_chained(domain));
    return !nvtxt_private_is_excluded(inject_domain_of(domain));
}

// ---- Other clocks: for the library behind us ----------------------------------------------------

static int64_t timestamp_get(void) {
    abi_function next = chain_find_extension(ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_TIMESTAMP_GET);
    if (next) {
        ((int64_t(*)(void))next)();
    }
    return (int64_t)nvtxt_private_now();
}

static uint64_t time_domain_register(domain_handle *domain, const struct abi_time_domain *attr) {
    uint64_t its = registration_chained(ABI_PAYLOAD_TIME_DOMAIN_REGISTER, domain, attr);
    return its ?: attr && attr->id ? attr->id : registry_number(REGISTRY_SCOPE, 0);
}

static void timer_source(domain_handle *domain, uint64_t id, uint64_t flags, int64_t (*now)(void)) {
    CHAIN_EXTENSION(ABI_PAYLOAD_TIMER_SOURCE,
                    void (*)(void *, uint64_t, uint64_t, int64_t (*)(void)),
                    inject_domain_chained(domain), id, flags, now);
}

static void timer_source_data(domain_handle *domain, uint64_t id, uint64_t flags,
                              int64_t (*now)(void *), void *data) {
    CHAIN_EXTENSION(ABI_PAYLOAD_TIMER_SOURCE_DATA,
                    void (*)(void *, uint64_t, uint64_t, int64_t (*)(void *), void *),
                    inject_domain_chained(domain), id, flags, now, data);
}

static void time_sync_point(domain_handle *domain, uint64_t one, uint64_t two, int64_t time1,
                            int64_t time2) {
    CHAIN_EXTENSION(ABI_PAYLOAD_TIME_SYNC_POINT,
                    void (*)(void *, uint64_t, uint64_t, int64_t, int64_t),
                    inject_domain_chained(domain), one, two, time1, time2);
}

static void time_sync_table(domain_handle *domain, uint64_t from, uint64_t to, const void *points,
                            size_t count) {
    CHAIN_EXTENSION(ABI_PAYLOAD_TIME_SYNC_TABLE,
                    void (*)(void *, uint64_t, uint64_t, const void *, size_t),
                    inject_domain_chained(domain), from, to, points, count);
}

static void time_factor(domain_handle *domain, uint64_t from, uint64_t to, double slope,
                        int64_t time1, int64_t time2) {
    CHAIN_EXTENSION(ABI_PAYLOAD_TIME_FACTOR,
                    void (*)(void *, uint64_t, uint64_t, double, int64_t, int64_t),
                    inject_domain_chained(domain), from, to, slope, time1, time2);
}

static void event_submit(domain_handle *domain, payloads_view payloads, size_t count) {
    nvtxt_private_unsupported(1);
    CHAIN_PAYLOADS(ABI_PAYLOAD_EVENT_SUBMIT, void (*)(void *, payloads_view, size_t),
                   inject_domain_chained(domain));
}

// Puts handles into a copy of a batch, which is made when there are some. Returns false when that
// cannot be.
static bool replace_in_batch(domain_handle *domain, const struct abi_event_batch *batch,
                             size_t size, char **copy) {
    struct handles_in found;
    for (size_t at = 0; batch->size - at >= size; at += size) {
        const struct abi_payload event = {batch->schema, size, (const char *)batch->events + at};
        handles_in_find(&found, domain, &event, 1);
        if (found.count && !*copy) {
            char *map =
                mmap(NULL, batch->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (map == MAP_FAILED) {
                return false;
            }
            *copy = memcpy(map, batch->events, batch->size);
        }
        if (found.is_over || (found.count && handles_in_replace(&found, event.data, size,
                                                                *copy + at) != found.count)) {
            return false;
        }
    }
    return true;
}

static void chain_batch(abi_function next, domain_handle *domain,
                        const struct abi_event_batch *batch, size_t size) {
    struct abi_event_batch given;
    char *copy = NULL;
    int saved = errno;
    bool has_events = batch && batch->events && size && size <= batch->size;
    bool can_be = !has_events || replace_in_batch(domain, batch, size, &copy);
    bool changes = copy || (has_events && registry_has_chained());
    if (changes) {
        given = *batch;
        given.events = copy ?: given.events;
        given.schema = registry_chained(REGISTRY_SCHEMA, given.schema);
    }
    errno = saved;
    if (can_be) {
        ((void (*)(void *, const struct abi_event_batch *))next)(inject_domain_chained(domain),
                                                                 changes ? &given : batch);
    }
    if (copy) {
        saved = errno;
        munmap(copy, batch->size);
        errno = saved;
    }
}

static void event_batch_submit(domain_handle *domain, const struct abi_event_batch *batch) {
    size_t size = batch ? world_value_size(domain, batch->schema) : 0;
    nvtxt_private_unsupported(size && size <= batch->size ? batch->size / size : 1);
    abi_function next = chain_find_extension(ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_EVENT_BATCH_SUBMIT);
    if (next) {
        chain_batch(next, domain, batch, size);
    }
}

static const abi_function functions[ABI_PAYLOAD_COUNT] = {
    [ABI_PAYLOAD_SCHEMA_REGISTER] = (abi_function)registration_schema,
    [ABI_PAYLOAD_ENUM_REGISTER] = (abi_function)registration_enum,
    [ABI_PAYLOAD_MARK] = (abi_function)mark,
    [ABI_PAYLOAD_RANGE_PUSH] = (abi_function)range_push,
    [ABI_PAYLOAD_RANGE_POP] = (abi_function)range_pop,
    [ABI_PAYLOAD_RANGE_START] = (abi_function)range_start,
    [ABI_PAYLOAD_RANGE_END] = (abi_function)range_end,
    [ABI_PAYLOAD_DOMAIN_IS_ENABLED] = (abi_function)domain_is_enabled,
    [ABI_PAYLOAD_TIMESTAMP_GET] = (abi_function)timestamp_get,
    [ABI_PAYLOAD_TIME_DOMAIN_REGISTER] = (abi_function)time_domain_register,
    [ABI_PAYLOAD_TIMER_SOURCE] = (abi_function)timer_source,
    [ABI_PAYLOAD_TIMER_SOURCE_DATA] = (abi_function)timer_source_data,
    [ABI_PAYLOAD_SCOPE_REGISTER] = (abi_function)registration_scope,
    [ABI_PAYLOAD_TIME_SYNC_POINT] = (abi_function)time_sync_point,
    [ABI_PAYLOAD_TIME_SYNC_TABLE] = (abi_function)time_sync_table,
    [ABI_PAYLOAD_TIME_FACTOR] = (abi_function)time_factor,
    [ABI_PAYLOAD_EVENT_SUBMIT] = (abi_function)event_submit,
    [ABI_PAYLOAD_EVENT_BATCH_SUBMIT] = (abi_function)event_batch_submit,
};

// NVTX 3.1 has the same layouts, and fewer calls.
const struct extension_module extension_payload = {ABI_EXTENSION_PAYLOAD, ABI_PAYLOAD_COMPAT,
                                                   ABI_PAYLOAD_COUNT, functions, 0x0103};
