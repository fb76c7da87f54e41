// SPDX-License-Identifier: Apache-2.0
//
// Reads configuration files: INI as systemd writes it, with one section [nvtxtd] and lines
// Key=Value. After the main file come its drop-ins, FILE.d/*.conf in the order of their names; a
// later file may set a key again. Each fault goes to `complain` as one sentence with file and line
// that says what is allowed. Reading goes on after a fault, so the user sees all faults at once.
#pragma once

#include <stdbool.h>

#include "daemon/conf/conf.h"

#define CONF_FILE_LINE_BYTES 198 // longest line that is no comment: the bound of inih

struct conf_faults {
    void (*complain)(void *context, const char *sentence);
    void *context;
};

// Reads the main file and its drop-ins, and checks what they say together. Returns 0, 1 when there
// were faults, or -errno when the main file cannot be read; `complain` has got a sentence for each.
// A main file that does not exist is a fault only if `must_exist`.
int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct conf_faults *faults);
