// SPDX-License-Identifier: Apache-2.0
//
// From fork() to exec of a rule's process. What root starts does not stay root: it becomes another
// user of the kernel's, which owns nothing, before the first program runs. A namespace in which
// root has another name would not do: files and /proc/sys still see root.
//
// That user may not be able to go where the interpreter or the rule is, as in /root. Then the
// process gets mounts of its own: an empty folder over the first one that is closed, and in it, at
// the same path, the one that is needed. A file that only root may read stays so.
#include "report/host/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_ENTRIES 256  // of a folder that is closed itself: each is a mount
#define OUT_OF_THE_WAY 16 // of the descriptors that have a fixed number

// ---- Descriptors and limits ---------------------------------------------------------------------

static void close_others(void) {
    if (syscall(SYS_close_range, REPORT_CHILD_STATUS + 1, ~0U, 0) == 0) {
        return;
    }
    struct rlimit limit = {.rlim_cur = 1024};
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = REPORT_CHILD_STATUS + 1; fd < (int)limit.rlim_cur; fd++) {
        close(fd);
    }
}

static bool place_descriptors(struct report_start *start) {
    int *const from[] = {&start->null, &start->prints, &start->prints, &start->socket,
                         &start->text, &start->filter, &start->status};
    int kept[sizeof(from) / sizeof(from[0])];
    bool good = true;
    for (int i = 0; i <= REPORT_CHILD_STATUS; i++) {
        kept[i] = *from[i] < 0 ? -1 : fcntl(*from[i], F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
        good = good && (*from[i] < 0 || kept[i] >= 0);
    }
    for (int i = 0; i <= REPORT_CHILD_STATUS && good; i++) {
        close(i);
        good = kept[i] < 0 || dup2(kept[i], i) == i;
        *from[i] = kept[i] < 0 ? -1 : i;
    }
    if (good) {
        (void)fcntl(REPORT_CHILD_STATUS, F_SETFD, FD_CLOEXEC);
        close_others();
    }
    return good;
}

static bool set_limits(const struct report_start *start) {
    const struct rlimit files = {REPORT_CHILD_FILES, REPORT_CHILD_FILES}, core = {0, 0};
    const struct rlimit memory = {REPORT_CHILD_MEMORY, REPORT_CHILD_MEMORY};
    const struct rlimit seconds = {start->seconds, start->seconds + 1};
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)setrlimit(RLIMIT_FSIZE, &memory); // a /tmp of its own is memory, too
    return setrlimit(RLIMIT_CORE, &core) == 0 && setrlimit(RLIMIT_CPU, &seconds) == 0 &&
           setrlimit(RLIMIT_AS, &memory) == 0;
}

// ---- Folders that another user cannot go to -----------------------------------------------------

#define OPEN (S_IROTH | S_IXOTH) // to all: a folder

static bool is_closed(const char *path, mode_t needed) {
    struct stat stat_;
    return stat(path, &stat_) == 0 && (stat_.st_mode & needed) != needed;
}

bool report_start_finds_closed(const char *path, char closed[PATH_MAX]) {
    if (path[0] != '/' || strlen(path) >= PATH_MAX) {
        return false;
    }
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(closed, path, (size_t)(slash - path));
        closed[slash - path] = '\0';
        if (is_closed(closed, S_IXOTH)) {
            return true;
        }
    }
    strcpy(closed, path);
    return path[1] && is_closed(closed, OPEN);
}

static bool make_folders(const char *path) {
    char part[PATH_MAX];
    for (const char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        size_t len = slash ? (size_t)(slash - path) : strlen(path);
        memcpy(part, path, len);
        part[len] = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) {
            return false;
        }
    }
    return true;
}

static bool bind_to(const char *source, const char *path) {
    return mount(source, path, NULL, MS_BIND | MS_REC, NULL) == 0;
}

// Shows a file or a folder of a folder; others, such as sockets, are of no use to a rule.
static void show_entry(int folder, const char *name, const char *path) {
    char source[PATH_MAX], target[PATH_MAX], link[PATH_MAX];
    struct stat stat_;
    if (snprintf(source, PATH_MAX, "/proc/self/fd/%d/%s", folder, name) >= PATH_MAX ||
        snprintf(target, PATH_MAX, "%s/%s", path, name) >= PATH_MAX ||
        fstatat(folder, name, &stat_, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (S_ISLNK(stat_.st_mode)) {
        ssize_t len = readlinkat(folder, name, link, sizeof(link) - 1);
        link[len < 0 ? 0 : len] = '\0';
        (void)!symlink(link, target);
    } else if (S_ISDIR(stat_.st_mode) && mkdir(target, 0755) == 0) {
        (void)bind_to(source, target);
    } else if (S_ISREG(stat_.st_mode) && mknod(target, S_IFREG | 0644, 0) == 0) {
        (void)bind_to(source, target);
    }
}

// Shows what is in a folder that is closed itself, in an open one.
static bool show_entries(int folder, const char *path) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t count = 0;
    for (const struct dirent *entry; dir && count < MOST_ENTRIES && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            show_entry(folder, entry->d_name, path);
            count++;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return dir != NULL;
}

// Shows the folder of a descriptor at its path again.
static bool show(int fd, const char *path) {
    char source[64];
    struct stat stat_;
    snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
    if (!make_folders(path) || fstat(fd, &stat_) != 0) {
        return false;
    }
    return (stat_.st_mode & OPEN) == OPEN ? bind_to(source, path) : show_entries(fd, path);
}

// Puts an open folder over each that is closed, then shows what is needed of it.
static bool cover(const char *const *folders, size_t count) {
    char closed[PATH_MAX];
    int fds[REPORT_CHILD_FOLDERS];
    bool good = true;
    for (size_t i = 0; i < count; i++) { // before the first is covered
        fds[i] = report_start_finds_closed(folders[i], closed)
                     ? open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC)
                     : -1;
    }
    for (size_t i = 0; i < count && good; i++) { // one that was covered is open
        good = fds[i] < 0 || !report_start_finds_closed(folders[i], closed) ||
               mount("tmpfs", closed, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m") == 0;
    }
    for (size_t i = 0; i < count && good; i++) {
        good = fds[i] < 0 || show(fds[i], folders[i]);
    }
    return good;
}

static bool open_ways(const char *const *folders) {
    char closed[PATH_MAX];
    size_t count = 0;
    bool any = false;
    while (count < REPORT_CHILD_FOLDERS && folders[count]) {
        any = report_start_finds_closed(folders[count++], closed) || any;
    }
    umask(022);
    return !any ||
           (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            cover(folders, count));
}

// ---- The user -----------------------------------------------------------------------------------

static bool become(const struct report_start *start) {
    for (unsigned long capability = 0; capability < 64; capability++) {
        (void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    return setgroups(0, NULL) == 0 && setresgid(start->uid, start->uid, start->uid) == 0 &&
           setresuid(start->uid, start->uid, start->uid) == 0 &&
           (start->confined || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
}

_Noreturn void report_start_run(struct report_start *start) {
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    if (start->group >= 0) {
        (void)!write(start->group, "0", 1); // itself
    }
    bool good = !start->changes || open_ways(start->folders);
    good = good && place_descriptors(start) && chdir("/") == 0 && set_limits(start) &&
           (!start->changes || become(start));
    // Another user's process would forget this.
    good = good && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
    if (good && getppid() == start->parent) {
        execve(start->argv[0], (char *const *)(uintptr_t)start->argv, start->environment);
    }
    int error = errno;
    (void)!write(start->status, &error, sizeof(error));
    _exit(127);
}
