// SPDX-License-Identifier: Apache-2.0
//
// Lines of logs without their stores in memory: a store is read in parts, and of each part only
// what the patterns count stays.
#include "client/report/job.h"

struct reading {
    struct report_patterns *patterns;
    const struct report_selection *selection;
    int64_t since_ns, until_ns;
    struct report_fault *fault;
    int wrong; // NVTXT_WRONG: with a fault
};

static int take_part(void *context, struct report_capture *capture) {
    struct reading *reading = context;
    int r = reading->wrong
                ?: report_select_part(capture, reading->selection, reading->since_ns,
                                      reading->until_ns, true, reading->fault);
    if (r > 0) {
        reading->wrong = r;
        return 0;
    }
    return r ?: report_patterns_take(reading->patterns, capture);
}

int lines_read(struct report_patterns *patterns, struct report_capture **capture,
               const struct lines_wanted *wanted, char *sentence, struct report_fault *fault) {
    struct reading reading = {.patterns = patterns,
                              .selection = wanted->selection,
                              .since_ns = wanted->since_ns,
                              .until_ns = wanted->until_ns,
                              .fault = fault};
    const struct report_load_options options = {.since_ns = wanted->since_ns,
                                                .until_ns = wanted->until_ns,
                                                .threads = wanted->threads,
                                                .interrupted = signals_came,
                                                .part = take_part,
                                                .context = &reading};
    int r = report_load(capture, wanted->stores, wanted->store_count, &options, sentence);
    if (r == 0 && reading.wrong == 0) {
        reading.wrong = report_select_part(*capture, wanted->selection, wanted->since_ns,
                                           wanted->until_ns, false, fault);
    }
    return r ?: reading.wrong > 0 ? LINES_REFUSED : reading.wrong;
}
