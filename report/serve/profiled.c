// SPDX-License-Identifier: Apache-2.0
//
// Everything is read in the file when it is asked for. Of the action that was asked for last an
// index of its metrics is kept: a script asks for one after the other. A rule asks of one result
// without saying which: its action has the metrics of the scope, derived ones too.
#include "report/serve/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/launch/launches.h"
#include "report/metric/definitions.h"
#include "report/ncurep/state.h"
#include "report/render/listing.h"

struct profiled {
    struct report_objects objects;
    struct report_launches *launches; // borrowed
    struct report_state state;
    struct report_metric metric;                  // the last one that was asked for
    struct report_metrics *scope;                 // of a rule; borrowed; NULL: there is none
    const struct report_definitions *definitions; // borrowed; NULL: none
};

static const struct profiled *profiled_of(const struct report_objects *objects) {
    return (const struct profiled *)objects;
}

static struct nvtxt_slice result_of(const struct report_objects *objects, size_t range,
                                    size_t action) {
    const struct profiled *profiled = profiled_of(objects);
    if (range != REPORT_RANGE_OF_SCOPE) {
        return report_ncurep_action(profiled->launches->profile, range, action);
    }
    return ((const struct report_launch *)report_metrics_scope(profiled->scope)->given)->bytes;
}

static size_t count_actions(const struct report_objects *objects, size_t range) {
    return range == REPORT_RANGE_OF_SCOPE
               ? 1
               : profiled_of(objects)->launches->profile->ranges[range].count;
}

static int name_range(const struct report_objects *objects, size_t range, struct store_arena *arena,
                      struct nvtxt_slice *name) {
    const struct report_ncurep_range *one = &profiled_of(objects)->launches->profile->ranges[range];
    char made[80];
    int len = snprintf(made, sizeof(made), "context %llu, stream %llu",
                       (unsigned long long)one->context, (unsigned long long)one->stream);
    *name = (struct nvtxt_slice){store_arena_copy(arena, made, (size_t)len), (size_t)len};
    return name->data ? 0 : nvtxt_origin(-ENOMEM);
}

static void read_result(const struct report_objects *objects, size_t range, size_t action,
                        struct report_ncurep_result *result) {
    report_ncurep_result_read(result_of(objects, range, action), result);
}

static struct nvtxt_slice name_action(const struct report_objects *objects, size_t range,
                                      size_t action, enum report_base base) {
    struct report_ncurep_result result;
    read_result(objects, range, action, &result);
    switch (base) {
    case REPORT_BASE_DEMANGLED:
        return result.demangled;
    case REPORT_BASE_MANGLED:
        return result.mangled;
    case REPORT_BASE_FUNCTION:
        break;
    }
    return result.function;
}

// ---- Metrics ------------------------------------------------------------------------------------

static int list_metrics(const struct report_objects *objects, size_t range, size_t action,
                        struct store_arena *arena, const char *const **names) {
    const struct profiled *profiled = profiled_of(objects);
    size_t count = 0;
    if (range == REPORT_RANGE_OF_SCOPE) {
        return report_objects_list(profiled->definitions, arena, names);
    }
    *names = report_launches_names(profiled->launches, result_of(objects, range, action), &count);
    return *names ? 0 : nvtxt_origin(-ENOMEM);
}

static int get_metric(const struct report_objects *objects, size_t range, size_t action,
                      const char *name, struct store_arena *arena,
                      const struct report_metric **metric) {
    struct profiled *profiled = (struct profiled *)objects;
    if (range == REPORT_RANGE_OF_SCOPE) {
        return report_metrics_get(profiled->scope, name, metric);
    }
    int r = report_launches_metric(profiled->launches, result_of(objects, range, action), name,
                                   arena, &profiled->metric);
    *metric = r == 0 ? &profiled->metric : NULL;
    return r == REPORT_NOT_GIVEN ? 0 : r;
}

// ---- Filters and states -------------------------------------------------------------------------

// Whether filters take a result: NVTXT_WRONG, when one is too costly.
static int take_result(struct profiled *profiled, struct report_matching *matching, size_t range,
                       size_t action, struct report_fault *fault, bool *is_wanted) {
    struct report_ncurep_result result;
    read_result(&profiled->objects, range, action, &result);
    int r = report_state_open(&profiled->state, &result);
    r = r ?: report_matching_take(matching, &profiled->state, fault, is_wanted);
    return r > 0 ? NVTXT_WRONG : r;
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
    int r = report_matching_init(&matching, filters);
    r = list ? r : nvtxt_origin(-ENOMEM);
    *actions = list;
    *count = 0;
    for (size_t i = 0; i < all && r == 0; i++) {
        bool is_wanted = false;
        r = take_result(profiled, &matching, range, i, fault, &is_wanted);
        if (is_wanted) {
            list[(*count)++] = (uint32_t)i;
        }
    }
    report_matching_deinit(&matching);
    return r;
}

static int compare_domains(const void *a, const void *b, void *context) {
    struct report_state_domain one, other;
    report_state_get_domain(context, *(const uint32_t *)a, &one);
    report_state_get_domain(context, *(const uint32_t *)b, &other);
    return NVTXT_ORDER(one.id, other.id);
}

static int write_state(struct report_objects *objects, size_t range, size_t action,
                       struct store_arena *arena, struct report_json *json) {
    struct report_state *state = &((struct profiled *)objects)->state;
    struct report_ncurep_result result;
    struct report_state_domain domain;
    size_t cursor = 0, count = 0;
    read_result(objects, range, action, &result);
    int r = report_state_open(state, &result);
    uint32_t *domains =
        store_arena_take(arena, (state->domain_count + 1) * sizeof(*domains), sizeof(*domains));
    if (r != 0 || !domains) {
        return r ?: nvtxt_origin(-ENOMEM);
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
    if (!state->states.data) { // profiled without NVTX
        report_json_bool(json, "hasState", false);
    }
    return 0;
}

// ---- All ----------------------------------------------------------------------------------------

static void set_scope(struct report_objects *objects, struct report_metrics *metrics,
                      const struct report_definitions *definitions) {
    struct profiled *profiled = (struct profiled *)objects;
    profiled->scope = metrics;
    profiled->definitions = definitions;
    profiled->objects.has_scope = metrics != NULL;
}

static void free_profiled(struct report_objects *objects) {
    struct profiled *profiled = (struct profiled *)objects;
    report_state_deinit(&profiled->state);
    free(profiled);
}

static const struct report_objects_calls calls = {
    .count = count_actions,
    .range_name = name_range,
    .action_name = name_action,
    .metric_names = list_metrics,
    .metric = get_metric,
    .by_nvtx = list_by_nvtx,
    .state = write_state,
    .set_scope = set_scope,
    .free = free_profiled,
};

int report_profiled_new(struct report_objects **objects, struct report_launches *launches) {
    struct profiled *made = calloc(1, sizeof(*made));
    *objects = NULL;
    if (!made) {
        return nvtxt_origin(-ENOMEM);
    }
    made->launches = launches;
    made->objects = (struct report_objects){&calls, "ncu-rep", launches->path,
                                            launches->profile->range_count, false};
    *objects = &made->objects;
    return 0;
}
