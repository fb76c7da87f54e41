// SPDX-License-Identifier: Apache-2.0
//
// Each default is a folder that is created when the daemon starts, and a file in it. A folder in
// /tmp could have been created by anybody, so it is used only if it belongs to this user alone.
#include "daemon/conf/paths.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

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

int paths_group(const char *name, const char *key, gid_t *gid, char *why, size_t size) {
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
               : explain(why, size, EX_CONFIG, "there is no group '%s' (%s)", name, key);
}

static int readers_group(const struct conf *config, gid_t *gid, char *why, size_t size) {
    return paths_group(config->store_group, "StoreGroup", gid, why, size);
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
    int r = paths_group(config->socket_group, "SocketGroup", &gid, why, size);
    return r ?: readers_group(config, &gid, why, size);
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

static int set_path(char **field, const char *folder, const char *file, char *why, size_t size) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, file) < 0) {
        return explain(why, size, EX_OSERR, "out of memory");
    }
    free(*field);
    *field = path;
    return 0;
}

// Others have another current folder: they are told the path from the root on. A longer one than
// `most` bytes stays as it is.
static int make_absolute(char **field, size_t most, char *why, size_t size) {
    char folder[PATH_MAX];
    bool fits = **field && **field != '/' && getcwd(folder, sizeof(folder)) &&
                strlen(folder) + 1 + strlen(*field) <= most;
    if (!fits) {
        return 0;
    }
    char *file = *field;
    *field = NULL;
    int r = set_path(field, folder, file, why, size);
    if (r) {
        *field = file;
    } else {
        free(file);
    }
    return r;
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
            r = set_path(&config->socket, folder, NVTXT_DATA_SOCKET, why, size);
        }
    }
    if (!r && !*config->control_socket) {
        const char *slash = strrchr(config->socket, '/');
        snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - config->socket) : 1,
                 slash ? config->socket : ".");
        r = set_path(&config->control_socket, folder, NVTXT_CONTROL_SOCKET, why, size);
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
            r = set_path(&config->store, folder, NVTXT_STORE_FILE, why, size);
        }
    }
    r = r ?: make_absolute(&config->control_socket, NVTXT_SOCKET_BYTES, why, size);
    return r ?: make_absolute(&config->store, PATH_MAX - 1, why, size);
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

// "" when it is no path that can be watched.
static const char *session_folder(void) {
    const char *folder = getenv(NVTXT_SESSION_VARIABLE);
    return folder && *folder == '/' && !strchr(folder, '\n') ? folder : "";
}

const char *paths_watched(const struct conf *config) {
    return *config->watch_directory ? config->watch_directory : session_folder();
}

bool paths_has_captures(const struct conf *config, const char *folder) {
    const char *session = session_folder();
    size_t len = strlen(folder);
    if (config->watch_captures >= 0) {
        return config->watch_captures > 0;
    }
    return strncmp(session, folder, len) == 0 && session[len + strspn(session + len, "/")] == '\0';
}
