// SPDX-License-Identifier: Apache-2.0
//
// Durations are kept one by one, because the median needs all of them: 8 bytes a run. All figures
// of a table have the unit that fits the mean.
#include "client/send/runs.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/buf.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"

int runs_begin(struct runs *runs) {
    runs->ns = calloc(runs->wanted, sizeof(*runs->ns));
    if (!runs->ns) {
        return nvtxt_origin(-ENOMEM);
    }
    runs->stdin_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    runs->rewinds = runs->stdin_at >= 0;
    if (runs->rewinds) {
        return 0;
    }
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int r = empty < 0 || dup2(empty, STDIN_FILENO) < 0 ? nvtxt_origin(-errno) : 0;
    if (empty >= 0) {
        close(empty);
    }
    return r;
}

void runs_deinit(struct runs *runs) {
    free(runs->ns);
    *runs = (struct runs){0};
}

void runs_key(const struct runs *runs, char key[RUNS_KEY]) {
    snprintf(key, RUNS_KEY, "%s", PARENT_RUN);
    if (runs->wanted > 0) {
        snprintf(key, RUNS_KEY, "%s-%zu", PARENT_RUN, runs->begun - runs->warm_ups);
    }
}

// What the run records has its range as the parent, if there will be one.
static void give_parent(const struct runs *runs) {
    char token[NVTXT_PARENT_BYTES + 1], key[RUNS_KEY];
    if (runs->session) {
        runs_key(runs, key);
        parent_token(token, runs->session, key);
        parent_give(token);
    }
}

int runs_start(struct runs *runs, struct child *child, char *const *argv, bool pipes) {
    bool next = runs->begun > 0;
    if (runs->rewinds) {
        (void)lseek(STDIN_FILENO, runs->stdin_at, SEEK_SET);
    }
    runs->begun++;
    give_parent(runs);
    runs->begun_ns = nvtxt_realtime_ns();
    runs->error = next ? child_start_next(child, argv) : child_start(child, argv, pipes);
    child->goes_on = runs->wanted > 0 && runs->error == 0;
    runs->stopped = runs->stopped || runs->error != 0;
    return runs->error;
}

// ---- The end of a run ---------------------------------------------------------------------------

static void look(struct runs *runs, struct child *child) {
    child_reap(child);
    child_update(child);
    bool failed = child_exit_code(child) != 0 && !runs->ignore_failure;
    runs->left_out = failed || child->asked_to_end;
    runs->stopped = runs->left_out;
}

int runs_warm_up(struct runs *runs, struct child *child, char *const *argv, struct term *term) {
    for (size_t i = 0; i < runs->warm_ups && !runs->stopped; i++) {
        int r = runs_start(runs, child, argv, false);
        if (r != 0) {
            return r;
        }
        while (child->running) {
            struct pollfd signals = {.fd = child->signals, .events = POLLIN};
            (void)poll(&signals, 1, -1);
            child_update(child);
        }
        look(runs, child);
    }
    if (runs->stopped && !child->asked_to_end) {
        term_say(term, "a run for warm-up ended with status %d; --ignore-failure goes on after it",
                 child_exit_code(child));
    }
    return 0;
}

void runs_ended(struct runs *runs, struct child *child, int64_t now_ns) {
    int64_t ns = now_ns - runs->begun_ns;
    look(runs, child);
    if (!runs->left_out) {
        runs->ns[runs->count++] = ns > 0 ? (uint64_t)ns : 0;
        runs->ignored += child_exit_code(child) != 0;
        runs->user_us += child->user_us;
        runs->system_us += child->system_us;
    }
}

bool runs_go_on(struct runs *runs, struct child *child) {
    child_update(child);
    runs->stopped = runs->stopped || child->asked_to_end;
    child->goes_on = !runs->stopped && runs->begun < runs->warm_ups + runs->wanted;
    return child->goes_on;
}

const char *runs_suffix(const struct runs *runs, const struct child *child) {
    return !runs->left_out ? "" : child->asked_to_end ? " (stopped)" : " (failed)";
}

// ---- What is said -------------------------------------------------------------------------------

struct figures {
    double mean, deviation, least, median, most; // ns
};

static int by_value(const void *left, const void *right) {
    return NVTXT_ORDER(*(const uint64_t *)left, *(const uint64_t *)right);
}

static struct figures compute(const struct runs *runs) {
    const size_t count = runs->count;
    double sum = 0, squares = 0;
    qsort(runs->ns, count, sizeof(*runs->ns), by_value);
    for (size_t i = 0; i < count; i++) {
        sum += (double)runs->ns[i];
    }
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        squares += ((double)runs->ns[i] - mean) * ((double)runs->ns[i] - mean);
    }
    return (struct figures){
        .mean = mean,
        .deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0,
        .least = (double)runs->ns[0],
        .median = ((double)runs->ns[(count - 1) / 2] + (double)runs->ns[count / 2]) / 2,
        .most = (double)runs->ns[count - 1],
    };
}

struct unit {
    double ns;
    int decimals;
    const char *name;
};

static struct unit unit_of(double ns) {
    return ns >= 1e9   ? (struct unit){1e9, 3, "s"}
           : ns >= 1e6 ? (struct unit){1e6, 1, "ms"}
                       : (struct unit){1e3, 1, "µs"};
}

#define TIME 32

static const char *write_time(char out[TIME], struct unit unit, double ns) {
    snprintf(out, TIME, "%.*f %s", unit.decimals, ns / unit.ns, unit.name);
    return out;
}

static void print_figures(const struct runs *runs, struct term *term) {
    const struct figures figures = compute(runs);
    const struct unit unit = unit_of(figures.mean);
    const double count = (double)runs->count;
    const bool varies = runs->count > 1; // one run has no deviation
    char line[8 * TIME], a[TIME], b[TIME], c[TIME], d[TIME];
    snprintf(line, sizeof(line), "  %s %s%s%s   (user %s, system %s)",
             varies ? "mean ± σ            " : "mean                ",
             write_time(a, unit, figures.mean), varies ? " ± " : "",
             varies ? write_time(b, unit, figures.deviation) : "",
             write_time(c, unit, 1e3 * (double)runs->user_us / count),
             write_time(d, unit, 1e3 * (double)runs->system_us / count));
    term_line(term, line);
    snprintf(line, sizeof(line), "  min … median … max   %s … %s … %s",
             write_time(a, unit, figures.least), write_time(b, unit, figures.median),
             write_time(c, unit, figures.most));
    term_line(term, line);
}

static void say_stop(const struct runs *runs, const struct child *child, struct term *term) {
    const size_t number = runs->begun - runs->warm_ups;
    if (child->asked_to_end) {
        term_say(term, "stopped after %zu of %zu runs", runs->count, runs->wanted);
    } else if (runs->left_out) {
        term_say(term,
                 "run %zu of %zu ended with status %d, and is left out; --ignore-failure "
                 "goes on after it",
                 number, runs->wanted, child_exit_code(child));
    }
    if (runs->ignored > 0) {
        term_say(term, "%zu of %zu runs failed", runs->ignored, runs->count);
    }
}

void runs_print(const struct runs *runs, const struct child *child, const char *name,
                struct term *term) {
    char warm[64] = "";
    say_stop(runs, child, term);
    if (runs->count == 0) {
        return;
    }
    if (runs->warm_ups > 0) {
        snprintf(warm, sizeof(warm), ", after %zu for warm-up", runs->warm_ups);
    }
    term_say(term, "%s: %zu run%s%s", name, runs->count, runs->count == 1 ? "" : "s", warm);
    print_figures(runs, term);
}

// The name as a word for a shell: an at sign is that of a name, a domain would come after it.
static void quote(struct nvtxt_buf *out, const char *name) {
    nvtxt_buf_add_string(out, "'");
    for (const char *at = name; *at; at++) {
        nvtxt_buf_add_string(out, *at == '@' ? "\\" : *at == '\'' ? "'\\'" : "");
        nvtxt_buf_add(out, at, 1);
    }
    nvtxt_buf_add(out, "'", 2); // with its NUL
}

void runs_print_hint(const char *name, struct term *term) {
    struct nvtxt_buf word = {0};
    quote(&word, name);
    if (!nvtxt_buf_failed(&word)) {
        term_say(term, "each run: nvtxt-report stats -r nvtx_iteration_sum --iterations %s",
                 word.data);
    }
    nvtxt_buf_deinit(&word);
}
