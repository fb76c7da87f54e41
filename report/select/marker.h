// SPDX-License-Identifier: Apache-2.0
//
// Names with a domain, NAME[@DOMAIN], and lists of domains, as options have them. Nothing is
// allocated: the text is changed in place where it has escapes.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"
#include "report/select/fault.h"

// A name of the default domain, by which expressions and lists can call it.
#define REPORT_DEFAULT_DOMAIN "<default domain>"

// NAME[@DOMAIN], of --within and --iterations.
struct report_marker {
    const char *text; // as given
    struct nvtxt_slice name;
    struct nvtxt_slice domain; // empty: the default domain
    bool any_domain;           // @*
};

// Reads NAME[@DOMAIN]: `\@` is an at sign, `@*` any domain. `text` is changed; the views point to
// it. Returns 0 or REPORT_SELECT_WRONG.
int report_marker_parse(char *text, struct report_marker *marker, struct report_fault *fault);

// Takes the next domain of a comma list: `default` is the default domain, an empty slice, `\,` a
// comma, `\default` a domain of that name. `*at` starts at the text, which is changed, and is NULL
// after the last one. Returns 0 or REPORT_SELECT_WRONG.
int report_domain_next(char *text, char **at, struct nvtxt_slice *domain,
                       struct report_fault *fault);
