// SPDX-License-Identifier: Apache-2.0
//
// Texts are compared byte by byte, without the locale.
#include "ship/engine/identity.h"

#include <string.h>

bool identity_is_uuid(const char *text) {
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (!text[i] || !strchr(dash ? "-" : "0123456789abcdefABCDEF", text[i])) {
            return false;
        }
    }
    return text[36] == '\0';
}
