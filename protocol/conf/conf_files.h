// SPDX-License-Identifier: Apache-2.0
//
// The files of a configuration: the main file, then its drop-ins, FILE.d/*.conf in the order of the
// bytes of their names. A later file may set a key again.
#pragma once

#include <stdbool.h>

#include "protocol/conf/ini.h"

// Reads them. `ini` has its keys' section and `take`; afterwards it says whether there were faults,
// one sentence for each. Returns 0, or -errno when the main file cannot be read or `take` failed,
// which is a fault, too. A main file that does not exist is one only if `must_exist`.
int nvtxt_conf_files_read(struct nvtxt_ini *ini, const char *path, bool must_exist);
