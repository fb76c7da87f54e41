// SPDX-License-Identifier: Apache-2.0
//
// The sweep judges the filter expressions, the conditions all other options; an event is selected
// if both agree. What no event fits is remembered for the notes.
#include "report/model/model.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/select/conditions.h"
#include "report/select/filter_set.h"

struct selecting {
    struct report_filter_set filters;
    struct report_conditions conditions;
    uint64_t *hits;  // a bit for each event
    uint64_t *seen;  // final bits of the filters
    unsigned fitted; // conditions that some event fits
};

static int run_filters(struct selecting *selecting, const struct report_model *model) {
    if (selecting->filters.count == 0) {
        return 0;
    }
    selecting->hits = calloc(model->count / 64 + 1, sizeof(*selecting->hits));
    selecting->seen = calloc(selecting->filters.words, sizeof(*selecting->seen));
    return selecting->hits && selecting->seen
               ? report_sweep(&selecting->filters, selecting->hits, selecting->seen)
               : nvtxt_origin(-ENOMEM);
}

static void flag_events(struct selecting *selecting, const struct report_capture *capture) {
    for (size_t i = 0; i < capture->event_count; i++) {
        struct report_event *event = &capture->events[i];
        unsigned fits = report_conditions_fit(&selecting->conditions, i);
        selecting->fitted |= fits;
        bool selected =
            fits == REPORT_FITS_ALL && (!selecting->hits || report_bit(selecting->hits, i));
        event->flags =
            (uint8_t)((event->flags & ~REPORT_SELECTED) | (selected ? REPORT_SELECTED : 0));
    }
}

static void flag_all(struct report_model *model) {
    for (size_t i = 0; i < model->count; i++) {
        model->capture->events[i].flags |= REPORT_SELECTED;
    }
    report_model_count_selected(model);
}

int report_select(struct report_model *model, const struct report_selection *selection,
                  int64_t since_ns, int64_t until_ns, struct nvtxt_buf *notes,
                  struct report_fault *fault) {
    struct selecting selecting = {0};
    if (report_selection_is_all(selection) && !selection->has_iterations) {
        flag_all(model);
        return 0;
    }
    int r = report_conditions_init(&selecting.conditions, model->capture, selection, since_ns,
                                   until_ns, false, fault);
    r = r ?: report_filter_set_init(&selecting.filters, model->capture, selection, fault);
    r = r ?: run_filters(&selecting, model);
    if (r == 0) {
        flag_events(&selecting, model->capture);
        report_model_count_selected(model);
        r = report_bad_lines_select(model->capture, &selecting.conditions, since_ns, until_ns);
    }
    if (r == 0) {
        struct report_outcome outcome = {.capture = model->capture,
                                         .selection = selection,
                                         .filters = &selecting.filters,
                                         .seen = selecting.seen,
                                         .fitted = selecting.fitted,
                                         .selected = model->selected};
        r = report_notes_write(&outcome, notes);
    }
    free(selecting.hits);
    free(selecting.seen);
    report_filter_set_deinit(&selecting.filters);
    report_conditions_deinit(&selecting.conditions);
    return r;
}

bool report_selects_alone(const struct report_selection *selection) {
    return selection->includes_count + selection->excludes_count + selection->categories_count ==
               0 &&
           (selection->within_count == 0 || selection->within_none) && !selection->has_iterations;
}

int report_select_part(struct report_capture *capture, const struct report_selection *selection,
                       int64_t since_ns, int64_t until_ns, bool part, struct report_fault *fault) {
    struct selecting selecting = {0};
    int r = report_conditions_init(&selecting.conditions, capture, selection, since_ns, until_ns,
                                   part, fault);
    if (r == 0) {
        flag_events(&selecting, capture);
    }
    report_conditions_deinit(&selecting.conditions);
    return r;
}
