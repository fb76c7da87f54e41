// SPDX-License-Identifier: Apache-2.0
//
// The line by which a client tells of lines that it could not keep. Reading trusts nothing: what is
// not exactly such a line is an ordinary comment.
#include "protocol/wire/reply.h"

#include <errno.h>
#include <string.h>

#include "protocol/base/json.h"

int nvtxt_lost_parse(struct nvtxt_slice line, struct nvtxt_lost *lost) {
    size_t prefix = sizeof(NVTXT_LOST_PREFIX) - 1;
    *lost = (struct nvtxt_lost){0};
    if (line.len <= prefix || line.len > NVTXT_LOST_BYTES ||
        memcmp(line.data, NVTXT_LOST_PREFIX, prefix) != 0 ||
        (line.data[prefix] != ' ' && line.data[prefix] != '\t')) {
        return 0;
    }
    json_t *root;
    struct nvtxt_slice text = {line.data + prefix, line.len - prefix};
    if (nvtxt_json_read(text, JSON_REJECT_DUPLICATES, &root, NULL) == -ENOMEM) {
        return -ENOMEM;
    }
    const json_t *lines = json_object_get(root, "lines");
    const json_t *reason = json_object_get(root, "reason");
    size_t len = json_string_length(reason);
    bool good = json_is_integer(lines) && json_integer_value(lines) > 0 && len > 0 &&
                len < sizeof(lost->reason);
    for (size_t i = 0; good && i < len; i++) {
        char byte = json_string_value(reason)[i];
        good = (byte >= 'a' && byte <= 'z') || byte == '-';
    }
    if (good) {
        lost->lines = (uint64_t)json_integer_value(lines);
        memcpy(lost->reason, json_string_value(reason), len);
    }
    json_decref(root);
    return good;
}

void nvtxt_lost_format(struct nvtxt_buf *out, const struct nvtxt_lost *lost) {
    nvtxt_buf_add_string(out, NVTXT_LOST_PREFIX " {\"lines\":");
    nvtxt_buf_add_uint(out, lost->lines);
    nvtxt_buf_add_string(out, ",\"reason\":");
    nvtxt_buf_add_json_string(out, nvtxt_slice_of(lost->reason));
    nvtxt_buf_add_string(out, "}\n");
}
