// SPDX-License-Identifier: Apache-2.0
//
// Asks first for the last events, backward page by page, then for those after them: such a request
// waits at the daemon until there are events. Each answer has a cursor, at which the next request
// goes on, also after the daemon was started again; so no event is missed or shown twice. When
// there are too many events, the daemon skips some and says how many.
#include "client/ctl/ctl.h"

#include <errno.h>
#include <poll.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"
#include "client/ctl/ctl_options.h"
#include "client/locate/control_link.h"
#include "protocol/base/clock.h"
#include "protocol/text/shown.h"

#define PAGE 1000       // events of one answer
#define PAGES_BACK 100  // of 10,000 rows: how far back the last events are looked for
#define WAIT_MS 60000   // how long a request waits at the daemon
#define ANSWER_MS 75000 // and how long for its answer here
#define AGAIN_MS 500    // between two tries to reach a daemon that has gone
#define CLOCK_COLUMNS 12
#define LENGTH_COLUMNS 8
#define WHO_COLUMNS 17 // process and thread
#define CATEGORY_COLUMNS 10
#define FULL_WIDTH 80    // a terminal that is narrower has less of process, category and message,
#define NARROW_WIDTH 50  // no process and no category,
#define LEAST_WIDTH 30   // no duration,
#define MESSAGE_WIDTH 20 // and the message alone
#define LINE_SIZE 1024   // what a terminal may show of one event

struct tail {
    struct control_link *link;
    const struct ctl_options *options;
    struct term *term;
    json_t *filters; // arguments of every request
    char cursor[64]; // "" before the first answer
    int64_t left;    // events to show; -1: any number
    int failure;     // the last failure of the link, for control_link_why()
    regex_t regex;
    bool has_regex;
    char day[NVTXT_SHOWN_TIME]; // of the event shown last
};

// ---- One event ----------------------------------------------------------------------------------

// What a line has, and how wide; 0: not at all. `width` 0: it is no terminal.
struct layout {
    size_t width, who, category, message;
    bool clock, length;
};

static struct layout layout_of(size_t width) {
    size_t before = CLOCK_COLUMNS + 1 + LENGTH_COLUMNS + 1;
    struct layout layout = {.width = width,
                            .who = WHO_COLUMNS,
                            .category = CATEGORY_COLUMNS,
                            .clock = width == 0 || width >= MESSAGE_WIDTH,
                            .length = width == 0 || width >= LEAST_WIDTH};
    if (width > 0 && width < FULL_WIDTH) {
        size_t spare = width >= NARROW_WIDTH ? width - before - 2 : 0;
        layout.who = spare * WHO_COLUMNS / (FULL_WIDTH - before - 2);
        layout.category = spare * CATEGORY_COLUMNS / (FULL_WIDTH - before - 2);
    }
    before = layout.clock ? CLOCK_COLUMNS + 1 : 0;
    before += layout.length ? LENGTH_COLUMNS + 1 : 0;
    before += layout.who > 0 ? layout.who + 1 + layout.category + 1 : 0;
    layout.message = width > before ? width - before : 1;
    return layout;
}

// Those without a name are called "Process 12" and "Thread 34".
static const char *short_name(const char *name, const char *prefix) {
    size_t len = strlen(prefix);
    return strncmp(name, prefix, len) == 0 ? name + len : name;
}

static void who(char *out, size_t size, const json_t *event, size_t columns) {
    char name[1024];
    const char *process = short_name(format_text(event, "process"), "Process ");
    const char *thread = format_text(event, "thread");
    const char *number = short_name(thread, "Thread ");
    bool first = number != thread && format_integer(event, "pid") == format_integer(event, "tid");
    snprintf(name, sizeof(name), "%s%s%s", process, first ? "" : "/", first ? "" : number);
    format_fit(out, size, name, columns);
}

// Pads by columns, which printf() does not know.
static void put_padded(const char *text, size_t columns) {
    size_t used = format_columns(text);
    printf("%s%*s ", text, used < columns ? (int)(columns - used) : 0, "");
}

static void print_day(struct tail *tail, int64_t ns, size_t width) {
    char day[NVTXT_SHOWN_TIME], line[NVTXT_SHOWN_TIME + 8];
    if (strcmp(nvtxt_shown_day(day, ns, tail->options->utc), tail->day) != 0) {
        snprintf(line, sizeof(line), "-- %s --", day);
        puts(width == 0 || strlen(line) <= width ? line : day);
        memcpy(tail->day, day, sizeof(day));
    }
}

// The message, the number of the payload, which for a line of a log is only its level, and JSON.
// The caller frees it; NULL when memory is short.
static char *message_of(const json_t *event) {
    const char *message = format_text(event, "message"), *json = format_text(event, "json");
    bool number = *format_text(event, "payload_type") && !*format_text(event, "level");
    const char *payload = number ? format_text(event, "payload") : "";
    size_t size = strlen(message) + strlen(payload) + strlen(json) + 8;
    char *text = malloc(size);
    if (text) {
        snprintf(text, size, "%s%s%s%s%s", message, number ? " = " : "", payload, *json ? " " : "",
                 json);
    }
    return text;
}

// On a terminal a long message loses its middle.
static void print_message(const json_t *event, const struct layout *layout) {
    char *message = message_of(event);
    size_t size = layout->width > 0 || !message ? LINE_SIZE : strlen(message) + 1;
    char *line = message ? malloc(size) : NULL;
    if (line && layout->width > 0) {
        nvtxt_shown_fit(line, size, nvtxt_slice_of(message), layout->message);
    } else if (line) {
        term_printable(line, size, message);
    }
    puts(line ?: "");
    free(line);
    free(message);
}

static void print_text(struct tail *tail, const json_t *event) {
    char clock[NVTXT_SHOWN_TIME], duration[NVTXT_SHOWN_TIME], text[LINE_SIZE];
    int64_t start = format_integer(event, "start_ns");
    bool mark = strcmp(format_text(event, "kind"), "mark") == 0;
    const char *category = format_text(event, "category");
    const struct layout layout = layout_of(term_columns(STDOUT_FILENO));
    print_day(tail, start, layout.width);
    if (layout.clock) {
        printf("%s ", nvtxt_shown_clock(clock, start, tail->options->utc, 3));
    }
    if (layout.length) {
        nvtxt_shown_length(duration, format_integer(event, "duration_ns"));
        printf("%*s ", LENGTH_COLUMNS, mark ? "-" : duration);
    }
    if (layout.who > 0) {
        who(text, sizeof(text), event, layout.who);
        put_padded(text, layout.who);
        format_fit(text, sizeof(text), *category ? category : "-", layout.category);
        put_padded(text, layout.category);
    }
    print_message(event, &layout);
}

static bool is_shown(const struct tail *tail, const json_t *event) {
    return !tail->has_regex ||
           regexec(&tail->regex, format_text(event, "message"), 0, NULL, 0) == 0;
}

static enum outcome show(struct tail *tail, const json_t *event) {
    if (tail->options->json) {
        format_json(event);
    } else {
        print_text(tail, event);
    }
    if (tail->left > 0) {
        tail->left--;
    }
    return tail->left == 0 ? OUTCOME_DONE : OUTCOME_RUNNING;
}

// Flushes the output. A reader that has closed it is no fault.
static enum outcome flush(const struct tail *tail) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return OUTCOME_RUNNING;
    }
    if (errno == EPIPE) {
        return OUTCOME_NO_READER;
    }
    term_say(tail->term, "cannot write: %s", strerror(errno));
    return OUTCOME_IO;
}

static void print_gap(const struct tail *tail, const json_t *result) {
    int64_t skipped = format_integer(result, "skipped");
    bool gone = json_is_true(json_object_get(result, "gone"));
    char count[TERM_COUNT_SIZE];
    if (tail->options->json && (skipped > 0 || gone)) {
        printf("{\"skipped\":%lld,\"gone\":%s}\n", (long long)skipped, gone ? "true" : "false");
        return;
    }
    fflush(stdout); // so that the message comes between the right events
    if (skipped > 0) {
        term_say(tail->term, "%s rows were passed over: more comes in than can be shown",
                 term_count(count, (uint64_t)skipped));
    }
    if (gone) {
        term_say(tail->term, "some events were passed over: their part of the store is gone");
    }
}

// ---- Asking -------------------------------------------------------------------------------------

// Sends one request. Returns OUTCOME_DONE with a reply, OUTCOME_NO_DAEMON with `failure`, or
// another outcome.
static enum outcome ask(struct tail *tail, const char *where, const char *cursor, int64_t limit,
                        int64_t wait_ms, struct nvtxt_ctl_reply *reply) {
    json_t *arguments = json_copy(tail->filters);
    if (*cursor) {
        json_object_set_new(arguments, where, json_string(cursor));
    }
    json_object_set_new(arguments, "limit", json_integer(limit));
    json_object_set_new(arguments, "wait_ms", json_integer(wait_ms));
    int r = control_link_ask(tail->link, "events", arguments, ANSWER_MS, reply);
    json_decref(arguments);
    if (r != 0) {
        tail->failure = r;
        return OUTCOME_NO_DAEMON;
    }
    if (!reply->ok) {
        term_say(tail->term, "tail: %s", reply->message);
        nvtxt_ctl_reply_deinit(reply);
        return strcmp(reply->code, NVTXT_CTL_UNKNOWN_COMMAND) == 0 ||
                       strcmp(reply->code, NVTXT_CTL_BAD_ARGUMENT) == 0
                   ? OUTCOME_USAGE
                   : OUTCOME_FAULTS;
    }
    return OUTCOME_DONE;
}

static void go_on_at(struct tail *tail, const json_t *result, const char *name) {
    const char *cursor = format_text(result, name);
    if (*cursor) {
        snprintf(tail->cursor, sizeof(tail->cursor), "%s", cursor);
    }
}

// Puts the last events into `list`, the newest one first. Returns as ask().
static enum outcome collect(struct tail *tail, json_t *list, size_t wanted) {
    char cursor[64] = "end";
    bool more = true;
    for (int page = 0; more && json_array_size(list) < wanted; page++) {
        struct nvtxt_ctl_reply reply;
        int64_t limit = tail->has_regex || wanted > PAGE ? PAGE : (int64_t)wanted;
        if (page == PAGES_BACK) {
            term_say(tail->term, "no more than the newest %d rows were looked through",
                     PAGES_BACK * 10000);
            return 0;
        }
        enum outcome r = ask(tail, "before", cursor, limit, 0, &reply);
        if (r != 0) {
            return r;
        }
        size_t index;
        json_t *event;
        json_array_foreach(json_object_get(reply.result, "events"), index, event) {
            if (json_array_size(list) < wanted && is_shown(tail, event)) {
                json_array_append(list, event);
            }
        }
        if (page == 0) {
            go_on_at(tail, reply.result, "end");
        }
        snprintf(cursor, sizeof(cursor), "%s", format_text(reply.result, "cursor"));
        more = json_is_true(json_object_get(reply.result, "more")) && *cursor;
        nvtxt_ctl_reply_deinit(&reply);
    }
    return 0;
}

static bool is_filtered(const struct tail *tail) {
    return tail->has_regex || json_object_size(tail->filters) > 0;
}

static enum outcome show_last(struct tail *tail) {
    json_t *list = json_array();
    size_t wanted = tail->options->lines < 0 ? 10 : (size_t)tail->options->lines;
    enum outcome r = list ? collect(tail, list, wanted) : OUTCOME_SYSTEM;
    enum outcome status = OUTCOME_RUNNING;
    for (size_t i = json_array_size(list); r == 0 && status == OUTCOME_RUNNING && i-- > 0;) {
        status = show(tail, json_array_get(list, i));
    }
    bool empty = json_array_size(list) == 0;
    json_decref(list);
    if (r != 0) {
        return r;
    }
    if (empty && wanted > 0 && tail->term->is_terminal) {
        term_say(tail->term, "%s", is_filtered(tail) ? "no event yet that fits" : "no event yet");
    }
    enum outcome flushed = flush(tail);
    return status != OUTCOME_RUNNING ? status : flushed;
}

static enum outcome follow(struct tail *tail) {
    struct nvtxt_ctl_reply reply;
    // Without a cursor the daemon answers at once, with the cursor of the end.
    enum outcome r = ask(tail, "after", tail->cursor, PAGE, *tail->cursor ? WAIT_MS : 0, &reply);
    if (r != 0) {
        return r;
    }
    size_t index;
    json_t *event;
    enum outcome status = OUTCOME_RUNNING;
    print_gap(tail, reply.result);
    json_array_foreach(json_object_get(reply.result, "events"), index, event) {
        if (status == OUTCOME_RUNNING && is_shown(tail, event)) {
            status = show(tail, event);
        }
    }
    go_on_at(tail, reply.result, "cursor");
    nvtxt_ctl_reply_deinit(&reply);
    enum outcome flushed = flush(tail);
    return status != OUTCOME_RUNNING ? status : flushed;
}

// ---- A daemon that is away ----------------------------------------------------------------------

// A signal came, or the reader has closed the output.
static enum outcome stopped(void) {
    return signals_count() > 0 ? OUTCOME_STOPPED : OUTCOME_NO_READER;
}

// Tries until the daemon is back.
static enum outcome wait_for_daemon(struct tail *tail) {
    control_link_close(tail->link);
    term_say(tail->term, "the daemon went away: %s; waiting for it",
             control_link_why(tail->failure));
    for (;;) {
        struct pollfd fds[CONTROL_LINK_WATCHED];
        for (int i = 0; i < CONTROL_LINK_WATCHED; i++) {
            fds[i] = (struct pollfd){.fd = tail->link->watched[i], .events = POLLIN};
        }
        if (poll(fds, CONTROL_LINK_WATCHED, AGAIN_MS) > 0) {
            return stopped();
        }
        if (control_link_open(tail->link, true) == 0) {
            term_say(tail->term, "the daemon is back");
            return OUTCOME_RUNNING;
        }
    }
}

// Takes what a step returned; when the link has failed, decides whether that ends the program.
static enum outcome judge(struct tail *tail, enum outcome r) {
    if (r != OUTCOME_NO_DAEMON) {
        return r;
    }
    if (tail->failure == CONTROL_LINK_GIVEN_UP) {
        return stopped();
    }
    if (tail->failure == CONTROL_LINK_BAD_ANSWER) {
        term_say(tail->term, "the daemon's answer is not understood");
        return OUTCOME_PROTOCOL;
    }
    return wait_for_daemon(tail);
}

// ---- Life ---------------------------------------------------------------------------------------

static enum outcome read_regex(struct tail *tail) {
    char why[256];
    if (!tail->options->regex) {
        return 0;
    }
    int error = regcomp(&tail->regex, tail->options->regex, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        regerror(error, &tail->regex, why, sizeof(why));
        term_say(tail->term, "--regex '%s': %s", tail->options->regex, why);
        return OUTCOME_USAGE;
    }
    tail->has_regex = true;
    return 0;
}

static enum outcome run_tail(struct tail *tail) {
    struct stat status;
    if (signals_init() < 0) {
        return OUTCOME_SYSTEM;
    }
    tail->link->watched[0] = signals_fd();
    if (fstat(STDOUT_FILENO, &status) == 0 && S_ISFIFO(status.st_mode)) {
        tail->link->watched[1] = STDOUT_FILENO; // shows a closed output also when no event comes
    }
    nvtxt_shown_day(tail->day, nvtxt_realtime_ns(), tail->options->utc);
    enum outcome r = judge(tail, show_last(tail));
    while (r == OUTCOME_RUNNING) {
        r = judge(tail, follow(tail));
    }
    return r;
}

enum outcome ctl_tail(struct control_link *link, const struct ctl_options *options,
                      struct term *term) {
    struct tail tail = {.link = link,
                        .options = options,
                        .term = term,
                        .left = options->count > 0 ? options->count : -1};
    enum outcome r = read_regex(&tail);
    tail.filters = ctl_options_arguments(options);
    r = r ?: tail.filters ? run_tail(&tail) : OUTCOME_SYSTEM;
    json_decref(tail.filters);
    if (tail.has_regex) {
        regfree(&tail.regex);
    }
    return r;
}
