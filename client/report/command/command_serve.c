// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report serve`: replies are written out when no whole request is left to answer, so a
// script that sends many requests at once gets many replies at once.
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "client/common/signals.h"
#include "client/report/job.h"
#include "client/report/profile.h"
#include "report/serve/captured.h"
#include "report/serve/lines.h"
#include "report/serve/profiled.h"
#include "report/serve/serve.h"

// A signal that comes just before a read would wait for the next request: poll() sees both, and
// that nobody reads replies any more.
static bool waits_for_input(void) {
    struct pollfd all[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = signals_fd(), .events = POLLIN},
                           {.fd = STDOUT_FILENO}};
    while (poll(all, 3, -1) < 0 && errno == EINTR && !signals_came()) {
    }
    return !signals_came() && !(all[2].revents & (POLLERR | POLLHUP));
}

// Sets `ends` when no more will be read: a signal ends it like the end of the input; the job looks
// for signals.
static int wait_for_more(struct report_job *job, struct report_lines *lines, bool *ends) {
    *ends = nvtxt_out_flush(&job->out) || !waits_for_input();
    int result = *ends ? 0 : report_lines_read(lines);
    return result == -EINTR ? 0 : result;
}

static int answer(struct report_job *job, struct report_serve *serve, struct report_lines *lines) {
    struct nvtxt_slice line;
    bool ends = false;
    int result = 0;
    while (result == 0 && !ends && !job->out.error && !signals_came()) {
        switch (report_lines_take(lines, &line)) {
        case REPORT_LINES_END:
            return 0;
        case REPORT_LINES_ONE:
            result = report_serve_line(serve, line, &job->out);
            break;
        case REPORT_LINES_TOO_LONG:
            report_serve_too_long(&job->out);
            break;
        case REPORT_LINES_WAIT:
            result = wait_for_more(job, lines, &ends);
        }
    }
    return result;
}

// ---- Report files of Nsight Compute -------------------------------------------------------------

// Whether options ask for what only events have.
static bool selects_events(const struct report_selection *selection) {
    return selection->domain_includes_count > 0 || selection->domain_excludes_count > 0 ||
           selection->within_count > 0 || selection->within_none || selection->has_since ||
           selection->has_until || selection->has_last || selection->pids_count > 0 ||
           selection->tids_count > 0 || selection->sources_count > 0 ||
           selection->categories_count > 0 || selection->kinds != 0 ||
           selection->colors_count > 0 || selection->match || selection->payloads_count > 0 ||
           selection->has_min || selection->has_max || selection->has_iterations ||
           selection->skip_iterations > 0;
}

static int refuse_selection(struct term *term) {
    term_say(term, "a report file of Nsight Compute has no events: of the options that select, it "
                   "takes --nvtx-include and --nvtx-exclude");
    return OUTCOME_USAGE;
}

static int open_objects(struct report_job *job, struct report_ncurep **profile,
                        struct report_objects **objects) {
    const struct report_selection *selection = &job->options->selection;
    struct report_ncurep_fault why;
    struct report_fault wrong = {0};
    if (job->model) {
        return report_captured_new(objects, job->model);
    }
    if (selects_events(selection)) {
        return refuse_selection(job->term);
    }
    int result = (int)profile_open(profile, job->term, job->stores[0], job->options->max_memory);
    if (result != 0) {
        return result;
    }
    result = report_profiled_new(objects, *profile, nvtxt_slice_of(job->stores[0]), selection, &why,
                                 &wrong);
    if (result == REPORT_NCUREP_TOO_LARGE) {
        term_say(job->term, "cannot read %s: %s", job->stores[0], why.what);
        return OUTCOME_SYSTEM;
    }
    if (result == 0 && (*objects)->range_count == 0 && selection->expect_some) {
        report_job_raise(job, OUTCOME_FAULTS);
    }
    return result > 0 ? (int)report_options_refuse(job->term, &wrong) : result;
}

int report_command_serve(struct report_job *job) {
    struct report_ncurep *profile = NULL;
    struct report_objects *objects = NULL;
    struct report_serve *serve = NULL;
    struct report_lines lines = {.data = NULL};
    int result = open_objects(job, &profile, &objects);
    result = result ? result : report_serve_new(&serve, objects, PACKAGE_VERSION);
    result = result ? result : report_lines_init(&lines, STDIN_FILENO, REPORT_SERVE_LINE_BYTES);
    result = result ? result : answer(job, serve, &lines);
    report_lines_deinit(&lines);
    report_serve_free(serve);
    if (profile) {
        report_profiled_free(objects);
        report_ncurep_free(profile);
    } else {
        report_captured_free(objects);
    }
    return result;
}
