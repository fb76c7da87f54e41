// SPDX-License-Identifier: Apache-2.0
//
// Numbers are read digit by digit, so that one that is too large is seen.
#include "protocol/conf/conf_value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
#define DAY_MS INT64_C(86400000)

const struct nvtxt_unit nvtxt_conf_sizes[] = {
    {"", 1}, {"K", 1024}, {"M", MIB}, {"G", 1024 * MIB}, {NULL, 0}};
const struct nvtxt_unit nvtxt_conf_durations[] = {
    {"", 1000}, {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}, {"d", DAY_MS}, {NULL, 0}};
const struct nvtxt_unit nvtxt_conf_plain[] = {{"", 1}, {NULL, 0}};

bool nvtxt_conf_number(const char *text, const struct nvtxt_unit *units, int64_t *number) {
    int64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *at - '0', &value)) {
            return false;
        }
    }
    if (at == text) {
        return false;
    }
    at += strspn(at, " ");
    for (; units->name; units++) {
        if (strcmp(at, units->name) == 0) {
            return !__builtin_mul_overflow(value, units->factor, number);
        }
    }
    return false;
}

void nvtxt_conf_expect_duration(int64_t least_ms, int64_t most_ms, char *why, size_t size) {
    snprintf(why, size,
             "a time from %" PRId64 " ms to %" PRId64 " s is expected, as in 100ms or 10s",
             least_ms, most_ms / 1000);
}

int nvtxt_conf_set_choice(int64_t *field, const char *choices, const char *value, char *why,
                          size_t size) {
    size_t len = strlen(value);
    int64_t place = 0;
    for (const char *at = choices; at; place++) {
        size_t word = strcspn(at, "|");
        if (word == len && memcmp(at, value, len) == 0) {
            *field = place;
            return 0;
        }
        at = at[word] ? at + word + 1 : NULL;
    }
    snprintf(why, size, "one of %s is expected", choices);
    return 1;
}

int nvtxt_conf_set_text(char **field, const char *value, bool adds) {
    bool joins = adds && *value && *field && **field;
    size_t before = joins ? strlen(*field) + 1 : 0, len = strlen(value) + 1;
    char *text = malloc(before + len);
    if (!text) {
        return -ENOMEM;
    }
    if (joins) {
        memcpy(text, *field, before - 1);
        text[before - 1] = '\n';
    }
    memcpy(text + before, value, len);
    free(*field);
    *field = text;
    return 0;
}
