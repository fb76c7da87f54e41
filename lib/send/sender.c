// SPDX-License-Identifier: Apache-2.0
//
// A turn of the thread: a pass; then the connection does what it can without waiting; then it
// sleeps. How long follows from what it waits for: calls (10 ms, while there are any), room in the
// socket, acknowledgements (longer and longer), a daemon. When all is quiet it sleeps without end:
// it sets `attention`, makes sure that every thread sees that (membarrier), looks once more and
// waits in a futex, from which the next call wakes it.
//
// Lines are numbered over the session. After a break the daemon's welcome says which it has, and
// sending goes on behind that one. A session that the daemon does not have any more is begun anew,
// with the lines that were not acknowledged behind the settings that were in force before them.
#include "lib/send/sender.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/ring/pass.h"
#include "lib/send/answer.h"
#include "lib/send/link.h"

#define STACK_BYTES (128u << 10)
#define TRAFFIC_MS 10
#define ACK_MS_MOST 100
#define BACKLOG_MS_FIRST 2
#define BACKLOG_MS_MOST 100
#define RETRY_MS 100
#define REFUSED_MS 1000
#define UNKNOWN_MS 60000 // a daemon without the extension
#define NO_BARRIER_MS 100
#define REPLY_BYTES 8192

enum phase { PHASE_NONE, PHASE_HELLO, PHASE_LINES, PHASE_END };

// What the thread knows and nobody else: mapped memory, since the program may be inside of malloc.
struct work {
    struct sender *sender;
    struct link link;
    enum phase phase;
    uint64_t sent, sent_lines; // position and number of what was handed to the socket
    struct region_session next_session;
    char out[REGION_PREAMBLE + 4096]; // hello and preamble on their way
    size_t out_len, out_at;
    char settings[2][300]; // the last ThreadId and Domain line that was acknowledged
    size_t setting_len[2];
    char replies[REPLY_BYTES];
    size_t reply_len;
    int64_t retry_at;
    int backlog_ms, ack_ms;
    uint64_t names;
    int64_t offset_at;
    bool has_barrier, said_end, was_connected;
    const char *logged;
    struct pass pass;
};

// ---- Time and waiting ---------------------------------------------------------------------------

static int64_t clock_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns) {
    struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}

static void tell_progress(struct sender *sender) {
    atomic_fetch_add(&sender->progress, 1);
    futex_wake(&sender->progress);
}

void sender_wake(struct sender *sender) {
    atomic_fetch_and(sender->attention, ~sender->asleep);
    futex_wake(sender->attention);
}

// The narrowest of a few readings of the one clock between two of the other.
static int64_t measure_offset(void) {
    int64_t best = INT64_MAX, offset = 0;
    for (int i = 0; i < 5; i++) {
        int64_t before = now_ns(), real = clock_ns(CLOCK_REALTIME), after = now_ns();
        if (after - before < best) {
            best = after - before;
            offset = real - before - (after - before) / 2;
        }
    }
    return offset;
}

// The offset is kept until it differs by more than a millisecond, which is a step of the clock and
// no drift.
static void check_offset(struct work *work) {
    struct region_head *head = work->sender->region->head;
    int64_t offset = measure_offset(), difference = offset - atomic_load(&head->offset_ns);
    if (difference > 1000000 || difference < -1000000) {
        atomic_store(&head->offset_ns, offset);
        work->pass.offset_ns = offset;
    }
    work->offset_at = now_ns() + 1000000000;
}

// ---- The session --------------------------------------------------------------------------------

static void make_session_id(char *id) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
        int64_t seed[2] = {clock_ns(CLOCK_REALTIME), now_ns() ^ (int64_t)getpid() << 32};
        memcpy(bytes, seed, sizeof(bytes));
    }
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = id;
    for (int i = 0; i < 16; i++) {
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    }
}

static void add_json_text(char *to, size_t size, const char *text) {
    size_t len = 0;
    for (; *text && len + 8 < size; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte < 0x20) {
            continue;
        }
        if (byte == '"' || byte == '\\') {
            to[len++] = '\\';
        }
        to[len++] = (char)byte;
    }
    to[len] = '\0';
}

static void say_hello(struct work *work) {
    struct sender *sender = work->sender;
    char name[600], expiry[40] = "";
    add_json_text(name, sizeof(name), sender->options.name);
    if (sender->options.expiry) {
        snprintf(expiry, sizeof(expiry), ",\"expiry\":%u", sender->options.expiry);
    }
    work->out_len = (size_t)snprintf(
        work->out, sizeof(work->out),
        "#nvtxt-session {\"protocol\":1,\"session\":\"%s\",\"client\":\"libnvtxt\",\"name\":\"%s\","
        "\"pid\":%u,\"nvtx\":1,\"diagnostics\":false%s}\n",
        region_session(sender->region)->id, name, sender->region->head->process, expiry);
    work->out_at = 0;
    work->phase = PHASE_HELLO;
}

static void log_once(struct work *work, const char *what, const char *path, int error) {
    if (work->logged != what) {
        work->logged = what;
        work->sender->options.log("%s%s%s%s%s", what, *path ? " " : "", path, error ? ": " : "",
                                  error ? strerror(error) : "");
    }
}

static void drop_link(struct work *work, int wait_ms) {
    link_close(&work->link);
    work->phase = PHASE_NONE;
    work->reply_len = 0;
    work->out_len = work->out_at = 0;
    work->retry_at = now_ns() + (int64_t)wait_ms * 1000000;
    atomic_store(&work->sender->is_connected, false);
}

static void connect_link(struct work *work) {
    struct sender *sender = work->sender;
    int r = -ENOENT;
    uint32_t i = 0;
    for (; i < sender->options.path_count; i++) {
        r = link_connect(&work->link, sender->options.paths[i]);
        if (r == 0 || r == -EAGAIN) {
            break;
        }
    }
    if (r == 0) {
        work->backlog_ms = BACKLOG_MS_FIRST;
        snprintf(sender->region->head->socket, sizeof(sender->region->head->socket), "%s",
                 sender->options.paths[i]);
        say_hello(work);
        return;
    }
    int wait = RETRY_MS;
    if (r == -EAGAIN) {
        wait = work->backlog_ms;
        work->backlog_ms = wait * 2 < BACKLOG_MS_MOST ? wait * 2 : BACKLOG_MS_MOST;
    } else {
        log_once(work, "no daemon at", sender->options.path_count ? sender->options.paths[0] : "",
                 -r);
    }
    work->retry_at = now_ns() + (int64_t)wait * 1000000;
}

// The byte of the window at a position, and how many lie behind it without a break.
static const char *window_at(const struct work *work, uint64_t position, size_t *len) {
    const struct region *region = work->sender->region;
    uint64_t size = region->head->window_bytes, at = position & (size - 1);
    uint64_t rest = work->pass.next.end - position;
    *len = (size_t)(rest < size - at ? rest : size - at);
    return region->window + at;
}

// Keeps a line that sets what later lines need, if it is one.
static void keep_setting(struct work *work, uint64_t from, uint64_t to) {
    static const char *const prefixes[2] = {"ThreadId=", "Domain="};
    char line[300];
    size_t len = (size_t)(to - from), got = 0;
    if (len > sizeof(line)) {
        return;
    }
    while (got < len) {
        size_t some;
        const char *bytes = window_at(work, from + got, &some);
        some = some < len - got ? some : len - got;
        memcpy(line + got, bytes, some);
        got += some;
    }
    for (int i = 0; i < 2; i++) {
        if (len > strlen(prefixes[i]) && memcmp(line, prefixes[i], strlen(prefixes[i])) == 0) {
            memcpy(work->settings[i], line, len);
            work->setting_len[i] = len;
        }
    }
}

// The position behind `count` lines from `position` on.
static uint64_t skip_lines(struct work *work, uint64_t position, uint64_t count, bool keep) {
    uint64_t line = position;
    while (count > 0 && position < work->pass.next.end) {
        size_t len;
        const char *bytes = window_at(work, position, &len);
        const char *newline = memchr(bytes, '\n', len);
        if (!newline) {
            position += len;
            continue;
        }
        position += (uint64_t)(newline - bytes) + 1;
        count--;
        if (keep) {
            keep_setting(work, line, position);
        }
        line = position;
    }
    return position;
}

// The daemon has committed this line of the session, and all before it.
static void take_ack(struct work *work, uint64_t session_line) {
    struct region_state *state = &work->pass.next;
    if (session_line > INT64_MAX / 2) {
        return;
    }
    int64_t line = (int64_t)session_line + region_session(work->sender->region)->first;
    if (line <= (int64_t)state->acked_lines || line > (int64_t)state->lines) {
        return;
    }
    state->acked = skip_lines(work, state->acked, (uint64_t)line - state->acked_lines, true);
    state->acked_lines = (uint64_t)line;
    atomic_store(&work->sender->lines_acked, (uint64_t)line);
    work->ack_ms = TRAFFIC_MS;
}

// A session of its own for what is not acknowledged: before its first line stand the definitions,
// and the settings that were in force there.
static void renew_session(struct work *work) {
    const struct region_state *state = &work->pass.next;
    struct region_session *session = &work->next_session;
    session->preamble_bytes = session->preamble_lines = 0;
    if (state->acked_lines > 0) {
        struct line_buf *buf = &work->pass.buf; // empty between passes
        line_begin(buf);
        memcpy(session->preamble, buf->data, buf->len);
        session->preamble_bytes = (uint32_t)buf->len;
        session->preamble_lines = buf->lines;
        buf->len = 0;
        buf->lines = 0;
    }
    for (int i = 0; i < 2 && state->acked_lines > 0; i++) {
        memcpy(session->preamble + session->preamble_bytes, work->settings[i],
               work->setting_len[i]);
        session->preamble_bytes += (uint32_t)work->setting_len[i];
        session->preamble_lines += work->setting_len[i] > 0;
    }
    session->first = (int64_t)state->acked_lines - session->preamble_lines;
    make_session_id(session->id);
    region_set_session(work->sender->region, session);
    work->sender->options.log("the daemon has our session no more; a new one begins");
}

// Where sending goes on: in the preamble, or in the window.
static void resume_after(struct work *work, uint64_t line) {
    const struct region_state *state = &work->pass.next;
    const struct region_session *session = region_session(work->sender->region);
    uint64_t skipped = line < session->preamble_lines ? line : session->preamble_lines;
    const char *from = session->preamble;
    for (uint64_t i = 0; i < skipped; i++) {
        from = strchr(from, '\n') + 1;
    }
    work->out_len = session->preamble_bytes - (size_t)(from - session->preamble);
    work->out_at = 0;
    memcpy(work->out, from, work->out_len);
    int64_t next = (int64_t)line + session->first;
    uint64_t lines = next > (int64_t)state->acked_lines ? (uint64_t)next - state->acked_lines : 0;
    work->sent_lines = state->acked_lines + lines;
    work->sent = skip_lines(work, state->acked, lines, false);
}

static void take_welcome(struct work *work, const struct answer *answer) {
    struct sender *sender = work->sender;
    if (answer->nvtx == 0) {
        log_once(work, "the daemon does not know the extension nvtx", "", 0);
        static const char end[] = "#nvtxt-end\n";
        link_send(&work->link, end, sizeof(end) - 1);
        drop_link(work, UNKNOWN_MS);
        work->next_session = *region_session(sender->region);
        make_session_id(work->next_session.id); // that one has ended
        region_set_session(sender->region, &work->next_session);
        return;
    }
    if (answer->line_bytes >= LINE_LIMIT_LEAST && answer->line_bytes < LINE_LIMIT) {
        work->pass.lines.limit = (size_t)answer->line_bytes;
    }
    if (answer->variable_bytes > 0 && answer->variable_bytes < LINE_VARIABLES) {
        work->pass.lines.variables = (size_t)answer->variable_bytes;
    }
    sender->options.on_limits(answer->push_depth, answer->open_ranges);
    take_ack(work, answer->line);
    resume_after(work, answer->line);
    work->phase = PHASE_LINES;
    work->said_end = false;
    work->logged = NULL;
    atomic_store(&sender->is_connected, true);
    if (!work->was_connected) {
        work->was_connected = true;
        sender->options.log("connected to %s, session %s", sender->region->head->socket,
                            region_session(sender->region)->id);
    }
}

static void take_end(struct work *work, const struct answer *answer) {
    if (work->phase == PHASE_END || (atomic_load(&work->sender->is_ending) && work->said_end)) {
        take_ack(work, answer->line);
        drop_link(work, 0);
        atomic_store(&work->sender->is_done, true);
        return;
    }
    drop_link(work, 0); // it expired while nobody was connected
    renew_session(work);
}

static void take_error(struct work *work, const struct answer *answer) {
    bool busy = strcmp(answer->code, "busy-session") == 0;
    if (strcmp(answer->code, "foreign-session") == 0) {
        drop_link(work, RETRY_MS);
        renew_session(work);
        return;
    }
    if (!busy) {
        log_once(work, "the daemon refuses the session:", "", 0);
        work->sender->options.log("code %s", answer->code);
    }
    bool bad =
        strcmp(answer->code, "bad-hello") == 0 || strcmp(answer->code, "unsupported-protocol") == 0;
    drop_link(work, bad ? UNKNOWN_MS : busy ? RETRY_MS : REFUSED_MS);
}

static void take_answer(struct work *work, const char *text, size_t len) {
    struct answer answer;
    if (!answer_read(text, len, &answer)) {
        return;
    }
    switch (answer.type) {
    case ANSWER_WELCOME:
        if (work->phase == PHASE_HELLO) {
            take_welcome(work, &answer);
        }
        break;
    case ANSWER_ACK:
        take_ack(work, answer.line);
        break;
    case ANSWER_END:
        take_end(work, &answer);
        break;
    case ANSWER_ERROR:
        take_error(work, &answer);
        break;
    case ANSWER_OTHER:
        break;
    }
}

static void receive(struct work *work) {
    while (work->link.fd >= 0) {
        ssize_t got = link_receive(&work->link, work->replies + work->reply_len,
                                   sizeof(work->replies) - work->reply_len);
        if (got <= 0) {
            if (got < 0) {
                drop_link(work, RETRY_MS);
            }
            return;
        }
        work->reply_len += (size_t)got;
        char *from = work->replies, *newline;
        while (work->link.fd >= 0 &&
               (newline = memchr(from, '\n', (size_t)(work->replies + work->reply_len - from)))) {
            take_answer(work, from, (size_t)(newline - from));
            from = newline + 1;
        }
        if (work->link.fd < 0) {
            return;
        }
        work->reply_len -= (size_t)(from - work->replies);
        memmove(work->replies, from, work->reply_len);
        if (work->reply_len == sizeof(work->replies)) {
            work->reply_len = 0; // no reply is so long: whatever it was, it is not for us
        }
    }
}

// Sends `len` bytes; returns how many went.
static size_t push_out(struct work *work, const char *data, size_t len) {
    ssize_t sent = link_send(&work->link, data, len);
    if (sent < 0) {
        drop_link(work, RETRY_MS);
        return 0;
    }
    return (size_t)sent;
}

static uint64_t count_lines(const char *data, size_t len) {
    uint64_t lines = 0;
    for (const char *at = data; (at = memchr(at, '\n', len - (size_t)(at - data))); at++) {
        lines++;
        if ((size_t)(at + 1 - data) == len) {
            break;
        }
    }
    return lines;
}

static void send_lines(struct work *work) {
    while (work->phase == PHASE_LINES && work->sent < work->pass.next.end) {
        size_t len;
        const char *bytes = window_at(work, work->sent, &len);
        size_t sent = push_out(work, bytes, len);
        if (sent == 0) {
            return;
        }
        work->sent += sent;
        work->sent_lines += count_lines(bytes, sent);
        atomic_store(&work->sender->lines_sent, work->sent_lines);
    }
}

static void send_some(struct work *work) {
    while (work->phase != PHASE_NONE && work->out_at < work->out_len) {
        size_t sent = push_out(work, work->out + work->out_at, work->out_len - work->out_at);
        if (sent == 0) {
            return;
        }
        work->out_at += sent;
    }
    if (work->phase == PHASE_LINES) {
        send_lines(work);
    }
}

// All was sent, and no more comes: the session ends in order.
static void send_end(struct work *work) {
    if (work->phase != PHASE_LINES || work->sent != work->pass.next.end || work->said_end) {
        return;
    }
    static const char end[] = "#nvtxt-end\n";
    memcpy(work->out, end, sizeof(end) - 1);
    work->out_len = sizeof(end) - 1;
    work->out_at = 0;
    work->said_end = true;
    work->phase = PHASE_END;
    send_some(work);
}

// ---- Turns --------------------------------------------------------------------------------------

static struct pass_result make_lines(struct work *work) {
    struct sender *sender = work->sender;
    if (now_ns() > work->offset_at) {
        check_offset(work);
    }
    uint64_t names = sender->options.names_version();
    struct pass_result result =
        pass_run(&work->pass, names != work->names, sender->options.on_empty);
    work->names = result.is_full ? work->names : names;
    atomic_store(&sender->ignored, work->pass.ignored);
    atomic_store(&sender->lines_made, work->pass.next.lines);
    atomic_fetch_add(&sender->passes, 1);
    return result;
}

static bool has_unacked(const struct work *work) {
    return work->pass.next.acked_lines < work->pass.next.lines;
}

static void turn_link(struct work *work) {
    if (work->phase == PHASE_NONE && has_unacked(work) && now_ns() >= work->retry_at) {
        connect_link(work);
    }
    send_some(work);
    if (work->phase != PHASE_NONE) {
        receive(work);
        send_some(work);
    }
}

// Nothing is to be done until a call comes. Returns whether it slept.
static bool sleep_quietly(struct work *work) {
    struct sender *sender = work->sender;
    atomic_fetch_or(sender->attention, sender->asleep);
    if (work->has_barrier && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0) {
        work->has_barrier = false;
    }
    atomic_thread_fence(memory_order_seq_cst);
    struct pass_result result = make_lines(work);
    if (result.moved || atomic_load(&sender->is_ending)) {
        atomic_fetch_and(sender->attention, ~sender->asleep);
        return false;
    }
    tell_progress(sender);
    uint32_t value = atomic_load(sender->attention);
    if (value & sender->asleep) {
        futex_wait(sender->attention, value,
                   work->has_barrier ? -1 : (int64_t)NO_BARRIER_MS * 1000000);
    }
    atomic_fetch_and(sender->attention, ~sender->asleep);
    return true;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// Waits for the socket, a retry, or time; calls go into the rings meanwhile.
static void wait_awhile(struct work *work, bool traffic) {
    struct sender *sender = work->sender;
    bool to_send = work->phase != PHASE_NONE &&
                   (work->out_at < work->out_len ||
                    (work->phase == PHASE_LINES && work->sent < work->pass.next.end));
    int64_t wait_ms = traffic ? TRAFFIC_MS : work->ack_ms;
    work->ack_ms = traffic ? TRAFFIC_MS : (int)smaller(2 * work->ack_ms, ACK_MS_MOST);
    if (work->phase == PHASE_NONE) {
        int64_t until = (work->retry_at - now_ns()) / 1000000 + 1;
        wait_ms = traffic ? smaller(wait_ms, until) : until;
    }
    wait_ms = wait_ms < 1 ? 1 : wait_ms;
    if (work->phase != PHASE_NONE) {
        link_wait(&work->link, to_send, (int)wait_ms);
        return;
    }
    uint32_t value = atomic_fetch_or(sender->attention, sender->asleep) | sender->asleep;
    if (!traffic && !atomic_load(&sender->is_ending)) {
        futex_wait(sender->attention, value, wait_ms * 1000000);
    } else {
        atomic_fetch_and(sender->attention, ~sender->asleep);
        struct timespec time = {wait_ms / 1000, wait_ms % 1000 * 1000000};
        nanosleep(&time, NULL);
    }
    atomic_fetch_and(sender->attention, ~sender->asleep);
}

static void run(struct work *work) {
    struct sender *sender = work->sender;
    while (!atomic_load(&sender->is_done)) {
        struct pass_result result = make_lines(work);
        turn_link(work);
        tell_progress(sender);
        bool ending = atomic_load(&sender->is_ending);
        if (ending && !result.moved) {
            send_end(work);
        }
        if (result.is_full && work->sent < work->pass.next.end) {
            result.moved = true;
        }
        if (!result.moved && !ending && !has_unacked(work)) {
            sleep_quietly(work);
        } else if (!result.hurry) {
            wait_awhile(work, result.moved);
        }
    }
    tell_progress(sender);
}

static void *thread_main(void *of) {
    struct sender *sender = of;
    prctl(PR_SET_NAME, "nvtxt");
    struct work *work =
        mmap(NULL, sizeof(*work), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (work == MAP_FAILED) {
        return NULL;
    }
    work->sender = sender;
    work->backlog_ms = BACKLOG_MS_FIRST;
    work->ack_ms = TRAFFIC_MS;
    link_init(&work->link, sender->region->fd);
    pass_init(&work->pass, sender->region);
    work->pass.next = region_state(sender->region);
    work->names = UINT64_MAX;
    check_offset(work);
    work->has_barrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    run(work);
    return NULL;
}

// Before the first record, so that who finds only the region can go on with it.
static void begin_session(struct sender *sender) {
    struct region_head *head = sender->region->head;
    struct region_session session = {.first = 0};
    if (*region_session(sender->region)->id) {
        return; // a thread could not be made, and is tried again
    }
    atomic_store(&head->offset_ns, measure_offset());
    snprintf(head->name, sizeof(head->name), "%s", sender->options.name);
    atomic_store(&head->expiry, sender->options.expiry);
    make_session_id(session.id);
    region_set_session(sender->region, &session);
}

int sender_start(struct sender *sender) {
    begin_session(sender);
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) {
        return -ENOMEM;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(&thread, &attributes, thread_main, sender);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -r;
}

// ---- For other threads --------------------------------------------------------------------------

// Waits for a condition that the sender's progress may bring about.
static bool wait_until(struct sender *sender, int64_t until_ns,
                       bool (*is_so)(struct sender *, uint64_t), uint64_t value) {
    for (;;) {
        uint32_t progress = atomic_load(&sender->progress);
        if (is_so(sender, value)) {
            return true;
        }
        int64_t left = until_ns - now_ns();
        if (left <= 0) {
            return false;
        }
        sender_wake(sender);
        futex_wait(&sender->progress, progress, left);
    }
}

static bool has_passed(struct sender *sender, uint64_t passes) {
    return atomic_load(&sender->passes) >= passes;
}

static bool has_acked(struct sender *sender, uint64_t lines) {
    return atomic_load(&sender->lines_acked) >= lines;
}

static bool has_ended(struct sender *sender, uint64_t unused) {
    (void)unused;
    return atomic_load(&sender->is_done);
}

int sender_flush(struct sender *sender, int64_t until_ns) {
    uint64_t passes = atomic_load(&sender->passes) + 2; // one may have begun before the call
    if (wait_until(sender, until_ns, has_passed, passes) &&
        wait_until(sender, until_ns, has_acked, atomic_load(&sender->lines_made))) {
        return 0;
    }
    return atomic_load(&sender->is_connected) ? -ETIMEDOUT : -ENOTCONN;
}

bool sender_end(struct sender *sender, int64_t until_ns) {
    atomic_store(&sender->is_ending, true);
    sender_wake(sender);
    return wait_until(sender, until_ns, has_ended, 0);
}
