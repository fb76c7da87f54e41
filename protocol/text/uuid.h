// SPDX-License-Identifier: Apache-2.0
//
// UUIDs as text (RFC 9562): 8-4-4-4-12 hexadecimal digits. They are written in small letters and
// read in either case.
#pragma once

#include <stdbool.h>

#define NVTXT_UUID_BYTES 16
#define NVTXT_UUID_SIZE 37 // 36 characters and a NUL

// Writes the bytes as one of this version. Version 4 says that they are random, 5 that they are the
// SHA-1 of a name.
void nvtxt_uuid_write(const unsigned char bytes[NVTXT_UUID_BYTES], int version,
                      char uuid[NVTXT_UUID_SIZE]);

// A new one, of version 4. Returns 0 or -errno.
int nvtxt_uuid_make(char uuid[NVTXT_UUID_SIZE]);

bool nvtxt_uuid_is(const char *text);

// Reads one as it is written, or as 32 digits without hyphens, and writes it the usual way. False
// for all else.
bool nvtxt_uuid_read(const char *text, char uuid[NVTXT_UUID_SIZE]);
