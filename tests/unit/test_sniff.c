// SPDX-License-Identifier: Apache-2.0
//
// What counts as a log: errors, and no line with an effect, in the first 64 KiB.
#include "client/text/sniff.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct nvtxt_mapping none = {.mode = NVTXT_MAPPING_NONE};

// Whether bytes are a log, read in steps of `step`. The answer comes at most once.
static bool is_log(const char *bytes, size_t len, size_t step) {
    struct sniff sniff;
    unsigned logs = 0;
    cr_assert_eq(sniff_init(&sniff, &none), 0);
    for (size_t at = 0; at < len; at += step) {
        logs += sniff_bytes(&sniff, bytes + at, len - at < step ? len - at : step);
    }
    logs += sniff_bytes(&sniff, bytes, 0);
    logs += sniff_bytes(&sniff, bytes, 0);
    cr_assert_leq(logs, 1);
    cr_assert_eq(sniff.is_log, logs == 1);
    sniff_deinit(&sniff);
    return logs == 1;
}

static bool of_text(const char *text) {
    bool whole = is_log(text, strlen(text), strlen(text) + 1);
    cr_assert_eq(is_log(text, strlen(text), 1), whole, "%s", text);
    return whole;
}

Test(sniff, takes_lines_of_which_none_has_an_effect_for_a_log) {
    cr_assert(of_text("2026-11-21 12:00:00 ERROR x\n"));
    cr_assert(of_text("# head\n\nplain text\nmore"));
    cr_assert(of_text("unfinished"));
    cr_assert(of_text("x = $y\n"));
}

Test(sniff, takes_whatever_has_a_line_with_an_effect_for_nvtxt) {
    cr_assert_not(of_text(""));
    cr_assert_not(of_text("# only\n\n  # comments\n"));
    cr_assert_not(of_text("Oops\nx = 1\n"));
    cr_assert_not(of_text("Oops\n@Marker, Time\n"));
    cr_assert_not(of_text("bad\nbad\nMarker, 1, Manual, 1, 1, 0, 0, 'a', 0"));
}

Test(sniff, looks_at_the_first_64_kib_only) {
    static char bytes[SNIFF_BYTES + 100];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = i % 64 == 63 ? '\n' : 'x';
    }
    memcpy(bytes + SNIFF_BYTES, "a=1\n", 4);
    cr_assert(is_log(bytes, sizeof(bytes), 1000));
    cr_assert(is_log(bytes, sizeof(bytes), sizeof(bytes)));
    memcpy(bytes + SNIFF_BYTES - 64, "a=1\n", 4);
    cr_assert_not(is_log(bytes, sizeof(bytes), 1000));
    memset(bytes, 'x', sizeof(bytes));
    cr_assert_not(is_log(bytes, sizeof(bytes), 1000), "no line of it is known");
}
