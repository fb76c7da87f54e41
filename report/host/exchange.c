// SPDX-License-Identifier: Apache-2.0
//
// A reply is written whole before the next request is read, so a rule that asks without reading
// fills its own socket and no memory of ours. A process that ended has said all that it will say:
// what is left in the socket is read, and its replies go nowhere.
#include "report/host/exchange.h"

#include <sys/socket.h>

#include "protocol/base/origin.h"
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
    int r = report_request_read(&request, line);
    if (r > 0) {
        end_with(state, REPORT_EXCHANGE_BAD);
    } else if (r == 0) {
        r = state->exchange->answer(state->exchange->context, &request, &state->out);
        if (r == NVTXT_WRONG) {
            report_request_write_refusal(&request, &state->out);
        } else if (r == REPORT_EXCHANGE_NO_MORE) {
            end_with(state, REPORT_EXCHANGE_DONE);
        }
    }
    report_request_deinit(&request);
    return r < 0 ? r : state->out.error;
}

// Answers the lines that are there, one after the other, as long as replies go out.
static int answer_lines(struct state *state) {
    struct nvtxt_slice line;
    int r = 0;
    while (r == 0 && !state->has_end && state->out.len == 0) {
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
            r = answer_line(state, line);
        }
        if (state->exchange->child->ended) {
            state->out.len = 0;
        }
    }
    return r;
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
    int r = report_lines_read(&state->lines);
    bool failed = r < 0 && r != -EAGAIN && r != -EINTR;
    *more = r == 0 && !state->lines.ended;
    state->lines.ended = state->lines.ended || failed; // a socket that was reset
    return 0;
}

// What a process left in its socket, after its end. A child of it that has the socket too may write
// for ever: the time of the rule ends that.
static int take_rest(struct state *state) {
    bool more = !state->closed;
    int r = 0;
    state->out.len = state->sent = 0;
    while (more && r == 0 && !state->has_end) {
        int events = report_child_wait(state->exchange->child, false, false);
        if (events < 0 || events & (REPORT_CHILD_SIGNAL | REPORT_CHILD_LATE)) {
            r = events < 0 ? events : events & REPORT_CHILD_SIGNAL ? nvtxt_origin(-EINTR) : 0;
            break;
        }
        r = read_more(state, &more);
        r = r ?: answer_lines(state);
    }
    end_with(state, REPORT_EXCHANGE_ENDED);
    return r;
}

static int step(struct state *state) {
    struct report_child *child = state->exchange->child;
    bool writes = state->out.len > 0, more;
    int events = report_child_wait(child, !writes && !state->closed, writes);
    int r = events < 0 ? events : 0;
    if (r == 0 && events & REPORT_CHILD_SIGNAL) {
        return nvtxt_origin(-EINTR);
    }
    if (r == 0 && events & REPORT_CHILD_WRITE) {
        r = send_reply(state);
    }
    if (r == 0 && events & REPORT_CHILD_READ) {
        r = read_more(state, &more);
    }
    bool was_closed = state->closed;
    r = r ?: answer_lines(state);
    if (r == 0 && events & REPORT_CHILD_ENDED) {
        return take_rest(state);
    }
    if (r == 0 && state->closed && !was_closed) {
        report_child_hurry(child, REPORT_EXCHANGE_GRACE_MS);
    }
    if (r == 0 && events & REPORT_CHILD_LATE) {
        end_with(state, state->closed ? REPORT_EXCHANGE_BAD : REPORT_EXCHANGE_LATE);
    }
    return r;
}

int report_exchange_run(const struct report_exchange *exchange) {
    struct state state = {.exchange = exchange};
    int r = report_lines_init(&state.lines, exchange->child->socket, REPORT_EXCHANGE_LINE_BYTES);
    r = r ?: nvtxt_out_init(&state.out, -1);
    while (r == 0 && !state.has_end) {
        r = step(&state);
    }
    report_lines_deinit(&state.lines);
    nvtxt_out_deinit(&state.out);
    return r < 0 ? r : (int)state.end;
}
