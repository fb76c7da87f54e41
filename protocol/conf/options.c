// SPDX-License-Identifier: Apache-2.0
//
// The rows become the two tables of getopt_long(); an option's value there is its place among the
// rows. Numbers are read by loops of our own: strtoll() also takes blanks, signs and octal digits,
// which no user means here.
#include "protocol/conf/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/limits.h"
#include "protocol/base/origin.h"
#include "protocol/base/scan.h"
#include "protocol/table/arrays.h"

// commit.o of this folder has it. Programs link that beside the libraries, tests do not: a commit
// is no reason to link them again.
extern const char nvtxt_commit[] __attribute__((weak));

const char *nvtxt_options_commit(void) {
    return nvtxt_commit ?: "";
}

// ---- Values -------------------------------------------------------------------------------------

bool nvtxt_option_int64(const char *text, int64_t *value) {
    struct nvtxt_scan scan = nvtxt_scan(nvtxt_slice_of(text));
    uint64_t sum;
    bool negative = nvtxt_scan_take(&scan, '-');
    bool hex =
        !negative && (nvtxt_scan_take_text(&scan, "0x") || nvtxt_scan_take_text(&scan, "0X"));
    struct nvtxt_slice digits = nvtxt_scan_take_run(&scan, hex ? NVTXT_CHAR_HEX : NVTXT_CHAR_DIGIT);
    if (digits.len == 0 || nvtxt_scan_left(&scan) > 0 ||
        !nvtxt_digits_value(digits, hex ? 16 : 10, &sum) || sum > (uint64_t)INT64_MAX + negative) {
        return false;
    }
    *value = (int64_t)(negative ? 0 - sum : sum);
    return true;
}

bool nvtxt_option_bytes(const char *text, int64_t *bytes) {
    static const struct nvtxt_unit units[] = {{"", 1},
                                              {"K", INT64_C(1) << 10},
                                              {"M", INT64_C(1) << 20},
                                              {"G", INT64_C(1) << 30},
                                              {"T", INT64_C(1) << 40},
                                              {NULL, 0}};
    return !strchr(text, ' ') && nvtxt_conf_number(text, units, bytes);
}

bool nvtxt_option_pid(const char *text, uint32_t *pid) {
    int64_t value;
    bool good = nvtxt_option_int64(text, &value) && value >= 0 && value <= NVTXT_ID_MAX;
    *pid = good ? (uint32_t)value : 0;
    return good;
}

bool nvtxt_option_seconds(const char *text, int64_t *ms) {
    const uint64_t most = (uint64_t)1 << 40; // in ms: 34 years
    struct nvtxt_scan scan = nvtxt_scan(nvtxt_slice_of(text));
    struct nvtxt_slice whole = nvtxt_scan_take_run(&scan, NVTXT_CHAR_DIGIT);
    bool point = nvtxt_scan_take(&scan, '.');
    struct nvtxt_slice part = nvtxt_scan_take_run(&scan, NVTXT_CHAR_DIGIT);
    uint64_t sum, unit = 1000;
    bool rest = false; // less than a millisecond
    if (whole.len == 0 || point != (part.len > 0) || nvtxt_scan_left(&scan) > 0 ||
        !nvtxt_decimal_value(whole, &sum) || sum > most / 1000) {
        return false;
    }
    sum *= 1000;
    for (size_t i = 0; i < part.len; i++) {
        unit /= 10;
        sum += (uint64_t)(part.data[i] - '0') * unit;
        rest = rest || (unit == 0 && part.data[i] > '0');
    }
    *ms = (int64_t)(sum + rest);
    return sum <= most;
}

static bool read_number(const struct nvtxt_option_value *from, int64_t *value) {
    const struct nvtxt_option *row = from->row;
    if (row->optional && !from->text) {
        *value = -1;
        return true;
    }
    bool good = row->kind == NVTXT_OPTION_BYTES     ? nvtxt_option_bytes(from->text, value)
                : row->kind == NVTXT_OPTION_SECONDS ? nvtxt_option_seconds(from->text, value)
                                                    : nvtxt_option_int64(from->text, value);
    return good && *value >= row->least && *value <= (row->most ?: INT64_MAX);
}

int nvtxt_option_list_add(struct nvtxt_option_list *list, const char *word) {
    const char **added = nvtxt_add(&list->words, &list->count, sizeof(*added));
    if (!added) {
        return nvtxt_origin(-ENOMEM);
    }
    *added = word;
    return 0;
}

// ---- The tables ---------------------------------------------------------------------------------

#define FIRST 256 // value of the first row for getopt_long(); below it are letters
#define MOST NVTXT_OPTIONS_MOST

enum { ANSWER_HELP = FIRST + MOST, ANSWER_VERSION };

struct tables {
    struct {
        struct nvtxt_option row;
        char *values;
    } slots[MOST];
    size_t count;
    struct option names[2 * MOST + 3];
    size_t named;
    char letters[2 * MOST + 3];
};

static void add_name(struct tables *tables, const char *name, int argument, int value) {
    if (name) {
        tables->names[tables->named++] = (struct option){name, argument, NULL, value};
    }
}

static void add_row(struct tables *tables, const struct nvtxt_option *row, char *values) {
    assert(tables->count < MOST);
    bool flag = row->kind == NVTXT_OPTION_FLAG;
    int argument = flag ? no_argument : row->optional ? optional_argument : required_argument;
    add_name(tables, row->name, argument, FIRST + (int)tables->count);
    add_name(tables, row->alias, argument, FIRST + (int)tables->count);
    if (row->letter) {
        strncat(tables->letters, &row->letter, 1);
        strcat(tables->letters, flag ? "" : ":");
    }
    tables->slots[tables->count].row = *row;
    tables->slots[tables->count++].values = values;
}

static void add_keys(struct tables *tables, const struct nvtxt_option *group, char *values) {
    for (size_t i = 0; i < group->keys->count; i++) {
        const struct nvtxt_conf_key *key = &group->keys->keys[i];
        const struct nvtxt_option row = {.name = key->option,
                                         .kind = NVTXT_OPTION_KEY,
                                         .at = group->at,
                                         .take = group->take,
                                         .keys = group->keys,
                                         .key = key};
        if (key->option) {
            add_row(tables, &row, values);
        }
    }
}

static void add_rows(struct tables *tables, const struct nvtxt_option *row, char *values) {
    for (; row->kind != NVTXT_OPTION_END; row++) {
        if (row->kind == NVTXT_OPTION_GROUP) {
            add_rows(tables, row->group, values + row->at);
        } else if (row->kind == NVTXT_OPTION_KEYS) {
            add_keys(tables, row, values);
        } else {
            add_row(tables, row, values);
        }
    }
}

const char *nvtxt_option_name(const struct nvtxt_option *row, char out[NVTXT_OPTION_NAME_SIZE]) {
    const char letter[] = {row->letter, '\0'};
    snprintf(out, NVTXT_OPTION_NAME_SIZE, "%s%s", *letter ? "-" : "--",
             *letter ? letter : row->name);
    return out;
}

// ---- What getopt_long() refuses -----------------------------------------------------------------

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

static void look_for_unknown(const struct tables *tables, struct nvtxt_option_fault *fault) {
    size_t i = 0, len = 0;
    for (const struct option *name;
         (name = find_name(tables, fault->word, &i)) && len < sizeof(fault->names);) {
        len +=
            (size_t)snprintf(fault->names + len, sizeof(fault->names) - len, " '--%s'", name->name);
    }
    if (strncmp(fault->word, "--", 2) == 0 && name_bytes(fault->word) > 0) {
        const struct nvtxt_slice name = {fault->word + 2, name_bytes(fault->word)};
        fault->near = nvtxt_near(name, name_at, tables);
    }
}

// The row's number is in `optopt`, or a letter, or 0 for a name that nothing has.
static int refuse_option(struct nvtxt_options *options, const struct tables *tables,
                         const char *word) {
    struct nvtxt_option_fault fault = {.word = word};
    if (optopt >= FIRST) {
        const struct option *name;
        size_t i = 0;
        while ((name = find_name(tables, word, &i)) && name->val != optopt) {
        }
        bool lacks = name && name->has_arg == required_argument;
        fault.kind = lacks ? NVTXT_OPTION_NO_VALUE : NVTXT_OPTION_HAS_VALUE;
        fault.name = name ? name->name : "";
    } else if (optopt) {
        bool known = optopt != ':' && optopt != '-' && strchr(tables->letters, optopt);
        fault.kind = known ? NVTXT_OPTION_NO_VALUE : NVTXT_OPTION_UNKNOWN;
        fault.letter = optopt;
    } else {
        look_for_unknown(tables, &fault);
    }
    return options->refuse(options, &fault);
}

// ---- Taking -------------------------------------------------------------------------------------

// Returns 0, NVTXT_WRONG with `why`, or -ENOMEM.
static int set_key(const struct nvtxt_option_value *value, char *why, size_t size) {
    const struct nvtxt_option *row = value->row;
    if (!*value->text && !nvtxt_conf_may_be_empty(row->key)) {
        snprintf(why, size, "%s", row->keys->no_value);
        return NVTXT_WRONG;
    }
    int r = row->take ? row->take(value) : 0;
    return r ?: nvtxt_conf_set(value->field, row->key, value->text, why, size);
}

static int set_field(const struct nvtxt_option_value *value, char *why, size_t size) {
    const struct nvtxt_option *row = value->row;
    bool good = true;
    switch (row->kind) {
    case NVTXT_OPTION_END:
    case NVTXT_OPTION_GROUP:
    case NVTXT_OPTION_KEYS:
        assert(!"no option");
        break;
    case NVTXT_OPTION_FLAG:
        *(bool *)value->field = true;
        break;
    case NVTXT_OPTION_TEXT:
        *(const char **)value->field = value->text;
        good = *value->text || !row->wanted;
        break;
    case NVTXT_OPTION_LIST:
        good = *value->text || !row->wanted;
        return good ? nvtxt_option_list_add(value->field, value->text) : NVTXT_WRONG;
    case NVTXT_OPTION_PID:
        good = nvtxt_option_pid(value->text, value->field);
        break;
    case NVTXT_OPTION_NUMBER:
    case NVTXT_OPTION_SECONDS:
    case NVTXT_OPTION_BYTES:
        good = read_number(value, value->field);
        break;
    case NVTXT_OPTION_OTHER:
        return row->take(value);
    case NVTXT_OPTION_KEY:
        return set_key(value, why, size);
    }
    return good ? 0 : NVTXT_WRONG;
}

static int take_option(struct nvtxt_options *options, const struct tables *tables, int option,
                       bool first) {
    char why[256] = "";
    size_t i = 0;
    while (option != FIRST + (int)i && option != tables->slots[i].row.letter) {
        i++;
    }
    const struct nvtxt_option *row = &tables->slots[i].row;
    char *values = tables->slots[i].values;
    if (first && !row->early) {
        return 0;
    }
    const struct nvtxt_option_value value = {row, values + row->at, options->context, optarg};
    int r = set_field(&value, why, sizeof(why));
    if (r == NVTXT_WRONG || r < 0) {
        const struct nvtxt_option_fault fault = {.kind = r < 0 ? NVTXT_OPTION_NO_MEMORY
                                                               : NVTXT_OPTION_BAD_VALUE,
                                                 .row = row,
                                                 .text = optarg,
                                                 .why = *why ? why : NULL};
        r = options->refuse(options, &fault);
    }
    if (row->has) {
        *(bool *)(values + row->has) = true;
    }
    options->letter = row->letter;
    options->seen |= (unsigned __int128)1 << i;
    return r;
}

static int walk(struct nvtxt_options *options, const struct tables *tables, int argc, char **argv,
                bool first) {
    const char *value = NULL;
    int option, r = 0;
    optind = 0;
    opterr = 0;
    while (r == 0 &&
           (option = getopt_long(argc, argv, tables->letters, tables->names, NULL)) != -1) {
        value = optarg;
        if (option == ANSWER_VERSION || option == ANSWER_HELP ||
            (options->help && option == options->help)) {
            r = options->answer(options, option != ANSWER_VERSION);
        } else if (option == '?') {
            r = refuse_option(options, tables, argv[optind - 1]);
        } else if (option == 1) {
            r = options->take_word(options, optarg);
        } else {
            r = take_option(options, tables, option, first);
        }
    }
    // "--" may also be the value of the last option.
    options->dashes = argv[optind - 1] != value && strcmp(argv[optind - 1], "--") == 0;
    return r;
}

int nvtxt_options_read(struct nvtxt_options *options, int argc, char **argv) {
    struct tables tables = {.letters = ""};
    int r = 0;
    strcpy(tables.letters, options->take_word ? "-" : "");
    strncat(tables.letters, &options->help, 1);
    add_rows(&tables, options->rows, options->values);
    add_name(&tables, "help", no_argument, ANSWER_HELP);
    add_name(&tables, "version", no_argument, ANSWER_VERSION);
    if (options->prepare) {
        r = walk(options, &tables, argc, argv, true);
        r = r ?: options->prepare(options);
    }
    return r ?: walk(options, &tables, argc, argv, false);
}
