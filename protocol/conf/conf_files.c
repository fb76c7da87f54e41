// SPDX-License-Identifier: Apache-2.0
//
// scandir() lists the drop-ins. One that cannot be read, or a folder that cannot be listed, is a
// fault that does not keep the others from being read.
#include "protocol/conf/ini.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/origin.h"

static void cannot_read(struct nvtxt_ini *ini, const char *path, int r) {
    char sentence[2 * PATH_MAX];
    snprintf(sentence, sizeof(sentence), "the configuration '%s' cannot be read: %s", path,
             strerror(-r));
    ini->faulty = true;
    ini->faults->complain(ini->faults->context, sentence);
}

static int read_file(struct nvtxt_ini *ini, const char *path, bool must_exist) {
    FILE *file = fopen(path, "re");
    if (!file) {
        return errno == ENOENT && !must_exist ? 0 : nvtxt_origin(-errno);
    }
    int r = nvtxt_ini_read(ini, file, path);
    fclose(file);
    return r;
}

static int is_drop_in(const struct dirent *entry) {
    size_t len = strlen(entry->d_name);
    return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

// By bytes, in any locale.
static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_drop_ins(struct nvtxt_ini *ini, const char *path) {
    char folder[PATH_MAX], file[PATH_MAX + NAME_MAX + 2];
    struct dirent **drop_ins = NULL;
    snprintf(folder, sizeof(folder), "%s.d", path);
    int count = scandir(folder, &drop_ins, is_drop_in, by_name);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
        cannot_read(ini, folder, nvtxt_origin(-errno));
    }
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", folder, drop_ins[i]->d_name);
        int r = read_file(ini, file, true);
        if (r < 0) {
            cannot_read(ini, file, r);
        }
        free(drop_ins[i]);
    }
    free(drop_ins);
}

int nvtxt_conf_files_read(struct nvtxt_ini *ini, const char *path, bool must_exist) {
    int r = strlen(path) + 2 >= PATH_MAX ? nvtxt_origin(-ENAMETOOLONG)
                                         : read_file(ini, path, must_exist);
    if (r < 0) {
        cannot_read(ini, path, r);
    } else {
        read_drop_ins(ini, path);
    }
    return r;
}

// Such a home folder is another user's, as after su(1), and nobody asked for a file in it. If the
// environment names the folder, somebody did.
bool nvtxt_conf_is_hidden(const char *path) {
    struct stat status;
    return !getenv("XDG_CONFIG_HOME") && !getenv("CONFIGURATION_DIRECTORY") && geteuid() != 0 &&
           lstat(path, &status) < 0 && errno == EACCES;
}

// ---- Keys ---------------------------------------------------------------------------------------

// A path in a file must be absolute and not too long. Returns 0, or 1 with `why`.
static int check_path(const struct nvtxt_conf_key *key, const char *value, char *why, size_t size) {
    if (*value && *value != '/') {
        snprintf(why, size, "an absolute path is expected");
    } else if (key->max > 0 && strlen(value) > (size_t)key->max) {
        snprintf(why, size, "a path of at most %lld bytes is expected", (long long)key->max);
    } else {
        return 0;
    }
    return NVTXT_WRONG;
}

int nvtxt_conf_take(const struct nvtxt_conf_table *table, void *values, struct nvtxt_ini *ini,
                    const char *name, const char *value, const struct nvtxt_conf_key **key) {
    char why[256];
    const struct nvtxt_conf_key *row = nvtxt_conf_find(table, name);
    *key = NULL;
    if (!row) {
        nvtxt_ini_unknown_key(ini, name, nvtxt_conf_near(table, name));
        return 0;
    }
    int r = nvtxt_conf_is_path(row) ? check_path(row, value, why, sizeof(why)) : 0;
    r = r ?: nvtxt_conf_set(values, row, value, why, sizeof(why));
    if (r > 0) {
        nvtxt_ini_bad_value(ini, name, value, why);
    }
    *key = r == 0 ? row : NULL;
    return r < 0 ? r : 0;
}
