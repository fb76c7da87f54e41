// SPDX-License-Identifier: Apache-2.0
//
// One walk through both sides makes the rows, and adds up how much of each side they compare and
// leave open. That, and what the rows say, gives the verdict.
#include "report/diff/diff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

#define DECIDING_PERCENT 1 // of BASE's total
#define ENOUGH_PERCENT 50  // of either side's total
#define NAME_BYTES 200     // of a name in a reason
#define NAMED 2            // names of each side in a reason

static const char *const words[] = {"BASE", "NEW"};

// A comparison: both sides, and how much of each the names that both have, and the undecided ones,
// take.
struct comparison {
    const struct report_durations *sides[2];
    unsigned __int128 common[2], undecided[2];
    double gate;
};

// ---- The rows -----------------------------------------------------------------------------------

// One of the two may be NULL.
static void put_row(struct report_diff *diff, struct comparison *c,
                    const struct report_durations_of *base, const struct report_durations_of *new) {
    const struct report_durations_of *one = base ?: new;
    struct report_diff_row *row = &diff->rows[diff->row_count++];
    *row = (struct report_diff_row){
        .name = one->name,
        .kind = one->kind,
        .change = base ? REPORT_DIFF_REMOVED : REPORT_DIFF_ADDED,
        .sides = {base, new},
    };
    if (base) {
        row->base = base->side;
    }
    if (new) {
        row->new = new->side;
    }
    if (!base || !new) {
        return;
    }
    report_diff_judge(row, base, new, c->gate);
    row->decides = base->side.total * 100 >= c->sides[0]->total * DECIDING_PERCENT;
    c->common[0] += base->side.total;
    c->common[1] += new->side.total;
    if (row->change == REPORT_DIFF_UNDECIDED) {
        diff->undecided++;
        c->undecided[0] += base->side.total;
        c->undecided[1] += new->side.total;
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

static int put_rows(struct report_diff *diff, struct comparison *c) {
    const struct report_durations *base = c->sides[0], *new = c->sides[1];
    size_t i = 0, k = 0;
    diff->rows = calloc(base->count + new->count + 1, sizeof(*diff->rows));
    if (!diff->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    while (i < base->count || k < new->count) {
        const struct report_durations_of *left = i < base->count ? &base->list[i] : NULL;
        const struct report_durations_of *right = k < new->count ? &new->list[k] : NULL;
        int order = !left ? 1 : !right ? -1 : report_durations_compare(left, right);
        put_row(diff, c, order <= 0 ? left : NULL, order >= 0 ? right : NULL);
        i += order <= 0;
        k += order >= 0;
    }
    qsort(diff->rows, diff->row_count, sizeof(*diff->rows), by_change);
    return 0;
}

// ---- The verdict --------------------------------------------------------------------------------

// Adds to the reason; what has no room is left out.
__attribute__((format(printf, 2, 3))) static void say(struct report_diff *diff, const char *format,
                                                      ...) {
    size_t len = strlen(diff->reason);
    va_list args;
    va_start(args, format);
    vsnprintf(diff->reason + len, sizeof(diff->reason) - len, format, args);
    va_end(args);
}

static void say_name(struct report_diff *diff, const char *before, struct nvtxt_slice name) {
    struct nvtxt_slice cut = nvtxt_slice_cut(name, NAME_BYTES);
    say(diff, "%s", before);
    size_t at = strlen(diff->reason);
    say(diff, "%.*s", (int)cut.len, cut.data);
    if (diff->named_count < REPORT_DIFF_NAMED) {
        diff->named[diff->named_count++] =
            (struct report_diff_named){at, strlen(diff->reason) - at};
    }
}

// The first names that only one side has.
static void say_lonely(struct report_diff *diff, const char *side, enum report_diff_change change) {
    size_t count = 0;
    for (size_t i = 0; i < diff->row_count; i++) {
        if (diff->rows[i].change != change) {
            continue;
        }
        if (count == 0) {
            say(diff, "; only %s has", side);
        }
        if (count < NAMED) {
            say_name(diff, count == 0 ? " " : ", ", diff->rows[i].name);
        }
        count++;
    }
    if (count > NAMED) {
        say(diff, " and %zu more", count - NAMED);
    }
}

static bool lacks_ranges(struct report_diff *diff, const struct comparison *c) {
    for (size_t i = 0; i < 2; i++) {
        if (c->sides[i]->count == 0) {
            say(diff, "%s has no %s", words[i],
                diff->of_kernels ? "kernels with a duration" : "ranges");
            return true;
        }
    }
    return false;
}

static bool has_little_in_common(struct report_diff *diff, const struct comparison *c) {
    for (size_t i = 0; i < 2; i++) {
        unsigned __int128 total = c->sides[i]->total;
        if (c->common[i] * 100 < total * ENOUGH_PERCENT) {
            say(diff, "the names that both have are %.1f %% of the time of %s: less than %d %%",
                100 * (double)c->common[i] / (double)total, words[i], ENOUGH_PERCENT);
            say_lonely(diff, words[0], REPORT_DIFF_REMOVED);
            say_lonely(diff, words[1], REPORT_DIFF_ADDED);
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
        if ((row->decides || change == REPORT_DIFF_UNDECIDED) && row->change == change) {
            *first = count == 0 ? row : *first;
            count++;
        }
    }
    return count;
}

static bool is_mostly_undecided(struct report_diff *diff, const struct comparison *c) {
    const struct report_diff_row *row = NULL;
    bool mostly = false;
    for (size_t i = 0; i < 2; i++) {
        mostly |= c->undecided[i] * 100 >= c->sides[i]->total * ENOUGH_PERCENT;
    }
    if (diff->undecided == 0 || !mostly) {
        return false;
    }
    (void)find_change(diff, REPORT_DIFF_UNDECIDED, &row);
    say_name(diff, "", row->name);
    if (row->has_delta) {
        say(diff, " differs by %+.1f %%", row->delta_pct);
    } else {
        say(diff, " differs");
    }
    say(diff, ", which may be chance: it ran %zu and %zu times, %zu on each side would decide",
        row->base.count, row->new.count, row->runs_needed);
    if (diff->undecided > 1) {
        say(diff, "; and %zu more names", diff->undecided - 1);
    }
    return true;
}

static void explain(struct report_diff *diff, const struct report_diff_row *row, size_t count,
                    const char *what) {
    say_name(diff, "", row->name);
    say(diff, " got %s", what);
    if (row->has_delta) {
        say(diff, " (%+.1f %%)", row->delta_pct);
    }
    if (count > 1) {
        say(diff, ", and %zu more", count - 1);
    }
}

static enum report_diff_verdict decide(struct report_diff *diff, const struct comparison *c) {
    const struct report_diff_row *slower = NULL, *faster = NULL;
    size_t slower_count = find_change(diff, REPORT_DIFF_SLOWER, &slower);
    size_t faster_count = find_change(diff, REPORT_DIFF_FASTER, &faster);
    if (slower_count > 0) {
        explain(diff, slower, slower_count, "slower");
        return REPORT_DIFF_REGRESSION;
    }
    if (lacks_ranges(diff, c) || has_little_in_common(diff, c) || is_mostly_undecided(diff, c)) {
        return REPORT_DIFF_INCONCLUSIVE;
    }
    if (faster_count > 0) {
        explain(diff, faster, faster_count, "faster");
        return REPORT_DIFF_IMPROVEMENT;
    }
    say(diff, "no name with %d %% of BASE's time or more changed by more than %g %%",
        DECIDING_PERCENT, c->gate);
    if (diff->undecided > 0) {
        say(diff, "; of %zu name%s that cannot be said", diff->undecided,
            diff->undecided == 1 ? "" : "s");
    }
    return REPORT_DIFF_NEUTRAL;
}

// ---- The whole ----------------------------------------------------------------------------------

int report_diff_init(struct report_diff *diff, const struct report_durations *base,
                     const struct report_durations *new, double gate) {
    struct comparison c = {.sides = {base, new}, .gate = gate};
    *diff = (struct report_diff){.of_kernels = base->of_kernels};
    int r = put_rows(diff, &c);
    if (r == 0) {
        diff->verdict = decide(diff, &c);
    }
    return r;
}

void report_diff_deinit(struct report_diff *diff) {
    free(diff->rows);
    *diff = (struct report_diff){0};
}

const char *report_diff_verdict_name(enum report_diff_verdict verdict) {
    static const char *const names[] = {"neutral", "improvement", "regression", "inconclusive"};
    return names[verdict];
}

const char *report_diff_change_name(enum report_diff_change change) {
    static const char *const names[] = {"same",         "slower", "faster",
                                        "inconclusive", "added",  "removed"};
    return names[change];
}
