// SPDX-License-Identifier: Apache-2.0
//
// The files of a configuration: the main file, then its drop-ins, FILE.d/*.conf in the order of the
// bytes of their names. A later file may set a key again.
#pragma once

#include <stdbool.h>

#include "protocol/conf/ini.h"

// Reads them. The caller has set the first members of `ini`, up to `context`; afterwards `faulty`
// says whether there were faults, and `complain` has got a sentence for each. A file that cannot be
// read, or whose reading `take` has ended, is a fault. When it is the main file, no drop-in is
// read, and -errno is returned; else 0. A main file that does not exist is a fault only if
// `must_exist`.
int nvtxt_conf_files_read(struct nvtxt_ini *ini, const char *path, bool must_exist);

// Whether the usual file of a program, where nobody named one, is in a home folder that this user
// may not read: then there is no configuration.
bool nvtxt_conf_is_hidden(const char *path);
