// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report serve`: replies are written out when no whole request is left to answer, so a
// script that sends many requests at once gets many replies at once.
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "client/common/outcome.h"
#include "client/report/job.h"
#include "report/serve/lines.h"
#include "report/serve/objects.h"

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
    int r = *ends ? 0 : report_lines_read(lines);
    return r == -EINTR ? 0 : r;
}

static int answer(struct report_job *job, struct report_serve *serve, struct report_lines *lines) {
    struct nvtxt_slice line;
    bool ends = false;
    int r = 0;
    while (r == 0 && !ends && !job->out.error && !signals_came()) {
        switch (report_lines_take(lines, &line)) {
        case REPORT_LINES_END:
            return 0;
        case REPORT_LINES_ONE:
            r = report_serve_line(serve, line, &job->out);
            break;
        case REPORT_LINES_TOO_LONG:
            report_serve_too_long(&job->out);
            break;
        case REPORT_LINES_WAIT:
            r = wait_for_more(job, lines, &ends);
        }
    }
    return r;
}

int report_command_serve(struct report_job *job) {
    struct report_objects *objects = NULL;
    struct report_serve *serve = NULL;
    struct report_lines lines = {.data = NULL};
    int r = job->launches ? report_profiled_new(&objects, job->launches[0])
                          : report_captured_new(&objects, job->model);
    r = r ?: report_serve_new(&serve, objects, PACKAGE_VERSION);
    r = r ?: report_lines_init(&lines, STDIN_FILENO, REPORT_SERVE_LINE_BYTES);
    r = r ?: answer(job, serve, &lines);
    report_lines_deinit(&lines);
    report_serve_free(serve);
    report_objects_free(objects);
    return r;
}
