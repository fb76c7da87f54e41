// SPDX-License-Identifier: Apache-2.0
//
// The host of Python rules without Python: a shell script stands for it, and says what a rule would
// say. What it gets back it prints, so it stands in the output.
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/host/host.h"
#include "report/host/use.h"
#include "report/metric/metric.h"
#include "report/rule/builder.h"
#include "report/text/files.h"
#include "report/text/message.h"
#include "store/value/arena.h"
#include "tests/unit/report_kit.h"

struct world {
    char folder[64], file[128], python[128];
    struct report_runner *runner;
    struct store_arena arena;
    struct report_messages messages;
    struct report_program program;
    struct report_model *model;
    struct report_scopes *scopes;
    struct report_metrics *metrics;
    struct report_result result;
    struct report_builder builder;
};

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    fclose(file);
    cr_assert_eq(chmod(path, mode), 0);
}

// say TEXT sends a line and prints the reply.
#define SCRIPT                                                                                     \
    "#!/bin/sh\n"                                                                                  \
    "say() { printf '%s\\n' \"$1\" >&3; IFS= read -r reply <&3; printf '%s\\n' \"$reply\"; }\n"

// A host whose Python is a script with these lines.
static struct world *world_new(const char *lines, double timeout_s) {
    struct world *world = calloc(1, sizeof(*world));
    char text[8192];
    strcpy(world->folder, "/tmp/report-host-XXXXXX");
    cr_assert_not_null(mkdtemp(world->folder));
    snprintf(world->file, sizeof(world->file), "%s/some.py", world->folder);
    snprintf(world->python, sizeof(world->python), "%s/python", world->folder);
    snprintf(text, sizeof(text), "%s%s\n", SCRIPT, lines);
    write_file(world->file, "", 0644);
    write_file(world->python, text, 0755);
    const struct report_host_options options = {
        .python = world->python,
        .folder = "/nonexistent",
        .version = "1.2",
        .sandbox = REPORT_SANDBOX_NEVER,
        .timeout_s = timeout_s,
        .interrupt_fd = -1,
    };
    cr_assert_eq(report_host_new(&world->runner, &options), 0);
    return world;
}

static void read_program(struct world *world) {
    const struct report_file file = {.path = world->file};
    cr_assert_eq(
        report_file_read_program(&file, &world->arena, &world->program.text, &world->messages), 0);
}

static int describe(struct world *world) {
    const struct report_file file = {.path = world->file};
    read_program(world);
    return world->runner->describe(world->runner, &file, &world->arena, &world->program,
                                   &world->messages);
}

static bool has_rule(const void *rules, struct nvtxt_slice identifier) {
    (void)rules;
    return nvtxt_slice_equal(identifier, NVTXT_SLICE("there"));
}

static void apply(struct world *world) {
    read_program(world);
    world->program.identifier = NVTXT_SLICE("rule");
    world->model = report_kit_f1();
    cr_assert_eq(report_scopes_new(&world->scopes, world->model, REPORT_SCOPE_CAPTURE), 0);
    cr_assert_eq(
        report_metrics_new(&world->metrics, world->model, report_scopes_at(world->scopes, 0), NULL),
        0);
    report_build_begin(&world->builder, &world->arena, &world->result);
    const struct report_program_call call = {
        .file = world->file,
        .program = &world->program,
        .metrics = world->metrics,
        .builder = &world->builder,
        .has_rule = has_rule,
    };
    world->runner->begin(world->runner);
    cr_assert_eq(world->runner->apply(world->runner, &call), 0);
    cr_assert_eq(report_build_end(&world->builder), 0);
}

static void world_free(struct world *world) {
    char command[128];
    report_host_free(world->runner);
    report_metrics_free(world->metrics);
    report_scopes_free(world->scopes);
    if (world->model) {
        report_kit_free(world->model);
    }
    report_messages_deinit(&world->messages);
    store_arena_deinit(&world->arena);
    snprintf(command, sizeof(command), "rm -r %s", world->folder);
    cr_assert_eq(system(command), 0);
    free(world);
}

static void is(struct nvtxt_slice text, const char *expected) {
    cr_assert(nvtxt_slice_equal(text, nvtxt_slice_of(expected)), "'%.*s' is not '%s'",
              (int)text.len, text.data, expected);
}

static void ends_as(const char *lines, double timeout_s, const char *reason) {
    struct world *world = world_new(lines, timeout_s);
    apply(world);
    cr_assert_eq(world->result.status, REPORT_RULE_FAILED);
    is(world->result.reason, reason);
    cr_assert_eq(world->result.message_count, 0);
    world_free(world);
}

// ---- What a file is -----------------------------------------------------------------------------

#define DESCRIBE(members)                                                                          \
    "say '{\"id\":1,\"method\":\"rule_begin\"}'\n"                                                 \
    "say '{\"id\":2,\"method\":\"rule_describe\",\"params\":{" members "}}'"

Test(describe, takes_what_a_file_says) {
    struct world *world = world_new(
        DESCRIBE("\"identifier\":\"A\",\"name\":\"N\",\"description\":\"D\",\"section\":\"S\","
                 "\"parents\":[\"B\",\"C\"],\"missing\":[\"get_name\"]"),
        600);
    cr_assert_eq(describe(world), 0);
    is(world->program.identifier, "A");
    is(world->program.name, "N");
    is(world->program.description, "D");
    is(world->program.section, "S");
    cr_assert_eq(world->program.parent_count, 2);
    is(world->program.parents[1], "C");
    cr_assert_null(world->program.reason.data);
    cr_assert_eq(world->messages.count, 1);
    cr_assert_str_eq(world->messages.items[0].code, "bad-rule");
    cr_assert_eq(world->messages.errors, 0);
    world_free(world);
}

Test(describe, knows_helpers_and_bad_files) {
    struct world *world = world_new(DESCRIBE("\"helper\":true,\"missing\":[]"), 600);
    cr_assert_eq(describe(world), REPORT_PROGRAM_IS_HELPER);
    world_free(world);
    world = world_new(DESCRIBE("\"missing\":[\"apply\"]"), 600);
    cr_assert_eq(describe(world), NVTXT_WRONG);
    cr_assert_eq(world->messages.errors, 1);
    world_free(world);
    world = world_new(DESCRIBE("\"identifier\":\"\",\"missing\":[]"), 600);
    cr_assert_eq(describe(world), NVTXT_WRONG);
    world_free(world);
}

Test(describe, refuses_what_is_no_list_of_parents) {
    struct world *world =
        world_new(DESCRIBE("\"identifier\":\"A\",\"missing\":[],\"parents\":7"), 600);
    write_file(world->file, "def apply(handle): pass\n", 0644);
    cr_assert_eq(describe(world), 0);
    is(world->program.reason, "ended by itself with status 0");
    cr_assert_eq(world->program.parent_count, 0);
    world_free(world);
}

Test(describe, names_a_rule_that_fails_by_its_text) {
    struct world *world = world_new("exit 4", 600);
    write_file(world->file,
               "import x\ndef get_identifier():\n    return 'Named'\ndef get_name() :\n  pass\n",
               0644);
    cr_assert_eq(describe(world), 0);
    is(world->program.identifier, "Named");
    is(world->program.name, "Named");
    is(world->program.reason, "ended by itself with status 4");
    cr_assert_not(world->program.not_run);
    world_free(world);
    world = world_new("exit 4", 600);
    write_file(world->file, "def get_identifier(): return NAME\n", 0644);
    cr_assert_eq(describe(world), 0);
    is(world->program.identifier, "some");
    world_free(world);
}

Test(describe, needs_a_program) {
    struct world *world = world_new("", 600);
    const struct report_host_options options = {
        .python = "nvtxt-no-such-program", .folder = "/", .timeout_s = 1, .interrupt_fd = -1};
    report_host_free(world->runner);
    cr_assert_eq(report_host_new(&world->runner, &options), 0);
    write_file(world->file, "def apply(handle): pass\n", 0644);
    cr_assert_eq(describe(world), 0);
    is(world->program.reason, "nvtxt-no-such-program not found");
    cr_assert(world->program.not_run);
    write_file(world->file, "VALUE = 1\n", 0644);
    cr_assert_eq(describe(world), REPORT_PROGRAM_IS_HELPER);
    world_free(world);
}

Test(peek, finds_plain_strings) {
    static const struct nvtxt_slice text = {
        "def a():\n    # a word\n\n    return \"x y\"\ndef b():\n    return 'q\\'s'\n"
        "def c(): return ''\ndef d():\n    pass\nx = 'return'\nreturn 'z'\n  def e():\n return 'e'",
        0};
    struct nvtxt_slice whole = nvtxt_slice_of(text.data), value;
    cr_assert(report_peek(whole, "a", &value));
    is(value, "x y");
    for (const char *name = "bcd"; *name; name++) {
        const char one[] = {*name, '\0'};
        cr_assert(report_peek(whole, one, &value));
        cr_assert_null(value.data, "%s", one);
    }
    cr_assert_not(report_peek(whole, "e", &value));
    cr_assert_not(report_peek((struct nvtxt_slice){"", 0}, "a", &value));
}

// ---- What a rule says ---------------------------------------------------------------------------

#define ASK(method, members) "say '{\"id\":7,\"method\":\"" method "\",\"params\":{" members "}}'\n"
#define DONE "say '{\"id\":9,\"method\":\"rule_done\"}'"

Test(apply, builds_the_result) {
    struct world *world = world_new(
        ASK("message", "\"type\":\"warning\",\"text\":\"T\",\"title\":\"H\"")
            ASK("speedup", "\"message\":0,\"global\":true,\"percent\":12.5") ASK(
                "focus_metric", "\"message\":0,\"name\":\"m\",\"value\":3,\"severity\":\"high\","
                                "\"info\":\"I\"")
                ASK("table", "\"message\":0,\"title\":\"A\",\"description\":\"B\","
                             "\"header\":[\"x\",\"y\"],\"rows\":[[1,\"a\"],[2.5,null]]")
                    ASK("source_marker", "\"message\":0,\"file\":\"f\",\"line\":4,\"text\":\"s\"")
                        ASK("propose", "\"id\":\"other\"") DONE,
        600);
    apply(world);
    const struct report_result *result = &world->result;
    cr_assert_eq(result->status, REPORT_RULE_FINDINGS);
    cr_assert_eq(result->message_count, 1);
    cr_assert_eq(result->messages[0].level, REPORT_LEVEL_WARNING);
    is(result->messages[0].title, "H");
    cr_assert(result->speedups[0].global && result->speedups[0].percent == 12.5);
    is(result->focus[0].info, "I");
    cr_assert_eq(result->focus[0].value.u64, 3);
    cr_assert_eq(result->focus[0].severity, REPORT_FOCUS_HIGH);
    cr_assert_eq(result->tables[0].table.row_count, 2);
    is(result->tables[0].description, "B");
    is(report_cell_slice(&result->tables[0].table.cells[1]), "a");
    cr_assert_eq(result->tables[0].table.cells[3].kind, REPORT_CELL_EMPTY);
    cr_assert_eq(result->markers[0].line, 4);
    is(result->proposals[0], "other");
    world_free(world);
}

// Each of these is answered with an error, and the rule goes on.
Test(apply, refuses_what_is_wrong) {
    static const char *const wrong[] = {
        ASK("message", "\"type\":\"loud\",\"text\":\"T\""),
        ASK("message", "\"type\":\"ok\",\"text\":7"),
        ASK("speedup", "\"message\":0,\"percent\":1"),
        ASK("focus_metric", "\"message\":-1"),
        ASK("table", "\"message\":null"),
        ASK("vault_put", "\"id\":\"x\",\"dict\":{}"),
        ASK("require_metrics", "\"names\":\"x\""),
        ASK("chart", "\"name\":\"../x\""),
        ASK("rule_describe", ""),
        ASK("nothing", ""),
        "say '{\"id\":7,\"method\":\"rule_raised\"}'\n",
        "say '{\"id\":7,\"method\":\"message\"}'\n",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char lines[512];
        snprintf(lines, sizeof(lines), "%s%s", wrong[i], DONE);
        struct world *world = world_new(lines, 600);
        apply(world);
        cr_assert_eq(world->result.status, REPORT_RULE_NO_ISSUE, "%s", wrong[i]);
        cr_assert_not_null(
            memmem(world->result.output.data, world->result.output.len, "{\"id\":7,\"error\":", 16),
            "%s: %.*s", wrong[i], (int)world->result.output.len, world->result.output.data);
        world_free(world);
    }
}

Test(apply, asks_for_figures_and_what_others_left) {
    struct world *world = world_new(
        ASK("require_metrics", "\"names\":[\"range__count.sum\",\"nothing\"]")
            ASK("require_rules", "\"ids\":[\"there\",\"gone\"]") ASK("vault_get", "\"id\":\"k\"")
                ASK("vault_put", "\"id\":\"k\",\"dict\":{\"json\":\"[1]\"}")
                    ASK("vault_get", "\"id\":\"k\"") ASK("send_dict", "\"dict\":{\"json\":\"{}\"}")
                        ASK("receive_dict", "\"id\":\"rule\"")
                            ASK("receive_dict", "\"id\":\"a parent\"") ASK("hello", "")
                                ASK("actions_by_nvtx", "\"include\":[]") DONE,
        600);
    apply(world);
    is(world->result.output,
       "{\"id\":7,\"result\":{\"na\":[{\"name\":\"nothing\",\"reason\":\"no such metric\"}]}}\n"
       "{\"id\":7,\"result\":{\"missing\":[\"gone\"]}}\n"
       "{\"id\":7,\"result\":{\"dict\":null}}\n"
       "{\"id\":7,\"result\":{}}\n"
       "{\"id\":7,\"result\":{\"dict\":{\"json\":\"[1]\"}}}\n"
       "{\"id\":7,\"result\":{}}\n"
       "{\"id\":7,\"result\":{\"dict\":null}}\n"
       "{\"id\":7,\"result\":{\"dict\":null}}\n"
       "{\"id\":7,\"result\":{\"protocol\":1,\"version\":\"1.2\",\"path\":\"kit0.db\","
       "\"kind\":\"nvtxt\",\"ranges\":2}}\n"
       "{\"id\":7,\"result\":{\"actions\":[0]}}\n");
    world_free(world);
}

Test(apply, does_not_apply_what_lacks_something) {
    struct world *world = world_new(ASK("require_metrics", "\"names\":[\"nothing\"]")
                                        ASK("rule_evaluated", "") "sleep 600",
                                    600);
    apply(world);
    cr_assert_eq(world->result.status, REPORT_RULE_NOT_APPLICABLE);
    is(world->result.reason, "nothing N/A: no such metric");
    world_free(world);
    world = world_new(ASK("require_rules", "\"ids\":[\"gone\"]") ASK("rule_evaluated", ""), 600);
    apply(world);
    is(world->result.reason, "rule gone is not loaded");
    world_free(world);
    world = world_new(ASK("rule_evaluated", "") ASK("require_metrics", "\"names\":[\"nothing\"]")
                          ASK("rule_evaluated", "") DONE,
                      600);
    apply(world);
    cr_assert_eq(world->result.status, REPORT_RULE_NO_ISSUE);
    world_free(world);
}

// ---- The end ------------------------------------------------------------------------------------

Test(apply, says_how_it_ended) {
    ends_as("exit 3", 600, "ended by itself with status 3");
    ends_as(ASK("message", "\"type\":\"error\",\"text\":\"T\"") "exit 0", 600,
            "ended by itself with status 0");
    ends_as("kill -9 $$", 600, "killed by signal 9");
    ends_as("exit 76", 600, "wrote no valid reply");
    ends_as("printf 'x\\n' >&3; sleep 600", 600, "wrote no valid reply");
    ends_as("printf '[]\\n' >&3; sleep 600", 600, "wrote no valid reply");
    ends_as("exec 3>&-; sleep 600", 600, "wrote no valid reply");
    ends_as("head -c 2000000 /dev/zero >&3; sleep 600", 600, "wrote no valid reply");
    ends_as("sleep 600", 0.2, "timed out after 0.2 s");
    ends_as("while :; do :; done", 0.2, "timed out after 0.2 s");
    ends_as(ASK("rule_raised", "\"type\":\"KeyError\",\"text\":\"t\",\"file\":\"f\",\"line\":2"),
            600, "raised KeyError: t (f:2)");
    ends_as(ASK("rule_raised", "\"type\":\"KeyError\",\"text\":\"\",\"file\":\"f\",\"line\":2"),
            600, "raised KeyError (f:2)");
    ends_as(ASK("rule_raised", "\"type\":\"KeyError\""), 600, "raised KeyError");
}

Test(apply, hears_the_last_words_of_a_process) {
    struct world *world = world_new(
        "printf '%s\\n%s\\n' '{\"id\":1,\"method\":\"message\",\"params\":{\"type\":\"ok\","
        "\"text\":\"T\"}}' '{\"id\":2,\"method\":\"rule_done\"}' >&3; exit 0",
        600);
    apply(world);
    cr_assert_eq(world->result.status, REPORT_RULE_NO_ISSUE);
    cr_assert_eq(world->result.message_count, 1);
    world_free(world);
}

// A child that has the socket, and asks on and on after the end of the rule.
Test(apply, does_not_listen_for_ever_to_what_a_process_left) {
    ends_as("yes '{\"id\":1,\"method\":\"hello\"}' >&3 & sleep 0.2; exit 4", 2,
            "ended by itself with status 4");
}

Test(apply, needs_no_signal_of_its_children) {
    signal(SIGCHLD, SIG_IGN);
    ends_as("exit 3", 600, "ended by itself with status 3");
}

Test(apply, keeps_so_much_of_what_is_printed) {
    struct world *world = world_new("head -c 200000 /dev/zero | tr '\\0' x\n" DONE, 600);
    apply(world);
    cr_assert_eq(world->result.output.len, 65536);
    world_free(world);
}

Test(apply, ends_with_a_signal) {
    struct world *world = world_new("sleep 600", 600);
    int pipe_[2];
    cr_assert_eq(pipe(pipe_), 0);
    cr_assert_eq(write(pipe_[1], "x", 1), 1);
    const struct report_host_options options = {
        .python = world->python,
        .folder = "/",
        .sandbox = REPORT_SANDBOX_NEVER,
        .timeout_s = 600,
        .interrupt_fd = pipe_[0],
    };
    report_host_free(world->runner);
    cr_assert_eq(report_host_new(&world->runner, &options), 0);
    cr_assert_lt(describe(world), 0);
    close(pipe_[0]);
    close(pipe_[1]);
    world_free(world);
}
