// SPDX-License-Identifier: Apache-2.0
#include "client/text/text_options.h"

#include <sysexits.h>

#include "protocol/base/near.h"
#include "protocol/lang/colors.h"

static int take_color(struct textlog_options *options, struct term *term, const char *text) {
    if (levels_color(text, &options->color)) {
        return 0;
    }
    const char *near = nvtxt_near(nvtxt_slice_of(text), nvtxt_color_name, NULL);
    term_say(term, "--color takes a colour's name, #RRGGBB, #AARRGGBB or a number, not '%s'%s%s%s",
             text, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    return EX_USAGE;
}

static int take_time_format(struct textlog_options *options, struct term *term, const char *text) {
    const char *fault;
    int result = timestamp_init(&options->stamp, text, &fault);
    options->has_stamp = result == 0;
    if (result == 1) {
        term_say(term, "--time-format: '%.2s' in '%s' is not known; see nvtxt-send(1)", fault,
                 text);
    } else if (result == 2) {
        term_say(term,
                 "--time-format takes auto, iso, syslog, epoch, or directives that make a time, "
                 "such as '%%F %%T', not '%s'",
                 text);
    }
    return result == 0 ? 0 : EX_USAGE;
}

int textopt_take(struct textlog_options *options, struct term *term, int option, const char *text) {
    char fault[256];
    switch (option) {
    case TEXTOPT_CATEGORY:
        if (!*text) {
            term_say(term, "--category takes a name, which cannot be empty");
            return EX_USAGE;
        }
        options->category = text;
        return 0;
    case TEXTOPT_COLOR:
        return take_color(options, term, text);
    case TEXTOPT_LEVEL_PATTERN:
        if (levels_add(&options->levels, text, fault, sizeof(fault)) == 0) {
            return 0;
        }
        term_say(term, "--level-pattern '%s': %s", text, fault);
        return EX_USAGE;
    default:
        return take_time_format(options, term, text);
    }
}
