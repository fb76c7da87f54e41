// SPDX-License-Identifier: Apache-2.0
//
// Whether bubblewrap works depends on the kernel, on its settings, and on what this program itself
// runs in. So nothing is looked up: it is asked to run a program that does nothing.
#include "report/host/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/host/child.h"

#define PROBE_S 10.0

static bool is_program(const char *path) {
    struct stat stat_;
    return stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode) && access(path, X_OK) == 0;
}

bool report_sandbox_find(const char *name, char path[PATH_MAX]) {
    const char *at = getenv("PATH");
    at = at ? at : "/usr/local/bin:/usr/bin:/bin";
    if (strchr(name, '/')) {
        // The process starts in another folder.
        return realpath(name, path) && is_program(name) &&
               (name[0] != '/' || snprintf(path, PATH_MAX, "%s", name) < PATH_MAX);
    }
    while (*name) {
        size_t len = strcspn(at, ":");
        int made = snprintf(path, PATH_MAX, "%.*s/%s", (int)len, at, name);
        if (len > 0 && at[0] == '/' && made < PATH_MAX && is_program(path)) {
            return true;
        }
        if (!at[len]) {
            break;
        }
        at += len + 1;
    }
    return false;
}

void report_sandbox_add(struct report_command_line *line, const char *word) {
    if (line->count + 1 < REPORT_SANDBOX_WORDS) {
        line->words[line->count++] = word;
    }
}

void report_sandbox_begin(struct report_command_line *line, const char *bubblewrap) {
    static const char *const words[] = {
        "--ro-bind",        "/",     "/",       "--dev", "/dev",
        "--proc",           "/proc", "--tmpfs", "/tmp",  "--unshare-all",
        "--die-with-parent"};
    report_sandbox_add(line, bubblewrap);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        report_sandbox_add(line, words[i]);
    }
}

void report_sandbox_show(struct report_command_line *line, const char *folder) {
    if (strcmp(folder, "/tmp") == 0 || strncmp(folder, "/tmp/", 5) == 0) {
        report_sandbox_add(line, "--ro-bind");
        report_sandbox_add(line, folder);
        report_sandbox_add(line, folder);
    }
}

bool report_sandbox_starts(const char *bubblewrap) {
    struct report_command_line line = {.count = 0};
    struct report_child child;
    int events = 0;
    report_sandbox_begin(&line, bubblewrap);
    report_sandbox_add(&line, "--");
    report_sandbox_add(&line, "/bin/true");
    int result = report_child_start(&child, line.words, PROBE_S, -1);
    while (result == 0 && events >= 0 && !(events & (REPORT_CHILD_ENDED | REPORT_CHILD_LATE))) {
        events = report_child_wait(&child, false, false);
    }
    report_child_end(&child);
    nvtxt_buf_deinit(&child.output);
    return result == 0 && events > 0 && child.ended && child.status == 0 && child.signal == 0;
}
