// SPDX-License-Identifier: Apache-2.0
//
// The id of a session: a random UUID.
#pragma once

#include "protocol/nvtxt.h"

// A version 4 UUID as text. Returns 0 or -errno.
int session_id_make(char session[NVTXT_SESSION_ID_BYTES + 1]);
