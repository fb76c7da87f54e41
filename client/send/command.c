// SPDX-License-Identifier: Apache-2.0
//
// One poll(2) loop over the command's two pipes, our stdout and stderr, signals and the daemon's
// socket. A stream is read when what was read before is written to ours and is in the session's
// intake; so order is kept, and memory is bounded. When the intake has had no room for
// COMMAND_PATIENCE_MS and the daemon acknowledged nothing meanwhile, the intake drops lines until
// an acknowledgement comes.
//
// Other processes may share our stdout and stderr, so their flags stay as they are: a write happens
// only when poll(2) allows it, and takes no more than a pipe then has room for.
#include "client/send/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/send/reconnect.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

struct stream {
    int from; // owned; -1 at its end
    int to;
    const char *name;
    bool regular; // `to` never blocks
    char *data;   // owned; TEXTLOG_READ bytes
    size_t at, len;
    struct textlog log;
};

struct command {
    struct child *child;
    char *const *argv;
    const struct command_record *record;
    struct runs *runs; // NULL: one run
    struct term *term;
    struct stream streams[2];
    struct input input; // stands for the command: lines are put in
    struct transfer transfer;
    bool recording;
    bool put;         // the range of the run is among the lines
    bool concluded;   // ... and it was the last one
    int64_t ended_ms; // when the command ended; 0: it runs
    int64_t ended_ns;
    int64_t since_ms; // since when the daemon acknowledges nothing although lines wait; -1: it
                      // does, or none wait
    uint64_t acked;
};

// ---- Through ------------------------------------------------------------------------------------

static void close_stream(struct stream *stream) {
    if (stream->from >= 0) {
        close(stream->from);
    }
    stream->from = -1;
    textlog_finish(&stream->log);
}

static void read_stream(struct command *c, struct stream *stream) {
    ssize_t n = read(stream->from, stream->data, TEXTLOG_READ);
    if (n <= 0) {
        if (n == 0 || errno != EINTR) {
            close_stream(stream);
        }
        return;
    }
    stream->at = 0;
    stream->len = (size_t)n;
    if (c->recording) {
        size_t size;
        memcpy(textlog_space(&stream->log, &size), stream->data, stream->len);
        textlog_filled(&stream->log, stream->len, nvtxt_realtime_ns());
    }
}

// Nobody reads our output any more: the command learns it from its pipe, as it would have without
// us.
static void write_stream(struct command *c, struct stream *stream) {
    size_t left = stream->len - stream->at;
    size_t most = stream->regular || left < PIPE_BUF ? left : PIPE_BUF;
    ssize_t n = write(stream->to, stream->data + stream->at, most);
    if (n >= 0) {
        stream->at += (size_t)n;
    } else if (errno != EINTR && errno != EAGAIN) {
        if (errno != EPIPE) {
            term_say(c->term, "%s: %s", stream->name, strerror(errno));
        }
        stream->at = stream->len = 0;
        close_stream(stream);
    }
}

static bool is_taken(const struct command *c, const struct stream *stream) {
    return !c->recording || !textlog_has_next(&stream->log);
}

static bool is_idle(const struct command *c, const struct stream *stream) {
    return stream->at == stream->len && is_taken(c, stream);
}

static bool is_over(const struct command *c, const struct stream *stream) {
    return stream->from < 0 && is_idle(c, stream);
}

static void serve_stream(struct command *c, struct stream *stream, const struct pollfd fds[2]) {
    if (fds[1].revents) {
        write_stream(c, stream);
    }
    if (fds[0].revents) {
        read_stream(c, stream);
    } else if (c->ended_ms > 0 && stream->from >= 0 && is_idle(c, stream) &&
               nvtxt_monotonic_ms() - c->ended_ms >= COMMAND_LINGER_MS) {
        close_stream(stream); // a process that the command started still has it
    }
}

// ---- The record ---------------------------------------------------------------------------------

// `r` is RUNNING when the session has ended, else why it has not.
static void stop_recording(struct command *c, enum outcome r) {
    c->recording = false;
    (void)transfer_end(&c->transfer, r);
    if (c->ended_ms == 0 && r != OUTCOME_RUNNING) {
        term_say(c->term,
                 c->record->records_itself ? "%s runs on; its run will be no range"
                                           : "%s runs on without being recorded",
                 c->argv[0]);
    }
}

static void check(struct command *c, enum outcome r) {
    if (c->recording && r != OUTCOME_RUNNING) {
        stop_recording(c, r);
    }
}

static int put_call(struct command *c, const char *head, struct nvtxt_slice string,
                    const char *tail) {
    size_t room = intake_line_max(&c->transfer.sender) + 1;
    char *line = malloc(room);
    if (!line) {
        return nvtxt_origin(-ENOMEM);
    }
    size_t len = textlog_call(line, room, head, string, tail);
    int r = intake_put(&c->transfer.intake, (struct nvtxt_slice){line, len});
    free(line);
    return r;
}

// With pipes each line of a log names its category; without them the category needs a line of its
// own.
static int put_category(struct command *c) {
    char head[64];
    const char *category = c->record->text->category;
    if (c->streams[0].from >= 0 || !category) {
        return 0;
    }
    snprintf(head, sizeof(head), "SetCategoryName,%u,", textlog_category(category));
    return put_call(c, head, nvtxt_slice_of(category), "");
}

// The process that the range is of.
static int pid_of(const struct command *c) {
    return c->runs ? (int)getpid() : (int)c->child->pid;
}

static int put_name(struct command *c) {
    char head[64];
    snprintf(head, sizeof(head), "SetProcessName,%d,", pid_of(c));
    return put_call(c, head, nvtxt_slice_of(nvtxt_base_name(c->argv[0])), "");
}

// The range of the run has the key that its processes have found in NVTXT_PARENT.
static int put_key(struct command *c) {
    struct nvtxt_keyed keyed = {.bad_parent = false};
    struct nvtxt_buf line = {0};
    char key[RUNS_KEY] = PARENT_RUN;
    if (c->runs) {
        runs_key(c->runs, key);
    }
    snprintf(keyed.key, sizeof(keyed.key), "%s", key);
    nvtxt_keyed_format(&line, &keyed);
    int r = nvtxt_buf_failed(&line)
                ? nvtxt_origin(-ENOMEM)
                : intake_put(&c->transfer.intake, (struct nvtxt_slice){line.data, line.len});
    nvtxt_buf_deinit(&line);
    return r;
}

static int put_range(struct command *c) {
    struct nvtxt_buf words = {0};
    char head[256];
    char tail[32];
    const char *category = c->record->text->category;
    int code = child_exit_code(c->child);
    if (c->record->label) {
        nvtxt_buf_add_string(&words, c->record->label);
        nvtxt_buf_add_string(&words, c->runs ? runs_suffix(c->runs, c->child) : "");
    }
    for (char *const *word = c->argv; !c->record->label && *word; word++) {
        nvtxt_buf_add(&words, " ", word > c->argv);
        nvtxt_buf_add_string(&words, *word);
    }
    snprintf(head, sizeof(head), "RangeStartEnd,%lld,%lld,Manual,%d,%d,%u,0x%08x,",
             (long long)(c->runs ? c->runs->begun_ns : c->record->begun_ns), (long long)c->ended_ns,
             pid_of(c), pid_of(c), category ? textlog_category(category) : 0,
             c->record->has_color ? c->record->text->color : child_color(c->child));
    snprintf(tail, sizeof(tail), ",%d", code);
    int r = nvtxt_buf_failed(&words) ? nvtxt_origin(-ENOMEM) : put_key(c);
    r = r ?: put_call(c, head, (struct nvtxt_slice){words.data, words.len}, tail);
    nvtxt_buf_deinit(&words);
    return r;
}

static struct steps *steps_of(const struct command *c) {
    return c->record ? c->record->steps : NULL;
}

// Whether the end of a command line waits here to be stored.
static bool has_step(const struct command *c) {
    size_t len;
    return steps_of(c) && steps_line(steps_of(c), &len);
}

static int move_steps(struct command *c) {
    struct intake *intake = &c->transfer.intake;
    const char *line;
    size_t len;
    int r = 0;
    while (r == 0 && intake_has_room(intake) && has_step(c)) {
        line = steps_line(steps_of(c), &len);
        r = intake_put(intake, (struct nvtxt_slice){line, len});
        steps_taken(steps_of(c), len);
    }
    return r ?: intake_move(intake);
}

// No line comes after those that are there; they wait for room.
static int conclude(struct command *c) {
    c->concluded = true;
    c->since_ms = -1;
    c->transfer.intake.drop = false;
    return intake_end(&c->transfer.intake);
}

static int put_run(struct command *c) {
    bool last = !c->runs || !runs_go_on(c->runs, c->child);
    c->put = true;
    int r = put_range(c);
    r = r ?: last ? conclude(c) : intake_move(&c->transfer.intake);
    return r;
}

// Moves lines on, and after the last one the range.
static enum outcome move_lines(struct command *c) {
    struct intake *intake = &c->transfer.intake;
    int r = 0;
    for (size_t i = 0; i < 2 && r == 0; i++) {
        r = intake_move_log(intake, &c->streams[i].log);
    }
    if (r == 0 && steps_of(c)) {
        r = move_steps(c);
    }
    bool left = steps_of(c) && (has_step(c) || !steps_of(c)->drained);
    bool over =
        c->ended_ms > 0 && !left && is_over(c, &c->streams[0]) && is_over(c, &c->streams[1]);
    if (r == 0 && over && !c->put && intake_has_room(intake)) {
        r = put_run(c);
    }
    return transfer_taken(&c->transfer, r);
}

static bool is_held_up(const struct command *c) {
    bool waits = c->runs && c->ended_ms > 0 && !c->put; // and the next run with it
    return c->concluded || waits || !is_taken(c, &c->streams[0]) || !is_taken(c, &c->streams[1]) ||
           has_step(c);
}

static void leave(struct command *c) {
    char text[5120];
    if (intake_unacked(&c->transfer.intake) > 0 && !c->transfer.spool) {
        term_say(c->term, "the daemon at %s does not answer: %s", c->transfer.link.path,
                 reconnect_unacknowledged(&c->transfer, text, sizeof(text)));
    }
    stop_recording(c, OUTCOME_LATER);
}

// How long the daemon may delay the command, and after its end us.
static int64_t patience(const struct command *c) {
    int64_t given = c->record->transfer->timeout_ms;
    return c->concluded && given >= 0 ? given : COMMAND_PATIENCE_MS;
}

static void check_patience(struct command *c, int64_t now) {
    struct intake *intake = &c->transfer.intake;
    if (c->transfer.sender.window.acked != c->acked) {
        c->acked = c->transfer.sender.window.acked;
        c->since_ms = -1;
        intake->drop = c->record->transfer->drop && !c->concluded;
    }
    if (!is_held_up(c)) {
        c->since_ms = -1;
        return;
    }
    c->since_ms = c->since_ms < 0 ? now : c->since_ms;
    bool kept = c->transfer.spool && c->transfer.link.fd < 0;
    bool impatient = now - c->since_ms >= patience(c);
    if (c->concluded && (kept || impatient || c->child->interrupted)) {
        c->record->transfer->given_up = impatient;
        leave(c);
    } else if (impatient && !c->concluded) {
        intake->drop = true;
    }
}

static void begin_recording(struct command *c) {
    const struct command_record *record = c->record;
    if (!record) {
        return;
    }
    record->transfer->text = record->text;
    c->transfer = (struct transfer){
        .options = record->transfer, .input = &c->input, .spool = record->spool, .term = c->term};
    enum outcome r = transfer_begin(&c->transfer, record->hello);
    static const char *const names[] = {"stdout", "stderr"};
    for (size_t i = 0; i < 2 && r == OUTCOME_RUNNING && c->streams[i].from >= 0; i++) {
        const char *category = record->text->category ?: names[i];
        if (textlog_init(&c->streams[i].log, record->text, category, (uint32_t)c->child->pid,
                         intake_line_max(&c->transfer.sender)) != 0) {
            r = OUTCOME_SYSTEM;
        }
    }
    c->recording = true;
    r = r == OUTCOME_RUNNING ? transfer_taken(&c->transfer, put_name(c)) : r;
    r = r == OUTCOME_RUNNING ? transfer_taken(&c->transfer, put_category(c)) : r;
    check(c, r);
}

// ---- The loop -----------------------------------------------------------------------------------

static void earlier(int64_t *soonest, int64_t other) {
    if (*soonest < 0 || other < *soonest) {
        *soonest = other;
    }
}

static int64_t until(const struct command *c, int64_t now) {
    int64_t soonest = c->recording ? transfer_until(&c->transfer, now) : -1;
    if (c->recording && c->since_ms >= 0) {
        earlier(&soonest, c->since_ms + patience(c));
    }
    if (c->ended_ms > 0 && !c->child->reaped) {
        earlier(&soonest, c->ended_ms + COMMAND_UNREAPED_MS);
    }
    for (size_t i = 0; i < 2; i++) {
        if (c->ended_ms > 0 && c->streams[i].from >= 0 && is_idle(c, &c->streams[i])) {
            earlier(&soonest, c->ended_ms + COMMAND_LINGER_MS);
        }
    }
    return soonest;
}

static void check_end(struct command *c) {
    child_update(c->child);
    if (!c->child->running && c->ended_ms == 0) {
        c->ended_ms = nvtxt_monotonic_ms();
        c->ended_ns = nvtxt_realtime_ns();
        if (c->record) {
            c->record->transfer->given_up = false; // that was earlier: it may answer now
        }
        if (steps_of(c)) {
            steps_of(c)->drained = false;
        }
        if (c->runs) {
            runs_ended(c->runs, c->child, c->ended_ns);
        }
    }
    for (size_t i = 0; i < 2 && c->child->interrupted; i++) {
        c->streams[i].at = c->streams[i].len; // nobody may ever read it
        close_stream(&c->streams[i]);
    }
}

static void serve(struct command *c, const struct pollfd *fds) {
    if (fds[0].revents) {
        check_end(c);
    }
    if (c->recording) {
        check(c, transfer_replies(&c->transfer, fds[1].revents));
    }
    for (size_t i = 0; i < 2; i++) {
        serve_stream(c, &c->streams[i], fds + 2 + 2 * i);
    }
    if (steps_of(c) && (fds[6].revents || c->ended_ms > 0) && (!c->recording || !has_step(c))) {
        steps_read(steps_of(c));
    }
    size_t len;
    while (has_step(c) && !c->recording) { // nobody records it
        (void)steps_line(steps_of(c), &len);
        steps_taken(steps_of(c), len);
    }
}

static void wait_and_serve(struct command *c, int64_t now) {
    struct pollfd fds[7] = {{.fd = c->child->signals, .events = POLLIN}, {.fd = -1}};
    bool hears = steps_of(c) && (!c->recording || !has_step(c));
    bool at_once = hears && c->ended_ms > 0 && !steps_of(c)->drained;
    fds[6] = (struct pollfd){.fd = hears ? steps_of(c)->fd : -1, .events = POLLIN};
    if (c->recording) {
        fds[1] = transfer_poll(&c->transfer);
    }
    for (size_t i = 0; i < 2; i++) {
        const struct stream *stream = &c->streams[i];
        bool pending = stream->at < stream->len;
        fds[2 + 2 * i] =
            (struct pollfd){.fd = is_idle(c, stream) ? stream->from : -1, .events = POLLIN};
        fds[3 + 2 * i] = (struct pollfd){.fd = pending ? stream->to : -1, .events = POLLOUT};
    }
    if (poll(fds, 7, at_once ? 0 : transfer_timeout(until(c, now), now)) >= 0) {
        serve(c, fds);
    }
}

static void record_on(struct command *c) {
    if (c->recording) {
        check(c, move_lines(c));
    }
    if (c->recording) {
        transfer_write(&c->transfer);
    }
    if (c->recording && c->transfer.sender.state == SENDER_ENDED) {
        stop_recording(c, OUTCOME_RUNNING);
    }
    if (c->recording) {
        check_patience(c, nvtxt_monotonic_ms());
    }
}

// A daemon that acknowledges the first line, which names the command, has looked whose the command
// is.
static void reap(struct command *c) {
    bool looked = !c->recording || c->transfer.sender.window.acked > 0;
    if (c->ended_ms > 0 && (looked || nvtxt_monotonic_ms() - c->ended_ms >= COMMAND_UNREAPED_MS)) {
        child_reap(c->child);
    }
}

static bool is_done(const struct command *c) {
    return c->ended_ms > 0 && is_over(c, &c->streams[0]) && is_over(c, &c->streams[1]) &&
           !c->recording;
}

static bool open_stream(struct stream *stream, int *from, int to, const char *name) {
    struct stat status;
    *stream = (struct stream){.from = *from, .to = to, .name = name};
    if (*from < 0) { // the command writes to our stdout or stderr itself
        return true;
    }
    stream->regular = fstat(to, &status) == 0 && S_ISREG(status.st_mode);
    stream->data = malloc(TEXTLOG_READ);
    *from = -1;
    return stream->data != NULL;
}

// The run that ended is recorded, or nobody records it: the next one begins, if there is one.
static void run_next(struct command *c) {
    struct runs *runs = c->runs;
    if (!runs || c->ended_ms == 0 || c->concluded || (c->recording && !c->put)) {
        return;
    }
    if (runs_go_on(runs, c->child) && runs_start(runs, c->child, c->argv, false) == 0) {
        c->ended_ms = 0;
        c->put = false;
    } else if (c->recording) {
        check(c, transfer_taken(&c->transfer, conclude(c)));
    }
}

// Whether there is something to wait for. A tick may end the recording, the last thing of all: so
// it comes before the question.
static bool goes_on(struct command *c, int64_t now) {
    if (c->recording) {
        check(c, transfer_tick(&c->transfer, now));
    }
    run_next(c);
    return !is_done(c);
}

static void run_loop(struct command *c) {
    for (int64_t now = nvtxt_monotonic_ms(); goes_on(c, now); now = nvtxt_monotonic_ms()) {
        wait_and_serve(c, now);
        record_on(c);
        reap(c);
    }
}

void command_run(struct child *child, char *const *argv, const struct command_record *record,
                 struct runs *runs, struct term *term) {
    struct command c = {.child = child,
                        .argv = argv,
                        .record = record,
                        .runs = runs,
                        .term = term,
                        .since_ms = -1,
                        .input = {.name = argv[0], .fd = -1, .ended = true}};
    bool good = open_stream(&c.streams[0], &child->out, STDOUT_FILENO, "stdout");
    good = open_stream(&c.streams[1], &child->err, STDERR_FILENO, "stderr") && good;
    if (good) {
        begin_recording(&c);
        run_loop(&c);
    } else {
        term_say(term, "out of memory");
    }
    if (!child->running) {
        child_reap(child);
    }
    for (size_t i = 0; i < 2; i++) {
        close_stream(&c.streams[i]);
        free(c.streams[i].data);
        textlog_deinit(&c.streams[i].log);
    }
}
