// SPDX-License-Identifier: Apache-2.0
//
// make expands GPATH once, when all makefiles are read, and takes it from its environment, text
// with functions included. So the value can set variables of all targets at a moment when the
// makefile's own SHELL and .SHELLFLAGS are known. It changes neither of these, and expands to what
// GPATH was before. A POSIX shell stays SHELL, which recipes may name, and gets the script instead
// of its flags; we start any other shell ourselves. The value has no quotes, because with .ONESHELL
// make splits .SHELLFLAGS at blanks; so the target, which may hold any byte, goes through the
// environment. Two things win over it: a target's own .SHELLFLAGS and a
// makefile's own GPATH. Such lines run, and are not recorded.
#include "client/run/steps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

#define POSIX_SHELLS "sh bash dash ash ksh ksh93 mksh zsh posh yash rbash"

// %1$s: what was in GPATH, %2$s: the folder, %3$s: the session.
static const char value_format[] =
    "%1$s$(if $(wildcard %2$s/step),$(eval $(if $(filter " POSIX_SHELLS
    ",$(notdir $(firstword $(SHELL)))),"
    "%%: .SHELLFLAGS = %2$s/step $$(SHELL) $(.SHELLFLAGS),"
    "%%: .SHELLFLAGS := " STEPS_OPTION " %2$s %3$s $(SHELL) $(.SHELLFLAGS)"
    "$(eval %%: SHELL := %2$s/nvtxt-send)))$(eval %%: export " STEPS_TARGET " = $$@))";

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

static int write_script(const struct steps *steps, const char *path, const char *session) {
    FILE *file = fopen(path, "wxe");
    if (!file) {
        return nvtxt_origin(-errno);
    }
    fprintf(file, "exec %s/nvtxt-send " STEPS_OPTION " %s %s \"$@\"\n", steps->folder,
            steps->folder, session);
    bool good = !ferror(file);
    return fclose(file) == 0 && good ? 0 : nvtxt_origin(-EIO);
}

static int make_files(struct steps *steps, const char *session) {
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
    int r = write_script(steps, path, session);
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

static int set_variable(const struct steps *steps, const char *session) {
    const char *before = getenv("GPATH");
    char *value;
    if (asprintf(&value, value_format, before ?: "", steps->folder, session) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    int r = setenv("GPATH", value, 1) == 0 ? 0 : nvtxt_origin(-errno);
    free(value);
    return r;
}

enum outcome steps_begin(struct steps *steps, const char *session, struct term *term) {
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
    int r = steps->data ? make_files(steps, session) : nvtxt_origin(-ENOMEM);
    r = r ?: set_variable(steps, session);
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
