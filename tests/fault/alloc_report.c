// SPDX-License-Identifier: Apache-2.0
//
// The n-th allocation fails while a store or an export of Nsight Systems is read, ordered and
// selected, while all tables, all metrics and pages of it are made, and while rules are read and
// applied, also one that is a program. Each of them must end, free all that it took, and report
// short memory.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "report/diffpage/diffpage.h"
#include "report/host/host.h"
#include "report/load/load.h"
#include "report/metric/definitions.h"
#include "report/metric/metric.h"
#include "report/model/model.h"
#include "report/page/page.h"
#include "report/rule/rules.h"
#include "report/section/show.h"
#include "report/stats/reports.h"
#include "report/text/files.h"
#include "report/text/message.h"
#include "store/store.h"
#include "tests/fault/alloc.h"
#include "tests/fault/fault_kit.h"

static char folder[] = "/tmp/nvtxt-report-XXXXXX";
static char ours[64], theirs[64], build[64], rules[2][64];

static const char *const rule_texts[] = {
    "Identifier: 'Good' DisplayName: 'Good' ParentRules: 'Nobody' "
    "RequiredMetrics { Name: 'event__count.sum' } Constants { Name: 'limit' Value: 1 } "
    "Findings { Condition: 'not (event__count.sum < limit or \"a\" == \"b\")' Type: Warning "
    "Title: 'T {limit|%}' Message: '{event__count.sum} {limit * 1000|ns}' "
    "Speedup { Expression: 'limit / 3' } FocusMetrics { Name: 'limit' } "
    "Query { Sql: 'SELECT start, \"x\" FROM NVTX_EVENTS' } }",
    "Identifier: 'Bad' DisplayName: 'Bad' Findings { Condition: '1 <' Type: Ok Message: '{' "
    "Query { Sql: 'DROP TABLE x' } }",
};

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
    " rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"
    " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, int64Value INTEGER,"
    " jsonText TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, correlationId INTEGER, "
    "globalPid INTEGER, shortName INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
    "correlationId INTEGER);"
    "INSERT INTO StringIds VALUES (0, 'step'), (1, 'worker'), (2, 'saxpy');"
    "INSERT INTO ThreadNames VALUES (1, 0, (7 << 24) | 8);"
    "INSERT INTO PROCESSES VALUES (7 << 24, 7, 'service');"
    "INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, globalTid, domainId, int64Value,"
    " jsonText) VALUES (1, NULL, 75, 'shop', NULL, (7 << 24) | 8, 1, NULL, NULL),"
    " (2, 50, 59, NULL, 0, (7 << 24) | 8, 0, 5, '{}'), (60, 90, 59, NULL, 0, (7 << 24) | 8, 0, 6,"
    " NULL), (3, 70, 59, 'cross;es', NULL, (7 << 24) | 8, 0, NULL, NULL),"
    " (5, NULL, 59, 'open', NULL, (7 << 24) | 8, 1, NULL, NULL),"
    " (4, 7, 60, 'request', NULL, (7 << 24) | 9, 1, NULL, NULL),"
    " (1, 1, 34, 'tick', NULL, (7 << 24) | 9, 1, 7, NULL),"
    " (8, 8, 34, 'tick', NULL, (7 << 24) | 9, 1, 7, NULL);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 1, 7 << 24, 2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (20, 21, (7 << 24) | 8, 1);";

static const char *const lines[] = {
    "@RangePush, Time, ThreadId, Message, CategoryId",
    "@RangePop, Time, ThreadId",
    "@Marker, Time, ThreadId, Message, Payload",
    "@RangeStartEnd, Start, End, ThreadId, Message",
    "SetFileDisplayName, \"shop\"",
    "SetCategoryName, 3, \"io\"",
    "SetThreadName, 7, 8, \"worker\"",
    "SetProcessName, 7, \"service\"",
    "RangePush, 1, 8, \"step\", 3",
    "RangePush, 2, 8, \"load\", 0",
    "RangePop, 4, 8",
    "Wrong, 4",
    "Marker, 5, 8, \"tick\", 5",
    "Marker, 6, 9, \"tick\", 6",
    "RangePop, 7, 8",
    "RangePush, 8, 8, \"step\", 3",
    "RangeStartEnd, 1, 5, 8, \"request\"",
    "RangePop, 9, 8",
};

static void make_store(const char *path) {
    const struct store_options how = {.plain = true, .file_mode = 0600};
    const struct nvtxt_source_config config = {.limits = NVTXT_LIMITS_DEFAULT, .default_pid = 7};
    const struct store_source source = {.id = 1, .kind = STORE_SOURCE_FILE, .name = "a.nvtxt"};
    struct store *store;
    struct nvtxt_sink sink;
    must(store_open(&store, path, &how, NULL, 0) == 0, "a store");
    struct store_batch *batch = store_batch_new();
    struct nvtxt_interp *interp = nvtxt_interp_new(&config);
    store_batch_sink(store_batch_source(batch, &source), &sink);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        must(nvtxt_interp_line(interp, nvtxt_slice_of(lines[i]), &sink) == 0, lines[i]);
    }
    must(nvtxt_interp_end(interp, &sink) == 0, "the end");
    must(store_begin(store) == 0 && store_write(store, batch) == 0 && store_commit(store) == 0,
         "a commit");
    nvtxt_interp_free(interp);
    store_batch_free(batch);
    store_close(store);
}

// A build: the request is its run, the pushed ranges are steps, one below the other; and an event
// of the same source that has its parent from there.
static const char keys[] =
    "UPDATE NVTXT_SOURCES SET sessionId = 's', peerUid = 7, parent = 's:gone';"
    "UPDATE NVTX_EVENTS SET eventType = 60 WHERE eventType = 59;"
    "INSERT INTO NVTXT_RANGE_KEYS (eventRow, sourceId, key, parent) SELECT rowid, 1, 'k' || rowid, "
    "CASE WHEN rowid % 2 THEN 's:run' ELSE 's:k' || (rowid + 1) END FROM NVTX_EVENTS "
    "WHERE text IN ('step', 'load');"
    "INSERT INTO NVTXT_RANGE_KEYS (eventRow, sourceId, key, parent) SELECT rowid, 1, 'run', "
    "'other:run' FROM NVTX_EVENTS WHERE text = 'request';";

static void make_build(void) {
    sqlite3 *db = NULL;
    must(sqlite3_open(build, &db) == SQLITE_OK, "open");
    must(sqlite3_exec(db, keys, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void make_export(void) {
    sqlite3 *db = NULL;
    must(sqlite3_open(theirs, &db) == SQLITE_OK, "open");
    must(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK, "schema");
    sqlite3_close(db);
}

// The files are found before: scandir() takes memory that is not counted, and we free it.
static struct report_files files;

static void make_rules(void) {
    const struct report_search_folder folders[] = {{folder, false}, {"builtin", false}};
    const char *missing;
    for (int i = 0; i < 2; i++) {
        snprintf(rules[i], sizeof(rules[i]), "%s/%d.rule", folder, i);
        FILE *file = fopen(rules[i], "w");
        must(file && fputs(rule_texts[i], file) >= 0 && fclose(file) == 0, rules[i]);
    }
    must(report_files_find(&files, folders, 2, false, &missing) == 0, "files");
}

// ---- What is made -------------------------------------------------------------------------------

static int select_events(struct report_model *model) {
    static const char *const options[][2] = {
        {"nvtx-include", "regex:^.*$/"}, {"nvtx-include", "step/"}, {"nvtx-include", "nothing"},
        {"nvtx-exclude", "never"},       {"within", "step"},        {"match", "[a-z]"},
        {"iterations", "step"},
    };
    struct report_selection selection = {0};
    struct report_fault fault;
    struct nvtxt_buf notes = {0};
    int rc = 0;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]) && rc == 0; i++) {
        rc = report_selection_take(&selection, options[i][0], options[i][1], &fault);
        must(rc <= 0, options[i][0]);
    }
    rc = rc ?: report_select(model, &selection, INT64_MIN, INT64_MAX, &notes, &fault);
    rc = rc ?: report_iterations_init(&model->iterations, model->capture, &selection);
    nvtxt_buf_deinit(&notes);
    report_selection_deinit(&selection);
    return rc;
}

static int make_tables(const struct report_model *model) {
    static const double percentiles[] = {50, 99.9};
    static const char *const names[] = {"50", "99.9"};
    const struct report_stats_options options = {
        .percentiles = percentiles, .percentile_names = names, .percentile_count = 2};
    int rc = 0;
    for (size_t i = 0; i < report_stats_report_count && rc == 0; i++) {
        struct report_table table;
        rc = report_stats_make(&table, &report_stats_reports[i], model, &options);
        report_table_deinit(&table);
    }
    return rc;
}

// A page without sections and rules, with its timeline.
static int write_page(struct report_page *page, const struct report_model *model) {
    struct report_paths paths = {.most = 1};
    const struct report_stats_options options = {.most_rows = 1, .paths = &paths};
    struct report_overview *overviews = report_overviews(model);
    struct report_table names = {0}, tree = {0};
    struct nvtxt_out out = {.fd = -1};
    size_t single;
    int rc = overviews ? nvtxt_out_init(&out, -1) : -ENOMEM;
    rc = rc ?: report_stats_make(&names, report_stats_find("nvtx_sum"), model, &options);
    rc = rc ?: report_stats_make(&tree, report_stats_find("nvtx_tree"), model, &options);
    page->overviews = overviews;
    page->names = &names;
    page->tree = &tree;
    page->paths = &paths;
    rc = rc ?: report_page_write(&out, page, &single);
    rc = rc ?: out.error;
    nvtxt_out_deinit(&out);
    report_table_deinit(&names);
    report_table_deinit(&tree);
    report_paths_deinit(&paths);
    free(overviews);
    return rc;
}

static int make_page(const struct report_model *model) {
    const struct report_results results = {0};
    const struct report_messages messages = {0};
    struct report_page page = {
        .model = model, .results = &results, .messages = &messages, .max_events = 1};
    int rc = report_page_begin(&page);
    rc = rc ?: write_page(&page, model);
    report_page_end(&page);
    return rc;
}

// A page of the differences between a capture and itself.
static int make_diff_page(const struct report_model *model) {
    struct report_durations durations = {0};
    struct report_diff diff = {0};
    struct report_diff_paths paths = {0};
    struct nvtxt_out out = {.fd = -1};
    const struct report_diff_view view = {.base = "a", .new = "b", .gate = 2};
    const struct report_diff_page page = {
        .diff = &diff,
        .view = &view,
        .sides = {{"a", &durations, model, false}, {"b", &durations, model, false}},
        .paths = &paths,
        .limit = 1};
    int rc = report_durations_init(&durations, model);
    rc = rc ?: report_diff_init(&diff, &durations, &durations, 2);
    rc = rc ?: report_diff_paths_init(&paths, model, model);
    rc = rc ?: nvtxt_out_init(&out, -1);
    rc = rc ?: report_diff_page_write(&out, &page);
    rc = rc ?: out.error;
    nvtxt_out_deinit(&out);
    report_diff_paths_deinit(&paths);
    report_diff_deinit(&diff);
    report_durations_deinit(&durations);
    return rc;
}

static int make_metrics(struct report_model *model) {
    const struct report_scope scope = {.kind = REPORT_SCOPE_CAPTURE, .kind_word = "capture"};
    struct report_metrics *metrics = NULL;
    struct report_name_cursor cursor = {0};
    const struct report_metric *metric;
    int rc = report_metrics_new(&metrics, model, &scope, NULL);
    for (const char *name; rc == 0 && (name = report_name_next(&cursor, NULL));) {
        rc = report_metrics_get(metrics, name, &metric);
    }
    report_metrics_free(metrics);
    return rc;
}

static int apply_rules(const struct report_rules *all, struct report_model *model) {
    const struct report_rules_wanted wanted = {.since_ns = INT64_MIN, .until_ns = INT64_MAX};
    const struct report_scope scope = {.kind = REPORT_SCOPE_CAPTURE, .kind_word = "capture"};
    struct report_results results = {0};
    struct report_metrics *metrics = NULL;
    int rc = report_metrics_new(&metrics, model, &scope, NULL);
    rc = rc ?: report_rules_apply(all, metrics, &wanted, &results);
    report_results_free(&results);
    report_metrics_free(metrics);
    return rc;
}

static int judge(struct report_model *model) {
    struct report_messages messages = {0};
    struct report_rules *all = NULL;
    int rc = report_rules_new(&all, true);
    rc = rc ?: report_rules_load(all, &files, NULL, NULL, NULL, NULL, &messages);
    rc = rc ?: apply_rules(all, model);
    report_rules_free(all);
    report_messages_deinit(&messages);
    return rc;
}

static int make_all(const void *context) {
    const char *path = context;
    struct report_capture *capture = NULL;
    struct report_model *model = NULL;
    char sentence[REPORT_SENTENCE_BYTES];
    int rc = report_load(&capture, &path, 1, &REPORT_LOAD_ALL, sentence);
    must(rc <= 0, sentence);
    rc = rc ?: report_model_build(&model, capture);
    rc = rc ?: select_events(model);
    rc = rc ?: make_tables(model);
    rc = rc ?: make_metrics(model);
    rc = rc ?: make_page(model);
    rc = rc ?: make_diff_page(model);
    rc = rc ?: judge(model);
    report_model_free(model);
    report_capture_free(capture);
    return rc;
}

// ---- Rules that are programs --------------------------------------------------------------------

static char programs[64], program[80], shell[80];

// Stands for Python: it describes a rule, or says what one would say.
static const char shell_text[] =
    "#!/bin/sh\n"
    "say() { printf '%s\\n' \"$1\" >&3; IFS= read -r reply <&3; echo \"$reply\"; }\n"
    "ask() { say \"{\\\"id\\\":1,\\\"method\\\":\\\"$1\\\",\\\"params\\\":{$2}}\"; }\n"
    "ask rule_begin ''\n"
    "case $reply in *describe*) ask rule_describe '\"identifier\":\"P\",\"name\":\"N\","
    "\"description\":\"\",\"parents\":[\"Q\"],\"missing\":[\"get_name\"]' ;; esac\n"
    "ask require_metrics '\"names\":[\"event__count.sum\"]'\n"
    "ask message '\"type\":\"warning\",\"text\":\"T\"'\n"
    "ask speedup '\"message\":0,\"global\":true,\"percent\":1'\n"
    "ask focus_metric '\"message\":0,\"name\":\"m\",\"value\":1,\"severity\":\"low\"'\n"
    "ask table '\"message\":0,\"header\":[\"x\"],\"rows\":[[\"a\"],[1]]'\n"
    "ask vault_put '\"id\":\"k\",\"dict\":{\"json\":\"1\"}'\n"
    "ask vault_get '\"id\":\"k\"'\n"
    "ask chart '\"name\":\"chart\"'\n"
    "ask action ''\n"
    "ask nvtx_state '\"range\":0,\"action\":0'\n"
    "ask rule_results ''\n"
    "ask rule_done ''\n";

static void write_text(const char *path, const char *text, unsigned mode) {
    FILE *file = fopen(path, "w");
    must(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0, path);
}

static void make_programs(void) {
    char chart[80];
    snprintf(programs, sizeof(programs), "%s/programs", folder);
    snprintf(program, sizeof(program), "%s/rule.py", programs);
    snprintf(shell, sizeof(shell), "%s/shell", programs);
    snprintf(chart, sizeof(chart), "%s/chart", programs);
    must(mkdir(programs, 0755) == 0, "mkdir");
    write_text(program, "def get_identifier():\n    return 'P'\n", 0644);
    write_text(shell, shell_text, 0755);
    write_text(chart, "BarChart { Metrics { Name: 'range__count_per_name.sum' } }", 0644);
}

static void remove_programs(void) {
    char chart[80];
    snprintf(chart, sizeof(chart), "%s/chart", programs);
    unlink(chart);
    unlink(program);
    unlink(shell);
    rmdir(programs);
}

static struct report_files found; // scandir() takes memory that nobody counts

// Loads the program with that runner, and applies it.
static int run_program(struct report_runner *runner, struct report_model *model, bool *good) {
    const struct report_rules_wanted wanted = {.since_ns = INT64_MIN, .until_ns = INT64_MAX};
    const struct report_scope scope = {.kind = REPORT_SCOPE_CAPTURE, .kind_word = "capture"};
    struct report_messages messages = {0};
    struct report_results results = {0};
    struct report_metrics *metrics = NULL;
    struct report_rules *all = NULL;
    int rc = report_rules_new(&all, true);
    rc = rc ?: report_rules_load(all, &found, NULL, NULL, NULL, runner, &messages);
    rc = rc ?: report_metrics_new(&metrics, model, &scope, NULL);
    rc = rc ?: report_rules_apply(all, metrics, &wanted, &results);
    for (size_t i = 0; i < results.count; i++) {
        *good |=
            results.results[i].kind == REPORT_RULE_PYTHON && results.results[i].table_count > 1;
    }
    report_results_free(&results);
    report_metrics_free(metrics);
    report_rules_free(all);
    report_messages_deinit(&messages);
    return rc;
}

static bool program_was_good;

static int host_program(const void *context) {
    struct report_model *model = (struct report_model *)(uintptr_t)context;
    struct report_sections sections = {0};
    const struct report_section_filter_view view = {.capture = model->capture};
    const struct report_host_options options = {
        .python = shell,
        .folder = "/",
        .version = "1",
        .sandbox = REPORT_SANDBOX_NEVER,
        .timeout_s = 600,
        .sections = &sections,
        .view = &view,
        .interrupt_fd = -1,
    };
    struct report_runner *runner = NULL;
    int rc = report_host_new(&runner, &options);
    rc = rc ?: run_program(runner, model, &program_was_good);
    report_host_free(runner);
    return rc;
}

static void check_nothing(const void *context, int result) {
    (void)context;
    (void)result;
}

static void all_allocations(const char *path, unsigned stride) {
    must(make_all(path) == 0, "without a fault"); // SQLite keeps some of its first time
    unsigned once = alloc_each(stride, false, make_all, check_nothing, path);
    unsigned lasting = alloc_each(stride, true, make_all, check_nothing, path);
    printf("# %u and %u allocations of %s, every %u. failed\n", once, lasting, path, stride);
}

static void program_allocations(unsigned stride) {
    struct report_capture *capture = NULL;
    struct report_model *model = NULL;
    const struct report_search_folder search = {programs, false};
    const char *path = ours, *missing;
    char sentence[REPORT_SENTENCE_BYTES];
    must(report_load(&capture, &path, 1, &REPORT_LOAD_ALL, sentence) == 0, sentence);
    must(report_model_build(&model, capture) == 0 && select_events(model) == 0, "the model");
    must(report_files_find(&found, &search, 1, false, &missing) == 0, "the folder");
    must(host_program(model) == 0 && program_was_good, "a program without a fault");
    unsigned once = alloc_each(stride, false, host_program, check_nothing, model);
    printf("# %u allocations of a rule that is a program, every %u. failed\n", once, stride);
    report_files_deinit(&found);
    report_model_free(model);
    report_capture_free(capture);
}

int main(void) {
    unsigned stride = fault_stride(499, 4999);
    char package[4096];
    snprintf(package, sizeof(package), "%s/report", getenv("top_srcdir"));
    setenv("NVTXT_REPORT_DATA", package, 1);
    alloc_install();
    must(mkdtemp(folder) != NULL, "mkdtemp");
    snprintf(ours, sizeof(ours), "%s/ours.sqlite", folder);
    snprintf(theirs, sizeof(theirs), "%s/theirs.sqlite", folder);
    snprintf(build, sizeof(build), "%s/build.sqlite", folder);
    make_store(ours);
    make_store(build);
    make_build();
    make_export();
    make_rules();
    // First, because it makes processes, which takes long when this one has much memory.
    make_programs();
    program_allocations(fault_stride(7, 61));
    remove_programs();
    all_allocations(ours, stride);
    all_allocations(theirs, stride);
    all_allocations(build, stride);
    remove_store(ours);
    remove_store(theirs);
    remove_store(build);
    report_files_deinit(&files);
    unlink(rules[0]);
    unlink(rules[1]);
    rmdir(folder);
    return 0;
}
