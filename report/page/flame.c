// SPDX-License-Identifier: Apache-2.0
//
// Two walks over the paths: one for the names that no item has, one for the paths. Sums are numbers
// that a reader rounds to a double, as they are drawn; the table beside them has all digits.
#include "report/page/timeline.h"

#include "protocol/base/origin.h"
#include "report/page/html.h"

// Names that no item has get the next numbers.
static void put_names(struct report_json *json, const struct report_capture *capture,
                      const struct report_paths *paths, uint32_t *numbers) {
    uint32_t count = 0;
    for (size_t i = 0; i < capture->name_count; i++) {
        count += numbers[i] != REPORT_NONE;
    }
    report_json_array(json, "names");
    for (size_t i = 0; i < paths->count; i++) {
        uint32_t of = paths->list[i].name;
        if (numbers[of] == REPORT_NONE) {
            numbers[of] = count++;
            report_json_array(json, NULL);
            report_json_uint(json, NULL, capture->names[of].domain);
            report_json_slice(json, NULL, capture->messages[capture->names[of].message]);
            report_json_end_array(json);
        }
    }
    report_json_end_array(json);
}

static void put_paths(struct report_json *json, const struct report_paths *paths,
                      const uint32_t *numbers) {
    report_json_array(json, "paths");
    for (size_t i = 0; i < paths->count; i++) {
        const struct report_path *path = &paths->list[i];
        report_json_array(json, NULL);
        report_json_uint(json, NULL, path->parent == REPORT_NONE ? 0 : (uint64_t)path->parent + 1);
        report_json_uint(json, NULL, numbers[path->name]);
        report_json_uint(json, NULL, path->count);
        report_json_uint(json, NULL, path->open);
        report_json_double(json, NULL, (double)path->total);
        report_json_double(json, NULL, (double)path->self);
        report_json_end_array(json);
    }
    report_json_end_array(json);
}

void page_flame(struct nvtxt_out *out, const struct report_capture *capture,
                const struct report_paths *paths, uint32_t *numbers) {
    struct nvtxt_out text;
    struct report_json json;
    if (nvtxt_out_init(&text, -1) != 0) {
        out->error = nvtxt_origin(-ENOMEM);
        return;
    }
    report_json_init(&json, &text);
    report_json_object(&json, "flame");
    report_json_double(&json, "total", (double)paths->width);
    report_json_uint(&json, "leftOut", paths->left_out);
    put_names(&json, capture, paths, numbers);
    put_paths(&json, paths, numbers);
    report_json_end_object(&json);
    page_script_json(out, (struct nvtxt_slice){text.data, text.len});
    out->error = out->error ?: text.error;
    nvtxt_out_deinit(&text);
}
