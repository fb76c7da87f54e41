// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a file (--metrics-from): JSON that jansson reads; then each metric is taken or left
// out by itself. What jansson takes for integers has 63 bits; larger ones are strings of digits.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/json.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "report/metric/defined.h"
#include "report/metric/program.h"

static const char *const type_words[] = {
    [REPORT_U32] = "u32",       [REPORT_U64] = "u64",       [REPORT_FLOAT] = "float",
    [REPORT_DOUBLE] = "double", [REPORT_STRING] = "string",
};

struct reading {
    struct report_definitions *definitions;
    struct report_expression_fault fault;
    const char *name; // of the metric that is read
};

#define BAD(reading, ...) report_definition_fault(&(reading)->fault, 0, "bad-metrics", __VA_ARGS__)

// Digits alone, that fit into 64 bits.
static bool digits(const json_t *json, uint64_t *number) {
    const char *text = json_string_value(json);
    size_t len = json_string_length(json);
    *number = 0;
    for (size_t i = 0; i < len; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (!nvtxt_char_is(text[i], NVTXT_CHAR_DIGIT) ||
            __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number)) {
            return false;
        }
    }
    return len > 0;
}

static int read_type(struct reading *reading, const json_t *json, enum report_type *type) {
    const char *word = json_string_value(json_object_get(json, "type"));
    for (size_t i = 0; word && i < sizeof(type_words) / sizeof(type_words[0]); i++) {
        if (strcmp(word, type_words[i]) == 0) {
            *type = (enum report_type)i;
            return 0;
        }
    }
    return BAD(reading, "metric '%.128s': \"type\" is u32, u64, float, double or string",
               reading->name);
}

static bool read_integer(const json_t *json, enum report_type type, uint64_t *number) {
    uint64_t most = type == REPORT_U32 ? UINT32_MAX : UINT64_MAX;
    if (json_is_integer(json)) {
        *number = (uint64_t)json_integer_value(json);
        return json_integer_value(json) >= 0 && *number <= most;
    }
    return json_is_string(json) && digits(json, number) && *number <= most;
}

static int read_value(struct reading *reading, const json_t *json, struct report_value *value) {
    if (value->type == REPORT_STRING) {
        const char *text = json_string_value(json);
        size_t len = json_string_length(json);
        value->string = (struct nvtxt_slice){
            text ? store_arena_copy(&reading->definitions->arena, text, len) : NULL, len};
        return value->string.data ? 0
               : text             ? nvtxt_origin(-ENOMEM)
                      : BAD(reading, "metric '%.128s': a value is no string", reading->name);
    }
    if (value->type == REPORT_FLOAT || value->type == REPORT_DOUBLE) {
        double real = json_number_value(json);
        value->real = value->type == REPORT_FLOAT ? (double)(float)real : real;
        return json_is_number(json)
                   ? 0
                   : BAD(reading, "metric '%.128s': a value is no number", reading->name);
    }
    return read_integer(json, value->type, &value->u64)
               ? 0
               : BAD(reading, "metric '%.128s': a value is no %s", reading->name,
                     type_words[value->type]);
}

// A string is a text, unless it is a number that only a string can hold.
static int read_id(struct reading *reading, const json_t *json, struct report_id *id) {
    *id = (struct report_id){.is_text = false};
    if (json_is_integer(json) && json_integer_value(json) >= 0) {
        id->number = (uint64_t)json_integer_value(json);
        return 0;
    }
    if (!json_is_string(json)) {
        return BAD(reading, "metric '%.128s': an id is a string or an integer from 0 on",
                   reading->name);
    }
    if (digits(json, &id->number) && id->number > INT64_MAX) {
        return 0;
    }
    id->number = 0;
    id->is_text = true;
    id->text.len = json_string_length(json);
    id->text.data =
        store_arena_copy(&reading->definitions->arena, json_string_value(json), id->text.len);
    return id->text.data ? 0 : nvtxt_origin(-ENOMEM);
}

struct seen {
    struct nvtxt_hash_node node;
    const struct report_id *id;
};

static int check_ids(struct reading *reading, const struct report_instance *instances,
                     size_t count) {
    struct nvtxt_hash table = {NULL, 0, 0};
    struct seen *all = malloc((count + 1) * sizeof(*all)), *found = NULL;
    int r = all ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; !r && i < count; i++) {
        const struct report_id *id = &instances[i].id;
        uint64_t hash = id->is_text ? nvtxt_hash_bytes(id->text) : nvtxt_hash_number(id->number);
        NVTXT_HASH_FIND(found, node, &table, hash, report_id_equal(found->id, id));
        all[i].id = id;
        r = found ? BAD(reading, "metric '%.128s': two instances have the same id", reading->name)
                  : nvtxt_hash_add(&table, &all[i].node, hash);
    }
    nvtxt_hash_deinit(&table);
    free(all);
    return r;
}

static int read_instances(struct reading *reading, const json_t *json,
                          struct report_metric *metric) {
    size_t count = json_array_size(json);
    struct report_instance *instances =
        store_arena_take(&reading->definitions->arena, (count + 1) * sizeof(*instances), 8);
    if (!json_is_array(json)) {
        return BAD(reading, "metric '%.128s': \"instances\" is no array", reading->name);
    }
    int r = instances ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; !r && i < count; i++) {
        const json_t *one = json_array_get(json, i);
        instances[i].value.type = metric->type;
        r = read_id(reading, json_object_get(one, "id"), &instances[i].id);
        r = r ?: read_value(reading, json_object_get(one, "value"), &instances[i].value);
    }
    metric->instanced = true;
    metric->instances = instances;
    metric->instance_count = count;
    return r ?: check_ids(reading, instances, count);
}

// The value that the file does not say: the sum of the instances.
static int sum_up(struct reading *reading, struct report_metric *metric) {
    const struct report_step step = {.kind = REPORT_STEP_REVISE_SUM};
    struct report_metric summed = {.name = metric->name};
    if (!metric->instanced || metric->type == REPORT_STRING) {
        return BAD(reading, "metric '%.128s': the value is missing", reading->name);
    }
    int r = report_apply(&summed, &step, metric, &reading->definitions->arena);
    *metric = r ? *metric : summed;
    return r;
}

static int read_metric(struct reading *reading, const json_t *json, struct report_metric *metric) {
    const json_t *unit = json_object_get(json, "unit");
    const json_t *value = json_object_get(json, "value");
    const json_t *instances = json_object_get(json, "instances");
    *metric = (struct report_metric){.name = reading->name, .unit = "", .description = ""};
    int r = read_type(reading, json, &metric->type);
    metric->value = (struct report_value){metric->type, .u64 = 0};
    if (!r && unit && !json_is_string(unit)) {
        r = BAD(reading, "metric '%.128s': \"unit\" is no string", reading->name);
    }
    if (!r && unit) {
        metric->unit = store_arena_copy(&reading->definitions->arena, json_string_value(unit),
                                        json_string_length(unit));
        r = metric->unit ? 0 : nvtxt_origin(-ENOMEM);
    }
    if (!r && instances && !json_is_null(instances)) {
        r = read_instances(reading, instances, metric);
    }
    if (!r) {
        r = value ? read_value(reading, value, &metric->value) : sum_up(reading, metric);
    }
    return r;
}

static int add_metric(struct reading *reading, const json_t *json) {
    const json_t *name = json_object_get(json, "name");
    struct report_defined *defined;
    reading->name = json_string_value(name);
    if (!reading->name) {
        return BAD(reading, "a metric without a name");
    }
    struct nvtxt_slice text = {reading->name, json_string_length(name)};
    int r = report_definitions_put(reading->definitions, text, &defined, &reading->fault);
    reading->fault.code = "bad-metrics";
    if (r) {
        return r;
    }
    reading->name = defined->name;
    defined->origin = REPORT_FROM_FILE;
    r = read_metric(reading, json, &defined->metric);
    if (r) {
        report_definitions_take_back(reading->definitions);
    }
    return r;
}

// ---- Places -------------------------------------------------------------------------------------

// Jansson keeps no places: this walks once over the text, which is valid, from metric to metric.
struct walk {
    struct nvtxt_slice json;
    size_t at, line_start;
    unsigned line;
    unsigned depth;
    bool named, inside, expects; // after "metrics":, in its array, where a metric begins
    size_t next;                 // the number of the metric that comes next
};

// From the quote to the last one. Names of members are in an object, here that of the file.
static void walk_string(struct walk *walk) {
    const char *data = walk->json.data;
    size_t start = walk->at++;
    while (walk->at < walk->json.len && data[walk->at] != '"') {
        walk->at += data[walk->at] == '\\' ? 2 : 1;
    }
    if (walk->depth == 1) {
        struct nvtxt_slice text = {data + start + 1, walk->at - start - 1};
        walk->named = nvtxt_slice_equal(text, NVTXT_SLICE("metrics"));
    }
}

static void walk_byte(struct walk *walk) {
    char byte = walk->json.data[walk->at];
    if (byte == '"') {
        walk_string(walk);
    } else if (byte == '[' || byte == '{') {
        bool begins = walk->named && walk->depth == 1 && byte == '[';
        walk->inside = walk->inside || begins;
        walk->expects = begins;
        walk->depth++;
    } else if (byte == ']' || byte == '}') {
        walk->depth--;
        walk->inside = walk->inside && walk->depth >= 2;
    } else if (byte == ',') {
        walk->named = walk->named && walk->depth != 1;
        walk->expects = walk->inside && walk->depth == 2;
    } else if (byte == '\n') {
        walk->line++;
        walk->line_start = walk->at + 1;
    }
    walk->at++;
}

// The line and column of the metric of that number; asked for in their order.
static void find_place(struct walk *walk, size_t index, struct report_expression_fault *fault) {
    for (; walk->at < walk->json.len; walk_byte(walk)) {
        bool blank = memchr(" \t\r\n", walk->json.data[walk->at], 4) != NULL;
        if (walk->expects && !blank) {
            walk->expects = false;
            if (walk->next++ == index) {
                fault->line = walk->line;
                fault->column = (unsigned)(walk->at - walk->line_start) + 1;
                return;
            }
        }
    }
}

int report_definitions_add_file(struct report_definitions *definitions, struct nvtxt_slice json,
                                void (*on_fault)(void *context,
                                                 const struct report_expression_fault *fault),
                                void *context) {
    struct reading reading = {.definitions = definitions};
    json_error_t error;
    json_t *root;
    int r = nvtxt_json_read(json, JSON_REJECT_DUPLICATES, &root, &error);
    if (r < 0) {
        return r;
    }
    const json_t *metrics = json_object_get(root, "metrics");
    if (!json_is_array(metrics)) {
        BAD(&reading, "%.200s",
            root ? "an object with the array \"metrics\" is expected" : error.text);
        reading.fault.line = root || error.line < 1 ? 1 : (unsigned)error.line;
        reading.fault.column = root || error.column < 1 ? 1 : (unsigned)error.column;
        on_fault(context, &reading.fault);
        json_decref(root);
        return NVTXT_WRONG;
    }
    struct walk walk = {.json = json, .line = 1};
    bool faults = false;
    r = 0;
    for (size_t i = 0; r >= 0 && i < json_array_size(metrics); i++) {
        r = add_metric(&reading, json_array_get(metrics, i));
        if (r > 0) {
            faults = true;
            find_place(&walk, i, &reading.fault);
            on_fault(context, &reading.fault);
        }
    }
    json_decref(root);
    return r < 0 ? r : faults ? NVTXT_WRONG : 0;
}
