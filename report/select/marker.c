// SPDX-License-Identifier: Apache-2.0
//
// An escape gets shorter when it is read, so the text is rewritten where it stands: a reader and a
// writer walk along it.
#include "report/select/selection.h"

static bool is_default(struct nvtxt_slice name) {
    return nvtxt_slice_equal(name, NVTXT_SLICE(REPORT_DEFAULT_DOMAIN));
}

int report_marker_parse(char *text, struct report_marker *marker, struct report_fault *fault) {
    struct nvtxt_slice parts[2] = {{text, 0}, {NULL, 0}};
    size_t part = 0, at = 0;
    char *to = text;
    for (; text[at]; at++) {
        if (text[at] == '@' && part == 1) {
            report_fault_set(fault, at + 1, "a second '@'; write '\\@' if it belongs to the name");
            return NVTXT_WRONG;
        }
        if (text[at] == '@') {
            if (parts[0].len == 0) {
                break;
            }
            parts[++part].data = to;
            continue;
        }
        at += text[at] == '\\' && text[at + 1] == '@';
        *to++ = text[at];
        parts[part].len++;
    }
    if (parts[part].len == 0) {
        report_fault_set(fault, at + 1, "empty %s; write '\\@' if an '@' belongs to the name",
                         part == 0 ? "name" : "domain");
        return NVTXT_WRONG;
    }
    marker->name = parts[0];
    marker->any_domain = nvtxt_slice_equal(parts[1], NVTXT_SLICE("*"));
    marker->domain = is_default(parts[1]) ? (struct nvtxt_slice){"", 0} : parts[1];
    return 0;
}

int report_domain_next(char *text, char **at, struct nvtxt_slice *domain,
                       struct report_fault *fault) {
    char *from = *at, *to = from;
    *domain = (struct nvtxt_slice){from, 0};
    for (; *from && *from != ','; from++) {
        from += from[0] == '\\' && from[1] == ',';
        *to++ = *from;
    }
    domain->len = (size_t)(to - domain->data);
    if (domain->len == 0) {
        report_fault_set(fault, (size_t)(from - text) + 1,
                         "empty domain; write 'default' for the default domain, '\\,' if a ',' "
                         "belongs to the name");
        return NVTXT_WRONG;
    }
    *at = *from ? from + 1 : NULL;
    if (nvtxt_slice_equal(*domain, NVTXT_SLICE("default")) || is_default(*domain)) {
        domain->len = 0;
    } else if (nvtxt_slice_equal(*domain, NVTXT_SLICE("\\default"))) {
        domain->data++;
        domain->len--;
    }
    return 0;
}
