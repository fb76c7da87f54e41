// SPDX-License-Identifier: Apache-2.0
//
// A counter is kept with the string of its name, so a sample is a look-up and a mark. What is known
// of a counter besides goes into its row as JSON; one that says the same as before is the same
// counter. A sample of a group bears JSON, one of a number a value.
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "inject/chain.h"
#include "inject/ext/extension.h"
#include "inject/ext/registry.h"
#include "inject/ext/world.h"
#include "inject/schema/json_out.h"
#include "inject/schema/schema.h"
#include "lib/private.h"

#define ATTRIBUTES_MOST 8192u // bytes of JSON about a counter
#define NAME_MOST 1024u
#define SEMANTICS_MOST 64 // of a list, which may be a circle

typedef const struct inject_domain domain_handle;

struct counter {
    const struct nvtxt_string *string; // NULL: libnvtxt keeps no more of them
    const struct nvtxt_domain *domain;
    uint64_t number, schema;
    size_t len;  // of what follows
    char name[]; // and behind its NUL the JSON of its row, "{}" when that says nothing
};

#define CHAIN_COUNTERS(callback, type, ...)                                                        \
    do {                                                                                           \
        abi_function next_ = chain_find_extension(ABI_EXTENSION_COUNTERS, callback);               \
        if (__builtin_expect(next_ != NULL, 0)) {                                                  \
            ((type)next_)(inject_domain_chained(domain), __VA_ARGS__);                             \
        }                                                                                          \
    } while (0)

// ---- What is known of a counter -----------------------------------------------------------------

static void add_limit(struct json_out *out, int64_t type, union abi_limit limit) {
    if (type == ABI_LIMIT_I64) {
        json_out_i64(out, limit.i64);
    } else if (type == ABI_LIMIT_U64) {
        json_out_u64(out, limit.u64);
    } else {
        json_out_f64(out, limit.f64);
    }
}

static void add_flags(struct json_out *out, uint64_t flags, bool *has_comma) {
    static const char *const values[] = {NULL, "absolute", "delta", "delta since start"};
    static const char *const draws[8] = {NULL, "point", "since last", "until next", "linear"};
    const char *value = values[flags >> ABI_COUNTER_VALUE_SHIFT & 3];
    const char *draw = draws[flags >> ABI_COUNTER_DRAW_SHIFT & 7];
    if (flags & ABI_COUNTER_NORMALIZE) {
        json_out_key(out, "normalize", has_comma);
        json_out_string(out, "true");
    }
    if (value) {
        json_out_key(out, "value", has_comma);
        json_out_text(out, value);
    }
    if (draw) {
        json_out_key(out, "interpolation", has_comma);
        json_out_text(out, draw);
    }
}

static void add_limits(struct json_out *out, const struct abi_counter_semantics *semantics,
                       bool *has_comma) {
    int64_t type = semantics->limit_type;
    if (type < ABI_LIMIT_I64 || type > ABI_LIMIT_F64) {
        return;
    }
    if (semantics->flags & ABI_COUNTER_LIMIT_MIN) {
        json_out_key(out, "min", has_comma);
        add_limit(out, type, semantics->min);
    }
    if (semantics->flags & ABI_COUNTER_LIMIT_MAX) {
        json_out_key(out, "max", has_comma);
        add_limit(out, type, semantics->max);
    }
}

static void add_scale(struct json_out *out, uint64_t numerator, uint64_t denominator,
                      bool *has_comma) {
    if (numerator && denominator && (numerator != 1 || denominator != 1)) {
        json_out_key(out, "scale", has_comma);
        json_out_string(out, "[");
        json_out_u64(out, numerator);
        json_out_string(out, ",");
        json_out_u64(out, denominator);
        json_out_string(out, "]");
    }
}

static void add_semantics(struct json_out *out, const struct abi_counter_semantics *semantics,
                          bool *has_comma) {
    if (semantics->head.size < sizeof(*semantics)) {
        return;
    }
    if (semantics->unit) {
        json_out_key(out, "unit", has_comma);
        json_out_text(out, semantics->unit);
    }
    add_scale(out, semantics->numerator, semantics->denominator, has_comma);
    add_limits(out, semantics, has_comma);
    add_flags(out, semantics->flags, has_comma);
}

static const struct abi_counter_semantics *find_semantics(const struct abi_semantics *list) {
    for (int i = 0; list && i < SEMANTICS_MOST; i++, list = list->next) {
        if (list->id == ABI_SEMANTICS_COUNTER) {
            return (const struct abi_counter_semantics *)list;
        }
    }
    return NULL;
}

static void describe(domain_handle *domain, const struct abi_counter *attr, struct json_out *out) {
    bool has_comma = false;
    json_out_string(out, "{");
    if (ABI_HAS(attr, description) && attr->description) {
        json_out_key(out, "description", &has_comma);
        json_out_text(out, attr->description);
    }
    const struct abi_counter_semantics *semantics =
        ABI_HAS(attr, semantics) ? find_semantics(attr->semantics) : NULL;
    if (semantics) {
        add_semantics(out, semantics, &has_comma);
    }
    const char *scope = ABI_HAS(attr, scope) ? world_scope(domain, attr->scope) : NULL;
    if (scope) {
        json_out_key(out, "scope", &has_comma);
        json_out_text(out, scope);
    }
    json_out_string(out, "}");
}

// ---- Registration -------------------------------------------------------------------------------

// "counter 16777216", for one that nobody named or registered.
static const char *number_name(uint64_t number, char *name, size_t size) {
    struct json_out out = {name, size - 1, 0, false};
    json_out_string(&out, "counter ");
    json_out_u64(&out, number);
    name[out.len] = '\0';
    return name;
}

// What a counter says, as it is kept: its name and JSON.
struct counter_text {
    size_t len, name_len;
    char text[NAME_MOST + 1 + ATTRIBUTES_MOST + 1];
};

static void read_text(struct counter_text *text, domain_handle *domain,
                      const struct abi_counter *attr, const char *name) {
    int saved = errno;
    text->name_len = strnlen(name, NAME_MOST);
    memcpy(text->text, name, text->name_len);
    text->text[text->name_len] = '\0';
    char *json = text->text + text->name_len + 1;
    struct json_out out = {json, ATTRIBUTES_MOST, 0, false};
    describe(domain, attr, &out);
    if (out.is_full) {
        out.len = strlen("{}");
        memcpy(json, "{}", out.len);
    }
    json[out.len] = '\0';
    text->len = text->name_len + 1 + out.len + 1;
    errno = saved;
}

static bool is_counter(const struct counter *counter, domain_handle *domain, uint64_t schema,
                       const struct counter_text *text) {
    return counter && counter->domain == inject_domain_of(domain) && counter->schema == schema &&
           counter->len == text->len && memcmp(counter->name, text->text, text->len) == 0;
}

static struct counter *new_counter(domain_handle *domain, uint64_t schema,
                                   const struct counter_text *text) {
    struct counter *counter =
        registry_has_room(REGISTRY_COUNTER) ? inject_alloc(sizeof(*counter) + text->len) : NULL;
    if (counter) {
        memcpy(counter->name, text->text, text->len);
        counter->len = text->len;
        counter->string = nvtxt_string_get(counter->name);
        counter->domain = inject_domain_of(domain);
        counter->schema = schema;
    }
    return counter;
}

// What the library behind us gives; 0 without one.
static uint64_t chain_register(domain_handle *domain, const struct abi_counter *attr) {
    typedef uint64_t (*function)(void *, const struct abi_counter *);
    abi_function next = chain_find_extension(ABI_EXTENSION_COUNTERS, ABI_COUNTER_REGISTER);
    struct abi_counter given;
    if (next && attr && registry_has_chained() && ABI_HAS(attr, schema)) {
        size_t size = attr->size < sizeof(given) ? attr->size : sizeof(given);
        memcpy(&given, attr, size);
        given.size = size;
        given.schema = registry_chained(REGISTRY_SCHEMA, attr->schema);
        attr = &given;
    }
    return next ? ((function)next)(inject_domain_chained(domain), attr) : 0;
}

static uint64_t counter_register(domain_handle *domain, const struct abi_counter *attr) {
    uint64_t its = chain_register(domain, attr);
    if (!attr) {
        return its;
    }
    uint64_t own = ABI_HAS(attr, id) ? attr->id : 0,
             schema = ABI_HAS(attr, schema) ? attr->schema : 0;
    char spare[40];
    const char *name = ABI_HAS(attr, name) ? attr->name : NULL;
    if (!name || !*name) { // not by a number that the library behind us gave: rows are the same
        static _Atomic uint64_t nameless;
        name = number_name(own ?: ++nameless, spare, sizeof(spare));
    }
    struct counter_text text;
    read_text(&text, domain, attr, name);
    uint64_t content = registry_content(domain, text.text, text.len) ^ (uint32_t)schema;
    const struct counter *known = own ? registry_find(REGISTRY_COUNTER, domain, own)
                                      : registry_find(REGISTRY_COUNTER_CONTENT, NULL, content);
    if (is_counter(known, domain, schema, &text)) {
        return known->number;
    }
    struct counter *counter = new_counter(domain, schema, &text);
    if (!counter) {
        return own ?: registry_lost(REGISTRY_COUNTER, its);
    }
    counter->number = own ?: registry_number(REGISTRY_COUNTER, its);
    if (registry_put(REGISTRY_COUNTER, domain, counter->number, counter)) {
        const char *json = counter->name + text.name_len + 1;
        nvtxt_private_name_counter(inject_domain_of(domain), counter->name,
                                   strcmp(json, "{}") == 0 ? NULL : json);
        if (!own) {
            registry_put(REGISTRY_COUNTER_CONTENT, NULL, content, counter);
        }
    }
    return counter->number;
}

// ---- Samples ------------------------------------------------------------------------------------

static void mark(domain_handle *domain, const struct counter *counter, uint64_t number,
                 struct nvtxt_attr *attr) {
    char spare[40];
    if (!counter && number >= ABI_ID_OURS) { // of a counter that found no room
        nvtxt_private_unsupported(1);
        return;
    }
    attr->size = sizeof(*attr);
    attr->string = counter ? counter->string : NULL;
    attr->message = counter ? counter->name : number_name(number, spare, sizeof(spare));
    nvtxt_mark_ex(inject_domain_of(domain), attr);
}

static const struct counter *find_counter(domain_handle *domain, uint64_t number) {
    return registry_find(REGISTRY_COUNTER, domain, number);
}

static uint64_t its_number(uint64_t number) {
    return registry_chained(REGISTRY_COUNTER, number);
}

static void sample_i64(domain_handle *domain, uint64_t number, int64_t value) {
    struct nvtxt_attr attr = {.value_kind = NVTXT_I64, .value.i64 = value};
    mark(domain, find_counter(domain, number), number, &attr);
    CHAIN_COUNTERS(ABI_COUNTER_SAMPLE_I64, void (*)(void *, uint64_t, int64_t), its_number(number),
                   value);
}

static void sample_f64(domain_handle *domain, uint64_t number, double value) {
    struct nvtxt_attr attr = {.value_kind = NVTXT_F64, .value.f64 = value};
    mark(domain, find_counter(domain, number), number, &attr);
    CHAIN_COUNTERS(ABI_COUNTER_SAMPLE_F64, void (*)(void *, uint64_t, double), its_number(number),
                   value);
}

static void sample_no_value(domain_handle *domain, uint64_t number, uint8_t reason) {
    struct nvtxt_attr attr = {.value_kind = NVTXT_NO_VALUE};
    mark(domain, find_counter(domain, number), number, &attr);
    CHAIN_COUNTERS(ABI_COUNTER_SAMPLE_NO_VALUE, void (*)(void *, uint64_t, uint8_t),
                   its_number(number), reason);
}

struct sample {
    domain_handle *domain;
    const struct counter *counter;
    uint64_t number;
};

static uint64_t consume_sample(const void *context, const struct nvtxt_attr *read) {
    const struct sample *sample = context;
    struct nvtxt_attr attr = *read;
    mark(sample->domain, sample->counter, sample->number, &attr);
    return 0;
}

// A number goes into a value, a group into JSON.
static void record(const struct sample *sample, const void *value, size_t size) {
    struct nvtxt_attr attr = {.size = sizeof(attr)};
    uint64_t schema = sample->counter ? sample->counter->schema : 0;
    if (value && size > 0 && size == schema_type_shape(schema).size &&
        scalar_value(schema, value, &attr)) {
        mark(sample->domain, sample->counter, sample->number, &attr);
        return;
    }
    const struct abi_payload payload = {schema, size, value};
    extension_read(sample->domain, &payload, 1, &attr, consume_sample, sample);
}

static void sample_group(domain_handle *domain, uint64_t number, const void *value, size_t size) {
    const struct sample sample = {domain, find_counter(domain, number), number};
    record(&sample, value, size);
    CHAIN_COUNTERS(ABI_COUNTER_SAMPLE, void (*)(void *, uint64_t, const void *, size_t),
                   its_number(number), value, size);
}

static void record_batch(domain_handle *domain, const struct abi_counter_batch *batch) {
    const struct sample sample = {domain, find_counter(domain, batch->id), batch->id};
    size_t size = sample.counter ? world_value_size(domain, sample.counter->schema) : 0;
    if (!batch->samples || !size || size > batch->size) {
        record(&sample, batch->samples, batch->size);
        return;
    }
    for (size_t at = 0; batch->size - at >= size; at += size) {
        record(&sample, (const char *)batch->samples + at, size);
    }
}

static void batch_submit(domain_handle *domain, const struct abi_counter_batch *batch) {
    if (batch) {
        record_batch(domain, batch);
    }
    struct abi_counter_batch given;
    const struct abi_counter_batch *its = batch;
    if (batch && registry_has_chained()) {
        given = *batch;
        given.id = its_number(batch->id);
        its = &given;
    }
    CHAIN_COUNTERS(ABI_COUNTER_BATCH_SUBMIT, void (*)(void *, const struct abi_counter_batch *),
                   its);
}

static const abi_function functions[ABI_COUNTER_COUNT] = {
    [ABI_COUNTER_REGISTER] = (abi_function)counter_register,
    [ABI_COUNTER_SAMPLE_I64] = (abi_function)sample_i64,
    [ABI_COUNTER_SAMPLE_F64] = (abi_function)sample_f64,
    [ABI_COUNTER_SAMPLE] = (abi_function)sample_group,
    [ABI_COUNTER_SAMPLE_NO_VALUE] = (abi_function)sample_no_value,
    [ABI_COUNTER_BATCH_SUBMIT] = (abi_function)batch_submit,
};

const struct extension_module extension_counters = {
    ABI_EXTENSION_COUNTERS, ABI_COUNTERS_COMPAT, ABI_COUNTER_COUNT, functions, ABI_COUNTERS_COMPAT};
