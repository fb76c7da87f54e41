// SPDX-License-Identifier: Apache-2.0
//
// Reads configuration files: INI as systemd writes it, one section [nvtxtd], Key=Value, and behind
// the main file its drop-ins, FILE.d/*.conf in the order of their names, each of which may set
// again what stood before. Every fault is told to `complain` as one sentence with file and line
// that says what is allowed; reading goes on behind it so that all faults are seen at once.
#pragma once

#include <stdbool.h>

#include "daemon/conf/conf.h"

#define CONF_FILE_LINE_BYTES 198 // longest line that is no comment: the parser's own bound

struct conf_faults {
    void (*complain)(void *context, const char *sentence);
    void *context;
};

// The main file, its drop-ins, and whether what they say together holds. Returns 0, 1 when there
// were faults (all told), or -errno when the main file cannot be read (told, too). A main file that
// is not there is no fault unless `must_exist`.
int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct conf_faults *faults);
