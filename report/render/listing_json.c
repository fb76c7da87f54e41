// SPDX-License-Identifier: Apache-2.0
//
// Member by member, in the order of nvtxt-report(1).
#include "report/render/listing.h"

#include <stdlib.h>

static void put_processes(struct report_json *json, const struct report_ncurep *report) {
    struct report_profiled_process *processes;
    size_t count;
    int r = report_session_processes(report, &processes, &count);
    json->out->error = json->out->error ?: r;
    report_json_array(json, "processes");
    for (size_t i = 0; i < count; i++) {
        report_json_object(json, NULL);
        report_json_uint(json, "pid", processes[i].pid);
        report_json_slice(json, "host", processes[i].host);
        report_json_slice(json, "name", processes[i].name);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    free(processes);
}

void report_listing_json_begin(struct report_json *json, const char *path,
                               const struct report_ncurep *report) {
    struct report_session session = {.blocks = {.at = 0}};
    struct report_provider provider;
    report_json_object(json, NULL);
    report_json_text(json, "path", path);
    report_json_uint(json, "version", REPORT_NCUREP_VERSION);
    report_json_array(json, "providers");
    while (report_session_next_provider(report, &session, &provider)) {
        report_json_object(json, NULL);
        report_json_slice(json, "name", provider.name);
        report_json_slice(json, "version", provider.version);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    put_processes(json, report);
    report_json_array(json, "results");
}

void report_listing_json_result(struct report_json *json, const struct report_listed *listed) {
    const struct report_ncurep_result *result = listed->result;
    struct report_state_domain domain;
    size_t domains = 0;
    report_json_object(json, NULL);
    report_json_uint(json, "index", listed->index);
    report_json_slice(json, "name", result->function);
    report_json_slice(json, "demangledName", result->demangled);
    report_json_slice(json, "mangledName", result->mangled);
    report_json_uint(json, "tid", result->tid);
    report_json_uint(json, "context", result->context);
    report_json_uint(json, "stream", result->stream);
    report_json_uint(json, "metrics", result->metric_count);
    report_json_array(json, "domains");
    while (report_state_next_domain(listed->state, &domains, &domain)) {
        report_render_state_json(json, listed->state, &domain, false);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}

void report_listing_json_end(struct report_json *json) {
    report_json_end_array(json);
    report_json_end_object(json);
}
