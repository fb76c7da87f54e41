// SPDX-License-Identifier: Apache-2.0
//
// A key in a file is set as an option is, but that a path must be absolute.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protocol/base/near.h"
#include "protocol/conf/conf_files.h"
#include "ship/conf.h"
#include "ship/engine/target.h"

struct reader {
    struct ship_conf *conf;
    bool no_memory;
    bool has_password;
};

static const char *name_at(const void *context, size_t index) {
    (void)context;
    return index < ship_key_count ? ship_keys[index].name : NULL;
}

// A password in a target is a fault with an exit status of its own, unless there are others.
static int check_target(struct nvtxt_ini *ini, const char *target) {
    struct reader *reader = ini->context;
    struct failure failure;
    bool faulty = ini->faulty;
    enum failure_class class = target_check(target, &failure);
    if (class == FAILURE_NONE || class == FAILURE_MEMORY) {
        return class ? -ENOMEM : 0;
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
    char why[256];
    const struct ship_key *key = ship_conf_find(name);
    if (!key) {
        nvtxt_ini_unknown_key(ini, name, nvtxt_near(nvtxt_slice_of(name), name_at, NULL));
        return 0;
    }
    if (key->type == SHIP_PATH && *value && *value != '/') {
        nvtxt_ini_bad_value(ini, name, value, "an absolute path is expected");
        return 0;
    }
    bool is_target = strcmp(name, "Target") == 0;
    int r = is_target ? check_target(ini, value) : 0;
    r = r ?: ship_conf_set(reader->conf, key, value, why, sizeof(why));
    reader->no_memory = reader->no_memory || r < 0;
    if (r > 0) {
        nvtxt_ini_bad_value(ini, name, value, why);
    }
    return r < 0 ? r : 0;
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
    return reader.no_memory      ? -ENOMEM
           : ini.faulty          ? SHIP_CONF_FAULTY
           : reader.has_password ? SHIP_CONF_PASSWORD
                                 : 0;
}

void ship_conf_path(char *path, size_t size) {
    const char *given = getenv("CONFIGURATION_DIRECTORY");
    const char *own = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (given && *given == '/') {
        snprintf(path, size, "%.*s/nvtxt-ship.conf", (int)strcspn(given, ":"), given);
    } else if (geteuid() == 0 || !((own && *own == '/') || (home && *home == '/'))) {
        snprintf(path, size, "/etc/nvtxtd/nvtxt-ship.conf");
    } else if (own && *own == '/') {
        snprintf(path, size, "%s/nvtxtd/nvtxt-ship.conf", own);
    } else {
        snprintf(path, size, "%s/.config/nvtxtd/nvtxt-ship.conf", home);
    }
}
