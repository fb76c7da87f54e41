// SPDX-License-Identifier: Apache-2.0
//
// Names of events as tables and ids of instances have them: DOMAIN:MESSAGE, and :MESSAGE in the
// default domain.
#pragma once

#include "report/load/capture.h"

// One text for each of capture->names, in their order. It is one block of memory: free() it. NULL
// when memory is short.
struct nvtxt_slice *report_name_texts(const struct report_capture *capture);

// A path as trees have it: the message, and DOMAIN:MESSAGE outside the default domain.
static inline struct nvtxt_slice report_step_of(const struct report_capture *capture, uint32_t name,
                                                const struct nvtxt_slice *texts) {
    bool plain = capture->names[name].domain == 0;
    return (struct nvtxt_slice){texts[name].data + plain, texts[name].len - plain};
}

// The order of texts, bytewise: below, above or equal to 0.
static inline int report_text_order(struct nvtxt_slice a, struct nvtxt_slice b) {
    size_t least = a.len < b.len ? a.len : b.len;
    int order = least > 0 ? memcmp(a.data, b.data, least) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}
