// SPDX-License-Identifier: Apache-2.0
//
// Names of levels: those of the store, and what programs write for them.
#include "protocol/lang/names.h"

#include <criterion/criterion.h>

static int find(const char *word) {
    return nvtxt_level_find(nvtxt_slice_of(word));
}

Test(level, has_the_names_of_syslog) {
    static const char *const names[NVTXT_LEVELS] = {"emerg",   "alert",  "crit", "err",
                                                    "warning", "notice", "info", "debug"};
    for (int level = 0; level < NVTXT_LEVELS; level++) {
        cr_assert_str_eq(nvtxt_level_name(level), names[level]);
        cr_assert_eq(find(names[level]), level);
    }
    cr_assert_null(nvtxt_level_name(-1));
    cr_assert_null(nvtxt_level_name(NVTXT_LEVELS));
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

Test(level, is_none_for_other_words) {
    static const char *const words[] = {"", "er", "errors", "e", "3", "warning ", "infos"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        cr_assert_eq(find(words[i]), NVTXT_LEVEL_NONE, "%s", words[i]);
    }
}
