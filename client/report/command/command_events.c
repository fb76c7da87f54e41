// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report events`: the selected events in order. Each is written at once; when the reader of
// the output goes away, the rest is not made.
#include "client/report/command/loaded.h"

static void write_objects(struct report_job *job, struct report_events *events, bool lines) {
    const struct report_model *model = job->model;
    size_t left = report_job_view(job).limit ?: SIZE_MAX;
    bool first = true;
    for (size_t i = 0; i < model->count && left > 0 && job->out.error == 0; i++) {
        if (!(model->capture->events[i].flags & REPORT_SELECTED)) {
            continue;
        }
        nvtxt_out_bytes(&job->out, ",", !first && !lines);
        report_event_json(events, &job->out, i);
        nvtxt_out_bytes(&job->out, "\n", lines);
        first = false;
        left--;
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
    struct report_table table;
    int r = report_events_table(events, &table);
    if (r == 0) {
        report_job_table(job, &table);
    }
    report_table_deinit(&table);
    return r;
}

int report_command_events(struct report_job *job) {
    struct report_events events;
    const enum report_format format = job->options->format;
    int r = report_events_init(&events, job->model);
    if (r < 0) {
        return r;
    }
    if (format == REPORT_JSON) {
        write_document(job, &events);
    } else if (format == REPORT_JSONL) {
        write_objects(job, &events, true);
    } else {
        r = write_table(job, &events);
    }
    report_events_deinit(&events);
    return r;
}
