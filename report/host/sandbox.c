// SPDX-License-Identifier: Apache-2.0
//
// Whether bubblewrap works depends on the kernel, on its settings, and on what this program itself
// runs in. So nothing is looked up: it is asked to run a program that does nothing.
//
// Its root is made of what a rule needs: a socket or a file of the host that is elsewhere has no
// name in it. Nothing but /tmp can be written to, also not what bubblewrap made itself.
#include "report/host/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/host/child.h"

#define PROBE_S 10.0
#define LINKS 8 // from a name such as python3 to the program

static bool is_program(const char *path) {
    struct stat stat_;
    return stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode) && access(path, X_OK) == 0;
}

bool report_sandbox_find(const char *name, char path[PATH_MAX]) {
    const char *at = getenv("PATH");
    at = at ?: "/usr/local/bin:/usr/bin:/bin";
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

static void add_words(struct report_command_line *line, const char *const *words) {
    for (; *words; words++) {
        report_sandbox_add(line, *words);
    }
}

// ---- The interpreter ----------------------------------------------------------------------------

void report_sandbox_folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t len = !slash ? strlen(path) : slash == path ? 1 : (size_t)(slash - path);
    len = len < PATH_MAX ? len : PATH_MAX - 1;
    memmove(folder, path, len);
    folder[len] = '\0';
}

static bool is_in(const char *path, const char *folder) {
    size_t len = strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static void add_folder(struct report_interpreter *interpreter, const char *folder) {
    bool is_there = is_in(folder, "/usr") || access(folder, F_OK) != 0;
    for (size_t i = 0; i < interpreter->count; i++) {
        is_there = is_there || strcmp(interpreter->folders[i], folder) == 0;
    }
    if (!is_there && interpreter->count < REPORT_SANDBOX_FOLDERS) {
        snprintf(interpreter->folders[interpreter->count++], PATH_MAX, "%s", folder);
    }
}

// The folder that has bin/python and lib/python: not all of a home folder, or of one at the root.
static void add_prefix(struct report_interpreter *interpreter, const char *program) {
    static const char *const stores[] = {"/nix/store",
                                         "/gnu/store"}; // a library has its own folder
    char programs[PATH_MAX], prefix[PATH_MAX], modules[PATH_MAX + 8];
    const char *home = getenv("HOME");
    report_sandbox_folder_of(program, programs);
    report_sandbox_folder_of(programs, prefix);
    for (size_t i = 0; i < sizeof(stores) / sizeof(stores[0]); i++) {
        if (is_in(program, stores[i])) {
            add_folder(interpreter, stores[i]);
            return;
        }
    }
    if (strchr(prefix + 1, '/') && !(home && strcmp(prefix, home) == 0)) {
        add_folder(interpreter, prefix);
        return;
    }
    if (prefix[1]) {
        add_folder(interpreter, programs);
        snprintf(modules, sizeof(modules), "%s/lib", prefix);
        add_folder(interpreter, modules);
    }
}

// A virtual environment says where the programs are that it was made from.
static void add_environment(struct report_interpreter *interpreter) {
    char path[PATH_MAX + 16], line[PATH_MAX + 64], folder[PATH_MAX];
    report_sandbox_folder_of(interpreter->program, folder);
    report_sandbox_folder_of(folder, folder);
    snprintf(path, sizeof(path), "%s/pyvenv.cfg", folder);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "home = %4095[^\n]", folder) == 1 && folder[0] == '/') {
            snprintf(path, sizeof(path), "%s/python", folder);
            add_prefix(interpreter, path);
        }
    }
    if (file) {
        fclose(file);
    }
}

// Where a link leads, in `path`. False: it is none.
static bool follow_link(char path[PATH_MAX]) {
    char target[PATH_MAX], folder[PATH_MAX];
    ssize_t len = readlink(path, target, sizeof(target) - 1);
    if (len <= 0) {
        return false;
    }
    target[len] = '\0';
    report_sandbox_folder_of(path, folder);
    int made = target[0] == '/' ? snprintf(path, PATH_MAX, "%s", target)
                                : snprintf(path, PATH_MAX, "%s/%s", folder, target);
    return made < PATH_MAX;
}

void report_sandbox_find_interpreter(struct report_interpreter *interpreter, const char *name) {
    char at[PATH_MAX];
    int hops = 0;
    interpreter->count = 0;
    if (!report_sandbox_find(name, interpreter->program)) {
        interpreter->program[0] = '\0';
        return;
    }
    memcpy(at, interpreter->program, sizeof(at));
    do {
        add_prefix(interpreter, at);
    } while (hops++ < LINKS && follow_link(at));
    if (realpath(interpreter->program, at)) {
        add_prefix(interpreter, at);
    }
    add_environment(interpreter);
}

// ---- The command line ---------------------------------------------------------------------------

// The system's programs and libraries. Where they are all in /usr, the others are links to there.
static void add_system(struct report_command_line *line) {
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
    static const char *const targets[] = {"usr/bin",   "usr/sbin",  "usr/lib",
                                          "usr/lib32", "usr/lib64", "usr/libx32"};
    // What the loader looks things up in, the links of alternatives, and the local time.
    static const char *const files[] = {"/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"};
    struct stat stat_;
    add_words(line, (const char *const[]){"--ro-bind", "/usr", "/usr", NULL});
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (lstat(folders[i], &stat_) == 0) {
            report_sandbox_add(line, S_ISLNK(stat_.st_mode) ? "--symlink" : "--ro-bind");
            report_sandbox_add(line, S_ISLNK(stat_.st_mode) ? targets[i] : folders[i]);
            report_sandbox_add(line, folders[i]);
        }
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        add_words(line, (const char *const[]){"--ro-bind-try", files[i], files[i], NULL});
    }
}

void report_sandbox_begin(struct report_command_line *line, const char *bubblewrap,
                          const char *const *folders) {
    static const char *const alone[] = {"--unshare-all",
                                        "--unshare-user",
                                        "--disable-userns",
                                        "--die-with-parent",
                                        "--new-session",
                                        "--cap-drop",
                                        "ALL",
                                        NULL};
    static const char *const own[] = {
        "--dev",   "/dev", "--proc", "/proc",
        "--perms", "1777", "--size", REPORT_SANDBOX_TEXT(REPORT_SANDBOX_TMP),
        "--tmpfs", "/tmp", NULL};
    static const char *const closed[] = {"--remount-ro", "/dev", "--remount-ro", "/proc",
                                         "--remount-ro", "/",    "--chdir",      "/",
                                         "--",           NULL};
    report_sandbox_add(line, bubblewrap);
    add_words(line, alone);
    if (report_refused_calls_exist()) {
        add_words(line, (const char *const[]){"--seccomp", REPORT_SANDBOX_TEXT(REPORT_CHILD_FILTER),
                                              NULL});
    }
    add_system(line);
    add_words(line, own);
    for (; *folders; folders++) {
        if ((*folders)[1]) { // not all there is
            add_words(line, (const char *const[]){"--ro-bind-try", *folders, *folders, NULL});
        }
    }
    add_words(line, closed); // a folder may be in /dev/shm
}

// ---- Whether it starts --------------------------------------------------------------------------

// The last line that it printed, or what became of it.
static void say_why(const struct report_child *child, char reason[REPORT_SANDBOX_REASON]) {
    const char *text = child->output.data;
    size_t len = child->output.len, at;
    while (len > 0 && text[len - 1] == '\n') {
        len--;
    }
    for (at = len; at > 0 && text[at - 1] != '\n'; at--) {
    }
    int most = REPORT_SANDBOX_REASON - 64, size = (int)(len - at) < most ? (int)(len - at) : most;
    if (len > 0) {
        snprintf(reason, REPORT_SANDBOX_REASON, "bubblewrap does not start: %.*s", size, text + at);
    } else if (!child->ended) {
        snprintf(reason, REPORT_SANDBOX_REASON, "bubblewrap does not start within %g s", PROBE_S);
    } else {
        snprintf(reason, REPORT_SANDBOX_REASON, "bubblewrap does not start: status %d, signal %d",
                 child->status, child->signal);
    }
}

bool report_sandbox_starts(const char *bubblewrap, char reason[REPORT_SANDBOX_REASON]) {
    struct report_command_line line = {.count = 0};
    struct report_child child;
    char folder[PATH_MAX];
    int events = 0;
    report_sandbox_folder_of(bubblewrap, folder);
    const char *const folders[] = {folder, NULL}, *const none[] = {NULL};
    report_sandbox_begin(&line, bubblewrap, none);
    report_sandbox_add(&line, "/bin/true");
    const struct report_child_wish wish = {.argv = line.words,
                                           .folders = folders,
                                           .confined = true,
                                           .timeout_s = PROBE_S,
                                           .interrupt_fd = -1};
    int r = report_child_start(&child, &wish);
    while (r == 0 && events >= 0 && !(events & (REPORT_CHILD_ENDED | REPORT_CHILD_LATE))) {
        events = report_child_wait(&child, false, false);
    }
    report_child_end(&child);
    bool starts = r == 0 && events > 0 && child.ended && child.status == 0 && child.signal == 0;
    if (r < 0) {
        snprintf(reason, REPORT_SANDBOX_REASON, "bubblewrap does not start: %s", strerror(-r));
    } else if (!starts) {
        say_why(&child, reason);
    }
    nvtxt_buf_deinit(&child.output);
    return starts;
}
