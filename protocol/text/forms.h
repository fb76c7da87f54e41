// SPDX-License-Identifier: Apache-2.0
//
// Texts of a fixed form: times and durations as people write them, UUIDs, and the tokens by which a
// process knows the range that it was started in.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/limits.h"
#include "protocol/base/slice.h"

// ---- Times --------------------------------------------------------------------------------------

// "2026-11-21T06:24:00.5Z", "@1795242240.5" (seconds since the epoch), or nanoseconds since the
// epoch. In the first form a blank may replace the T; the seconds or the whole time of day may be
// missing; the zone may be an offset like +01:00, or missing (UTC). False for all else and for what
// does not fit.
bool nvtxt_time_parse(const char *text, int64_t *ns);

// "5m", "1.5h", "2h30m", "90" (seconds) with the units ns, us, ms, s, m, h, d. False for all else
// and for what does not fit.
bool nvtxt_duration_parse(const char *text, int64_t *ns);

// ---- UUIDs --------------------------------------------------------------------------------------

// UUIDs as text (RFC 9562): 8-4-4-4-12 hexadecimal digits. They are written in small letters and
// read in either case.
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

// ---- Parents ------------------------------------------------------------------------------------

// NVTXT_PARENT holds SESSION:KEY: the id of the session in which the range will be recorded, as in
// a hello, and the range's key there.
#define NVTXT_PARENT_VARIABLE "NVTXT_PARENT"

// Whether a text is a key: 1 to NVTXT_KEY_BYTES of A-Z a-z 0-9 . _ -
bool nvtxt_key_is(struct nvtxt_slice text);

// Reads a token, and writes it with the session in small letters. False for all else.
bool nvtxt_parent_read(struct nvtxt_slice text, char parent[NVTXT_PARENT_BYTES + 1]);
