// SPDX-License-Identifier: Apache-2.0
//
// One walk over the places of the 36 characters serves reading; the hyphens are in four of them.
#include "protocol/text/forms.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

static bool is_hyphen_at(int place) {
    return place == 8 || place == 13 || place == 18 || place == 23;
}

void nvtxt_uuid_write(const unsigned char bytes[NVTXT_UUID_BYTES], int version,
                      char uuid[NVTXT_UUID_SIZE]) {
    char *at = uuid;
    for (int i = 0; i < NVTXT_UUID_BYTES; i++) {
        unsigned byte = i == 6   ? (bytes[i] & 0x0Fu) | (unsigned)version << 4
                        : i == 8 ? (bytes[i] & 0x3Fu) | 0x80
                                 : bytes[i];
        at += snprintf(at, 4, "%s%02x", is_hyphen_at((int)(at - uuid)) ? "-" : "", byte);
    }
}

int nvtxt_uuid_make(char uuid[NVTXT_UUID_SIZE]) {
    unsigned char bytes[NVTXT_UUID_BYTES];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        return nvtxt_origin(-errno);
    }
    nvtxt_uuid_write(bytes, 4, uuid);
    return 0;
}

bool nvtxt_uuid_read(const char *text, char uuid[NVTXT_UUID_SIZE]) {
    bool has_hyphens = strlen(text) == NVTXT_UUID_SIZE - 1;
    for (int place = 0; place < NVTXT_UUID_SIZE - 1; place++) {
        if (is_hyphen_at(place)) {
            if (has_hyphens && *text++ != '-') {
                return false;
            }
            uuid[place] = '-';
        } else if (nvtxt_char_is(*text, NVTXT_CHAR_HEX)) {
            uuid[place] = nvtxt_lower(*text++);
        } else {
            return false;
        }
    }
    uuid[NVTXT_UUID_SIZE - 1] = '\0';
    return *text == '\0';
}

bool nvtxt_uuid_is(const char *text) {
    char uuid[NVTXT_UUID_SIZE];
    return strlen(text) == NVTXT_UUID_SIZE - 1 && nvtxt_uuid_read(text, uuid);
}
