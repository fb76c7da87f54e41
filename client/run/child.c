// SPDX-License-Identifier: Apache-2.0
//
// The signals are blocked and read from a signalfd, so there is no handler and no race. The child
// reports through a pipe that the command cannot be executed; a successful exec closes it.
#include "client/run/child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocol/base/origin.h"

static const int passed_on[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

#define COLOR_SUCCESS 0xff008000u // Green
#define COLOR_FAILURE 0xffff0000u // Red
#define COLOR_SIGNAL 0xff8b0000u  // DarkRed

// ---- Start --------------------------------------------------------------------------------------

static int catch_signals(struct child *child) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction standard = {.sa_handler = SIG_DFL}; // with SIG_IGN its status would be lost
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < PASSED_ON; i++) {
        sigaddset(&set, passed_on[i]);
    }
    if (sigaction(SIGPIPE, &ignore, &child->on_pipe) != 0 ||
        sigaction(SIGXFSZ, &ignore, &child->on_size) != 0 ||
        sigaction(SIGCHLD, &standard, &child->on_child) != 0 ||
        sigprocmask(SIG_BLOCK, &set, &child->mask) != 0) {
        return nvtxt_origin(-errno);
    }
    child->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return child->signals < 0 ? nvtxt_origin(-errno) : 0;
}

// In the child; does not return.
static void execute(const struct child *child, char *const *argv, int out, int err, int fault) {
    sigaction(SIGPIPE, &child->on_pipe, NULL);
    sigaction(SIGXFSZ, &child->on_size, NULL);
    sigaction(SIGCHLD, &child->on_child, NULL);
    sigprocmask(SIG_SETMASK, &child->mask, NULL);
    if (out < 0 || (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)) {
        execvp(argv[0], argv);
    }
    int error = errno;
    (void)!write(fault, &error, sizeof(error));
    _exit(127);
}

static void close_pair(const int pair[2]) {
    close(pair[0]);
    close(pair[1]);
}

static int start(struct child *child, char *const *argv, const int out[2], const int err[2],
                 const int fault[2]) {
    int error = 0;
    child->pid = vfork(); // a copy of our memory would cost a step of make more than its record
    if (child->pid == 0) {
        execute(child, argv, out[1], err[1], fault[1]);
    }
    if (out[1] >= 0) {
        close(out[1]);
        close(err[1]);
    }
    close(fault[1]);
    child->out = out[0];
    child->err = err[0];
    child->running = child->pid > 0;
    if (child->pid < 0) {
        error = nvtxt_origin(-errno);
    } else if (read(fault[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        child->running = false;
        child_reap(child);
    }
    close(fault[0]);
    return error;
}

int child_start(struct child *child, char *const *argv, bool pipes) {
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    int fault[2];
    *child = (struct child){.out = -1, .err = -1, .signals = -1};
    if (catch_signals(child) != 0 || (pipes && pipe2(out, O_CLOEXEC) != 0)) {
        return nvtxt_origin(-errno);
    }
    if (pipes && pipe2(err, O_CLOEXEC) != 0) {
        int error = errno;
        close_pair(out);
        return nvtxt_origin(-error);
    }
    if (pipe2(fault, O_CLOEXEC) != 0) {
        int error = errno;
        if (pipes) {
            close_pair(out);
            close_pair(err);
        }
        return nvtxt_origin(-error);
    }
    return start(child, argv, out, err, fault);
}

int child_start_next(struct child *child, char *const *argv) {
    static const int none[2] = {-1, -1};
    int fault[2];
    child_reap(child);
    child->reaped = false;
    child->user_us = child->system_us = 0;
    if (pipe2(fault, O_CLOEXEC) != 0) {
        return nvtxt_origin(-errno);
    }
    return start(child, argv, none, none, fault);
}

void child_close(struct child *child) {
    int *const own[] = {&child->out, &child->err, &child->signals};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (*own[i] >= 0) {
            close(*own[i]);
        }
        *own[i] = -1;
    }
}

// ---- Signals ------------------------------------------------------------------------------------

// The terminal stopped the command, and meant us too.
static void stop_too(const struct child *child) {
    kill(getpid(), SIGSTOP);
    kill(child->pid, SIGCONT); // we run again: somebody sent us SIGCONT
}

// Asks for a change of the kind. False when there is none.
static bool has_changed(const struct child *child, int kind, siginfo_t *info) {
    *info = (siginfo_t){0};
    return waitid(P_PID, (id_t)child->pid, info, kind | WNOHANG) == 0 && info->si_pid != 0;
}

// The end is seen without being taken: until child_reap() the process keeps its number.
static void see_changes(struct child *child) {
    siginfo_t info;
    while (child->running && has_changed(child, WSTOPPED, &info)) {
        int stop = info.si_status;
        if (stop == SIGTSTP || stop == SIGTTIN || stop == SIGTTOU) {
            stop_too(child);
        }
    }
    if (child->running && has_changed(child, WEXITED | WNOWAIT, &info)) {
        child->status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0)
                                                   : W_EXITCODE(0, info.si_status);
        child->running = false;
    }
}

void child_reap(struct child *child) {
    if (!child->running && !child->reaped) {
        struct rusage used = {.ru_utime = {0}};
        (void)wait4(child->pid, &child->status, 0, &used);
        child->reaped = true;
        child->user_us = used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec;
        child->system_us = used.ru_stime.tv_sec * 1000000 + used.ru_stime.tv_usec;
    }
}

static void on_signal(struct child *child, const struct signalfd_siginfo *info) {
    int number = (int)info->ssi_signo;
    bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    child->asked_to_end = ends ? number : child->asked_to_end;
    if (!child->running) {
        child->interrupted = child->interrupted || (ends && !child->goes_on);
        return;
    }
    bool from_terminal = info->ssi_code == SI_KERNEL;
    if (!from_terminal || getpgid(child->pid) != getpgrp()) {
        kill(child->pid, number);
    }
}

void child_update(struct child *child) {
    struct signalfd_siginfo info;
    while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            on_signal(child, &info);
        }
    }
    see_changes(child);
}

void child_release_signals(const struct child *child) {
    sigprocmask(SIG_SETMASK, &child->mask, NULL);
}

// ---- End ----------------------------------------------------------------------------------------

static bool was_killed(const struct child *child) {
    return WIFSIGNALED(child->status);
}

int child_exit_code(const struct child *child) {
    return was_killed(child) ? 128 + WTERMSIG(child->status) : WEXITSTATUS(child->status);
}

uint32_t child_color(const struct child *child) {
    return child_exit_code(child) == 0 ? COLOR_SUCCESS
           : was_killed(child)         ? COLOR_SIGNAL
                                       : COLOR_FAILURE;
}

void child_die_likewise(const struct child *child) {
    if (!was_killed(child)) {
        return;
    }
    int number = WTERMSIG(child->status);
    struct rlimit none = {0, 0};
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)setrlimit(RLIMIT_CORE, &none);
    sigaction(number, &standard, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}
