// SPDX-License-Identifier: Apache-2.0
//
// An array's text is {1,2,NULL,"a \"text\""}: every text is quoted, so that NULL, commas and braces
// in it are only text.
#include "ship/rows/array.h"

#include "protocol/base/origin.h"

// A column of a usual chunk of rows has less.
#define KEPT_BYTES ((size_t)1 << 20)

void arrays_deinit(struct arrays *arrays) {
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        nvtxt_buf_deinit(&arrays->columns[i]);
    }
    *arrays = (struct arrays){0};
}

void arrays_clear(struct arrays *arrays) {
    for (size_t i = 0; i < ARRAYS_MAX; i++) {
        nvtxt_buf_trim(&arrays->columns[i], KEPT_BYTES);
    }
    arrays->next = arrays->count = arrays->singles = 0;
}

static struct nvtxt_buf *next(struct arrays *arrays) {
    struct nvtxt_buf *column = &arrays->columns[arrays->next++];
    arrays->count = arrays->next > arrays->count ? arrays->next : arrays->count;
    return column;
}

void arrays_set_int(struct arrays *arrays, int64_t value) {
    arrays->singles++;
    nvtxt_buf_add_int(next(arrays), value);
}

void arrays_set_text(struct arrays *arrays, struct nvtxt_slice value) {
    arrays->singles++;
    row_text_add(next(arrays), value);
}

static struct nvtxt_buf *next_of_array(struct arrays *arrays) {
    struct nvtxt_buf *column = next(arrays);
    nvtxt_buf_add_string(column, column->len ? "," : "{");
    return column;
}

void arrays_int(struct arrays *arrays, int64_t value) {
    nvtxt_buf_add_int(next_of_array(arrays), value);
}

void arrays_maybe(struct arrays *arrays, struct store_maybe value) {
    struct nvtxt_buf *column = next_of_array(arrays);
    if (value.is_set) {
        nvtxt_buf_add_int(column, value.value);
    } else {
        nvtxt_buf_add_string(column, "NULL");
    }
}

void arrays_text(struct arrays *arrays, struct nvtxt_slice value) {
    struct nvtxt_buf *column = next_of_array(arrays);
    if (!value.data) {
        nvtxt_buf_add_string(column, "NULL");
        return;
    }
    nvtxt_buf_add_string(column, "\"");
    for (size_t at = 0; at < value.len;) {
        const char *rest = value.data + at;
        size_t len = 0;
        while (at + len < value.len && rest[len] != '"' && rest[len] != '\\') {
            len++;
        }
        row_text_add(column, (struct nvtxt_slice){rest, len});
        at += len;
        if (at < value.len) {
            nvtxt_buf_add_string(column, "\\");
            nvtxt_buf_add(column, value.data + at++, 1);
        }
    }
    nvtxt_buf_add_string(column, "\"");
}

void arrays_text_or_empty(struct arrays *arrays, struct nvtxt_slice value) {
    arrays_text(arrays, value.data ? value : NVTXT_SLICE(""));
}

void arrays_next_row(struct arrays *arrays) {
    arrays->next = arrays->singles;
}

int arrays_finish(struct arrays *arrays, const char **values) {
    for (size_t i = 0; i < arrays->count; i++) {
        struct nvtxt_buf *column = &arrays->columns[i];
        nvtxt_buf_add_string(column, i < arrays->singles ? "" : "}");
        nvtxt_buf_add(column, "", 1);
        if (nvtxt_buf_failed(column)) {
            return nvtxt_origin(-ENOMEM);
        }
        values[i] = column->data;
    }
    return 0;
}
