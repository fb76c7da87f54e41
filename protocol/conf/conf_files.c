// SPDX-License-Identifier: Apache-2.0
//
// scandir() lists the drop-ins. One that cannot be read, or a folder that cannot be listed, is a
// fault that does not keep the others from being read.
#include "protocol/conf/conf_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        return errno == ENOENT && !must_exist ? 0 : -errno;
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
        cannot_read(ini, folder, -errno);
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
    int r = strlen(path) + 2 >= PATH_MAX ? -ENAMETOOLONG : read_file(ini, path, must_exist);
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
