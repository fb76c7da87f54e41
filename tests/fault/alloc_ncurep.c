// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails while a report file of Nsight Compute is read, listed, selected and
// served. Each of them must end, free all that it took, and report short memory.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/launch/launches.h"
#include "report/metric/metric.h"
#include "report/render/listing.h"
#include "report/serve/objects.h"
#include "report/serve/serve.h"
#include "tests/fault/alloc.h"
#include "tests/fault/fault_kit.h"

static struct report_selection filters;

static int list(const struct report_ncurep *report, struct nvtxt_out *out) {
    struct report_ncurep_cursor cursor = {.blocks = {.at = 0}};
    struct report_matching matching;
    struct report_state state = {.base = NULL};
    struct report_ncurep_result result;
    struct report_listed listed = {.result = &result, .state = &state};
    struct report_listing_text text = {.out = out};
    struct report_json json;
    struct report_fault fault;
    struct nvtxt_slice bytes;
    int rc = report_matching_init(&matching, &filters);
    report_json_init(&json, out);
    report_listing_text_begin(&text, "a", report);
    while (rc == 0 && report_ncurep_next(report, &cursor, &bytes)) {
        bool taken;
        report_ncurep_result_read(bytes, &result);
        rc = report_state_open(&state, &result);
        rc = rc ?: report_matching_take(&matching, &state, &fault, &taken);
        if (rc == 0) {
            report_listing_json_result(&json, &listed);
            report_listing_text_result(&text, &listed);
        }
    }
    report_matching_deinit(&matching);
    report_state_deinit(&state);
    return rc;
}

// Everything that a scope is asked for, of each result.
static int judge(const struct report_launches *launches) {
    int rc = 0;
    for (size_t i = 0; i < launches->count && rc == 0; i++) {
        const struct report_given *given = &launches->list[i].given;
        struct report_scopes *scopes;
        struct report_metrics *metrics = NULL;
        const struct report_metric *metric;
        rc = report_scopes_of_results(&scopes, &given, 1);
        rc = rc ?: report_metrics_new(&metrics, NULL, report_scopes_at(scopes, 0), NULL);
        const char *name;
        for (size_t n = 0; rc == 0 && (name = given->name_at(given, n)); n++) {
            rc = report_metrics_get(metrics, name, &metric);
        }
        report_metrics_free(metrics);
        report_scopes_free(scopes);
    }
    return rc;
}

static int ask(struct report_objects *objects, struct nvtxt_out *out) {
    static const char *const requests[] = {
        "{\"id\":1,\"method\":\"hello\"}",
        "{\"id\":2,\"method\":\"range\",\"params\":{\"range\":0}}",
        "{\"id\":3,\"method\":\"action\",\"params\":{\"range\":0,\"action\":0}}",
        "{\"id\":4,\"method\":\"metrics\",\"params\":{\"range\":0,\"action\":0}}",
        "{\"id\":5,\"method\":\"nvtx_state\",\"params\":{\"range\":0,\"action\":1}}",
        "{\"id\":6,\"method\":\"actions_by_nvtx\",\"params\":{\"range\":0,\"include\":[\"*/\"]}}",
        "{\"id\":7,\"method\":\"values\",\"params\":{\"range\":0,\"names\":[\"bytes\",\"rate\"]}}",
    };
    struct report_serve *serve;
    int rc = report_serve_new(&serve, objects, "0");
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && rc == 0; i++) {
        rc = report_serve_line(serve, nvtxt_slice_of(requests[i]), out);
    }
    report_serve_free(serve);
    return rc;
}

static int make_all(const void *context) {
    const struct report_ncurep_options options = {0};
    const char *path = context;
    struct report_ncurep *report;
    struct report_objects *objects = NULL;
    struct report_ncurep_fault why;
    struct report_fault wrong;
    struct nvtxt_out out;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    must(fd >= 0, "/dev/null");
    int rc = report_ncurep_open(&report, path, &options, &why);
    must(rc <= 0, why.what);
    int made = nvtxt_out_init(&out, fd);
    rc = rc ?: made;
    rc = rc ?: list(report, &out);
    struct report_launches *launches = NULL;
    struct report_matching matching = {.now = NULL};
    struct report_gathered gathered = {.incomplete = false};
    const struct report_launches_wish wish = {.matching = &matching, .gathered = &gathered};
    rc = rc ?: report_matching_init(&matching, &filters);
    if (rc == 0) {
        rc = report_launches_new(&launches, report, nvtxt_slice_of("a"), &wish, &why, &wrong);
    } else {
        report_ncurep_free(report);
    }
    rc = rc ?: judge(launches);
    rc = rc ?: report_profiled_new(&objects, launches);
    rc = rc ?: ask(objects, &out);
    report_objects_free(objects);
    report_launches_free(launches);
    report_matching_deinit(&matching);
    report_gathered_deinit(&gathered);
    nvtxt_out_deinit(&out);
    close(fd);
    return rc;
}

static void check_nothing(const void *context, int result) {
    (void)context;
    (void)result;
}

int main(void) {
    static const char *const names[] = {"kernels", "sample", "threads"};
    struct report_fault fault;
    alloc_install();
    must(report_selection_take(&filters, "nvtx-include", "*/", &fault) == 0, "a filter");
    must(report_selection_take(&filters, "nvtx-exclude", "never,none", &fault) == 0, "a filter");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/fuzz_ncurep/%s", getenv("top_srcdir"),
                 names[i]);
        must(make_all(path) == 0, path);
        unsigned once = alloc_each(fault_stride(1, 49), false, make_all, check_nothing, path);
        unsigned lasting = alloc_each(fault_stride(1, 49), true, make_all, check_nothing, path);
        printf("# %u and %u allocations of %s failed\n", once, lasting, names[i]);
    }
    report_selection_deinit(&filters);
    return 0;
}
