// SPDX-License-Identifier: Apache-2.0
//
// JSON of events in an export: on one line, split at the ends of a range, its numbers.
#include "protocol/lang/value.h"
#include "protocol/text/out.h"
#include "tests/unit/export_kit.h"

// The copy lets the sanitizer find a read behind the text.
static struct nvtxt_slice copy_of(const char *text, size_t len) {
    char *copy = malloc(len ? len : 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, len);
    return (struct nvtxt_slice){copy, len};
}

static const char *put(struct output *output, const char *text) {
    struct nvtxt_slice copy = copy_of(text, strlen(text));
    output_clear(output);
    nvtxt_json_put(&output->out, copy);
    free((char *)copy.data);
    return output_text(output);
}

static const char *numbers(struct output *output, const char *text, unsigned wanted) {
    struct nvtxt_slice copy = copy_of(text, strlen(text));
    output_clear(output);
    cr_expect_eq(nvtxt_json_numbers(&output->out, copy), wanted, "%s", text);
    free((char *)copy.data);
    return output_text(output);
}

// The ends with a '|' between them; "" when the text is not split.
static const char *split(struct output *output, const char *text, size_t len) {
    struct nvtxt_slice copy = copy_of(text, len), begin, end;
    output_clear(output);
    if (nvtxt_json_split(copy, &begin, &end)) {
        nvtxt_out_slice(&output->out, begin);
        NVTXT_OUT_LITERAL(&output->out, "|");
        nvtxt_out_slice(&output->out, end);
    }
    free((char *)copy.data);
    return output_text(output);
}

#define SPLIT(text) split(&output, text, strlen(text))

Test(json_pieces, puts_values_on_one_line) {
    struct output output;
    char deep[200] = "{\"begin\":";
    output_open(&output);
    cr_expect_str_eq(put(&output, "{\"a\":\n\t[1,\r\n2]}"), "{\"a\":  [1,  2]}");
    cr_expect_str_eq(put(&output, "1e999"), "1e999");
    cr_expect_str_eq(put(&output, "{\"a\":"), "\"{\\\"a\\\":\"");
    cr_expect_str_eq(put(&output, "\"\xFF\""), "\"\\\"\xEF\xBF\xBD\\\"\"");
    cr_expect_str_eq(put(&output, ""), "\"\"");
    memset(deep + 9, '[', 64);
    memset(deep + 73, ']', 64);
    strcpy(deep + 137, ",\"end\":1}"); // 65 levels: those of a value, and that of the join
    cr_expect_str_eq(put(&output, deep), deep);
    output_close(&output);
}

Test(json_pieces, splits_what_the_interpreter_joins) {
    struct output output;
    output_open(&output);
    cr_expect_str_eq(SPLIT("{\"begin\":null,\"end\":1}"), "|1");
    cr_expect_str_eq(SPLIT("{\"begin\": null,\"end\": 1 }"), " null| 1 ");
    cr_expect_str_eq(SPLIT("{\"begin\":\"a,\\\"}\",\"end\":{\"end\":2}}"),
                     "\"a,\\\"}\"|{\"end\":2}");
    cr_expect_str_eq(SPLIT("{\"begin\":{\"begin\":1,\"end\":2},\"end\":[3,{}]}"),
                     "{\"begin\":1,\"end\":2}|[3,{}]");
    static const char *const others[] = {
        "",
        "{\"begin\":1}",
        "{\"begin\":,\"end\":1}",
        "{\"begin\":1,\"end\":}",
        "{\"begin\":1,\"end\":2,\"more\":3}",
        "{\"begin\":1 2,\"end\":2}",
        "{\"begin\" :1,\"end\":2}",
        "{\"begin\":1,\"end\":2} ",
        "{\"begin\":1, \"end\":2}",
        "{\"end\":1,\"begin\":2}",
        "{\"begin\":\"\\",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_expect_str_eq(SPLIT(others[i]), "", "%s", others[i]);
    }
    static const char whole[] = "{\"begin\":[\"\\\\\",{\"a\":-1}],\"end\":\"x\\\"\"}";
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        cr_expect_str_eq(split(&output, whole, len), "", "%zu", len);
    }
    output_close(&output);
}

Test(json_pieces, finds_the_numbers_of_an_object) {
    struct output output;
    output_open(&output);
    cr_expect_str_eq(numbers(&output, "{\"a\":1,\"b\":-2.5e3}", 2), "\"a\":1,\"b\":-2.5e3");
    cr_expect_str_eq(numbers(&output, " { \"a\" : \"x,1\" , \"b\\\"c\" : 2 }\n", 1),
                     "\"b\\\"c\":2");
    cr_expect_str_eq(numbers(&output, "{\"a\":{\"b\":1},\"c\":[2,{\"d\":3}],\"e\":0}", 1),
                     "\"e\":0");
    static const char *const none[] = {
        "{}", "[1]", "1", "", "{\"a\":1", "{\"a\":null,\"b\":true}", "  ", "{\"a\":\"1\"}"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        cr_expect_str_eq(numbers(&output, none[i], 0), "", "%s", none[i]);
    }
    output_close(&output);
}

// The members as `name=value;`.
static const char *members(struct output *output, const char *text) {
    struct nvtxt_slice copy = copy_of(text, strlen(text));
    struct nvtxt_json_member member = {.next = 0};
    output_clear(output);
    while (nvtxt_json_next(copy, &member)) {
        nvtxt_out_slice(&output->out, member.name);
        NVTXT_OUT_LITERAL(&output->out, "=");
        nvtxt_out_slice(&output->out, member.value);
        NVTXT_OUT_LITERAL(&output->out, ";");
    }
    free((char *)copy.data);
    return output_text(output);
}

Test(json_pieces, goes_through_members_and_elements) {
    struct output output;
    output_open(&output);
    cr_expect_str_eq(members(&output, "{}"), "");
    cr_expect_str_eq(members(&output, " [ ] "), "");
    cr_expect_str_eq(members(&output, "[1,\"]\",[2,{}],{\"a\":[3]} , null\n]"),
                     "=1;=\"]\";=[2,{}];={\"a\":[3]};=null;");
    cr_expect_str_eq(members(&output, " { \"a\" : {\"b\":\"}\"} ,\"\\\"\":[ 1, 2 ]\t,\"\":-1 }"),
                     "\"a\"={\"b\":\"}\"};\"\\\"\"=[ 1, 2 ];\"\"=-1;");
    output_close(&output);
}

static const char *decoded(struct output *output, const char *text) {
    struct nvtxt_slice copy = copy_of(text, strlen(text));
    output_clear(output);
    nvtxt_json_decode(&output->out, copy);
    free((char *)copy.data);
    return output_text(output);
}

Test(json_pieces, decodes_strings) {
    struct output output;
    output_open(&output);
    cr_expect_str_eq(decoded(&output, "\"\""), "");
    cr_expect_str_eq(decoded(&output, "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\""), "a\"\\/\b\f\n\r\t");
    cr_expect_str_eq(decoded(&output, "\"\\u0041\\u00e4\\u20AC\\uD83d\\uDE00\""),
                     "A\u00e4\u20AC\U0001F600");
    cr_expect_str_eq(decoded(&output, "\"\\ud83d\""), "\uFFFD");
    cr_expect_str_eq(decoded(&output, "\"\\ud83d\\u0041\\udc00z\\ud83d\\n\""),
                     "\uFFFDA\uFFFDz\uFFFD\n");
    cr_expect_eq(*decoded(&output, "\"\\u0000\""), '\0');
    cr_expect_eq(output.len, 1);
    output_close(&output);
}

static struct nvtxt_number number_of(const char *text) {
    struct nvtxt_slice copy = copy_of(text, strlen(text));
    struct nvtxt_number number;
    cr_assert_eq(nvtxt_json_number(copy, &number), 0);
    free((char *)copy.data);
    return number;
}

Test(json_pieces, reads_integers_as_such_while_they_fit) {
    static const char *const integers[] = {"0", "-7", "9223372036854775807",
                                           "-9223372036854775808"};
    static const int64_t values[] = {0, -7, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct nvtxt_number number = number_of(integers[i]);
        cr_expect_eq(number.type, NVTXT_I64, "%s", integers[i]);
        cr_expect_eq(number.integer, values[i], "%s", integers[i]);
    }
    cr_expect_eq(number_of("9223372036854775808").type, NVTXT_U64);
    cr_expect_eq((uint64_t)number_of("18446744073709551615").integer, UINT64_MAX);
    static const char *const reals[] = {"18446744073709551616", "-9223372036854775809", "1.0",
                                        "1e2"};
    static const double doubles[] = {0x1p64, -0x1p63, 1, 100};
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        struct nvtxt_number number = number_of(reals[i]);
        cr_expect_eq(number.type, NVTXT_F64, "%s", reals[i]);
        cr_expect_eq(number.real, doubles[i], "%s", reals[i]);
    }
}

Test(json_pieces, trims_blanks) {
    cr_expect(nvtxt_slice_equal(nvtxt_json_trimmed(NVTXT_SLICE(" \r\n\t[ 1 ]\n ")),
                                NVTXT_SLICE("[ 1 ]")));
    cr_expect_eq(nvtxt_json_trimmed(NVTXT_SLICE(" \n")).len, 0);
}
