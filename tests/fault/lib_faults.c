// SPDX-License-Identifier: Apache-2.0
//
// A program with libnvtxt in which the n-th call of the library that takes memory, a descriptor, a
// thread or room in a file fails, for n = 1, 2, 3 … until none does: once, or from then on, with a
// spool folder and without. The program goes on each time: what the calls return is in order, what
// is recorded and what is dropped add up to the calls, its child and its threads do as well, and it
// ends as it does alone.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/nvtxt.h"
#include "tests/fault/fault_kit.h"

#define FAIL(...) (printf("# " __VA_ARGS__), puts(""), fflush(stdout), _exit(1))

// ---- The calls ----------------------------------------------------------------------------------

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_madvise(void *at, size_t bytes, int advice);
int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __real_ftruncate(int fd, off_t bytes);
int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
int __real_socket(int domain, int type, int protocol);
int __real_pthread_attr_init(pthread_attr_t *attributes);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_pthread_attr_init(pthread_attr_t *attributes);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context);

static atomic_uint left;
static bool is_lasting;
static atomic_bool *struck; // shared by all processes

static bool strikes(int error) {
    bool now = atomic_load(&left) > 0 && atomic_fetch_sub(&left, 1) == 1;
    if (now) {
        atomic_store(struck, true);
    }
    now = now || (is_lasting && atomic_load(struck));
    errno = now ? error : errno;
    return now;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    return strikes(ENOMEM) ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, fd, offset);
}

int __wrap_madvise(void *at, size_t bytes, int advice) {
    return strikes(EINVAL) ? -1 : __real_madvise(at, bytes, advice);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
    return strikes(ENOSPC) ? -1 : __real_fallocate(fd, mode, offset, bytes);
}

int __wrap_ftruncate(int fd, off_t bytes) {
    return strikes(EFBIG) ? -1 : __real_ftruncate(fd, bytes);
}

int __wrap_open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    return strikes(EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    int value = va_arg(args, int); // the library has no other
    va_end(args);
    return strikes(EINVAL) ? -1 : __real_fcntl(fd, command, value);
}

int __wrap_socket(int domain, int type, int protocol) {
    return strikes(EMFILE) ? -1 : __real_socket(domain, type, protocol);
}

int __wrap_pthread_attr_init(pthread_attr_t *attributes) {
    return strikes(errno) ? ENOMEM : __real_pthread_attr_init(attributes);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *context) {
    return strikes(errno) ? EAGAIN : __real_pthread_create(thread, attributes, run, context);
}

// ---- The program --------------------------------------------------------------------------------

static _Atomic uint64_t calls;

static void push_and_pop(struct nvtxt_domain *domain, const struct nvtxt_attr *attr) {
    int outer = nvtxt_push_ex(domain, attr), inner = nvtxt_push_ex(domain, NULL);
    atomic_fetch_add(&calls, 2);
    if (outer < 0 ? outer != -ENOTSUP : inner != outer + 1) {
        FAIL("pushes returned %d and %d", outer, inner);
    }
    if (inner >= 0 && nvtxt_pop_ex(domain, "1") != inner) {
        FAIL("a pop did not return %d", inner);
    }
    if (outer >= 0 && nvtxt_pop_ex(domain, NULL) != outer) {
        FAIL("a pop did not return %d", outer);
    }
}

// Calls of all kinds; so many domains and strings that every table grows.
static void call_all(void) {
    char text[32];
    struct nvtxt_attr attr = {.size = sizeof(attr), .message = "message", .json = "{\"a\":1}"};
    for (int i = 0; i < 40; i++) {
        snprintf(text, sizeof(text), "domain %d", i);
        struct nvtxt_domain *domain = nvtxt_domain_get(text);
        push_and_pop(domain, &attr);
        nvtxt_name_category(domain, 1, text);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof(text), "string %d", i);
        attr.string = nvtxt_string_get(text);
        nvtxt_mark_ex(NULL, &attr);
        nvtxt_name_resource(NULL, "kind", (uint64_t)i, text);
        atomic_fetch_add(&calls, 1);
    }
    uint64_t range = nvtxt_start("start");
    atomic_fetch_add(&calls, 1);
    if (range == 0) {
        FAIL("a start returned 0");
    }
    nvtxt_end_ex(range, "2");
}

static void *thread_main(void *unused) {
    call_all();
    return unused;
}

static void check_sums(const char *who) {
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    nvtxt_get_stats(&stats);
    if (stats.recorded + stats.dropped != atomic_load(&calls)) {
        FAIL("%s: recorded %llu and dropped %llu of %llu", who, (unsigned long long)stats.recorded,
             (unsigned long long)stats.dropped, (unsigned long long)atomic_load(&calls));
    }
}

static void fork_child(void) {
    pid_t child = fork();
    int status;
    if (child == 0) {
        atomic_store(&calls, 0);
        call_all();
        check_sums("child");
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        FAIL("the child ended with %x", status);
    }
}

static void program(void) {
    pthread_t thread;
    errno = 4711;
    call_all();
    if (errno != 4711) {
        FAIL("errno is %d", errno);
    }
    if (__real_pthread_create(&thread, NULL, thread_main, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    int r = nvtxt_flush(1);
    if (r > 0) {
        FAIL("nvtxt_flush() returned %d", r);
    }
    check_sums("parent");
    fork_child();
    call_all();
    check_sums("parent, later");
}

// ---- Each call in turn --------------------------------------------------------------------------

// Returns whether a call has failed.
static bool run(unsigned n, bool lasting) {
    int status;
    atomic_store(struck, false);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        is_lasting = lasting;
        atomic_store(&left, n);
        program();
        exit(0); // through the library's destructor
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        FAIL("call %u%s: the program ended with %x", n, lasting ? " and all after it" : "", status);
    }
    return atomic_load(struck);
}

static void run_all(const char *what) {
    for (int lasting = 0; lasting < 2; lasting++) {
        unsigned n = 1, stride = fault_stride(1, 3);
        while (run(n, lasting)) {
            n += stride;
        }
        printf("# %s, %s: %u calls, every %u.\n", what, lasting ? "and all after it" : "once",
               n - 1, stride);
        if (n < 10) {
            FAIL("so few");
        }
    }
}

int main(void) {
#ifdef __SANITIZE_THREAD__
    puts("ThreadSanitizer does not know threads in a child");
    return 77;
#endif
    char command[64];
    setvbuf(stdout, NULL, _IONBF, 0);
    struck = __real_mmap(NULL, sizeof(*struck), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0);
    must(struck != MAP_FAILED, "shared memory");
    const char *folder = make_folder();
    setenv("NVTXT_SOCKET", "/nonexistent/nvtxtd.sock", 1);
    setenv("NVTXT_RING", "64K", 1);
    setenv("NVTXT_WINDOW", "1M", 1);
    setenv("NVTXT_EXIT_WAIT", "0", 1);
    run_all("memory");
    setenv("NVTXT_SPOOL", folder, 1);
    run_all("spool");
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1;
}
