// SPDX-License-Identifier: Apache-2.0
//
// Values that are not plain, and the table that names the function for each. Words of a list keep
// their place in the command line; they are not copied one by one.
#include <stdlib.h>
#include <string.h>

#include "client/report/options.h"
#include "protocol/base/clock.h"
#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "protocol/table/arrays.h"
#include "protocol/text/forms.h"
#include "report/select/filter.h"

enum outcome report_options_refuse(struct term *term, const struct report_fault *fault) {
    struct nvtxt_buf text = {0};
    if (!fault->text.data) { // of several options
        term_say(term, "%s", fault->sentence);
        return OUTCOME_USAGE;
    }
    report_fault_write(fault, &text);
    nvtxt_buf_add(&text, "", 1);
    if (nvtxt_buf_failed(&text)) {
        term_say(term, "--%s: %s", fault->option, fault->sentence);
    }
    char *line = text.data;
    for (bool first = true; line && !nvtxt_buf_failed(&text); first = false) {
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
        }
        if (first) {
            term_say(term, "%s", line);
        } else {
            term_line(term, line);
        }
        line = end ? end + 1 : NULL;
    }
    nvtxt_buf_deinit(&text);
    return OUTCOME_USAGE;
}

// ---- Values -------------------------------------------------------------------------------------

static int take_select(const struct nvtxt_option_value *value) {
    struct report_options *options = value->field;
    struct report_fault fault = {0};
    int r = report_selection_take(&options->selection, value->row->name, value->text, &fault);
    return r > 0 ? (int)report_options_refuse(value->context, &fault) : r;
}

static int take_folder(const struct nvtxt_option_value *value) {
    struct report_options *options = value->field;
    struct report_folder *folder =
        nvtxt_add(&options->folders, &options->folder_count, sizeof(*folder));
    if (!folder) {
        return nvtxt_origin(-ENOMEM);
    }
    bool recursive = strcmp(value->row->name, "section-folder") != 0;
    *folder = (struct report_folder){value->text, recursive};
    return *value->text ? 0 : NVTXT_WRONG;
}

static int add_word(struct report_words *list, const char *begin, size_t len) {
    char *word = malloc(len + 1);
    char **added = word ? nvtxt_add(&list->words, &list->count, sizeof(*added)) : NULL;
    size_t size = 0;
    if (!added) {
        free(word);
        return nvtxt_origin(-ENOMEM);
    }
    for (size_t i = 0; i < len; i++) {
        i += begin[i] == '\\' && i + 1 < len && begin[i + 1] == ',';
        word[size++] = begin[i];
    }
    word[size] = '\0';
    *added = word;
    return size > 0 ? 0 : NVTXT_WRONG;
}

// A list with commas; "\," is a comma in a word.
static int take_words(const struct nvtxt_option_value *value) {
    int r = 0;
    for (const char *at = value->text; r == 0; at++) {
        const char *begin = at;
        while (*at && *at != ',') {
            at += at[0] == '\\' && at[1] == ',' ? 2 : 1;
        }
        r = add_word(value->field, begin, (size_t)(at - begin));
        if (!*at) {
            break;
        }
    }
    return r;
}

static int take_percentiles(const struct nvtxt_option_value *value) {
    struct report_words *list = value->field;
    size_t i = list->count;
    int r = take_words(value);
    for (; r == 0 && i < list->count; i++) {
        const char *word = list->words[i];
        size_t digits = strspn(word, "0123456789");
        size_t rest = word[digits] == '.' ? 1 + strspn(word + digits + 1, "0123456789") : 0;
        double number = strtod(word, NULL);
        bool good = digits > 0 && rest != 1 && !word[digits + rest] && number > 0 && number <= 100;
        r = good ? 0 : NVTXT_WRONG;
    }
    return r;
}

static const char *name_at(const void *context, size_t index) {
    const char *const *names = context;
    return names[index];
}

// One of several words; `choice` is its place among them.
static int choose(const struct nvtxt_option_value *value, const char *const *names, int *choice) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], value->text) == 0) {
            *choice = i;
            return 0;
        }
    }
    const char *near = nvtxt_near(nvtxt_slice_of(value->text), name_at, names);
    if (!near) {
        return NVTXT_WRONG;
    }
    term_say(value->context, "--%s takes %s, not '%s'; did you mean '%s'?", value->row->name,
             value->row->wanted, value->text, near);
    return OUTCOME_USAGE;
}

#define CHOICE(function, type, ...)                                                                \
    static int function(const struct nvtxt_option_value *value) {                                  \
        static const char *const names[] = {__VA_ARGS__, NULL};                                    \
        int choice = 0;                                                                            \
        int r = choose(value, names, &choice);                                                     \
        *(type *)value->field = (type)choice;                                                      \
        return r;                                                                                  \
    }

CHOICE(take_format, enum report_format, "text", "csv", "tsv", "json", "jsonl", "markdown", "junit",
       "github", "html")
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

static int take_arch(const struct nvtxt_option_value *value) {
    const char *digits = value->text + (strncmp(value->text, "CC_", 3) == 0 ? 3 : 0);
    int64_t number = 0;
    bool good = *digits >= '0' && *digits <= '9' && nvtxt_option_int64(digits, &number);
    *(uint32_t *)value->field = (uint32_t)number;
    return good && number > 0 && number <= UINT32_MAX ? 0 : NVTXT_WRONG;
}

static int take_gate(const struct nvtxt_option_value *value) {
    char *end = NULL;
    const char *text = value->text;
    double number = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    *(double *)value->field = number;
    return end && end == text + strspn(text, "0123456789.") && !*end ? 0 : NVTXT_WRONG;
}

static int take_timeout(const struct nvtxt_option_value *value) {
    int r = take_gate(value);
    double seconds = *(double *)value->field;
    return r == 0 && seconds > 0 && seconds <= 1e6 ? 0 : NVTXT_WRONG;
}

static int take_kernel(const struct nvtxt_option_value *value) {
    struct report_options *options = value->field;
    struct report_fault fault = {.option = "kernel", .text = nvtxt_slice_of(value->text)};
    char sentence[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex **added =
        nvtxt_add(&options->kernels, &options->kernel_count, sizeof(*added));
    int r = added ? report_regex_new(added, fault.text, sentence, &offset) : nvtxt_origin(-ENOMEM);
    if (r > 0) {
        report_fault_set(&fault, offset + 1, "%s", sentence);
        return (int)report_options_refuse(value->context, &fault);
    }
    return r;
}

static int take_result(const struct nvtxt_option_value *value) {
    struct report_options *options = value->field;
    int64_t number = 0;
    bool good = nvtxt_option_int64(value->text, &number) && number >= 0;
    uint64_t *added =
        good ? nvtxt_add(&options->results, &options->result_count, sizeof(*added)) : NULL;
    if (added) {
        *added = (uint64_t)number;
    }
    return !good ? NVTXT_WRONG : added ? 0 : nvtxt_origin(-ENOMEM);
}

#define FOLLOW_MS 5000
#define FOLLOW_LEAST_MS 100
#define FOLLOW_MOST_MS 86400000

static int take_follow(const struct nvtxt_option_value *value) {
    int64_t ns = 0;
    bool good = !value->text || nvtxt_duration_parse(value->text, &ns);
    int64_t ms = value->text ? ns / NVTXT_NS_A_MS : FOLLOW_MS;
    *(int64_t *)value->field = ms;
    return good && ms >= FOLLOW_LEAST_MS && ms <= FOLLOW_MOST_MS ? 0 : NVTXT_WRONG;
}

static int take_define(const struct nvtxt_option_value *value) {
    const char *equal = strchr(value->text, '=');
    return equal && equal > value->text ? nvtxt_option_list_add(value->field, value->text)
                                        : NVTXT_WRONG;
}

// ---- The table ----------------------------------------------------------------------------------

#define SELECTS                                                                                    \
    (REPORT_REPORT | REPORT_SUMMARY | REPORT_STATS | REPORT_EVENTS | REPORT_METRICS |              \
     REPORT_SOURCE | REPORT_DIFF | REPORT_CHECK | REPORT_HTML | REPORT_SERVE | REPORT_LOGS)
#define EVERY ((SELECTS & ~(unsigned)REPORT_SERVE) | REPORT_LIST | REPORT_NVTX_STATE)
#define HAS_TABLES (HAS_FORMATS & ~(unsigned)(REPORT_NVTX_STATE | REPORT_SERVE))
#define HAS_FORMATS (EVERY & ~(unsigned)REPORT_HTML)
#define COMPUTES                                                                                   \
    (REPORT_REPORT | REPORT_METRICS | REPORT_SOURCE | REPORT_CHECK | REPORT_LIST | REPORT_HTML)

#define KERNELS (REPORT_REPORT | REPORT_METRICS | REPORT_CHECK | REPORT_DIFF | REPORT_SERVE)

#define RUNS_RULES (REPORT_REPORT | REPORT_CHECK | REPORT_HTML | REPORT_LIST)

#define AT(field) offsetof(struct report_options, field)
#define OTHER(name, field, function, what)                                                         \
    { name, 0, NVTXT_OPTION_OTHER, .at = AT(field), .wanted = what, .take = function }
#define LIST(name, field) OTHER(name, field, take_words, "a list with commas, without empty words")
#define SELECT(name, commands, value, text)                                                        \
    { {name, 0, NVTXT_OPTION_OTHER, .take = take_select}, commands, value, text }
#define EVENTS(name, value, text) SELECT(name, SELECTS, value, text)

const struct report_option report_options_table[] = {
    {{"store", 0, NVTXT_OPTION_LIST, .at = AT(stores), .wanted = "a path"},
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
    EVENTS("level", "LEVEL", "... lines of logs of it or worse; or A..B"),
    EVENTS("match", "RE", "... whose message matches, anywhere (PCRE2)"),
    EVENTS("payload", "'OP N'", "... whose payload is < <= = != >= or > N"),
    EVENTS("min-duration", "LENGTH", "ranges that are as long or longer"),
    EVENTS("max-duration", "LENGTH", "ranges that are as long or shorter"),
    EVENTS("iterations", "NAME[@DOMAIN]", "the ranges of that name are iterations"),
    EVENTS("skip-iterations", "N", "the first N are not in their figures"),
    {{"kernel", 0, NVTXT_OPTION_OTHER, .take = take_kernel},
     KERNELS,
     "RE",
     "of a .ncu-rep: kernels that match (PCRE2)"},
    {{"result", 0, NVTXT_OPTION_OTHER, .take = take_result, .wanted = "a number from 0 on"},
     KERNELS,
     "N",
     "... results of this number, from 0"},
    {{"expect-some", 0, NVTXT_OPTION_FLAG, .at = AT(selection.expect_some)},
     SELECTS,
     NULL,
     "exit status 1 if nothing is selected"},
    {{"max-memory", 0, NVTXT_OPTION_BYTES, .at = AT(max_memory), .wanted = "bytes, such as 512M",
      .least = 1},
     SELECTS | REPORT_NVTX_STATE,
     "SIZE",
     "the most memory for events (default: 1G)"},
    {{"threads", 0, NVTXT_OPTION_NUMBER, .at = AT(threads), .wanted = "a number from 1 to 256",
      .least = 1, .most = 256},
     SELECTS,
     "N",
     "threads that read stores (default: 2)"},
    {OTHER("format", format, take_format,
           "text, csv, tsv, json, jsonl, markdown, junit, github or html"),
     HAS_FORMATS, "FORMAT", "one of the formats above"},
    {{"csv", 0, NVTXT_OPTION_FLAG, .at = AT(csv)}, HAS_FORMATS, NULL, "the same as --format csv"},
    {{"output", 'o', NVTXT_OPTION_TEXT, .at = AT(output)},
     EVERY,
     "FILE",
     "the file; '-': stdout (html: " REPORT_OPTIONS_PAGE ")"},
    {{"report", 'r', NVTXT_OPTION_OTHER, .at = AT(reports), .take = take_words,
      .wanted = "a list with commas, without empty words"},
     REPORT_STATS,
     "LIST",
     "the tables (default: nvtx_sum); 'list reports'"},
    {OTHER("percentiles", percentiles, take_percentiles, "numbers above 0, up to 100"),
     REPORT_STATS, "LIST", "columns with these percentiles, such as 50,99.9"},
    {OTHER("timeunit", time_unit, take_unit, "nsec, usec, msec or sec"), REPORT_STATS, "UNIT",
     "nsec (the default), usec, msec or sec"},
    {{"pattern", 0, NVTXT_OPTION_TEXT, .at = AT(pattern)},
     REPORT_LOGS,
     "PATTERN",
     "the lines of this pattern, with their values"},
    {LIST("section", sections), REPORT_REPORT | REPORT_SOURCE | REPORT_HTML | REPORT_LIST, "LIST",
     "these sections, by identifier or regex:RE"},
    {LIST("set", sets), REPORT_REPORT | REPORT_SOURCE | REPORT_HTML | REPORT_LIST, "LIST",
     "the sections of these sets (default: basic)"},
    {LIST("metrics", metrics), REPORT_REPORT | REPORT_METRICS | REPORT_SOURCE | REPORT_LIST, "LIST",
     "these metrics, by name, regex:RE or group:G"},
    {{"section-folder", 0, NVTXT_OPTION_OTHER, .wanted = "a folder, or builtin",
      .take = take_folder},
     COMPUTES,
     "DIR",
     "sections and rules of this folder, or builtin,"},
    {{"section-folder-recursive", 0, NVTXT_OPTION_OTHER, .wanted = "a folder, or builtin",
      .take = take_folder},
     COMPUTES,
     "DIR",
     "... and of those in it, not of the usual ones"},
    {OTHER("define", defines, take_define, "NAME=EXPR"), COMPUTES, "NAME=EXPR",
     "a metric from others; see nvtxt-metrics(7)"},
    {{"metrics-from", 0, NVTXT_OPTION_LIST, .at = AT(metric_files)},
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
    {{"python", 0, NVTXT_OPTION_TEXT, .at = AT(python)},
     RUNS_RULES,
     "PROGRAM",
     "runs rules in Python (default: " REPORT_OPTIONS_PYTHON ")"},
    {{"resolve-source-file", 0, NVTXT_OPTION_LIST, .at = AT(resolved)},
     COMPUTES,
     "[NAME=]FILE",
     "the NVTXT file that a source read"},
    {{"all-lines", 0, NVTXT_OPTION_FLAG, .at = AT(all_lines)},
     REPORT_SOURCE | REPORT_HTML,
     NULL,
     "lines without any figure, too"},
    {{"no-excerpts", 0, NVTXT_OPTION_FLAG, .at = AT(no_excerpts)},
     REPORT_SUMMARY | REPORT_HTML,
     NULL,
     "no texts of bad lines"},
    {{"full-names", 0, NVTXT_OPTION_FLAG, .at = AT(full_names)},
     HAS_FORMATS,
     NULL,
     "text: names as long as they are"},
    {{"limit", 0, NVTXT_OPTION_NUMBER, .at = AT(limit), .has = AT(has_limit),
      .wanted = "a number from 0 on", .most = INT32_MAX},
     HAS_TABLES,
     "N",
     "rows of each table; 0: all (terminals: 20)"},
    {{"utc", 0, NVTXT_OPTION_FLAG, .at = AT(utc)},
     HAS_FORMATS,
     NULL,
     "terminals: times of day in UTC, not local"},
    {{"max-events", 0, NVTXT_OPTION_NUMBER, .at = AT(max_events), .wanted = "a number from 1 on",
      .least = 1},
     REPORT_HTML,
     "N",
     "events drawn singly (default: 2000000)"},
    {{"title", 0, NVTXT_OPTION_TEXT, .at = AT(title), .wanted = "a text that is not empty"},
     REPORT_HTML | REPORT_DIFF,
     "TEXT",
     "of the page (default: the stores' names)"},
    {{"follow", 0, NVTXT_OPTION_OTHER, .at = AT(follow_ms), .take = take_follow, .optional = true,
      .wanted = "a length of time from 0.1s to 1d, such as 5s"},
     REPORT_HTML,
     "[=LENGTH]",
     "write FILE again as stores grow (default: 5s)"},
    {OTHER("print-units", base_units, take_units, "auto or base"), COMPUTES, "auto|base",
     "text: units that fit, or those of the metrics"},
    {OTHER("print-details", details, take_details, "header, body or all"),
     REPORT_REPORT | REPORT_LIST, "PART", "text: header, body or all of a section"},
    {OTHER("print-metric-instances", instances, take_instances, "none, values or details"),
     REPORT_REPORT | REPORT_METRICS | REPORT_LIST, "HOW", "text: none, values or details"},
    {OTHER("print-metric-name", metric_name, take_metric_name, "label, name or label-name"),
     REPORT_REPORT | REPORT_METRICS | REPORT_LIST, "HOW", "text: label, name or label-name"},
    {{"print-rule-details", 0, NVTXT_OPTION_FLAG, .at = AT(rule_details)},
     REPORT_REPORT | REPORT_CHECK | REPORT_LIST,
     NULL,
     "text: all that rules say"},
    {{"baseline", 0, NVTXT_OPTION_TEXT, .at = AT(baseline), .wanted = "a file"},
     REPORT_DIFF,
     "FILE",
     "BASE, as --save-baseline wrote it"},
    {{"save-baseline", 0, NVTXT_OPTION_TEXT, .at = AT(save_baseline), .wanted = "a file"},
     REPORT_DIFF,
     "FILE",
     "write NEW, for --baseline"},
    {OTHER("gate", gate, take_gate, "a number from 0 on"), REPORT_DIFF, "PCT",
     "exit status 2 when a name got slower by more"},
    {OTHER("fail-on", fail_on, take_level, "ok, optimization, warning or error"), REPORT_CHECK,
     "LEVEL", "status 2 from this level on (default: warning)"},
    {.commands = 0},
};
