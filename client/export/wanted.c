// SPDX-License-Identifier: Apache-2.0
//
// Which events the options want. What the store can look for is its window; the rest is asked for
// event by event, the names only when all else fits.

#include "client/export/export.h"
#include "protocol/base/clock.h"

static int64_t subtract(int64_t from, int64_t what) {
    int64_t result;
    return __builtin_sub_overflow(from, what, &result) ? INT64_MIN : result;
}

struct store_read_window export_window(const struct export_options *options) {
    struct store_read_window window = STORE_READ_ALL;
    if (options->has_until) {
        window.until_ns = options->until_ns;
    }
    if (options->has_since) {
        window.since_ns = options->since_ns;
    } else if (options->has_last) {
        int64_t end = options->has_until ? options->until_ns : nvtxt_realtime_ns();
        window.since_ns = subtract(end, options->last_ns);
    }
    return window;
}

bool export_wants_all(const struct export_options *options) {
    return !options->has_since && !options->has_until && !options->has_last &&
           options->pids.count == 0 && options->sources.count == 0 &&
           options->categories.count == 0 && !options->has_match && !options->has_level;
}

static bool has_pid(const struct export_pids *pids, uint32_t pid) {
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->ids[i] == pid) {
            return true;
        }
    }
    return pids->count == 0;
}

static bool matches_text(const struct export_options *options, struct nvtxt_slice text) {
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)text.len};
    return regexec(&options->match, text.data, 0, &part, REG_STARTEND) == 0;
}

bool export_wants_process(const struct export_options *options,
                          const struct store_read_event *event) {
    return has_pid(&options->pids, store_event_pid(event->global_tid));
}

bool export_wants_text(const struct export_options *options, const struct store_read_event *event) {
    return !options->has_match || matches_text(options, event->text);
}

bool export_wants_category(const struct export_options *options, uint32_t category,
                           struct nvtxt_slice name) {
    const struct nvtxt_option_list *list = &options->categories;
    for (size_t i = 0; i < list->count; i++) {
        int64_t number;
        if (nvtxt_option_int64(list->words[i], &number)
                ? number == (int64_t)category
                : name.data && nvtxt_slice_equal(name, nvtxt_slice_of(list->words[i]))) {
            return true;
        }
    }
    return list->count == 0;
}

// A larger number is less severe.
bool export_wants_level(const struct export_options *options, const struct store_named_event *row) {
    return !options->has_level ||
           (row->level && nvtxt_level_span_has(&options->level, row->event->payload.int64));
}
