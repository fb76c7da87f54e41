// SPDX-License-Identifier: Apache-2.0
//
// make expands GPATH once, when all makefiles are read, and takes it from its environment, text
// with functions included. So the value can set variables of all targets at a moment when the
// makefile's own SHELL and .SHELLFLAGS are known. It changes neither of these, and expands to what
// GPATH was before. A POSIX shell stays SHELL, which recipes may name, and gets the script instead
// of its flags; we start any other shell ourselves. The value has no quotes, because with .ONESHELL
// make splits .SHELLFLAGS at blanks. Two things win over it: a target's own .SHELLFLAGS and a
// makefile's own GPATH. Such lines run, and are not recorded.
#include "client/send/steps.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/send/child.h"
#include "client/text/textlog.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"

#define POSIX_SHELLS "sh bash dash ash ksh ksh93 mksh zsh posh yash rbash"

// %1$s: what was in GPATH, %2$s: the folder.
static const char value_format[] =
    "%1$s$(if $(wildcard %2$s/step),$(eval $(if $(filter " POSIX_SHELLS
    ",$(notdir $(firstword $(SHELL)))),"
    "%%: .SHELLFLAGS = %2$s/step $$(SHELL) $(.SHELLFLAGS),"
    "%%: .SHELLFLAGS := " STEPS_OPTION " %2$s $(SHELL) $(.SHELLFLAGS)"
    "$(eval %%: SHELL := %2$s/nvtxt-send))))";

static const char *const files[] = {"step", "nvtxt-send", "ends"};

static void path_of(char *path, const struct steps *steps, const char *name) {
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 32, steps->folder, name);
}

// A folder whose name means nothing to make and shells.
static bool is_plain(const char *path) {
    return *path == '/' && strlen(path) < PATH_MAX / 4 &&
           path[strspn(
               path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")] == '\0';
}

static int write_script(const struct steps *steps, const char *path) {
    FILE *file = fopen(path, "wxe");
    if (!file) {
        return nvtxt_origin(-errno);
    }
    fprintf(file, "exec %s/nvtxt-send " STEPS_OPTION " %s \"$@\"\n", steps->folder, steps->folder);
    bool good = !ferror(file);
    return fclose(file) == 0 && good ? 0 : nvtxt_origin(-EIO);
}

static int make_files(struct steps *steps) {
    char path[PATH_MAX], self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (len < 0) {
        return nvtxt_origin(-errno);
    }
    self[len] = '\0';
    path_of(path, steps, "nvtxt-send");
    if (symlink(self, path) != 0) {
        return nvtxt_origin(-errno);
    }
    path_of(path, steps, "step");
    int r = write_script(steps, path);
    path_of(path, steps, "ends");
    if (r == 0 && mkfifo(path, 0600) != 0) {
        r = nvtxt_origin(-errno);
    }
    if (r == 0) { // for writing too, so that it never ends
        steps->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        r = steps->fd < 0 ? nvtxt_origin(-errno) : 0;
    }
    return r;
}

static int set_variable(const struct steps *steps) {
    const char *before = getenv("GPATH");
    char *value;
    if (asprintf(&value, value_format, before ?: "", steps->folder) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = setenv("GPATH", value, 1) == 0 ? 0 : nvtxt_origin(-errno);
    free(value);
    return r;
}

enum outcome steps_begin(struct steps *steps, struct term *term) {
    const char *base = getenv("TMPDIR");
    *steps = (struct steps){.fd = -1};
    snprintf(steps->folder, sizeof(steps->folder), "%s/nvtxt-steps-XXXXXX",
             base && is_plain(base) ? base : "/tmp");
    if (!mkdtemp(steps->folder)) {
        term_say(term, "no folder '%s' can be made for --steps: %s", steps->folder,
                 strerror(errno));
        steps->folder[0] = '\0';
        return OUTCOME_NO_OUTPUT;
    }
    steps->data = malloc(STEPS_ROOM);
    int r = steps->data ? make_files(steps) : nvtxt_origin(-ENOMEM);
    r = r ?: set_variable(steps);
    if (r != 0) {
        term_say(term, "--steps cannot use the folder %s: %s", steps->folder, strerror(-r));
        steps_end(steps);
        return OUTCOME_NO_OUTPUT;
    }
    return 0;
}

void steps_end(struct steps *steps) {
    char path[PATH_MAX];
    if (!*steps->folder) {
        return;
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        path_of(path, steps, files[i]);
        unlink(path);
    }
    rmdir(steps->folder);
    if (steps->fd >= 0) {
        close(steps->fd);
    }
    free(steps->data);
    *steps = (struct steps){.fd = -1};
}

// ---- What arrives -------------------------------------------------------------------------------

void steps_read(struct steps *steps) {
    if (steps->at > 0) {
        memmove(steps->data, steps->data + steps->at, steps->len - steps->at);
        steps->len -= steps->at;
        steps->at = 0;
    }
    size_t room = STEPS_ROOM - steps->len;
    if (room == 0) {
        return;
    }
    ssize_t n = read(steps->fd, steps->data + steps->len, room);
    steps->len += n > 0 ? (size_t)n : 0;
    steps->drained = n <= 0 && errno != EINTR;
}

const char *steps_line(const struct steps *steps, size_t *len) {
    if (steps->at == steps->len) {
        return NULL;
    }
    const char *line = steps->data + steps->at;
    const char *lf = memchr(line, '\n', steps->len - steps->at);
    *len = lf ? (size_t)(lf - line) + 1 : 0;
    return lf ? line : NULL;
}

void steps_taken(struct steps *steps, size_t len) {
    steps->at += len;
}

// ---- One command line ---------------------------------------------------------------------------

// The first word without its folder, if it looks like a program's name; otherwise the shell's name.
static struct nvtxt_slice name_of(const char *line, const char *shell) {
    line += strspn(line, " \t@+-(");
    size_t len = strcspn(line, " \t\n;|&");
    for (size_t i = 0; i < len; i++) {
        if (line[i] == '/') {
            line += i + 1;
            len -= i + 1;
            i = (size_t)-1;
        } else if (strchr("='\"$`(){}<>[]", line[i])) {
            len = 0;
        }
    }
    if (len == 0) {
        return nvtxt_slice_of(nvtxt_base_name(shell));
    }
    return (struct nvtxt_slice){line, len};
}

// Writes the range and its process's name, no longer than what a FIFO takes in one piece.
static size_t describe(char text[PIPE_BUF], const struct child *child, char **argv,
                       int64_t begun_ns, int64_t ended_ns) {
    char **last = argv;
    while (last[1]) {
        last++;
    }
    char head[160], tail[16];
    int pid = (int)child->pid;
    snprintf(head, sizeof(head), "SetProcessName,%d,", pid);
    size_t len = textlog_call(text, 512, head, name_of(*last, argv[0]), "");
    snprintf(head, sizeof(head), "RangeStartEnd,%lld,%lld,Manual,%d,%d,0,0x%08x,",
             (long long)begun_ns, (long long)ended_ns, pid, pid, child_color(child));
    snprintf(tail, sizeof(tail), ",%d", child_exit_code(child));
    return len + textlog_call(text + len, PIPE_BUF - len, head, nvtxt_slice_of(*last), tail);
}

// Sends it through the FIFO. When nobody reads there, or not in time, the range is not recorded.
static void send_range(const char *folder, const char *text, size_t len) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%.*s/ends", PATH_MAX - 32, folder);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    int64_t until = nvtxt_monotonic_ms() + STEPS_PATIENCE_MS;
    while (fd >= 0 && write(fd, text, len) < 0 && (errno == EAGAIN || errno == EINTR)) {
        struct pollfd room = {.fd = fd, .events = POLLOUT};
        int64_t left = until - nvtxt_monotonic_ms();
        if (left <= 0 || poll(&room, 1, (int)left) == 0) {
            break;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
}

int steps_run_line(char **argv) {
    struct child child;
    char text[PIPE_BUF];
    int64_t begun_ns = nvtxt_realtime_ns();
    int r = child_start(&child, argv + 1, false);
    if (r != 0) {
        fprintf(stderr, "make: %s: %s\n", argv[1], strerror(r > 0 ? r : -r));
        child_close(&child);
        return 127;
    }
    while (child.running) {
        struct pollfd signals = {.fd = child.signals, .events = POLLIN};
        (void)poll(&signals, 1, -1);
        child_update(&child);
    }
    child_reap(&child); // nobody is to look at it, and we end before its line is taken
    send_range(argv[0], text, describe(text, &child, argv + 1, begun_ns, nvtxt_realtime_ns()));
    child_close(&child);
    child_die_likewise(&child);
    return child_exit_code(&child);
}
