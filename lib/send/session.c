// SPDX-License-Identifier: Apache-2.0
//
// The window holds the lines that are not acknowledged; a position in it goes with the number of a
// line. A session that the daemon does not have any more (it expired, or the store is another one)
// is begun anew: with the definitions, the settings that were in force, and the lines from the
// first one that was not acknowledged.
#include "lib/send/session.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "config.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"
#include "protocol/text/forms.h"

#define BACKLOG_MS_FIRST 2
#define BACKLOG_MS_MOST 100
#define RETRY_MS 100
#define IDLE_RETRY_MS_MOST 2000 // when nothing is to be sent
#define REFUSED_MS 1000
#define UNKNOWN_MS 60000 // a daemon without the extension

static const char end_line[] = "#nvtxt-end\n";

void session_make_id(char *id) {
    unsigned char bytes[NVTXT_UUID_BYTES];
    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
        int64_t seed[2] = {nvtxt_realtime_ns(), nvtxt_monotonic_ns() ^ (int64_t)getpid() << 32};
        memcpy(bytes, seed, sizeof(bytes));
    }
    nvtxt_uuid_write(bytes, 4, id);
}

void session_init(struct session *session, struct pass *pass, const struct sender_options *options,
                  bool owns_thread) {
    session->region = pass->region;
    session->pass = pass;
    session->options = options;
    session->phase = SESSION_AWAY;
    session->backlog_ms = BACKLOG_MS_FIRST;
    session->retry_ms = RETRY_MS;
    if (owns_thread) {
        link_init(&session->link, options->logs_to_stderr);
    } else {
        session->link = (struct link){.fd = -1};
    }
}

bool session_has_unacked(const struct session *session) {
    return session->pass->next.acked_lines < session->pass->next.lines;
}

static bool is_connected(const struct session *session) {
    return session->phase == SESSION_HELLO || session->phase == SESSION_LINES ||
           session->phase == SESSION_ENDING;
}

bool session_wants_room(const struct session *session) {
    return is_connected(session) &&
           (session->out_len > 0 ||
            (session->phase == SESSION_LINES && session->sent < session->pass->next.end));
}

static void log_once(struct session *session, const char *what, const char *more) {
    if (session->logged != what) {
        session->logged = what;
        session->options->log("%s%s", what, more);
    }
}

static void drop_link(struct session *session, int wait_ms) {
    link_close(&session->link);
    session->phase = SESSION_AWAY;
    session->reply_len = 0;
    session->skips_reply = false;
    session->out_len = 0;
    session->retry_at = nvtxt_monotonic_ns() + (int64_t)wait_ms * 1000000;
}

// ---- The hello ----------------------------------------------------------------------------------

// As the inside of a JSON string.
static void add_json_text(char *to, size_t size, const char *text) {
    size_t len = 0, left = strlen(text);
    while (left > 0 && len + 8 < size) {
        size_t bytes = nvtxt_utf8_sequence(text, left);
        if (bytes == 0) {
            memcpy(to + len, "\xef\xbf\xbd", 3);
            len += 3;
        } else if ((unsigned char)*text >= 0x20) {
            if (*text == '"' || *text == '\\') {
                to[len++] = '\\';
            }
            memcpy(to + len, text, bytes);
            len += bytes;
        }
        bytes = bytes ?: 1;
        text += bytes;
        left -= bytes;
    }
    to[len] = '\0';
}

static void say_hello(struct session *session) {
    char name[600], expiry[40] = "", parent[NVTXT_PARENT_BYTES + 16] = "";
    add_json_text(name, sizeof(name), session->options->name);
    if (session->options->expiry) {
        snprintf(expiry, sizeof(expiry), ",\"expiry\":%u", session->options->expiry);
    }
    if (*session->options->parent) {
        snprintf(parent, sizeof(parent), ",\"parent\":\"%s\"", session->options->parent);
    }
    session->out_len = (size_t)snprintf(
        session->hello, sizeof(session->hello),
        "#nvtxt-session {\"protocol\":1,\"session\":\"%s\",\"client\":\"libnvtxt\",\"name\":\"%s\","
        "\"pid\":%u,\"nvtx\":1,\"diagnostics\":false%s%s%s}\n",
        region_session(session->region)->id, name, session->region->head->process,
        session->options->levels ? ",\"levels\":true" : "", expiry, parent);
    session->out = session->hello;
    session->phase = SESSION_HELLO;
    session->hello_at = nvtxt_monotonic_ns();
}

static void log_no_daemon(struct session *session, int error) {
    char more[200];
    const char *path = session->options->paths[0];
    if (session->options->path_count == 0) { // the reason was logged before
        return;
    }
#ifdef HAVE_STRERRORDESC_NP // strerror() may allocate
    snprintf(more, sizeof(more), " %s: %s", path, strerrordesc_np(error));
#else
    snprintf(more, sizeof(more), " %s: error %d", path, error);
#endif
    log_once(session, "no daemon at", more);
}

static int connect_first(struct session *session, uint32_t *which) {
    int r = session->options->path_count > 0 ? 0 : nvtxt_origin(-ENOENT);
    for (*which = 0; *which < session->options->path_count; ++*which) {
        r = link_connect(&session->link, session->options->paths[*which]);
        if (r == 0 || r == -EAGAIN) {
            break;
        }
    }
    return r;
}

static void connect_link(struct session *session) {
    struct region_head *head = session->region->head;
    uint32_t which;
    int r = connect_first(session, &which), wait = session->retry_ms;
    if (r == 0) {
        session->backlog_ms = BACKLOG_MS_FIRST;
        snprintf(head->socket, sizeof(head->socket), "%s", session->options->paths[which]);
        say_hello(session);
        return;
    }
    if (r == -EAGAIN) {
        wait = session->backlog_ms;
        session->backlog_ms = wait * 2 < BACKLOG_MS_MOST ? wait * 2 : BACKLOG_MS_MOST;
    } else {
        log_no_daemon(session, -r);
        session->is_absent = true;
        bool is_idle = session->pass->next.acked_lines > 0 && !session_has_unacked(session);
        session->retry_ms = !is_idle                        ? RETRY_MS
                            : wait < IDLE_RETRY_MS_MOST / 2 ? wait * 2
                                                            : IDLE_RETRY_MS_MOST;
    }
    session->retry_at = nvtxt_monotonic_ns() + (int64_t)wait * 1000000;
}

// ---- The window ---------------------------------------------------------------------------------

// The byte of the window at a position, and how many lie behind it without a break.
static const char *window_at(const struct session *session, uint64_t position, size_t *len) {
    const struct region *region = session->region;
    uint64_t size = region->head->window_bytes, at = position & (size - 1);
    uint64_t rest = session->pass->next.end - position;
    *len = (size_t)(rest < size - at ? rest : size - at);
    return region->window + at;
}

static void copy_line(const struct session *session, uint64_t from, char *line, size_t len) {
    for (size_t got = 0, some; got < len; got += some) {
        const char *bytes = window_at(session, from + got, &some);
        some = some < len - got ? some : len - got;
        memcpy(line + got, bytes, some);
    }
}

static bool begins_with(const char *line, size_t len, const char *prefix) {
    return len > strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0;
}

// Keeps a line that sets what later lines need, if it is one.
static void keep_setting(struct session *session, uint64_t from, uint64_t to) {
    static const char *const prefixes[2] = {"ThreadId=", "Domain="};
    char line[SESSION_SETTING];
    size_t len = (size_t)(to - from);
    if (len > sizeof(line)) {
        return;
    }
    copy_line(session, from, line, len);
    for (int i = 0; i < 2; i++) {
        if (begins_with(line, len, prefixes[i])) {
            memcpy(session->settings[i], line, len);
            session->setting_len[i] = len;
        }
    }
}

// The position behind `count` lines from `position` on. `last`: of the last of them.
static uint64_t skip_lines(struct session *session, uint64_t position, uint64_t count,
                           uint64_t *last) {
    uint64_t line = position;
    while (count > 0 && position < session->pass->next.end) {
        size_t len;
        const char *bytes = window_at(session, position, &len);
        const char *newline = memchr(bytes, '\n', len);
        if (!newline) {
            position += len;
            continue;
        }
        position += (uint64_t)(newline - bytes) + 1;
        count--;
        if (last) {
            keep_setting(session, line, position);
            *last = line;
        }
        line = position;
    }
    return position;
}

// Whether the line sets the JSON of the next one.
static bool sets_json(const struct session *session, uint64_t from, uint64_t to) {
    char line[8];
    size_t len = (size_t)(to - from) < sizeof(line) ? (size_t)(to - from) : sizeof(line);
    copy_line(session, from, line, len);
    return begins_with(line, len, "Json=\"") && line[6] != '"';
}

// The daemon has committed this line of the session, and all before it. A line that sets the JSON
// of the next one is kept as if it was not committed: in a session that is begun anew both are
// sent.
static void take_ack(struct session *session, uint64_t session_line) {
    struct region_state *state = &session->pass->next;
    if (session_line > INT64_MAX / 2) {
        return;
    }
    int64_t line = (int64_t)session_line + region_session(session->region)->first;
    if (line <= (int64_t)state->acked_lines || line > (int64_t)state->lines) {
        return;
    }
    uint64_t last = state->acked, count = (uint64_t)line - state->acked_lines;
    uint64_t acked = skip_lines(session, state->acked, count, &last);
    bool steps_back = sets_json(session, last, acked);
    state->acked = steps_back ? last : acked;
    state->acked_lines = (uint64_t)line - steps_back;
}

// ---- Beginning and resuming ---------------------------------------------------------------------

// A session of its own for what is not acknowledged. What was acknowledged is committed first: who
// goes on with the region must not send it to the new one.
static void renew(struct session *session) {
    const struct region_state *state = &session->pass->next;
    struct region_session *next = &session->next;
    next->preamble_bytes = next->preamble_lines = 0;
    if (state->acked_lines > 0) {
        struct line_buf *buf = &session->pass->buf; // empty between passes
        line_begin(buf);
        memcpy(next->preamble, buf->data, buf->len);
        next->preamble_bytes = (uint32_t)buf->len;
        next->preamble_lines = buf->lines;
        buf->len = 0;
        buf->lines = 0;
    }
    for (int i = 0; i < 2 && state->acked_lines > 0; i++) {
        memcpy(next->preamble + next->preamble_bytes, session->settings[i],
               session->setting_len[i]);
        next->preamble_bytes += (uint32_t)session->setting_len[i];
        next->preamble_lines += session->setting_len[i] > 0;
    }
    next->first = (int64_t)state->acked_lines - next->preamble_lines;
    session_make_id(next->id);
    region_commit(session->region, state);
    region_set_session(session->region, next);
    pass_repeat_names(session->pass);
}

// Where sending goes on: in the preamble, or in the window.
static void resume_after(struct session *session, uint64_t line) {
    const struct region_state *state = &session->pass->next;
    const struct region_session *in_force = region_session(session->region);
    uint64_t skipped = line < in_force->preamble_lines ? line : in_force->preamble_lines;
    const char *from = in_force->preamble;
    for (uint64_t i = 0; i < skipped; i++) {
        from = strchr(from, '\n') + 1;
    }
    session->out = from;
    session->out_len = in_force->preamble_bytes - (size_t)(from - in_force->preamble);
    int64_t next = (int64_t)line + in_force->first;
    uint64_t lines = next > (int64_t)state->acked_lines ? (uint64_t)next - state->acked_lines : 0;
    session->sent_lines = state->acked_lines + lines;
    session->sent = skip_lines(session, state->acked, lines, NULL);
}

// Whether the daemon knows less than it has acknowledged.
static bool is_lost(const struct session *session, uint64_t line) {
    const struct region_session *in_force = region_session(session->region);
    int64_t acked = (int64_t)session->pass->next.acked_lines - in_force->first;
    return acked > in_force->preamble_lines && (int64_t)line < acked - 1;
}

// The daemon is left with an end of the session that it has.
static void begin_anew(struct session *session, int wait_ms) {
    link_send(&session->link, end_line, sizeof(end_line) - 1);
    drop_link(session, wait_ms);
    renew(session);
}

// What the daemon takes at most. It says so with each connection; the first one is logged.
static void take_limits(struct session *session, const struct answer *answer) {
    struct line_state *lines = &session->pass->lines;
    if (answer->line_bytes >= LINE_LIMIT_LEAST && answer->line_bytes < LINE_LIMIT) {
        lines->limit = (size_t)answer->line_bytes;
    }
    if (answer->variable_bytes > 0 && answer->variable_bytes < LINE_VARIABLES) {
        lines->variables = (size_t)answer->variable_bytes;
    }
    session->options->on_limits(answer->push_depth, answer->open_ranges);
    if (!session->knows_limits) {
        session->knows_limits = true;
        session->options->log("connected to %s, session %s", session->region->head->socket,
                              region_session(session->region)->id);
    }
}

static void take_welcome(struct session *session, const struct answer *answer) {
    if (answer->nvtx == 0) {
        log_once(session, "the daemon does not know the extension nvtx", "");
        begin_anew(session, UNKNOWN_MS);
        session->is_refused = true;
        return;
    }
    if (is_lost(session, answer->line)) {
        log_once(session, "the daemon does not have our session any more; a new one begins", "");
        begin_anew(session, 0);
        return;
    }
    take_limits(session, answer);
    take_ack(session, answer->line);
    resume_after(session, answer->line);
    session->phase = SESSION_LINES;
    session->retry_ms = RETRY_MS;
    session->logged = NULL;
    session->is_refused = session->is_absent = false;
}

// ---- Answers ------------------------------------------------------------------------------------

// The session has ended: as we said, or it expired while nobody was connected.
static void take_end(struct session *session, const struct answer *answer, bool is_ending) {
    bool is_ours = session->phase == SESSION_ENDING;
    take_ack(session, answer->line);
    drop_link(session, 0);
    if (is_ours || (is_ending && !session_has_unacked(session))) {
        session->phase = SESSION_OVER;
    } else {
        log_once(session, "the session has expired; a new one begins", "");
        renew(session);
    }
}

static void take_error(struct session *session, const struct answer *answer) {
    const char *code = answer->code;
    bool is_busy = strcmp(code, "busy-session") == 0 || strcmp(code, "shutting-down") == 0;
    bool is_final = strcmp(code, "bad-hello") == 0 || strcmp(code, "unsupported-protocol") == 0;
    if (!is_busy) {
        log_once(session, "the daemon refuses the session: ", code);
    }
    drop_link(session, is_final ? UNKNOWN_MS : is_busy ? RETRY_MS : REFUSED_MS);
    session->is_refused = !is_busy;
}

static void take_answer(struct session *session, const char *text, size_t len, bool is_ending) {
    struct answer answer;
    if (!answer_read(text, len, &answer)) {
        return;
    }
    if (answer.type == ANSWER_WELCOME && session->phase == SESSION_HELLO) {
        take_welcome(session, &answer);
    } else if (answer.type == ANSWER_ACK && session->phase != SESSION_HELLO) {
        take_ack(session, answer.line);
    } else if (answer.type == ANSWER_END && session->phase != SESSION_HELLO) {
        take_end(session, &answer, is_ending);
    } else if (answer.type == ANSWER_ERROR) {
        take_error(session, &answer);
    }
}

// Takes the whole lines out of what was read. No reply is as long as the buffer: one that is does
// not concern us.
static void take_replies(struct session *session, bool is_ending) {
    char *from = session->replies, *newline;
    while (is_connected(session) &&
           (newline = memchr(from, '\n', (size_t)(session->replies + session->reply_len - from)))) {
        if (!session->skips_reply) {
            take_answer(session, from, (size_t)(newline - from), is_ending);
        }
        session->skips_reply = false;
        from = newline + 1;
    }
    if (!is_connected(session)) {
        return;
    }
    session->reply_len -= (size_t)(from - session->replies);
    memmove(session->replies, from, session->reply_len);
    if (session->reply_len == sizeof(session->replies)) {
        session->reply_len = 0;
        session->skips_reply = true;
    }
}

static void receive(struct session *session, bool is_ending) {
    while (is_connected(session)) {
        ssize_t got = link_receive(&session->link, session->replies + session->reply_len,
                                   sizeof(session->replies) - session->reply_len);
        if (got <= 0) {
            if (got < 0) {
                drop_link(session, RETRY_MS);
            }
            return;
        }
        session->reply_len += (size_t)got;
        take_replies(session, is_ending);
    }
}

// ---- Sending ------------------------------------------------------------------------------------

static uint64_t count_lines(const char *data, size_t len) {
    uint64_t lines = 0;
    const char *end = data + len;
    for (const char *at = data; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) {
        lines++;
    }
    return lines;
}

static void send_lines(struct session *session) {
    if (session->sent < session->pass->next.acked) {
        session->sent = session->pass->next.acked; // the window began again at its start
    }
    while (session->sent < session->pass->next.end) {
        size_t len;
        const char *bytes = window_at(session, session->sent, &len);
        ssize_t sent = link_send(&session->link, bytes, len);
        if (sent == 0) {
            return;
        }
        session->sent += (uint64_t)sent;
        session->sent_lines += count_lines(bytes, (size_t)sent);
    }
}

static void send_some(struct session *session) {
    while (is_connected(session) && session->out_len > 0) {
        ssize_t sent = link_send(&session->link, session->out, session->out_len);
        if (sent == 0) {
            return;
        }
        session->out += sent;
        session->out_len -= (size_t)sent;
    }
    if (session->phase == SESSION_LINES) {
        send_lines(session);
    }
}

void session_end(struct session *session) {
    if (session->phase == SESSION_LINES && session->out_len == 0 &&
        session->sent == session->pass->next.end) {
        session->out = end_line;
        session->out_len = sizeof(end_line) - 1;
        session->phase = SESSION_ENDING;
        send_some(session);
    }
}

// At its end a process waits for a daemon that it was connected to and that has not got all; not
// for one that was never there, that refuses, or that has all lines.
static bool is_hopeless(const struct session *session) {
    bool has_daemon = session->knows_limits && session_has_unacked(session);
    return session->phase == SESSION_AWAY &&
           (session->is_refused || (session->is_absent && !has_daemon));
}

static bool is_time_to_connect(struct session *session, bool is_ending) {
    int64_t now = nvtxt_monotonic_ns(), soon = now + RETRY_MS * INT64_C(1000000);
    if (session->is_absent && session_has_unacked(session) && session->retry_at > soon) {
        session->retry_at = soon;
        session->retry_ms = RETRY_MS;
    }
    bool is_time = now >= session->retry_at;
    if (is_ending && !session->has_hurried) {
        session->has_hurried = true;
        is_time = is_time || !session->is_refused;
    }
    return is_time;
}

void session_turn(struct session *session, bool is_ending) {
    if (session->phase == SESSION_AWAY && is_time_to_connect(session, is_ending)) {
        connect_link(session);
    }
    if (is_connected(session)) {
        send_some(session);
        receive(session, is_ending);
        send_some(session);
    }
    if (is_ending && is_hopeless(session)) {
        session->phase = SESSION_OVER;
    }
}
