// SPDX-License-Identifier: Apache-2.0
//
// JSON texts that RFC 8259 has and has not, cut at every byte, and their depth.
#include "protocol/lang/jsontext.h"

#include <criterion/criterion.h>
#include <stdlib.h>

// The copy lets the sanitizer find a read behind the text.
static const char *fault(const char *text, size_t len, size_t *at) {
    char *copy = malloc(len ? len : 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, len);
    const char *found = nvtxt_json_fault((struct nvtxt_slice){copy, len}, at);
    free(copy);
    cr_assert_leq(*at, len);
    return found;
}

static void is_good(const char *text) {
    size_t at;
    const char *found = fault(text, strlen(text), &at);
    cr_assert_null(found, "%s: %s at %zu", text, found, at);
}

static void is_bad(const char *text, size_t where) {
    size_t at;
    cr_assert_not_null(fault(text, strlen(text), &at), "%s", text);
    cr_assert_eq(at, where, "%s: %zu", text, at);
}

Test(jsontext, takes_every_kind_of_value) {
    static const char *const good[] = {
        "0",
        "-0",
        "-12.50e+7",
        "1E-5",
        "0.0",
        "123456789012345678901234567890",
        "1e999",
        "true",
        "false",
        "null",
        "\"\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00aF\\ud800\"",
        "\"\xc3\xa4 \x7f\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,2 , 3]",
        "{\"a\":1,\"a\":[{}]}",
        " \t\r\n{ \"a\" : [ null , {\"b\":\"c\"} ] , \"d\" : -1 } \n",
        "[[[]],[{}],\"\",0]",
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        is_good(good[i]);
    }
}

Test(jsontext, says_where_the_fault_is) {
    is_bad("", 0);
    is_bad("  ", 2);
    is_bad("{} {}", 3);
    is_bad("1 2", 2);
    is_bad("01", 1);
    is_bad("-", 1);
    is_bad("1.", 2);
    is_bad(".5", 0);
    is_bad("1e", 2);
    is_bad("1e+", 3);
    is_bad("+1", 0);
    is_bad("nul", 0);
    is_bad("nullx", 4);
    is_bad("True", 0);
    is_bad("NaN", 0);
    is_bad("'a'", 0);
    is_bad("[1,]", 3);
    is_bad("[,1]", 1);
    is_bad("[1 2]", 3);
    is_bad("[1}", 2);
    is_bad("{\"a\":1]", 6);
    is_bad("{\"a\" 1}", 5);
    is_bad("{a:1}", 1);
    is_bad("{\"a\":}", 5);
    is_bad("{\"a\":1,}", 7);
    is_bad("{1:2}", 1);
    is_bad("]", 0);
    is_bad("[]]", 2);
    is_bad("\"a\nb\"", 2);
    is_bad("\"\\x\"", 2);
    is_bad("\"\\u12g4\"", 5);
    is_bad("// x", 0);
}

Test(jsontext, is_bad_when_it_is_cut) {
    static const char text[] = "{\"a\":[1.5e3,true,\"\\u00e4\",{\"b\":null}],\"c\":\"d\"}";
    size_t at;
    cr_assert_null(fault(text, sizeof(text) - 1, &at));
    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        cr_assert_not_null(fault(text, len, &at), "%zu", len);
    }
}

static const char *nested(unsigned depth, bool object, bool close) {
    static char text[NVTXT_JSON_DEPTH * 8];
    char *at = text;
    for (unsigned i = 0; i < depth; i++) {
        const char *open = object ? "{\"a\":" : "[";
        at = stpcpy(at, open);
    }
    at = stpcpy(at, "1");
    for (unsigned i = 0; close && i < depth; i++) {
        *at++ = object ? '}' : ']';
    }
    *at = '\0';
    return text;
}

Test(jsontext, is_at_most_64_deep) {
    is_good(nested(NVTXT_JSON_DEPTH, false, true));
    is_good(nested(NVTXT_JSON_DEPTH, true, true));
    is_bad(nested(NVTXT_JSON_DEPTH, true, false), strlen(nested(NVTXT_JSON_DEPTH, true, false)));
    is_bad(nested(NVTXT_JSON_DEPTH + 1, false, true), NVTXT_JSON_DEPTH);
    is_bad(nested(NVTXT_JSON_DEPTH + 1, true, true), NVTXT_JSON_DEPTH * 5);
}
