// SPDX-License-Identifier: Apache-2.0
//
// The id of a session, a UUID: a random one, one that the user gives, or that of a name.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/limits.h"

// A version 4 UUID as text. Returns 0 or -errno.
int session_id_make(char session[NVTXT_SESSION_ID_BYTES + 1]);

// 8-4-4-4-12 hexadecimal digits, or 32 of them; always written the first way, in small letters.
// False when the text is no UUID.
bool session_id_read(const char *text, char session[NVTXT_SESSION_ID_BYTES + 1]);

// Always the same for the same name and user. Returns 0 or -ENOMEM.
int session_id_of_name(const char *name, uint32_t uid, char session[NVTXT_SESSION_ID_BYTES + 1]);
