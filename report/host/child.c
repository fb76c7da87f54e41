// SPDX-License-Identifier: Apache-2.0
//
// The child has no descriptors but /dev/null, the pipe for what it prints, its end of the socket,
// and what it is to read. Why it did not come to its program it says over a pipe that exec()
// closes. It leads a group, so one signal reaches all that it started and that stayed in it. Its
// end is seen through a pidfd; a kernel that has none is asked now and then.
#include "report/host/child.h"
#include "protocol/base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/base/origin.h"

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

// Whether user 65534 is there, in a user namespace.
static bool has_user(uid_t uid, bool *is_root) {
    unsigned from, to, count;
    bool has = false;
    *is_root = true;
    FILE *file = fopen("/proc/self/uid_map", "re");
    while (file && fscanf(file, "%u %u %u", &from, &to, &count) == 3) {
        has = has || (uid >= from && uid - from < count);
        *is_root = *is_root && (from != 0 || to == 0);
    }
    if (file) {
        fclose(file);
    }
    return has;
}

// Who calls himself root in a user namespace, and is not, stays who he is if there is nobody else.
bool report_child_changes_user(void) {
    bool is_root;
    return geteuid() == 0 && (has_user(REPORT_CHILD_USER, &is_root) || is_root);
}

static int start_child(struct report_child *child, struct report_start *start) {
    // Whoever started us may have said that children are not waited for: then no end is seen.
    (void)signal(SIGCHLD, SIG_DFL);
    child->other_count = report_watch_children(getpid(), child->others, REPORT_CHILD_OTHERS);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    child->pid = fork();
    if (child->pid < 0) {
        child->pid = 0;
        return nvtxt_origin(-errno);
    }
    if (child->pid == 0) {
        report_start_run(start);
    }
    child->pidfd = open_pidfd(child->pid);
    return 0;
}

// A file of its own for each process: what one does to it no other sees.
static int open_text(struct nvtxt_slice text) {
    int fd = memfd_create("rule", MFD_CLOEXEC);
    ssize_t wrote = 0;
    size_t done = 0;
    while (fd >= 0 && wrote >= 0 && done < text.len) {
        wrote = write(fd, text.data + done, text.len - done);
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    int r = fd < 0 || wrote < 0 || lseek(fd, 0, SEEK_SET) != 0 ? nvtxt_origin(-errno) : fd;
    if (r < 0 && fd >= 0) {
        close(fd);
    }
    return r;
}

static int open_all(struct report_child *child, struct report_start *start, int status[2],
                    const struct report_child_wish *wish) {
    int pair[2] = {-1, -1}, pipe_[2] = {-1, -1};
    start->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int r = start->null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
                    pipe2(pipe_, O_CLOEXEC) != 0 || pipe2(status, O_CLOEXEC) != 0 ||
                    fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 ||
                    fcntl(pipe_[0], F_SETFL, O_NONBLOCK) != 0
                ? nvtxt_origin(-errno)
                : 0;
    child->socket = pair[0];
    child->prints = pipe_[0];
    start->socket = pair[1];
    start->prints = pipe_[1];
    start->status = status[1];
    if (r == 0 && wish->text.data) {
        start->text = open_text(wish->text);
        r = start->text < 0 ? start->text : 0;
    }
    if (r == 0 && wish->confined && report_refused_calls_exist()) {
        start->filter = report_refused_calls_open();
        r = start->filter < 0 ? nvtxt_origin(-ENOMEM) : 0;
    }
    return r;
}

// What the process said of why it did not come to its program; an end without a word: it did.
static int take_status(int fd) {
    int error = 0;
    ssize_t got;
    do {
        got = read(fd, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? nvtxt_origin(-error) : 0;
}

int report_child_start(struct report_child *child, const struct report_child_wish *wish) {
    char *environment[4];
    int status[2] = {-1, -1};
    *child = (struct report_child){.pidfd = -1,
                                   .socket = -1,
                                   .prints = -1,
                                   .group = {.fd = -1},
                                   .confined = wish->confined,
                                   .interrupt_fd = wish->interrupt_fd};
    child->deadline_ns = nvtxt_monotonic_ns() + (int64_t)(wish->timeout_s * 1e9);
    child->watch_ns = nvtxt_monotonic_ns() + REPORT_CHILD_WATCH_MS * INT64_C(1000000);
    cut_environment(environment);
    report_cgroup_open(&child->group);
    struct report_start start = {
        .argv = wish->argv,
        .folders = wish->folders,
        .environment = environment,
        .null = -1,
        .prints = -1,
        .socket = -1,
        .text = -1,
        .filter = -1,
        .status = -1,
        .group = child->group.fd,
        .seconds = (rlim_t)wish->timeout_s,
        .parent = getpid(),
        .changes = report_child_changes_user(),
        .uid = REPORT_CHILD_USER,
        .confined = wish->confined,
    };
    start.seconds += (double)start.seconds < wish->timeout_s;
    int r = open_all(child, &start, status, wish);
    r = r ?: start_child(child, &start);
    close_at(&start.null);
    close_at(&start.prints);
    close_at(&start.socket);
    close_at(&start.text);
    close_at(&start.filter);
    close_at(&start.status);
    r = r ?: take_status(status[0]);
    close_at(&status[0]);
    return r;
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
    int64_t next = child->deadline_ns < child->watch_ns ? child->deadline_ns : child->watch_ns;
    int64_t left = (next - nvtxt_monotonic_ns() + 999999) / 1000000;
    left = left < 0 ? 0 : left;
    return child->pidfd < 0 && left > REPORT_CHILD_TICK_MS ? REPORT_CHILD_TICK_MS : (int)left;
}

static void kill_all(const struct report_child *child) {
    (void)kill(-child->pid, SIGKILL);
    (void)kill(child->pid, SIGKILL);
}

static void watch(struct report_child *child) {
    int64_t now = nvtxt_monotonic_ns();
    if (now < child->watch_ns) {
        return;
    }
    child->watch_ns = now + REPORT_CHILD_WATCH_MS * INT64_C(1000000);
    if (!child->ended && !child->too_much && report_watch_is_too_much(child)) {
        child->too_much = true;
        kill_all(child);
    }
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
            return nvtxt_origin(-errno);
        }
        int events = fds[3].revents ? REPORT_CHILD_SIGNAL : 0;
        if (fds[1].revents) {
            take_prints(child);
        }
        bool gone = (fds[0].revents & (POLLHUP | POLLERR)) != 0;
        events |= reads && (gone || fds[0].revents & POLLIN) ? REPORT_CHILD_READ : 0;
        events |= writes && (gone || fds[0].revents & POLLOUT) ? REPORT_CHILD_WRITE : 0;
        watch(child);
        events |= has_ended(child) ? REPORT_CHILD_ENDED : 0;
        events |= nvtxt_monotonic_ns() >= child->deadline_ns ? REPORT_CHILD_LATE : 0;
        if (events) {
            return events;
        }
    }
}

void report_child_hurry(struct report_child *child, int64_t ms) {
    int64_t soon = nvtxt_monotonic_ns() + ms * 1000000;
    child->deadline_ns = soon < child->deadline_ns ? soon : child->deadline_ns;
}

// ---- Ending -------------------------------------------------------------------------------------

static void end_orphans(const struct report_child *child) {
    pid_t pid;
    while ((pid = report_watch_orphan(child, 0)) > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

void report_child_end(struct report_child *child) {
    if (child->pid > 0) {
        kill_all(child);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        end_orphans(child);
        child->too_much = child->too_much || report_cgroup_ran_out(&child->group);
    }
    child->pid = 0;
    report_cgroup_close(&child->group);
    take_prints(child);
    close_at(&child->pidfd);
    close_at(&child->socket);
    close_at(&child->prints);
}
