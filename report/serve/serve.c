// SPDX-License-Identifier: Apache-2.0
//
// A line becomes a request, a method answers it, and what was made for it is given back: memory
// does not grow with the number of requests.
#include "report/serve/serve.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/serve/request.h"

struct report_serve {
    struct report_service service;
};

int report_serve_new(struct report_serve **serve, struct report_objects *objects,
                     const char *version) {
    *serve = calloc(1, sizeof(**serve));
    if (!*serve) {
        return nvtxt_origin(-ENOMEM);
    }
    (*serve)->service.objects = objects;
    (*serve)->service.version = version;
    return 0;
}

void report_serve_free(struct report_serve *serve) {
    if (serve) {
        store_arena_deinit(&serve->service.arena);
        free(serve);
    }
}

int report_serve_request(struct report_serve *serve, struct report_request *request,
                         struct nvtxt_out *out) {
    int r = report_service_run(&serve->service, request, out);
    store_arena_reset(&serve->service.arena, STORE_CHUNK_BYTES);
    return r;
}

int report_serve_line(struct report_serve *serve, struct nvtxt_slice line, struct nvtxt_out *out) {
    struct report_request request;
    int r = report_request_read(&request, line);
    r = r ?: report_serve_request(serve, &request, out);
    if (r > 0) {
        report_request_write_refusal(&request, out);
    }
    report_request_deinit(&request);
    return r < 0 ? r : 0;
}

void report_serve_too_long(struct nvtxt_out *out) {
    struct report_request request = {.root = NULL};
    report_request_refuse(&request, REPORT_BAD_REQUEST, "the line is longer than %zu bytes",
                          REPORT_SERVE_LINE_BYTES);
    report_request_write_refusal(&request, out);
}
