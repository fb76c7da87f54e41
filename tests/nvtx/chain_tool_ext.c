// SPDX-License-Identifier: Apache-2.0
//
// The extensions of the tests' own injection. Its numbers are from 2^32 + 500 on, in the mode
// "small" from 500 on; in the log they are what is above 2^32, and a program's own number is "own".
// A payload of a program's own schema begins with a handle of a string, which is shown.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inject/ext/abi_ext.h"
#include "tests/nvtx/chain_tool.h"

#define SCHEMAS 500u
#define COUNTERS 600u
#define SCOPES 700u

static unsigned schemas, counters, scopes;

#define LABEL(number) label(number, (char[24]){0}, 24)

static const char *label(uint64_t number, char *text, size_t size) {
    if (number >= ABI_ID_OURS) {
        snprintf(text, size, "%" PRIu64, number - ABI_ID_OURS);
    } else {
        snprintf(text, size, number >= ABI_TYPE_OWN ? "own" : "type %" PRIu64, number);
    }
    return text;
}

static uint64_t give(uint64_t own, unsigned first, unsigned *count) {
    return own ? own : (is_mode("small") ? 0 : ABI_ID_OURS) + first + ++*count;
}

// ---- Payloads -----------------------------------------------------------------------------------

static uint64_t schema_register(void *domain, const struct abi_schema *schema) {
    char types[256] = "";
    for (size_t i = 0; schema && schema->entries && i < schema->count; i++) {
        snprintf(types + strlen(types), sizeof(types) - strlen(types), " %s",
                 LABEL(schema->entries[i].type));
    }
    uint64_t id = schema ? give(schema->id, SCHEMAS, &schemas) : 0;
    say("PayloadSchemaRegister %s%s: %s", SHOW(domain, DOMAINS), types, LABEL(id));
    return id;
}

static uint64_t enum_register(void *domain, const struct abi_enum *attr) {
    uint64_t id = attr ? give(attr->id, SCHEMAS, &schemas) : 0;
    say("PayloadEnumRegister %s: %s", SHOW(domain, DOMAINS), LABEL(id));
    return id;
}

static uint64_t scope_register(void *domain, const struct abi_scope *attr) {
    uint64_t id = attr ? give(attr->id, SCOPES, &scopes) : 0;
    say("ScopeRegister %s %s", SHOW(domain, DOMAINS), LABEL(id));
    return id;
}

static void say_payloads(const char *call, void *domain, uint64_t id,
                         const struct abi_payload *payloads, size_t count) {
    char text[256] = "";
    for (size_t i = 0; payloads && i < count; i++) {
        const struct abi_payload *payload = &payloads[i];
        size_t len = strlen(text);
        snprintf(text + len, sizeof(text) - len, " %s", LABEL(payload->schema));
        if (payload->data && payload->schema >= ABI_TYPE_OWN && payload->schema < ABI_ID_OURS &&
            payload->size > sizeof(void *) && payload->size == 24 + sizeof(void *) - 8) {
            const void *handle;
            memcpy(&handle, payload->data, sizeof(handle));
            len = strlen(text);
            snprintf(text + len, sizeof(text) - len, " %s", SHOW(handle, STRINGS));
        }
    }
    char number[24] = "";
    if (id) {
        snprintf(number, sizeof(number), " %" PRIu64, id);
    }
    say("%s %s%s%s", call, SHOW(domain, DOMAINS), number, text);
}

static void mark(void *domain, const struct abi_payload *payloads, size_t count) {
    say_payloads("MarkPayload", domain, 0, payloads, count);
}
static int push(void *domain, const struct abi_payload *payloads, size_t count) {
    say_payloads("RangePushPayload", domain, 0, payloads, count);
    return 40;
}
static int pop(void *domain, const struct abi_payload *payloads, size_t count) {
    say_payloads("RangePopPayload", domain, 0, payloads, count);
    return 40;
}
static uint64_t start(void *domain, const struct abi_payload *payloads, size_t count) {
    say_payloads("RangeStartPayload", domain, 0, payloads, count);
    return 910001;
}
static void end(void *domain, uint64_t id, const struct abi_payload *payloads, size_t count) {
    say_payloads("RangeEndPayload", domain, id, payloads, count);
}

static uint8_t is_enabled(void *domain) {
    say("DomainIsEnabled %s", SHOW(domain, DOMAINS));
    return 0;
}

static int64_t timestamp(void) {
    say("TimestampGet");
    return 1;
}

static void event_submit(void *domain, const struct abi_payload *payloads, size_t count) {
    say_payloads("EventSubmit", domain, 0, payloads, count);
}

static void batch_submit(void *domain, const struct abi_event_batch *batch) {
    say("EventBatchSubmit %s %s %zu", SHOW(domain, DOMAINS), LABEL(batch ? batch->schema : 0),
        batch ? batch->size : 0);
}

static const abi_function payload_functions[ABI_PAYLOAD_COUNT] = {
    [ABI_PAYLOAD_SCHEMA_REGISTER] = (abi_function)schema_register,
    [ABI_PAYLOAD_ENUM_REGISTER] = (abi_function)enum_register,
    [ABI_PAYLOAD_MARK] = (abi_function)mark,
    [ABI_PAYLOAD_RANGE_PUSH] = (abi_function)push,
    [ABI_PAYLOAD_RANGE_POP] = (abi_function)pop,
    [ABI_PAYLOAD_RANGE_START] = (abi_function)start,
    [ABI_PAYLOAD_RANGE_END] = (abi_function)end,
    [ABI_PAYLOAD_DOMAIN_IS_ENABLED] = (abi_function)is_enabled,
    [ABI_PAYLOAD_TIMESTAMP_GET] = (abi_function)timestamp,
    [ABI_PAYLOAD_SCOPE_REGISTER] = (abi_function)scope_register,
    [ABI_PAYLOAD_EVENT_SUBMIT] = (abi_function)event_submit,
    [ABI_PAYLOAD_EVENT_BATCH_SUBMIT] = (abi_function)batch_submit,
};

// ---- Counters -----------------------------------------------------------------------------------

static uint64_t counter_register(void *domain, const struct abi_counter *attr) {
    uint64_t id = attr && attr->size >= sizeof(*attr) ? give(attr->id, COUNTERS, &counters) : 0;
    say("CounterRegister %s %s: %s", SHOW(domain, DOMAINS),
        id && attr->name ? attr->name : "(null)", LABEL(id));
    return id;
}
static void sample_i64(void *domain, uint64_t id, int64_t value) {
    say("CounterSampleInt64 %s %s %" PRId64, SHOW(domain, DOMAINS), LABEL(id), value);
}
static void sample_f64(void *domain, uint64_t id, double value) {
    say("CounterSampleFloat64 %s %s %g", SHOW(domain, DOMAINS), LABEL(id), value);
}
static void sample(void *domain, uint64_t id, const void *value, size_t size) {
    say("CounterSample %s %s %d %zu", SHOW(domain, DOMAINS), LABEL(id), value != NULL, size);
}
static void no_value(void *domain, uint64_t id, uint8_t reason) {
    say("CounterSampleNoValue %s %s %u", SHOW(domain, DOMAINS), LABEL(id), reason);
}
static void counter_batch(void *domain, const struct abi_counter_batch *batch) {
    say("CounterBatchSubmit %s %s %zu", SHOW(domain, DOMAINS), LABEL(batch ? batch->id : 0),
        batch ? batch->size : 0);
}

static const abi_function counter_functions[ABI_COUNTER_COUNT] = {
    (abi_function)counter_register, (abi_function)sample_i64, (abi_function)sample_f64,
    (abi_function)sample,           (abi_function)no_value,   (abi_function)counter_batch,
};

// ---- Memory -------------------------------------------------------------------------------------

static void *heap_register(void *domain, const struct abi_heap *heap) {
    say("MemHeapRegister %s %d", SHOW(domain, DOMAINS), heap != NULL);
    return heap && heap->type == ABI_MEMORY_VIRTUAL ? NULL : new_handle(HEAPS);
}
static void heap_reset(void *domain, void *heap) {
    say("MemHeapReset %s %d", SHOW(domain, DOMAINS), heap != NULL);
}
static void regions_name(void *domain, const struct abi_region_names *names) {
    say("MemRegionsName %s %zu", SHOW(domain, DOMAINS), names ? names->count : 0);
    for (size_t i = 0; names && names->size >= sizeof(*names) && i < names->count; i++) {
        char text[64];
        say("  %s", message((int32_t)names->elements[i].message_type, names->elements[i].message,
                            text, sizeof(text)));
    }
}
static void *permissions_create(void *domain, int32_t flags) {
    say("MemPermissionsCreate %s %d", SHOW(domain, DOMAINS), flags);
    return new_handle(HEAPS);
}
static void permissions_bind(void *domain, void *permissions, uint32_t scope, uint32_t flags) {
    say("MemPermissionsBind %s %s %u %u", SHOW(domain, DOMAINS), SHOW(permissions, HEAPS), scope,
        flags);
}

static const abi_function mem_functions[ABI_MEM_COUNT] = {
    [ABI_MEM_HEAP_REGISTER] = (abi_function)heap_register,
    [ABI_MEM_HEAP_RESET] = (abi_function)heap_reset,
    [ABI_MEM_REGIONS_NAME] = (abi_function)regions_name,
    [ABI_MEM_PERMISSIONS_CREATE] = (abi_function)permissions_create,
    [ABI_MEM_PERMISSIONS_BIND] = (abi_function)permissions_bind,
};

void chain_tool_ext_hook(unsigned module, intptr_t *slots) {
    const abi_function *functions = module == ABI_EXTENSION_PAYLOAD    ? payload_functions
                                    : module == ABI_EXTENSION_COUNTERS ? counter_functions
                                                                       : mem_functions;
    unsigned count = module == ABI_EXTENSION_PAYLOAD    ? ABI_PAYLOAD_COUNT
                     : module == ABI_EXTENSION_COUNTERS ? ABI_COUNTER_COUNT
                                                        : ABI_MEM_COUNT;
    for (unsigned i = 0; i < count; i++) {
        if (functions[i]) {
            __atomic_store_n(&slots[i], (intptr_t)functions[i], __ATOMIC_RELEASE);
        }
    }
}
