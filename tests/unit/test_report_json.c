// SPDX-License-Identifier: Apache-2.0
//
// The JSON writer of reports: what stands between values, and numbers at their ends.
#include <criterion/criterion.h>
#include <math.h>

#include "report/table/json.h"

static void expect(struct nvtxt_out *out, const char *expected) {
    nvtxt_out_bytes(out, "", 1);
    cr_expect_str_eq(out->data, expected);
    nvtxt_out_deinit(out);
}

Test(report_json, values_stand_between_commas) {
    struct nvtxt_out out;
    struct report_json json;
    cr_assert(nvtxt_out_init(&out, -1) == 0);
    report_json_begin(&json, &out, "stats");
    report_json_array(&json, "empty");
    report_json_end_array(&json);
    report_json_array(&json, "full");
    report_json_int(&json, NULL, -1);
    report_json_object(&json, NULL);
    report_json_bool(&json, "a", true);
    report_json_null(&json, "b");
    report_json_end_object(&json);
    report_json_text(&json, NULL, NULL);
    report_json_end_array(&json);
    report_json_slice(&json, "text", NVTXT_SLICE("\"\xFF"));
    report_json_end(&json);
    expect(&out, "{\"schema\":\"nvtxt-report/1\",\"command\":\"stats\",\"empty\":[],"
                 "\"full\":[-1,{\"a\":true,\"b\":null},null],\"text\":\"\\\"\xEF\xBF\xBD\"}\n");
}

Test(report_json, numbers_that_double_cannot_hold_are_texts) {
    struct nvtxt_out out;
    struct report_json json;
    cr_assert(nvtxt_out_init(&out, -1) == 0);
    report_json_init(&json, &out);
    report_json_object(&json, NULL);
    report_json_int(&json, "a", INT64_MIN);
    report_json_uint(&json, "b", INT64_MAX);
    report_json_uint(&json, "c", (uint64_t)INT64_MAX + 1);
    report_json_double(&json, "d", 0.1);
    report_json_double(&json, "e", NAN);
    report_json_double_na(&json, "f", -INFINITY);
    report_json_end_object(&json);
    expect(&out, "{\"a\":-9223372036854775808,\"b\":9223372036854775807,"
                 "\"c\":\"9223372036854775808\",\"d\":0.1,\"e\":null,\"f\":null,\"na\":\"-inf\"}");
}

Test(report_json, what_may_be_missing_lists_colours_and_digits) {
    const struct nvtxt_slice texts[] = {NVTXT_SLICE("a"), NVTXT_SLICE("b")};
    struct nvtxt_out out;
    struct report_json json;
    cr_assert(nvtxt_out_init(&out, -1) == 0);
    report_json_init(&json, &out);
    report_json_object(&json, NULL);
    report_json_optional(&json, "there", true, -5);
    report_json_optional(&json, "missing", false, -5);
    report_json_slices(&json, "texts", texts, 2);
    report_json_color(&json, "color", 0xFF00A0B1);
    report_json_digits(&json, "ns", INT64_MIN);
    report_json_end_object(&json);
    expect(&out, "{\"there\":-5,\"missing\":null,\"texts\":[\"a\",\"b\"],"
                 "\"color\":\"#FF00A0B1\",\"ns\":\"-9223372036854775808\"}");
}
