// SPDX-License-Identifier: Apache-2.0
//
// The messages of the control socket, one JSON object a line, built and read here for both ends:
//   {"id":1,"command":"status"}  ->  {"id":1,"ok":true,"result":{…}}
//                                    {"id":1,"ok":false,"error":{"code":"…","message":"…"}}
// A request's id may be any JSON: the reply repeats it, or has null when there is none. Other
// members of a request are the command's arguments (ctlmsg_args.h). Unknown members of a reply are
// ignored.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"

#define NVTXT_CTL_REQUEST_BYTES 65536 // longest request line; a command is a few words
#define NVTXT_CTL_LOSSES 1000         // the newest ones, which `health` lists
#define NVTXT_CTL_COMMAND_BYTES 64

// Codes of {"error":{"code":…}}.
#define NVTXT_CTL_BAD_REQUEST "bad-request"
#define NVTXT_CTL_UNKNOWN_COMMAND "unknown-command"
#define NVTXT_CTL_BAD_ARGUMENT "bad-argument"
#define NVTXT_CTL_FAILED "failed"
#define NVTXT_CTL_FORBIDDEN "forbidden" // not for this user
#define NVTXT_CTL_BUSY "busy"           // later it may be done

struct nvtxt_ctl_request {
    json_t *id; // owned; NULL when not given
    char command[NVTXT_CTL_COMMAND_BYTES + 1];
    json_t *object; // the whole request, owned: arguments are members of it
};

// Reads a line without LF. Returns 0, or 1 with a sentence in `why`; then `object` is NULL, and
// `id` is set if it could be read. The caller deinits the request in both cases.
int nvtxt_ctl_request_parse(struct nvtxt_slice line, struct nvtxt_ctl_request *request, char *why,
                            size_t size);
void nvtxt_ctl_request_deinit(struct nvtxt_ctl_request *request);

// Each appends one line with its LF. `arguments` (an object or NULL), `result` and `id` (NULL:
// null) are borrowed. When memory is short `out` has failed.
void nvtxt_ctl_request_format(struct nvtxt_buf *out, int64_t id, const char *command,
                              json_t *arguments);
void nvtxt_ctl_result_format(struct nvtxt_buf *out, json_t *id, json_t *result);
void nvtxt_ctl_error_format(struct nvtxt_buf *out, json_t *id, const char *code,
                            const char *message);

struct nvtxt_ctl_reply {
    int64_t id; // 0 when it is no integer
    bool ok;
    json_t *result;               // ok: owned
    char code[64], message[1024]; // not ok
};

// Returns 0, or 1 when the line is no reply.
int nvtxt_ctl_reply_parse(struct nvtxt_slice line, struct nvtxt_ctl_reply *reply);
void nvtxt_ctl_reply_deinit(struct nvtxt_ctl_reply *reply);
