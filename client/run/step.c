// SPDX-License-Identifier: Apache-2.0
//
// One command line of make: started in the place of the shell, which runs as our child. At its end
// the lines of its range go into the FIFO in one write, so they are never longer than PIPE_BUF.
// The command in the JSON is cut until they fit; if that is not enough, the JSON is left out.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/run/child.h"
#include "client/run/step_name.h"
#include "client/run/steps.h"
#include "client/text/textlog.h"
#include "protocol/base/clock.h"
#include "protocol/base/json.h"
#include "protocol/base/origin.h"
#include "protocol/base/utf8.h"
#include "protocol/wire/hello.h"

#define TARGET_BYTES 400    // of the JSON, for a target
#define DIRECTORY_BYTES 600 // ... and for a folder, whose end counts

struct step {
    const char *folder, *session;
    char **shell; // SHELL FLAGS... LINE
    const char *line;
    char target[PATH_MAX], directory[PATH_MAX];
    struct nvtxt_keyed keyed;
    struct child child;
    int64_t begun_ns, ended_ns;
};

// ---- Its lines ----------------------------------------------------------------------------------

// A text that is valid JSON, at most `most` bytes of it; of a long one the end when `tail` is set.
static void add_text(struct nvtxt_buf *out, const char *before, const char *text, size_t most,
                     bool tail) {
    char shown[NVTXT_UTF8_GROWTH * PIPE_BUF + 8];
    struct nvtxt_slice whole = nvtxt_slice_of(text), part = nvtxt_slice_cut(whole, most);
    bool is_cut = part.len < whole.len;
    if (tail && is_cut) {
        part.data = whole.data + (whole.len - part.len);
    }
    size_t len = is_cut && tail ? strlen("…") : 0;
    memcpy(shown, "…", len);
    len += nvtxt_utf8_repair(shown + len, part);
    if (is_cut && !tail) {
        memcpy(shown + len, "…", strlen("…"));
        len += strlen("…");
    }
    nvtxt_buf_add_string(out, before);
    nvtxt_buf_add_json_string(out, (struct nvtxt_slice){shown, len});
}

// The variable Json for the range. Between its quotes only quotes and backslashes are escaped.
static void add_variable(struct nvtxt_buf *out, const struct nvtxt_buf *json) {
    nvtxt_buf_add_string(out, "Json=\"");
    for (size_t i = 0; i < json->len; i++) {
        bool escaped = json->data[i] == '"' || json->data[i] == '\\';
        nvtxt_buf_add(out, "\\", escaped);
        nvtxt_buf_add(out, json->data + i, 1);
    }
    nvtxt_buf_add_string(out, "\"\n");
}

static void add_json(struct nvtxt_buf *out, const struct step *step, size_t command_bytes) {
    struct nvtxt_buf json = {0};
    add_text(&json, "{\"command\":", step->line, command_bytes, false);
    if (*step->target) {
        add_text(&json, ",\"target\":", step->target, TARGET_BYTES, false);
    }
    if (*step->directory) {
        add_text(&json, ",\"directory\":", step->directory, DIRECTORY_BYTES, true);
    }
    nvtxt_buf_add_pair_int(&json, ",\"status\":", child_exit_code(&step->child));
    nvtxt_buf_add_string(&json, "}");
    add_variable(out, &json);
    out->failed = out->failed || nvtxt_buf_failed(&json);
    nvtxt_buf_deinit(&json);
}

static void add_call(struct nvtxt_buf *out, const char *head, struct nvtxt_slice text,
                     const char *tail) {
    char line[1024];
    nvtxt_buf_add(out, line, textlog_call(line, sizeof(line), head, text, tail));
}

// What stands around the JSON.
static void describe(const struct step *step, struct nvtxt_buf *before, struct nvtxt_buf *after) {
    struct step_line line = {nvtxt_slice_of(step->line), *step->shell, step->target,
                             step->directory};
    struct step_name name;
    char head[160], tail[16];
    int pid = (int)step->child.pid;
    step_name_make(&name, &line);
    snprintf(head, sizeof(head), "SetProcessName,%d,", pid);
    add_call(before, head, nvtxt_slice_cut(name.program, STEP_NAME_BYTES), "");
    nvtxt_keyed_format(after, &step->keyed);
    snprintf(head, sizeof(head), "RangeStartEnd,%lld,%lld,Manual,%d,%d,0,0x%08x,",
             (long long)step->begun_ns, (long long)step->ended_ns, pid, pid,
             child_color(&step->child));
    snprintf(tail, sizeof(tail), ",%d", child_exit_code(&step->child));
    add_call(after, head, nvtxt_slice_of(name.text), tail);
    nvtxt_buf_add_string(after, "Json=\"\"\n");
}

// All lines of the range, at most PIPE_BUF bytes. The command is cut until they fit.
static void make_lines(const struct step *step, struct nvtxt_buf *lines) {
    struct nvtxt_buf after = {0};
    describe(step, lines, &after);
    size_t head = lines->len, command = nvtxt_min(strlen(step->line), PIPE_BUF);
    add_json(lines, step, command);
    while (lines->len + after.len > PIPE_BUF && command > 0) {
        size_t over = lines->len + after.len - PIPE_BUF;
        command -= nvtxt_min(command, over / 4 + 8); // a byte may have become four
        lines->len = head;
        add_json(lines, step, command);
    }
    if (lines->len + after.len > PIPE_BUF) {
        lines->len = head; // a folder of bytes that take seven each: the range goes without JSON
    }
    nvtxt_buf_add(lines, after.data, after.len);
    lines->failed = lines->failed || nvtxt_buf_failed(&after);
    nvtxt_buf_deinit(&after);
}

// Sends it through the FIFO. When nobody reads there, or not in time, the range is not recorded.
static void send_lines(const char *folder, const struct nvtxt_buf *lines) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%.*s/ends", PATH_MAX - 32, folder);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    int64_t until = nvtxt_monotonic_ms() + STEPS_PATIENCE_MS;
    while (fd >= 0 && write(fd, lines->data, lines->len) < 0 &&
           (errno == EAGAIN || errno == EINTR)) {
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

static void send_range(const struct step *step) {
    struct nvtxt_buf lines = {0};
    make_lines(step, &lines);
    if (!nvtxt_buf_failed(&lines) && lines.len <= PIPE_BUF) {
        send_lines(step->folder, &lines);
    }
    nvtxt_buf_deinit(&lines);
}

// ---- Its run ------------------------------------------------------------------------------------

// What the line starts has our range as its parent. Where somebody took the variable away, the run
// itself is ours.
static void take_parent(struct step *step) {
    char token[NVTXT_PARENT_BYTES + 1];
    parent_take(step->keyed.parent, NULL);
    if (!*step->keyed.parent) {
        parent_token(step->keyed.parent, step->session, PARENT_RUN);
    }
    snprintf(step->keyed.key, sizeof(step->keyed.key), "%d.%lld", (int)getpid(),
             (long long)step->begun_ns);
    parent_token(token, step->session, step->keyed.key);
    parent_give(token);
}

static void take_place(struct step *step, const char *target) {
    snprintf(step->target, sizeof(step->target), "%s", target);
    (void)unsetenv(STEPS_TARGET);
    if (!getcwd(step->directory, sizeof(step->directory))) {
        step->directory[0] = '\0';
    }
}

static int cannot_start(const struct step *step, int error) {
    fprintf(stderr, "make: %s: %s\n", *step->shell, strerror(error));
    return 127;
}

int steps_run_line(char **argv) {
    static struct step step;
    step = (struct step){.folder = argv[0], .session = argv[1], .shell = argv + 2};
    for (char **word = step.shell; *word; word++) {
        step.line = *word;
    }
    const char *target = getenv(STEPS_TARGET);
    if (!target) { // make's function shell: no job, and its text is read by make
        execvp(*step.shell, step.shell);
        return cannot_start(&step, errno);
    }
    step.begun_ns = nvtxt_realtime_ns();
    take_place(&step, target);
    take_parent(&step);
    struct child *child = &step.child;
    int r = child_start(child, step.shell, false);
    if (r != 0) {
        child_close(child);
        return cannot_start(&step, r > 0 ? r : -r);
    }
    while (child->running) {
        struct pollfd signals = {.fd = child->signals, .events = POLLIN};
        (void)poll(&signals, 1, -1);
        child_update(child);
    }
    step.ended_ns = nvtxt_realtime_ns();
    child_reap(child); // nobody is to look at it, and we end before its line is taken
    send_range(&step);
    child_close(child);
    child_die_likewise(child);
    return child_exit_code(child);
}
