// SPDX-License-Identifier: Apache-2.0
//
// The library is looked for beside the program, where a build that is not installed has it, and
// then where `make install` puts it. Paths become absolute, because the command may change its
// folder. A private folder is made where files are memory, so that to record costs no disk.
#include "client/nvtx/nvtx_run.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "client/common/input.h"
#include "protocol/base/origin.h"

#define INJECTION "NVTX_INJECTION64_PATH"
#define LIBRARY "libnvtxt-inject.so"
#define FOLDER "nvtxt-run-XXXXXX"

// ---- Paths --------------------------------------------------------------------------------------

// Returns false when it would be too long.
static bool make_absolute(const char *path, char out[PATH_MAX]) {
    char here[PATH_MAX];
    if (*path == '/') {
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    }
    return getcwd(here, sizeof(here)) &&
           snprintf(out, PATH_MAX, "%s/%s", strcmp(here, "/") == 0 ? "" : here, path) < PATH_MAX;
}

// "FOLDER_OF_THIS_PROGRAM/../inject/.libs/LIBRARY", when it is there.
static bool find_in_build(char out[PATH_MAX]) {
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    char path[PATH_MAX];
    int n = snprintf(path, PATH_MAX, "%s/../inject/.libs/" LIBRARY, program);
    return n < PATH_MAX && realpath(path, out) && access(out, R_OK) == 0;
}

bool nvtx_run_find(struct nvtx_run *run, const char *socket, const char *spool, struct term *term) {
    *run = (struct nvtx_run){.is_private = !spool};
    const char *before = getenv(INJECTION);
    if (!find_in_build(run->library)) {
        snprintf(run->library, sizeof(run->library), "%s/" LIBRARY, NVTXT_LIBDIR);
    }
    if (before && *before && !input_is_same(before, run->library)) {
        snprintf(run->chain, sizeof(run->chain), "%s", before);
    }
    if (socket && !make_absolute(socket, run->socket)) {
        run->socket[0] = '\0';
    }
    if (spool && !make_absolute(spool, run->folder)) {
        run->folder[0] = '\0';
    }
    if (access(run->library, R_OK) != 0) {
        term_say(term, "%s: %s: NVTX calls are not recorded", run->library, strerror(errno));
        run->library[0] = run->chain[0] = '\0';
    }
    return *run->library;
}

// ---- Folder -------------------------------------------------------------------------------------

// A folder of our own in `where`, if files are memory there.
static bool make_private(const char *where, char out[PATH_MAX]) {
    struct statfs system;
    int n = snprintf(out, PATH_MAX, "%s/" FOLDER, where);
    bool made =
        n < PATH_MAX && statfs(where, &system) == 0 && system.f_type == TMPFS_MAGIC && mkdtemp(out);
    if (!made) {
        out[0] = '\0';
    }
    return made;
}

void nvtx_run_make_folder(struct nvtx_run *run, struct term *term) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (!run->is_private) {
        if (*run->folder && mkdir(run->folder, 0700) != 0 && errno != EEXIST) {
            term_say(term, "%s: %s: what a killed process had recorded will be lost", run->folder,
                     strerror(errno));
            run->folder[0] = '\0';
        }
        return;
    }
    if ((runtime && *runtime == '/' && make_private(runtime, run->folder)) ||
        make_private("/dev/shm", run->folder)) {
        return;
    }
    term_say(term, "no folder can be made in $XDG_RUNTIME_DIR or /dev/shm: what a killed process "
                   "had recorded will be lost; --spool names another place");
}

bool nvtx_run_leave_folder(struct nvtx_run *run) {
    if (!run->is_private || !*run->folder) {
        return false;
    }
    return rmdir(run->folder) != 0 && errno != ENOENT;
}

// The name without the letters that mkdtemp() chooses.
static bool has_our_name(const char *dir) {
    const size_t len = sizeof(FOLDER) - 1, chosen = sizeof("XXXXXX") - 1;
    size_t end = strlen(dir);
    while (end > 0 && dir[end - 1] == '/') {
        end--;
    }
    const char *name = dir + end - (end < len ? end : len);
    return end >= len && (name == dir || name[-1] == '/') &&
           strncmp(name, FOLDER, len - chosen) == 0;
}

void nvtx_run_remove_left(const char *dir) {
    struct stat status;
    if (has_our_name(dir) && lstat(dir, &status) == 0 && status.st_uid == geteuid()) {
        (void)rmdir(dir); // it may hold files still
    }
}

// ---- Variables ----------------------------------------------------------------------------------

struct variable {
    const char *name, *value;
};

#define VARIABLES 4

static void list(const struct nvtx_run *run, struct variable variables[VARIABLES]) {
    variables[0] = (struct variable){INJECTION, run->library};
    variables[1] = (struct variable){"NVTXT_CHAIN", run->chain};
    variables[2] = (struct variable){"NVTXT_SOCKET", run->socket};
    variables[3] = (struct variable){"NVTXT_SPOOL", run->folder};
}

void nvtx_run_set(const struct nvtx_run *run) {
    struct variable variables[VARIABLES];
    list(run, variables);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (*variables[i].value) {
            (void)setenv(variables[i].name, variables[i].value, 1);
        }
    }
}

// In single quotes, in which only the quote itself means something to a shell.
static void print_quoted(const char *text) {
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            putchar(*text);
        }
    }
    putchar('\'');
}

int nvtx_run_print(const struct nvtx_run *run) {
    struct variable variables[VARIABLES];
    list(run, variables);
    for (size_t i = 0; i < VARIABLES; i++) {
        if (*variables[i].value) {
            printf("export %s=", variables[i].name);
            print_quoted(variables[i].value);
            putchar('\n');
        }
    }
    return fflush(stdout) == 0 ? 0 : nvtxt_origin(-errno);
}
