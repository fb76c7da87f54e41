// SPDX-License-Identifier: Apache-2.0
//
// A name of --rule: an identifier, or regex:RE.
#pragma once

#include <stdbool.h>

#include "protocol/base/slice.h"

struct report_regex;

struct report_chooser {
    const char *name;           // borrowed
    struct report_regex *regex; // owned; NULL: the name counts as it is
};

#define REPORT_CHOOSER_BAD 1    // an expression that cannot be read
#define REPORT_CHOOSER_COSTLY 2 // ... or that is too costly

// Returns 0, REPORT_CHOOSER_BAD with a sentence (REPORT_SENTENCE_BYTES; may be NULL), or -ENOMEM.
int report_chooser_init(struct report_chooser *chooser, const char *name, char *sentence);
void report_chooser_deinit(struct report_chooser *chooser);

// 1: it chooses that rule; 0: it does not; REPORT_CHOOSER_COSTLY; or -ENOMEM.
int report_chooser_takes(const struct report_chooser *chooser, struct nvtxt_slice identifier);
