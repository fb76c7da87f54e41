// SPDX-License-Identifier: Apache-2.0
//
// jansson reads the text; then one pass counts what has to have room, and a second one takes it. A
// file that is not as it was written is refused as a whole: half of a baseline would be a baseline
// of something else.
#include "report/diff/durations.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/json.h"
#include "protocol/base/origin.h"
#include "report/table/json.h"

#define SCHEMA "nvtxt-baseline/"
#define VERSION 1

static const char *const kinds[] = {"push/pop", "start/end"};

// ---- To a file ----------------------------------------------------------------------------------

void report_baseline_write(struct nvtxt_out *out, const struct report_durations *durations) {
    struct report_json json;
    report_json_init(&json, out);
    report_json_object(&json, NULL);
    report_json_text(&json, "schema", SCHEMA "1");
    report_json_bool(&json, "kernels", durations->of_kernels);
    report_json_array(&json, "names");
    for (size_t i = 0; i < durations->count; i++) {
        const struct report_durations_of *of = &durations->list[i];
        const unsigned __int128 self = of->side.self;
        report_json_object(&json, NULL);
        report_json_slice(&json, "name", of->name);
        report_json_slice(&json, "domain", of->domain.len > 0 ? of->domain : NVTXT_SLICE(""));
        report_json_text(&json, "kind", kinds[of->kind == REPORT_START_END]);
        report_json_uint(&json, "self", self > UINT64_MAX ? UINT64_MAX : (uint64_t)self);
        report_json_array(&json, "durations");
        for (size_t k = 0; k < of->side.count; k++) {
            report_json_uint(&json, NULL, of->values[k]);
        }
        report_json_end_array(&json);
        report_json_end_object(&json);
    }
    report_json_end_array(&json);
    report_json_end_object(&json);
    NVTXT_OUT_LITERAL(out, "\n");
}

// ---- From a file --------------------------------------------------------------------------------

struct reading {
    struct report_durations *durations;
    char *text;       // where the next text goes
    uint64_t *values; // ... the next duration
    char *sentence;
};

#define WRONG(reading, ...)                                                                        \
    (snprintf((reading)->sentence, REPORT_BASELINE_SENTENCE, __VA_ARGS__), NVTXT_WRONG)

// An integer that is not below 0; above what jansson takes for one it is digits.
static bool read_number(const json_t *json, uint64_t *number) {
    const char *digits = json_string_value(json);
    size_t len = digits ? json_string_length(json) : 0;
    *number = json_is_integer(json) ? (uint64_t)json_integer_value(json) : 0;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(digits[i] - '0'), number)) {
            return false;
        }
    }
    return digits ? len > 0 : json_is_integer(json) && json_integer_value(json) >= 0;
}

static struct nvtxt_slice take_text(struct reading *reading, const json_t *json) {
    struct nvtxt_slice text = {reading->text, json_string_length(json)};
    memcpy(reading->text, json_string_value(json), text.len);
    reading->text += text.len;
    return text;
}

static int read_name(struct reading *reading, const json_t *json, size_t index) {
    struct report_durations *durations = reading->durations;
    struct report_durations_of *of = &durations->list[index];
    const json_t *values = json_object_get(json, "durations");
    const char *kind = json_string_value(json_object_get(json, "kind"));
    const size_t count = json_array_size(values);
    uint64_t self;
    *of = (struct report_durations_of){
        .name = take_text(reading, json_object_get(json, "name")),
        .domain = take_text(reading, json_object_get(json, "domain")),
        .kind = kind && strcmp(kind, kinds[1]) == 0 ? REPORT_START_END : REPORT_PUSH_POP,
        .values = reading->values,
    };
    if (!kind || (strcmp(kind, kinds[0]) != 0 && strcmp(kind, kinds[1]) != 0)) {
        return WRONG(reading, "name %zu has no \"kind\" push/pop or start/end", index + 1);
    }
    if (count == 0 || !read_number(json_object_get(json, "self"), &self)) {
        return WRONG(reading, "name %zu has no \"durations\" or no \"self\"", index + 1);
    }
    of->side.self = self;
    for (size_t i = 0; i < count; i++) {
        if (!read_number(json_array_get(values, i), reading->values++)) {
            return WRONG(reading, "name %zu: duration %zu is no integer from 0 on", index + 1,
                         i + 1);
        }
    }
    report_durations_finish(durations, of, count);
    durations->count++;
    return 0;
}

// Makes room for what the names have. All of them have their texts then.
static int reserve(struct reading *reading, const json_t *names) {
    struct report_durations *durations = reading->durations;
    size_t bytes = 0, values = 0, count = json_array_size(names);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(names, i);
        const json_t *name = json_object_get(one, "name"), *domain = json_object_get(one, "domain");
        if (!json_is_string(name) || !json_is_string(domain)) {
            return WRONG(reading, "name %zu has no \"name\" or no \"domain\"", i + 1);
        }
        bytes += json_string_length(name) + json_string_length(domain);
        values += json_array_size(json_object_get(one, "durations"));
    }
    int r = report_durations_reserve(durations, count, values);
    durations->texts = malloc(bytes + 1);
    reading->text = durations->texts;
    reading->values = durations->values;
    return r == 0 && !durations->texts ? nvtxt_origin(-ENOMEM) : r;
}

static int check_order(struct reading *reading) {
    const struct report_durations *durations = reading->durations;
    report_durations_sort(reading->durations);
    for (size_t i = 1; i < durations->count; i++) {
        if (report_durations_compare(&durations->list[i - 1], &durations->list[i]) == 0) {
            return WRONG(reading, "it has a name twice");
        }
    }
    return 0;
}

static int read_all(struct reading *reading, const json_t *root) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const json_t *names = json_object_get(root, "names");
    const size_t len = sizeof(SCHEMA) - 1;
    if (!schema || strncmp(schema, SCHEMA, len) != 0) {
        return WRONG(reading, "it is no baseline: --save-baseline makes one");
    }
    if (strcmp(schema + len, "1") != 0) {
        return WRONG(reading,
                     "it is a baseline of version %.16s, and this program knows version %d",
                     schema + len, VERSION);
    }
    if (!json_is_array(names)) {
        return WRONG(reading, "it has no \"names\"");
    }
    reading->durations->of_kernels = json_is_true(json_object_get(root, "kernels"));
    int r = reserve(reading, names);
    for (size_t i = 0; r == 0 && i < json_array_size(names); i++) {
        r = read_name(reading, json_array_get(names, i), i);
    }
    return r ?: check_order(reading);
}

int report_baseline_read(struct report_durations *durations, struct nvtxt_slice text,
                         char sentence[REPORT_BASELINE_SENTENCE]) {
    struct reading reading = {.durations = durations, .sentence = sentence};
    json_t *root = NULL;
    json_error_t error;
    *durations = (struct report_durations){0};
    *sentence = '\0';
    int r = nvtxt_json_read(text, JSON_ALLOW_NUL, &root, &error);
    r = r == NVTXT_JSON_BAD
            ? WRONG(&reading, "it is no baseline: line %d: %.160s", error.line, error.text)
        : r != 0 ? r
                 : read_all(&reading, root);
    json_decref(root);
    return r;
}
