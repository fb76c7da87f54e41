// SPDX-License-Identifier: Apache-2.0
//
// What is asked of the rules: which, and of what span.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// Which rules are applied. A rule of a section is applied when `shown` says so of its section; a
// rule without one always. NULL: all (check).
struct report_rules_wanted {
    bool (*shown)(const void *context, struct nvtxt_slice section);
    const void *context;
    const char *const *names; // of --rule: identifiers, or regex:RE; none: all
    size_t name_count;
    // --apply-rules no: those that would be applied come as "not run".
    bool none;
    // --since and --until, which queries see as :since and :until.
    int64_t since_ns, until_ns;
    bool (*interrupted)(void); // asked now and then; NULL: never
};
