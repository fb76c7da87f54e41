// SPDX-License-Identifier: Apache-2.0
//
// A target is checked for a password as soon as its line is read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/origin.h"
#include "ship/conf.h"
#include "ship/engine/pg.h"

struct reader {
    struct ship_conf *conf;
    bool no_memory;
    bool has_password;
};

// A password in a target is a fault with an exit status of its own, unless there are others.
static int check_target(struct nvtxt_ini *ini, const char *target) {
    struct reader *reader = ini->context;
    struct failure failure;
    bool faulty = ini->faulty;
    enum failure_class class = target_check(target, &failure);
    if (class == FAILURE_NONE || class == FAILURE_MEMORY) {
        return class ? nvtxt_origin(-ENOMEM) : 0;
    }
    nvtxt_ini_fault(ini, "%s", failure.sentence);
    if (class == FAILURE_PASSWORD) {
        reader->has_password = true;
        ini->faulty = faulty;
    }
    return 0;
}

static int take_key(struct nvtxt_ini *ini, const char *name, const char *value) {
    struct reader *reader = ini->context;
    const struct nvtxt_conf_key *key;
    int r = nvtxt_conf_take(&ship_conf_table, reader->conf, ini, name, value, &key);
    bool is_target = key && key->offset == offsetof(struct ship_conf, target);
    r = is_target ? check_target(ini, value) : r;
    reader->no_memory = reader->no_memory || r < 0;
    return r;
}

int ship_conf_load(struct ship_conf *conf, const char *path, bool must_exist,
                   const struct nvtxt_faults *faults) {
    struct reader reader = {.conf = conf};
    struct nvtxt_ini ini = {.section = "nvtxt-ship",
                            .manual = "nvtxt-ship.conf(5)",
                            .faults = faults,
                            .take = take_key,
                            .context = &reader};
    (void)nvtxt_conf_files_read(&ini, path, must_exist); // what fails is a fault
    return reader.no_memory      ? nvtxt_origin(-ENOMEM)
           : ini.faulty          ? NVTXT_WRONG
           : reader.has_password ? SHIP_CONF_PASSWORD
                                 : 0;
}

void ship_conf_path(char *path, size_t size) {
    const char *folder = getenv("CONFIGURATION_DIRECTORY");
    const char *own = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (folder && *folder == '/') {
        snprintf(path, size, "%.*s/nvtxt-ship.conf", (int)strcspn(folder, ":"), folder);
    } else if (geteuid() == 0 || !((own && *own == '/') || (home && *home == '/'))) {
        snprintf(path, size, "/etc/nvtxtd/nvtxt-ship.conf");
    } else if (own && *own == '/') {
        snprintf(path, size, "%s/nvtxtd/nvtxt-ship.conf", own);
    } else {
        snprintf(path, size, "%s/.config/nvtxtd/nvtxt-ship.conf", home);
    }
}
