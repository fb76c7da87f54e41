// SPDX-License-Identifier: Apache-2.0
#include "client/run/child.h"

#include <stdio.h>
#include <stdlib.h>

void parent_take(char parent[NVTXT_PARENT_BYTES + 1], struct term *term) {
    const char *text = secure_getenv(NVTXT_PARENT_VARIABLE);
    *parent = '\0';
    if (!text || !*text || nvtxt_parent_read(nvtxt_slice_of(text), parent)) {
        return;
    }
    *parent = '\0';
    if (term) {
        term_say(term,
                 "warning: " NVTXT_PARENT_VARIABLE "=%.60s cannot be read: what is recorded has "
                 "no parent",
                 text);
    }
}

void parent_token(char token[NVTXT_PARENT_BYTES + 1], const char *session, const char *key) {
    snprintf(token, NVTXT_PARENT_BYTES + 1, "%s:%s", session, key);
}

void parent_give(const char *token) {
    (void)setenv(NVTXT_PARENT_VARIABLE, token, 1); // without memory the range above is the parent
}
