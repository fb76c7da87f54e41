// SPDX-License-Identifier: Apache-2.0
//
// JSON texts that RFC 8259 has and has not, cut at every byte, and their depth; and random ones,
// beside jansson.
#include "protocol/lang/value.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdint.h>
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

// ---- Beside jansson -----------------------------------------------------------------------------

static uint64_t seed = 4711;

static uint32_t random_below(uint32_t most) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % most;
}

static bool is_one_of(const char *text, const char *const *list) {
    while (*list && !strstr(text, *list)) {
        list++;
    }
    return *list != NULL;
}

// jansson builds values, so it refuses numbers that it cannot hold, and halves of characters.
static void is_as_jansson_says(const char *text, size_t len) {
    static const char *const only_jansson[] = {"too big", "overflow", "Unicode", NULL};
    json_error_t error;
    size_t at;
    bool good = fault(text, len, &at) == NULL;
    json_t *json = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    bool is_known = json || is_one_of(error.text, only_jansson);
    cr_assert(good ? is_known : json == NULL, "%.*s: %s", (int)len, text,
              json ? "jansson takes it" : error.text);
    json_decref(json);
}

Test(jsontext, takes_what_jansson_takes) {
    static const char *const texts[] = {
        "{\"name\":\"value\",\"list\":[1,-2.5e+3,true,false,null,{}],\"more\":{\"a\":[]}}",
        "[\"\\u00e4\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\",0,-0,0.5,1E9, 12 ]",
        " [ [ [ ] , { \"k\" : 1 } ] ] ",
    };
    static const char bytes[] = "{}[]\",:0123456789.-+eEtrufalsn\\ \tuD8d";
    for (int i = 0; i < 60000; i++) {
        char text[128];
        const char *from = texts[random_below(3)];
        size_t len = strlen(from);
        memcpy(text, from, len);
        for (uint32_t changes = random_below(4); changes > 0; changes--) {
            text[random_below((uint32_t)len)] = bytes[random_below(sizeof(bytes) - 1)];
        }
        if (random_below(4) == 0) {
            len = random_below((uint32_t)len) + 1;
        }
        is_as_jansson_says(text, len);
    }
}
