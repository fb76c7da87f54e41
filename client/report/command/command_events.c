// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report events`: the selected events in order. Each is written at once; when the reader of
// the output goes away, the rest is not made.
#include "client/report/job.h"
#include "client/report/screen.h"
#include "report/render/render_event.h"
#include "report/render/render_table.h"

static void write_objects(struct report_job *job, struct report_events *events, bool lines) {
    const struct report_model *model = job->model;
    bool first = true;
    for (size_t i = 0; i < model->count && job->out.error == 0; i++) {
        if (!(model->capture->events[i].flags & REPORT_SELECTED)) {
            continue;
        }
        nvtxt_out_bytes(&job->out, ",", !first && !lines);
        report_event_json(events, &job->out, i);
        nvtxt_out_bytes(&job->out, "\n", lines);
        first = false;
    }
}

static void write_document(struct report_job *job, struct report_events *events) {
    struct report_json json;
    report_json_begin(&json, &job->out, "events");
    report_json_array(&json, "events");
    write_objects(job, events, false);
    report_json_end_array(&json);
    report_json_end(&json);
}

static int write_table(struct report_job *job, struct report_events *events) {
    const struct report_table_view view = {.unit_ns = 1, .width = report_screen_width(job->out.fd)};
    struct report_table table;
    int rc = report_events_table(events, &table);
    if (rc == 0 && job->options->format == REPORT_TEXT) {
        report_table_text(&job->out, &table, &view);
    } else if (rc == 0) {
        report_table_separated(&job->out, &table, &view,
                               job->options->format == REPORT_CSV ? ',' : '\t');
    }
    report_table_deinit(&table);
    return rc;
}

int report_command_events(struct report_job *job) {
    struct report_events events;
    const enum report_format format = job->options->format;
    int rc = report_events_init(&events, job->model);
    if (rc < 0) {
        return rc;
    }
    if (format == REPORT_JSON) {
        write_document(job, &events);
    } else if (format == REPORT_JSONL) {
        write_objects(job, &events, true);
    } else {
        rc = write_table(job, &events);
    }
    report_events_deinit(&events);
    return rc;
}
