// SPDX-License-Identifier: Apache-2.0
//
// The child has no descriptors but /dev/null, the pipe for what it prints, and its end of the
// socket. It leads a group, so one signal reaches all that it started and that stayed in it. Its
// end is seen through a pidfd; a kernel that has none is asked now and then.
#include "report/host/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// ---- The child ----------------------------------------------------------------------------------
// Between fork() and exec: only calls that are safe there.

struct start {
    const char *const *argv;
    char *const *environment;
    int null, prints, socket;
    rlim_t seconds;
    pid_t parent;
};

static void close_others(void) {
    if (syscall(SYS_close_range, REPORT_CHILD_SOCKET + 1, ~0U, 0) == 0) {
        return;
    }
    struct rlimit limit = {.rlim_cur = 1024};
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = REPORT_CHILD_SOCKET + 1; fd < (int)limit.rlim_cur; fd++) {
        close(fd);
    }
}

static bool place_descriptors(const struct start *start) {
    // First out of the way of each other.
    int null = fcntl(start->null, F_DUPFD, 16), prints = fcntl(start->prints, F_DUPFD, 16);
    int socket = fcntl(start->socket, F_DUPFD, 16);
    bool good = null >= 0 && prints >= 0 && socket >= 0 && dup2(null, 0) == 0 &&
                dup2(prints, 1) == 1 && dup2(prints, 2) == 2 &&
                dup2(socket, REPORT_CHILD_SOCKET) == REPORT_CHILD_SOCKET;
    close_others();
    return good;
}

static bool set_limits(const struct start *start) {
    const struct rlimit files = {1024, 1024}, core = {0, 0};
    const struct rlimit memory = {REPORT_CHILD_MEMORY, REPORT_CHILD_MEMORY};
    const struct rlimit seconds = {start->seconds, start->seconds + 1};
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)setrlimit(RLIMIT_FSIZE, &memory); // a /tmp of its own is memory, too
    return setrlimit(RLIMIT_CORE, &core) == 0 && setrlimit(RLIMIT_CPU, &seconds) == 0 &&
           setrlimit(RLIMIT_AS, &memory) == 0;
}

_Noreturn static void run_child(const struct start *start) {
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == start->parent && place_descriptors(start) && chdir("/") == 0 &&
        set_limits(start)) {
        execve(start->argv[0], (char *const *)(uintptr_t)start->argv, start->environment);
    }
    _exit(127);
}

// ---- Starting -----------------------------------------------------------------------------------

// PATH, LANG and HOME alone. `room` has place for three entries and a NULL.
static void cut_environment(char **room) {
    static const char *const names[] = {"PATH=", "LANG=", "HOME="};
    extern char **environ;
    size_t count = 0;
    for (char **entry = environ; entry && *entry && count < 3; entry++) {
        for (size_t i = 0; i < 3; i++) {
            if (strncmp(*entry, names[i], strlen(names[i])) == 0) {
                room[count++] = *entry;
                break;
            }
        }
    }
    room[count] = NULL;
}

static int open_pidfd(pid_t pid) {
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

static void close_at(int *fd) {
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

// The children of this process, at most `most`. The kernel may be built without this list.
static size_t list_children(pid_t *children, size_t most) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    size_t count = 0;
    int pid;
    while (file && count < most && fscanf(file, "%d", &pid) == 1) {
        children[count++] = pid;
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static int start_child(struct report_child *child, struct start *start) {
    // Whoever started us may have said that children are not waited for: then no end is seen.
    (void)signal(SIGCHLD, SIG_DFL);
    child->other_count = list_children(child->others, REPORT_CHILD_OTHERS);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->pid = fork();
    if (child->pid < 0) {
        child->pid = 0;
        return -errno;
    }
    if (child->pid == 0) {
        run_child(start);
    }
    child->pidfd = open_pidfd(child->pid);
    return 0;
}

int report_child_start(struct report_child *child, const char *const *argv, double timeout_s,
                       int interrupt_fd) {
    char *environment[4];
    int pair[2] = {-1, -1}, pipe_[2] = {-1, -1};
    int result = 0;
    *child = (struct report_child){
        .pidfd = -1, .socket = -1, .prints = -1, .interrupt_fd = interrupt_fd};
    child->deadline_ns = now_ns() + (int64_t)(timeout_s * 1e9);
    cut_environment(environment);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        pipe2(pipe_, O_CLOEXEC) != 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(pipe_[0], F_SETFL, O_NONBLOCK) != 0) {
        result = -errno;
    }
    child->socket = pair[0];
    child->prints = pipe_[0];
    struct start start = {argv, environment, null, pipe_[1], pair[1], (rlim_t)timeout_s, getpid()};
    start.seconds += (double)start.seconds < timeout_s;
    result = result ? result : start_child(child, &start);
    close_at(&null);
    close_at(&pair[1]);
    close_at(&pipe_[1]);
    return result;
}

// ---- Watching -----------------------------------------------------------------------------------

// Reads what the process printed; keeps the first part of it.
static void take_prints(struct report_child *child) {
    char data[16384];
    ssize_t got;
    for (int i = 0; i < 16 && child->prints >= 0; i++) {
        got = read(child->prints, data, sizeof(data));
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            close_at(&child->prints);
        }
        if (got <= 0) {
            return;
        }
        size_t room = REPORT_CHILD_OUTPUT - child->output.len;
        nvtxt_buf_add(&child->output, data, (size_t)got < room ? (size_t)got : room);
    }
}

// It is left to be waited for: so nobody else gets its number while its group is there.
static bool has_ended(struct report_child *child) {
    siginfo_t info = {.si_pid = 0};
    if (!child->ended && waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child->pid) {
        child->ended = true;
        *(info.si_code == CLD_EXITED ? &child->status : &child->signal) = info.si_status;
    }
    return child->ended;
}

static int time_left_ms(const struct report_child *child) {
    int64_t left = (child->deadline_ns - now_ns() + 999999) / 1000000;
    left = left < 0 ? 0 : left > 3600000 ? 3600000 : left;
    return child->pidfd < 0 && left > REPORT_CHILD_TICK_MS ? REPORT_CHILD_TICK_MS : (int)left;
}

int report_child_wait(struct report_child *child, bool reads, bool writes) {
    for (;;) {
        struct pollfd fds[] = {
            {.fd = reads || writes ? child->socket : -1,
             .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))},
            {.fd = child->prints, .events = POLLIN},
            {.fd = child->ended ? -1 : child->pidfd, .events = POLLIN},
            {.fd = child->interrupt_fd, .events = POLLIN},
        };
        bool known = child->ended;
        if (poll(fds, 4, known ? 0 : time_left_ms(child)) < 0 && errno != EINTR) {
            return -errno;
        }
        int events = fds[3].revents ? REPORT_CHILD_SIGNAL : 0;
        if (fds[1].revents) {
            take_prints(child);
        }
        bool gone = (fds[0].revents & (POLLHUP | POLLERR)) != 0;
        events |= reads && (gone || fds[0].revents & POLLIN) ? REPORT_CHILD_READ : 0;
        events |= writes && (gone || fds[0].revents & POLLOUT) ? REPORT_CHILD_WRITE : 0;
        events |= has_ended(child) ? REPORT_CHILD_ENDED : 0;
        events |= now_ns() >= child->deadline_ns ? REPORT_CHILD_LATE : 0;
        if (events) {
            return events;
        }
    }
}

void report_child_hurry(struct report_child *child, int64_t ms) {
    int64_t soon = now_ns() + ms * 1000000;
    child->deadline_ns = soon < child->deadline_ns ? soon : child->deadline_ns;
}

// ---- Ending -------------------------------------------------------------------------------------

// A child of ours that was not there before; 0: there is none, or the kernel does not tell.
static pid_t next_orphan(const struct report_child *child) {
    pid_t all[REPORT_CHILD_OTHERS + 1];
    size_t count = list_children(all, REPORT_CHILD_OTHERS + 1);
    for (size_t i = 0; i < count && child->other_count < REPORT_CHILD_OTHERS; i++) {
        size_t other = 0;
        while (other < child->other_count && child->others[other] != all[i]) {
            other++;
        }
        if (other == child->other_count) {
            return all[i];
        }
    }
    return 0;
}

static void end_orphans(const struct report_child *child) {
    pid_t pid;
    while ((pid = next_orphan(child)) > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

void report_child_end(struct report_child *child) {
    if (child->pid > 0) {
        (void)kill(-child->pid, SIGKILL);
        (void)kill(child->pid, SIGKILL);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        end_orphans(child);
    }
    child->pid = 0;
    take_prints(child);
    close_at(&child->pidfd);
    close_at(&child->socket);
    close_at(&child->prints);
}
