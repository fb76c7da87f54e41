// SPDX-License-Identifier: Apache-2.0
//
// Texts are repaired in a copy that has room for the worst case: each bad byte becomes the three
// bytes of U+FFFD.
#include "daemon/control/control_cmds.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/writer/bqueue.h"
#include "protocol/base/utf8.h"

json_t *control_text(const char *text) {
    struct nvtxt_slice bytes = nvtxt_slice_of(text);
    char *valid = malloc(bytes.len * NVTXT_UTF8_GROWTH + 1);
    json_t *string = valid ? json_stringn(valid, nvtxt_utf8_repair(valid, bytes)) : NULL;
    free(valid);
    return string;
}

// A NUL is repaired as well, because readers of JSON refuse it.
json_t *control_slice(struct nvtxt_slice text) {
    json_t *string = memchr(text.data, 0, text.len) ? NULL : json_stringn(text.data, text.len);
    char *copy = string ? NULL : malloc(text.len * (NVTXT_UTF8_GROWTH + 1) + 1);
    if (!copy) {
        return string;
    }
    memcpy(copy, text.data, text.len);
    for (size_t i = 0; i < text.len; i++) {
        copy[i] = copy[i] ? copy[i] : '\xff'; // no byte of any character
    }
    char *valid = copy + text.len;
    string = json_stringn(valid, nvtxt_utf8_repair(valid, (struct nvtxt_slice){copy, text.len}));
    free(copy);
    return string;
}

json_t *control_nullable(const char *text) {
    return text && *text ? control_text(text) : json_null();
}

json_t *control_nullable_slice(struct nvtxt_slice text) {
    return text.len ? control_slice(text) : json_null();
}

void control_set(json_t *object, const char *name, int64_t value) {
    json_object_set_new(object, name, json_integer(value));
}

static json_t *describe_count(const struct removed_count *count) {
    return json_pack("{s:I, s:I, s:I}", "segments", (json_int_t)count->segments, "events",
                     (json_int_t)count->events, "bytes", (json_int_t)count->bytes);
}

json_t *control_removed(const struct removed *removed) {
    json_t *result = describe_count(&removed->all), *by = json_object();
    for (int key = 0; by && key < STORE_RETENTION_KEYS; key++) {
        json_object_set_new(by, store_retention_key_name((enum store_retention_key)key),
                            describe_count(&removed->by[key]));
    }
    control_set(result, "last_ns", removed->last_ns);
    json_object_set_new(result, "by", by);
    return result;
}
