// SPDX-License-Identifier: Apache-2.0
//
// Digits of whole numbers come from nvtxt_put_digits(), others from printf. Zeros are cut off at
// the end; commas are put in from the right, in place.
#include "report/table/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *report_number_word(double value) {
    if (isfinite(value)) {
        return NULL;
    }
    return isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
}

// Puts commas between the digits of `text`, which begin after a sign and end before a point.
static size_t group_digits(char *text, size_t len) {
    size_t first = text[0] == '-';
    char *point = memchr(text, '.', len);
    size_t end = point ? (size_t)(point - text) : len;
    size_t commas = end > first ? (end - first - 1) / 3 : 0;
    memmove(text + end + commas, text + end, len - end + 1);
    for (size_t from = end, to = end + commas; to > from; from -= 3, to -= 4) {
        memmove(text + to - 3, text + from - 3, 3);
        text[to - 4] = ',';
    }
    return len + commas;
}

// Cuts off the zeros at the end, but not the first `least` characters.
static size_t cut_zeros(char *text, size_t len, size_t least) {
    while (len > least && text[len - 1] == '0') {
        len--;
    }
    text[len] = '\0';
    return len;
}

static size_t write_whole(char text[REPORT_NUMBER], bool is_negative, uint64_t value) {
    text[0] = '-';
    char *end = nvtxt_put_digits(text + is_negative, value);
    *end = '\0';
    return group_digits(text, (size_t)(end - text));
}

size_t report_number_uint(char text[REPORT_NUMBER], uint64_t value) {
    return write_whole(text, false, value);
}

size_t report_number_int(char text[REPORT_NUMBER], int64_t value) {
    return write_whole(text, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static size_t write_decimals(char text[REPORT_NUMBER], double value, int decimals) {
    const char *word = report_number_word(value);
    return (size_t)(word ? snprintf(text, REPORT_NUMBER, "%s", word)
                         : snprintf(text, REPORT_NUMBER, "%.*f", decimals, value));
}

size_t report_number_fixed(char text[REPORT_NUMBER], double value, int decimals) {
    size_t len = write_decimals(text, value, decimals);
    return isfinite(value) ? group_digits(text, len) : len;
}

size_t report_number_real(char text[REPORT_NUMBER], double value) {
    return report_number_fixed(text, value, 1);
}

size_t report_number_short(char text[REPORT_NUMBER], double value, int decimals) {
    size_t len = write_decimals(text, value, decimals);
    if (!isfinite(value)) {
        return len;
    }
    len = cut_zeros(text, len, 0);
    len -= text[len - 1] == '.';
    text[len] = '\0';
    return strcmp(text, "-0") == 0 ? (size_t)snprintf(text, REPORT_NUMBER, "0") : len;
}

#define MOST_GROUPED 9e15 // below it a double has the integers

size_t report_number_rounded(char text[REPORT_NUMBER], double value) {
    if (isfinite(value) && fabs(value) >= MOST_GROUPED) {
        return (size_t)snprintf(text, REPORT_NUMBER, "%.17g", value);
    }
    size_t len =
        report_number_short(text, fabs(value) < 1e15 ? round(value * 1000) / 1000 : value, 3);
    return isfinite(value) ? group_digits(text, len) : len;
}

size_t report_number_over(char text[REPORT_NUMBER], uint64_t value, uint64_t unit) {
    int digits = unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
    size_t whole = (size_t)snprintf(text, REPORT_NUMBER, "%" PRIu64, value / unit);
    int len = snprintf(text + whole, REPORT_NUMBER - whole, ".%0*" PRIu64, digits, value % unit);
    return cut_zeros(text, whole + (size_t)len, whole + 2);
}

struct nvtxt_slice report_number_wide(char text[REPORT_NUMBER_WIDE], unsigned __int128 value) {
    size_t at = REPORT_NUMBER_WIDE;
    do {
        text[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value > 0);
    return (struct nvtxt_slice){text + at, REPORT_NUMBER_WIDE - at};
}

void report_number_write(struct nvtxt_out *out, double value) {
    if (!nvtxt_out_double(out, value)) {
        nvtxt_out_slice(out, nvtxt_slice_of(report_number_word(value)));
    }
}
