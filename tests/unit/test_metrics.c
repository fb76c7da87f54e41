// SPDX-License-Identifier: Apache-2.0
//
// report/catalogue and report/metric over hand-made events: values, instances, reasons.
#include "report/metric/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/metric/definitions.h"
#include "tests/unit/report_kit.h"

struct kit {
    struct report_model *model;
    struct report_scopes *scopes;
    struct report_metrics *metrics;
};

static struct kit open_kit(struct report_model *model) {
    struct kit kit = {model, NULL, NULL};
    cr_assert_eq(report_scopes_new(&kit.scopes, model, REPORT_SCOPE_CAPTURE), 0);
    cr_assert_eq(report_metrics_new(&kit.metrics, model, report_scopes_at(kit.scopes, 0), NULL), 0);
    return kit;
}

static void close_kit(struct kit *kit) {
    report_metrics_free(kit->metrics);
    report_scopes_free(kit->scopes);
    report_kit_free(kit->model);
}

static void put_value(FILE *out, const struct report_value *value) {
    if (value->type == REPORT_STRING) {
        fprintf(out, "%.*s", (int)value->string.len, value->string.data);
    } else if (value->type == REPORT_U32 || value->type == REPORT_U64) {
        fprintf(out, "%" PRIu64, value->u64);
    } else {
        fprintf(out, "%g", value->real);
    }
}

// "VALUE ID=VALUE ..."; "N/A: WHY". The caller frees it.
static char *shown(const struct kit *kit, const char *name) {
    const struct report_metric *metric;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    cr_assert_eq(report_metrics_get(kit->metrics, name, &metric), 0);
    cr_assert_str_eq(metric->name, name);
    if (metric->na) {
        fprintf(out, "N/A: %s", metric->na);
    } else {
        put_value(out, &metric->value);
    }
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct report_instance *instance = &metric->instances[i];
        if (instance->id.is_text) {
            fprintf(out, " %.*s=", (int)instance->id.text.len, instance->id.text.data);
        } else {
            fprintf(out, " %" PRIu64 "=", instance->id.number);
        }
        put_value(out, &instance->value);
    }
    fclose(out);
    return text;
}

static void expect(const struct kit *kit, const char *name, const char *wanted) {
    char *text = shown(kit, name);
    cr_expect_str_eq(text, wanted, "%s: %s, not %s", name, text, wanted);
    free(text);
}

Test(metrics, figures_of_f1) {
    struct kit kit = open_kit(report_kit_f1());
    expect(&kit, "event__count.sum", "15");
    expect(&kit, "event__count_per_process.sum", "15 100=15");
    expect(&kit, "mark__count_per_name.sum", "3 :tick=3");
    expect(&kit, "range__time_duration.sum", "700");
    expect(&kit, "pushpop__self_time_per_name.sum",
           "290 :compute=80 :kernel=90 :load=30 :step=40 :wait=50");
    expect(&kit, "range__time_duration_per_name.p90",
           "110 :compute=110 :kernel=50 :load=20 :request=100 :step=140 :wait=50");
    expect(&kit, "pushpop__time_duration_per_thread.med", "50 100:1=50 100:2=50");
    expect(&kit, "capture__time_elapsed.sum", "260");
    expect(&kit, "mark__interval.avg", "50");
    expect(&kit, "capture__busy_time.sum", "245");
    expect(&kit, "thread__busy_time_per_thread.sum", "290 100:1=240 100:2=50");
    expect(&kit, "thread__busy_time_per_thread.avg", "145 100:1=240 100:2=50");
    expect(&kit, "process__busy_time_per_process.max", "245 100=245");
    expect(&kit, "gap__time_duration_per_thread.max", "20 100:1=20");
    expect(&kit, "gap__count_per_thread.sum", "1 100:1=1 100:2=0");
    expect(&kit, "range__concurrency.avg", "2.69231");
    expect(&kit, "range__concurrency_per_name.max",
           "5 :compute=1 :kernel=1 :load=1 :request=2 :step=1 :wait=1");
    expect(&kit, "thread__concurrency.avg", "1.11538");
    expect(&kit, "range__overlap_time_per_name.sum",
           "20 :compute=0 :kernel=0 :load=0 :request=20 :step=0 :wait=0");
    expect(&kit, "chain__time_duration_per_name.sum", "240 :request=100 :step=140");
    expect(&kit, "iteration__count_per_iteration.sum", "N/A: no iterations declared");
    expect(&kit, "event__count_per_iteration.sum", "N/A: no iterations declared");
    expect(&kit, "event__count_per_line.sum", "N/A: no source file");
    expect(&kit, "range__variation_per_name.ratio",
           "0.942809 :compute=0.415945 :kernel=0.57735 :load=0.471405 :request=0.942809 "
           ":step=0.235702");
    expect(&kit, "range__outlier_count.sum", "N/A: fewer than 10 instances");
    expect(&kit, "no__such.sum", "N/A: no such metric");
    expect(&kit, "payload__value.avg", "N/A: fewer than 1 instances");
    close_kit(&kit);
}

Test(metrics, sums_that_64_bits_do_not_hold_are_double) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "a", INT64_MIN, INT64_MAX),
        KIT_RANGE(1, "b", INT64_MIN, INT64_MAX),
    };
    struct kit kit = open_kit(report_kit_model(events, 2));
    expect(&kit, "range__time_duration.sum", "3.68935e+19");
    expect(&kit, "range__time_duration.max", "18446744073709551615");
    expect(&kit, "range__time_duration_per_name.sum", "3.68935e+19 :a=1.84467e+19 :b=1.84467e+19");
    close_kit(&kit);
}

// Their median is 100, their median distance from it 2.5: 118.5325 is the limit.
Test(metrics, outliers_are_beyond_five_deviations) {
    static const int64_t lengths[] = {90, 95, 100, 100, 100, 100, 100, 105, 110};
    struct report_kit_event events[29];
    for (size_t i = 0; i < 10; i++) {
        int64_t start = 1000 * (int64_t)i;
        events[i] =
            (struct report_kit_event)KIT_RANGE(1, "a", start, start + (i < 9 ? lengths[i] : 118));
        events[10 + i] =
            (struct report_kit_event)KIT_RANGE(2, "b", start, start + (i < 9 ? lengths[i] : 119));
    }
    for (size_t i = 0; i < 9; i++) {
        int64_t start = 1000 * (int64_t)i;
        events[20 + i] = (struct report_kit_event)KIT_RANGE(3, "few", start, start + 1);
    }
    struct kit kit = open_kit(report_kit_model(events, 29));
    expect(&kit, "range__outlier_count_per_name.sum", "1 :a=0 :b=1");
    close_kit(&kit);
}

#define NAMES 300

// Of so many names that a small part of the capture has few.
Test(metrics, a_small_part_has_its_own_groups) {
    static char names[NAMES][16];
    static struct report_kit_event events[NAMES + 2];
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "n%03d", i);
        events[i] = (struct report_kit_event){KIT_EVENT(REPORT_MARK, 1, names[i], i, i)};
    }
    events[NAMES] =
        (struct report_kit_event){KIT_EVENT(REPORT_MARK, 2, "n299", 5, 5), .category = UINT32_MAX};
    events[NAMES + 1] =
        (struct report_kit_event){KIT_EVENT(REPORT_MARK, 2, "n007", 6, 6), .category = 1};
    struct kit kit = open_kit(report_kit_model(events, NAMES + 2));
    expect(&kit, "event__count_per_category.sum", "302 1=1 4294967295=1");
    report_metrics_free(kit.metrics);
    report_scopes_free(kit.scopes);
    cr_assert_eq(report_scopes_new(&kit.scopes, kit.model, REPORT_SCOPE_THREAD), 0);
    cr_assert_eq(report_scopes_count(kit.scopes), 2);
    cr_assert_eq(report_metrics_new(&kit.metrics, kit.model, report_scopes_at(kit.scopes, 1), NULL),
                 0);
    expect(&kit, "event__count_per_name.sum", "2 :n007=1 :n299=1");
    expect(&kit, "event__count_per_category.sum", "2 1=1 4294967295=1");
    close_kit(&kit);
}

Test(metrics, every_listed_name_is_a_metric) {
    struct kit kit = open_kit(report_kit_f1());
    struct report_name_cursor cursor = {.defined = 0};
    for (const char *name; (name = report_name_next(&cursor, NULL));) {
        cr_expect(report_metric_exists(NULL, name), "%s", name);
        const struct report_metric *metric;
        cr_assert_eq(report_metrics_get(kit.metrics, name, &metric), 0);
    }
    cr_expect(report_metric_exists(NULL, "range__time_duration.p99.9"));
    cr_expect_not(report_metric_exists(NULL, "range__time_duration.p101"));
    cr_expect_not(report_metric_exists(NULL, "range__time_duration"));
    cr_expect_not(report_metric_exists(NULL, "thread__busy_time.sum"));
    close_kit(&kit);
}
