// SPDX-License-Identifier: Apache-2.0
//
// A reply is written whole before the next request is read, so a rule that asks without reading
// fills its own socket and no memory of ours. A process that ended has said all that it will say:
// what is left in the socket is read, and its replies go nowhere.
#include "report/host/exchange.h"

#include <errno.h>
#include <sys/socket.h>

#include "report/host/child.h"
#include "report/serve/lines.h"

struct state {
    const struct report_exchange *exchange;
    struct report_lines lines;
    struct nvtxt_out out; // the reply
    size_t sent;          // bytes of it
    bool closed;          // the other side of the socket
    bool has_end;
    enum report_exchange_end end;
};

static void end_with(struct state *state, enum report_exchange_end end) {
    if (!state->has_end) {
        state->has_end = true;
        state->end = end;
    }
}

// All below return 0 or -errno.

static int answer_line(struct state *state, struct nvtxt_slice line) {
    struct report_request request;
    int result = report_request_read(&request, line);
    if (result > 0) {
        end_with(state, REPORT_EXCHANGE_BAD);
    } else if (result == 0) {
        result = state->exchange->answer(state->exchange->context, &request, &state->out);
        if (result == REPORT_REQUEST_REFUSED) {
            report_request_write_refusal(&request, &state->out);
        } else if (result == REPORT_EXCHANGE_NO_MORE) {
            end_with(state, REPORT_EXCHANGE_DONE);
        }
    }
    report_request_deinit(&request);
    return result < 0 ? result : state->out.error;
}

// Answers the lines that are there, one after the other, as long as replies go out.
static int answer_lines(struct state *state) {
    struct nvtxt_slice line;
    int result = 0;
    while (result == 0 && !state->has_end && state->out.len == 0) {
        switch (report_lines_take(&state->lines, &line)) {
        case REPORT_LINES_WAIT:
            if (state->lines.skips) {
                end_with(state, REPORT_EXCHANGE_BAD); // too long already, though it has no end
            }
            return 0;
        case REPORT_LINES_END:
            state->closed = true;
            return 0;
        case REPORT_LINES_TOO_LONG:
            end_with(state, REPORT_EXCHANGE_BAD);
            break;
        case REPORT_LINES_ONE:
            result = answer_line(state, line);
        }
        if (state->exchange->child->ended) {
            state->out.len = 0;
        }
    }
    return result;
}

static int send_reply(struct state *state) {
    const struct nvtxt_out *out = &state->out;
    ssize_t sent = send(state->exchange->child->socket, out->data + state->sent,
                        out->len - state->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        sent = (ssize_t)(out->len - state->sent); // nobody reads any more
    }
    state->sent += sent > 0 ? (size_t)sent : 0;
    if (state->sent == out->len) {
        state->sent = state->out.len = 0;
    }
    return 0;
}

// `*more`: there may be more to read at once.
static int read_more(struct state *state, bool *more) {
    int result = report_lines_read(&state->lines);
    bool failed = result < 0 && result != -EAGAIN && result != -EINTR;
    *more = result == 0 && !state->lines.ended;
    state->lines.ended = state->lines.ended || failed; // a socket that was reset
    return 0;
}

// What a process left in its socket, after its end. A child of it that has the socket too may write
// for ever: the time of the rule ends that.
static int take_rest(struct state *state) {
    bool more = !state->closed;
    int result = 0;
    state->out.len = state->sent = 0;
    while (more && result == 0 && !state->has_end) {
        int events = report_child_wait(state->exchange->child, false, false);
        if (events < 0 || events & (REPORT_CHILD_SIGNAL | REPORT_CHILD_LATE)) {
            result = events < 0 ? events : events & REPORT_CHILD_SIGNAL ? -EINTR : 0;
            break;
        }
        result = read_more(state, &more);
        result = result ? result : answer_lines(state);
    }
    end_with(state, REPORT_EXCHANGE_ENDED);
    return result;
}

static int step(struct state *state) {
    struct report_child *child = state->exchange->child;
    bool writes = state->out.len > 0, more;
    int events = report_child_wait(child, !writes && !state->closed, writes);
    int result = events < 0 ? events : 0;
    if (result == 0 && events & REPORT_CHILD_SIGNAL) {
        return -EINTR;
    }
    if (result == 0 && events & REPORT_CHILD_WRITE) {
        result = send_reply(state);
    }
    if (result == 0 && events & REPORT_CHILD_READ) {
        result = read_more(state, &more);
    }
    bool was_closed = state->closed;
    result = result ? result : answer_lines(state);
    if (result == 0 && events & REPORT_CHILD_ENDED) {
        return take_rest(state);
    }
    if (result == 0 && state->closed && !was_closed) {
        report_child_hurry(child, REPORT_EXCHANGE_GRACE_MS);
    }
    if (result == 0 && events & REPORT_CHILD_LATE) {
        end_with(state, state->closed ? REPORT_EXCHANGE_BAD : REPORT_EXCHANGE_LATE);
    }
    return result;
}

int report_exchange_run(const struct report_exchange *exchange) {
    struct state state = {.exchange = exchange};
    int result =
        report_lines_init(&state.lines, exchange->child->socket, REPORT_EXCHANGE_LINE_BYTES);
    result = result ? result : nvtxt_out_init(&state.out, -1);
    while (result == 0 && !state.has_end) {
        result = step(&state);
    }
    report_lines_deinit(&state.lines);
    nvtxt_out_deinit(&state.out);
    return result < 0 ? result : (int)state.end;
}
