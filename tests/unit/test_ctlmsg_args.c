// SPDX-License-Identifier: Apache-2.0
//
// A request's arguments against the table of its command.
#include "protocol/wire/ctlmsg_args.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct nvtxt_ctl_arg table[] = {
    {"limit", NVTXT_CTL_INTEGER, false, 1, 1000, NULL},
    {"name", NVTXT_CTL_STRING, false, 1, 8, NULL},
    {"level", NVTXT_CTL_STRING, false, 0, 0, "error|warning|info"},
    {"source", NVTXT_CTL_INTEGER, true, 1, INT64_MAX, NULL},
    {NULL, NVTXT_CTL_INTEGER, false, 0, 0, NULL},
};

static const char *check(const char *arguments, const struct nvtxt_ctl_arg *args) {
    static char why[256];
    char text[512];
    snprintf(text, sizeof(text), "{\"id\":1,\"command\":\"c\"%s}", arguments);
    json_t *request = json_loads(text, 0, NULL);
    cr_assert_not_null(request, "%s", text);
    strcpy(why, "");
    int result = nvtxt_ctl_args_check(request, args, why, sizeof(why));
    cr_assert_eq(result != 0, *why != '\0');
    json_decref(request);
    return why;
}

Test(ctlmsg_args, takes_what_the_table_allows) {
    cr_assert_str_eq(check(",\"source\":7", table), "");
    cr_assert_str_eq(check(",\"source\":1,\"limit\":1", table), "");
    cr_assert_str_eq(check(",\"source\":1,\"limit\":1000,\"name\":\"12345678\"", table), "");
    cr_assert_str_eq(check(",\"source\":1,\"level\":\"error\"", table), "");
    cr_assert_str_eq(check(",\"source\":1,\"level\":\"info\"", table), "");
    cr_assert_str_eq(check("", NULL), "");
}

Test(ctlmsg_args, names_the_argument_that_is_wrong) {
    static const char *const wrong[][2] = {
        {",\"source\":0", "\"source\" must be an integer from 1 to 9223372036854775807"},
        {",\"source\":1.5", "\"source\" must be an integer"},
        {",\"source\":\"1\"", "\"source\" must be an integer"},
        {",\"source\":null", "\"source\" must be an integer"},
        {",\"source\":1,\"limit\":1001", "\"limit\" must be an integer from 1 to 1000"},
        {",\"source\":1,\"name\":\"\"", "\"name\" must be a string of 1 to 8 bytes"},
        {",\"source\":1,\"name\":\"123456789\"", "\"name\" must be a string of 1 to 8 bytes"},
        {",\"source\":1,\"name\":3", "\"name\" must be a string"},
        {",\"source\":1,\"level\":3", "\"level\" must be one of error|warning|info"},
        {",\"source\":1,\"level\":\"\"", "\"level\" must be one of error|warning|info"},
        {",\"source\":1,\"level\":\"warn\"", "\"level\" must be one of error|warning|info"},
        {",\"source\":1,\"level\":\"error|warning\"", "\"level\" must be one of"},
        {",\"limit\":1", "the argument \"source\" is missing"},
        {",\"source\":1,\"Limit\":1", "takes no argument \"Limit\""},
        {",\"source\":1,\"a\\u001b\\u00e9\":1", "takes no argument \"a???\""},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *why = check(wrong[i][0], table);
        cr_assert_not_null(strstr(why, wrong[i][1]), "%s: %s", wrong[i][0], why);
    }
    cr_assert_not_null(strstr(check(",\"x\":1", NULL), "takes no argument \"x\""));
}

Test(ctlmsg_args, shows_a_part_of_an_endless_name) {
    char text[400];
    snprintf(text, sizeof(text), ",\"%0300d\":1", 0);
    cr_assert_lt(strlen(check(text, NULL)), 160);
}

Test(ctlmsg_args, reads_what_is_given_and_what_is_not) {
    json_t *request = json_pack("{s:i, s:s}", "limit", 5, "name", "x");
    cr_assert_eq(nvtxt_ctl_integer(request, "limit", 9), 5);
    cr_assert_eq(nvtxt_ctl_integer(request, "other", 9), 9);
    cr_assert_str_eq(nvtxt_ctl_string(request, "name"), "x");
    cr_assert_null(nvtxt_ctl_string(request, "other"));
    json_decref(request);
}
