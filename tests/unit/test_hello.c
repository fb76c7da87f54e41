// SPDX-License-Identifier: Apache-2.0
//
// The hello line and the report of dropped lines: what a client builds the daemon reads, and
// whatever else arrives ends in a sentence or is an ordinary comment.
#include "protocol/wire/hello.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "protocol/base/utf8.h"

#define ID "7f0c1a2b-0000-4000-8000-00000000000a"
#define REQUIRED "\"protocol\":1,\"session\":\"" ID "\""

static char why[512];

static int parse(const char *json, struct nvtxt_hello *hello) {
    char line[8192];
    snprintf(line, sizeof(line), "%s %s", NVTXT_HELLO_PREFIX, json);
    why[0] = '\0';
    return nvtxt_hello_parse(nvtxt_slice_of(line), hello, why, sizeof(why));
}

Test(hello, is_no_ordinary_comment) {
    cr_assert(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-session")));
    cr_assert(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-session {}")));
    cr_assert(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-session\t{}")));
    cr_assert_not(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-sessions {}")));
    cr_assert_not(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-session{}")));
    cr_assert_not(nvtxt_hello_is(NVTXT_SLICE(" #nvtxt-session {}")));
    cr_assert_not(nvtxt_hello_is(NVTXT_SLICE("#nvtxt-sessio")));
    cr_assert_not(nvtxt_hello_is(NVTXT_SLICE("")));
}

Test(hello, has_defaults_for_what_is_not_given) {
    struct nvtxt_hello hello;
    cr_assert_eq(parse("{" REQUIRED ",\"later\":[{\"x\":null}]}", &hello), 0, "%s", why);
    cr_assert_eq(hello.protocol, 1);
    cr_assert_str_eq(hello.session, ID);
    cr_assert_str_eq(hello.client, "");
    cr_assert_str_eq(hello.name, "");
    cr_assert_not(hello.has_pid);
    cr_assert_not(hello.has_acked);
    cr_assert(hello.diagnostics);
    cr_assert_not(hello.escapes);
    cr_assert_not(hello.levels);
    cr_assert_eq(hello.nvtx, 0);
    cr_assert_eq(hello.expiry, 0);
    cr_assert_eq(hello.mapping.mode, NVTXT_MAPPING_NONE);
}

Test(hello, is_read_as_it_was_written) {
    struct nvtxt_hello written = {
        .protocol = 1,
        .session = ID,
        .client = "nvtxt-send 0.2.0",
        .name = "a \"quoted\"\tname \xc3\xa4",
        .has_pid = true,
        .pid = NVTXT_ID_MAX,
        .mapping = {.mode = NVTXT_MAPPING_LERP,
                    .ns_a = INT64_MIN,
                    .ns_b = INT64_MAX,
                    .nvtxt_a = -5,
                    .nvtxt_b = 7},
        .escapes = true,
        .levels = true,
        .nvtx = 3,
        .expiry = INT64_MAX,
        .diagnostics = false,
        .has_acked = true,
        .acked = INT64_MAX,
        .parent = ID ":run",
    };
    struct nvtxt_buf out = {0};
    nvtxt_hello_format(&out, &written);
    cr_assert_eq(out.data[out.len - 1], '\n');
    struct nvtxt_hello read;
    cr_assert_eq(
        nvtxt_hello_parse((struct nvtxt_slice){out.data, out.len - 1}, &read, why, sizeof(why)), 0,
        "%s", why);
    cr_assert_str_eq(read.session, ID);
    cr_assert_str_eq(read.client, written.client);
    cr_assert_str_eq(read.name, written.name);
    cr_assert(read.has_pid);
    cr_assert_eq(read.pid, NVTXT_ID_MAX);
    cr_assert_eq(read.mapping.mode, NVTXT_MAPPING_LERP);
    cr_assert_eq(read.mapping.ns_a, INT64_MIN);
    cr_assert_eq(read.mapping.ns_b, INT64_MAX);
    cr_assert_eq(read.mapping.nvtxt_a, -5);
    cr_assert_eq(read.mapping.nvtxt_b, 7);
    cr_assert(read.escapes);
    cr_assert(read.levels);
    cr_assert_eq(read.nvtx, 3);
    cr_assert_eq(read.expiry, INT64_MAX);
    cr_assert_not(read.diagnostics);
    cr_assert(read.has_acked);
    cr_assert_eq(read.acked, INT64_MAX);
    cr_assert_str_eq(read.parent, ID ":run");
    cr_assert_not(read.bad_parent);
    nvtxt_buf_deinit(&out);
}

Test(hello, that_asks_who_is_there_needs_no_session) {
    struct nvtxt_hello hello, probe = {.protocol = 1, .is_probe = true, .diagnostics = true};
    struct nvtxt_buf out = {0};
    nvtxt_hello_format(&out, &probe);
    cr_assert_eq(
        nvtxt_hello_parse((struct nvtxt_slice){out.data, out.len - 1}, &hello, why, sizeof(why)), 0,
        "%s", why);
    nvtxt_buf_deinit(&out);
    cr_assert(hello.is_probe);
    cr_assert_str_eq(hello.session, "");
    cr_assert_eq(parse("{" REQUIRED ",\"probe\":1}", &hello), 0, "%s", why);
    cr_assert(hello.is_probe);
    cr_assert_str_eq(hello.session, ID);
    cr_assert_eq(parse("{" REQUIRED "}", &hello), 0, "%s", why);
    cr_assert_not(hello.is_probe);
    cr_assert_eq(parse("{" REQUIRED ",\"probe\":0}", &hello), NVTXT_HELLO_MALFORMED);
    cr_assert_eq(parse("{\"protocol\":1,\"probe\":1,\"session\":\"x\"}", &hello),
                 NVTXT_HELLO_MALFORMED);
}

Test(hello, stays_within_its_limit_whatever_the_names_hold) {
    static const char fillers[] = {'\x01', '"', '\xff', 'a'};
    for (size_t i = 0; i < sizeof(fillers); i++) {
        struct nvtxt_hello hello = {
            .protocol = INT64_MIN,
            .session = ID,
            .has_pid = true,
            .pid = NVTXT_ID_MAX,
            .has_acked = true,
            .acked = UINT64_MAX,
            .mapping = {NVTXT_MAPPING_LERP, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, 0},
        };
        memset(hello.client, fillers[i], NVTXT_SOURCE_NAME_BYTES);
        memset(hello.name, fillers[i], NVTXT_SOURCE_NAME_BYTES);
        struct nvtxt_buf out = {0};
        nvtxt_hello_format(&out, &hello);
        cr_assert_leq(out.len - 1, NVTXT_HELLO_BYTES);
        cr_assert(nvtxt_utf8_valid((struct nvtxt_slice){out.data, out.len}));
        nvtxt_buf_deinit(&out);
    }
}

Test(hello, makes_names_utf8) {
    struct nvtxt_hello hello = {
        .protocol = 1, .session = ID, .name = "a\xffz", .diagnostics = true};
    struct nvtxt_buf out = {0};
    nvtxt_hello_format(&out, &hello);
    struct nvtxt_hello read;
    cr_assert_eq(
        nvtxt_hello_parse((struct nvtxt_slice){out.data, out.len - 1}, &read, why, sizeof(why)), 0,
        "%s", why);
    cr_assert_str_eq(read.name, "a\xef\xbf\xbdz");
    nvtxt_buf_deinit(&out);
}

Test(hello, takes_session_ids_with_and_without_dashes) {
    struct nvtxt_hello hello;
    cr_assert_eq(parse("{\"protocol\":1,\"session\":\"7F0C1A2B00004000800000000000000A\"}", &hello),
                 0);
    cr_assert_str_eq(hello.session, "7f0c1a2b00004000800000000000000a");
    static const char *const wrong[] = {
        "",
        "x",
        "7f0c1a2b-0000-4000-8000-00000000000",
        "7f0c1a2b-0000-4000-8000-00000000000ab",
        "7f0c1a2b00004000-8000-00000000000a00",
        "7f0c1a2b-0000-4000-8000-00000000000g",
        "-7f0c1a2b0000400080000000000000aa",
        "7f0c1a2b-0000-4000-8000000000000000a",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char json[256];
        snprintf(json, sizeof(json), "{\"protocol\":1,\"session\":\"%s\"}", wrong[i]);
        cr_assert_eq(parse(json, &hello), 1, "%s", wrong[i]);
        cr_assert(strstr(why, "'session'"), "%s", why);
    }
}

Test(hello, names_the_protocol_that_is_not_supported) {
    struct nvtxt_hello hello;
    cr_assert_eq(parse("{\"protocol\":2,\"session\":{}}", &hello), 2);
    cr_assert(strstr(why, "protocol 2"), "%s", why);
    cr_assert_eq(parse("{\"session\":\"" ID "\"}", &hello), 1);
    cr_assert(strstr(why, "'protocol'"), "%s", why);
    cr_assert_eq(nvtxt_hello_parse(NVTXT_SLICE("#nvtxt-session"), &hello, why, sizeof(why)), 1);
    cr_assert_str_eq(why, "what follows #nvtxt-session is not a JSON object");
}

Test(hello, names_the_member_that_is_wrong) {
    static const struct {
        const char *member, *json;
    } cases[] = {
        {"'protocol'", "{\"protocol\":\"1\",\"session\":\"" ID "\"}"},
        {"'protocol'", "{\"protocol\":1.0,\"session\":\"" ID "\"}"},
        {"'session'", "{\"protocol\":1,\"session\":7}"},
        {"'session'", "{\"protocol\":1}"},
        {"'client'", "{" REQUIRED ",\"client\":1}"},
        {"'name'", "{" REQUIRED ",\"name\":null}"},
        {"'pid'", "{" REQUIRED ",\"pid\":\"1\"}"},
        {"'pid'", "{" REQUIRED ",\"pid\":-1}"},
        {"'pid'", "{" REQUIRED ",\"pid\":16777216}"},
        {"'pid'", "{" REQUIRED ",\"pid\":1e3}"},
        {"'acked'", "{" REQUIRED ",\"acked\":-1}"},
        {"'acked'", "{" REQUIRED ",\"acked\":true}"},
        {"'diagnostics'", "{" REQUIRED ",\"diagnostics\":0}"},
        {"'escapes'", "{" REQUIRED ",\"escapes\":1}"},
        {"'levels'", "{" REQUIRED ",\"levels\":\"err\"}"},
        {"'nvtx'", "{" REQUIRED ",\"nvtx\":0}"},
        {"'nvtx'", "{" REQUIRED ",\"nvtx\":-1}"},
        {"'nvtx'", "{" REQUIRED ",\"nvtx\":\"1\"}"},
        {"'nvtx'", "{" REQUIRED ",\"nvtx\":1.0}"},
        {"'nvtx'", "{" REQUIRED ",\"nvtx\":true}"},
        {"integer of 1 or more", "{" REQUIRED ",\"nvtx\":null}"},
        {"'expiry'", "{" REQUIRED ",\"expiry\":0}"},
        {"'expiry'", "{" REQUIRED ",\"expiry\":-60}"},
        {"integer of 1 or more", "{" REQUIRED ",\"expiry\":\"60\"}"},
        {"'mapping'", "{" REQUIRED ",\"mapping\":\"lin\"}"},
        {"'mode'", "{" REQUIRED ",\"mapping\":{}}"},
        {"'mode'", "{" REQUIRED ",\"mapping\":{\"mode\":\"exp\"}}"},
        {"'nvtxt_a'", "{" REQUIRED ",\"mapping\":{\"mode\":\"lin\",\"ns_a\":1,\"freq\":5}}"},
        {"'freq'", "{" REQUIRED ",\"mapping\":{\"mode\":\"lin\",\"ns_a\":1,\"nvtxt_a\":5}}"},
        {"'nvtxt_b'", "{" REQUIRED ",\"mapping\":{\"mode\":\"lerp\",\"ns_a\":1,\"ns_b\":5,"
                      "\"nvtxt_a\":0}}"},
        {"'ns_a'", "{" REQUIRED ",\"mapping\":{\"mode\":\"lin\",\"ns_a\":1.5,\"nvtxt_a\":5,"
                   "\"freq\":1}}"},
        {"impossible", "{" REQUIRED ",\"mapping\":{\"mode\":\"lin\",\"ns_a\":1,\"nvtxt_a\":5,"
                       "\"freq\":0}}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct nvtxt_hello hello;
        cr_assert_eq(parse(cases[i].json, &hello), 1, "%s", cases[i].json);
        cr_assert(strstr(why, cases[i].member), "%s: %s", cases[i].json, why);
    }
}

Test(hello, with_nvtx_has_escapes) {
    struct nvtxt_hello hello;
    cr_assert_eq(parse("{" REQUIRED ",\"nvtx\":1,\"expiry\":60}", &hello), 0, "%s", why);
    cr_assert(hello.nvtx == 1 && hello.escapes && hello.expiry == 60);
    cr_assert_eq(parse("{" REQUIRED ",\"nvtx\":9,\"escapes\":false}", &hello), 0, "%s", why);
    cr_assert(hello.nvtx == 9 && hello.escapes);
}

Test(hello, of_a_file_says_what_its_lines_may_hold) {
    static const struct {
        const char *line;
        int result;
        bool escapes, nvtx;
    } cases[] = {
        {"#nvtxt-session {" REQUIRED ",\"nvtx\":1}", 1, true, true},
        {"#nvtxt-session {\"protocol\":1,\"nvtx\":2}", 1, true, true},
        {"#nvtxt-session {\"protocol\":1,\"escapes\":true}", 1, true, false},
        {"#nvtxt-session {\"protocol\":1}", 1, false, false},
        {"#nvtxt-session {\"protocol\":2,\"nvtx\":1}", 0, false, false},
        {"#nvtxt-session {\"nvtx\":1}", 0, false, false},
        {"#nvtxt-session {\"protocol\":1,\"nvtx\":0}", 0, false, false},
        {"#nvtxt-session {\"protocol\":1,\"nvtx\":1", 0, false, false},
        {"#nvtxt-sessions {\"protocol\":1,\"nvtx\":1}", 0, false, false},
        {"# nvtxt-session {\"protocol\":1,\"nvtx\":1}", 0, false, false},
        {"", 0, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool escapes = true, nvtx = true;
        cr_assert_eq(nvtxt_hello_of_file(nvtxt_slice_of(cases[i].line), &escapes, &nvtx),
                     cases[i].result, "%s", cases[i].line);
        cr_assert_eq(escapes, cases[i].escapes, "%s", cases[i].line);
        cr_assert_eq(nvtx, cases[i].nvtx, "%s", cases[i].line);
    }
}

Test(hello, refuses_what_is_no_object) {
    static const char *const wrong[] = {
        "",
        "{",
        "[]",
        "1",
        "null",
        "\"x\"",
        "{} {}",
        "{" REQUIRED "} x",
        "{" REQUIRED "," REQUIRED "}",
        "{\"protocol\":1e999}",
        "{\"protocol\":99999999999999999999}",
        "{\"protocol\":1,\"session\":\"\\u0000\"}",
        "{\"protocol\":1,\"session\":\"\xff\"}",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct nvtxt_hello hello;
        cr_assert_eq(parse(wrong[i], &hello), 1, "%s", wrong[i]);
        cr_assert_gt(strlen(why), 10);
        cr_assert(nvtxt_utf8_valid(nvtxt_slice_of(why)));
    }
}

Test(hello, may_be_as_long_as_its_limit_and_no_longer) {
    char line[NVTXT_HELLO_BYTES + 2];
    int len = snprintf(line, sizeof(line), NVTXT_HELLO_PREFIX " {" REQUIRED "}");
    memset(line + len, ' ', sizeof(line) - (size_t)len);
    struct nvtxt_hello hello;
    struct nvtxt_slice slice = {line, NVTXT_HELLO_BYTES};
    cr_assert_eq(nvtxt_hello_parse(slice, &hello, why, sizeof(why)), 0);
    slice.len++;
    cr_assert_eq(nvtxt_hello_parse(slice, &hello, why, sizeof(why)), 1);
    cr_assert(strstr(why, "4096"), "%s", why);
}

Test(hello, keeps_as_much_of_a_long_name_as_there_is_room_for) {
    char line[NVTXT_HELLO_BYTES];
    char name[NVTXT_SOURCE_NAME_BYTES + 100] = "x";
    for (size_t i = 1; i + 2 < sizeof(name); i += 2) {
        memcpy(name + i, "\xC3\xA4", 3);
    }
    snprintf(line, sizeof(line), NVTXT_HELLO_PREFIX " {" REQUIRED ",\"name\":\"%s\"}", name);
    struct nvtxt_hello hello;
    cr_assert_eq(nvtxt_hello_parse(nvtxt_slice_of(line), &hello, why, sizeof(why)), 0, "%s", why);
    cr_assert_eq(strlen(hello.name), NVTXT_SOURCE_NAME_BYTES - 1, "no half character");
    cr_assert_arr_eq(hello.name, name, NVTXT_SOURCE_NAME_BYTES - 1);
}

Test(hello, cuts_its_sentence_to_the_room_that_is_there) {
    for (size_t size = 0; size < 40; size++) {
        char small[40] = "untouched";
        struct nvtxt_hello hello;
        cr_assert_eq(nvtxt_hello_parse(NVTXT_SLICE("#nvtxt-session []"), &hello, small, size), 1);
        cr_assert_lt(strlen(small), size ? size : sizeof(small));
    }
}

Test(hello, survives_deep_nesting) {
    char text[NVTXT_HELLO_BYTES];
    struct nvtxt_hello hello;
    memset(text, '[', sizeof(text));
    memcpy(text, NVTXT_HELLO_PREFIX " ", sizeof(NVTXT_HELLO_PREFIX));
    struct nvtxt_slice line = {text, sizeof(text)};
    cr_assert_eq(nvtxt_hello_parse(line, &hello, why, sizeof(why)), NVTXT_HELLO_MALFORMED);
}

// ---- Lines that were dropped --------------------------------------------------------------------

static bool is_lost(const char *line, struct nvtxt_lost *lost) {
    return nvtxt_lost_parse(nvtxt_slice_of(line), lost);
}

Test(lost, is_read_as_it_was_written) {
    struct nvtxt_lost lost = {.lines = 1234567890123, .reason = NVTXT_LOST_FULL};
    struct nvtxt_lost read;
    struct nvtxt_buf out = {0};
    nvtxt_lost_format(&out, &lost);
    cr_assert_eq(out.data[out.len - 1], '\n');
    cr_assert(nvtxt_lost_parse((struct nvtxt_slice){out.data, out.len - 1}, &read));
    cr_assert_eq(read.lines, lost.lines);
    cr_assert_str_eq(read.reason, "full");
    nvtxt_buf_clear(&out);
    lost = (struct nvtxt_lost){.lines = INT64_MAX, .reason = "abcdefghijklmnopqrstuvwxyz-abcd"};
    nvtxt_lost_format(&out, &lost);
    cr_assert_leq(out.len, NVTXT_LOST_BYTES);
    cr_assert(nvtxt_lost_parse((struct nvtxt_slice){out.data, out.len - 1}, &read));
    cr_assert_str_eq(read.reason, lost.reason);
    nvtxt_buf_deinit(&out);
}

Test(lost, ignores_members_that_it_does_not_know) {
    struct nvtxt_lost lost;
    cr_assert(is_lost("#nvtxt-lost\t{\"later\":[],\"reason\":\"disk-full\",\"lines\":1}", &lost));
    cr_assert_eq(lost.lines, 1);
    cr_assert_str_eq(lost.reason, "disk-full");
}

Test(lost, takes_anything_else_for_a_comment) {
    static const char *const comments[] = {
        "",
        "#",
        "#nvtxt-lost",
        "#nvtxt-lost ",
        "#nvtxt-lost {}",
        "#nvtxt-lost []",
        " #nvtxt-lost {\"lines\":1,\"reason\":\"full\"}",
        "#nvtxt-lost{\"lines\":1,\"reason\":\"a\"}",
        "#nvtxt-loss {\"lines\":1,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1}",
        "#nvtxt-lost {\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":0,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":-1,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":7}",
        "#nvtxt-lost {\"lines\":\"1\",\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1.0,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":\"\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":\"Full\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":\"a\\u0000\"}",
        "#nvtxt-lost {\"lines\":9223372036854775808,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1,\"lines\":2,\"reason\":\"full\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":\"abcdefghijklmnopqrstuvwxyzabcdef\"}",
        "#nvtxt-lost {\"lines\":1,\"reason\":\"full\"} x",
    };
    struct nvtxt_lost lost;
    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        cr_assert_not(is_lost(comments[i], &lost), "%s", comments[i]);
    }
    char line[400];
    snprintf(line, sizeof(line), "#nvtxt-lost {\"lines\":1,\"reason\":\"full\"%*s}",
             NVTXT_LOST_BYTES, "");
    cr_assert_not(is_lost(line, &lost), "too long");
}

// ---- Parents ------------------------------------------------------------------------------------

Test(hello, with_a_parent_that_cannot_be_read_is_one_without_a_parent) {
    static const struct {
        const char *member, *kept;
        bool bad;
    } cases[] = {
        {"\"" ID ":a\"", ID ":a", false}, {"\"\"", "", false}, {"\"what?\"", "what?", true},
        {"\"" ID ":\"", ID ":", true},    {"7", "", true},     {"null", "", true},
    };
    struct nvtxt_hello hello;
    char object[600];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(object, sizeof(object), "{" REQUIRED ",\"parent\":%s}", cases[i].member);
        cr_assert_eq(parse(object, &hello), 0, "%s: %s", object, why);
        cr_assert_str_eq(hello.parent, cases[i].kept, "%s", object);
        cr_assert_eq(hello.bad_parent, cases[i].bad, "%s", object);
    }
    char long_one[400];
    memset(long_one, 'a', sizeof(long_one));
    long_one[sizeof(long_one) - 1] = '\0';
    snprintf(object, sizeof(object), "{" REQUIRED ",\"parent\":\"%s\"}", long_one);
    cr_assert_eq(parse(object, &hello), 0, "%s", why);
    cr_assert(hello.bad_parent);
    cr_assert_eq(strlen(hello.parent), NVTXT_PARENT_BYTES);
}

static int keyed_of(const char *line, struct nvtxt_keyed *keyed) {
    return nvtxt_keyed_parse(nvtxt_slice_of(line), keyed);
}

Test(keyed, is_read_as_it_was_written) {
    struct nvtxt_keyed read, keyed = {.key = "run-1"};
    struct nvtxt_buf out = {0};
    nvtxt_keyed_format(&out, &keyed);
    cr_assert_eq(nvtxt_keyed_parse((struct nvtxt_slice){out.data, out.len - 1}, &read), 1);
    cr_assert_str_eq(read.key, "run-1");
    cr_assert_str_eq(read.parent, "");
    nvtxt_buf_clear(&out);
    memset(keyed.key, 'k', NVTXT_KEY_BYTES);
    snprintf(keyed.parent, sizeof(keyed.parent), ID ":%s", keyed.key);
    nvtxt_keyed_format(&out, &keyed);
    cr_assert_leq(out.len, NVTXT_RANGE_BYTES);
    cr_assert_eq(out.data[out.len - 1], '\n');
    cr_assert_eq(nvtxt_keyed_parse((struct nvtxt_slice){out.data, out.len - 1}, &read), 1);
    cr_assert_str_eq(read.key, keyed.key);
    cr_assert_str_eq(read.parent, keyed.parent);
    cr_assert_not(read.bad_parent);
    nvtxt_buf_deinit(&out);
}

Test(keyed, keeps_its_key_when_its_parent_cannot_be_read) {
    struct nvtxt_keyed keyed;
    cr_assert_eq(keyed_of("#nvtxt-range {\"key\":\"a\",\"parent\":\"x\",\"later\":1}", &keyed), 1);
    cr_assert_str_eq(keyed.key, "a");
    cr_assert(keyed.bad_parent);
}

Test(keyed, takes_anything_else_for_a_comment) {
    static const char *const comments[] = {
        "#nvtxt-range",
        "#nvtxt-range {}",
        "#nvtxt-range []",
        "#nvtxt-range{\"key\":\"a\"}",
        " #nvtxt-range {\"key\":\"a\"}",
        "#nvtxt-ranges {\"key\":\"a\"}",
        "#nvtxt-range {\"key\":7}",
        "#nvtxt-range {\"key\":\"\"}",
        "#nvtxt-range {\"key\":\"a b\"}",
        "#nvtxt-range {\"key\":\"a\\u0000\"}",
        "#nvtxt-range {\"key\":\"a\",\"key\":\"b\"}",
        "#nvtxt-range {\"key\":\"a\"} x",
    };
    struct nvtxt_keyed keyed;
    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        cr_assert_eq(keyed_of(comments[i], &keyed), 0, "%s", comments[i]);
    }
    char line[700];
    snprintf(line, sizeof(line), "#nvtxt-range {\"key\":\"a\"%*s}", NVTXT_RANGE_BYTES, "");
    cr_assert_eq(keyed_of(line, &keyed), 0, "too long");
}
