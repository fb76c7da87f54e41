// SPDX-License-Identifier: Apache-2.0
#include "protocol/text/forms.h"

#include <criterion/criterion.h>
#include <string.h>

#define SESSION "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001"
#define KEY_OF_16 "0123456789abcdef"
#define KEY_OF_64 KEY_OF_16 KEY_OF_16 KEY_OF_16 KEY_OF_16

Test(token, has_a_session_and_a_key) {
    static const struct {
        const char *text, *key;
    } cases[] = {
        {SESSION ":run", "run"},
        {SESSION ":run-12", "run-12"},
        {"0190c0f67d3a7b419f3612cbb0f1a001:4711.1795242240000000000", "4711.1795242240000000000"},
        {"0190C0F6-7D3A-7B41-9F36-12CBB0F1A001:A_z.9-", "A_z.9-"},
        {SESSION ":" KEY_OF_64, KEY_OF_64},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *key = nvtxt_token_key(cases[i].text);
        cr_assert(key && strcmp(key, cases[i].key) == 0, "%s", cases[i].text);
    }
}

Test(token, is_nothing_else) {
    static const char *const cases[] = {
        "",
        ":",
        "run",
        SESSION,
        SESSION ":",
        ":run",
        SESSION ":a b",
        SESSION ":a:b",
        SESSION ":\xc3\xa4",
        SESSION ":run\n",
        SESSION ":" KEY_OF_64 "x",
        " " SESSION ":run",
        "0190c0f6-7d3a-7b41-9f36-12cbb0f1a00g:run",
        "0190c0f6-7d3a-7b41-9f36-12cbb0f1a0011:run",
        "0190c0f67d3a-7b41-9f36-12cbb0f1a001:run",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_null(nvtxt_token_key(cases[i]), "%s", cases[i]);
    }
}
