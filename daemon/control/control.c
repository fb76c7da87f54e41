// SPDX-License-Identifier: Apache-2.0
//
// What a client sends is kept as bytes in `pending`, and take_pending() makes one request after the
// other of it, as long as none has to wait. It is called again whenever something changes: bytes
// came, a call was answered, replies were written. A command that answers at once only returns to
// the loop in there, so a client that sends a thousand requests does not cost a thousand frames of
// the stack. A client that sends no more stays connected until its replies are written. The loop
// does not report when it goes away meanwhile, so when there are too many connections, those
// without a client are closed.
#include "daemon/control/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/list.h"
#include "daemon/base/log.h"
#include "daemon/socket/listener.h"
#include "daemon/socket/refusals.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "protocol/table/hash.h"

static void on_closed(uv_handle_t *handle) {
    struct control_conn *conn = handle->data;
    outq_deinit(&conn->outq);
    nvtxt_frame_deinit(&conn->frame);
    nvtxt_buf_deinit(&conn->pending);
    free(conn);
}

static void drop_descriptor(struct control_conn *conn) {
    if (conn->descriptor >= 0) {
        close(conn->descriptor);
    }
    conn->descriptor = -1;
}

// Cancels the calls that wait: `all`, or those that may take long.
static void cancel_calls(struct control_conn *conn, bool all) {
    struct control_call *call = conn->calls;
    while (call) {
        void (*on_cancel)(struct control_call *) = all || call->passed ? call->on_cancel : NULL;
        if (!on_cancel) {
            call = call->next;
            continue;
        }
        call->on_cancel = NULL;
        on_cancel(call); // may free this call, and others
        call = conn->calls;
    }
}

static void close_conn(struct control_conn *conn) {
    if (conn->closed) {
        return;
    }
    conn->closed = true;
    cancel_calls(conn, true);
    for (struct control_call *call = conn->calls; call; call = call->next) {
        call->conn = NULL;
    }
    struct control *control = conn->control;
    LIST_REMOVE(control->conns, conn);
    control->conn_count--;
    control->reader_count -= conn->rights == RIGHTS_READER;
    conn->caller->conns--;
    uv_close((uv_handle_t *)&conn->pipe, on_closed);
    drop_descriptor(conn);
    control->server->on_room(control->server);
}

static void close_if_done(struct control_conn *conn) {
    if (conn->closing && !conn->calls && outq_is_empty(&conn->outq)) {
        close_conn(conn);
    }
}

static void flush(struct control_conn *conn) {
    if (conn->closed) {
        return;
    }
    if (outq_flush(&conn->outq) != 0) {
        close_conn(conn);
    } else {
        close_if_done(conn);
    }
}

static void take_pending(struct control_conn *conn);

static void on_drained(struct outq *outq, int status) {
    struct control_conn *conn = NVTXT_CONTAINER_OF(outq, struct control_conn, outq);
    if (status < 0) {
        close_conn(conn);
    } else if (conn->closing) {
        close_if_done(conn);
    } else {
        take_pending(conn);
    }
}

// ---- Calls --------------------------------------------------------------------------------------

static void unlink_call(struct control_call *call) {
    struct control_conn *conn = call->conn;
    if (!conn) {
        return;
    }
    if (conn->awaited == call) {
        conn->awaited = NULL;
    }
    LIST_REMOVE(conn->calls, call);
    conn->call_count--;
}

static void call_free(struct control_call *call) {
    call->caller->calls--;
    nvtxt_ctl_request_deinit(&call->request);
    free(call);
}

// Answers with the result or, without one, with the error.
static void answer(struct control_call *call, json_t *result_take, const char *code,
                   const char *message) {
    struct control_conn *conn = call->conn;
    unlink_call(call);
    if (conn && result_take) {
        nvtxt_ctl_result_format(outq_buffer(&conn->outq), call->request.id, result_take);
    } else if (conn) {
        nvtxt_ctl_error_format(outq_buffer(&conn->outq), call->request.id, code, message);
    }
    json_decref(result_take);
    call_free(call);
    if (conn) {
        flush(conn);
        take_pending(conn);
    }
}

void control_reply(struct control_call *call, json_t *result_take) {
    answer(call, result_take, NVTXT_CTL_FAILED, "out of memory");
}

void control_fail(struct control_call *call, const char *code, const char *message) {
    answer(call, NULL, code, message);
}

void control_let_pass(struct control_call *call) {
    call->passed = true;
    if (call->conn && call->conn->awaited == call) {
        call->conn->awaited = NULL;
    }
}

static void refuse(struct control_conn *conn, json_t *id, const char *code, const char *message) {
    nvtxt_ctl_error_format(outq_buffer(&conn->outq), id, code, message);
    flush(conn);
}

static const struct control_command *find_command(const struct control *control, const char *name) {
    for (size_t i = 0; i < control->command_count; i++) {
        if (strcmp(control->commands[i].name, name) == 0) {
            return &control->commands[i];
        }
    }
    return NULL;
}

static const char *command_name(const void *context, size_t index) {
    const struct control *control = context;
    return index < control->command_count ? control->commands[index].name : NULL;
}

// Whether the request can be served: NULL, or the code of the error with a sentence in `why`.
// `command` is NULL when there is none of that name.
static const char *check_request(const struct control_conn *conn,
                                 const struct nvtxt_ctl_request *request,
                                 const struct control_command *command, char *why, size_t size) {
    if (!command) {
        const char *near =
            nvtxt_near(nvtxt_slice_of(request->command), command_name, conn->control);
        snprintf(why, size, "there is no such command%s%s%s; \"help\" lists them",
                 near ? ", did you mean \"" : "", near ?: "", near ? "\"?" : "");
        return NVTXT_CTL_UNKNOWN_COMMAND;
    }
    if (command->rights > conn->rights) {
        snprintf(why, size, "\"%s\" is for root and the user that the daemon runs as",
                 command->name);
        return NVTXT_CTL_FORBIDDEN;
    }
    if (conn->call_count >= CONTROL_CALLS_MAX || conn->caller->calls >= CONTROL_CALLS_USER) {
        snprintf(why, size, "too many unanswered requests");
        return NVTXT_CTL_BUSY;
    }
    return nvtxt_ctl_args_check(request->object, command->args, why, size) == 0
               ? NULL
               : NVTXT_CTL_BAD_ARGUMENT;
}

static void take_request(struct control_conn *conn, struct nvtxt_slice line) {
    struct nvtxt_ctl_request request;
    const struct control_command *command = NULL;
    const char *code = NVTXT_CTL_BAD_REQUEST;
    char why[256];
    if (nvtxt_ctl_request_parse(line, &request, why, sizeof(why)) == 0) {
        command = find_command(conn->control, request.command);
        code = check_request(conn, &request, command, why, sizeof(why));
    }
    struct control_call *call = code ? NULL : calloc(1, sizeof(*call));
    if (!call) {
        refuse(conn, request.id, code ?: NVTXT_CTL_FAILED, code ? why : "out of memory");
        nvtxt_ctl_request_deinit(&request);
        return;
    }
    call->conn = conn;
    call->control = conn->control;
    call->caller = conn->caller;
    call->caller->calls++;
    call->server = conn->control->server;
    call->request = request;
    LIST_ADD(conn->calls, call);
    conn->call_count++;
    conn->awaited = call;
    command->run(call);
}

// ---- Connections -------------------------------------------------------------------------------

// Whether the next request must wait: for the answer to one before it, or until the client has read
// the replies.
static bool must_wait(const struct control_conn *conn) {
    return conn->awaited || !outq_is_empty(&conn->outq);
}

static void take_lines(struct control_conn *conn, struct nvtxt_slice *input) {
    while (!conn->closed && !must_wait(conn)) {
        struct nvtxt_slice line;
        int r = nvtxt_frame_next(&conn->frame, input, &line);
        if (r < 0) {
            close_conn(conn);
        } else if (r == NVTXT_FRAME_OVERLONG) {
            refuse(conn, NULL, NVTXT_CTL_BAD_REQUEST, "the request is too long");
        } else if (r == NVTXT_FRAME_LINE && line.len > 0) {
            take_request(conn, line);
        } else if (r == NVTXT_FRAME_MORE) {
            return;
        }
    }
}

// The last request may lack its LF.
static void take_last(struct control_conn *conn) {
    struct nvtxt_slice line;
    if (nvtxt_frame_finish(&conn->frame, &line) == NVTXT_FRAME_LINE && line.len > 0) {
        take_request(conn, line);
    }
    conn->closing = true; // the client may still read the answers
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer);
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer);

// Reads no more while a whole request's bytes wait in `pending`: the client has to wait then.
static void update_reading(struct control_conn *conn) {
    bool wanted = !conn->at_end && conn->pending.len < NVTXT_CTL_REQUEST_BYTES;
    if (!wanted) {
        uv_read_stop((uv_stream_t *)&conn->pipe);
    } else if (!conn->reading && uv_read_start((uv_stream_t *)&conn->pipe, on_alloc, on_read) < 0) {
        close_conn(conn);
    }
    conn->reading = wanted;
}

// Whether all requests were taken and nobody is there to read their answers.
static bool is_abandoned(struct control_conn *conn) {
    uv_os_fd_t fd;
    bool all_taken =
        conn->closing || (conn->pending.len == 0 && nvtxt_frame_pending(&conn->frame).len == 0);
    return conn->at_end && !conn->closed && all_taken &&
           (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0 || !peer_may_read(fd));
}

// The loop does not report a client that goes away after it has closed its sending side.
static void close_abandoned(struct control *control) {
    struct control_conn *next;
    for (struct control_conn *conn = control->conns; conn; conn = next) {
        next = conn->next;
        if (is_abandoned(conn)) {
            close_conn(conn);
        }
    }
}

// Takes the requests that have come in, until one has to wait. An answer that comes at once calls
// this function again, from inside: that call returns here.
static void take_pending(struct control_conn *conn) {
    if (conn->taking || conn->closed || conn->closing) {
        return;
    }
    conn->taking = true;
    struct nvtxt_slice input = {conn->pending.data, conn->pending.len};
    take_lines(conn, &input);
    nvtxt_buf_drop(&conn->pending, conn->pending.len - input.len);
    if (conn->at_end && conn->pending.len == 0 && !must_wait(conn) && !conn->closed) {
        take_last(conn);
    }
    conn->taking = false;
    if (conn->at_end && !conn->closed) {
        cancel_calls(conn, false);
    }
    if (is_abandoned(conn)) {
        close_conn(conn);
    }
    if (!conn->closed) {
        update_reading(conn);
    }
    if (!conn->closed) {
        close_if_done(conn);
    }
}

static void take_descriptor(struct control_conn *conn, struct msghdr *message) {
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        drop_descriptor(conn);
        memcpy(&conn->descriptor, CMSG_DATA(head), sizeof(conn->descriptor));
    }
}

// Only from an operator a descriptor is taken, one at a time; the kernel closes all others. The
// whole of `room` would have room for two.
static ssize_t receive(struct control_conn *conn) {
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room;
    bool takes = conn->rights == RIGHTS_OPERATOR;
    struct iovec bytes = {conn->buffer, sizeof(conn->buffer)};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = takes ? room.bytes : NULL,
                             .msg_controllen = takes ? CMSG_LEN(sizeof(int)) : 0};
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&conn->pipe, &fd) < 0) {
        return 0;
    }
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0) {
        return errno == EINTR ? nvtxt_origin(-EAGAIN) : nvtxt_origin(-errno);
    }
    take_descriptor(conn, &message);
    return n;
}

// libuv reads without descriptors. It is given no buffer: the bytes are received here, before it
// says so to on_read().
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    struct control_conn *conn = handle->data;
    conn->received = receive(conn);
    *buffer = uv_buf_init(NULL, 0);
}

static void on_read(uv_stream_t *stream, ssize_t result, const uv_buf_t *buffer) {
    struct control_conn *conn = stream->data;
    ssize_t n = result == UV_ENOBUFS ? conn->received : result;
    (void)buffer;
    if (n == -EAGAIN) {
        return;
    }
    if (n > 0) {
        nvtxt_buf_add(&conn->pending, conn->buffer, (size_t)n);
    } else {
        conn->at_end = true;
    }
    if (nvtxt_buf_failed(&conn->pending)) {
        close_conn(conn);
    } else {
        take_pending(conn);
    }
}

int control_prepare(struct control *control) {
    if (!control->spare) {
        control->spare = calloc(1, sizeof(*control->spare));
    }
    return control->spare ? 0 : nvtxt_origin(-ENOMEM);
}

// Closes the descriptor; says why, unless too many connections were refused lately.
static void refuse_connection(struct control *control, int fd_take, int64_t uid, const char *code,
                              const char *message) {
    struct nvtxt_buf reply = {0};
    if (refusals_allow_answer(&control->refusals, uid, nvtxt_boottime_ns())) {
        nvtxt_ctl_error_format(&reply, NULL, code, message);
    } else {
        control->server->hub.stats.connections_unheard++;
    }
    refusals_close(fd_take, nvtxt_buf_failed(&reply) ? NULL : reply.data, reply.len, NULL);
    nvtxt_buf_deinit(&reply);
}

static void refuse_stranger(struct control *control, int fd_take, int64_t uid) {
    const char *group = control->rights.group_name;
    bool helps = *group && (control->rights.mode & S_IRGRP);
    char message[192];
    snprintf(message, sizeof(message),
             "only root, the user that the daemon runs as, and users who may read its store are "
             "served%s%s",
             helps ? "; ask for the group " : "", helps ? group : "");
    refuse_connection(control, fd_take, uid, NVTXT_CTL_FORBIDDEN, message);
}

static bool has_too_many(const struct control *control, const struct caller *caller,
                         enum rights_level rights) {
    return rights == RIGHTS_READER
               ? caller->conns >= CONTROL_CONNS_USER ||
                     control->reader_count >= CONTROL_CONNS_READERS
               : control->conn_count - control->reader_count >= CONTROL_CONNS_OPERATORS;
}

// Makes the spare connection one of all.
static void add_conn(struct control *control, int fd_take, struct caller *caller,
                     enum rights_level rights) {
    struct control_conn *conn = control->spare;
    control->spare = NULL;
    uv_pipe_init(control->server->hub.loop, &conn->pipe, 0); // cannot fail
    conn->pipe.data = conn;
    conn->control = control;
    conn->caller = caller;
    conn->rights = rights;
    conn->descriptor = -1;
    nvtxt_frame_init(&conn->frame, NVTXT_CTL_REQUEST_BYTES);
    outq_init(&conn->outq, (uv_stream_t *)&conn->pipe, CONTROL_REPLIES_BYTES, on_drained);
    LIST_ADD(control->conns, conn);
    control->conn_count++;
    control->reader_count += rights == RIGHTS_READER;
    caller->conns++;
    if (uv_pipe_open(&conn->pipe, fd_take) == 0) {
        update_reading(conn);
        return;
    }
    close(fd_take); // the handle has not taken it
    close_conn(conn);
}

void control_accept(struct control *control, int fd_take) {
    struct peer peer;
    if (peer_get(fd_take, &peer) < 0) {
        close(fd_take);
        return;
    }
    enum rights_level rights = rights_of(&control->rights, fd_take, &peer);
    if (rights == RIGHTS_NONE) {
        refuse_stranger(control, fd_take, peer.uid);
        return;
    }
    struct caller *caller = callers_get(&control->callers, peer.uid, nvtxt_boottime_ns());
    if (!caller) {
        refuse_connection(control, fd_take, peer.uid, NVTXT_CTL_FAILED, "out of memory");
        return;
    }
    if (has_too_many(control, caller, rights)) {
        close_abandoned(control);
    }
    if (has_too_many(control, caller, rights)) {
        refuse_connection(control, fd_take, peer.uid, NVTXT_CTL_BUSY,
                          "too many control connections");
    } else {
        add_conn(control, fd_take, caller, rights);
    }
}

void control_init(struct control *control, struct server *server,
                  const struct control_command *commands, size_t count) {
    control->server = server;
    control->commands = commands;
    control->command_count = count;
}

void control_close(struct control *control) {
    while (control->conns) {
        close_conn(control->conns);
    }
}

void control_deinit(struct control *control) {
    callers_deinit(&control->callers);
    free(control->spare);
    control->spare = NULL;
}
