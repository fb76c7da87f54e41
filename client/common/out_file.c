// SPDX-License-Identifier: Apache-2.0
//
// The rename itself refuses to replace, so that of two imports into one name only one wins. A file
// system that cannot do that gets a link and an unlink.
#include "client/common/out_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/common/term.h"
#include "protocol/base/origin.h"

static const char *const companions[] = {"-wal", "-shm", "-journal"};
#define COMPANIONS (sizeof(companions) / sizeof(companions[0]))

// Writes the folder of `path`, "." for a bare name.
static void folder_of(const char *path, char *folder, size_t size) {
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    if (!slash) {
        snprintf(folder, size, ".");
    } else {
        snprintf(folder, size, "%.*s", len ? (int)len : 1, path);
    }
}

bool out_file_is_database(const char *path) {
    static const char magic[] = "SQLite format 3"; // with its NUL: the first 16 bytes
    char begin[sizeof(magic)];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, begin, sizeof(begin));
    if (fd >= 0) {
        close(fd);
    }
    return n == 0 || (n == (ssize_t)sizeof(begin) && memcmp(begin, magic, sizeof(magic)) == 0);
}

static enum outcome check_place(struct out_file *out, struct term *term) {
    struct stat status;
    char beside[PATH_MAX + 16];
    if (lstat(out->path, &status) == 0) {
        out->replace |= S_ISREG(status.st_mode) && status.st_size == 0; // as mktemp(1) leaves it
        if (!out->replace) {
            term_say(term, "%s exists; choose another name, or replace it with --force", out->path);
            return OUTCOME_NO_OUTPUT;
        }
        if (!S_ISREG(status.st_mode) || (status.st_size > 0 && !out_file_is_database(out->path))) {
            term_say(term, "%s is no store; it is not replaced", out->path);
            return OUTCOME_NO_OUTPUT;
        }
    } else if (errno != ENOENT) {
        term_say(term, "cannot create %s: %s", out->path, strerror(errno));
        return OUTCOME_NO_OUTPUT;
    }
    for (size_t i = 0; i < COMPANIONS; i++) {
        snprintf(beside, sizeof(beside), "%s%s", out->path, companions[i]);
        if (lstat(beside, &status) == 0) {
            term_say(term, "%s is there: the store %s is in use, or was left behind by a crash",
                     beside, out->path);
            return OUTCOME_NO_OUTPUT;
        }
    }
    folder_of(out->path, beside, sizeof(beside));
    if (access(beside, W_OK | X_OK) != 0) {
        term_say(term, "cannot create %s: %s: %s", out->path, beside, strerror(errno));
        return OUTCOME_NO_OUTPUT;
    }
    return 0;
}

#define PART ".part-"
#define PART_DIGITS 8

bool out_file_name_temp(char temp[PATH_MAX], const char *path) {
    uint32_t random = (uint32_t)getpid();
    (void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
    bool fits = snprintf(temp, PATH_MAX, "%s" PART "%0*x", path, PART_DIGITS, random) < PATH_MAX;
    temp[0] = fits ? temp[0] : '\0';
    return fits;
}

// A link at the end is replaced or refused, not followed.
static bool leads_astray(const char *path, char link[PATH_MAX]) {
    char folder[PATH_MAX + 8];
    int fd;
    folder_of(path, folder, PATH_MAX);
    strcat(folder, "/.");
    return out_file_resolve(folder, link, &fd) == OUT_FILE_STRANGER;
}

enum outcome out_file_init(struct out_file *out, struct term *term, const char *path,
                           bool replace) {
    char link[PATH_MAX];
    *out = (struct out_file){.path = path, .replace = replace};
    if (!*path || strlen(path) + 32 > sizeof(out->temp)) {
        term_say(term, "'%s' cannot be a file's name", path);
        return OUTCOME_USAGE;
    }
    if (leads_astray(path, link)) {
        return out_file_refuse_link(term, path, link);
    }
    enum outcome r = check_place(out, term);
    if (r == 0) {
        (void)out_file_name_temp(out->temp, path);
    }
    return r;
}

static int sync_path(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        return nvtxt_origin(-errno);
    }
    int r = fsync(fd) == 0 || errno == EINVAL ? 0 : nvtxt_origin(-errno);
    close(fd);
    return r;
}

static int move(const struct out_file *out) {
    if (out->replace) {
        return rename(out->temp, out->path) == 0 ? 0 : nvtxt_origin(-errno);
    }
    if (renameat2(AT_FDCWD, out->temp, AT_FDCWD, out->path, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return nvtxt_origin(-errno);
    }
    if (link(out->temp, out->path) != 0) {
        return nvtxt_origin(-errno);
    }
    (void)unlink(out->temp);
    return 0;
}

void out_file_sync_name(const char *path) {
    char folder[PATH_MAX];
    folder_of(path, folder, sizeof(folder));
    (void)sync_path(folder, O_RDONLY | O_DIRECTORY);
}

enum outcome out_file_publish(struct out_file *out, struct term *term) {
    int r = sync_path(out->temp, O_RDONLY);
    r = r ?: move(out);
    if (r != 0) {
        term_say(term, "cannot create %s: %s", out->path, strerror(-r));
        out_file_discard(out);
        return OUTCOME_NO_OUTPUT;
    }
    out->temp[0] = '\0';
    out_file_sync_name(out->path);
    return 0;
}

static void unlink_all(const char *temp) {
    char beside[PATH_MAX + 272];
    (void)unlink(temp);
    for (size_t i = 0; i < COMPANIONS; i++) {
        snprintf(beside, sizeof(beside), "%s%s", temp, companions[i]);
        (void)unlink(beside);
    }
}

void out_file_discard(struct out_file *out) {
    if (out->temp[0]) {
        unlink_all(out->temp);
        out->temp[0] = '\0';
    }
}

// ---- Where a name leads -------------------------------------------------------------------------

#define MOST_LINKS 40 // as many as the kernel follows

struct way {
    char done[PATH_MAX]; // without a link; empty: the working folder
    char rest[PATH_MAX];
};

// Moves a name from `rest` to `done`. False: there is none, or no room.
static bool take_name(struct way *way, size_t *before) {
    char *name = way->rest + strspn(way->rest, "/");
    size_t len = strcspn(name, "/");
    *before = strlen(way->done);
    if (len == 0) {
        return false;
    }
    const char *slash = *before > 0 && way->done[*before - 1] != '/' ? "/" : "";
    int size = (int)(sizeof(way->done) - *before);
    if (snprintf(way->done + *before, (size_t)size, "%s%.*s", slash, (int)len, name) >= size) {
        return false;
    }
    memmove(way->rest, name + len, strlen(name + len) + 1);
    return true;
}

// Root, where that is another number in a user namespace: the owner of the root folder.
static bool is_trusted(uid_t uid) {
    struct stat root;
    return uid == geteuid() || uid == 0 || (stat("/", &root) == 0 && root.st_uid == uid);
}

static bool is_of_stranger(const struct stat *link, const char *folder) {
    struct stat status;
    return !is_trusted(link->st_uid) &&
           (stat(folder, &status) != 0 || status.st_mode & (S_IWGRP | S_IWOTH) ||
            !is_trusted(status.st_uid));
}

// The number of a descriptor of this process, if `path` is its name below /proc; else -1.
static int descriptor_of(const char *path) {
    char own[64];
    int fd, end = 0;
    int len = snprintf(own, sizeof(own), "/proc/%d/fd/", (int)getpid());
    bool is_own = strncmp(path, own, (size_t)len) == 0 && path[len] >= '0' && path[len] <= '9' &&
                  sscanf(path + len, "%d%n", &fd, &end) == 1 && !path[len + end];
    return is_own ? fd : -1;
}

// Puts where the link `done` leads before the rest.
static int follow_link(struct way *way, size_t before) {
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t len = readlink(way->done, target, sizeof(target) - 1);
    if (len < 0) {
        return nvtxt_origin(-errno);
    }
    target[len] = '\0';
    strcpy(rest, way->rest);
    if (snprintf(way->rest, sizeof(way->rest), "%s%s", target, rest) >= (int)sizeof(way->rest)) {
        return nvtxt_origin(-ENAMETOOLONG);
    }
    way->done[target[0] == '/' ? 0 : before] = '\0';
    if (target[0] == '/') {
        strcpy(way->done, "/");
    }
    return 0;
}

// A step to the next name. Returns 0, AT_THE_END, or as out_file_resolve().
enum { AT_THE_END = OUT_FILE_OPEN + 1 };
static int step(struct way *way, int *links, int *fd) {
    struct stat status;
    char folder[PATH_MAX];
    size_t before;
    if (!take_name(way, &before)) {
        return way->rest[strspn(way->rest, "/")] ? nvtxt_origin(-ENAMETOOLONG) : AT_THE_END;
    }
    if (lstat(way->done, &status) != 0) {
        return errno == ENOENT && !way->rest[0] ? AT_THE_END : nvtxt_origin(-errno);
    }
    if (!S_ISLNK(status.st_mode)) {
        return 0;
    }
    *fd = way->rest[0] ? -1 : descriptor_of(way->done);
    if (*fd >= 0) {
        return OUT_FILE_OPEN;
    }
    snprintf(folder, sizeof(folder), "%.*s", before ? (int)before : 1, before ? way->done : ".");
    if (is_of_stranger(&status, folder)) {
        return OUT_FILE_STRANGER;
    }
    return ++*links > MOST_LINKS ? nvtxt_origin(-ELOOP) : follow_link(way, before);
}

int out_file_resolve(const char *name, char path[PATH_MAX], int *fd) {
    struct way way = {.done = ""};
    int links = 0, result = strlen(name) < PATH_MAX ? 0 : nvtxt_origin(-ENAMETOOLONG);
    if (result == 0) {
        strcpy(way.rest, name);
        strcpy(way.done, name[0] == '/' ? "/" : "");
    }
    while (result == 0) {
        result = step(&way, &links, fd);
    }
    strcpy(path, way.done);
    return result == AT_THE_END ? 0 : result;
}

enum outcome out_file_refuse_link(struct term *term, const char *name, const char *link) {
    struct stat status;
    unsigned uid = lstat(link, &status) == 0 ? (unsigned)status.st_uid : 0;
    term_say(term,
             "cannot create %s: %s is a link of another user (%u) in a folder that others may "
             "write to: it is not followed",
             name, link, uid);
    return OUTCOME_NO_OUTPUT;
}

// ---- What killed programs left ------------------------------------------------------------------

int out_file_hold(const struct out_file *out) {
    int fd = open(out->temp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
        (void)flock(fd, LOCK_SH | LOCK_NB); // where that does not work its age protects it
    }
    return fd;
}

// A temporary file is young between the moment it is made and the moment it is held.
static bool is_left(const char *temp) {
    struct stat status;
    int fd = open(temp, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool left = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_mtime < time(NULL) - OUT_FILE_LEFT_S && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return left;
}

// True for the name of `base`, ".part-" and the digits.
static bool is_part_of(const char *name, const char *base) {
    size_t len = strlen(base);
    const char *digits = name + len + sizeof(PART) - 1;
    return strlen(name) == len + sizeof(PART) - 1 + PART_DIGITS && memcmp(name, base, len) == 0 &&
           memcmp(name + len, PART, sizeof(PART) - 1) == 0 &&
           strspn(digits, "0123456789abcdef") == PART_DIGITS;
}

uint32_t out_file_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~(uint32_t)mask;
}

void out_file_sweep(const struct out_file *out) {
    char folder[PATH_MAX];
    char temp[PATH_MAX + 256];
    folder_of(out->path, folder, sizeof(folder));
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(temp, sizeof(temp), "%s/%s", folder, entry->d_name);
        if (is_part_of(entry->d_name, nvtxt_base_name(out->path)) && is_left(temp)) {
            unlink_all(temp);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
