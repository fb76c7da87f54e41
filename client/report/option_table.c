// SPDX-License-Identifier: Apache-2.0
//
// Values that are not plain, and the table that names the function for each. Words of a list keep
// their place in the command line; they are not copied one by one.
#include <stdlib.h>
#include <string.h>

#include "client/report/options.h"
#include "protocol/base/near.h"

// ---- Values -------------------------------------------------------------------------------------

static int take_select(const struct arguments_value *value) {
    struct report_options *options = value->field;
    struct report_fault fault = {0};
    int result = report_selection_take(&options->selection, value->row->name, value->text, &fault);
    return result == 0  ? 0
           : result < 0 ? OUTCOME_SYSTEM
                        : (int)report_options_refuse(value->term, &fault);
}

static int take_folder(const struct arguments_value *value) {
    struct report_options *options = value->field;
    size_t size = (options->folder_count + 1) * sizeof(*options->folders);
    struct report_folder *folders = realloc(options->folders, size);
    if (!folders) {
        return OUTCOME_SYSTEM;
    }
    options->folders = folders;
    bool recursive = strcmp(value->row->name, "section-folder") != 0;
    folders[options->folder_count++] = (struct report_folder){value->text, recursive};
    return *value->text ? 0 : ARGUMENTS_WRONG;
}

static int add_word(struct report_words *list, const char *begin, size_t len) {
    char **words = realloc(list->words, (list->count + 1) * sizeof(*words));
    char *word = malloc(len + 1);
    size_t size = 0;
    if (words) {
        list->words = words;
    }
    if (!words || !word) {
        free(word);
        return OUTCOME_SYSTEM;
    }
    for (size_t i = 0; i < len; i++) {
        i += begin[i] == '\\' && i + 1 < len && begin[i + 1] == ',';
        word[size++] = begin[i];
    }
    word[size] = '\0';
    words[list->count++] = word;
    return size > 0 ? 0 : ARGUMENTS_WRONG;
}

// A list with commas; "\," is a comma in a word.
static int take_words(const struct arguments_value *value) {
    int result = 0;
    for (const char *at = value->text; result == 0; at++) {
        const char *begin = at;
        while (*at && *at != ',') {
            at += at[0] == '\\' && at[1] == ',' ? 2 : 1;
        }
        result = add_word(value->field, begin, (size_t)(at - begin));
        if (!*at) {
            break;
        }
    }
    return result;
}

static int take_percentiles(const struct arguments_value *value) {
    struct report_words *list = value->field;
    size_t i = list->count;
    int result = take_words(value);
    for (; result == 0 && i < list->count; i++) {
        const char *word = list->words[i];
        size_t digits = strspn(word, "0123456789");
        size_t rest = word[digits] == '.' ? 1 + strspn(word + digits + 1, "0123456789") : 0;
        double number = strtod(word, NULL);
        bool good = digits > 0 && rest != 1 && !word[digits + rest] && number > 0 && number <= 100;
        result = good ? 0 : ARGUMENTS_WRONG;
    }
    return result;
}

static const char *name_at(const void *context, size_t index) {
    const char *const *names = context;
    return names[index];
}

// One of several words; `choice` is its place among them.
static int choose(const struct arguments_value *value, const char *const *names, int *choice) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], value->text) == 0) {
            *choice = i;
            return 0;
        }
    }
    const char *near = nvtxt_near(nvtxt_slice_of(value->text), name_at, names);
    if (!near) {
        return ARGUMENTS_WRONG;
    }
    term_say(value->term, "--%s takes %s, not '%s'; did you mean '%s'?", value->row->name,
             value->row->wanted, value->text, near);
    return OUTCOME_USAGE;
}

#define CHOICE(function, type, ...)                                                                \
    static int function(const struct arguments_value *value) {                                     \
        static const char *const names[] = {__VA_ARGS__, NULL};                                    \
        int choice = 0;                                                                            \
        int result = choose(value, names, &choice);                                                \
        *(type *)value->field = (type)choice;                                                      \
        return result;                                                                             \
    }

CHOICE(take_format, enum report_format, "text", "csv", "tsv", "json", "jsonl", "markdown")
CHOICE(take_aggregate, bool, "instances", "operands")
CHOICE(take_apply, bool, "yes", "no")
CHOICE(take_scope, enum report_scope_kind, "capture", "process", "thread", "name", "iteration")
CHOICE(take_unit, enum report_time_unit, "nsec", "usec", "msec", "sec")
CHOICE(take_units, bool, "auto", "base")
CHOICE(take_details, enum report_details, "all", "header", "body")
CHOICE(take_instances, enum report_instances, "none", "values", "details")
CHOICE(take_metric_name, enum report_metric_name, "label", "name", "label-name")
CHOICE(take_sandbox, enum report_sandboxes, "auto", "always", "never")
CHOICE(take_level, enum report_fail_on, "ok", "optimization", "warning", "error")

static int take_arch(const struct arguments_value *value) {
    const char *digits = value->text + (strncmp(value->text, "CC_", 3) == 0 ? 3 : 0);
    int64_t number = 0;
    bool good = *digits >= '0' && *digits <= '9' && arguments_int64(digits, &number);
    *(uint32_t *)value->field = (uint32_t)number;
    return good && number > 0 && number <= UINT32_MAX ? 0 : ARGUMENTS_WRONG;
}

static int take_gate(const struct arguments_value *value) {
    char *end = NULL;
    const char *text = value->text;
    double number = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    *(double *)value->field = number;
    return end && end == text + strspn(text, "0123456789.") && !*end ? 0 : ARGUMENTS_WRONG;
}

static int take_timeout(const struct arguments_value *value) {
    int result = take_gate(value);
    double seconds = *(double *)value->field;
    return result == 0 && seconds > 0 && seconds <= 1e6 ? 0 : ARGUMENTS_WRONG;
}

static int take_define(const struct arguments_value *value) {
    const char *equal = strchr(value->text, '=');
    return equal && equal > value->text ? arguments_list_add(value->field, value->text)
                                        : ARGUMENTS_WRONG;
}

// ---- The table ----------------------------------------------------------------------------------

#define SELECTS                                                                                    \
    (REPORT_REPORT | REPORT_SUMMARY | REPORT_STATS | REPORT_EVENTS | REPORT_METRICS |              \
     REPORT_SOURCE | REPORT_DIFF | REPORT_CHECK | REPORT_HTML | REPORT_SERVE)
#define EVERY ((SELECTS & ~(unsigned)REPORT_SERVE) | REPORT_LIST | REPORT_NVTX_STATE)
#define HAS_FORMATS (EVERY & ~(unsigned)REPORT_HTML)
#define COMPUTES                                                                                   \
    (REPORT_REPORT | REPORT_METRICS | REPORT_SOURCE | REPORT_CHECK | REPORT_LIST | REPORT_HTML)

#define RUNS_RULES (REPORT_REPORT | REPORT_CHECK | REPORT_HTML | REPORT_LIST)

#define AT(field) offsetof(struct report_options, field)
#define OTHER(name, field, function, what)                                                         \
    { name, 0, ARGUMENTS_OTHER, .at = AT(field), .wanted = what, .take = function }
#define LIST(name, field) OTHER(name, field, take_words, "a list with commas, without empty words")
#define SELECT(name, commands, value, text)                                                        \
    { {name, 0, ARGUMENTS_OTHER, .take = take_select}, commands, value, text }
#define EVENTS(name, value, text) SELECT(name, SELECTS, value, text)

const struct report_option report_options_table[] = {
    {{"store", 0, ARGUMENTS_LIST, .at = AT(stores), .wanted = "a path"},
     SELECTS,
     "PATH",
     "a STORE, too (default: see 'nvtxt-ctl where')"},
    SELECT("nvtx-include", SELECTS | REPORT_NVTX_STATE, "E",
           "events of this filter; see nvtxt-filter(7)"),
    SELECT("nvtx-exclude", SELECTS | REPORT_NVTX_STATE, "E",
           "... but not those that this one matches"),
    EVENTS("nvtx-domain-include", "LIST", "events of these domains; 'default' is none"),
    EVENTS("nvtx-domain-exclude", "LIST", "... but not of these"),
    EVENTS("within", "RANGE[@DOMAIN]", "events that start in a range of that name"),
    EVENTS("since", "TIME", "events that end at TIME or later"),
    EVENTS("until", "TIME", "... and begin at TIME or before"),
    EVENTS("last", "LENGTH", "events of the last 90s, 5m, 2h, 1d"),
    EVENTS("pid", "N", "events of this process"),
    EVENTS("tid", "N", "... of this thread"),
    EVENTS("source", "S", "... of this source, by its id or name"),
    EVENTS("category", "C", "... of this category, by its number or name"),
    EVENTS("kind", "KIND", "... of this kind: mark, push/pop or start/end"),
    EVENTS("color", "C", "... of this colour: a name, #RRGGBB, #AARRGGBB"),
    EVENTS("match", "RE", "... whose message matches, anywhere (PCRE2)"),
    EVENTS("payload", "'OP N'", "... whose payload is < <= = != >= or > N"),
    EVENTS("min-duration", "LENGTH", "ranges that are as long or longer"),
    EVENTS("max-duration", "LENGTH", "ranges that are as long or shorter"),
    EVENTS("iterations", "NAME[@DOMAIN]", "the ranges of that name are iterations"),
    EVENTS("skip-iterations", "N", "the first N are not in their figures"),
    {{"expect-some", 0, ARGUMENTS_FLAG, .at = AT(selection.expect_some)},
     SELECTS,
     NULL,
     "exit status 1 if nothing is selected"},
    {{"max-memory", 0, ARGUMENTS_BYTES, .at = AT(max_memory), .wanted = "bytes, such as 512M",
      .least = 1},
     SELECTS | REPORT_NVTX_STATE,
     "SIZE",
     "the most memory for events (default: 1G)"},
    {OTHER("format", format, take_format, "text, csv, tsv, json, jsonl or markdown"), HAS_FORMATS,
     "FORMAT", "text, csv, tsv, json, jsonl or markdown"},
    {{"csv", 0, ARGUMENTS_FLAG, .at = AT(csv)}, HAS_FORMATS, NULL, "the same as --format csv"},
    {{"output", 'o', ARGUMENTS_TEXT, .at = AT(output)},
     EVERY,
     "FILE",
     "the file; '-': stdout (html: " REPORT_OPTIONS_PAGE ")"},
    {{"report", 'r', ARGUMENTS_OTHER, .at = AT(reports), .take = take_words,
      .wanted = "a list with commas, without empty words"},
     REPORT_STATS,
     "LIST",
     "the tables (default: nvtx_sum); 'list reports'"},
    {OTHER("percentiles", percentiles, take_percentiles, "numbers above 0, up to 100"),
     REPORT_STATS, "LIST", "columns with these percentiles, such as 50,99.9"},
    {OTHER("timeunit", time_unit, take_unit, "nsec, usec, msec or sec"), REPORT_STATS, "UNIT",
     "nsec (the default), usec, msec or sec"},
    {LIST("section", sections), REPORT_REPORT | REPORT_SOURCE | REPORT_HTML | REPORT_LIST, "LIST",
     "these sections, by identifier or regex:RE"},
    {LIST("set", sets), REPORT_REPORT | REPORT_SOURCE | REPORT_HTML | REPORT_LIST, "LIST",
     "the sections of these sets (default: basic)"},
    {LIST("metrics", metrics), REPORT_REPORT | REPORT_METRICS | REPORT_SOURCE | REPORT_LIST, "LIST",
     "these metrics, by name, regex:RE or group:G"},
    {{"section-folder", 0, ARGUMENTS_OTHER, .wanted = "a folder, or builtin", .take = take_folder},
     COMPUTES,
     "DIR",
     "sections and rules of this folder, or builtin,"},
    {{"section-folder-recursive", 0, ARGUMENTS_OTHER, .wanted = "a folder, or builtin",
      .take = take_folder},
     COMPUTES,
     "DIR",
     "... and of those in it, not of the usual ones"},
    {OTHER("define", defines, take_define, "NAME=EXPR"), COMPUTES, "NAME=EXPR",
     "a metric from others; see nvtxt-metrics(7)"},
    {{"metrics-from", 0, ARGUMENTS_LIST, .at = AT(metric_files)},
     COMPUTES,
     "FILE",
     "metrics with their values, as JSON"},
    {OTHER("derived-aggregate", from_operands, take_aggregate, "instances or operands"), COMPUTES,
     "HOW", "value of derived ones: instances or operands"},
    {OTHER("scope", scope, take_scope, "capture, process, thread, name or iteration"),
     REPORT_REPORT | REPORT_METRICS | REPORT_LIST, "SCOPE",
     "one page per process, thread, name or iteration"},
    {OTHER("arch", arch, take_arch, "a number such as 70 or CC_70"), COMPUTES, "NN",
     "the architecture for MinArch and MaxArch"},
    {OTHER("apply-rules", no_rules, take_apply, "yes or no"), RUNS_RULES, "yes|no",
     "whether rules are applied (default: yes)"},
    {LIST("rule", rules), RUNS_RULES, "LIST", "these rules only, by identifier or regex:RE"},
    {OTHER("sandbox", sandbox, take_sandbox, "auto, always or never"), RUNS_RULES, "WHEN",
     "bubblewrap: auto (default), always, never"},
    {OTHER("rule-timeout", rule_timeout_s, take_timeout, "seconds above 0"), RUNS_RULES, "SECONDS",
     "time of a rule in Python (default: 10)"},
    {{"python", 0, ARGUMENTS_TEXT, .at = AT(python)},
     RUNS_RULES,
     "PROGRAM",
     "runs rules in Python (default: " REPORT_OPTIONS_PYTHON ")"},
    {{"resolve-source-file", 0, ARGUMENTS_LIST, .at = AT(resolved)},
     COMPUTES,
     "[NAME=]FILE",
     "the NVTXT file that a source read"},
    {{"all-lines", 0, ARGUMENTS_FLAG, .at = AT(all_lines)},
     REPORT_SOURCE | REPORT_HTML,
     NULL,
     "lines without any figure, too"},
    {{"full-names", 0, ARGUMENTS_FLAG, .at = AT(full_names)},
     HAS_FORMATS,
     NULL,
     "text: names of more than 200 characters, too"},
    {{"max-events", 0, ARGUMENTS_NUMBER, .at = AT(max_events), .wanted = "a number from 1 on",
      .least = 1},
     REPORT_HTML,
     "N",
     "events drawn singly (default: 2000000)"},
    {OTHER("print-units", base_units, take_units, "auto or base"), COMPUTES, "auto|base",
     "text: units that fit, or those of the metrics"},
    {OTHER("print-details", details, take_details, "header, body or all"),
     REPORT_REPORT | REPORT_LIST, "PART", "text: header, body or all of a section"},
    {OTHER("print-metric-instances", instances, take_instances, "none, values or details"),
     REPORT_REPORT | REPORT_METRICS | REPORT_LIST, "HOW", "text: none, values or details"},
    {OTHER("print-metric-name", metric_name, take_metric_name, "label, name or label-name"),
     REPORT_REPORT | REPORT_METRICS | REPORT_LIST, "HOW", "text: label, name or label-name"},
    {{"print-rule-details", 0, ARGUMENTS_FLAG, .at = AT(rule_details)},
     REPORT_REPORT | REPORT_CHECK | REPORT_LIST,
     NULL,
     "text: all that rules say"},
    {OTHER("gate", gate, take_gate, "a number from 0 on"), REPORT_DIFF, "PCT",
     "exit status 2 when a name got slower by more"},
    {OTHER("fail-on", fail_on, take_level, "ok, optimization, warning or error"), REPORT_CHECK,
     "LEVEL", "status 2 from this level on (default: warning)"},
    {.commands = 0},
};
