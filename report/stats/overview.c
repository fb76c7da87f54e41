// SPDX-License-Identifier: Apache-2.0
//
// One pass over the events notes which threads, processes and domains they have; each of these is
// counted when it is seen first. A domain may be in several stores, so it is noted for each.
#include "report/stats/reports.h"

#include <stdlib.h>

struct seen {
    bool *threads, *processes;
    bool *domains; // store * domain_count + domain
};

static size_t first_time(bool *seen) {
    size_t first = !*seen;
    *seen = true;
    return first;
}

static void take_event(struct report_overview *all, const struct report_capture *capture,
                       const struct report_event *event, const struct seen *seen) {
    struct report_overview *of = &all[event->store];
    size_t domain = capture->names[event->name].domain;
    of->events++;
    of->marks += event->kind == REPORT_MARK;
    of->pushpop += event->kind == REPORT_PUSH_POP;
    of->startend += event->kind == REPORT_START_END;
    of->open += (event->flags & REPORT_OPEN) != 0;
    of->first_ns = of->has_events && of->first_ns < event->start ? of->first_ns : event->start;
    of->last_ns = of->has_events && of->last_ns > event->end ? of->last_ns : event->end;
    of->has_events = true;
    of->threads += first_time(&seen->threads[event->thread]);
    of->processes += first_time(&seen->processes[capture->threads[event->thread].process]);
    of->domains += first_time(&seen->domains[event->store * capture->domain_count + domain]);
}

static void take_sources(struct report_overview *all, const struct report_capture *capture) {
    for (size_t i = 0; i < capture->source_count; i++) {
        const struct report_source *source = &capture->sources[i];
        struct report_overview *of = &all[source->store];
        of->errors += (uint64_t)source->errors;
        of->warnings += (uint64_t)source->warnings;
        of->files_with_errors += source->errors > 0;
    }
    for (size_t i = 0; i < capture->loss_count; i++) {
        all[capture->losses[i].store].losses += capture->losses[i].count;
    }
}

struct report_overview *report_overviews(const struct report_model *model) {
    const struct report_capture *capture = model->capture;
    struct report_overview *all = calloc(capture->store_count + 1, sizeof(*all));
    const struct seen seen = {
        .threads = calloc(capture->thread_count + 1, sizeof(bool)),
        .processes = calloc(capture->process_count + 1, sizeof(bool)),
        .domains = calloc(capture->store_count * capture->domain_count + 1, sizeof(bool)),
    };
    if (all && seen.threads && seen.processes && seen.domains) {
        for (size_t i = 0; i < model->count; i++) {
            if (capture->events[i].flags & REPORT_SELECTED) {
                take_event(all, capture, &capture->events[i], &seen);
            }
        }
        take_sources(all, capture);
    } else {
        free(all);
        all = NULL;
    }
    free(seen.threads);
    free(seen.processes);
    free(seen.domains);
    return all;
}
