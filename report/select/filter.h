// SPDX-License-Identifier: Apache-2.0
//
// A filter expression, read: `[ "regex:" ] [ domain "@" ] part`. The grammar and its errors are
// those of nvtxt-filter(7), "GRAMMAR". Its regular expressions are for other rooms, too.
#pragma once

#include <stdbool.h>

#include "report/select/fault.h"

struct report_regex;

enum report_filter_item {
    REPORT_ITEM_NAME,
    REPORT_ITEM_ONE,  // +
    REPORT_ITEM_MANY, // *
};

struct report_item {
    enum report_filter_item kind;
    struct nvtxt_slice name;    // of NAME, without escapes
    struct report_regex *regex; // owned; NULL: the name is compared
    size_t column;              // of the item in the expression
};

struct report_filter {
    char *text; // the expression; owned
    bool is_regex;
    bool has_domain; // else the default domain
    struct report_item domain;
    bool is_push_pop;          // else start/end names
    bool bottom, top;          // [ and ]
    struct report_item *items; // owned; at least one
    size_t count;
    char *bytes; // of all names; owned
};

// Returns 0, NVTXT_WRONG with a column and a sentence, or -ENOMEM; `*filter` is NULL then.
int report_filter_parse(struct report_filter **filter, struct nvtxt_slice text,
                        struct report_fault *fault);
void report_filter_free(struct report_filter *filter); // NULL is fine

// Whether it takes what has no range open: `*` alone does.
bool report_filter_takes_none(const struct report_filter *filter);

// Whether a name of a filter's stands for `name`: 1 or 0. -EINVAL with a fault, of an include or an
// exclude, when the expression is too costly; -ENOMEM.
int report_item_matches(const struct report_filter *filter, bool exclude,
                        const struct report_item *item, struct nvtxt_slice name,
                        struct report_fault *fault);

// ---- PCRE2 --------------------------------------------------------------------------------------

// Expressions of PCRE2: UTF, case-sensitive, searched anywhere. A text that is not UTF-8 is
// searched where it is. All work of one expression is bounded, so that no expression runs for long.
enum report_regex_result {
    REPORT_REGEX_NO = 0,
    REPORT_REGEX_YES = 1,
    REPORT_REGEX_COSTLY = 2, // it reached its bound
};

#define REPORT_REGEX_SENTENCE 256

// Returns 0, NVTXT_WRONG for an expression that PCRE2 refuses, with its sentence and the offset of
// the place in bytes, or -ENOMEM.
int report_regex_new(struct report_regex **regex, struct nvtxt_slice pattern,
                     char sentence[REPORT_REGEX_SENTENCE], size_t *offset);
void report_regex_free(struct report_regex *regex); // NULL is fine

// Returns a value of enum report_regex_result or -ENOMEM.
int report_regex_search(struct report_regex *regex, struct nvtxt_slice text);
