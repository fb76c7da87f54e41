// SPDX-License-Identifier: Apache-2.0
//
// A roll-up goes over the samples of each group and over all of them. The value of a metric with a
// key is that of the metric without one. A sum that 64 bits do not hold makes the whole metric
// double.
#include "report/catalogue/figures.h"

#include <string.h>

#include "protocol/base/origin.h"
#include "report/model/spread.h"

struct rolling {
    const struct report_catalogue_metric *which;
    const struct report_samples *samples;
    double elapsed; // ns
};

static struct report_value real_value(double value) {
    return (struct report_value){REPORT_DOUBLE, .real = value};
}

static struct report_value integer_value(uint64_t value) {
    return (struct report_value){REPORT_U64, .u64 = value};
}

static struct report_value sum_value(const uint64_t *values, size_t count) {
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum > UINT64_MAX ? real_value((double)sum) : integer_value((uint64_t)sum);
}

static double as_real(struct report_value value) {
    return value.type == REPORT_DOUBLE ? value.real : (double)value.u64;
}

// Of numbers that are all 1 only sums are asked.
static struct report_value roll_count(const struct rolling *rolling, size_t count) {
    return rolling->which->rollup == REPORT_PER_SECOND
               ? real_value((double)count * 1e9 / rolling->elapsed)
               : integer_value(count);
}

static uint64_t smallest(const uint64_t *values, size_t count) {
    uint64_t least = values[0];
    for (size_t i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

// No roll-up but the sums asks for one of nothing.
static struct report_value roll_integers(const struct rolling *rolling, uint64_t *values,
                                         size_t count) {
    switch (rolling->which->rollup) {
    case REPORT_PER_SECOND:
        return real_value(as_real(sum_value(values, count)) * 1e9 / rolling->elapsed);
    case REPORT_PCT_OF_ELAPSED:
        return real_value(as_real(sum_value(values, count)) * 100 / rolling->elapsed);
    case REPORT_AVG:
        return real_value(report_average(values, count));
    case REPORT_MIN:
        return integer_value(smallest(values, count));
    case REPORT_MAX:
        return integer_value(report_largest(values, count));
    case REPORT_MED:
        return real_value(report_median(values, count));
    case REPORT_STDDEV:
        return real_value(report_deviation(values, count));
    case REPORT_PERCENTILE:
        return integer_value(report_percentile(values, count, rolling->which->percent));
    case REPORT_BARE:
    case REPORT_SUM:
    case REPORT_RATIO:
    case REPORT_LAST:
        break;
    }
    return sum_value(values, count);
}

static struct report_value roll_reals(const struct rolling *rolling, const double *values,
                                      size_t count) {
    long double sum = 0;
    double least = count ? values[0] : 0, largest = least;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    switch (rolling->which->rollup) {
    case REPORT_AVG:
        return real_value((double)(sum / (long double)count));
    case REPORT_MIN:
        return real_value(least);
    case REPORT_MAX:
    case REPORT_RATIO:
        return real_value(largest);
    case REPORT_LAST:
        return real_value(values[count - 1]);
    default:
        return real_value((double)sum);
    }
}

static struct report_value roll(const struct rolling *rolling, size_t from, size_t end) {
    const struct report_samples *samples = rolling->samples;
    if (samples->averages && rolling->which->rollup == REPORT_AVG) {
        return real_value(samples->averages[from]);
    }
    if (samples->ones) {
        return roll_count(rolling, end - from);
    }
    return samples->real ? roll_reals(rolling, samples->reals + from, end - from)
                         : roll_integers(rolling, samples->values + from, end - from);
}

static bool is_sum(enum report_rollup rollup) {
    return rollup == REPORT_SUM || rollup == REPORT_PER_SECOND || rollup == REPORT_PCT_OF_ELAPSED;
}

// The one value of all samples.
static void set_value(const struct rolling *rolling, struct report_metric *metric) {
    const struct report_samples *samples = rolling->samples;
    metric->na = samples->na;
    if (!metric->na) {
        size_t count = samples->starts[samples->count];
        metric->na = count == 0 && !is_sum(rolling->which->rollup) ? samples->empty : NULL;
        metric->value = metric->na ? metric->value : roll(rolling, 0, count);
    }
}

static int set_instances(const struct rolling *rolling, struct report_metric *metric,
                         struct store_arena *arena) {
    const struct report_samples *samples = rolling->samples;
    struct report_instance *instances =
        store_arena_take(arena, (samples->count + 1) * sizeof(*instances), 8);
    if (!instances) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t g = 0; g < samples->count; g++) {
        if (samples->starts[g] == samples->starts[g + 1]) {
            continue;
        }
        struct report_instance *instance = &instances[metric->instance_count++];
        *instance = (struct report_instance){
            samples->ids[g], roll(rolling, samples->starts[g], samples->starts[g + 1])};
    }
    metric->instances = instances;
    return 0;
}

// The ids of instances are of memory that other samples will use.
static int keep_ids(struct report_metric *metric, struct store_arena *arena) {
    for (size_t i = 0; i < metric->instance_count; i++) {
        struct report_id *id = (struct report_id *)&metric->instances[i].id;
        if (id->is_text) {
            id->text.data = store_arena_copy(arena, id->text.data, id->text.len);
            if (!id->text.data) {
                return nvtxt_origin(-ENOMEM);
            }
        }
    }
    return 0;
}

static void make_real(struct report_value *value) {
    *value = real_value(as_real(*value));
}

// All values of a metric are of its type; it is double as soon as one has to be.
static void settle_type(struct report_metric *metric) {
    bool real = metric->type == REPORT_DOUBLE || metric->value.type == REPORT_DOUBLE;
    for (size_t i = 0; i < metric->instance_count; i++) {
        real = real || metric->instances[i].value.type == REPORT_DOUBLE;
    }
    if (real) {
        metric->type = REPORT_DOUBLE;
        make_real(&metric->value);
        for (size_t i = 0; i < metric->instance_count; i++) {
            make_real((struct report_value *)&metric->instances[i].value);
        }
    }
}

// The value of `which` without its key; of a metric that always has its key, of all its samples.
static int whole_value(struct report_figures *figures, struct rolling *rolling,
                       struct report_metric *metric) {
    struct report_catalogue_metric whole = *rolling->which;
    whole.key = REPORT_KEY_NONE;
    struct rolling of_all = {&whole, NULL, rolling->elapsed};
    int r = report_samples_get(figures, &whole, &of_all.samples);
    if (!r) {
        set_value(&of_all, metric);
    }
    return r;
}

static int roll_up(struct report_figures *figures, const struct report_catalogue_metric *which,
                   struct report_metric *metric) {
    struct rolling rolling = {which, NULL, (double)figures->elapsed_ns};
    int r = 0;
    if (which->key != REPORT_KEY_NONE) {
        r = report_samples_get(figures, which, &rolling.samples);
        metric->na = r ? NULL : rolling.samples->na;
    }
    if (!r && !metric->na) {
        r = whole_value(figures, &rolling, metric);
    }
    if (r || metric->na || which->key == REPORT_KEY_NONE) {
        return r;
    }
    metric->instanced = true;
    r = set_instances(&rolling, metric, &figures->arena);
    return r ?: keep_ids(metric, &figures->arena);
}

int report_compute(struct report_figures *figures, const struct report_catalogue_metric *which,
                   struct report_metric *metric) {
    size_t unit_len = strlen(which->unit);
    metric->unit = store_arena_copy(&figures->arena, which->unit, unit_len);
    if (!metric->unit) {
        return nvtxt_origin(-ENOMEM);
    }
    metric->description = which->entry->text;
    metric->type = which->type;
    metric->value = integer_value(0);
    if (which->rollup == REPORT_BARE) {
        return report_attribute(figures, which->entry->id, metric);
    }
    int r = roll_up(figures, which, metric);
    if (!r && !metric->na) {
        settle_type(metric);
    }
    return r;
}
