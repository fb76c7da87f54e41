// SPDX-License-Identifier: Apache-2.0
//
// One pass over the file in its order decides which results are looked at; then the ranges of the
// report lose the others, so that scripts and rules see the same ones. The place of a result in the
// file finds it again.
#include "report/launch/launches.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/select/filter.h"

struct choosing {
    struct report_launches *launches;
    const struct report_launches_wish *wish;
    struct report_state state;
    struct report_fault *wrong;
    size_t room;
};

static bool has_number(const struct report_launches_wish *wish, uint64_t number) {
    bool has = wish->number_count == 0;
    for (size_t i = 0; i < wish->number_count && !has; i++) {
        has = wish->numbers[i] == number;
    }
    return has;
}

// Returns 0, NVTXT_WRONG, or -ENOMEM.
static int has_name(struct choosing *choosing, const struct report_ncurep_result *result,
                    bool *has) {
    const struct report_launches_wish *wish = choosing->wish;
    const struct nvtxt_slice names[] = {result->function, result->demangled};
    *has = wish->name_count == 0;
    for (size_t i = 0; i < 2 * wish->name_count && !*has; i++) {
        int r = report_regex_search(wish->names[i / 2], names[i % 2]);
        if (r == REPORT_REGEX_COSTLY) {
            *choosing->wrong = (struct report_fault){.option = "kernel"};
            report_fault_set(choosing->wrong, 0, "too costly");
            return NVTXT_WRONG;
        }
        if (r < 0) {
            return r;
        }
        *has = r == REPORT_REGEX_YES;
    }
    return 0;
}

static int add_launch(struct choosing *choosing, const struct report_ncurep_result *result) {
    struct report_launches *launches = choosing->launches;
    if (nvtxt_grow(&launches->list, &choosing->room, launches->count + 1,
                   sizeof(*launches->list))) {
        return nvtxt_origin(-ENOMEM);
    }
    struct report_launch *launch = &launches->list[launches->count++];
    *launch = (struct report_launch){.all = launches, .bytes = result->bytes};
    launch->given = (struct report_given){
        .number = launches->result_count, .name = result->function, .path = launches->path};
    report_launch_give(launch);
    return 0;
}

static int look_at_result(struct choosing *choosing, struct nvtxt_slice bytes) {
    const struct report_launches_wish *wish = choosing->wish;
    struct report_ncurep_result result;
    bool taken, named;
    report_ncurep_result_read(bytes, &result);
    int r = report_state_open(&choosing->state, &result);
    r = r ?: report_matching_take(wish->matching, &choosing->state, choosing->wrong, &taken);
    if (r == 0 && report_matching_is_unused(wish->matching)) {
        report_gathered_add(wish->gathered, &choosing->state);
    }
    r = r ?: has_name(choosing, &result, &named);
    if (r == 0 && taken && named && has_number(wish, choosing->launches->result_count)) {
        r = add_launch(choosing, &result);
    }
    choosing->launches->result_count++;
    return r;
}

static int choose_results(struct choosing *choosing) {
    const struct report_ncurep *profile = choosing->launches->profile;
    struct report_ncurep_cursor cursor = {.blocks = {.at = 0}};
    struct nvtxt_slice bytes;
    int r = 0;
    while (r == 0 && report_ncurep_next(profile, &cursor, &bytes)) {
        r = look_at_result(choosing, bytes);
    }
    report_state_deinit(&choosing->state);
    return r;
}

static int by_place(const void *a, const void *b) {
    const char *place = a;
    const struct report_launch *launch = b;
    return NVTXT_ORDER(place, launch->bytes.data);
}

static bool is_looked_at(const struct report_launches *launches, struct nvtxt_slice result) {
    return launches->count > 0 &&
           bsearch(result.data, launches->list, launches->count, sizeof(*launches->list), by_place);
}

// Drops the other results from the ranges, and ranges without results.
static void cut_ranges(struct report_launches *launches) {
    struct report_ncurep *profile = launches->profile;
    size_t ranges = 0;
    for (size_t range = 0; range < profile->range_count; range++) {
        struct report_ncurep_range *one = &profile->ranges[range];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < one->count; i++) {
            bool stays = is_looked_at(launches, report_ncurep_action(profile, range, i));
            profile->results[one->first + kept] = profile->results[one->first + i];
            kept += stays;
        }
        one->count = kept;
        if (kept > 0) {
            profile->ranges[ranges++] = *one;
        }
    }
    profile->range_count = ranges;
}

int report_launches_new(struct report_launches **launches, struct report_ncurep *profile,
                        struct nvtxt_slice path, const struct report_launches_wish *wish,
                        struct report_ncurep_fault *why, struct report_fault *wrong) {
    struct report_launches *made = calloc(1, sizeof(*made));
    *launches = NULL;
    if (!made) {
        report_ncurep_free(profile);
        return nvtxt_origin(-ENOMEM);
    }
    made->profile = profile;
    made->path = path;
    struct choosing choosing = {.launches = made, .wish = wish, .wrong = wrong};
    int r = report_ncurep_index(profile, why);
    r = r ?: report_by_name_init(&made->metrics, profile);
    r = r ?: choose_results(&choosing);
    if (r != 0) {
        report_launches_free(made);
        return r;
    }
    cut_ranges(made);
    *launches = made;
    return 0;
}

void report_launches_free(struct report_launches *launches) {
    if (launches) {
        report_by_name_deinit(&launches->metrics);
        report_ncurep_free(launches->profile);
        store_arena_deinit(&launches->arena);
        free(launches->list);
        free(launches);
    }
}
