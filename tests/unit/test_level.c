// SPDX-License-Identifier: Apache-2.0
//
// Names of levels: those of the store, and what programs write for them.
#include "protocol/lang/names.h"

#include <criterion/criterion.h>

static int find(const char *word) {
    return nvtxt_level_find(nvtxt_slice_of(word));
}

Test(level, has_the_names_of_syslog) {
    static const char *const names[NVTXT_LEVEL_COUNT] = {"emerg",   "alert",  "crit", "err",
                                                         "warning", "notice", "info", "debug"};
    for (int level = 0; level < NVTXT_LEVEL_COUNT; level++) {
        cr_assert_str_eq(nvtxt_level_name(level), names[level]);
        cr_assert_eq(find(names[level]), level);
    }
    cr_assert_null(nvtxt_level_name(-1));
    cr_assert_null(nvtxt_level_name(NVTXT_LEVEL_COUNT));
    cr_assert_null(nvtxt_level_name(INT64_MIN));
}

Test(level, is_found_by_other_common_names_in_any_case) {
    cr_assert_eq(find("error"), 3);
    cr_assert_eq(find("Error"), 3);
    cr_assert_eq(find("WARN"), 4);
    cr_assert_eq(find("FATAL"), 2);
    cr_assert_eq(find("panic"), 0);
    cr_assert_eq(find("information"), 6);
    cr_assert_eq(find("trace"), 7);
}

static bool span_is(const char *text, int worst, int least) {
    struct nvtxt_level_span span;
    return nvtxt_level_span_parse(nvtxt_slice_of(text), &span) && span.worst == worst &&
           span.least == least;
}

Test(level, a_span_is_a_level_and_worse_or_from_one_to_another) {
    cr_assert(span_is("err", 0, 3));
    cr_assert(span_is("7", 0, 7));
    cr_assert(span_is("0", 0, 0));
    cr_assert(span_is("err..info", 3, 6));
    cr_assert(span_is("info..err", 3, 6));
    cr_assert(span_is("4..WARN", 4, 4));
    static const char *const words[] = {"",      "8",  "errr", "..",   "err..", "..err",  "3.4",
                                        "3...4", "-1", "33",   "3..8", "err .", "err..x", "3..4.."};
    struct nvtxt_level_span span;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        cr_assert_not(nvtxt_level_span_parse(nvtxt_slice_of(words[i]), &span), "%s", words[i]);
    }
}

Test(level, is_none_for_other_words) {
    static const char *const words[] = {"", "er", "errors", "e", "3", "warning ", "infos"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        cr_assert_eq(find(words[i]), NVTXT_LEVEL_NONE, "%s", words[i]);
    }
}
