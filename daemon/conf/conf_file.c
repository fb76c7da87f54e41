// SPDX-License-Identifier: Apache-2.0
//
// Each key remembers where it was set last. So a fault that only all files together show is
// reported where the second of the two keys was set.
#include "daemon/conf/conf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/conf/conf_files.h"

struct origin {
    char *path; // owned; NULL: the key was not set
    unsigned line;
    size_t turn; // how many keys had been set, with it
};

struct reader {
    struct conf *config;
    struct origin origins[CONF_KEYS_MAX]; // one for each key
    size_t turn;
};

// A path in a file must be absolute and not too long. Returns 0, or 1 with `why`.
static int check_path(const struct conf_key *key, const char *value, char *why, size_t size) {
    if (*value && *value != '/') {
        snprintf(why, size, "an absolute path is expected");
    } else if (key->max > 0 && strlen(value) > (size_t)key->max) {
        snprintf(why, size, "a path of at most %lld bytes is expected", (long long)key->max);
    } else {
        return 0;
    }
    return 1;
}

static int remember(struct reader *reader, const struct conf_key *key,
                    const struct nvtxt_ini *ini) {
    struct origin *origin = &reader->origins[key - conf_keys];
    char *path = strdup(ini->path);
    if (!path) {
        return -ENOMEM;
    }
    free(origin->path);
    *origin = (struct origin){.path = path, .line = ini->line, .turn = ++reader->turn};
    return 0;
}

static int take_key(struct nvtxt_ini *ini, const char *name, const char *value) {
    struct reader *reader = ini->context;
    char why[256];
    const struct conf_key *key = conf_find(name);
    if (!key) {
        nvtxt_ini_unknown_key(ini, name, conf_near(name));
        return 0;
    }
    bool is_path = key->type == CONF_PATH || key->type == CONF_PATHS;
    int r = is_path ? check_path(key, value, why, sizeof(why)) : 0;
    if (r == 0) {
        r = conf_set(reader->config, key, value, why, sizeof(why));
    }
    if (r > 0) {
        nvtxt_ini_bad_value(ini, name, value, why);
        return 0;
    }
    return r < 0 ? r : remember(reader, key, ini);
}

// Checks what the files say together.
static void check_whole(const struct reader *reader, struct nvtxt_ini *ini) {
    const struct conf_key *keys[2];
    char why[256];
    if (ini->faulty || conf_check(reader->config, keys, why, sizeof(why)) == 0) {
        return;
    }
    const struct origin *first = &reader->origins[keys[0] - conf_keys];
    const struct origin *second = &reader->origins[keys[1] - conf_keys];
    const struct origin *last = first->turn > second->turn ? first : second;
    ini->path = last->path;
    ini->line = last->line;
    nvtxt_ini_fault(ini, "%s", why);
}

int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct nvtxt_faults *faults) {
    struct reader reader = {.config = config};
    struct nvtxt_ini ini = {.section = "nvtxtd",
                            .manual = "nvtxtd.conf(5)",
                            .faults = faults,
                            .take = take_key,
                            .context = &reader};
    int r = nvtxt_conf_files_read(&ini, path, must_exist);
    check_whole(&reader, &ini);
    for (size_t i = 0; i < CONF_KEYS_MAX; i++) {
        free(reader.origins[i].path);
    }
    return r < 0 ? r : ini.faulty;
}
