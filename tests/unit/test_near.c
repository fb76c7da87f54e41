// SPDX-License-Identifier: Apache-2.0
//
// Which words are slips of a name, and which are other words.
#include "protocol/base/slice.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *name_of(const void *context, size_t index) {
    const char *const *names = context;
    return names[index];
}

static const char *near(const char *word) {
    static const char *const names[] = {"chrome", "csv", "", "jsonl", "RangePush", "Red", NULL};
    return nvtxt_near(nvtxt_slice_of(word), name_of, names);
}

Test(near, sees_slips) {
    static const char *const slips[][2] = {
        {"crome", "chrome"},
        {"chrrome", "chrome"},
        {"chrone", "chrome"},
        {"hcrome", "chrome"},
        {"cvs", "csv"},
        {"cs", "csv"},
        {"json", "jsonl"},
        {"jsnol", "jsonl"},
        {"rangepush", "RangePush"},
        {"RangesPushh", "RangePush"},
        {"Rde", "Red"},
        {"CHROME", "chrome"},
    };
    for (size_t i = 0; i < sizeof(slips) / sizeof(slips[0]); i++) {
        const char *found = near(slips[i][0]);
        cr_assert_not_null(found, "%s", slips[i][0]);
        cr_expect_str_eq(found, slips[i][1]);
    }
}

Test(near, prefers_the_name_that_contains_the_word) {
    static const char *const names[] = {"Manual",     "Relative",      "ClockRealtime",
                                        "RangeStart", "RangeStartEnd", NULL};
    static const char *const wanted[][2] = {
        {"Realtime", "ClockRealtime"}, {"realtime", "ClockRealtime"}, {"StartEnd", "RangeStartEnd"},
        {"RangeStar", "RangeStart"},   {"Relatve", "Relative"},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *found = nvtxt_near(nvtxt_slice_of(wanted[i][0]), name_of, names);
        cr_assert_not_null(found, "%s", wanted[i][0]);
        cr_expect_str_eq(found, wanted[i][1]);
    }
    cr_expect_null(nvtxt_near(NVTXT_SLICE("Range"), name_of, names), "there are two of them");
}

Test(near, leaves_other_words_alone) {
    static const char *const others[] = {"", "x", "xml", "RangePop", "Blue", "c", "chr", "Marker"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_expect_null(near(others[i]), "%s", others[i]);
    }
    char word[100];
    memset(word, 'c', sizeof(word));
    word[99] = '\0';
    cr_expect_null(near(word), "a long one");
}
