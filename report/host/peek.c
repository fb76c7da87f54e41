// SPDX-License-Identifier: Apache-2.0
//
// A function ends where a line begins with something else than a blank; its first `return` counts.
#include "report/host/use.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

static void next_line(struct nvtxt_scan *in) {
    const char *end = nvtxt_scan_find(in, '\n');
    in->at = end ? end + 1 : in->end;
}

// The rest of the function whose first line the cursor is in.
static struct nvtxt_slice rest_of_function(struct nvtxt_scan in) {
    const char *from = in.at;
    do {
        next_line(&in);
    } while (nvtxt_scan_left(&in) > 0 && strchr(" \t\r\n#", *in.at));
    return nvtxt_slice_between(from, in.at);
}

// The string in quotes with which a text begins.
static struct nvtxt_slice first_string(struct nvtxt_slice text) {
    struct nvtxt_scan in = nvtxt_scan(text);
    while (nvtxt_scan_take(&in, ' ')) {
    }
    char quote = nvtxt_scan_byte(&in, 0);
    if (!nvtxt_scan_take(&in, '"') && !nvtxt_scan_take(&in, '\'')) {
        return (struct nvtxt_slice){0};
    }
    const char *close = nvtxt_scan_find(&in, quote) ?: in.at;
    struct nvtxt_slice string = nvtxt_slice_between(in.at, close);
    bool plain = string.len > 0 && !memchr(string.data, '\\', string.len) &&
                 !memchr(string.data, '\n', string.len);
    return plain ? string : (struct nvtxt_slice){0};
}

bool report_peek(struct nvtxt_slice text, const char *function, struct nvtxt_slice *value) {
    char head[64];
    snprintf(head, sizeof(head), "def %s(", function);
    struct nvtxt_scan in = nvtxt_scan(text);
    *value = (struct nvtxt_slice){0};
    for (; nvtxt_scan_left(&in) > 0; next_line(&in)) {
        if (!nvtxt_scan_take_text(&in, head)) {
            continue;
        }
        struct nvtxt_slice rest = rest_of_function(in);
        const char *word = memmem(rest.data, rest.len, "return ", strlen("return "));
        if (word) {
            word += strlen("return ");
            *value = first_string(nvtxt_slice_between(word, rest.data + rest.len));
        }
        return true;
    }
    return false;
}
