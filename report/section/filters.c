// SPDX-License-Identifier: Apache-2.0
//
// A joined filter points to the fields that count, each from the innermost filter that says it.
#include "report/section/filters.h"

#include <stddef.h>

static void take(const struct report_scalar **field, const struct report_scalar *said) {
    if (report_has(said)) {
        *field = said;
    }
}

static void take_list(const struct report_list **field, const struct report_list *said) {
    if (said->count > 0) {
        *field = said;
    }
}

struct report_section_filters
report_section_filter_join_more(struct report_section_filters outer,
                                const struct report_section_filter *inner) {
    if (inner) {
        take(&outer.min_arch, &inner->min_arch);
        take(&outer.max_arch, &inner->max_arch);
        take(&outer.has_table, &inner->has_table);
        take_list(&outer.items, &inner->items);
    }
    if (inner && inner->collection) {
        take(&outer.importance, &inner->collection->importance);
        take_list(&outer.scopes, &inner->collection->scopes);
    }
    return outer;
}

struct report_section_filters
report_section_filter_join(const struct report_section_filter *outer,
                           const struct report_section_filter *inner) {
    struct report_section_filters none = {0};
    return report_section_filter_join_more(report_section_filter_join_more(none, outer), inner);
}

// A bound that is not said is no bound; one that is said needs an architecture.
static bool within(const struct report_scalar *min, const struct report_scalar *max,
                   uint32_t arch) {
    bool has_min = min && report_has(min), has_max = max && report_has(max);
    if (!has_min && !has_max) {
        return true;
    }
    return arch != 0 && (!has_min || min->integer <= arch) && (!has_max || max->integer >= arch);
}

static bool arch_matches(const struct report_section_filters *filter, uint32_t arch) {
    if (!within(filter->min_arch, filter->max_arch, arch)) {
        return false;
    }
    for (size_t i = 0; filter->items && i < filter->items->count; i++) {
        const struct report_filter_range *range = filter->items->items[i];
        if (within(&range->min_arch, &range->max_arch, arch)) {
            return true;
        }
    }
    return !filter->items;
}

static bool scope_matches(const struct report_list *scopes, enum report_collection_scope scope) {
    for (size_t i = 0; scopes && i < scopes->count; i++) {
        const struct report_scalar *each = scopes->items[i];
        bool ranges = each->integer == REPORT_COLLECT_RANGE && scope != REPORT_COLLECT_LAUNCH;
        if (ranges || each->integer == (int64_t)scope) {
            return true;
        }
    }
    return !scopes;
}

static bool has_table(const struct report_section_filter_view *view, struct nvtxt_slice name) {
    const struct report_capture *capture = view->capture;
    if (!capture) {
        return view->scope != REPORT_COLLECT_LAUNCH;
    }
    for (size_t i = 0; i < capture->store_count; i++) {
        for (size_t j = 0; j < capture->stores[i].table_count; j++) {
            if (nvtxt_slice_equal(capture->stores[i].tables[j], name)) {
                return true;
            }
        }
    }
    return false;
}

bool report_section_filter_matches(const struct report_section_filters *filter,
                                   const struct report_section_filter_view *view) {
    return arch_matches(filter, view->arch) && scope_matches(filter->scopes, view->scope) &&
           (!filter->has_table || has_table(view, filter->has_table->text));
}

struct report_standing report_section_filter_choose(const struct report_section_metric *metric,
                                                    struct report_section_filters outer,
                                                    const struct report_section_filter_view *view) {
    struct report_section_filters base = report_section_filter_join_more(outer, metric->filter);
    struct report_standing standing = {.label = &metric->label};
    const struct report_scalar *importance = base.importance;
    for (size_t i = 0; i < metric->options.count && !standing.name; i++) {
        const struct report_metric_option *option = metric->options.items[i];
        struct report_section_filters filter =
            report_section_filter_join_more(outer, option->filter);
        if (!option->filter || report_section_filter_matches(&filter, view)) {
            standing.name = &option->name;
            standing.label = report_has(&option->label) ? &option->label : &metric->label;
            importance = option->filter && filter.importance ? filter.importance : importance;
        }
    }
    if (!standing.name && report_section_filter_matches(&base, view)) {
        standing.name = &metric->name;
    }
    standing.required = importance && importance->integer == REPORT_REQUIRED;
    standing.optional = importance && importance->integer == REPORT_OPTIONAL;
    return standing;
}
