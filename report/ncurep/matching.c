// SPDX-License-Identifier: Apache-2.0
//
// A stack is gone over once, from the bottom. Place k of `now` says that the first k items of the
// expression can stand for what came so far; a `*` is passed without any range, too.
#include "report/ncurep/matching.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/select/filter.h"

enum { YES = 1 }; // beside 0 for no and what is below 0

struct work {
    struct report_matching *matching;
    const struct report_state *state;
    const struct report_filter *filter;
    bool exclude;
    struct report_fault *fault;
};

static int matches(struct work *work, const struct report_item *item, struct nvtxt_slice name) {
    return report_item_matches(work->filter, work->exclude, item, name, work->fault);
}

static int domain_matches(struct work *work, const struct report_state_domain *domain) {
    char made[REPORT_STATE_NAME];
    if (!work->filter->has_domain) {
        return domain->is_default;
    }
    return matches(work, &work->filter->domain, report_state_domain_name(domain, made));
}

// ---- Push/pop -----------------------------------------------------------------------------------

static void pass_stars(const struct report_filter *filter, bool *places) {
    for (size_t i = 0; i < filter->count; i++) {
        places[i + 1] |= places[i] && filter->items[i].kind == REPORT_ITEM_MANY;
    }
}

static int step(struct work *work, struct nvtxt_slice name) {
    const struct report_filter *filter = work->filter;
    bool *now = work->matching->now, *next = work->matching->next;
    next[0] = now[0] && !filter->bottom;
    for (size_t i = 0; i < filter->count; i++) {
        const struct report_item *item = &filter->items[i];
        int r = !now[i] ? 0 : item->kind == REPORT_ITEM_NAME ? matches(work, item, name) : YES;
        if (r < 0) {
            return r;
        }
        next[i] |= r > 0 && item->kind == REPORT_ITEM_MANY;
        next[i + 1] = r > 0 && item->kind != REPORT_ITEM_MANY;
    }
    next[filter->count] |= now[filter->count] && !filter->top;
    pass_stars(filter, next);
    work->matching->now = next;
    work->matching->next = now;
    return 0;
}

static int stack_matches(struct work *work, const struct report_pile *pile) {
    const struct report_filter *filter = work->filter;
    struct report_wire ranges = report_ranges_of(pile);
    struct report_range range;
    int r = 0;
    memset(work->matching->now, 0, (filter->count + 1) * sizeof(*work->matching->now));
    work->matching->now[0] = true;
    pass_stars(filter, work->matching->now);
    while (r == 0 && report_range_next(work->state, pile, &ranges, &range)) {
        r = step(work, range.name);
    }
    return r < 0 ? r : work->matching->now[filter->count];
}

// Whether a stack of a domain satisfies it.
static int any_stack_matches(struct work *work, const struct report_state_domain *domain) {
    struct report_state_piles piles = {.begun = false};
    struct report_pile pile;
    int r = 0;
    while (r == 0 && report_state_next_pile(work->state, domain, &piles, &pile)) {
        r = pile.start_end ? 0 : stack_matches(work, &pile);
    }
    return r;
}

// An expression of stars only holds for every stack, also without any range. Its domain need not be
// there; a regular expression looks for one, and the default domain always is.
static int stars_match(struct work *work) {
    const struct report_filter *filter = work->filter;
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->items[i].kind != REPORT_ITEM_MANY) {
            return 0;
        }
    }
    const struct report_state_domain domain = {.is_default = true};
    return filter->is_regex ? domain_matches(work, &domain) : YES;
}

// ---- Start/end ----------------------------------------------------------------------------------

// Whether a range of that name is open in a domain.
static int name_is_open(struct work *work, const struct report_item *item,
                        const struct report_state_domain *domain) {
    struct report_state_piles piles = {.begun = false};
    struct report_pile pile;
    struct report_range range;
    int r = 0;
    while (r == 0 && report_state_next_pile(work->state, domain, &piles, &pile)) {
        struct report_wire ranges = report_ranges_of(&pile);
        while (r == 0 && pile.start_end && report_range_next(work->state, &pile, &ranges, &range)) {
            r = matches(work, item, range.name);
        }
    }
    return r;
}

static int all_are_open(struct work *work, const struct report_state_domain *domain) {
    int r = YES;
    for (size_t i = 0; i < work->filter->count && r > 0; i++) {
        r = name_is_open(work, &work->filter->items[i], domain);
    }
    return r;
}

// ---- All ----------------------------------------------------------------------------------------

static int filter_matches(struct work *work) {
    const struct report_filter *filter = work->filter;
    struct report_state_domain domain;
    size_t domains = 0;
    int r = filter->is_push_pop ? stars_match(work) : 0;
    while (r == 0 && report_state_next_domain(work->state, &domains, &domain)) {
        r = domain_matches(work, &domain);
        if (r > 0) {
            r = filter->is_push_pop ? any_stack_matches(work, &domain)
                                    : all_are_open(work, &domain);
        }
    }
    return r;
}

int report_matching_take(struct report_matching *matching, const struct report_state *state,
                         struct report_fault *fault, bool *taken) {
    const struct report_selection *selection = matching->selection;
    const size_t includes = selection->includes_count;
    bool included = includes == 0, excluded = false;
    fault->column = 0;
    for (size_t i = 0; i < includes + selection->excludes_count; i++) {
        const bool exclude = i >= includes;
        struct work work = {matching, state,
                            exclude ? selection->excludes[i - includes] : selection->includes[i],
                            exclude, fault};
        int r = filter_matches(&work);
        if (r < 0) {
            return fault->column > 0 ? NVTXT_WRONG : r;
        }
        matching->seen[i] |= r > 0;
        included |= r > 0 && !exclude;
        excluded |= r > 0 && exclude;
    }
    *taken = included && !excluded;
    return 0;
}

bool report_matching_is_unused(const struct report_matching *matching) {
    const struct report_selection *selection = matching->selection;
    for (size_t i = 0; i < selection->includes_count + selection->excludes_count; i++) {
        if (!matching->seen[i]) {
            return true;
        }
    }
    return false;
}

int report_matching_init(struct report_matching *matching,
                         const struct report_selection *selection) {
    size_t most = 0, filters = selection->includes_count + selection->excludes_count;
    for (size_t i = 0; i < filters; i++) {
        const struct report_filter *filter =
            i < selection->includes_count ? selection->includes[i]
                                          : selection->excludes[i - selection->includes_count];
        most = filter->count > most ? filter->count : most;
    }
    *matching = (struct report_matching){
        .selection = selection,
        .now = calloc(most + 1, sizeof(bool)),
        .next = calloc(most + 1, sizeof(bool)),
        .seen = calloc(filters + 1, sizeof(bool)),
    };
    return matching->now && matching->next && matching->seen ? 0 : nvtxt_origin(-ENOMEM);
}

void report_matching_deinit(struct report_matching *matching) {
    free(matching->now);
    free(matching->next);
    free(matching->seen);
    *matching = (struct report_matching){.selection = NULL};
}
