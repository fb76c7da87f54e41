// SPDX-License-Identifier: Apache-2.0
//
// A name is looked up among the metrics that are known already, then in the catalogue, then among
// the definitions; then it is known. The tables of a file or of definitions need other metrics,
// which come here again: there is no cycle, report_definitions_cycle() has seen to it.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/metric/compute.h"
#include "report/metric/metric.h"
#include "report/metric/state.h"

int report_metrics_new(struct report_metrics **metrics, struct report_model *model,
                       const struct report_scope *scope,
                       const struct report_definitions *definitions) {
    *metrics = calloc(1, sizeof **metrics);
    if (!*metrics) {
        return -ENOMEM;
    }
    (*metrics)->model = model;
    (*metrics)->scope = scope;
    (*metrics)->definitions = definitions;
    return 0;
}

void report_metrics_free(struct report_metrics *metrics) {
    if (metrics) {
        nvtxt_hash_deinit(&metrics->known);
        store_arena_deinit(&metrics->arena);
        store_arena_deinit(&metrics->kept);
        store_arena_deinit(&metrics->samples[0].arena);
        store_arena_deinit(&metrics->samples[1].arena);
        free(metrics);
    }
}

struct report_model *report_metrics_model(const struct report_metrics *metrics) {
    return metrics->model;
}

const struct report_scope *report_metrics_scope(const struct report_metrics *metrics) {
    return metrics->scope;
}

void report_metrics_forget(struct report_metrics *metrics) {
    nvtxt_hash_reset(&metrics->known);
    store_arena_reset(&metrics->arena, STORE_CHUNK_BYTES);
}

static int fill(struct report_metrics *metrics, struct report_metric *metric) {
    struct report_catalogue_metric which;
    if (report_catalogue_find(nvtxt_slice_of(metric->name), &which)) {
        return report_compute(metrics, &which, metric);
    }
    metric->na = "no such metric";
    return 0;
}

int report_metrics_get(struct report_metrics *metrics, const char *name,
                       const struct report_metric **metric) {
    uint64_t hash = nvtxt_hash_bytes(nvtxt_slice_of(name));
    struct report_known *known;
    NVTXT_HASH_FIND(known, node, &metrics->known, hash, strcmp(known->metric.name, name) == 0);
    if (known) {
        *metric = &known->metric;
        return 0;
    }
    known = store_arena_make(&metrics->arena, sizeof *known);
    const char *copy = store_arena_copy(&metrics->arena, name, strlen(name));
    if (!known || !copy) {
        return -ENOMEM;
    }
    known->metric = (struct report_metric){.name = copy, .unit = "", .description = ""};
    int result = fill(metrics, &known->metric);
    result = result ? result : nvtxt_hash_add(&metrics->known, &known->node, hash);
    *metric = &known->metric;
    return result;
}
