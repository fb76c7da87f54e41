// SPDX-License-Identifier: Apache-2.0
//
// An expression is compiled once, and searched anywhere in each identifier.
#include "report/rule/rules_state.h"

#include <stdio.h>
#include <string.h>

#include "report/load/load.h"
#include "report/select/filter.h"

static const char prefix[] = "regex:";

int report_chooser_init(struct report_chooser *chooser, const char *name, char *sentence) {
    char why[REPORT_REGEX_SENTENCE];
    size_t offset, len = sizeof(prefix) - 1;
    *chooser = (struct report_chooser){.name = name};
    if (strncmp(name, prefix, len) != 0) {
        return 0;
    }
    int r = report_regex_new(&chooser->regex, nvtxt_slice_of(name + len), why, &offset);
    if (r > 0 && sentence) {
        snprintf(sentence, REPORT_SENTENCE_BYTES, "--rule '%.300s': %s", name, why);
    }
    return r > 0 ? NVTXT_WRONG : r;
}

void report_chooser_deinit(struct report_chooser *chooser) {
    report_regex_free(chooser->regex);
    chooser->regex = NULL;
}

int report_chooser_takes(const struct report_chooser *chooser, struct nvtxt_slice identifier) {
    if (!chooser->regex) {
        return nvtxt_slice_equal(nvtxt_slice_of(chooser->name), identifier);
    }
    int r = report_regex_search(chooser->regex, identifier);
    return r == REPORT_REGEX_COSTLY ? REPORT_CHOOSER_COSTLY : r;
}
