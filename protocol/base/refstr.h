// SPDX-License-Identifier: Apache-2.0
//
// A text that several things of one source share: a display name stays the domain of the ranges
// that were opened under it. It is freed with its last reference. Only one thread may use it: the
// count is a plain number.
#pragma once

#include "protocol/base/slice.h"

struct nvtxt_refstr {
    size_t refs;
    size_t len;
    char text[];
};

struct nvtxt_refstr *nvtxt_refstr_new(struct nvtxt_slice text); // one reference; NULL: no memory
struct nvtxt_refstr *nvtxt_refstr_ref(struct nvtxt_refstr *refstr); // NULL gives NULL
void nvtxt_refstr_unref(struct nvtxt_refstr *refstr);               // NULL is fine

static inline struct nvtxt_slice nvtxt_refstr_slice(const struct nvtxt_refstr *refstr) {
    return refstr ? (struct nvtxt_slice){refstr->text, refstr->len} : (struct nvtxt_slice){NULL, 0};
}
