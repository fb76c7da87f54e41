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
#include "report/serve/captured.h"
#include "report/serve/lines.h"
#include "report/serve/serve.h"

// A signal that comes just before a read would wait for the next request: poll() sees both.
static bool waits_for_input(void) {
    struct pollfd both[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = signals_fd(), .events = POLLIN}};
    while (poll(both, 2, -1) < 0 && errno == EINTR && !signals_came()) {
    }
    return !signals_came();
}

// A signal ends it like the end of the input; the job looks for signals.
static int wait_for_more(struct report_job *job, struct report_lines *lines) {
    if (nvtxt_out_flush(&job->out) || !waits_for_input()) {
        return 0;
    }
    int result = report_lines_read(lines);
    return result == -EINTR ? 0 : result;
}

static int answer(struct report_job *job, struct report_serve *serve, struct report_lines *lines) {
    struct nvtxt_slice line;
    int result = 0;
    while (result == 0 && !job->out.error && !signals_came()) {
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
            result = wait_for_more(job, lines);
        }
    }
    return result;
}

int report_command_serve(struct report_job *job) {
    struct report_objects *objects = NULL;
    struct report_serve *serve = NULL;
    struct report_lines lines = {.data = NULL};
    int result = report_captured_new(&objects, job->model);
    result = result ? result : report_serve_new(&serve, objects, PACKAGE_VERSION);
    result = result ? result : report_lines_init(&lines, STDIN_FILENO, REPORT_SERVE_LINE_BYTES);
    result = result ? result : answer(job, serve, &lines);
    report_lines_deinit(&lines);
    report_serve_free(serve);
    report_captured_free(objects);
    return result;
}
