// SPDX-License-Identifier: Apache-2.0
//
// A poll(2) loop over the stop pipe, the input and the socket, always in both directions of the
// socket, so that neither side can wait for the other for ever. Input is read as long as the window
// has room, also while there is no connection. Without a spool nothing is read before the first
// welcome, so that a client that finds no daemon has taken nothing from its producer.
//
// One pass does at most one read of each kind and one write. Then poll() is called again, so that a
// signal is seen soon and input never holds up replies.
#include "client/send/transfer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/locate/search.h"
#include "client/send/reconnect.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/lang/diag.h"

#define PROGRESS_AFTER_MS 1000 // shorter transfers need none
#define PIECES 64              // of one write: a whole window of chunks
#define DISK_FULL_MS 500       // how often a full disk is tried again
#define FULL_AGAIN_MS 10000    // after so much time with room, say_full() says it again

static void on_diag(void *context, const struct nvtxt_reply *diag) {
    struct transfer *t = context;
    if (t->options->tries &&
        strcmp(diag->code, nvtxt_diag_code_name(NVTXT_DIAG_FOREIGN_PROCESS)) == 0) {
        t->options->foreign = true;
        return;
    }
    diag_print_line(&t->report, diag->line, diag->column, diag->severity, diag->message,
                    diag->code);
}

// ---- Bytes --------------------------------------------------------------------------------------

static enum outcome compare_with_end(struct transfer *t);

static enum outcome read_replies(struct transfer *t) {
    char data[16384];
    size_t got;
    int r = link_read(&t->link, data, sizeof(data), &got);
    if (r == LINK_NOTHING) {
        return OUTCOME_RUNNING;
    }
    if (r != 0) {
        return reconnect_lost(t, OUTCOME_NO_DAEMON,
                              r == LINK_END ? "it closed the connection" : strerror(-r), true);
    }
    bool greeting = t->sender.state == SENDER_GREETING;
    sender_received(&t->sender, data, got);
    intake_acked(&t->intake);
    if (t->sender.state == SENDER_CONFUSED) {
        term_say(t->term, "the daemon at %s cannot be understood: %s", t->link.path,
                 t->sender.refusal.message);
        return OUTCOME_PROTOCOL;
    }
    if (t->sender.state == SENDER_TOO_OLD) {
        return reconnect_too_old(t);
    }
    if (t->sender.state == SENDER_REFUSED) {
        return reconnect_refused(t);
    }
    if (t->sender.state == SENDER_CLOSED) {
        return reconnect_closed(t);
    }
    if (t->sender.state == SENDER_OVER) {
        return compare_with_end(t);
    }
    return greeting && t->sender.state != SENDER_GREETING ? reconnect_welcomed(t) : OUTCOME_RUNNING;
}

// A small disk may be full, have room, and be full again: people get the sentence once.
static void say_full(struct transfer *t) {
    int64_t now = nvtxt_monotonic_ms();
    if (t->full_ms == 0 || now - t->full_ms >= FULL_AGAIN_MS) {
        term_say(t->term, "%s; %s until there is room", t->spool->fault,
                 t->options->drop ? "lines are dropped" : "input has to wait");
    }
    t->full_ms = now;
}

enum outcome transfer_taken(struct transfer *t, int r) {
    if (r == INTAKE_BAD_SPOOL) {
        term_say(t->term, "%s", t->spool->fault);
        return t->options->resume && t->spool->damaged ? OUTCOME_BAD_DATA : OUTCOME_IO;
    }
    if (t->spool && t->spool->disk_full) {
        say_full(t);
    }
    return r < 0 ? OUTCOME_SYSTEM : OUTCOME_RUNNING;
}

// ---- Logs ---------------------------------------------------------------------------------------

static void say_unstamped(struct transfer *t) {
    if (t->log.unstamped > 0 && !t->logged_unstamped && !t->options->quiet) {
        char count[TERM_COUNT_SIZE];
        t->logged_unstamped = true;
        term_say(t->term,
                 "%s: line %s does not begin with a time as --time-format says; such lines get "
                 "the time of the line before them",
                 t->input->name, term_count(count, t->log.first_unstamped));
    }
}

static int move_log(struct transfer *t) {
    struct textlog *log = &t->log;
    int r = intake_move_log(&t->intake, log);
    say_unstamped(t);
    if (r == 0 && log->over && !textlog_has_next(log)) {
        r = intake_end(&t->intake);
    }
    return r;
}

static int read_log(struct transfer *t) {
    struct textlog *log = &t->log;
    if (!log->data && textlog_init(log, t->options->text, NULL, t->sender.hello.pid,
                                   intake_line_max(&t->sender)) != 0) {
        return nvtxt_origin(-ENOMEM);
    }
    size_t size;
    char *at = textlog_space(log, &size);
    size_t got;
    int r = input_read(t->input, at, size, &got);
    if (r == INPUT_NOTHING) {
        return 0;
    }
    if (r == 0) {
        textlog_filled(log, got, nvtxt_realtime_ns());
    } else {
        t->input_error = r < 0 ? -r : 0;
        textlog_finish(log);
    }
    return move_log(t);
}

// ---- Input --------------------------------------------------------------------------------------

static bool wants_input(const struct transfer *t) {
    return intake_wants(&t->intake) && !textlog_has_next(&t->log);
}

// A signal came: nothing more is read.
static enum outcome end_input(struct transfer *t) {
    if (t->options->text) {
        textlog_finish(&t->log);
        return transfer_taken(t, move_log(t));
    }
    return transfer_taken(t, intake_end(&t->intake));
}

static enum outcome move_input(struct transfer *t) {
    return transfer_taken(t, t->options->text ? move_log(t) : intake_move(&t->intake));
}

static enum outcome read_input(struct transfer *t) {
    if (t->options->text) {
        return transfer_taken(t, read_log(t));
    }
    int r = intake_read(&t->intake, &t->input_error);
    return transfer_taken(t, r == INTAKE_BAD_INPUT ? 0 : r);
}

// ---- Sessions that were sent before -------------------------------------------------------------

// Lines that the daemon has are removed, and give room to others.
static enum outcome skip_known(struct transfer *t) {
    enum outcome r = OUTCOME_RUNNING;
    while (r == OUTCOME_RUNNING && sender_skip(&t->sender)) {
        r = move_input(t);
    }
    return r;
}

static enum outcome say_difference(struct transfer *t, const char *what) {
    char here[TERM_COUNT_SIZE], there[TERM_COUNT_SIZE];
    uint64_t lines = t->sender.window.last - t->sender.base;
    uint64_t known = t->sender.skip == UINT64_MAX ? t->sender.end.line : t->sender.skip;
    term_say(t->term, "%s has %s line%s, but its session %s %s line%s: %s", t->input->name,
             term_count(here, lines), lines == 1 ? "" : "s", what,
             term_count(there, known - t->sender.base), known - t->sender.base == 1 ? "" : "s",
             lines > known ? "what it has grown by is not stored; send that as another session"
                           : "is it the same input, with the same options?");
    return OUTCOME_BAD_DATA;
}

static enum outcome check_length(struct transfer *t) {
    bool is_short = t->sender.input_over && t->sender.skip > t->sender.window.last;
    return is_short && t->input_error == 0 ? say_difference(t, "has stored") : OUTCOME_RUNNING;
}

static enum outcome read_once(struct transfer *t) {
    bool input = wants_input(t);
    struct pollfd fds[] = {
        {.fd = signals_fd(), .events = POLLIN},
        {.fd = input ? t->input->fd : -1, .events = POLLIN},
    };
    if (poll(fds, 2, input ? -1 : 0) < 0 && errno != EINTR) {
        return OUTCOME_SYSTEM;
    }
    return fds[1].revents ? read_input(t) : move_input(t);
}

// The session has ended already, so nothing is sent. The number of lines shows whether the input is
// the same.
static enum outcome compare_with_end(struct transfer *t) {
    enum outcome r = OUTCOME_RUNNING;
    link_close(&t->link);
    t->sender.skip = UINT64_MAX;
    while (r == OUTCOME_RUNNING && !t->sender.input_over) {
        if (signals_count() > 0) {
            return OUTCOME_STOPPED;
        }
        r = read_once(t);
        sender_skip(&t->sender);
    }
    if (r == OUTCOME_RUNNING && t->input_error == 0 &&
        t->sender.window.last != t->sender.end.line) {
        return say_difference(t, "ended with");
    }
    t->sender.state = SENDER_ENDED;
    return r;
}

static void write_output(struct transfer *t) {
    struct iovec pieces[PIECES];
    int count = sender_output(&t->sender, pieces, PIECES);
    if (count > 0) {
        sender_wrote(&t->sender, link_write(&t->link, pieces, count));
    }
}

// ---- The loop -----------------------------------------------------------------------------------

static void show_progress(struct transfer *t, int64_t now) {
    if (t->options->quiet || !t->term->is_terminal || now - t->begun_ms < PROGRESS_AFTER_MS) {
        return;
    }
    char acked[TERM_COUNT_SIZE];
    char read[TERM_COUNT_SIZE];
    char rate[TERM_COUNT_SIZE];
    char share[16] = "";
    if (t->input->is_regular && t->input->size > 0) {
        snprintf(share, sizeof(share), "%3.0f%% ",
                 100.0 * (double)t->input->taken / (double)t->input->size);
    }
    uint64_t per_second = t->sender.window.acked * 1000 / (uint64_t)(now - t->begun_ms);
    // The name last: a long one is cut at the terminal's edge.
    term_progress(t->term, now, "%s%s lines read, %s committed, %s a second%s: %s", share,
                  term_count(read, t->sender.window.last),
                  term_count(acked, t->sender.window.acked), term_count(rate, per_second),
                  t->away_ms >= 0 ? ", no daemon" : "", t->input->name);
}

static void earlier(int64_t *until, int64_t other) {
    if (other >= 0 && (*until < 0 || other < *until)) {
        *until = other;
    }
}

// After a signal: when to decide again whether to stay.
static int64_t stop_deadline(const struct transfer *t, int64_t now) {
    int64_t soon = t->stop_ms - TRANSFER_STOP_MS + TRANSFER_STOPPED_MS;
    return now < soon ? soon : t->stop_ms;
}

int64_t transfer_until(const struct transfer *t, int64_t now) {
    int64_t until = t->link.fd < 0 ? t->link.next_ms : -1;
    earlier(&until, t->stop_ms > 0 ? stop_deadline(t, now) : -1);
    earlier(&until, reconnect_deadline(t));
    earlier(&until, t->sync_ms);
    if (t->spool && t->spool->disk_full) {
        earlier(&until, now + DISK_FULL_MS);
    }
    if (until < 0 && t->term->is_terminal && !t->options->quiet && t->input->is_regular) {
        until = now + TERM_PROGRESS_MS;
    }
    return until;
}

int transfer_timeout(int64_t until, int64_t now) {
    if (until < 0) {
        return -1;
    }
    return until <= now ? 0 : until - now < 60000 ? (int)(until - now) : 60000;
}

// Nothing that was read would be lost, and nobody is there to take more of it.
static bool may_leave(const struct transfer *t) {
    return t->spool && t->link.fd < 0 && (t->intake.over || t->intake.stuck);
}

// While a daemon takes lines, they need not wait for room in the spool.
static enum outcome let_past_spool(struct transfer *t) {
    bool before = t->intake.past_spool;
    t->intake.past_spool = t->sender.state == SENDER_STREAMING;
    return t->intake.past_spool && !before ? move_input(t) : OUTCOME_RUNNING;
}

// Such a daemon cannot answer before it goes on; what it was sent waits in its socket.
static bool is_stopped(const struct transfer *t, int64_t now) {
    return stop_deadline(t, now) == t->stop_ms && link_is_stopped(&t->link);
}

static enum outcome on_stop(struct transfer *t, int64_t now) {
    char text[5120];
    bool read = !t->options->stays && (t->spool || t->sender.welcomed);
    if (t->stop_ms == 0 && read) {
        t->stop_ms = now + TRANSFER_STOP_MS;
        input_stop(t->input);
    }
    bool stopped = is_stopped(t, now);
    if (signals_count() > 1 || !read || now >= t->stop_ms || may_leave(t) || stopped) {
        if (intake_unacked(&t->intake) > 0 && !t->options->stays) {
            term_say(t->term, "stopped: %s%s", reconnect_unacknowledged(t, text, sizeof(text)),
                     stopped ? "; the daemon is stopped, too (as by SIGSTOP)" : "");
        }
        return OUTCOME_STOPPED;
    }
    return let_past_spool(t);
}

// Syncs the spool when it is time.
static enum outcome sync_spool(struct transfer *t, int64_t now) {
    if (!t->spool || t->options->sync_ms < 0 || t->options->resume) {
        return OUTCOME_RUNNING;
    }
    if (t->sync_ms >= 0 && now >= t->sync_ms) {
        t->sync_ms = -1;
        int r = spool_sync(t->spool);
        if (r < 0) {
            return transfer_taken(t, INTAKE_BAD_SPOOL);
        }
    }
    if (t->sync_ms < 0 && t->spool->dirty) {
        t->sync_ms = now + t->options->sync_ms;
    }
    return OUTCOME_RUNNING;
}

struct pollfd transfer_poll(struct transfer *t) {
    struct iovec piece;
    bool output =
        t->link.fd >= 0 && !t->link.write_failed && sender_output(&t->sender, &piece, 1) > 0;
    return (struct pollfd){.fd = t->link.fd, .events = (short)(POLLIN | (output ? POLLOUT : 0))};
}

enum outcome transfer_replies(struct transfer *t, short revents) {
    if (revents & POLLOUT) {
        t->link.blocked = false;
    }
    return revents & (POLLIN | POLLHUP | POLLERR) ? read_replies(t) : OUTCOME_RUNNING;
}

void transfer_write(struct transfer *t) {
    if (t->link.fd >= 0) {
        write_output(t);
    }
}

static enum outcome wait_and_move(struct transfer *t, int64_t now) {
    enum outcome r = skip_known(t);
    r = r == OUTCOME_RUNNING ? check_length(t) : r;
    if (r != OUTCOME_RUNNING) {
        return r;
    }
    bool input = wants_input(t);
    if (input && t->input->limited && t->input->limit == 0) {
        return end_input(t);
    }
    struct pollfd fds[] = {
        {.fd = t->stop_ms ? -1 : signals_fd(), .events = POLLIN},
        {.fd = input ? t->input->fd : -1, .events = POLLIN},
        transfer_poll(t),
    };
    if (poll(fds, 3, transfer_timeout(transfer_until(t, now), now)) < 0) {
        return errno == EINTR ? OUTCOME_RUNNING : OUTCOME_SYSTEM;
    }
    r = transfer_replies(t, fds[2].revents);
    if (r == OUTCOME_RUNNING && t->sender.state == SENDER_ENDED) {
        return OUTCOME_RUNNING;
    }
    if (r == OUTCOME_RUNNING && fds[1].revents) {
        r = read_input(t);
    } else if (r == OUTCOME_RUNNING) {
        r = move_input(t);
    }
    if (r == OUTCOME_RUNNING) {
        sender_skip(&t->sender);
        transfer_write(t);
    }
    return r;
}

enum outcome transfer_tick(struct transfer *t, int64_t now) {
    enum outcome r = reconnect_check_silence(t, now);
    if (r == OUTCOME_RUNNING && sender_is_stuck(&t->sender)) {
        r = reconnect_too_old(t);
    }
    if (r == OUTCOME_RUNNING) {
        r = sync_spool(t, now);
    }
    if (r == OUTCOME_RUNNING && t->link.fd < 0 && now >= t->link.next_ms) {
        r = reconnect_try(t);
    }
    return r;
}

static enum outcome run_loop(struct transfer *t) {
    enum outcome r = OUTCOME_RUNNING;
    while (r == OUTCOME_RUNNING && t->sender.state != SENDER_ENDED) {
        int64_t now = nvtxt_monotonic_ms();
        if (signals_count() > 0) {
            r = on_stop(t, now);
        }
        if (r == OUTCOME_RUNNING) {
            r = transfer_tick(t, now);
        }
        if (r == OUTCOME_RUNNING) {
            show_progress(t, now);
            r = wait_and_move(t, now);
        }
    }
    return r;
}

static enum outcome conclude(struct transfer *t) {
    const struct nvtxt_reply *end = &t->sender.end;
    char count[TERM_COUNT_SIZE];
    bool told = !t->options->only_errors || end->errors > 0 || t->report.printed > 0;
    if (told && !t->options->foreign) {
        diag_print_summary(&t->report, end->line, end->events, end->errors, end->warnings);
    }
    if (t->intake.dropped > 0) {
        term_say(t->term, "%s line%s of %s dropped: there was no room",
                 term_count(count, t->intake.dropped), t->intake.dropped == 1 ? "" : "s",
                 t->input->name);
    }
    if (t->log.unstamped > 1 && !t->options->quiet) {
        term_say(t->term, "%s: %s lines did not begin with a time", t->input->name,
                 term_count(count, t->log.unstamped));
    }
    if (t->input_error) {
        term_say(t->term, "%s: %s; what was read of it is stored", t->input->name,
                 strerror(t->input_error));
        return OUTCOME_IO;
    }
    if (t->input->limited && t->intake.cut) {
        term_say(t->term, "stopped: %s is stored up to line %s", t->input->name,
                 term_count(count, end->line));
        return OUTCOME_STOPPED;
    }
    return end->errors > 0 || t->intake.dropped > 0 ? OUTCOME_FAULTS : OUTCOME_DONE;
}

// The session has not ended. Returns as reconnect_say_left().
static enum outcome leave_spool(struct transfer *t, enum outcome r) {
    struct spool *spool = t->spool;
    if (spool->lasting && !spool->unsynced && spool_sync(spool) < 0) {
        term_say(t->term, "%s", spool->fault);
    }
    return reconnect_say_left(t, r);
}

enum outcome transfer_begin(struct transfer *t, const struct nvtxt_hello *hello) {
    t->report =
        (struct diag_print){.term = t->term, .name = t->input->name, .quiet = t->options->quiet};
    t->begun_ms = nvtxt_monotonic_ms();
    t->away_ms = t->silent_ms = t->busy_ms = t->sync_ms = -1;
    const struct search *search = t->options->search;
    link_init(&t->link, search->places[search->won < 0 ? 0 : search->won].path);
    if (sender_init(&t->sender, hello, t->options->window_bytes) != 0) {
        return OUTCOME_SYSTEM;
    }
    t->sender.on_diag = on_diag;
    t->sender.context = t;
    intake_init(&t->intake, t->input, &t->sender, t->spool, t->options->drop);
    if (spool_is_renewed(t->spool)) {
        sender_renew(&t->sender, t->spool->renewed, t->spool->base);
    }
    t->intake.pushed = t->options->text != NULL;
    if (t->options->repeat) {
        sender_repeat(&t->sender);
    }
    if (t->options->resume) {
        sender_resume(&t->sender, spool_first(t->spool) - 1);
        t->heard = t->sender.window.acked;
        return transfer_taken(t, intake_end(&t->intake));
    }
    return OUTCOME_RUNNING;
}

enum outcome transfer_end(struct transfer *t, enum outcome r) {
    term_wipe(t->term);
    if (r == OUTCOME_SYSTEM) {
        term_say(t->term, "out of memory; %s was not sent whole", t->input->name);
    }
    if (r == OUTCOME_RUNNING) {
        r = conclude(t);
        if (t->spool && spool_remove(t->spool) < 0) {
            term_say(t->term, "%s", t->spool->fault);
            r = OUTCOME_IO;
        }
    } else if (t->spool) {
        t->options->spooled =
            input_at_end(t->input) && intake_unspooled(&t->intake) == 0 && !t->spool->unsynced;
        if (t->options->stays && !t->options->spooled) {
            (void)spool_remove(t->spool); // the file has more; a part would end its session
        } else {
            r = leave_spool(t, r);
        }
    }
    link_close(&t->link);
    intake_deinit(&t->intake);
    sender_deinit(&t->sender);
    textlog_deinit(&t->log);
    return r;
}

// The transfer was given up, and not refused: the daemon knows how far it came, and the input is
// still there.
static bool may_be_stored(const struct transfer *t, enum outcome r) {
    bool given_up = r == OUTCOME_LATER || r == OUTCOME_NO_DAEMON || r == OUTCOME_STOPPED;
    return given_up && !t->options->made_up && !t->options->stays && !t->spool &&
           t->sender.welcomed && !t->renewed && !t->options->drop &&
           t->sender.state != SENDER_ENDED && t->sender.state != SENDER_CLOSED;
}

enum outcome transfer_run(struct transfer_options *options, struct input *input,
                          struct spool *spool, const struct nvtxt_hello *hello, struct term *term) {
    struct transfer t = {.options = options, .input = input, .spool = spool, .term = term};
    enum outcome r = transfer_begin(&t, hello);
    r = r == OUTCOME_RUNNING ? run_loop(&t) : r;
    if (r != OUTCOME_RUNNING && may_be_stored(&t, r)) {
        reconnect_say_how_on(&t);
    }
    return transfer_end(&t, r);
}
