// SPDX-License-Identifier: Apache-2.0
//
// JSON of events in an export: on one line, split at the ends of a range, its numbers.
#include "protocol/text/json_pieces.h"

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
                     "\"b\\\"c\":2 ");
    cr_expect_str_eq(numbers(&output, "{\"a\":{\"b\":1},\"c\":[2,{\"d\":3}],\"e\":0}", 1),
                     "\"e\":0");
    static const char *const none[] = {
        "{}", "[1]", "1", "", "{\"a\":1", "{\"a\":null,\"b\":true}", "  ", "{\"a\":\"1\"}"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        cr_expect_str_eq(numbers(&output, none[i], 0), "", "%s", none[i]);
    }
    output_close(&output);
}
