// SPDX-License-Identifier: Apache-2.0
//
// Everything is read in the file when it is asked for. Of the action that was asked for last an
// index of its metrics is kept: a script asks for one after the other.
#include "report/serve/profiled.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/ncurep/by_name.h"
#include "report/ncurep/matching.h"
#include "report/ncurep/state.h"
#include "report/render/ncurep/state_json.h"

struct profiled {
    struct report_objects objects;
    struct report_ncurep *profile; // borrowed
    struct report_by_name metrics;
    struct report_state state;
    struct report_metric metric; // the last one that was asked for
};

static const struct profiled *profiled_of(const struct report_objects *objects) {
    return (const struct profiled *)objects;
}

static size_t count_actions(const struct report_objects *objects, size_t range) {
    return profiled_of(objects)->profile->ranges[range].count;
}

static int name_range(const struct report_objects *objects, size_t range, struct store_arena *arena,
                      struct nvtxt_slice *name) {
    const struct report_ncurep_range *one = &profiled_of(objects)->profile->ranges[range];
    char made[80];
    int len = snprintf(made, sizeof(made), "context %llu, stream %llu",
                       (unsigned long long)one->context, (unsigned long long)one->stream);
    *name = (struct nvtxt_slice){store_arena_copy(arena, made, (size_t)len), (size_t)len};
    return name->data ? 0 : -ENOMEM;
}

static void read_result(const struct report_objects *objects, size_t range, size_t action,
                        struct report_ncurep_result *result) {
    report_ncurep_result_read(report_ncurep_action(profiled_of(objects)->profile, range, action),
                              result);
}

static struct nvtxt_slice name_action(const struct report_objects *objects, size_t range,
                                      size_t action, enum report_base base) {
    struct report_ncurep_result result;
    read_result(objects, range, action, &result);
    return base == REPORT_BASE_DEMANGLED ? result.demangled
           : base == REPORT_BASE_MANGLED ? result.mangled
                                         : result.function;
}

// ---- Metrics ------------------------------------------------------------------------------------

static const struct report_by_name *metrics_of(const struct report_objects *objects, size_t range,
                                               size_t action) {
    struct profiled *profiled = (struct profiled *)objects;
    report_by_name_set(&profiled->metrics, report_ncurep_action(profiled->profile, range, action));
    return &profiled->metrics;
}

static int list_metrics(const struct report_objects *objects, size_t range, size_t action,
                        struct store_arena *arena, const char *const **names) {
    const struct report_by_name *metrics = metrics_of(objects, range, action);
    struct report_ncurep_result result;
    struct report_ncurep_metric metric;
    struct nvtxt_slice name;
    size_t count = 0;
    read_result(objects, range, action, &result);
    struct report_wire cursor = report_ncurep_metrics(&result);
    while (report_ncurep_next_metric(&cursor, &metric)) {
        count += report_by_name_name(metrics, &metric, &name);
    }
    const char **list = store_arena_take(arena, (count + 1) * sizeof(*list), sizeof(*list));
    if (!list) {
        return -ENOMEM;
    }
    *names = list;
    cursor = report_ncurep_metrics(&result);
    while (report_ncurep_next_metric(&cursor, &metric)) {
        if (report_by_name_name(metrics, &metric, &name) &&
            !(*list++ = store_arena_copy(arena, name.data, name.len))) {
            return -ENOMEM;
        }
    }
    *list = NULL;
    return 0;
}

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
    struct report_value taken = {.type = type_of(value)};
    switch (taken.type) {
    case REPORT_STRING:
        taken.string = value->string;
        break;
    case REPORT_FLOAT:
    case REPORT_DOUBLE:
        taken.real = value->real;
        break;
    default:
        taken.u64 = value->number;
    }
    return taken;
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
        return id->text.data ? 0 : -ENOMEM;
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
    int result = instances ? 0 : -ENOMEM;
    while (result == 0 && report_ncurep_next_instance(&cursor, &id, &value)) {
        struct report_instance *instance = &instances[made->instance_count++];
        instance->value = take_value(&value);
        result = take_id(&id, arena, &instance->id);
    }
    return result;
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

static int get_metric(const struct report_objects *objects, size_t range, size_t action,
                      const char *name, struct store_arena *arena,
                      const struct report_metric **metric) {
    struct report_ncurep_metric read;
    *metric = NULL;
    if (!report_by_name_find(metrics_of(objects, range, action), nvtxt_slice_of(name), &read)) {
        return 0;
    }
    struct report_metric *made = &((struct profiled *)objects)->metric;
    *made = (struct report_metric){.name = name, .unit = "", .description = ""};
    int result = take_instances(&read, arena, made);
    take_type(&read, made);
    *metric = made;
    return result;
}

// ---- Filters and states -------------------------------------------------------------------------

// Whether filters take a result: REPORT_OBJECTS_WRONG, when one is too costly.
static int take_result(struct profiled *profiled, struct report_matching *matching, size_t range,
                       size_t action, struct report_fault *fault, bool *taken) {
    struct report_ncurep_result result;
    read_result(&profiled->objects, range, action, &result);
    int rc = report_state_open(&profiled->state, &result);
    rc = rc ? rc : report_matching_take(matching, &profiled->state, fault, taken);
    return rc > 0 ? REPORT_OBJECTS_WRONG : rc;
}

static int list_by_nvtx(struct report_objects *objects, size_t range,
                        const struct report_selection *filters, const char *key,
                        struct store_arena *arena, const uint32_t **actions, size_t *count,
                        struct report_fault *fault) {
    struct profiled *profiled = (struct profiled *)objects;
    struct report_matching matching;
    size_t all = count_actions(objects, range);
    uint32_t *list = store_arena_take(arena, (all + 1) * sizeof(*list), sizeof(*list));
    (void)key;
    int result = report_matching_init(&matching, filters);
    result = list ? result : -ENOMEM;
    *actions = list;
    *count = 0;
    for (size_t i = 0; i < all && result == 0; i++) {
        bool taken = false;
        result = take_result(profiled, &matching, range, i, fault, &taken);
        if (taken) {
            list[(*count)++] = (uint32_t)i;
        }
    }
    report_matching_deinit(&matching);
    return result;
}

static int compare_domains(const void *a, const void *b, void *context) {
    struct report_state_domain one, other;
    report_state_get_domain(context, *(const uint32_t *)a, &one);
    report_state_get_domain(context, *(const uint32_t *)b, &other);
    return one.id < other.id ? -1 : one.id > other.id;
}

static int write_state(struct report_objects *objects, size_t range, size_t action,
                       struct store_arena *arena, struct report_json *json) {
    struct report_state *state = &((struct profiled *)objects)->state;
    struct report_ncurep_result result;
    struct report_state_domain domain;
    size_t cursor = 0, count = 0;
    read_result(objects, range, action, &result);
    int rc = report_state_open(state, &result);
    uint32_t *domains =
        store_arena_take(arena, (state->domain_count + 1) * sizeof(*domains), sizeof(*domains));
    if (rc != 0 || !domains) {
        return rc ? rc : -ENOMEM;
    }
    while (report_state_next_domain(state, &cursor, &domain)) {
        domains[count++] = domain.number;
    }
    qsort_r(domains, count, sizeof(*domains), compare_domains, state);
    report_json_array(json, "domains");
    for (size_t i = 0; i < count; i++) {
        report_state_get_domain(state, domains[i], &domain);
        report_render_state_json(json, state, &domain, true);
    }
    report_json_end_array(json);
    return 0;
}

// ---- All ----------------------------------------------------------------------------------------

static const struct report_objects_calls calls = {
    .count = count_actions,
    .range_name = name_range,
    .action_name = name_action,
    .metric_names = list_metrics,
    .metric = get_metric,
    .by_nvtx = list_by_nvtx,
    .state = write_state,
};

// Drops the results that filters do not take, and ranges without results.
static int keep_taken(struct profiled *profiled, const struct report_selection *filters,
                      struct report_fault *fault) {
    struct report_ncurep *profile = profiled->profile;
    struct report_matching matching;
    int result = report_matching_init(&matching, filters);
    size_t ranges = 0;
    for (size_t range = 0; range < profile->range_count && result == 0; range++) {
        struct report_ncurep_range *one = &profile->ranges[range];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < one->count && result == 0; i++) {
            bool taken = false;
            result = take_result(profiled, &matching, range, i, fault, &taken);
            profile->results[one->first + kept] = profile->results[one->first + i];
            kept += taken;
        }
        one->count = kept;
        if (kept > 0) {
            profile->ranges[ranges++] = *one;
        }
    }
    profile->range_count = ranges;
    report_matching_deinit(&matching);
    return result;
}

int report_profiled_new(struct report_objects **objects, struct report_ncurep *profile,
                        struct nvtxt_slice path, const struct report_selection *filters,
                        struct report_ncurep_fault *why, struct report_fault *wrong) {
    struct profiled *made = calloc(1, sizeof(*made));
    *objects = NULL;
    if (!made) {
        return -ENOMEM;
    }
    made->profile = profile;
    int result = report_ncurep_index(profile, why);
    result = result ? result : report_by_name_init(&made->metrics, profile);
    if (result == 0 && filters->includes_count + filters->excludes_count > 0) {
        result = keep_taken(made, filters, wrong);
    }
    if (result != 0) {
        report_profiled_free(&made->objects);
        return result;
    }
    made->objects = (struct report_objects){&calls, "ncu-rep", path, profile->range_count};
    *objects = &made->objects;
    return 0;
}

void report_profiled_free(struct report_objects *objects) {
    struct profiled *profiled = (struct profiled *)objects;
    if (profiled) {
        report_by_name_deinit(&profiled->metrics);
        report_state_deinit(&profiled->state);
        free(profiled);
    }
}
