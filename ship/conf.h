// SPDX-License-Identifier: Apache-2.0
//
// The settings of nvtxt-ship as a table of keys, one row each: nvtxt-ship.conf(5) and the options
// of the same meaning set them through it. Files are INI as nvtxtd.conf(5) describes, with one
// section [nvtxt-ship]; after the main file come its drop-ins, FILE.d/*.conf in the order of their
// names.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/conf/ini.h"

enum ship_log_level { SHIP_LOG_ERROR, SHIP_LOG_WARNING, SHIP_LOG_INFO, SHIP_LOG_DEBUG };

// Texts are owned, "" when not given.
struct ship_conf {
    char *store;
    char *target;
    char *schema;
    char *host;
    char *labels; // KEY=VALUE, a line each
    char *store_id;
    char *from;
    char *position;
    int64_t interval_ms;
    int64_t lease_ms;
    int64_t connect_timeout_ms;
    int64_t open_ranges; // 0, 1
    int64_t log_level;   // enum ship_log_level
};

extern const struct nvtxt_conf_table ship_conf_table;

// All keys to their defaults. Returns 0 or -ENOMEM; needs ship_conf_deinit() in both cases.
int ship_conf_init(struct ship_conf *conf);
void ship_conf_deinit(struct ship_conf *conf);

// ---- Files (ship/conf_file.c) -------------------------------------------------------------------

enum { SHIP_CONF_PASSWORD = NVTXT_WRONG + 1 };

// Reads the main file and its drop-ins. Returns 0, SHIP_CONF_PASSWORD when there are passwords and
// no other faults, NVTXT_WRONG, or -ENOMEM; each fault is a sentence with file and line. A
// main file that is not there is one only if `must_exist`.
int ship_conf_load(struct ship_conf *conf, const char *path, bool must_exist,
                   const struct nvtxt_faults *faults);

// The file that is read without -c: nvtxt-ship.conf in the service manager's folder for it, else
// in the system's for root, else in the user's.
void ship_conf_path(char *path, size_t size);
