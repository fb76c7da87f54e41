// SPDX-License-Identifier: Apache-2.0
//
// The command line of a client: a table of options (protocol/conf/options.h) with what all clients
// say of it, and the options of the time mapping, which several have.
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "protocol/conf/options.h"
#include "protocol/lang/timebase.h"

struct arguments_parser {
    struct nvtxt_options options; // `context` is the struct term; functions return outcomes
    void (*print_help)(void);
    void (*print_help_of)(const void *values); // instead of it: what --help says depends on them
    bool hint; // the line about --help comes after wrong values, too
    // Says what to use in place of an option that there is not; `next` is the word behind it, NULL:
    // none is. False: it knows nothing, and a name that is near is offered. May be NULL.
    bool (*advise)(struct term *term, const char *word, const char *next);
    char **words; // of the command line
};

// Takes the options, or prints --help or --version (ANSWERED). A message names an option by its
// letter if it has one, and says what a wrong value should have been.
enum outcome arguments_parse(struct arguments_parser *parser, int argc, char **argv);

// The second line of an option error, after the one that says what is wrong. Returns USAGE.
enum outcome arguments_refuse(const struct term *term);

// ---- The time mapping ---------------------------------------------------------------------------

struct arguments_mapping {
    struct nvtxt_mapping mapping;
    bool has_ns_a, has_ns_b, has_nvtxt_a, has_nvtxt_b, has_freq;
};

// Their options, for a group. The spellings with an underscore are those of Nsight Systems'
// ImportNvtxt.
extern const struct nvtxt_option arguments_mapping_rows[];
int arguments_take_mode(const struct nvtxt_option_value *value);
bool arguments_mapping_given(const struct arguments_mapping *mapping); // any of them

// Checks that all options of the mode are there, and no others. A stream (`live`) has no smallest
// time: its nvtxt_a and nvtxt_b must be given.
enum outcome arguments_check_mapping(const struct arguments_mapping *mapping, struct term *term,
                                     bool live);

// True when nvtxt_a or nvtxt_b must be found in the file.
bool arguments_mapping_needs_times(const struct arguments_mapping *mapping);
