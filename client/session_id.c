// SPDX-License-Identifier: Apache-2.0
#include "client/session_id.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

int session_id_make(char session[NVTXT_SESSION_ID_BYTES + 1]) {
    unsigned char r[16];
    if (getrandom(r, sizeof r, 0) != (ssize_t)sizeof r) {
        return -errno;
    }
    r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
    r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
    snprintf(session, NVTXT_SESSION_ID_BYTES + 1,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0], r[1],
             r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14],
             r[15]);
    return 0;
}
