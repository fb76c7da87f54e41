// SPDX-License-Identifier: Apache-2.0
//
// What a call of libnvtxt costs a program. What is compared takes turns in one process: bursts of
// 1,000 pairs, each in thread CPU time, with a pause after each round of bursts, in which the
// sender empties the rings. A figure is the lower quartile of its bursts, in nanoseconds a pair.
// The first rounds are for the rings to grow; when a later call is dropped there is no figure.
//
//   calls pairs BURSTS FILE [LIBRARY]   prints NAME NS for two readings of the clock, for pairs of
//                                       push and pop, and for what people write instead, into FILE.
//                                       LIBRARY: bench/lttng_pair.c, to be measured as well
//   calls two BURSTS                    the clock and the plain pair on two threads at once
//   calls rate PAIRS SECONDS            so many pairs a second; prints seconds, pairs and dropped
//   calls calls flood PAIRS                   as fast as it goes; prints dropped calls calls
//   threads COUNT                 ten pairs on each; prints bytes of memory a thread calls quiet
//   SECONDS                 prints how often other threads of the process woke up calls one|none
//   one event or none; prints the time at the end of main
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#ifdef BENCH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "bench/workload.h"
#include "lib/nvtxt.h"

#define USAGE "calls pairs|two|rate|flood|threads|quiet|one|none [ARGUMENT...]"
#define BURST 1000
#define TRIES 20          // rounds for one that counts, at most
#define PAUSE_NS 15000000 // the sender looks every 10 ms
#define WAIT_MS 60000
#define MOST_BURSTS 10000
#define MESSAGE "compute step 17"

static struct nvtxt_domain *domain;
static struct nvtxt_attr registered, typed, full;
static void (*other_pair)(const char *message, int number);
static int file = -1;

static int64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ns(int64_t ns) {
    struct timespec pause = {ns / 1000000000, ns % 1000000000};
    nanosleep(&pause, NULL);
}

static struct nvtxt_stats stats(void) {
    struct nvtxt_stats now = {.size = sizeof(now)};
    nvtxt_get_stats(&now);
    return now;
}

// ---- What is measured ---------------------------------------------------------------------------

static void clock_twice(int count) {
    struct timespec now;
    for (int i = 0; i < count; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

static void plain_pair(int count) {
    for (int i = 0; i < count; i++) {
        nvtxt_push(MESSAGE);
        nvtxt_pop();
    }
}

static void attr_pair(int count, const struct nvtxt_attr *attr) {
    for (int i = 0; i < count; i++) {
        nvtxt_push_ex(domain, attr);
        nvtxt_pop_ex(domain, NULL);
    }
}

static void registered_pair(int count) {
    attr_pair(count, &registered);
}

static void typed_pair(int count) {
    attr_pair(count, &typed);
}

static void full_pair(int count) {
    attr_pair(count, &full);
}

#ifdef BENCH_NVTX
static void nvtx_pair(int count) {
    for (int i = 0; i < count; i++) {
        nvtxRangePushA(MESSAGE);
        nvtxRangePop();
    }
}
#endif

static void write_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

// What people write who have no library: a line under a lock.
static void write_line(const char *format, ...) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char line[128];
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&lock);
    int len = vsnprintf(line, sizeof(line), format, args);
    if (write(file, line, (size_t)len) != len) {
        err(EX_IOERR, "write");
    }
    pthread_mutex_unlock(&lock);
    va_end(args);
}

static void written_pair(int count) {
    for (int i = 0; i < count; i++) {
        write_line("RangePush, %lld, \"%s\"\n", (long long)now_ns(CLOCK_MONOTONIC), MESSAGE);
        write_line("RangePop, %lld\n", (long long)now_ns(CLOCK_MONOTONIC));
    }
}

static void lttng_pair(int count) {
    for (int i = 0; i < count; i++) {
        other_pair(MESSAGE, i);
    }
}

struct subject {
    const char *name;
    void (*run)(int count);
    double ns[MOST_BURSTS];
};

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return difference < 0 ? -1 : difference > 0;
}

static double lower_quartile(struct subject *subject, int bursts) {
    qsort(subject->ns, (size_t)bursts, sizeof(subject->ns[0]), compare);
    return subject->ns[bursts / 4];
}

static int bursts_of(const char *text) {
    uint64_t bursts = workload_number(text, USAGE);
    return bursts < 4 ? 4 : bursts > MOST_BURSTS ? MOST_BURSTS : (int)bursts;
}

static void prepare(void) {
    domain = nvtxt_domain_get("bench");
    registered =
        (struct nvtxt_attr){.size = sizeof(registered), .string = nvtxt_string_get(MESSAGE)};
    typed = (struct nvtxt_attr){.size = sizeof(typed), .message = MESSAGE};
    typed.value_kind = NVTXT_U64;
    typed.value.u64 = 17;
    full = typed;
    full.category = 3;
    full.color = 0xFF00A000;
}

// ---- In turns -----------------------------------------------------------------------------------

// What one of the threads does; all do the same at once.
struct turns {
    struct subject *subjects;
    int count, bursts;
    pthread_barrier_t *barrier; // NULL: there is one thread
};

// True on one of the threads.
static bool meet(const struct turns *turns) {
    return !turns->barrier || pthread_barrier_wait(turns->barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
}

static void round_of(const struct turns *turns, int burst) {
    for (int i = 0; i < turns->count; i++) { // none is always the first after the pause
        struct subject *subject = &turns->subjects[(i + burst) % turns->count];
        meet(turns);
        int64_t started = now_ns(CLOCK_THREAD_CPUTIME_ID);
        subject->run(BURST);
        subject->ns[burst] = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - started) / BURST;
    }
    sleep_ns(PAUSE_NS);
}

static void *take_turns(void *context) {
    static bool is_good;
    static uint64_t dropped;
    const struct turns *turns = context;
    int kept = 0, rounds = 0;
    while (kept < turns->bursts) {
        if (rounds++ == TRIES * turns->bursts) {
            errx(EX_UNAVAILABLE, "calls are dropped all the time: is there no room in the rings?");
        }
        if (meet(turns)) {
            dropped = stats().dropped;
        }
        round_of(turns, kept);
        if (meet(turns)) {
            is_good = stats().dropped == dropped;
        }
        meet(turns);
        kept += is_good;
    }
    return NULL;
}

static void print_subjects(struct turns *all, int threads) {
    for (int i = 0; i < all->count; i++) {
        double sum = 0;
        for (int thread = 0; thread < threads; thread++) {
            sum += lower_quartile(&all[thread].subjects[i], all->bursts);
        }
        printf("%s %.2f\n", all->subjects[i].name, sum / threads);
    }
}

static void load_other(const char *library) {
    void *loaded = dlopen(library, RTLD_NOW);
    if (!loaded || !(*(void **)&other_pair = dlsym(loaded, "lttng_pair"))) {
        errx(EX_NOINPUT, "%s: %s", library, dlerror());
    }
}

static void pairs(int bursts, const char *path, const char *library) {
    static struct subject subjects[] = {
        {"clocks", clock_twice, {0}},
        {"pair", plain_pair, {0}},
        {"registered", registered_pair, {0}},
        {"typed", typed_pair, {0}},
        {"full", full_pair, {0}},
        {"written", written_pair, {0}},
#ifdef BENCH_NVTX
        {"nvtx", nvtx_pair, {0}},
#endif
        {"lttng", lttng_pair, {0}}, // the last one, for it may be left out
    };
    int count = sizeof(subjects) / sizeof(subjects[0]);
    struct turns turns = {subjects, library ? count : count - 1, bursts, NULL};
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) {
        err(EX_CANTCREAT, "%s", path);
    }
    if (library) {
        load_other(library);
    }
    take_turns(&turns);
    print_subjects(&turns, 1);
}

static void two(int bursts) {
    static struct subject subjects[2][2] = {
        {{"clocks", clock_twice, {0}}, {"pair", plain_pair, {0}}},
        {{"clocks", clock_twice, {0}}, {"pair", plain_pair, {0}}},
    };
    pthread_barrier_t barrier;
    struct turns turns[2];
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        turns[i] = (struct turns){subjects[i], 2, bursts, &barrier};
        pthread_create(&threads[i], NULL, take_turns, &turns[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    print_subjects(turns, 2);
}

// ---- The way to the daemon ----------------------------------------------------------------------

static void rate(uint64_t a_second, uint64_t seconds) {
    int64_t started = now_ns(CLOCK_MONOTONIC);
    for (uint64_t tick = 1; tick <= seconds * 1000; tick++) {
        plain_pair((int)(a_second / 1000));
        int64_t left = started + (int64_t)tick * 1000000 - now_ns(CLOCK_MONOTONIC);
        if (left > 0) {
            sleep_ns(left);
        }
    }
    double took = (double)(now_ns(CLOCK_MONOTONIC) - started) / 1e9;
    nvtxt_flush(WAIT_MS);
    printf("%.3f %llu %llu\n", took, (unsigned long long)(a_second * seconds),
           (unsigned long long)stats().dropped);
}

static void flood(uint64_t pairs) {
    plain_pair((int)pairs);
    if (nvtxt_flush(WAIT_MS) < 0) {
        errx(EX_UNAVAILABLE, "not all was committed");
    }
    printf("%llu\n", (unsigned long long)stats().dropped);
}

// ---- Rest ---------------------------------------------------------------------------------------

static uint64_t resident_kib(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE *rollup = fopen("/proc/self/smaps_rollup", "re");
    while (rollup && fgets(line, sizeof(line), rollup)) {
        if (sscanf(line, "Rss: %llu kB", &kib) == 1) {
            break;
        }
    }
    if (rollup) {
        fclose(rollup);
    }
    return kib;
}

// What a thread's stack takes anyway is taken before.
static void *quiet_thread(void *context) {
    volatile char stack[16384];
    for (size_t i = 0; i < sizeof(stack); i += 512) {
        stack[i] = 1;
    }
    pthread_barrier_wait(context);
    pthread_barrier_wait(context);
    plain_pair(10);
    pthread_barrier_wait(context);
    pthread_barrier_wait(context);
    return NULL;
}

static void threads(uint64_t count) {
    pthread_barrier_t barrier;
    pthread_t *all = calloc(count, sizeof(*all));
    plain_pair(1);
    nvtxt_flush(WAIT_MS);
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    for (uint64_t i = 0; i < count; i++) {
        if (!all || pthread_create(&all[i], NULL, quiet_thread, &barrier) != 0) {
            errx(EX_OSERR, "no thread");
        }
    }
    pthread_barrier_wait(&barrier);
    uint64_t before = resident_kib();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    nvtxt_flush(WAIT_MS);
    uint64_t after = resident_kib();
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < count; i++) {
        pthread_join(all[i], NULL);
    }
    free(all);
    if (stats().dropped) {
        errx(EX_SOFTWARE, "calls were dropped");
    }
    printf("%.0f\n", (double)(after - before) * 1024 / (double)count);
}

static uint64_t switches_of(const char *task) {
    char path[64], line[256];
    unsigned long long switches = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", task);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status)) {
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &switches) == 1) {
            break;
        }
    }
    if (status) {
        fclose(status);
    }
    return switches;
}

static uint64_t switches_of_others(void) {
    uint64_t switches = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] != '.' && atoi(task->d_name) != getpid()) {
            switches += switches_of(task->d_name);
        }
    }
    if (tasks) {
        closedir(tasks);
    }
    return switches;
}

static void quiet(uint64_t seconds) {
    plain_pair(1);
    nvtxt_flush(WAIT_MS);
    sleep_ns(1000000000); // what it does after the last event is done
    uint64_t before = switches_of_others();
    sleep_ns((int64_t)seconds * 1000000000);
    printf("%llu\n", (unsigned long long)(switches_of_others() - before));
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "one") == 0 || strcmp(what, "none") == 0) {
        if (what[0] == 'o') {
            nvtxt_mark("one");
        }
        printf("%lld\n", (long long)now_ns(CLOCK_MONOTONIC));
        return 0;
    }
    prepare();
    if (strcmp(what, "pairs") == 0 && (argc == 4 || argc == 5)) {
        pairs(bursts_of(argv[2]), argv[3], argv[4]);
    } else if (strcmp(what, "two") == 0 && argc == 3) {
        two(bursts_of(argv[2]));
    } else if (strcmp(what, "rate") == 0 && argc == 4) {
        rate(workload_number(argv[2], USAGE), workload_number(argv[3], USAGE));
    } else if (strcmp(what, "flood") == 0 && argc == 3) {
        flood(workload_number(argv[2], USAGE));
    } else if (strcmp(what, "threads") == 0 && argc == 3) {
        threads(workload_number(argv[2], USAGE));
    } else if (strcmp(what, "quiet") == 0 && argc == 3) {
        quiet(workload_number(argv[2], USAGE));
    } else {
        errx(EX_USAGE, "usage: %s", USAGE);
    }
    return 0;
}
