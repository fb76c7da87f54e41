// SPDX-License-Identifier: Apache-2.0
//
// The options of nvtxt-send that say how a log is read: --category, --color, --level-pattern and
// --time-format.
#pragma once

#include <stdbool.h>

#include "client/common/arguments.h"
#include "client/text/textlog.h"

// Values of the options, from `base` on.
enum {
    TEXTOPT_CATEGORY,
    TEXTOPT_COLOR,
    TEXTOPT_LEVEL_PATTERN,
    TEXTOPT_TIME_FORMAT,
};

// Lines of a struct option table.
#define TEXTOPT_OPTIONS(base)                                                                      \
    {"category", required_argument, NULL, (base) + TEXTOPT_CATEGORY},                              \
        {"color", required_argument, NULL, (base) + TEXTOPT_COLOR},                                \
        {"level-pattern", required_argument, NULL, (base) + TEXTOPT_LEVEL_PATTERN}, {              \
        "time-format", required_argument, NULL, (base) + TEXTOPT_TIME_FORMAT                       \
    }

// Takes TEXTOPT_CATEGORY and so on. Returns 0, or EX_USAGE after a sentence. `text` is borrowed.
int textopt_take(struct textlog_options *options, struct term *term, int option, const char *text);
