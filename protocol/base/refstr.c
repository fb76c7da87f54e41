// SPDX-License-Identifier: Apache-2.0
//
// One allocation holds the count and the text.
#include "protocol/base/slice.h"

#include <stdlib.h>

struct nvtxt_refstr *nvtxt_refstr_new(struct nvtxt_slice text) {
    struct nvtxt_refstr *refstr = malloc(sizeof(*refstr) + text.len);
    if (!refstr) {
        return NULL;
    }
    refstr->refs = 1;
    refstr->len = text.len;
    if (text.len > 0) {
        memcpy(refstr->text, text.data, text.len);
    }
    return refstr;
}

struct nvtxt_refstr *nvtxt_refstr_ref(struct nvtxt_refstr *refstr) {
    if (refstr) {
        refstr->refs++;
    }
    return refstr;
}

void nvtxt_refstr_unref(struct nvtxt_refstr *refstr) {
    if (refstr && --refstr->refs == 0) {
        free(refstr);
    }
}
