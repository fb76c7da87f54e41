// SPDX-License-Identifier: Apache-2.0
//
// Each call of the system that the library makes is refused once, the first, the second and so on,
// in a child of its own: the child goes on, prints nothing, and ends with 0. What it cannot record
// it counts. With and without a spool folder, whose files do not outlive a child that could not
// use them.
#include <err.h>
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
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/nvtxt.h"

static atomic_int calls; // so far
static int refused;      // which of them; 0: none

static bool refuse(void) {
    return atomic_fetch_add(&calls, 1) + 1 == refused;
}

// The linker puts these in the place of the calls (--wrap).
#define WRAP(type, name, parameters, arguments, error, result)                                     \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        if (refuse()) {                                                                            \
            errno = error;                                                                         \
            return result;                                                                         \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }

WRAP(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t offset),
     (at, len, prot, flags, fd, offset), ENOMEM, MAP_FAILED)
WRAP(int, madvise, (void *at, size_t len, int advice), (at, len, advice), EFAULT, -1)
WRAP(int, ftruncate, (int fd, off_t len), (fd, len), EFBIG, -1)
WRAP(int, fstat, (int fd, struct stat *what), (fd, what), EIO, -1)
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE, -1)
WRAP(int, connect, (int fd, const struct sockaddr *to, socklen_t len), (fd, to, len), EPERM, -1)
WRAP(ssize_t, send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags),
     EPERM, -1)
WRAP(ssize_t, recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags), EPERM, -1)
WRAP(ssize_t, getrandom, (void *to, size_t len, unsigned flags), (to, len, flags), ENOSYS, -1)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*run)(void *), void *of),
     (thread, attr, run, of), EAGAIN, EAGAIN)
WRAP(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), EAGAIN,
     EAGAIN)
WRAP(int, pthread_attr_init, (pthread_attr_t * attr), (attr), ENOMEM, ENOMEM)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = flags & O_CREAT ? va_arg(args, int) : 0;
    va_end(args);
    if (refuse()) {
        errno = EMFILE;
        return -1;
    }
    return __real_open(path, flags, mode);
}

// ---- The program --------------------------------------------------------------------------------

static void *work(void *unused) {
    struct nvtxt_domain *domain = nvtxt_domain_get("domain");
    struct nvtxt_attr attr = {.size = sizeof(attr), .string = nvtxt_string_get("string")};
    (void)unused;
    nvtxt_name_category(domain, 1, "category");
    for (int i = 0; i < 20; i++) {
        nvtxt_push_ex(domain, &attr);
        uint64_t range = nvtxt_start("range");
        nvtxt_mark("mark");
        nvtxt_end(range);
        nvtxt_pop_ex(domain, NULL);
    }
    return NULL;
}

static int be_a_program(void) {
    pthread_t thread;
    errno = 0;
    work(NULL);
    if (errno != 0) {
        return 3;
    }
    if (__real_pthread_create(&thread, NULL, work, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    struct nvtxt_stats stats = {.size = sizeof(stats)};
    nvtxt_get_stats(&stats);
    // A refused look at the word of the process, or a push without a stack, loses what belongs to
    // it as well, so only the sum is bounded.
    return stats.recorded + stats.dropped >= 40 ? 0 : 4;
}

// Returns whether the refusal was met.
static bool run(int which, int *output, const char *what) {
    int status;
    char printed[200];
    int *met = mmap(NULL, sizeof(*met), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(output[1], STDOUT_FILENO);
        dup2(output[1], STDERR_FILENO);
        calls = 0;
        refused = which;
        int r = be_a_program();
        *met = calls >= which;
        exit(r);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        errx(1, "refusal %d %s: status %#x", which, what, (unsigned)status);
    }
    ssize_t len = read(output[0], printed, sizeof(printed));
    if (len > 0) {
        errx(1, "refusal %d %s: it prints %.*s", which, what, (int)len, printed);
    }
    bool was_met = *met;
    munmap(met, sizeof(*met));
    return was_met;
}

int main(void) {
    char folder[] = "/tmp/nvtxt-refusals-XXXXXX", command[100];
    int output[2];
    if (pipe2(output, O_NONBLOCK) < 0 || !mkdtemp(folder)) {
        err(1, "set-up");
    }
    setenv("NVTXT_SOCKET", "/nonexistent/socket", 1);
    setenv("NVTXT_EXIT_WAIT", "0.2", 1);
    for (int with_spool = 0; with_spool < 2; with_spool++) {
        int which = 1;
        if (with_spool) {
            setenv("NVTXT_SPOOL", folder, 1);
        }
        while (run(which, output, with_spool ? "with a spool folder" : "without")) {
            which++;
        }
        printf("# %d calls were refused\n", which - 1);
        fflush(stdout);
        if (which < 15) {
            errx(1, "too few calls were met");
        }
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? 0 : 1;
}
