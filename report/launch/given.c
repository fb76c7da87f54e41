// SPDX-License-Identifier: Apache-2.0
//
// A result as a scope has it: its metrics go into expressions, so all instances get one type, as
// those of computed metrics have.
#include "report/launch/launches.h"

#define ARCH_PART_MOST 1000 // far above any major or minor number

// Whether instances are numbers or texts, as the value is; and the highest type of the numbers.
static bool have_one_kind(const struct report_metric *metric, enum report_type *type) {
    bool is_text = metric->type == REPORT_STRING;
    *type = metric->type;
    for (size_t i = 0; i < metric->instance_count; i++) {
        enum report_type each = metric->instances[i].value.type;
        if ((each == REPORT_STRING) != is_text) {
            return false;
        }
        *type = each > *type ? each : *type;
    }
    return true;
}

static void raise_value(struct report_value *value, enum report_type type) {
    bool was_integer = report_type_is_integer(value->type);
    if (was_integer && (type == REPORT_FLOAT || type == REPORT_DOUBLE)) {
        double real = (double)value->u64;
        value->real = type == REPORT_FLOAT ? (double)(float)real : real;
    }
    value->type = type;
}

static void make_even(struct report_metric *metric) {
    static const char *const note[] = {"instances of another kind than the value are left out"};
    struct report_instance *instances = (struct report_instance *)metric->instances;
    enum report_type type;
    if (!have_one_kind(metric, &type)) {
        metric->instance_count = 0;
        metric->instanced = false;
        metric->notes = note;
        metric->note_count = 1;
        return;
    }
    for (size_t i = 0; i < metric->instance_count; i++) {
        raise_value(&instances[i].value, type);
    }
    if (!metric->na) {
        raise_value(&metric->value, type);
    }
    metric->type = type;
}

static int get_metric(const struct report_given *given, const char *name, struct store_arena *arena,
                      struct report_metric *metric) {
    const struct report_launch *launch = (const struct report_launch *)given;
    struct report_ncurep_metric read;
    if (!metric) {
        report_by_name_set(&launch->all->metrics, launch->bytes);
        bool found = report_by_name_find(&launch->all->metrics, nvtxt_slice_of(name), &read);
        return found ? 0 : REPORT_NOT_GIVEN;
    }
    int r = report_launches_metric(launch->all, launch->bytes, name, arena, metric);
    if (r == 0) {
        make_even(metric);
    }
    return r;
}

static const char *nth_name(const struct report_given *given, size_t n) {
    const struct report_launch *launch = (const struct report_launch *)given;
    size_t count;
    const char *const *names = report_launches_names(launch->all, launch->bytes, &count);
    return names && n < count ? names[n] : NULL;
}

static bool knows_name(const struct report_given *given, const char *name) {
    const struct report_launch *launch = (const struct report_launch *)given;
    return report_by_name_knows(&launch->all->metrics, nvtxt_slice_of(name));
}

void report_launch_give(struct report_launch *launch) {
    launch->given.get = get_metric;
    launch->given.name_at = nth_name;
    launch->given.known = knows_name;
}

// ---- The device ---------------------------------------------------------------------------------

static uint32_t small_number(const struct report_launch *launch, const char *name) {
    struct report_ncurep_metric metric;
    report_by_name_set(&launch->all->metrics, launch->bytes);
    if (!report_by_name_find(&launch->all->metrics, nvtxt_slice_of(name), &metric)) {
        return 0;
    }
    const struct report_ncurep_value *value = &metric.value;
    bool is_integer = value->kind == REPORT_NCUREP_UINT32 || value->kind == REPORT_NCUREP_UINT64;
    double number = is_integer ? (double)value->number : value->real;
    return number >= 0 && number < ARCH_PART_MOST ? (uint32_t)number : 0;
}

uint32_t report_launch_arch(const struct report_launch *launch) {
    uint32_t major = small_number(launch, "device__attribute_compute_capability_major");
    uint32_t minor = small_number(launch, "device__attribute_compute_capability_minor");
    return major > 0 ? major * 10 + minor : 0;
}
