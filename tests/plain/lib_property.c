// SPDX-License-Identifier: Apache-2.0
//
// Random calls of random threads against a model, with small rings and a daemon that is slow, that
// hangs up, and that takes each line once: an interpreter in a thread of this program. Then rows
// and losses add up to the calls, each push has its own pop, each start its own end, the levels are
// those of the model, and no line draws a diagnostic. Under ThreadSanitizer it is the test of the
// library's threads.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/nvtxt.h"
#include "protocol/base/frame.h"
#include "protocol/interp/interp.h"

#define THREADS 8
#define ROUNDS 6 // each with new threads
#define DOMAINS 4
#define DEPTH 60
#define SHARED 32 // start/end ranges that any thread may end
#define LINE_MOST 65536

static char folder[] = "/tmp/nvtxt-lib-XXXXXX";
static char socket_path[64];
static int steps = 4000;

#define FAIL(...) (printf("# " __VA_ARGS__), puts(""), fflush(stdout), abort())

static uint32_t next_random(uint64_t *seed, uint32_t most) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % most;
}

// ---- The daemon ---------------------------------------------------------------------------------

static struct {
    struct nvtxt_interp *interp;
    uint64_t lines;        // of the session
    _Atomic uint64_t lost; // calls that `#nvtxt-lost` told of
    _Atomic uint64_t rows[128];
    bool ended;
} served;

static uint64_t number_after(struct nvtxt_slice text, const char *before) {
    char copy[256];
    size_t len = text.len < sizeof(copy) - 1 ? text.len : sizeof(copy) - 1;
    if (len > 0) { // the data of an empty slice may be NULL
        memcpy(copy, text.data, len);
    }
    copy[len] = '\0';
    const char *at = strstr(copy, before);
    return at ? strtoull(at + strlen(before), NULL, 10) : 0;
}

// An event bears its number in its text, its value, and the JSON of its end.
static int on_event(void *context, const struct nvtxt_event *event) {
    (void)context;
    uint64_t number = number_after(event->text, "n ");
    uint64_t end = number_after(event->json, "\"end\":");
    if (number == 0 || (end != 0 && end != number)) {
        FAIL("'%.*s' has the JSON %.*s", (int)event->text.len, event->text.data,
             (int)event->json.len, event->json.data);
    }
    if (event->payload.kind && (uint64_t)event->payload.int64 != number) {
        FAIL("'%.*s' has the value %lld", (int)event->text.len, event->text.data,
             (long long)event->payload.int64);
    }
    if (event->end < event->start || event->unclosed) {
        FAIL("'%.*s' ends before it starts, or not at all", (int)event->text.len, event->text.data);
    }
    atomic_fetch_add(&served.rows[event->type], 1);
    return 0;
}

static int on_name(void *context, const struct nvtxt_name *name) {
    (void)context;
    (void)name;
    return 0;
}

static int on_diag(void *context, const struct nvtxt_diag *diag) {
    (void)context;
    FAIL("line %llu: %s: %s: %s", (unsigned long long)diag->line, nvtxt_diag_code_name(diag->code),
         diag->message, diag->excerpt);
    return 0;
}

static const struct nvtxt_sink sink = {on_event, on_name, on_diag, NULL};

static bool begins(struct nvtxt_slice line, const char *with) {
    return line.len >= strlen(with) && memcmp(line.data, with, strlen(with)) == 0;
}

static void reply(int fd, const char *type) {
    char text[128];
    int len = snprintf(text, sizeof(text), "{\"type\":\"%s\",\"line\":%llu%s}\n", type,
                       (unsigned long long)served.lines,
                       strcmp(type, "welcome") == 0 ? ",\"nvtx\":1" : "");
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) < 0 && errno != EPIPE && errno != ECONNRESET) {
        FAIL("send: %s", strerror(errno));
    }
}

// Returns false when the connection is over.
static bool take_line(int fd, struct nvtxt_slice line) {
    if (begins(line, "#nvtxt-session")) {
        reply(fd, "welcome");
        return true;
    }
    if (begins(line, "#nvtxt-end")) {
        served.ended = true;
        reply(fd, "end");
        return false;
    }
    served.lines++;
    if (begins(line, "#nvtxt-lost")) {
        atomic_fetch_add(&served.lost, number_after(line, "\"lines\":"));
    }
    assert(nvtxt_interp_line(served.interp, line, &sink) == 0);
    return true;
}

static void serve(int fd, uint64_t *seed) {
    static char bytes[1 << 15];
    struct nvtxt_frame frame;
    nvtxt_frame_init(&frame, LINE_MOST);
    bool is_open = true;
    while (is_open) {
        ssize_t got = read(fd, bytes, next_random(seed, sizeof(bytes)) + 1);
        if (got <= 0) {
            break;
        }
        struct nvtxt_slice input = {bytes, (size_t)got}, line;
        int r;
        while (is_open && (r = nvtxt_frame_next(&frame, &input, &line)) != NVTXT_FRAME_MORE) {
            if (r != NVTXT_FRAME_LINE) {
                FAIL("a line of more than %d bytes", LINE_MOST);
            }
            is_open = take_line(fd, line);
        }
        if (is_open) {
            reply(fd, "ack");
        }
        usleep(next_random(seed, 3000));
        is_open = is_open && next_random(seed, 100) != 0;
    }
    nvtxt_frame_deinit(&frame);
    close(fd);
}

static void *daemon_main(void *of) {
    int listener = *(int *)of;
    uint64_t seed = 17;
    while (!served.ended) {
        struct pollfd wait = {listener, POLLIN, 0};
        poll(&wait, 1, -1);
        int fd = accept(listener, NULL, NULL);
        assert(fd >= 0);
        serve(fd, &seed);
    }
    return NULL;
}

// ---- The program --------------------------------------------------------------------------------

struct range {
    uint64_t id, number;
};

static struct nvtxt_domain *domains[DOMAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range shared[SHARED];
static _Atomic uint64_t calls[128]; // by type of row

struct worker {
    uint64_t seed, number; // of the last event
    uint64_t stacks[DOMAINS][DEPTH];
    int depth[DOMAINS];
};

static struct nvtxt_attr attributes(struct worker *worker, char *text) {
    struct nvtxt_attr attr = {.size = sizeof(attr), .message = text};
    int len = sprintf(text, "n %llu ", (unsigned long long)++worker->number);
    uint32_t more = next_random(&worker->seed, next_random(&worker->seed, 4) ? 30 : 900);
    memset(text + len, 'x', more);
    text[(uint32_t)len + more] = '\0';
    if (next_random(&worker->seed, 2)) {
        attr.value_kind = NVTXT_U64;
        attr.value.u64 = worker->number;
        attr.category = next_random(&worker->seed, 5);
        attr.color = next_random(&worker->seed, 5);
    }
    if (next_random(&worker->seed, 50) == 0) {
        text[len] = '\0';
        attr.string = nvtxt_string_get(text);
    }
    if (next_random(&worker->seed, 8) == 0) {
        attr.json = "{\"begin\":true}";
    }
    return attr;
}

static const char *end_json(struct worker *worker, char *json, uint64_t number) {
    sprintf(json, "%llu", (unsigned long long)number);
    return next_random(&worker->seed, 4) ? json : NULL;
}

static void push(struct worker *worker, uint32_t domain) {
    char text[1000];
    int depth = worker->depth[domain];
    if (depth < DEPTH) {
        struct nvtxt_attr attr = attributes(worker, text);
        worker->stacks[domain][worker->depth[domain]++] = worker->number;
        if (nvtxt_push_ex(domains[domain], &attr) != depth) {
            FAIL("a push did not return %d", depth);
        }
        atomic_fetch_add(&calls[NVTXT_EVENT_PUSH_POP], 1);
    }
}

static void pop(struct worker *worker, uint32_t domain) {
    char json[40];
    const char *end = NULL;
    int wanted = -ENOENT;
    if (worker->depth[domain] > 0) {
        wanted = --worker->depth[domain];
        end = end_json(worker, json, worker->stacks[domain][wanted]);
    }
    if (nvtxt_pop_ex(domains[domain], end) != wanted) {
        FAIL("a pop did not return %d", wanted);
    }
}

static void swap_shared(struct worker *worker, struct range mine) {
    char json[40];
    pthread_mutex_lock(&lock);
    uint32_t slot = next_random(&worker->seed, SHARED);
    struct range theirs = shared[slot];
    shared[slot] = mine;
    pthread_mutex_unlock(&lock);
    nvtxt_end_ex(theirs.id, theirs.id ? end_json(worker, json, theirs.number) : NULL);
    if (next_random(&worker->seed, 10) == 0) {
        nvtxt_end(theirs.id); // once more
    }
}

static void start(struct worker *worker) {
    char text[1000];
    struct nvtxt_attr attr = attributes(worker, text);
    uint64_t id = nvtxt_start_ex(domains[next_random(&worker->seed, DOMAINS)], &attr);
    assert(id > 1);
    atomic_fetch_add(&calls[NVTXT_EVENT_START_END], 1);
    swap_shared(worker, (struct range){id, worker->number});
}

static void mark(struct worker *worker, uint32_t domain) {
    char text[1000];
    struct nvtxt_attr attr = attributes(worker, text);
    nvtxt_mark_ex(domains[domain], &attr);
    atomic_fetch_add(&calls[NVTXT_EVENT_MARK], 1);
}

static void name_something(struct worker *worker) {
    char text[1000];
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    attributes(worker, text);
    worker->number--;
    nvtxt_name_category(domains[next_random(&worker->seed, DOMAINS)],
                        next_random(&worker->seed, 20), text);
    nvtxt_name_thread(0, text);
    nvtxt_name_resource(NULL, "cuStream", next_random(&worker->seed, 5), text);
    nvtxt_get_stats(&stats);
    assert(nvtxt_domain_get("one") == domains[1]);
}

static void step(struct worker *worker) {
    uint32_t domain = next_random(&worker->seed, DOMAINS);
    switch (next_random(&worker->seed, 12)) {
    case 0:
    case 1:
    case 2:
    case 3:
        push(worker, domain);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        pop(worker, domain);
        break;
    case 8:
        mark(worker, domain);
        break;
    case 9:
        start(worker);
        break;
    case 10:
        swap_shared(worker, (struct range){0, 0});
        break;
    default:
        if (next_random(&worker->seed, 20) == 0) {
            name_something(worker);
        }
        if (next_random(&worker->seed, 100) == 0) {
            usleep(next_random(&worker->seed, 20000));
        }
    }
}

static void *worker_main(void *of) {
    struct worker worker = {.seed = *(uint64_t *)of, .number = *(uint64_t *)of << 32};
    for (int i = 0; i < steps; i++) {
        step(&worker);
    }
    for (uint32_t domain = 0; domain < DOMAINS; domain++) {
        while (worker.depth[domain] > 0) {
            pop(&worker, domain);
        }
    }
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < THREADS; i++) {
            seeds[i] = round * THREADS + i + 1;
            assert(pthread_create(&threads[i], NULL, worker_main, &seeds[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    for (int i = 0; i < SHARED; i++) {
        nvtxt_end(shared[i].id);
    }
}

// ---- All of it ----------------------------------------------------------------------------------

static void check_sums(void) {
    static const int types[] = {NVTXT_EVENT_MARK, NVTXT_EVENT_PUSH_POP, NVTXT_EVENT_START_END};
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    uint64_t rows = 0, all = 0, lost = atomic_load(&served.lost);
    nvtxt_get_stats(&stats);
    for (int i = 0; i < 3; i++) {
        rows += atomic_load(&served.rows[types[i]]);
        all += atomic_load(&calls[types[i]]);
        printf("# type %d: %llu calls, %llu rows\n", types[i],
               (unsigned long long)atomic_load(&calls[types[i]]),
               (unsigned long long)atomic_load(&served.rows[types[i]]));
    }
    printf("# recorded %llu, dropped %llu, told %llu, ignored %llu\n",
           (unsigned long long)stats.recorded, (unsigned long long)stats.dropped,
           (unsigned long long)lost, (unsigned long long)stats.ignored);
    if (rows != stats.recorded || lost != stats.dropped || rows + lost != all ||
        stats.dropped == 0) {
        FAIL("%llu rows and %llu losses of %llu calls", (unsigned long long)rows,
             (unsigned long long)lost, (unsigned long long)all);
    }
}

int main(void) {
    struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT,
                                         .default_pid = (uint32_t)getpid(),
                                         .escapes = true,
                                         .nvtx = true};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct nvtxt_options options = {.size = sizeof(options), .window_bytes = 1 << 20};
    pthread_t daemon_thread;
    assert(mkdtemp(folder));
    snprintf(socket_path, sizeof(socket_path), "%s/s", folder);
    strcpy(address.sun_path, socket_path);
    setenv("NVTXT_SOCKET", socket_path, 1);
    setenv("NVTXT_RING", "64K", 1);
    setenv("NVTXT_EXIT_WAIT", "0", 1);
    assert(nvtxt_init(&options) == 0);
    served.interp = nvtxt_interp_new(&config);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(served.interp && listener >= 0);
    assert(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
    assert(listen(listener, 8) == 0);
    assert(pthread_create(&daemon_thread, NULL, daemon_main, &listener) == 0);
    pthread_detach(daemon_thread);
    if (getenv("NVTXT_TEST_LONG")) {
        steps *= 10;
    }
    domains[1] = nvtxt_domain_get("one");
    domains[2] = nvtxt_domain_get("two");
    domains[3] = nvtxt_domain_get("three");
    run_threads();
    int r = nvtxt_flush(600000);
    if (r != 0) {
        FAIL("nvtxt_flush() returned %d", r);
    }
    check_sums();
    unlink(socket_path);
    rmdir(folder);
    return 0;
}
