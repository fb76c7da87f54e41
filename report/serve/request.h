// SPDX-License-Identifier: Apache-2.0
//
// A request: its line read, its parameters checked, and the frame of its reply. A reply is either
// refused or begun, never both.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "protocol/text/out.h"
#include "report/serve/objects.h"

enum report_request_code {
    REPORT_BAD_REQUEST,
    REPORT_UNKNOWN_METHOD,
    REPORT_BAD_PARAMS,
    REPORT_NOT_FOUND,
};

#define REPORT_REQUEST_TEXT 768

struct report_request {
    json_t *root; // owned
    bool has_id;
    json_int_t id;
    const char *method;     // of `root`
    const json_t *params;   // of `root`; NULL: none
    struct report_json out; // of the reply
    enum report_request_code code;
    char text[REPORT_REQUEST_TEXT];
};

// Reads a line. Returns 0, NVTXT_WRONG, or -ENOMEM; deinit in each case.
int report_request_read(struct report_request *request, struct nvtxt_slice line);
void report_request_deinit(struct report_request *request);

// Notes why there is no result. Returns NVTXT_WRONG.
int report_request_refuse(struct report_request *request, enum report_request_code code,
                          const char *format, ...) __attribute__((format(printf, 3, 4)));

// The frame of a reply: refused, or the two sides of the members of its result.
void report_request_write_refusal(const struct report_request *request, struct nvtxt_out *out);
void report_request_begin(struct report_request *request, struct nvtxt_out *out);
void report_request_end(struct report_request *request);

// A parameter; NULL when it is not there, or null.
const json_t *report_request_param(const struct report_request *request, const char *name);

// An index below `limit`. Returns 0 or NVTXT_WRONG.
int report_request_index(struct report_request *request, const char *name, size_t limit,
                         size_t *index);

// A number from 0 on; `absent` when it is not there. Returns 0 or NVTXT_WRONG.
int report_request_number(struct report_request *request, const char *name, size_t absent,
                          size_t *number);

// A list of texts; NULL when it is not there. Returns 0 or NVTXT_WRONG.
int report_request_texts(struct report_request *request, const char *name, const json_t **texts);

// ---- Methods ------------------------------------------------------------------------------------

// nvtxt-report(1), "SERVE".
#define REPORT_SERVE_PROTOCOL 1

struct report_service {
    struct report_objects *objects; // borrowed
    const char *version;            // borrowed
    struct store_arena arena;       // of the request at hand
};

// Runs the method of the request. Returns 0 with a whole reply in `out`, NVTXT_WRONG
// with nothing in it, or -ENOMEM.
int report_service_run(struct report_service *service, struct report_request *request,
                       struct nvtxt_out *out);
