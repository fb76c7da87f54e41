// SPDX-License-Identifier: Apache-2.0
//
// A folder is listed whole, sorted by name, then its files are taken and, where that was asked for,
// its folders gone into. Folders are known by device and inode, so none is read twice: not when two
// parts of the path name it, and not through a link to a folder above.
//
// The package's own folder is $NVTXT_REPORT_DATA if that is set (for tests); in a build tree the
// one of the tree, which lies beside the folder of the program; else the installed one.
#include "report/text/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "report/text/lexer.h"

struct visited {
    dev_t device;
    ino_t inode;
};

struct walk {
    char path[PATH_MAX]; // of the folder, and of its entry: one for all folders in each other
    struct report_files *files;
    struct visited *visited; // owned
    size_t visited_count;
    bool builtin, recursive, kernels;
};

void report_files_deinit(struct report_files *files) {
    free(files->files);
    store_arena_deinit(&files->arena);
    *files = (struct report_files){0};
}

static bool ends_with(const char *text, const char *end) {
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcmp(text + len - end_len, end) == 0;
}

bool report_file_is(const struct report_file *file, const char *extension) {
    return ends_with(file->path, extension);
}

const char *report_file_shown(const struct report_file *file) {
    return file->builtin ? "(built in)" : file->path;
}

static int add_file(struct walk *walk, const char *path) {
    struct report_files *files = walk->files;
    int r = nvtxt_grow(&files->files, &files->room, files->count + 1, sizeof(*files->files));
    if (r < 0) {
        return r;
    }
    const char *copy = store_arena_copy(&files->arena, path, strlen(path));
    files->files[files->count] = (struct report_file){.path = copy, .builtin = walk->builtin};
    files->count += copy != NULL;
    return copy ? 0 : nvtxt_origin(-ENOMEM);
}

// 1: it was there before.
static int visit(struct walk *walk, const struct stat *stat) {
    for (size_t i = 0; i < walk->visited_count; i++) {
        if (walk->visited[i].device == stat->st_dev && walk->visited[i].inode == stat->st_ino) {
            return 1;
        }
    }
    struct visited *visited = nvtxt_add(&walk->visited, &walk->visited_count, sizeof(*visited));
    if (!visited) {
        return nvtxt_origin(-ENOMEM);
    }
    *visited = (struct visited){stat->st_dev, stat->st_ino};
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool is_ours(const char *name) {
    return ends_with(name, ".section") || ends_with(name, ".rule") || ends_with(name, ".py");
}

static int walk_here(struct walk *walk);

// Files first (`folders` false), then folders.
static int walk_entry(struct walk *walk, const char *name, bool folders) {
    size_t end = strlen(walk->path), room = sizeof(walk->path) - end;
    struct stat stat_;
    int r = 0, len = snprintf(walk->path + end, room, "/%s", name);
    if (len >= 0 && (size_t)len < room && stat(walk->path, &stat_) == 0) {
        if (folders) {
            r = S_ISDIR(stat_.st_mode) ? walk_here(walk) : 0;
        } else if (S_ISREG(stat_.st_mode) && is_ours(name)) {
            r = add_file(walk, walk->path);
        }
    }
    walk->path[end] = '\0';
    return r < 0 ? r : 0;
}

// The folder of walk->path. NVTXT_WRONG: it cannot be read.
static int walk_here(struct walk *walk) {
    struct stat stat_;
    struct dirent **entries;
    if (stat(walk->path, &stat_) != 0) {
        return errno == ENOMEM ? nvtxt_origin(-ENOMEM) : NVTXT_WRONG;
    }
    int r = visit(walk, &stat_);
    if (r != 0) {
        return r < 0 ? r : 0;
    }
    int count = scandir(walk->path, &entries, is_shown, by_name);
    if (count < 0) {
        return errno == ENOMEM ? nvtxt_origin(-ENOMEM) : NVTXT_WRONG;
    }
    for (int pass = 0; pass < 1 + walk->recursive; pass++) {
        for (int i = 0; i < count && r == 0; i++) {
            r = walk_entry(walk, entries[i]->d_name, pass == 1);
        }
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    return r;
}

// NVTXT_WRONG: it cannot be read.
static int walk_folder(struct walk *walk, const char *path) {
    size_t len = strlen(path);
    if (len >= sizeof(walk->path)) {
        errno = ENAMETOOLONG;
        return NVTXT_WRONG;
    }
    memcpy(walk->path, path, len + 1);
    return walk_here(walk);
}

static bool has_sections(const char *folder) {
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/sections", folder);
    return len > 0 && (size_t)len < sizeof(path) && access(path, R_OK | X_OK) == 0;
}

// The folder that lies beside that of the program, in `path`.
static bool beside_program(char *path, const char *name) {
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 64);
    if (len <= 0) {
        return false;
    }
    path[len] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) {
            return false;
        }
        *slash = '\0';
    }
    strcat(path, name);
    return has_sections(path);
}

static const char *package_folder(char *path) {
    const char *given = getenv("NVTXT_REPORT_DATA");
    if (given && *given) {
        return given;
    }
    if (beside_program(path, "/report")) {
        return path;
    }
    return has_sections(NVTXT_PKGDATADIR) || !beside_program(path, "/share/nvtxtd")
               ? NVTXT_PKGDATADIR
               : path;
}

void report_files_package(const char *name, char *path) {
    char room[PATH_MAX];
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 64, package_folder(room), name);
}

static int walk_package(struct walk *walk) {
    static const char *const of_events[] = {"sections", "rules", NULL};
    static const char *const of_kernels[] = {"kernels", NULL};
    const char *const *names = walk->kernels ? of_kernels : of_events;
    char room[PATH_MAX], path[PATH_MAX];
    const char *folder = package_folder(room);
    walk->builtin = true;
    int r = 0;
    for (; *names && r >= 0; names++) {
        int len = snprintf(path, sizeof(path), "%s/%s", folder, *names);
        r = len < 0 || (size_t)len >= sizeof(path) ? 0 : walk_folder(walk, path);
    }
    walk->builtin = false;
    return r < 0 ? r : 0;
}

// A colon list; empty parts do not count.
static int walk_list(struct walk *walk, const char *list) {
    char path[PATH_MAX];
    int r = 0;
    while (r >= 0 && *list) {
        size_t len = strcspn(list, ":");
        if (len > 0 && len < sizeof(path)) {
            memcpy(path, list, len);
            path[len] = '\0';
            r = walk_folder(walk, path);
        }
        list += len + (list[len] == ':');
    }
    return r < 0 ? r : 0;
}

static int walk_configuration(struct walk *walk) {
    char path[PATH_MAX];
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int len = 0;
    if (config && config[0] == '/') {
        len = snprintf(path, sizeof(path), "%s/nvtxt/sections", config);
    } else if (home && home[0] == '/') {
        len = snprintf(path, sizeof(path), "%s/.config/nvtxt/sections", home);
    }
    int r = len > 0 && (size_t)len < sizeof(path) ? walk_folder(walk, path) : 0;
    if (r >= 0) {
        r = walk_folder(walk, NVTXT_SYSCONFDIR "/nvtxt/sections");
    }
    return r;
}

static int walk_search_path(struct walk *walk) {
    const char *list = getenv("NVTXT_SECTIONS");
    int r = list ? walk_list(walk, list) : 0;
    r = r ?: walk_configuration(walk);
    if (r >= 0) {
        r = walk_package(walk);
    }
    return r;
}

int report_files_find(struct report_files *files, const struct report_search_folder *folders,
                      size_t count, bool kernels, const char **missing) {
    struct walk walk = {.files = files, .kernels = kernels};
    *files = (struct report_files){0};
    int r = count == 0 ? walk_search_path(&walk) : 0;
    for (size_t i = 0; i < count && r == 0; i++) {
        walk.recursive = folders[i].recursive;
        r = strcmp(folders[i].path, REPORT_FILES_BUILTIN) == 0
                ? walk_package(&walk)
                : walk_folder(&walk, folders[i].path);
        *missing = r > 0 ? folders[i].path : NULL;
    }
    int error = errno;
    free(walk.visited);
    errno = error;
    return r;
}

// ---- What a file says ---------------------------------------------------------------------------

static int read_bytes(int fd, char *data, size_t size, size_t *len) {
    *len = 0;
    while (*len < size) {
        ssize_t n = read(fd, data + *len, size - *len);
        if (n < 0 && errno != EINTR) {
            return nvtxt_origin(-errno);
        }
        if (n == 0) {
            break;
        }
        *len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int say_unreadable(const struct report_file *file, struct report_messages *messages,
                          int error) {
    report_messages_add(messages, file->path, (struct report_place){0}, REPORT_FILE_ERROR,
                        "unreadable", "%s", strerror(error));
    return NVTXT_WRONG;
}

// Opens the file. Returns its descriptor, or -1 with errno.
static int open_file(const struct report_file *file, struct stat *stat) {
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, stat) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        fd = -1;
    }
    return fd;
}

// Takes the descriptor.
static int read_file(const struct report_file *file, int fd, const struct stat *stat,
                     struct store_arena *arena, struct nvtxt_slice *text,
                     struct report_messages *messages) {
    // One byte more than a file may have, so that a larger one is told.
    size_t size =
        stat->st_size > (off_t)REPORT_TEXT_MAX ? REPORT_TEXT_MAX + 1 : (size_t)stat->st_size;
    char *data = store_arena_take(arena, size + 1, 1);
    int r = data ? read_bytes(fd, data, size, &text->len) : nvtxt_origin(-ENOMEM);
    close(fd);
    if (r < 0) {
        return data ? say_unreadable(file, messages, -r) : r;
    }
    data[text->len] = '\0';
    text->data = data;
    return 0;
}

int report_file_read(const struct report_file *file, struct store_arena *arena,
                     struct nvtxt_slice *text, struct report_messages *messages) {
    struct stat stat;
    int fd = open_file(file, &stat);
    return fd < 0 ? say_unreadable(file, messages, errno)
                  : read_file(file, fd, &stat, arena, text, messages);
}

// ---- Who may change a file ----------------------------------------------------------------------

static bool is_owned(const struct stat *stat) {
    return stat->st_uid == 0 || stat->st_uid == geteuid();
}

static bool is_safe(const struct stat *stat) {
    return (stat->st_mode & (S_IWGRP | S_IWOTH)) == 0 && is_owned(stat);
}

// The first folder on the way to a real path that others may change. In a sticky one nobody else
// can put another thing in the place of the next folder; but it is not where a rule may lie, since
// others could add to what it imports.
static bool has_unsafe_folder(const char *real, char folder[PATH_MAX]) {
    struct stat stat;
    for (const char *next, *slash = real; slash; slash = next) {
        size_t len = slash == real ? 1 : (size_t)(slash - real);
        next = strchr(slash + 1, '/');
        memcpy(folder, real, len);
        folder[len] = '\0';
        if (lstat(folder, &stat) != 0 ||
            !(is_safe(&stat) || (next && stat.st_mode & S_ISVTX && is_owned(&stat)))) {
            return true;
        }
    }
    return false;
}

// The folder that has the file, or the link to it.
static bool find_listed(const struct report_file *file, char real[PATH_MAX]) {
    char folder[PATH_MAX];
    const char *name = strrchr(file->path, '/');
    int len = snprintf(folder, sizeof(folder), "%.*s/.", (int)(name - file->path), file->path);
    if (len >= PATH_MAX || !realpath(folder, real) || strlen(real) + 3 > PATH_MAX) {
        return false;
    }
    strcat(real, real[1] ? "/." : ".");
    return true;
}

static bool is_same(const char *path, const struct stat *opened) {
    struct stat stat_;
    return lstat(path, &stat_) == 0 && stat_.st_dev == opened->st_dev &&
           stat_.st_ino == opened->st_ino;
}

// What was opened is what is at its real path. Nobody else can change that if all folders on the
// way there are safe, so they are looked at after it was opened.
static bool is_all_safe(const struct report_file *file, const struct stat *opened,
                        char real[PATH_MAX], char folder[PATH_MAX]) {
    folder[0] = '\0';
    return S_ISREG(opened->st_mode) && is_safe(opened) && find_listed(file, real) &&
           !has_unsafe_folder(real, folder) && realpath(file->path, real) &&
           !has_unsafe_folder(real, folder) && is_same(real, opened);
}

static int say_unsafe(const struct report_file *file, const char *folder, const char *real,
                      struct report_messages *messages) {
    size_t len = strlen(folder);
    bool is_above = len > 0 && strchr(real + len + (len > 1), '/');
    report_messages_add(messages, file->path, REPORT_FILE_BEGIN, REPORT_FILE_ERROR, "unsafe-folder",
                        is_above ? "others may write to %s, a folder above it"
                                 : "others may write to this file or its folder",
                        folder);
    return NVTXT_WRONG;
}

int report_file_read_program(const struct report_file *file, struct store_arena *arena,
                             struct report_program_text *text, struct report_messages *messages) {
    char real[PATH_MAX], folder[PATH_MAX];
    struct stat stat;
    int fd = open_file(file, &stat);
    if (fd < 0) {
        return say_unreadable(file, messages, errno);
    }
    if (!is_all_safe(file, &stat, real, folder)) {
        close(fd);
        return say_unsafe(file, folder, real, messages);
    }
    int r = read_file(file, fd, &stat, arena, &text->bytes, messages);
    if (r == 0 && text->bytes.len > REPORT_TEXT_MAX) {
        return say_unreadable(file, messages, EFBIG);
    }
    text->real = r == 0 ? store_arena_copy(arena, real, strlen(real)) : NULL;
    return r == 0 && !text->real ? nvtxt_origin(-ENOMEM) : r;
}

// ---- Messages -----------------------------------------------------------------------------------

// A message borrows the path of its file, so the pointers tell which file it is.
static bool is_of(const struct report_files *files, const char *path) {
    for (size_t i = 0; i < files->count; i++) {
        if (files->files[i].path == path) {
            return true;
        }
    }
    return false;
}

int report_files_sort_messages(const struct report_files *files, struct report_messages *messages) {
    struct report_file_message *sorted = calloc(messages->room + 1, sizeof(*sorted));
    size_t count = 0;
    if (!sorted) {
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < messages->count; i++) {
        if (!is_of(files, messages->items[i].file)) {
            sorted[count++] = messages->items[i];
        }
    }
    for (size_t i = 0; i < files->count && count < messages->count; i++) {
        for (size_t j = 0; j < messages->count; j++) {
            if (messages->items[j].file == files->files[i].path) {
                sorted[count++] = messages->items[j];
            }
        }
    }
    free(messages->items);
    messages->items = sorted;
    return 0;
}
