// SPDX-License-Identifier: Apache-2.0
//
// The phases of a run: hosts are registered, their rounds run, their leases are given back, and all
// rows are looked at. In the first three each connection takes one host after the other, in their
// order; since all hosts have the same interval, the next one is also the next that is due. What
// fails and may pass is tried again on a new connection, as a shipper does.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/common/outcome.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "ship/simulate/inner.h"

#define FIRST_DELAY_MS 50 // after a failure; doubled each time
#define LAST_DELAY_MS 5000
#define LOOK_MS 500          // whether the run has ended, at least so often
#define BUSY_MS 5            // until what other connections do is looked at again
#define CHECK_TRIES_MS 30000 // for a server that comes back

// ---- Failures -----------------------------------------------------------------------------------

static bool may_pass(enum failure_class class) {
    return class == FAILURE_GONE || class == FAILURE_ENGINE || class == FAILURE_AWAY ||
           class == FAILURE_MOVED || class == FAILURE_AGAIN;
}

// Warns of each reason once, however long the engine is away. Reasons whose words differ each time:
// REASONS_MAX at most.
static void tell_reason(struct run *run, const char *reason) {
    for (size_t i = 0; i < run->reason_count; i++) {
        if (strcmp(run->reasons[i], reason) == 0) {
            return;
        }
    }
    if (run->reason_count == REASONS_MAX) {
        return;
    }
    char sentence[FAILURE_SENTENCE + 64];
    snprintf(run->reasons[run->reason_count++], FAILURE_SENTENCE, "%s", reason);
    snprintf(sentence, sizeof(sentence), "%s; it is tried again%s", reason,
             run->reason_count == REASONS_MAX ? "; no other reason is told" : "");
    run->wishes->warn(sentence);
}

static void note_failure(struct worker *worker, enum failure_class class) {
    struct run *run = worker->run;
    if (class == FAILURE_AGAIN) {
        return; // a partition was made
    }
    run->result->failures++;
    if (class != FAILURE_MOVED) {
        run->generation++;
    }
    if (!run->is_stopped && may_pass(class)) {
        tell_reason(run, worker->failure.sentence);
    }
}

static void disconnect(struct worker *worker) {
    pg_close(worker->pg);
    worker->pg = NULL;
}

static void wait_delay(struct worker *worker) {
    worker->delay_ms = worker->delay_ms ? worker->delay_ms * 2 : FIRST_DELAY_MS;
    worker->delay_ms = nvtxt_earlier(worker->delay_ms, LAST_DELAY_MS);
    int64_t until = nvtxt_monotonic_ms() + worker->delay_ms, left;
    while (!worker->run->is_stopped && (left = until - nvtxt_monotonic_ms()) > 0) {
        fibers_sleep((int)left);
    }
}

static enum failure_class connect_now(struct worker *worker) {
    struct run *run = worker->run;
    struct pg_settings settings = *run->settings;
    if (worker->pg) {
        return FAILURE_NONE;
    }
    settings.poll = fibers_poll;
    settings.answer_ms = PG_STATEMENT_MS; // only the check looks at all rows
    settings.only = run->entrances > 1 ? worker->entrance++ % run->entrances + 1 : 0;
    settings.timeout_ms /= (int64_t)run->entrances;
    enum failure_class class = pg_open(&worker->pg, &settings, &worker->failure);
    if (class == FAILURE_NONE && !run->begun_ns) {
        cpu_add_server(&run->cpu, pg_socket(worker->pg));
    }
    return class;
}

// Whether the rounds have lasted long enough; before them, whether no host came for as long.
static bool is_over(const struct run *run) {
    int64_t since_ns = run->begun_ns ?: run->registered_ns;
    return run->is_stopped ||
           nvtxt_monotonic_ns() >= since_ns + run->wishes->for_ms * NVTXT_NS_A_MS;
}

// Rounds that fail until their time is over leave rows behind; without all hosts there are none.
static void end_trying(struct worker *worker) {
    struct run *run = worker->run;
    if (run->begun_ns) {
        return;
    }
    failure_set(&run->fatal, FAILURE_GONE,
                "%" PRId64 " of %" PRId64 " hosts are registered, and for %" PRId64
                " s no other could be: %s%s",
                run->present, run->wishes->hosts, run->wishes->for_ms / 1000,
                failure_words_before(&worker->failure), worker->failure.sentence);
    run->fatal.was_reached = true;
    run->is_stopped = true;
}

typedef enum failure_class step_fn(struct worker *worker, struct host *host);

// Until it is done, or the run ends.
static void persist(struct worker *worker, step_fn *step, struct host *host) {
    struct run *run = worker->run;
    for (;;) {
        enum failure_class class = connect_now(worker);
        if (class == FAILURE_NONE && host->store_id && host->generation != run->generation) {
            class = host_bring(worker, host);
        }
        class = class ?: step(worker, host);
        if (class == FAILURE_NONE) {
            worker->delay_ms = 0;
            return;
        }
        note_failure(worker, class);
        if (class == FAILURE_MOVED) {
            host->generation = run->generation - 1;
        } else if (class != FAILURE_AGAIN) {
            disconnect(worker);
        }
        if (!may_pass(class) && !run->is_stopped) {
            run->fatal = worker->failure;
            run->is_stopped = true;
        }
        if (run->is_stopped) {
            return;
        }
        if (class == FAILURE_AGAIN) {
            continue;
        }
        if (is_over(run)) {
            end_trying(worker);
            return;
        }
        wait_delay(worker);
    }
}

// ---- Phases -------------------------------------------------------------------------------------

static int64_t own_cpu_ns(void) {
    return nvtxt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void begin_rounds(struct run *run) {
    const struct simulate_wishes *wishes = run->wishes;
    int64_t now_ms = nvtxt_monotonic_ms();
    for (int64_t i = 0; i < wishes->hosts; i++) {
        run->hosts[i].due_ms = now_ms + wishes->interval_ms * i / wishes->hosts;
    }
    run->next = 0;
    run->own_cpu_ns = own_cpu_ns();
    run->result->has_engine_cpu = cpu_of_engine(&run->cpu, &run->engine_cpu_ns);
    run->begun_real_ns = nvtxt_realtime_ns();
    run->begun_ns = nvtxt_monotonic_ns();
}

static void register_hosts(struct worker *worker) {
    struct run *run = worker->run;
    while (!run->is_stopped && run->next < run->wishes->hosts) {
        persist(worker, host_bring, &run->hosts[run->next++]);
        run->registered_ns = nvtxt_monotonic_ns();
    }
    if (!run->is_stopped && !run->begun_ns && run->present == run->wishes->hosts) {
        begin_rounds(run);
    }
    while (!run->is_stopped && !run->begun_ns) {
        fibers_sleep(BUSY_MS);
    }
}

static void pass_on(struct run *run, int64_t now_ms) {
    run->hosts[run->next].due_ms = now_ms + run->wishes->interval_ms;
    run->next = (run->next + 1) % run->wishes->hosts;
}

// The next host, once it is due; NULL: not yet. One that waits for the engine does not hold up the
// others.
static struct host *take_due(struct run *run) {
    struct host *host = &run->hosts[run->next];
    int64_t now = nvtxt_monotonic_ms();
    int64_t end = run->begun_ns / NVTXT_NS_A_MS + run->wishes->for_ms + 1;
    while (host->is_busy && now >= host->due_ms) { // what it has then comes with its next round
        pass_on(run, now);
        host = &run->hosts[run->next];
    }
    if (now < host->due_ms) {
        int64_t left = nvtxt_earlier(nvtxt_earlier(host->due_ms, end) - now, LOOK_MS);
        fibers_sleep(left < 0 ? 0 : (int)left);
        return NULL;
    }
    pass_on(run, now);
    return host;
}

static void run_rounds(struct worker *worker) {
    struct run *run = worker->run;
    while (run->begun_ns && !is_over(run)) {
        struct host *host = take_due(run);
        if (host) {
            host->is_busy = true;
            persist(worker, host_round, host);
            host->is_busy = false;
        }
    }
}

static int64_t behind(const struct run *run) {
    int64_t rows = 0;
    for (int64_t i = 0; run->begun_ns && i < run->wishes->hosts; i++) {
        const struct host *host = &run->hosts[i];
        rows += host_made(run, host, run->ended_ns) - host->place.event_row;
    }
    return rows;
}

// The first that finds the time over ends the measuring; the others have a round left at most.
static void end_rounds(struct run *run) {
    struct simulate_result *result = run->result;
    bool is_first = run->in_rounds-- == result->connections;
    run->next = 0;
    if (!is_first || !run->begun_ns) {
        return;
    }
    run->ended_ns = nvtxt_monotonic_ns();
    result->run_ns = run->ended_ns - run->begun_ns;
    result->register_ns = run->begun_ns - run->started_ns;
    result->own_cpu_ns = own_cpu_ns() - run->own_cpu_ns;
    result->behind_rows = behind(run);
    int64_t cpu = 0;
    result->has_engine_cpu = result->has_engine_cpu && cpu_of_engine(&run->cpu, &cpu);
    result->engine_cpu_ns = cpu - run->engine_cpu_ns;
}

// Leases that cannot be given back run out, or are seen to be those of a process that has ended.
static void give_back(struct worker *worker) {
    struct run *run = worker->run;
    enum failure_class class = FAILURE_NONE;
    while (run->in_rounds > 0) {
        fibers_sleep(BUSY_MS);
    }
    while (class == FAILURE_NONE && run->next < run->wishes->hosts) {
        struct host *host = &run->hosts[run->next++];
        if (host->is_leased) {
            class = connect_now(worker);
            class = class ?: host_give_back(worker, host);
        }
    }
}

static void work(void *context, size_t index) {
    struct run *run = context;
    struct worker *worker = &run->workers[index];
    worker->run = run;
    worker->entrance = index;
    register_hosts(worker);
    run_rounds(worker);
    end_rounds(run);
    give_back(worker);
    disconnect(worker);
    small_deinit(&worker->small);
    nvtxt_buf_deinit(&worker->bytes);
}

// The first signal ends the rounds; the second one breaks off what is left: the connections learn
// of it.
static bool hear(void *context) {
    struct run *run = context;
    bool is_first = !run->was_heard;
    run->is_stopped = run->was_heard = true;
    if (is_first) {
        signals_begin_last_work();
    }
    return is_first;
}

// ---- The whole ----------------------------------------------------------------------------------

// Who ships may not see the stores of others, so one must also be allowed to read.
static enum failure_class check_rights(struct run *run, struct pg *pg, struct failure *failure) {
    bool reads = false;
    const char *schema = run->wishes->schema;
    enum failure_class class = cursor_check_rights(pg, schema, run->facts.version, true, failure);
    if (class) {
        return class;
    }
    class = cursor_reads_all(pg, &reads);
    if (class) {
        *failure = *pg_failure(pg);
    } else if (!reads) {
        class = failure_set(failure, FAILURE_REFUSED,
                            "the role may not simulate, it has to read what it shipped: GRANT "
                            "%s_read TO %s",
                            schema, pg_user(pg));
    }
    return class;
}

static enum failure_class prepare(struct run *run, struct failure *failure) {
    struct pg *pg;
    const char *schema = run->wishes->schema;
    enum failure_class class = pg_open(&pg, run->settings, failure);
    if (class) {
        return class;
    }
    pg_say_what(pg, "to say which stores there are");
    class = schema_check(pg, schema, &run->facts, failure);
    class = class ?: check_rights(run, pg, failure);
    if (class == FAILURE_NONE && !run->wishes->mixed) {
        class = check_stores(pg, schema, failure);
    }
    pg_close(pg);
    return class;
}

// A server that was restarted meanwhile may not be back yet.
static enum failure_class check(struct run *run, struct failure *failure) {
    int64_t until = nvtxt_monotonic_ms() + CHECK_TRIES_MS;
    enum failure_class class;
    do {
        struct pg *pg;
        class = pg_open(&pg, run->settings, failure);
        class = class ?: check_rows(pg, run, failure);
        pg_close(pg);
        if (class == FAILURE_GONE && !signals_came()) {
            struct pollfd fd = {.fd = signals_fd(), .events = POLLIN};
            (void)poll(&fd, 1, LAST_DELAY_MS / 10);
        }
    } while (class == FAILURE_GONE && !signals_came() && nvtxt_monotonic_ms() < until);
    return class;
}

static void measure(struct run *run) {
    struct simulate_result *result = run->result;
    result->round_p50_ns = measure_quantile(&run->rounds, 50);
    result->round_p99_ns = measure_quantile(&run->rounds, 99);
    result->lag_p50_ns = measure_quantile(&run->lags, 50);
    result->lag_p99_ns = measure_quantile(&run->lags, 99);
    result->lag_max_ns = run->lags.max;
    result->memory_kib = cpu_peak_kib();
}

static enum failure_class cannot_run(size_t connections, int r, struct failure *failure) {
    if (r == -EMFILE) {
        return failure_set(failure, FAILURE_MEMORY,
                           "%zu connections need a limit of %zu open files (ulimit -n), and the "
                           "hard limit is lower: raise it, or say fewer --connections",
                           connections, fibers_descriptors(connections));
    }
    return failure_set(failure, FAILURE_MEMORY, "%s",
                       r == -ENOMEM ? "out of memory" : strerror(-r));
}

static enum failure_class run_all(struct run *run, struct failure *failure) {
    const struct simulate_wishes *wishes = run->wishes;
    const struct fibers_plan plan = {.count = (size_t)run->result->connections,
                                     .work = work,
                                     .context = run,
                                     .heard_fd = signals_fd(),
                                     .hear = hear};
    run->hosts = calloc((size_t)wishes->hosts, sizeof(*run->hosts));
    run->workers = calloc(plan.count, sizeof(*run->workers));
    bool has_memory = run->hosts && run->workers && !nvtxt_buf_failed(&run->labels);
    int r = has_memory ? fibers_run(&plan) : nvtxt_origin(-ENOMEM);
    if (r < 0) {
        return cannot_run(plan.count, r, failure);
    }
    measure(run);
    enum failure_class class = FAILURE_NONE;
    if (signals_came()) { // twice
        class = failure_set(failure, FAILURE_GONE, "a signal came");
    } else if (run->present > 0 && (run->begun_ns || !run->fatal.class)) {
        class = check(run, failure);
    }
    if (run->fatal.class) {
        *failure = run->fatal;
    }
    return run->fatal.class ?: class;
}

static void describe(struct run *run) {
    struct nvtxt_buf lines = {0};
    nvtxt_buf_add_string(&lines, run->wishes->labels);
    nvtxt_buf_add_string(&lines, lines.len && lines.data[lines.len - 1] != '\n' ? "\n" : "");
    nvtxt_buf_add_string(&lines, "simulated=yes\n");
    nvtxt_buf_add(&lines, "", 1);
    run->labels.failed = nvtxt_buf_failed(&lines);
    identity_labels(&run->labels, nvtxt_buf_failed(&lines) ? "" : lines.data);
    nvtxt_buf_deinit(&lines);
    identity_machine(run->machine);
    lease_self(run->self);
}

enum failure_class simulate_run(const struct pg_settings *settings,
                                const struct simulate_wishes *wishes,
                                struct simulate_result *result, struct failure *failure) {
    int64_t connections = wishes->connections ?: SIMULATE_CONNECTIONS;
    struct run *run = calloc(1, sizeof(*run));
    *result = (struct simulate_result){.hosts = wishes->hosts, .rate = wishes->rate};
    if (!run) {
        return failure_set(failure, FAILURE_MEMORY, "out of memory");
    }
    result->connections = nvtxt_earlier(connections, wishes->hosts);
    *run = (struct run){
        .wishes = wishes, .settings = settings, .result = result, .in_rounds = result->connections};
    signals_allow_last_work();
    describe(run);
    run->entrances = target_hosts(settings);
    enum failure_class class = prepare(run, failure);
    run->started_ns = run->registered_ns = nvtxt_monotonic_ns();
    class = class ?: run_all(run, failure);
    nvtxt_buf_deinit(&run->labels);
    free(run->hosts);
    free(run->workers);
    free(run);
    return class;
}
