// SPDX-License-Identifier: Apache-2.0
//
// A folder in /tmp could have been made by anybody, so it is used only if it belongs to this user
// alone. Lock files are locked with flock(2), which the kernel takes back when the process dies;
// the number of the process in the file is only for people. The file is removed while it is locked,
// so whoever gets the lock must look whether the path still names the same file.
#include "daemon/conf/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "protocol/base/limits.h"
#include "store/segment/segments.h"

static int explain(char *why, size_t size, int status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int explain(char *why, size_t size, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(why, size, format, args);
    va_end(args);
    return status;
}

static const char *home_folder(void) {
    const char *home = getenv("HOME");
    if (home && *home == '/') {
        return home;
    }
    const struct passwd *entry = getpwuid(geteuid());
    return entry && entry->pw_dir && *entry->pw_dir == '/' ? entry->pw_dir : "/";
}

// Creates a folder and those above it that do not exist.
static int make_folder(const char *path, mode_t mode, char *why, size_t size) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part)) {
        return explain(why, size, EX_CANTCREAT, "the folder name '%.64s…' is too long", path);
    }
    for (char *at = part + 1;; at++) {
        if (*at != '/' && *at) {
            continue;
        }
        char kept = *at;
        *at = '\0';
        bool made = mkdir(part, kept ? 0755 : mode & 0777) == 0;
        if (!made && errno != EEXIST) {
            return explain(why, size, EX_CANTCREAT, "the folder '%s' cannot be created: %s", path,
                           strerror(errno));
        }
        // mkdir(2) does not set the set-group-ID bit.
        if (made && !kept && (mode & 07000) && chmod(part, mode) < 0) {
            return explain(why, size, EX_CANTCREAT, "the mode of '%s' cannot be set: %s", path,
                           strerror(errno));
        }
        *at = kept;
        if (!kept) {
            return 0;
        }
    }
}

// Whether the folder is a real one that only this user may use.
static int check_private(const char *path, char *why, size_t size) {
    struct stat stat;
    if (lstat(path, &stat) < 0) {
        return explain(why, size, EX_CANTCREAT, "the folder '%s' cannot be used: %s", path,
                       strerror(errno));
    }
    if (S_ISDIR(stat.st_mode) && stat.st_uid == geteuid() && !(stat.st_mode & 077)) {
        return 0;
    }
    if (S_ISDIR(stat.st_mode) && stat.st_uid == geteuid()) {
        return explain(why, size, EX_CANTCREAT,
                       "others may use the folder '%s': 'chmod 700 %s' makes it yours alone", path,
                       path);
    }
    const struct passwd *owner = getpwuid(stat.st_uid);
    return explain(
        why, size, EX_CANTCREAT,
        "'%s' is %s of user %s (uid %u): set XDG_RUNTIME_DIR to a folder of your own, or "
        "name the socket with --socket",
        path, S_ISDIR(stat.st_mode) ? "a folder" : "no folder, but a file",
        owner ? owner->pw_name : "?", (unsigned)stat.st_uid);
}

// The folder that the service manager has created for the daemon (systemd.exec(5)): the first of a
// list.
static bool manager_folder(const char *variable, char *folder, size_t size) {
    const char *list = getenv(variable);
    if (!list || *list != '/') {
        return false;
    }
    snprintf(folder, size, "%.*s", (int)strcspn(list, ":"), list);
    return true;
}

void paths_config_file(char *path, size_t size) {
    char folder[PATH_MAX];
    const char *config = getenv("XDG_CONFIG_HOME");
    if (manager_folder("CONFIGURATION_DIRECTORY", folder, sizeof(folder))) {
        snprintf(path, size, "%s/nvtxtd.conf", folder);
    } else if (geteuid() == 0) {
        snprintf(path, size, "%s/nvtxtd/nvtxtd.conf", NVTXT_SYSCONFDIR);
    } else if (config && *config == '/') {
        snprintf(path, size, "%s/nvtxtd/nvtxtd.conf", config);
    } else {
        snprintf(path, size, "%s/.config/nvtxtd/nvtxtd.conf", home_folder());
    }
}

// Such a home folder is another user's, as after su(1), and nobody asked for a file in it. If the
// environment names the folder, somebody did.
bool paths_config_is_hidden(const char *path) {
    struct stat status;
    return !getenv("XDG_CONFIG_HOME") && !getenv("CONFIGURATION_DIRECTORY") && geteuid() != 0 &&
           lstat(path, &status) < 0 && errno == EACCES;
}

static int socket_folder(char *folder, size_t folder_size, char *why, size_t size) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    bool shared = false;
    if (manager_folder("RUNTIME_DIRECTORY", folder, folder_size)) {
        return 0;
    }
    if (geteuid() == 0) {
        snprintf(folder, folder_size, NVTXT_SYSTEM_SOCKETS);
    } else if (runtime && *runtime == '/') {
        snprintf(folder, folder_size, NVTXT_RUNTIME_SOCKETS, runtime);
    } else {
        snprintf(folder, folder_size, NVTXT_TMP_SOCKETS, (unsigned)geteuid());
        shared = true;
    }
    int r = make_folder(folder, geteuid() == 0 ? 0755 : 0700, why, size);
    return r || !shared ? r : check_private(folder, why, size);
}

// The group that the configuration names, else nvtxt for root; -1: none.
static int readers_group(const struct conf *config, gid_t *gid, char *why, size_t size) {
    const char *name = config->store_group;
    *gid = (gid_t)-1;
    if (!*name && geteuid() != 0) {
        return 0;
    }
    const struct group *group = getgrnam(*name ? name : "nvtxt");
    if (group) {
        *gid = group->gr_gid;
    }
    return group || !*name
               ? 0
               : explain(why, size, EX_CONFIG, "there is no group '%s' (StoreGroup)", name);
}

// Gives the default folder to the readers' group. If somebody gave it to another group, it keeps
// that, unless StoreGroup names one.
static int give_folder(const char *folder, const struct conf *config, char *why, size_t size) {
    struct stat status;
    gid_t gid;
    int r = readers_group(config, &gid, why, size);
    if (r || gid == (gid_t)-1 || stat(folder, &status) < 0 || status.st_gid == gid ||
        (!*config->store_group && status.st_gid != 0)) {
        return r;
    }
    if (chown(folder, (uid_t)-1, gid) < 0 || chmod(folder, 02750) < 0) {
        return explain(why, size, EX_CANTCREAT, "the folder '%s' cannot be given to its group: %s",
                       folder, strerror(errno));
    }
    return 0;
}

int paths_check_groups(const struct conf *config, char *why, size_t size) {
    gid_t gid;
    if (*config->socket_group && !getgrnam(config->socket_group)) {
        return explain(why, size, EX_CONFIG, "there is no group '%s' (SocketGroup)",
                       config->socket_group);
    }
    return *config->store_group ? readers_group(config, &gid, why, size) : 0;
}

int paths_store_group(const struct conf *config, int64_t *group, char *why, size_t size) {
    struct stat status;
    gid_t gid = (gid_t)-1;
    char folder[PATH_MAX];
    *group = 0;
    if (*config->store_group) {
        int r = readers_group(config, &gid, why, size);
        *group = r ? 0 : (int64_t)gid;
        return r;
    }
    const char *slash = strrchr(config->store, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - config->store) + 1 : 1,
             slash ? config->store : ".");
    if (geteuid() == 0 && stat(folder, &status) == 0 && (status.st_mode & S_ISGID)) {
        *group = (int64_t)status.st_gid; // new files get it by themselves
    }
    return 0;
}

static int store_folder(const struct conf *config, char *folder, size_t folder_size, char *why,
                        size_t size) {
    const char *state = getenv("XDG_STATE_HOME");
    if (manager_folder("STATE_DIRECTORY", folder, folder_size)) {
        return 0;
    }
    if (geteuid() == 0) {
        snprintf(folder, folder_size, NVTXT_SYSTEM_STORE);
    } else if (state && *state == '/') {
        snprintf(folder, folder_size, NVTXT_STATE_STORE, state);
    } else {
        snprintf(folder, folder_size, NVTXT_HOME_STORE, home_folder());
    }
    int r = make_folder(folder, geteuid() == 0 ? 02750 : 0700, why, size);
    if (!r) {
        return give_folder(folder, config, why, size);
    }
    size_t len = strlen(why);
    explain(why + len, size - len, r, "; name another store with --store");
    return r;
}

static int fill(char **field, const char *folder, const char *file, char *why, size_t size) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, file) < 0) {
        return explain(why, size, EX_OSERR, "out of memory");
    }
    free(*field);
    *field = path;
    return 0;
}

int paths_check_socket(const char *path, char *why, size_t size) {
    size_t len = strlen(path);
    if (len <= NVTXT_SOCKET_BYTES) { // libuv 1.44 would cut it silently
        return 0;
    }
    return explain(why, size, EX_CANTCREAT,
                   "the socket path is too long, %zu bytes where a Unix socket takes %d: '%s'", len,
                   NVTXT_SOCKET_BYTES, path);
}

int paths_resolve(struct conf *config, char *why, size_t size) {
    char folder[PATH_MAX / 2];
    int r = 0;
    if (!*config->socket) {
        r = socket_folder(folder, sizeof(folder), why, size);
        if (!r) {
            r = fill(&config->socket, folder, NVTXT_DATA_SOCKET, why, size);
        }
    }
    if (!r && !*config->control_socket) {
        const char *slash = strrchr(config->socket, '/');
        snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - config->socket) : 1,
                 slash ? config->socket : ".");
        r = fill(&config->control_socket, folder, NVTXT_CONTROL_SOCKET, why, size);
    }
    if (!r) {
        r = paths_check_socket(config->socket, why, size);
    }
    if (!r) {
        r = paths_check_socket(config->control_socket, why, size);
    }
    if (!r && !*config->store) {
        r = store_folder(config, folder, sizeof(folder), why, size);
        if (!r) {
            r = fill(&config->store, folder, NVTXT_STORE_FILE, why, size);
        }
    }
    return r;
}

int paths_make_store_folder(const char *store) {
    char folder[PATH_MAX], why[64];
    const char *slash = strrchr(store, '/');
    if (!slash || slash == store) {
        return 0;
    }
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - store), store);
    return make_folder(folder, geteuid() == 0 ? 02750 : 0700, why, sizeof(why));
}

static bool is_still_there(const char *path, int fd) {
    struct stat held, named;
    return fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
           held.st_dev == named.st_dev;
}

static void who_holds(int fd, char *who, size_t size) {
    char pid[32] = "";
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
    if (n > 0) {
        pid[strcspn(pid, "\n")] = '\0';
    }
    snprintf(who, size, *pid ? " (process %s)" : "%s", pid);
}

int paths_lock(const char *path, const char *what, int *status, char *why, size_t size) {
    char name[PATH_MAX], who[64];
    snprintf(name, sizeof(name), "%s.lock", path);
    for (;;) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) {
            int error = errno;
            const char *wrong = error == ENOENT   ? "its folder does not exist"
                                : error == EACCES ? "its folder cannot be written"
                                                  : "its lock file cannot be created";
            *status =
                explain(why, size, EX_CANTCREAT,
                        "the %s '%s' cannot be used: %s: %s; correct that, or name another path",
                        what, path, wrong, strerror(error));
            return -1;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            who_holds(fd, who, sizeof(who));
            *status = explain(why, size, EX_CANTCREAT, "another nvtxtd%s uses the %s '%s'", who,
                              what, path);
            close(fd);
            return -1;
        }
        if (!is_still_there(name, fd)) { // its last holder has removed it meanwhile
            close(fd);
            continue;
        }
        int len = snprintf(who, sizeof(who), "%d\n", (int)getpid());
        bool named = ftruncate(fd, 0) == 0 && pwrite(fd, who, (size_t)len, 0) == len;
        (void)named; // it is only for people
        return fd;
    }
}

// Whether another process has the lock of the store at `path`, and which. A user who may not open
// the lock file may not write there either.
static bool is_held(const char *path, char *who, size_t size) {
    char name[PATH_MAX];
    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name)) {
        return false;
    }
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    bool held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (held) {
        who_holds(fd, who, size);
    }
    close(fd);
    return held;
}

int paths_check_segment(const char *store, char *why, size_t size) {
    static const char *const endings[] = {".sqlite", ""};
    char stem[PATH_MAX], path[PATH_MAX + 8], who[64];
    if (!store_segments_stem(store, stem)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", stem, endings[i]);
        if (is_held(path, who, sizeof(who))) {
            return explain(why, size, EX_CANTCREAT,
                           "another nvtxtd%s uses the store '%s', of which '%s' is a segment: "
                           "name another store",
                           who, path, store);
        }
    }
    return 0;
}

bool paths_is_locked(const char *path, int fd) {
    char name[PATH_MAX];
    snprintf(name, sizeof(name), "%s.lock", path);
    return is_still_there(name, fd);
}

void paths_unlock(const char *path, int fd) {
    char name[PATH_MAX];
    if (fd < 0) {
        return;
    }
    snprintf(name, sizeof(name), "%s.lock", path);
    if (is_still_there(name, fd)) { // else somebody removed ours, and another daemon has its own
        unlink(name);               // before the lock is released: nobody else can have it
    }
    close(fd);
}

const char *paths_watched(const struct conf *config) {
    const char *folder = getenv("NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH");
    if (*config->watch_directory) {
        return config->watch_directory;
    }
    return folder && *folder == '/' && !strchr(folder, '\n') ? folder : "";
}
