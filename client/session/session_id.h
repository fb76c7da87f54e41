// SPDX-License-Identifier: Apache-2.0
//
// The id of a session that has a name.
#pragma once

#include <stdint.h>

#include "protocol/base/limits.h"

// Always the same for the same name and user. Returns 0 or -ENOMEM.
int session_id_of_name(const char *name, uint32_t uid, char session[NVTXT_SESSION_ID_BYTES + 1]);
