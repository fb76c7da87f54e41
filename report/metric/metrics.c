// SPDX-License-Identifier: Apache-2.0
//
// A name is looked up among the metrics that were asked for, then in the catalogue, then among the
// definitions and the metrics of files. A definition asks for its operands here again; a metric
// that is asked for while it is computed is N/A, so this ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/catalogue/figures.h"
#include "report/metric/defined.h"
#include "report/metric/program.h"

// A metric that was asked for.
struct known {
    struct nvtxt_hash_node node; // by name
    struct report_metric metric;
};

struct report_metrics {
    struct report_figures figures;
    const struct report_definitions *definitions; // borrowed; may be NULL
    struct nvtxt_hash known;                      // of the arena of the figures
};

int report_metrics_new(struct report_metrics **metrics, struct report_model *model,
                       const struct report_scope *scope,
                       const struct report_definitions *definitions) {
    *metrics = calloc(1, sizeof(**metrics));
    if (!*metrics) {
        return nvtxt_origin(-ENOMEM);
    }
    report_figures_init(&(*metrics)->figures, model, scope);
    (*metrics)->definitions = definitions;
    return 0;
}

void report_metrics_free(struct report_metrics *metrics) {
    if (metrics) {
        nvtxt_hash_deinit(&metrics->known);
        report_figures_deinit(&metrics->figures);
        free(metrics);
    }
}

struct report_model *report_metrics_model(const struct report_metrics *metrics) {
    return metrics->figures.model;
}

const struct report_scope *report_metrics_scope(const struct report_metrics *metrics) {
    return metrics->figures.scope;
}

void report_metrics_forget(struct report_metrics *metrics) {
    nvtxt_hash_reset(&metrics->known);
    store_arena_reset(&metrics->figures.arena, STORE_CHUNK_BYTES);
}

int report_expression_evaluate(const struct report_expression *expression,
                               struct report_metrics *metrics, const struct report_lookup *lookup,
                               enum report_aggregate aggregate, struct report_lack *lack,
                               const struct report_metric **result) {
    return report_expression_run(expression, report_metrics_get, metrics, &metrics->figures.arena,
                                 lookup, aggregate, lack, result);
}

// What one name alone stands for is copied with its instances.
static int derive(struct report_metrics *metrics, const struct report_defined *defined,
                  struct report_metric *metric) {
    enum report_aggregate aggregate = defined->aggregate ?: metrics->definitions->aggregate;
    const struct report_metric *value = NULL;
    int r = report_expression_evaluate(defined->expression, metrics, NULL, aggregate, NULL, &value);
    if (r) {
        return r;
    }
    const char *name = metric->name;
    const char *needed = value->name[0] ? value->name : NULL;
    *metric = *value;
    metric->name = name;
    metric->unit = defined->unit;
    metric->description = defined->description;
    if (value->na && needed) {
        char text[256];
        snprintf(text, sizeof(text), "needs %s", needed);
        metric->na = store_arena_copy(&metrics->figures.arena, text, strlen(text));
    }
    return value->na && !metric->na ? nvtxt_origin(-ENOMEM) : 0;
}

// A metric of the catalogue, or of a result. Returns 0, REPORT_NOT_GIVEN, or -ENOMEM.
static int fill_base(struct report_metrics *metrics, struct report_metric *metric) {
    const struct report_given *given = metrics->figures.scope->given;
    struct report_catalogue_metric which;
    if (given) {
        return given->get(given, metric->name, &metrics->figures.arena, metric);
    }
    return report_catalogue_find(nvtxt_slice_of(metric->name), &which)
               ? report_compute(&metrics->figures, &which, metric)
               : REPORT_NOT_GIVEN;
}

static int fill_metric(struct report_metrics *metrics, struct report_metric *metric) {
    int r = fill_base(metrics, metric);
    if (r != REPORT_NOT_GIVEN) {
        return r;
    }
    struct report_defined *defined =
        report_definitions_find(metrics->definitions, nvtxt_slice_of(metric->name));
    if (defined && defined->expression) {
        return derive(metrics, defined, metric);
    }
    if (defined) {
        const char *name = metric->name;
        *metric = defined->metric;
        metric->name = name;
        return 0;
    }
    metric->type = REPORT_DOUBLE;
    metric->na = "no such metric";
    return 0;
}

int report_metrics_get(struct report_metrics *metrics, const char *name,
                       const struct report_metric **metric) {
    uint64_t hash = nvtxt_hash_bytes(nvtxt_slice_of(name));
    struct known *known;
    NVTXT_HASH_FIND(known, node, &metrics->known, hash, strcmp(known->metric.name, name) == 0);
    if (known) {
        *metric = &known->metric;
        return 0;
    }
    known = store_arena_make(&metrics->figures.arena, sizeof(*known));
    const char *copy = store_arena_copy(&metrics->figures.arena, name, strlen(name));
    if (!known || !copy) {
        return nvtxt_origin(-ENOMEM);
    }
    // Should it need itself, it is N/A for itself.
    known->metric = (struct report_metric){
        .name = copy, .unit = "", .description = "", .na = "definition cycle"};
    struct report_metric filled = {.name = copy, .unit = "", .description = ""};
    int r = nvtxt_hash_add(&metrics->known, &known->node, hash);
    r = r ?: fill_metric(metrics, &filled);
    if (r) {
        nvtxt_hash_remove(&metrics->known, &known->node);
        return r;
    }
    known->metric = filled;
    *metric = &known->metric;
    return 0;
}
