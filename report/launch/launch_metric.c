// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a result as the file has them: texts stay in the file, instances may be of another
// type than the value.
#include <stdio.h>

#include "protocol/base/origin.h"
#include "report/launch/launches.h"

static enum report_type type_of(const struct report_ncurep_value *value) {
    static const enum report_type types[] = {
        [REPORT_NCUREP_NONE] = REPORT_STRING, [REPORT_NCUREP_STRING] = REPORT_STRING,
        [REPORT_NCUREP_FLOAT] = REPORT_FLOAT, [REPORT_NCUREP_DOUBLE] = REPORT_DOUBLE,
        [REPORT_NCUREP_UINT32] = REPORT_U32,  [REPORT_NCUREP_UINT64] = REPORT_U64,
    };
    return types[value->kind];
}

// No value is a text without data.
static struct report_value take_value(const struct report_ncurep_value *value) {
    struct report_value copied = {.type = type_of(value)};
    switch (copied.type) {
    case REPORT_STRING:
        copied.string = value->string;
        break;
    case REPORT_FLOAT:
    case REPORT_DOUBLE:
        copied.real = value->real;
        break;
    case REPORT_U32:
    case REPORT_U64:
        copied.u64 = value->number;
        break;
    }
    return copied;
}

// An id that is a real number becomes a text: ids are texts and integers.
static int take_id(const struct report_ncurep_value *value, struct store_arena *arena,
                   struct report_id *id) {
    char digits[32];
    *id = (struct report_id){.is_text = true, .text = value->string};
    if (value->kind == REPORT_NCUREP_UINT32 || value->kind == REPORT_NCUREP_UINT64) {
        *id = (struct report_id){.number = value->number};
    } else if (value->kind == REPORT_NCUREP_FLOAT || value->kind == REPORT_NCUREP_DOUBLE) {
        int len = snprintf(digits, sizeof(digits), "%.17g", value->real);
        id->text.data = store_arena_copy(arena, digits, (size_t)len);
        id->text.len = (size_t)len;
        return id->text.data ? 0 : nvtxt_origin(-ENOMEM);
    }
    return 0;
}

static int take_instances(const struct report_ncurep_metric *metric, struct store_arena *arena,
                          struct report_metric *made) {
    struct report_wire cursor = report_ncurep_instances(metric);
    struct report_ncurep_value id, value;
    size_t size = metric->instance_count * sizeof(struct report_instance);
    struct report_instance *instances = store_arena_take(arena, size + 1, 8);
    made->instanced = metric->instance_count > 0;
    made->instances = instances;
    int r = instances ? 0 : nvtxt_origin(-ENOMEM);
    while (r == 0 && report_ncurep_next_instance(&cursor, &id, &value)) {
        struct report_instance *instance = &instances[made->instance_count++];
        instance->value = take_value(&value);
        r = take_id(&id, arena, &instance->id);
    }
    return r;
}

// Without a value of its own a metric has the type of its first instance.
static void take_type(const struct report_ncurep_metric *metric, struct report_metric *made) {
    made->value = take_value(&metric->value);
    made->type = made->value.type;
    if (metric->value.kind == REPORT_NCUREP_NONE) {
        made->na = "no value";
        made->type = made->instance_count > 0 ? made->instances[0].value.type : REPORT_STRING;
    }
}

int report_launches_metric(struct report_launches *launches, struct nvtxt_slice result,
                           const char *name, struct store_arena *arena,
                           struct report_metric *metric) {
    struct report_ncurep_metric read;
    report_by_name_set(&launches->metrics, result);
    if (!report_by_name_find(&launches->metrics, nvtxt_slice_of(name), &read)) {
        return REPORT_NOT_GIVEN;
    }
    *metric =
        (struct report_metric){.name = name, .unit = report_metric_unit(name), .description = ""};
    int r = take_instances(&read, arena, metric);
    take_type(&read, metric);
    return r;
}

// ---- Names --------------------------------------------------------------------------------------

// Which names a result has is asked of its metrics twice: to count them, and to copy them.
static size_t list_names(struct report_launches *launches, const char **list) {
    const struct report_ncurep_result result = {.bytes = launches->metrics.result};
    struct report_wire cursor = report_ncurep_metrics(&result);
    struct report_ncurep_metric metric;
    struct nvtxt_slice name;
    size_t count = 0;
    while (report_ncurep_next_metric(&cursor, &metric)) {
        if (!report_by_name_name(&launches->metrics, &metric, &name) ||
            memchr(name.data, '\0', name.len)) {
            continue;
        }
        if (list && !(list[count] = store_arena_copy(&launches->arena, name.data, name.len))) {
            return SIZE_MAX;
        }
        count++;
    }
    return count;
}

const char *const *report_launches_names(struct report_launches *launches,
                                         struct nvtxt_slice result, size_t *count) {
    report_by_name_set(&launches->metrics, result);
    if (launches->named != result.data) {
        store_arena_reset(&launches->arena, STORE_CHUNK_BYTES);
        launches->named = NULL;
        size_t names = list_names(launches, NULL);
        const char **list = store_arena_make(&launches->arena, (names + 1) * sizeof(*list));
        if (!list || list_names(launches, list) == SIZE_MAX) {
            return NULL;
        }
        launches->names = list;
        launches->name_count = names;
        launches->named = result.data;
    }
    *count = launches->name_count;
    return launches->names;
}
