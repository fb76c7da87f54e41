// SPDX-License-Identifier: Apache-2.0
//
// The sentences are those of getopt_long(), which would print an option as it is.
#include "client/common/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "config.h"

// ---- Sentences ----------------------------------------------------------------------------------

enum outcome arguments_refuse(const struct term *term) {
    fprintf(stderr, "Try '%s --help'.\n", term->program);
    return OUTCOME_USAGE;
}

static int answer(struct nvtxt_options *options, bool help) {
    const struct arguments_parser *parser = (const struct arguments_parser *)options;
    struct term *term = options->context;
    if (help && parser->print_help_of) {
        parser->print_help_of(options->values);
    } else if (help) {
        parser->print_help();
    } else {
        printf("%s (%s) %s%s\n", term->program, PACKAGE_NAME, PACKAGE_VERSION,
               nvtxt_options_commit());
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        term_say(term, "cannot write to stdout: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return OUTCOME_ANSWERED;
}

static void say_unknown(const struct arguments_parser *parser,
                        const struct nvtxt_option_fault *fault) {
    struct term *term = parser->options.context;
    if (fault->letter) {
        term_say(term, "invalid option -- '%c'", fault->letter);
    } else if (*fault->names) {
        term_say(term, "option '%s' is ambiguous; possibilities:%s", fault->word, fault->names);
    } else {
        term_say(term, "unrecognized option '%s'", fault->word);
    }
    if (!fault->letter && parser->advise &&
        parser->advise(term, fault->word, parser->words[optind])) {
        return;
    }
    if (fault->near) {
        term_say(term, "did you mean '--%s'?", fault->near);
    }
}

static int refuse(struct nvtxt_options *options, const struct nvtxt_option_fault *fault) {
    struct arguments_parser *parser = (struct arguments_parser *)options;
    struct term *term = options->context;
    char name[NVTXT_OPTION_NAME_SIZE];
    switch (fault->kind) {
    case NVTXT_OPTION_UNKNOWN:
        say_unknown(parser, fault);
        break;
    case NVTXT_OPTION_NO_VALUE:
        if (fault->letter) {
            term_say(term, "option requires an argument -- '%c'", fault->letter);
        } else {
            term_say(term, "option '--%s' requires an argument", fault->name);
        }
        break;
    case NVTXT_OPTION_HAS_VALUE:
        term_say(term, "option '--%s' doesn't allow an argument", fault->name);
        break;
    case NVTXT_OPTION_BAD_VALUE:
        term_say(term, "%s takes %s, not '%s'", nvtxt_option_name(fault->row, name),
                 fault->row->wanted, fault->text);
        return OUTCOME_USAGE;
    case NVTXT_OPTION_NO_MEMORY:
        term_say(term, "out of memory");
        return OUTCOME_SYSTEM;
    }
    parser->hint = false; // here it comes
    return (int)arguments_refuse(term);
}

enum outcome arguments_parse(struct arguments_parser *parser, int argc, char **argv) {
    parser->options.answer = answer;
    parser->options.refuse = refuse;
    parser->words = argv;
    int r = nvtxt_options_read(&parser->options, argc, argv);
    return r == OUTCOME_USAGE && parser->hint ? arguments_refuse(parser->options.context)
                                              : (enum outcome)r;
}

// ---- The time mapping ---------------------------------------------------------------------------

int arguments_take_mode(const struct nvtxt_option_value *value) {
    bool lerp = strcmp(value->text, "lerp") == 0;
    *(enum nvtxt_mapping_mode *)value->field = lerp ? NVTXT_MAPPING_LERP : NVTXT_MAPPING_LIN;
    return lerp || strcmp(value->text, "lin") == 0 ? 0 : NVTXT_WRONG;
}

#define NUMBER(long_name, other_name, field)                                                       \
    {                                                                                              \
        .name = long_name, .alias = other_name, .kind = NVTXT_OPTION_NUMBER, .least = INT64_MIN,   \
        .at = offsetof(struct arguments_mapping, mapping.field),                                   \
        .has = offsetof(struct arguments_mapping, has_##field), .wanted = "an integer of 64 bits"  \
    }

const struct nvtxt_option arguments_mapping_rows[] = {
    {"mode", 0, NVTXT_OPTION_OTHER, .at = offsetof(struct arguments_mapping, mapping.mode),
     .wanted = "lerp or lin", .take = arguments_take_mode},
    NUMBER("ns-a", "ns_a", ns_a),
    NUMBER("ns-b", "ns_b", ns_b),
    NUMBER("nvtxt-a", "nvtxt_a", nvtxt_a),
    NUMBER("nvtxt-b", "nvtxt_b", nvtxt_b),
    NUMBER("freq", NULL, freq),
    {0},
};

bool arguments_mapping_given(const struct arguments_mapping *m) {
    return m->mapping.mode != NVTXT_MAPPING_NONE || m->has_ns_a || m->has_ns_b || m->has_nvtxt_a ||
           m->has_nvtxt_b || m->has_freq;
}

enum outcome arguments_check_mapping(const struct arguments_mapping *mapping, struct term *term,
                                     bool live) {
    const struct arguments_mapping *m = mapping;
    const char *missing = NULL;
    const char *fault = NULL;
    bool lerp = m->mapping.mode == NVTXT_MAPPING_LERP;
    if (m->mapping.mode == NVTXT_MAPPING_NONE) {
        missing = arguments_mapping_given(m) ? "--mode lerp or --mode lin" : NULL;
    } else if (!m->has_ns_a) {
        missing = "--ns-a";
    } else if (lerp && !m->has_ns_b) {
        missing = "--ns-b";
    } else if (!lerp && !m->has_freq) {
        missing = "--freq";
    } else if (lerp ? m->has_freq : m->has_ns_b || m->has_nvtxt_b) {
        term_say(term, lerp ? "--freq belongs to --mode lin"
                            : "--ns-b and --nvtxt-b belong to --mode lerp");
        return OUTCOME_USAGE;
    } else if (live && (!m->has_nvtxt_a || (lerp && !m->has_nvtxt_b))) {
        missing = m->has_nvtxt_a ? "--nvtxt-b" : "--nvtxt-a";
    } else if (!arguments_mapping_needs_times(m)) {
        fault = nvtxt_mapping_fault(&m->mapping);
    } else { // the file's times are not known yet
        struct nvtxt_mapping probe = m->mapping;
        probe.nvtxt_a = 0;
        probe.nvtxt_b = 1;
        fault = nvtxt_mapping_fault(&probe);
    }
    if (missing) {
        term_say(term, "the time mapping lacks %s", missing);
    } else if (fault) {
        term_say(term, "the time mapping is impossible: %s", fault);
    }
    return missing || fault ? OUTCOME_USAGE : OUTCOME_DONE;
}

bool arguments_mapping_needs_times(const struct arguments_mapping *mapping) {
    enum nvtxt_mapping_mode mode = mapping->mapping.mode;
    return (mode != NVTXT_MAPPING_NONE && !mapping->has_nvtxt_a) ||
           (mode == NVTXT_MAPPING_LERP && !mapping->has_nvtxt_b);
}
