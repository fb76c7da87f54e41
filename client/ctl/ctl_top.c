// SPDX-License-Identifier: Apache-2.0
//
// A sample is two requests, `status` and `sources`. A rate is the difference of two samples, so the
// first one has none. When the daemon goes away, the screen says so and each further sample tries
// it again; without a terminal the program ends.
#include "client/ctl/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"
#include "client/ctl/ctl_options.h"
#include "client/ctl/ctl_rates.h"
#include "client/ctl/ctl_screen.h"
#include "client/locate/control_link.h"
#include "protocol/base/clock.h"
#include "protocol/text/shown.h"

#define TOP_REFUSED                                                                                \
    256 // a code besides those of control_link: the daemon refuses; why is in `trouble`
#define INTERVAL_MS 1000
#define ANSWER_MS 10000
#define LINE_SIZE 1280
#define HEAD_ROWS 5 // above the sources

struct top {
    struct control_link *link;
    const struct ctl_options *options;
    struct term *term;
    struct screen screen;
    bool on_screen;
    bool logged_empty;
    int64_t interval_ms;
    int64_t left; // samples; -1: any number
    struct rates_sample before, now;
    struct nvtxt_ctl_reply status;
    char trouble[1024]; // why there is no sample; "": there is one
};

// ---- What is shown ------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static void add_line(struct nvtxt_buf *out, size_t columns,
                                                           const char *format, ...) {
    char text[LINE_SIZE], shown[LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    format_fit(shown, sizeof(shown), text, columns);
    nvtxt_buf_add(out, shown, strlen(shown));
    nvtxt_buf_add(out, "\n", 1);
}

static void add_head(const struct top *top, struct nvtxt_buf *out, size_t columns) {
    const json_t *status = top->status.result;
    char events[RATES_TEXT_SIZE], lines[RATES_TEXT_SIZE], store[FORMAT_SIZE], wal[FORMAT_SIZE];
    char bytes[FORMAT_SIZE], waiting[FORMAT_SIZE], up[NVTXT_SHOWN_TIME];
    int64_t uptime = format_integer(status, "uptime_s");
    double rate = top->now.rate.bytes;
    add_line(out, columns,
             "nvtxtd %s  up %s  %" PRId64 " sources  %" PRId64 " sessions  %" PRId64 " losses",
             format_text(status, "version"),
             uptime ? nvtxt_shown_length(up, uptime * 1000000000) : "0s",
             format_integer(status, "sources"), format_integer(status, "sessions"),
             format_integer(status, "losses"));
    add_line(out, columns, "%s events/s  %s lines/s  %s/s",
             rates_text(events, top->now.rate.events), rates_text(lines, top->now.rate.lines),
             rate < 0 ? "- bytes" : format_bytes(bytes, (int64_t)rate));
    add_line(out, columns, "store %s  log %s  on the way %s in %" PRId64 " jobs",
             format_bytes(store, format_integer(status, "store_bytes")),
             format_bytes(wal, format_integer(status, "wal_bytes")),
             format_bytes(waiting, format_integer(status, "bytes_in_flight")),
             format_integer(status, "queue_depth"));
    bool bad = json_is_true(json_object_get(status, "in_trouble"));
    add_line(out, columns, "%s%s%s", top->trouble, bad ? "the store cannot be written: " : "",
             bad ? format_text(status, "last_error") : "");
}

static const char *name_of(const json_t *source) {
    static const char *const members[] = {"name", "display_name", "comm"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (*format_text(source, members[i])) {
            return format_text(source, members[i]);
        }
    }
    return "-";
}

static void add_row(struct nvtxt_buf *out, size_t columns, const struct rates_row *row) {
    char events[RATES_TEXT_SIZE], lines[RATES_TEXT_SIZE], bytes[RATES_TEXT_SIZE];
    add_line(out, columns, "%9s %9s %9s %8" PRId64 " %7" PRId64 " %8" PRId64 " %s",
             rates_text(events, row->rate.events), rates_text(lines, row->rate.lines),
             rates_text(bytes, row->rate.bytes), format_integer(row->object, "warnings"),
             format_integer(row->object, "errors"), format_integer(row->object, "pid"),
             name_of(row->object));
}

// `rows` and `columns`: 0: any number.
static void add_all(const struct top *top, struct nvtxt_buf *out, size_t rows, size_t columns) {
    size_t room = rows == 0 ? SIZE_MAX : rows > HEAD_ROWS ? rows - HEAD_ROWS : 0;
    size_t shown = top->now.count <= room ? top->now.count : room > 0 ? room - 1 : 0;
    add_head(top, out, columns);
    add_line(out, columns, "%9s %9s %9s %8s %7s %8s %s", "EVENTS/S", "LINES/S", "BYTES/S", "WARN",
             "ERR", "PID", "NAME");
    for (size_t i = 0; i < shown; i++) {
        add_row(out, columns, &top->now.rows[i]);
    }
    if (top->now.count == 0 && top->on_screen && !*top->trouble) {
        add_line(out, columns, "nothing is connected");
    }
    if (shown < top->now.count) {
        add_line(out, columns, "and %zu more", top->now.count - shown);
    }
}

static void set_rates(json_t *object, const struct rates_per_second *rate) {
    json_object_set_new(object, "events_per_second",
                        rate->events < 0 ? json_null() : json_real(rate->events));
    json_object_set_new(object, "lines_per_second",
                        rate->lines < 0 ? json_null() : json_real(rate->lines));
    json_object_set_new(object, "bytes_per_second",
                        rate->bytes < 0 ? json_null() : json_real(rate->bytes));
}

static void print_json(const struct top *top) {
    json_t *list = json_array();
    json_t *object = json_pack("{s:I, s:O, s:o}", "at_ns", (json_int_t)top->now.taken_ns, "status",
                               top->status.result, "sources", list);
    set_rates(object, &top->now.rate);
    for (size_t i = 0; i < top->now.count; i++) {
        json_t *row = json_copy(top->now.rows[i].object);
        set_rates(row, &top->now.rows[i].rate);
        json_array_append_new(list, row);
    }
    format_json(object);
    json_decref(object);
}

static void draw(struct top *top) {
    struct nvtxt_buf lines = {0};
    screen_measure(&top->screen);
    add_all(top, &lines, top->screen.rows, top->screen.columns);
    if (!nvtxt_buf_failed(&lines)) {
        screen_draw(&top->screen, &lines);
    }
    nvtxt_buf_deinit(&lines);
}

// For people only: a pipe always gets the same columns.
static void print_if_empty(struct top *top) {
    bool empty = top->now.count == 0;
    if (empty && !top->logged_empty && top->term->is_terminal) {
        term_say(top->term, "nothing is connected");
    }
    top->logged_empty = empty;
}

static enum outcome print(struct top *top) {
    struct nvtxt_buf lines = {0};
    if (top->options->json) {
        print_json(top);
    } else {
        add_all(top, &lines, 0, 0);
        fwrite(lines.data, 1, lines.len, stdout);
    }
    nvtxt_buf_deinit(&lines);
    if (fflush(stdout) == 0) {
        print_if_empty(top);
        return OUTCOME_RUNNING;
    }
    term_say(top->term, "cannot write: %s", strerror(errno));
    return OUTCOME_IO;
}

// ---- Sampling -----------------------------------------------------------------------------------

// Sends one of the two requests. Returns 0, TOP_REFUSED, or the failure of the link.
static int ask(struct top *top, const char *command, struct nvtxt_ctl_reply *reply) {
    int r = control_link_ask(top->link, command, NULL, ANSWER_MS, reply);
    if (r == 0 && !reply->ok) {
        snprintf(top->trouble, sizeof(top->trouble), "%s", reply->message);
        nvtxt_ctl_reply_deinit(reply);
        return TOP_REFUSED;
    }
    return r;
}

static int take_sample(struct top *top) {
    struct nvtxt_ctl_reply status = {0}, sources = {0};
    int r = top->link->fd < 0 ? control_link_open(top->link, true) : 0;
    r = r ?: ask(top, "status", &status);
    r = r ?: ask(top, "sources", &sources);
    if (r == 0) {
        rates_deinit(&top->before);
        top->before = top->now;
        nvtxt_ctl_reply_deinit(&top->status);
        top->status = status;
        status = (struct nvtxt_ctl_reply){0};
        r = rates_take(&top->now, top->status.result, sources.result, nvtxt_monotonic_ms(),
                       nvtxt_realtime_ns());
    }
    if (r == 0) {
        rates_compare(&top->now, &top->before);
        top->trouble[0] = '\0';
    }
    nvtxt_ctl_reply_deinit(&status);
    nvtxt_ctl_reply_deinit(&sources);
    return r;
}

// Forgets the old sample: its rows are not true any more.
static void lose_daemon(struct top *top, int failure) {
    control_link_close(top->link);
    rates_deinit(&top->before);
    rates_deinit(&top->now);
    top->now.rate = (struct rates_per_second){-1, -1, -1};
    if (failure != TOP_REFUSED) {
        snprintf(top->trouble, sizeof(top->trouble), "trying again: no daemon at %s: %s",
                 top->link->path, control_link_why(failure));
    }
}

// ---- Keys, signals, time ------------------------------------------------------------------------

// A watched descriptor is readable, or a signal came. Returns an outcome.
static enum outcome react(struct top *top, bool key_waits) {
    enum screen_key key = signals_count() > 0 ? SCREEN_NONE : screen_signalled();
    if (signals_count() > 0) {
        return OUTCOME_STOPPED;
    }
    if (key == SCREEN_QUIT) {
        return OUTCOME_IO; // the terminal is gone
    }
    if (key == SCREEN_NONE && key_waits) {
        key = screen_read_key(&top->screen);
    }
    if (key == SCREEN_QUIT) {
        return 0;
    }
    if (key == SCREEN_SUSPEND) {
        screen_suspend(&top->screen);
    }
    if (key == SCREEN_SUSPEND || key == SCREEN_REDRAW) {
        draw(top);
    }
    return OUTCOME_RUNNING;
}

static bool has_key(const struct top *top) {
    struct pollfd key = {.fd = top->screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    return poll(&key, 1, 0) > 0;
}

// Waits until the next sample is due.
static enum outcome wait_until(struct top *top, int64_t due_ms) {
    for (;;) {
        int64_t left = due_ms - nvtxt_monotonic_ms();
        struct pollfd fds[] = {{.fd = signals_fd(), .events = POLLIN},
                               {.fd = top->screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN}};
        int ready = poll(fds, 2, left <= 0 ? 0 : left < 60000 ? (int)left : 60000);
        // Also when nothing is ready: a signal may have come while a sample was drawn.
        enum outcome status = react(top, ready > 0 && fds[1].revents);
        if (status != OUTCOME_RUNNING || left <= 0) {
            return status;
        }
    }
}

// Takes a sample and shows it. A key that comes during a request ends the wait for its answer.
static enum outcome sample_and_show(struct top *top) {
    int r = take_sample(top);
    if (r == CONTROL_LINK_GIVEN_UP) {
        control_link_close(top->link);
        return react(top, has_key(top));
    }
    if (r != 0) {
        lose_daemon(top, r);
    }
    if (top->on_screen) {
        draw(top);
    } else if (r != 0) {
        term_say(top->term, "%s", top->trouble);
        return r == TOP_REFUSED ? OUTCOME_FAULTS : OUTCOME_NO_DAEMON;
    }
    return OUTCOME_RUNNING;
}

static enum outcome run_top(struct top *top) {
    enum outcome status = sample_and_show(top);
    while (status == OUTCOME_RUNNING && top->left != 0) {
        int64_t due = nvtxt_monotonic_ms() + top->interval_ms;
        status = wait_until(top, due);
        if (status == OUTCOME_RUNNING) {
            status = sample_and_show(top);
        }
        if (status == OUTCOME_RUNNING && !top->on_screen) {
            status = print(top);
        }
        top->left -= top->left > 0;
    }
    return status == OUTCOME_RUNNING ? OUTCOME_DONE : status;
}

// ---- Life ---------------------------------------------------------------------------------------

enum outcome ctl_top(struct control_link *link, const struct ctl_options *options,
                     struct term *term) {
    bool on_screen = isatty(STDOUT_FILENO) && !options->json;
    bool endless = options->interval_ms > 0 || on_screen;
    struct top top = {.link = link,
                      .options = options,
                      .term = term,
                      .on_screen = on_screen,
                      .interval_ms = options->interval_ms > 0 ? options->interval_ms : INTERVAL_MS,
                      .left = options->count > 0 ? options->count
                              : endless          ? -1
                                                 : 1};
    if (signals_init() < 0) {
        return OUTCOME_SYSTEM;
    }
    link->watched[0] = signals_fd();
    if (on_screen) {
        screen_enter(&top.screen);
        link->watched[1] = top.screen.has_keys ? STDIN_FILENO : -1;
    }
    enum outcome status = run_top(&top);
    screen_leave(&top.screen);
    rates_deinit(&top.before);
    rates_deinit(&top.now);
    nvtxt_ctl_reply_deinit(&top.status);
    return status;
}
