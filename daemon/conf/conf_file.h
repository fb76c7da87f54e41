// SPDX-License-Identifier: Apache-2.0
//
// Reads configuration files with the section [nvtxtd] and their drop-ins. Each fault goes to
// `complain` as one sentence with file and line that says what is allowed. Reading goes on after a
// fault, so the user sees all faults at once.
#pragma once

#include <stdbool.h>

#include "daemon/conf/conf.h"
#include "protocol/conf/ini.h"

// Reads the main file and its drop-ins, and checks what they say together. Returns 0, 1 when there
// were faults, or -errno when the main file cannot be read; `complain` has got a sentence for each.
// A main file that does not exist is a fault only if `must_exist`.
int conf_file_load(struct conf *config, const char *path, bool must_exist,
                   const struct nvtxt_faults *faults);
