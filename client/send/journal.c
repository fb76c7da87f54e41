// SPDX-License-Identifier: Apache-2.0
//
// A poll(2) loop over signals, the journal and the socket. In each round a few entries become
// lines, their places go onto the disk, and only then the lines move on to where they are sent. The
// first welcome of a session says how many lines the daemon has: there reading begins. A session
// that is over, for whatever reason, is followed by another one from its last line on.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/journal/journal_lines.h"
#include "client/send/reconnect.h"
#include "client/send/send_options.h"
#include "config.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/lang/names.h"
#include "protocol/text/out.h"

#define ROUND_ENTRIES 512 // of one sync of the state
#define UNLINKED_MS 20    // until an unlinked entry is asked for again, where nothing is followed

struct journal_job {
    struct send_arguments *args;
    struct term *term;
    struct journal_reader *reader;
    struct journal_state state;
    struct journal_lines lines;
    struct journal_entry entry;
    struct transfer transfer;
    struct input input;         // stands for the journal: lines are put in
    struct journal_place place; // of the last line that was put in
    bool has_gap;               // the next entry is not the one after the place
    bool begun;                 // the session may have been begun by an earlier process
    bool placed;                // the reader is at the place
    bool more;                  // there may be entries at once
    bool over;                  // no more is read
    int64_t stop_ms;            // after a signal: when to give up; 0: none came
    int fd;                     // of the journal; -1: it is not followed
    short events;
    int64_t until_ms;
};

// ---- Entries ------------------------------------------------------------------------------------

static enum outcome fail_state(struct journal_job *job, int r) {
    if (r == JOURNAL_STATE_BUSY) {
        term_say(job->term, "%s: another nvtxt-send uses it", job->args->state);
        return OUTCOME_LATER;
    }
    term_say(job->term, "%s", job->state.fault);
    return r == NVTXT_WRONG ? OUTCOME_BAD_DATA : OUTCOME_IO;
}

static enum outcome fail_reader(struct journal_job *job, int r) {
    term_say(job->term, "%s: %s", job->input.name, strerror(-r));
    return outcome_of_error(r, OUTCOME_IO);
}

// Puts in a line. `place`: what is in with it; NULL: nothing of the journal.
static int put_line(struct journal_job *job, struct nvtxt_slice line,
                    const struct journal_place *place) {
    int r = intake_put(&job->transfer.intake, line);
    job->place.line++;
    if (r == 0 && place) {
        uint64_t number = job->place.line;
        job->place = *place;
        job->place.line = number;
        r = journal_state_add(&job->state, &job->place);
    }
    return r;
}

static void format_usec(uint64_t usec, char text[48]) {
    struct nvtxt_out out = {.fd = -1};
    nvtxt_out_utc(&out, journal_time_ns(usec));
    snprintf(text, 48, "%.*s", (int)(out.len > 20 ? 19 : out.len), out.data ?: "");
    nvtxt_out_deinit(&out);
}

// The store is told as well: those who read it do not see what we print. Its place is the time of
// the entry that comes next.
static int put_gap(struct journal_job *job) {
    char from[48], to[48], text[256], line[1024];
    struct journal_place place = {.usec = job->entry.usec};
    format_usec(job->place.usec, from);
    format_usec(job->entry.usec, to);
    snprintf(text, sizeof(text),
             "the journal no longer has the entry of %s UTC, which was the last one: entries "
             "between then and %s UTC may be missing",
             from, to);
    term_say(job->term, "%s", text);
    struct textlog_marker marker = {.time_ns = journal_time_ns(job->entry.usec),
                                    .pid = (uint32_t)getpid(),
                                    .tid = (uint32_t)getpid(),
                                    .level = nvtxt_level_find(nvtxt_slice_of("warning"))};
    struct nvtxt_slice out = {.data = line};
    levels_paint(&job->args->text.levels, nvtxt_slice_of(text), marker.level, &marker.color);
    (void)textlog_mark(line, sizeof(line) - 1, &marker, nvtxt_slice_of(text), &out.len);
    job->has_gap = false;
    return put_line(job, out, &place);
}

static bool has_room(const struct journal_job *job) {
    return intake_has_room(&job->transfer.intake) && journal_state_has_room(&job->state);
}

// The next entry; its lines come next. Returns as journal_reader_next().
static int begin_entry(struct journal_job *job) {
    int r = journal_reader_next(job->reader, &job->entry);
    if (r != 0) {
        return r;
    }
    if (strlen(job->entry.cursor) >= JOURNAL_CURSOR_SIZE) {
        return nvtxt_origin(-E2BIG);
    }
    bool is_begun = strcmp(job->entry.cursor, job->place.cursor) == 0;
    journal_lines_begin(&job->lines, &job->entry, is_begun ? job->place.taken : 0);
    return job->has_gap ? put_gap(job) : 0;
}

// Puts in the rest of the entry's lines, as far as there is room.
static int put_entry(struct journal_job *job) {
    struct nvtxt_slice line;
    struct journal_place place = {.usec = job->entry.usec};
    snprintf(place.cursor, sizeof(place.cursor), "%s", job->entry.cursor);
    int r = 0;
    while (r == 0 && has_room(job) && journal_lines_next(&job->lines, &line)) {
        place.taken = job->lines.over ? 0 : job->lines.taken;
        r = put_line(job, line, job->lines.said ? &place : NULL);
    }
    return r;
}

// Returns 0, JOURNAL_NOTHING, JOURNAL_UNLINKED or -errno.
static int read_entries(struct journal_job *job) {
    int r = 0;
    for (int i = 0; r == 0 && i < ROUND_ENTRIES && has_room(job); i++) {
        r = job->lines.over ? begin_entry(job) : 0;
        r = r ?: put_entry(job);
    }
    return r;
}

// Lines move on only when their places are on the disk.
static enum outcome take_entries(struct journal_job *job) {
    int r = read_entries(job);
    job->more = r == 0;
    bool ended = r == JOURNAL_NOTHING && !job->args->follow; // that is all that there is
    if (r < 0) {
        return *job->state.fault ? fail_state(job, r) : fail_reader(job, r);
    }
    r = journal_state_sync(&job->state);
    if (r < 0) {
        return fail_state(job, r);
    }
    if (ended) {
        job->over = true;
        return transfer_taken(&job->transfer, intake_end(&job->transfer.intake));
    }
    return transfer_taken(&job->transfer, intake_move(&job->transfer.intake));
}

// ---- Sessions -----------------------------------------------------------------------------------

// The daemon has the first so many lines of the session: reading begins after them.
static enum outcome go_to_place(struct journal_job *job) {
    uint64_t line = job->transfer.sender.window.acked,
             known = journal_state_last(&job->state)->line;
    if (line > known) {
        term_say(job->term,
                 "the daemon has %llu lines of session %s, and %s knows only %llu: an older copy "
                 "of it? entries may come twice",
                 (unsigned long long)line, job->state.session, job->args->state,
                 (unsigned long long)known);
    }
    int r = journal_state_go_on(&job->state, line);
    if (r != 0) {
        return fail_state(job, r);
    }
    job->place = *journal_state_first(&job->state);
    r = journal_reader_seek(job->reader, &job->place);
    if (r < 0) {
        return fail_reader(job, r);
    }
    job->has_gap = r == JOURNAL_GAP;
    job->placed = job->more = true;
    journal_lines_deinit(&job->lines);
    r = journal_lines_init(&job->lines, &job->args->text, intake_line_max(&job->transfer.sender),
                           line == 0);
    return r < 0 ? OUTCOME_SYSTEM : OUTCOME_RUNNING;
}

// A new session, from this place on. It begins when it is connected.
static enum outcome begin_session(struct journal_job *job, const struct journal_place *place) {
    char session[NVTXT_UUID_SIZE];
    int r = nvtxt_uuid_make(session);
    if (r < 0) {
        term_say(job->term, "no random numbers for a session id: %s", strerror(-r));
        return OUTCOME_SYSTEM;
    }
    job->begun = false;
    r = journal_state_begin(&job->state, session, place);
    return r < 0 ? fail_state(job, r) : OUTCOME_DONE;
}

// The session is over, and `line` its last line.
static enum outcome begin_next(struct journal_job *job, uint64_t line) {
    journal_state_acked(&job->state, line);
    return begin_session(job, journal_state_first(&job->state));
}

static enum outcome open_state(struct journal_job *job) {
    struct journal_place place = {.usec = job->args->since_usec};
    int r = journal_state_open(&job->state, job->args->state);
    if (r != JOURNAL_STATE_NEW) {
        job->begun = true;
        return r == 0 ? OUTCOME_DONE : fail_state(job, r);
    }
    r = job->args->follow && !job->args->has_since ? journal_reader_find_end(job->reader, &place)
                                                   : 0;
    return r < 0 ? fail_reader(job, r) : begin_session(job, &place);
}

// ---- The loop -----------------------------------------------------------------------------------

// The lines that were read are sent, and the session ends: whoever goes on begins another one.
static enum outcome on_stop(struct journal_job *job, int64_t now) {
    struct transfer *t = &job->transfer;
    char text[5120];
    enum outcome r = OUTCOME_RUNNING;
    if (job->stop_ms == 0 && t->sender.welcomed) {
        job->stop_ms = now + TRANSFER_STOP_MS;
        job->over = true;
        r = transfer_taken(t, intake_end(&t->intake));
    }
    if (signals_count() > 1 || job->stop_ms == 0 || now >= job->stop_ms) {
        if (intake_unacked(&t->intake) > 0) {
            term_say(job->term, "stopped: %s%s", reconnect_unacknowledged(t, text, sizeof(text)),
                     job->args->state ? "; the next run sends them" : "");
        }
        return OUTCOME_STOPPED;
    }
    return r;
}

static int64_t wait_until(const struct journal_job *job, int64_t now) {
    int64_t until = transfer_until(&job->transfer, now);
    const int64_t others[] = {job->stop_ms ? job->stop_ms : -1,
                              job->placed && !job->over ? job->until_ms : -1};
    for (size_t i = 0; i < 2; i++) {
        until = others[i] >= 0 && (until < 0 || others[i] < until) ? others[i] : until;
    }
    return until;
}

// Waits for the journal only when it has nothing more, and for nothing when there is work to do.
static enum outcome wait_and_move(struct journal_job *job, int64_t now) {
    struct transfer *t = &job->transfer;
    bool reads = job->placed && !job->over && has_room(job);
    bool waits = reads && !job->more, follows = waits && job->args->follow;
    int r = follows ? journal_reader_watch(job->reader, &job->fd, &job->events, &job->until_ms) : 0;
    if (r < 0) {
        return fail_reader(job, r);
    }
    job->until_ms = follows ? job->until_ms : waits ? now + UNLINKED_MS : -1;
    struct pollfd fds[] = {
        {.fd = job->stop_ms ? -1 : signals_fd(), .events = POLLIN},
        {.fd = follows ? job->fd : -1, .events = job->events},
        transfer_poll(t),
    };
    int timeout = reads && job->more ? 0 : transfer_timeout(wait_until(job, now), now);
    if (poll(fds, 3, timeout) < 0) {
        return errno == EINTR ? OUTCOME_RUNNING : OUTCOME_SYSTEM;
    }
    if (waits &&
        (fds[1].revents || (job->until_ms >= 0 && nvtxt_monotonic_ms() >= job->until_ms))) {
        job->more = true;
        r = follows ? journal_reader_woken(job->reader) : 0;
        if (r < 0) {
            return fail_reader(job, r);
        }
    }
    return transfer_replies(t, fds[2].revents);
}

static enum outcome take_turn(struct journal_job *job) {
    struct transfer *t = &job->transfer;
    int64_t now = nvtxt_monotonic_ms();
    enum outcome r = signals_count() > 0 ? on_stop(job, now) : OUTCOME_RUNNING;
    r = r == OUTCOME_RUNNING ? transfer_tick(t, now) : r;
    if (r == OUTCOME_RUNNING && !job->placed && t->sender.state == SENDER_STREAMING) {
        r = go_to_place(job);
    }
    if (r == OUTCOME_RUNNING && job->placed && !job->over && job->more && has_room(job)) {
        r = take_entries(job);
    }
    if (r == OUTCOME_RUNNING) {
        transfer_write(t);
        r = wait_and_move(job, now);
    }
    if (r == OUTCOME_RUNNING && t->sender.state != SENDER_ENDED) {
        journal_state_acked(&job->state, t->sender.window.acked);
        r = transfer_taken(t, intake_move(&t->intake));
        transfer_write(t);
    }
    return r;
}

// One session. Returns RUNNING when it is over and reading goes on in another one.
static enum outcome run_session(struct journal_job *job) {
    struct transfer *t = &job->transfer;
    struct nvtxt_hello hello = {
        .protocol = NVTXT_PROTOCOL_VERSION,
        .client = "nvtxt-send " PACKAGE_VERSION,
        .has_pid = true,
        .pid = job->args->pid,
        .escapes = true,
        .levels = true,
        .diagnostics = !job->args->transfer.quiet,
    };
    snprintf(hello.name, sizeof(hello.name), "%s", job->input.name);
    memcpy(hello.session, job->state.session, sizeof(hello.session));
    *t =
        (struct transfer){.options = &job->args->transfer, .input = &job->input, .term = job->term};
    enum outcome r = transfer_begin(t, &hello);
    if (job->begun) { // an earlier process has, perhaps
        sender_resume(&t->sender, journal_state_first(&job->state)->line);
    }
    job->placed = false;
    while (r == OUTCOME_RUNNING && t->sender.state != SENDER_ENDED) {
        r = take_turn(job);
    }
    bool ended = t->sender.state == SENDER_ENDED, closed = t->sender.state == SENDER_CLOSED;
    uint64_t line = t->sender.end.line;
    r = transfer_end(t, r);
    if (ended || closed) {
        enum outcome next = begin_next(job, line);
        return next != OUTCOME_DONE ? next : closed || !job->over ? OUTCOME_RUNNING : r;
    }
    return r;
}

enum outcome send_journal(struct send_arguments *args, struct term *term) {
    struct journal_job job = {
        .args = args, .term = term, .fd = -1, .until_ms = -1, .state = {.fd = -1}};
    const char *name = args->name ?: args->journal.source ?: "journal";
    job.input = (struct input){.name = name, .fd = -1, .ended = true};
    args->transfer.text = &args->text;
    args->transfer.renews = true;
    args->journal.units = args->units.words;
    args->journal.unit_count = args->units.count;
    args->journal.follow = args->follow;
    enum outcome r = journal_reader_open(&job.reader, &args->journal, args->transfer.quiet, term);
    if (r == OUTCOME_DONE && args->follow) {
        int error = journal_reader_watch(job.reader, &job.fd, &job.events, &job.until_ms);
        r = error < 0 ? fail_reader(&job, error) : OUTCOME_DONE;
    }
    r = r == OUTCOME_DONE ? open_state(&job) : r;
    if (r == OUTCOME_DONE) {
        do {
            r = run_session(&job);
        } while (r == OUTCOME_RUNNING);
        r = job.stop_ms && r <= OUTCOME_FAULTS ? OUTCOME_STOPPED : r;
    }
    journal_lines_deinit(&job.lines);
    journal_reader_close(job.reader);
    journal_state_close(&job.state);
    return r;
}
