// SPDX-License-Identifier: Apache-2.0
//
// What went wrong with sources, for those that a selection takes. A diagnostic has the time at
// which its line came. Those of a file came when it was imported, which says nothing, so they
// belong to the file's events. Of a source with more diagnostics than a store keeps, the others
// came later than those that it has.
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/model/model.h"
#include "report/select/conditions.h"

struct bad_lines {
    int64_t since_ns, until_ns;
};

static bool is_within(const struct bad_lines *of, int64_t from, int64_t to) {
    return to >= of->since_ns && from <= of->until_ns;
}

static bool is_file(const struct report_source *source) {
    return source->kind.data && nvtxt_slice_equal(source->kind, nvtxt_slice_of("file"));
}

static bool has_span(const struct bad_lines *of) {
    return of->since_ns != INT64_MIN || of->until_ns != INT64_MAX;
}

// Whether something of the source may be in the span.
static bool touches_span(const struct bad_lines *of, const struct report_source *source) {
    bool events = source->has_times && is_within(of, source->first_ns, source->last_ns);
    int64_t closed = source->has_closed ? source->closed_ns : INT64_MAX;
    bool lives = is_file(source) ? !source->has_times : is_within(of, source->opened_ns, closed);
    return !has_span(of) || events || lives;
}

static bool is_error(const struct report_diagnostic *diagnostic) {
    return nvtxt_slice_equal(diagnostic->severity, nvtxt_slice_of("error"));
}

// Keeps the diagnostics of the span, and counts them.
static void cut_diagnostics(const struct bad_lines *of, struct report_source *source) {
    int64_t errors = 0, warnings = 0, stored_errors = 0, stored_warnings = 0, last = INT64_MIN;
    size_t kept = 0;
    for (size_t i = 0; i < source->diagnostic_count; i++) {
        struct report_diagnostic *diagnostic = &source->diagnostics[i];
        bool error = is_error(diagnostic);
        stored_errors += error;
        stored_warnings += !error;
        last = diagnostic->has_at && diagnostic->at_ns > last ? diagnostic->at_ns : last;
        if (!diagnostic->has_at || is_within(of, diagnostic->at_ns, diagnostic->at_ns)) {
            errors += error;
            warnings += !error;
            source->diagnostics[kept++] = *diagnostic;
        }
    }
    int64_t closed = source->has_closed ? source->closed_ns : INT64_MAX;
    bool rest = is_within(of, last, closed);
    int64_t more_errors = source->errors - stored_errors;
    int64_t more_warnings = source->warnings - stored_warnings;
    source->diagnostic_count = kept;
    source->errors = errors + (rest && more_errors > 0 ? more_errors : 0);
    source->warnings = warnings + (rest && more_warnings > 0 ? more_warnings : 0);
}

static void leave_out(struct report_source *source) {
    source->left_out = true;
    source->diagnostic_count = 0;
    source->errors = source->warnings = 0;
}

// Whether the source of a loss was asked for. Sources stand in the order of stores and ids.
static bool is_of_named(const struct report_capture *capture, const struct report_loss *loss,
                        const bool *named) {
    size_t low = 0, high = loss->has_source ? capture->source_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct report_source *source = &capture->sources[middle];
        int order =
            NVTXT_ORDER(source->store, loss->store) ?: NVTXT_ORDER(source->id, loss->source);
        if (order == 0) {
            return named[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

// `named`: the sources that were asked for; NULL: all, and what is of none.
static void cut_losses(const struct bad_lines *of, struct report_capture *capture,
                       const bool *named) {
    size_t kept = 0;
    for (size_t i = 0; i < capture->loss_count; i++) {
        const struct report_loss *loss = &capture->losses[i];
        if ((!named || is_of_named(capture, loss, named)) &&
            is_within(of, loss->at_ns, loss->at_ns)) {
            capture->losses[kept++] = *loss;
        }
    }
    capture->loss_count = kept;
}

int report_bad_lines_select(struct report_capture *capture,
                            const struct report_conditions *conditions, int64_t since_ns,
                            int64_t until_ns) {
    const struct bad_lines of = {since_ns, until_ns};
    const struct report_selection *selection = conditions->selection;
    bool *has_events = calloc(2 * capture->source_count + 1, sizeof(*has_events));
    bool *named = has_events + capture->source_count;
    if (!has_events) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < capture->event_count; i++) {
        const struct report_event *event = &capture->events[i];
        if (event->source != REPORT_NONE && event->flags & REPORT_SELECTED) {
            has_events[event->source] = true;
        }
    }
    bool by_events = report_selection_looks_at_events(selection);
    for (size_t i = 0; i < capture->source_count; i++) {
        struct report_source *source = &capture->sources[i];
        bool fits = selection->sources_count == 0 || conditions->sources[i];
        named[i] = fits && (!by_events || has_events[i]);
        if (!has_events[i] && (!named[i] || !touches_span(&of, source))) {
            leave_out(source);
        } else if (has_span(&of) && !is_file(source)) {
            cut_diagnostics(&of, source);
        }
    }
    cut_losses(&of, capture, by_events || selection->sources_count > 0 ? named : NULL);
    free(has_events);
    return 0;
}

void report_bad_lines_hide(struct report_capture *capture) {
    for (size_t i = 0; i < capture->source_count; i++) {
        struct report_source *source = &capture->sources[i];
        for (size_t k = 0; k < source->diagnostic_count; k++) {
            source->diagnostics[k].message = source->diagnostics[k].code;
            source->diagnostics[k].excerpt = (struct nvtxt_slice){0};
        }
    }
}
