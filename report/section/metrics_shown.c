// SPDX-License-Identifier: Apache-2.0
//
// A name without a prefix is one metric; `regex:` walks over all names that are listed; `group:`
// over the metrics of all sections that are loaded.
#include "report/section/show.h"

#include "protocol/base/origin.h"
#include "report/section/check.h"
#include "report/select/filter.h"

static struct report_shown_metric *add_slot(const struct report_show *show,
                                            struct report_shown_metrics *to) {
    if (to->count == to->room) {
        size_t room = to->room ? to->room * 2 : 8;
        struct report_shown_metric *items = store_arena_take(show->arena, room * sizeof(*items), 8);
        if (!items) {
            return NULL;
        }
        if (to->count > 0) {
            memcpy(items, to->items, to->count * sizeof(*items));
        }
        to->items = items;
        to->room = room;
    }
    return &to->items[to->count];
}

static struct report_value multiplied(const struct report_value *value, double factor) {
    if (value->type == REPORT_STRING) {
        return *value;
    }
    return (struct report_value){.type = REPORT_DOUBLE,
                                 .real = report_value_number(value) * factor};
}

static int multiply(const struct report_show *show, struct report_metric *metric, double factor) {
    struct report_instance *instances =
        store_arena_take(show->arena, (metric->instance_count + 1) * sizeof(*instances), 8);
    if (!instances) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < metric->instance_count; i++) {
        instances[i] = metric->instances[i];
        instances[i].value = multiplied(&instances[i].value, factor);
    }
    metric->instances = instances;
    metric->value = multiplied(&metric->value, factor);
    metric->type = metric->type == REPORT_STRING ? REPORT_STRING : REPORT_DOUBLE;
    return 0;
}

// Each fault is told once, in however many scopes it shows.
static void tell_missing(const struct report_list_view *view,
                         const struct report_standing *standing, const char *name,
                         const struct report_metric *metric) {
    const struct report_show *show = view->show;
    struct report_place at = standing->name->at;
    bool exists = report_metric_exists(show->definitions, name);
    bool missing = standing->required || (standing->optional && exists);
    const char *code = missing ? "missing-metric" : "unknown-metric";
    if (!metric->na || report_messages_has(show->messages, view->file, at, code)) {
        return;
    }
    if (missing) {
        report_messages_add(show->messages, view->file, at,
                            standing->required ? REPORT_FILE_ERROR : REPORT_FILE_WARNING, code,
                            "the %s metric '%s' is missing: %s",
                            standing->required ? "required" : "optional", name, metric->na);
    } else if (!exists) {
        report_warn_unknown_metric(show->messages, view->file, standing->name, show->definitions);
    }
}

// A metric by its name. `quiet`: the name came of a prefix, so it is known or cannot be.
static int add_named(struct report_list_view *view, struct report_shown_metrics *to,
                     const struct report_section_metric *said,
                     const struct report_standing *standing, const char *name, bool quiet) {
    const struct report_show *show = view->show;
    const struct report_metric *metric;
    int r = report_metrics_get(show->metrics, name, &metric);
    struct report_shown_metric *slot = r == 0 ? add_slot(show, to) : NULL;
    if (!slot) {
        return r < 0 ? r : nvtxt_origin(-ENOMEM);
    }
    if (!quiet) {
        tell_missing(view, standing, name, metric);
    }
    view->any = true;
    bool labelled = report_has(standing->label);
    if (view->skip_unlabelled && labelled && standing->label->text.len == 0) {
        return 0;
    }
    *slot = (struct report_shown_metric){
        .metric = *metric,
        .label = labelled ? standing->label->text.data : metric->name,
        .show_instances = said->show_instances.integer != 0,
    };
    to->count++;
    if (report_has(&said->unit)) {
        slot->metric.unit = said->unit.text.data;
    }
    if (report_has(&said->description)) {
        slot->metric.description = said->description.text.data;
    }
    return report_has(&said->multiplier) ? multiply(show, &slot->metric, said->multiplier.real) : 0;
}

static int add_matching(struct report_list_view *view, struct report_shown_metrics *to,
                        const struct report_section_metric *said,
                        const struct report_standing *standing, struct report_regex *regex) {
    struct report_name_cursor cursor = {0};
    const char *name;
    int r = 0;
    while (r >= 0 && (name = report_name_next(&cursor, view->show->definitions))) {
        r = report_regex_search(regex, nvtxt_slice_of(name));
        if (r == REPORT_REGEX_COSTLY) {
            report_messages_add(view->show->messages, view->file, standing->name->at,
                                REPORT_FILE_ERROR, "bad-regex", "too costly");
            return 0;
        }
        if (r == REPORT_REGEX_YES) {
            r = add_named(view, to, said, standing, name, true);
        }
    }
    return r < 0 ? r : 0;
}

static int add_regex(struct report_list_view *view, struct report_shown_metrics *to,
                     const struct report_section_metric *said,
                     const struct report_standing *standing, struct nvtxt_slice pattern) {
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex *regex;
    int r = report_regex_new(&regex, pattern, sentence, &offset);
    if (r == 0) {
        r = add_matching(view, to, said, standing, regex);
        report_regex_free(regex);
    }
    return r < 0 ? r : 0; // a bad one was told when the file was loaded
}

struct group_walk {
    struct report_list_view *view;
    struct report_shown_metrics *to;
    struct nvtxt_slice group;
    size_t first; // of the group, in `to`
};

static bool is_in_group(const struct report_section_metric *metric, struct nvtxt_slice group) {
    for (size_t i = 0; i < metric->groups.count; i++) {
        const struct report_scalar *each = metric->groups.items[i];
        if (nvtxt_slice_equal(each->text, group)) {
            return true;
        }
    }
    return false;
}

static int add_of_group(void *context, const struct report_section_metric *metric,
                        enum report_metric_place place) {
    struct group_walk *walk = context;
    struct nvtxt_slice rest;
    (void)place;
    if (!is_in_group(metric, walk->group)) {
        return 0;
    }
    struct report_section_filters none = {0};
    struct report_standing standing =
        report_section_filter_choose(metric, none, walk->view->show->view);
    if (!standing.name || *report_metric_prefix(standing.name->text, &rest)) {
        return 0;
    }
    for (size_t i = walk->first; i < walk->to->count; i++) {
        if (strcmp(walk->to->items[i].metric.name, standing.name->text.data) == 0) {
            return 0;
        }
    }
    return add_named(walk->view, walk->to, metric, &standing, standing.name->text.data, true);
}

static int add_group(struct report_list_view *view, struct report_shown_metrics *to,
                     struct nvtxt_slice group) {
    struct group_walk walk = {view, to, group, to->count};
    const struct report_sections *sections = view->show->sections;
    int r = 0;
    for (size_t i = 0; i < sections->count && r == 0; i++) {
        if (!sections->entries[i].hidden_by) {
            r = report_section_each_metric(sections->entries[i].section, add_of_group, &walk);
        }
    }
    return r;
}

int report_list_add(struct report_list_view *view, struct report_shown_metrics *to,
                    const struct report_section_metric *metric) {
    struct report_standing standing =
        report_section_filter_choose(metric, view->filter, view->show->view);
    if (!standing.name) {
        return 0;
    }
    struct nvtxt_slice rest;
    const char *prefix = report_metric_prefix(standing.name->text, &rest);
    if (strcmp(prefix, "regex:") == 0) {
        return add_regex(view, to, metric, &standing, rest);
    }
    if (strcmp(prefix, "group:") == 0) {
        return add_group(view, to, rest);
    }
    return add_named(view, to, metric, &standing, standing.name->text.data, *prefix != '\0');
}

int report_list_add_all(struct report_list_view *view, struct report_shown_metrics *to,
                        const struct report_list *metrics) {
    int r = 0;
    for (size_t i = 0; i < metrics->count && r == 0; i++) {
        r = report_list_add(view, to, metrics->items[i]);
    }
    return r;
}
