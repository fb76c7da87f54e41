// SPDX-License-Identifier: Apache-2.0
//
// Each key remembers where it was set last. So a fault that only all files together show is
// reported where the second of the two keys was set.
#include "daemon/conf/conf.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"

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

static int remember(struct reader *reader, const struct nvtxt_conf_key *key,
                    const struct nvtxt_ini *ini) {
    struct origin *origin = &reader->origins[key - conf_table.keys];
    char *path = strdup(ini->path);
    if (!path) {
        return nvtxt_origin(-ENOMEM);
    }
    free(origin->path);
    *origin = (struct origin){.path = path, .line = ini->line, .turn = ++reader->turn};
    return 0;
}

static int take_key(struct nvtxt_ini *ini, const char *name, const char *value) {
    struct reader *reader = ini->context;
    const struct nvtxt_conf_key *key;
    int r = nvtxt_conf_take(&conf_table, reader->config, ini, name, value, &key);
    return key ? remember(reader, key, ini) : r;
}

// Checks what the files say together.
static void check_whole(const struct reader *reader, struct nvtxt_ini *ini) {
    const struct nvtxt_conf_key *keys[2];
    char why[256];
    if (ini->faulty || conf_check(reader->config, keys, why, sizeof(why)) == 0) {
        return;
    }
    const struct origin *first = &reader->origins[keys[0] - conf_table.keys];
    const struct origin *second = &reader->origins[keys[1] - conf_table.keys];
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
