// SPDX-License-Identifier: Apache-2.0
//
// Two passes: the first counts the bytes, the second puts them after the slices.
#include "report/model/model.h"

#include <stdlib.h>

static char *put_text(char *at, struct nvtxt_slice text) {
    if (text.len > 0) {
        memcpy(at, text.data, text.len);
    }
    return at + text.len;
}

struct nvtxt_slice *report_name_texts(const struct report_capture *capture) {
    size_t bytes = capture->name_count * (sizeof(struct nvtxt_slice) + 1) + 1;
    for (size_t i = 0; i < capture->name_count; i++) {
        bytes += capture->domains[capture->names[i].domain].len +
                 capture->messages[capture->names[i].message].len;
    }
    struct nvtxt_slice *texts = malloc(bytes);
    char *at = texts ? (char *)(texts + capture->name_count) : NULL;
    for (size_t i = 0; texts && i < capture->name_count; i++) {
        texts[i].data = at;
        at = put_text(at, capture->domains[capture->names[i].domain]);
        *at++ = ':';
        at = put_text(at, capture->messages[capture->names[i].message]);
        texts[i].len = (size_t)(at - texts[i].data);
    }
    return texts;
}
