// SPDX-License-Identifier: Apache-2.0
//
// Tokens are compared as text. So the session gets small letters, as that of a hello does.
#include <string.h>

#include "protocol/base/scan.h"
#include "protocol/text/forms.h"

bool nvtxt_key_is(struct nvtxt_slice text) {
    bool good = text.len > 0 && text.len <= NVTXT_KEY_BYTES;
    for (size_t i = 0; good && i < text.len; i++) {
        good = nvtxt_char_is(text.data[i], NVTXT_CHAR_DOTTED) || text.data[i] == '-';
    }
    return good;
}

bool nvtxt_parent_read(struct nvtxt_slice text, char parent[NVTXT_PARENT_BYTES + 1]) {
    char usual[NVTXT_UUID_SIZE];
    const char *colon = text.len > 0 ? memchr(text.data, ':', text.len) : NULL;
    size_t session = colon ? (size_t)(colon - text.data) : 0;
    if (!colon || session > NVTXT_SESSION_ID_BYTES || text.len > NVTXT_PARENT_BYTES ||
        !nvtxt_key_is((struct nvtxt_slice){colon + 1, text.len - session - 1})) {
        return false;
    }
    for (size_t i = 0; i < session; i++) {
        parent[i] = nvtxt_lower(text.data[i]);
    }
    parent[session] = '\0';
    if (strlen(parent) != session || !nvtxt_uuid_read(parent, usual)) {
        return false;
    }
    memcpy(parent + session, colon, text.len - session);
    parent[text.len] = '\0';
    return true;
}
