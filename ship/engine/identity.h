// SPDX-License-Identifier: Apache-2.0
//
// Who ships what: the store's identity, and the names of this host and machine. Pure but for files
// of the system that it reads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// 36 bytes as RFC 9562 writes them, in either case.
bool identity_is_uuid(const char *text);
