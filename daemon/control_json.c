// SPDX-License-Identifier: Apache-2.0
#include "daemon/control_json.h"

#include <stdlib.h>

#include "protocol/utf8.h"

json_t *control_text(const char *text) {
    struct nvtxt_slice bytes = nvtxt_slice_of(text);
    char *valid = malloc(bytes.len * NVTXT_UTF8_GROWTH + 1);
    json_t *string = valid ? json_stringn(valid, nvtxt_utf8_repair(valid, bytes)) : NULL;
    free(valid);
    return string;
}

json_t *control_nullable(const char *text) {
    return text && *text ? control_text(text) : json_null();
}

void control_set(json_t *object, const char *name, int64_t value) {
    json_object_set_new(object, name, json_integer(value));
}
