// SPDX-License-Identifier: Apache-2.0
//
// The rows become the two tables of getopt_long(); an option's value there is its place among the
// rows. Numbers are read by loops of our own: strtoll() also takes blanks, signs and octal digits,
// which no user means here.
#include "client/common/arguments.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "protocol/base/limits.h"
#include "protocol/base/near.h"

static int digit_value(char byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    if (byte >= 'a' && byte <= 'f') {
        return byte - 'a' + 10;
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : 99;
}

bool arguments_int64(const char *text, int64_t *value) {
    bool negative = *text == '-';
    const char *at = text + negative;
    int base = 10;
    if (!negative && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    int64_t sum = 0; // negative, because that side holds one value more
    if (!*at) {
        return false;
    }
    for (; *at; at++) {
        int digit = digit_value(*at);
        if (digit >= base || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum)) {
            return false;
        }
    }
    if (!negative && sum == INT64_MIN) {
        return false;
    }
    *value = negative ? sum : -sum;
    return true;
}

bool arguments_bytes(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    uint64_t sum = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum)) {
            return false;
        }
    }
    const char *unit = at > text && *at ? strchr(units, *at) : NULL;
    if (at == text || (*at && (!unit || at[1]))) {
        return false;
    }
    for (; unit && unit >= units; unit--) {
        if (__builtin_mul_overflow(sum, 1024u, &sum)) {
            return false;
        }
    }
    *bytes = sum;
    return true;
}

bool arguments_pid(const char *text, uint32_t *pid) {
    int64_t value;
    bool good = arguments_int64(text, &value) && value >= 0 && value <= NVTXT_ID_MAX;
    *pid = good ? (uint32_t)value : 0;
    return good;
}

bool arguments_seconds(const char *text, int64_t *ms) {
    const int64_t most = (int64_t)1 << 40; // in ms: 34 years
    int64_t sum = 0;
    int64_t unit = 1000;
    bool point = false, rest = false; // a rest: less than a millisecond
    if (*text < '0' || *text > '9') {
        return false;
    }
    for (const char *at = text; *at; at++) {
        if (*at == '.' && !point && at[1]) {
            point = true;
        } else if (*at < '0' || *at > '9') {
            return false;
        } else if (!point) {
            sum = sum * 10 + (*at - '0') * 1000;
        } else {
            unit /= 10;
            sum += (*at - '0') * unit;
            rest = rest || (unit == 0 && *at > '0');
        }
        if (sum > most) {
            return false;
        }
    }
    *ms = sum + rest;
    return true;
}

// ---- The time mapping ---------------------------------------------------------------------------

int arguments_take_mode(const struct arguments_value *value) {
    bool lerp = strcmp(value->text, "lerp") == 0;
    *(enum nvtxt_mapping_mode *)value->field = lerp ? NVTXT_MAPPING_LERP : NVTXT_MAPPING_LIN;
    return lerp || strcmp(value->text, "lin") == 0 ? 0 : ARGUMENTS_WRONG;
}

#define NUMBER(long_name, other_name, field)                                                       \
    {                                                                                              \
        .name = long_name, .alias = other_name, .kind = ARGUMENTS_NUMBER, .least = INT64_MIN,      \
        .at = offsetof(struct arguments_mapping, mapping.field),                                   \
        .has = offsetof(struct arguments_mapping, has_##field), .wanted = "an integer of 64 bits"  \
    }

const struct arguments_row arguments_mapping_rows[] = {
    {"mode", 0, ARGUMENTS_OTHER, .at = offsetof(struct arguments_mapping, mapping.mode),
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

// ---- The command line ---------------------------------------------------------------------------

#define FIRST 256 // value of the first row for getopt_long(); below it are letters
#define MOST 64   // rows of one program, a bit each; nvtxt-report has the most

enum { ANSWER_HELP = FIRST + MOST, ANSWER_VERSION };

enum outcome arguments_refuse(const struct term *term) {
    fprintf(stderr, "Try '%s --help'.\n", term->program);
    return OUTCOME_USAGE;
}

static enum outcome answer(const struct arguments_parser *parser, int option) {
    struct term *term = parser->term;
    if (option == ANSWER_HELP && parser->print_help_of) {
        parser->print_help_of(parser->values);
    } else if (option == ANSWER_HELP) {
        parser->print_help();
    } else {
        printf("%s (%s) %s\n", term->program, PACKAGE_NAME, PACKAGE_VERSION);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        term_say(term, "cannot write to stdout: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return OUTCOME_ANSWERED;
}

struct tables {
    struct {
        const struct arguments_row *row;
        char *values;
    } slots[MOST];
    size_t count;
    struct option names[2 * MOST + 3];
    size_t named;
    char letters[2 * MOST + 2];
};

static void add_name(struct tables *tables, const char *name, int argument, int value) {
    if (name) {
        tables->names[tables->named++] = (struct option){name, argument, NULL, value};
    }
}

static void add_rows(struct tables *tables, const struct arguments_row *row, char *values) {
    for (; row->kind != ARGUMENTS_END; row++) {
        if (row->kind == ARGUMENTS_GROUP) {
            add_rows(tables, row->group, values + row->at);
            continue;
        }
        assert(tables->count < MOST);
        bool flag = row->kind == ARGUMENTS_FLAG;
        int argument = flag ? no_argument : row->optional ? optional_argument : required_argument;
        add_name(tables, row->name, argument, FIRST + (int)tables->count);
        add_name(tables, row->alias, argument, FIRST + (int)tables->count);
        if (row->letter) {
            strncat(tables->letters, &row->letter, 1);
            strcat(tables->letters, flag ? "" : ":");
        }
        tables->slots[tables->count].row = row;
        tables->slots[tables->count++].values = values;
    }
}

const char *arguments_name(const struct arguments_row *row, char out[ARGUMENTS_NAME_SIZE]) {
    const char letter[] = {row->letter, '\0'};
    snprintf(out, ARGUMENTS_NAME_SIZE, "%s%s", *letter ? "-" : "--", *letter ? letter : row->name);
    return out;
}

static bool read_number(const struct arguments_value *from, int64_t *value) {
    const struct arguments_row *row = from->row;
    uint64_t bytes = 0;
    bool good;
    if (row->optional && !from->text) {
        *value = -1;
        return true;
    }
    if (row->kind == ARGUMENTS_BYTES) {
        good = arguments_bytes(from->text, &bytes) && bytes <= INT64_MAX;
        *value = (int64_t)bytes;
    } else {
        good = row->kind == ARGUMENTS_SECONDS ? arguments_seconds(from->text, value)
                                              : arguments_int64(from->text, value);
    }
    return good && *value >= row->least && *value <= (row->most ? row->most : INT64_MAX);
}

int arguments_list_add(struct arguments_list *list, const char *word) {
    const char **words = realloc(list->words, (list->count + 1) * sizeof(*words));
    if (!words) {
        return OUTCOME_SYSTEM;
    }
    list->words = words;
    words[list->count++] = word;
    return 0;
}

static int take_value(const struct arguments_value *value) {
    switch (value->row->kind) {
    case ARGUMENTS_FLAG:
        *(bool *)value->field = true;
        return 0;
    case ARGUMENTS_TEXT:
        *(const char **)value->field = value->text;
        return *value->text || !value->row->wanted ? 0 : ARGUMENTS_WRONG;
    case ARGUMENTS_LIST:
        return *value->text || !value->row->wanted ? arguments_list_add(value->field, value->text)
                                                   : ARGUMENTS_WRONG;
    case ARGUMENTS_PID:
        return arguments_pid(value->text, value->field) ? 0 : ARGUMENTS_WRONG;
    case ARGUMENTS_OTHER:
        return value->row->take(value);
    default:
        return read_number(value, value->field) ? 0 : ARGUMENTS_WRONG;
    }
}

static const char *name_at(const void *context, size_t index) {
    const struct tables *tables = context;
    return index < tables->named ? tables->names[index].name : NULL;
}

static size_t name_bytes(const char *word) {
    return strcspn(word + 2, "=");
}

// The next name from place `i` on that begins as the word does; NULL: no more.
static const struct option *find_name(const struct tables *tables, const char *word, size_t *i) {
    while (*i < tables->named) {
        const struct option *name = &tables->names[(*i)++];
        if (strncmp(name->name, word + 2, name_bytes(word)) == 0) {
            return name;
        }
    }
    return NULL;
}

static void say_unknown(struct term *term, const struct tables *tables, const char *word) {
    char names[512] = "";
    size_t i = 0, len = 0;
    for (const struct option *name; (name = find_name(tables, word, &i)) && len < sizeof(names);) {
        len += (size_t)snprintf(names + len, sizeof(names) - len, " '--%s'", name->name);
    }
    if (len > 0) {
        term_say(term, "option '%s' is ambiguous; possibilities:%s", word, names);
    } else {
        term_say(term, "unrecognized option '%s'", word);
    }
}

static void say_value(struct term *term, const struct tables *tables, const char *word) {
    const struct option *name;
    size_t i = 0;
    while ((name = find_name(tables, word, &i)) && name->val != optopt) {
    }
    if (name && name->has_arg == required_argument) {
        term_say(term, "option '--%s' requires an argument", name->name);
    } else {
        term_say(term, "option '--%s' doesn't allow an argument", name ? name->name : "");
    }
}

// What getopt_long() would say of the option, which it would print as it is.
static void say_option(const struct arguments_parser *parser, const struct tables *tables,
                       const char *word) {
    bool has_value = optopt != ':' && optopt != '-' && strchr(tables->letters, optopt);
    if (optopt == 0) {
        say_unknown(parser->term, tables, word);
    } else if (optopt >= FIRST) {
        say_value(parser->term, tables, word);
    } else if (has_value) {
        term_say(parser->term, "option requires an argument -- '%c'", optopt);
    } else {
        term_say(parser->term, "invalid option -- '%c'", optopt);
    }
}

static enum outcome refuse_option(const struct arguments_parser *parser,
                                  const struct tables *tables, const char *word) {
    bool unknown = optopt == 0 && strncmp(word, "--", 2) == 0; // else it has the row's number there
    size_t len = unknown ? name_bytes(word) : 0;
    const char *near =
        len > 0 ? nvtxt_near((struct nvtxt_slice){word + 2, len}, name_at, tables) : NULL;
    say_option(parser, tables, word);
    if (near) {
        term_say(parser->term, "did you mean '--%s'?", near);
    }
    return arguments_refuse(parser->term);
}

static enum outcome take_option(struct arguments_parser *parser, const struct tables *tables,
                                int option) {
    char name[ARGUMENTS_NAME_SIZE];
    size_t i = 0;
    while (option != FIRST + (int)i && option != tables->slots[i].row->letter) {
        i++;
    }
    const struct arguments_row *row = tables->slots[i].row;
    char *values = tables->slots[i].values;
    const struct arguments_value value = {row, values + row->at, parser->term, optarg};
    int result = take_value(&value);
    if (result == ARGUMENTS_WRONG) {
        term_say(parser->term, "%s takes %s, not '%s'", arguments_name(row, name), row->wanted,
                 optarg);
        result = OUTCOME_USAGE;
    } else if (result == OUTCOME_SYSTEM) {
        term_say(parser->term, "out of memory");
    }
    if (row->has) {
        *(bool *)(values + row->has) = true;
    }
    parser->letter = row->letter;
    parser->given |= UINT64_C(1) << i;
    return result == OUTCOME_USAGE && parser->hint ? arguments_refuse(parser->term)
                                                   : (enum outcome)result;
}

enum outcome arguments_parse(struct arguments_parser *parser, int argc, char **argv) {
    struct tables tables = {.letters = ""};
    const char *value = NULL;
    enum outcome result = OUTCOME_DONE;
    int option;
    opterr = 0;
    strcpy(tables.letters, parser->take_word ? "-" : "");
    add_rows(&tables, parser->rows, parser->values);
    add_name(&tables, "help", no_argument, ANSWER_HELP);
    add_name(&tables, "version", no_argument, ANSWER_VERSION);
    while (result == 0 &&
           (option = getopt_long(argc, argv, tables.letters, tables.names, NULL)) != -1) {
        value = optarg;
        result = option == ANSWER_HELP || option == ANSWER_VERSION ? answer(parser, option)
                 : option == '?' ? refuse_option(parser, &tables, argv[optind - 1])
                 : option == 1   ? parser->take_word(parser, optarg)
                                 : take_option(parser, &tables, option);
    }
    // "--" may also be the value of the last option.
    parser->dashes = argv[optind - 1] != value && strcmp(argv[optind - 1], "--") == 0;
    return result;
}
