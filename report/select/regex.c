// SPDX-License-Identifier: Apache-2.0
//
// The bound counts what PCRE2 counts for its match limit. A search that stays below what its text
// allows, a number of steps for each byte, costs nothing. A longer one is repeated with a limit
// four times as high until it ends, and each repetition is paid from what the expression has for
// its whole life. So expressions of ordinary cost search any number of texts, and one that is
// exponential ends soon, on each computer at the same text.
#include "report/select/filter.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "protocol/base/origin.h"

#define FREE_STEPS 2000    // of any text
#define STEPS_A_BYTE 64    // and of its length
#define PAID_STEPS 8000000 // about a tenth of a second with JIT, half a second without
#define DEPTH_MAX 100000
#define HEAP_KIB 65536
#define JIT_STACK_MIN ((size_t)32 * 1024)
#define JIT_STACK_MAX ((size_t)1024 * 1024)

struct report_regex {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack;
    uint32_t left; // steps
};

static int compile(struct report_regex *regex, struct nvtxt_slice pattern,
                   char sentence[REPORT_REGEX_SENTENCE], size_t *offset) {
    int error;
    regex->code = pcre2_compile((PCRE2_SPTR)(pattern.data ?: ""), pattern.len,
                                PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                                &error, offset, NULL);
    if (regex->code) {
        return 0;
    }
    if (error == PCRE2_ERROR_NOMEMORY) {
        return nvtxt_origin(-ENOMEM);
    }
    pcre2_get_error_message(error, (PCRE2_UCHAR *)sentence, REPORT_REGEX_SENTENCE);
    return NVTXT_WRONG;
}

// Without JIT the interpreter does the same, only slower.
static int prepare(struct report_regex *regex) {
    regex->data = pcre2_match_data_create(1, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (!regex->data || !regex->context) {
        return nvtxt_origin(-ENOMEM);
    }
    pcre2_set_depth_limit(regex->context, DEPTH_MAX);
    pcre2_set_heap_limit(regex->context, HEAP_KIB);
    if (pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0) {
        regex->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
        if (regex->stack) {
            pcre2_jit_stack_assign(regex->context, NULL, regex->stack);
        }
    }
    regex->left = PAID_STEPS;
    return 0;
}

int report_regex_new(struct report_regex **regex, struct nvtxt_slice pattern,
                     char sentence[REPORT_REGEX_SENTENCE], size_t *offset) {
    *regex = calloc(1, sizeof(**regex));
    int r = *regex ? compile(*regex, pattern, sentence, offset) : nvtxt_origin(-ENOMEM);
    r = r ?: prepare(*regex);
    if (r != 0) {
        report_regex_free(*regex);
        *regex = NULL;
    }
    return r;
}

void report_regex_free(struct report_regex *regex) {
    if (regex) {
        pcre2_jit_stack_free(regex->stack);
        pcre2_match_context_free(regex->context);
        pcre2_match_data_free(regex->data);
        pcre2_code_free(regex->code);
        free(regex);
    }
}

static int search_part(struct report_regex *regex, struct nvtxt_slice text, uint32_t limit) {
    PCRE2_SPTR bytes = (PCRE2_SPTR)(text.data ?: "");
    pcre2_set_match_limit(regex->context, limit);
    int r = pcre2_match(regex->code, bytes, text.len, 0, 0, regex->data, regex->context);
    if (r == PCRE2_ERROR_JIT_STACKLIMIT) {
        r = pcre2_match(regex->code, bytes, text.len, 0, PCRE2_NO_JIT, regex->data, regex->context);
    }
    return r;
}

int report_regex_search(struct report_regex *regex, struct nvtxt_slice text) {
    uint64_t limit = FREE_STEPS + (uint64_t)text.len * STEPS_A_BYTE;
    limit = limit < UINT32_MAX / 4 ? limit : UINT32_MAX / 4;
    int r = search_part(regex, text, (uint32_t)limit);
    while (r == PCRE2_ERROR_MATCHLIMIT && regex->left > 0) {
        limit = limit * 4 < regex->left ? limit * 4 : regex->left;
        regex->left -= (uint32_t)limit;
        r = search_part(regex, text, (uint32_t)limit);
    }
    if (r == PCRE2_ERROR_NOMEMORY) {
        return nvtxt_origin(-ENOMEM);
    }
    return r >= 0                     ? REPORT_REGEX_YES
           : r == PCRE2_ERROR_NOMATCH ? REPORT_REGEX_NO
                                      : REPORT_REGEX_COSTLY;
}
