// SPDX-License-Identifier: Apache-2.0
//
// A token is looked at and not changed: who compares it with what the store has, compares bytes.
#include "protocol/text/forms.h"

#include <string.h>

#define KEY_BYTES                                                                                  \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-" // one key, one spelling

const char *nvtxt_token_key(const char *token) {
    char session[NVTXT_UUID_SIZE], uuid[NVTXT_UUID_SIZE];
    size_t len = strcspn(token, ":");
    if (len >= sizeof(session) || token[len] != ':') {
        return NULL;
    }
    memcpy(session, token, len);
    session[len] = '\0';
    const char *key = token + len + 1;
    return nvtxt_uuid_read(session, uuid) && nvtxt_token_key_is(key) ? key : NULL;
}

bool nvtxt_token_key_is(const char *key) {
    size_t len = strspn(key, KEY_BYTES);
    return len > 0 && len <= NVTXT_TOKEN_KEY_BYTES && key[len] == '\0';
}
