// SPDX-License-Identifier: Apache-2.0
//
// The names of all metrics, one after the other, in the order in which they are listed: the
// catalogue, then files, options, sections. The expansion of `regex:` goes through them.
#pragma once

#include "report/catalogue/catalogue.h"
#include "report/metric/definitions.h"

// Zero it first.
struct report_name_cursor {
    struct report_catalogue_cursor catalogue;
    bool past_catalogue;
    size_t defined;
};

// The next name, or NULL after the last. It lives until the next call. `definitions` may be NULL.
static inline const char *report_name_next(struct report_name_cursor *cursor,
                                           const struct report_definitions *definitions) {
    if (!cursor->past_catalogue && report_catalogue_next(&cursor->catalogue)) {
        return cursor->catalogue.name;
    }
    cursor->past_catalogue = true;
    return definitions ? report_definitions_name(definitions, cursor->defined++) : NULL;
}
