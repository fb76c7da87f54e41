// SPDX-License-Identifier: Apache-2.0
//
// Each form is checked by hand, byte by byte. strtod() only converts what is known to be a decimal
// number: it rounds correctly.
#include "protocol/lang/value.h"

#include <errno.h>
#include <stdlib.h>

#include "protocol/base/chars.h"

#define USUAL_DECIMAL_BYTES 128 // longer ones are copied to the heap

size_t nvtxt_integer_text(int64_t integer, char *out) {
    char digits[NVTXT_INTEGER_TEXT];
    size_t count = 0, written = 0;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (integer < 0) {
        out[written++] = '-';
    }
    while (count > 0) {
        out[written++] = digits[--count];
    }
    return written;
}

static size_t skip_digits(struct nvtxt_slice text, size_t i) {
    while (i < text.len && nvtxt_char_is(text.data[i], NVTXT_CHAR_DIGIT)) {
        i++;
    }
    return i;
}

static bool is_decimal(struct nvtxt_slice text) {
    size_t i = text.len > 0 && text.data[0] == '-' ? 1 : 0;
    size_t begin = i;
    i = skip_digits(text, i);
    if (i == begin) {
        return false;
    }
    if (i < text.len && text.data[i] == '.') {
        begin = ++i;
        i = skip_digits(text, i);
        if (i == begin) {
            return false;
        }
    }
    if (i < text.len && (text.data[i] == 'e' || text.data[i] == 'E')) {
        i++;
        if (i < text.len && (text.data[i] == '+' || text.data[i] == '-')) {
            i++;
        }
        begin = i;
        i = skip_digits(text, i);
        if (i == begin) {
            return false;
        }
    }
    return i == text.len;
}

int nvtxt_decimal_parse(struct nvtxt_slice text, double *value) {
    if (!is_decimal(text)) {
        return 1;
    }
    char usual[USUAL_DECIMAL_BYTES];
    char *copy = text.len < sizeof(usual) ? usual : malloc(text.len + 1);
    if (!copy) {
        return -ENOMEM;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    // The form is checked above, so the only thing that a locale could change is the point; no
    // program of this project calls setlocale(), so it is '.'.
    *value = strtod(copy, NULL);
    if (copy != usual) {
        free(copy);
    }
    return 0;
}

bool nvtxt_is_word(struct nvtxt_slice text) {
    if (text.len == 0 || !nvtxt_char_is(text.data[0], NVTXT_CHAR_WORD_START)) {
        return false;
    }
    for (size_t i = 1; i < text.len; i++) {
        if (!nvtxt_char_is(text.data[i], NVTXT_CHAR_WORD)) {
            return false;
        }
    }
    return true;
}
