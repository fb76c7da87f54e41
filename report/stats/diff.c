// SPDX-License-Identifier: Apache-2.0
//
// The durations of each side stand in one array, those of a name and kind side by side and sorted.
// The groups of both sides are sorted by name, so one walk finds the pairs. The test walks through
// the two sorted pieces of a pair: equal values share the mean of their ranks.
#include "report/stats/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/model/spread.h"
#include "report/stats/group.h"

#define KINDS 2            // a group is a name and a kind
#define TESTED 10          // ranges on both sides, from which on medians are compared
#define LEAST_GATE 2.0     // percent, for means
#define SIGNIFICANT 2.576  // |z| at 1 %
#define DECIDING_PERCENT 1 // of BASE's total
#define COMMON_PERCENT 50  // of either side's total

struct group {
    struct nvtxt_slice name, domain;
    unsigned kind;
    uint64_t *values; // sorted
    struct report_diff_side side;
};

struct side {
    const struct report_model *model;          // NULL: the samples
    const struct report_diff_samples *samples; // in order of their names
    struct nvtxt_slice *names;
    uint64_t *values;
    struct group *groups; // by name, domain, kind
    size_t group_count;
    unsigned __int128 total, common;
    size_t open;
};

// ---- The test -----------------------------------------------------------------------------------

double report_mann_whitney(const uint64_t *base, size_t base_count, const uint64_t *new,
                           size_t new_count) {
    long double n1 = (long double)base_count, n2 = (long double)new_count, n = n1 + n2;
    long double ranks = 0, ties = 0, before = 0; // ranks of NEW; sum of t^3 - t
    for (size_t i = 0, k = 0; i < base_count || k < new_count;) {
        uint64_t value = k == new_count || (i < base_count && base[i] < new[k]) ? base[i] : new[k];
        size_t i_end = i, k_end = k;
        while (i_end < base_count && base[i_end] == value) {
            i_end++;
        }
        while (k_end < new_count && new[k_end] == value) {
            k_end++;
        }
        long double equal = (long double)(i_end - i + k_end - k);
        ranks += (long double)(k_end - k) * (before + (equal + 1) / 2);
        ties += equal * equal * equal - equal;
        before += equal;
        i = i_end;
        k = k_end;
    }
    long double u = ranks - n2 * (n2 + 1) / 2;
    long double variance = n > 1 ? n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))) : 0;
    return variance > 0 ? (double)((u - n1 * n2 / 2) / sqrtl(variance)) : 0;
}

// ---- A side -------------------------------------------------------------------------------------

static uint32_t group_of(const void *context, const struct report_event *event) {
    (void)context;
    return report_is_timed(event) ? event->name * KINDS + (event->kind == REPORT_START_END)
                                  : REPORT_NONE;
}

static int by_value(const void *left, const void *right) {
    return NVTXT_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

static int compare_groups(const struct group *a, const struct group *b) {
    int order = nvtxt_slice_order(a->name, b->name);
    order = order ?: nvtxt_slice_order(a->domain, b->domain);
    return order ?: (int)a->kind - (int)b->kind;
}

static int by_name(const void *left, const void *right) {
    return compare_groups(left, right);
}

static void finish_group(struct side *side, struct group *group, size_t count) {
    const struct report_spread spread = report_spread_of(group->values, count);
    qsort(group->values, count, sizeof(*group->values), by_value);
    group->side.count = count;
    group->side.total = spread.sum;
    group->side.avg = spread.avg;
    group->side.med = spread.median;
    side->total += spread.sum;
}

static void take_group(struct side *side, const struct report_groups *groups, size_t index) {
    const struct report_capture *capture = side->model->capture;
    size_t first = groups->first[index], count = report_group_size(groups, index);
    const struct report_name *name = &capture->names[index / KINDS];
    struct group *group = &side->groups[side->group_count++];
    *group = (struct group){
        .name = side->names[index / KINDS],
        .domain = capture->domains[name->domain],
        .kind = index % KINDS,
        .values = side->values + first,
    };
    for (size_t i = 0; i < count; i++) {
        uint32_t event = groups->events[first + i];
        group->values[i] = report_duration(&capture->events[event]);
        group->side.self += group->kind == 0 ? side->model->self_ns[event] : group->values[i];
    }
    finish_group(side, group, count);
}

static int by_sample(const void *left, const void *right) {
    const struct report_diff_sample *a = left, *b = right;
    return nvtxt_slice_order(a->name, b->name);
}

// The same of kernels: those of one name are neighbours after sorting.
static int take_samples(struct side *side) {
    const struct report_diff_samples *samples = side->samples;
    side->values = malloc((samples->count + 1) * sizeof(*side->values));
    side->groups = calloc(samples->count + 1, sizeof(*side->groups));
    if (!side->values || !side->groups) {
        return nvtxt_origin(-ENOMEM);
    }
    if (samples->count > 0) {
        qsort(samples->items, samples->count, sizeof(*samples->items), by_sample);
    }
    for (size_t first = 0, i = 0; first < samples->count; first = i) {
        struct group *group = &side->groups[side->group_count++];
        *group = (struct group){.name = samples->items[first].name,
                                .domain = NVTXT_SLICE(""),
                                .values = side->values + first};
        for (; i < samples->count && by_sample(&samples->items[first], &samples->items[i]) == 0;
             i++) {
            side->values[i] = samples->items[i].ns;
            group->side.self += samples->items[i].ns;
        }
        finish_group(side, group, i - first);
    }
    return 0;
}

static void count_open(struct side *side) {
    for (size_t i = 0; i < side->model->count; i++) {
        const unsigned both = REPORT_SELECTED | REPORT_OPEN;
        side->open += (side->model->capture->events[i].flags & both) == both;
    }
}

static int take_side(struct side *side) {
    const struct report_capture *capture = side->model->capture;
    struct report_groups groups;
    size_t used = 0;
    int r = report_groups_init(&groups, side->model, capture->name_count * KINDS, group_of, NULL);
    for (size_t i = 0; r == 0 && i < groups.group_count; i++) {
        used += report_group_size(&groups, i) > 0;
    }
    size_t total = r == 0 ? groups.first[groups.group_count] : 0;
    side->names = report_name_texts(capture);
    side->values = malloc((total + 1) * sizeof(*side->values));
    side->groups = calloc(used + 1, sizeof(*side->groups));
    r = r == 0 && !(side->names && side->values && side->groups) ? nvtxt_origin(-ENOMEM) : r;
    for (size_t i = 0; r == 0 && i < groups.group_count; i++) {
        if (report_group_size(&groups, i) > 0) {
            take_group(side, &groups, i);
        }
    }
    report_groups_deinit(&groups);
    if (r == 0) {
        qsort(side->groups, side->group_count, sizeof(*side->groups), by_name);
        count_open(side);
    }
    return r;
}

// ---- The rows -----------------------------------------------------------------------------------

static void judge(struct report_diff_row *row, const struct group *base, const struct group *new,
                  double gate) {
    bool tested = base->side.count >= TESTED && new->side.count >= TESTED;
    double before = tested ? base->side.med : base->side.avg;
    double after = tested ? new->side.med : new->side.avg;
    double least = tested || gate > LEAST_GATE ? gate : LEAST_GATE;
    bool differs = before != after;
    row->has_delta = before > 0 || !differs;
    row->delta_pct = differs && row->has_delta ? 100 * (after - before) / before : 0;
    if (row->has_delta) {
        differs = fabs(row->delta_pct) > least;
    }
    if (tested) {
        row->has_z = true;
        row->z = report_mann_whitney(base->values, base->side.count, new->values, new->side.count);
        differs = differs && fabs(row->z) >= SIGNIFICANT;
    }
    row->change = !differs         ? REPORT_DIFF_SAME
                  : after > before ? REPORT_DIFF_SLOWER
                                   : REPORT_DIFF_FASTER;
}

// One of the groups may be NULL.
static void put_row(struct report_diff *diff, struct side sides[2], const struct group *base,
                    const struct group *new, double gate) {
    const struct group *one = base ?: new;
    struct report_diff_row *row = &diff->rows[diff->row_count++];
    *row = (struct report_diff_row){
        .name = one->name,
        .kind = one->kind ? REPORT_START_END : REPORT_PUSH_POP,
        .change = base ? REPORT_DIFF_REMOVED : REPORT_DIFF_ADDED,
    };
    if (base) {
        row->base = base->side;
    }
    if (new) {
        row->new = new->side;
    }
    if (base && new) {
        judge(row, base, new, gate);
        row->decides = base->side.total * 100 >= sides[0].total * DECIDING_PERCENT;
        sides[0].common += base->side.total;
        sides[1].common += new->side.total;
    }
}

static unsigned __int128 change_of(const struct report_diff_row *row) {
    return row->base.self > row->new.self ? row->base.self - row->new.self
                                          : row->new.self - row->base.self;
}

static int by_change(const void *left, const void *right) {
    const struct report_diff_row *a = left, *b = right;
    int order = NVTXT_ORDER(change_of(b), change_of(a));
    order = order ?: nvtxt_slice_order(a->name, b->name);
    return order ?: (int)a->kind - (int)b->kind;
}

static int put_rows(struct report_diff *diff, struct side sides[2], double gate) {
    size_t i = 0, k = 0;
    diff->rows = calloc(sides[0].group_count + sides[1].group_count + 1, sizeof(*diff->rows));
    if (!diff->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    while (i < sides[0].group_count || k < sides[1].group_count) {
        const struct group *base = i < sides[0].group_count ? &sides[0].groups[i] : NULL;
        const struct group *new = k < sides[1].group_count ? &sides[1].groups[k] : NULL;
        int order = !base ? 1 : !new ? -1 : compare_groups(base, new);
        put_row(diff, sides, order <= 0 ? base : NULL, order >= 0 ? new : NULL, gate);
        i += order <= 0;
        k += order >= 0;
    }
    qsort(diff->rows, diff->row_count, sizeof(*diff->rows), by_change);
    return 0;
}

// ---- The verdict --------------------------------------------------------------------------------

static bool is_too_little(const struct side *side) {
    return side->common * 100 < side->total * COMMON_PERCENT;
}

static bool is_inconclusive(struct report_diff *diff, const struct side sides[2]) {
    static const char *const words[] = {"BASE", "NEW"};
    for (size_t i = 0; i < 2; i++) {
        if (sides[i].group_count == 0) {
            snprintf(diff->reason, sizeof(diff->reason), "%s has no %s", words[i],
                     diff->of_kernels ? "kernels with a duration" : "ranges");
            return true;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (is_too_little(&sides[i])) {
            double share = 100 * (double)sides[i].common / (double)sides[i].total;
            snprintf(diff->reason, sizeof(diff->reason),
                     "the names that both have are %.1f %% of the time of %s: less than %d %%",
                     share, words[i], COMMON_PERCENT);
            return true;
        }
    }
    return false;
}

// The first row that changed in that way and counts, and how many there are.
static size_t find_change(const struct report_diff *diff, enum report_diff_change change,
                          const struct report_diff_row **first) {
    size_t count = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct report_diff_row *row = &diff->rows[i];
        if (row->decides && row->change == change) {
            *first = count == 0 ? row : *first;
            count++;
        }
    }
    return count;
}

static void explain(struct report_diff *diff, const struct report_diff_row *row, size_t count,
                    const char *what) {
    char by[64] = "";
    if (row->has_delta) {
        snprintf(by, sizeof(by), " (%+.1f %%)", row->delta_pct);
    }
    struct nvtxt_slice name = nvtxt_slice_cut(row->name, REPORT_DIFF_REASON / 2);
    if (count == 1) {
        snprintf(diff->reason, sizeof(diff->reason), "%.*s got %s%s", (int)name.len, name.data,
                 what, by);
    } else {
        snprintf(diff->reason, sizeof(diff->reason), "%.*s got %s%s, and %zu more", (int)name.len,
                 name.data, what, by, count - 1);
    }
}

static void decide(struct report_diff *diff, const struct side sides[2], double gate) {
    const struct report_diff_row *slower = NULL, *faster = NULL;
    size_t slower_count = find_change(diff, REPORT_DIFF_SLOWER, &slower);
    size_t faster_count = find_change(diff, REPORT_DIFF_FASTER, &faster);
    if (is_inconclusive(diff, sides)) {
        diff->verdict = REPORT_DIFF_INCONCLUSIVE;
    } else if (slower_count > 0) {
        diff->verdict = REPORT_DIFF_REGRESSION;
        explain(diff, slower, slower_count, "slower");
    } else if (faster_count > 0) {
        diff->verdict = REPORT_DIFF_IMPROVEMENT;
        explain(diff, faster, faster_count, "faster");
    } else {
        diff->verdict = REPORT_DIFF_NEUTRAL;
        snprintf(diff->reason, sizeof(diff->reason),
                 "no name with %d %% of BASE's time or more changed by more than %g %%",
                 DECIDING_PERCENT, gate);
    }
}

// ---- The whole ----------------------------------------------------------------------------------

static int compare_sides(struct report_diff *diff, struct side sides[2], double gate) {
    *diff = (struct report_diff){.of_kernels = !sides[0].model};
    int (*take)(struct side *) = diff->of_kernels ? take_samples : take_side;
    int r = take(&sides[0]);
    r = r ?: take(&sides[1]);
    r = r ?: put_rows(diff, sides, gate);
    if (r == 0) {
        decide(diff, sides, gate);
    }
    for (size_t i = 0; i < 2; i++) {
        diff->names[i] = sides[i].names;
        free(sides[i].values);
        free(sides[i].groups);
    }
    diff->open_base = sides[0].open;
    diff->open_new = sides[1].open;
    return r;
}

int report_diff_init(struct report_diff *diff, const struct report_model *base,
                     const struct report_model *new, double gate) {
    return compare_sides(diff, (struct side[2]){{.model = base}, {.model = new}}, gate);
}

int report_diff_kernels_init(struct report_diff *diff, const struct report_diff_samples *base,
                             const struct report_diff_samples *new, double gate) {
    return compare_sides(diff, (struct side[2]){{.samples = base}, {.samples = new}}, gate);
}

void report_diff_deinit(struct report_diff *diff) {
    free(diff->rows);
    free(diff->names[0]);
    free(diff->names[1]);
    *diff = (struct report_diff){0};
}

const char *report_diff_verdict_name(enum report_diff_verdict verdict) {
    static const char *const names[] = {"neutral", "improvement", "regression", "inconclusive"};
    return names[verdict];
}

const char *report_diff_change_name(enum report_diff_change change) {
    static const char *const names[] = {"same", "slower", "faster", "added", "removed"};
    return names[change];
}
