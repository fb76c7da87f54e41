// SPDX-License-Identifier: Apache-2.0
//
// A command line with keys of a configuration: what is taken when, and what is refused as what.
// test_arguments has the values of the other kinds.
#include "protocol/conf/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct {
        char *path, *word, *list;
        int64_t ms;
    } conf;
    const char *file;
    bool flag;
};

#define AT(field) .offset = offsetof(struct values, field) - offsetof(struct values, conf)

static bool is_word(const char *value) {
    return strcmp(value, "bad") != 0;
}

static const struct nvtxt_conf_key keys[] = {
    {"Path", NVTXT_CONF_PATH, AT(conf.path), .initial = "/p", .option = "path"},
    {"Word", NVTXT_CONF_TEXT, AT(conf.word), .initial = "w", .option = "word", .is_good = is_word,
     .wanted = "a good word"},
    {"List", NVTXT_CONF_TEXTS, AT(conf.list), .initial = "", .option = "list"},
    {"Wait", NVTXT_CONF_DURATION, AT(conf.ms), 1, 9000, .initial = "1s", .option = "wait"},
    {"Hidden", NVTXT_CONF_DURATION, AT(conf.ms), 1, 9000, .initial = "2s"},
};
static const struct nvtxt_conf_table table = {keys, sizeof(keys) / sizeof(keys[0]), "none"};

#undef AT
#define AT(field) .at = offsetof(struct values, field)

static int heard;

static int hear(const struct nvtxt_option_value *value) {
    (void)value;
    heard++;
    return 0;
}

static const struct nvtxt_option rows[] = {
    {"file", 'f', NVTXT_OPTION_TEXT, AT(file), .early = true},
    {"flag", 'x', NVTXT_OPTION_FLAG, AT(flag)},
    {.kind = NVTXT_OPTION_KEYS, AT(conf), .keys = &table, .take = hear},
    {0},
};

enum { HELP = 1, VERSION, REFUSED, NO_FILE };

static char said[256];
static struct values values;

static int answer(struct nvtxt_options *options, bool help) {
    (void)options;
    return help ? HELP : VERSION;
}

static int refuse(struct nvtxt_options *options, const struct nvtxt_option_fault *fault) {
    static const char *const kinds[] = {"unknown", "no value", "value", "bad", "memory"};
    char letter[] = {(char)fault->letter, '\0'};
    (void)options;
    snprintf(said, sizeof(said), "%s %s%s %s%s", kinds[fault->kind], *letter ? "-" : "",
             fault->row    ? fault->row->name
             : *letter     ? letter
             : fault->name ? fault->name
                           : fault->word,
             fault->why ? fault->why : "", fault->near ? fault->near : "");
    return REFUSED;
}

// The "files" of the configuration: they set what an option overrides.
static int prepare(struct nvtxt_options *options) {
    char why[64];
    cr_assert_not(values.flag, "no other row is early");
    cr_assert_str_eq(values.conf.path, "/p");
    nvtxt_conf_set(&values.conf, &keys[0], "/of/file", why, sizeof(why));
    nvtxt_conf_set(&values.conf, &keys[3], "3s", why, sizeof(why));
    (void)options;
    return values.file && strcmp(values.file, "none") == 0 ? NO_FILE : 0;
}

static int parse(const char *text) {
    static char copy[256];
    char *argv[32] = {"test"};
    int argc = 1;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    nvtxt_conf_deinit(&table, &values.conf);
    values = (struct values){0};
    heard = 0;
    said[0] = '\0';
    cr_assert_eq(nvtxt_conf_init(&table, &values.conf), 0);
    struct nvtxt_options options = {
        rows, &values, .help = 'h', .answer = answer, .refuse = refuse, .prepare = prepare};
    return nvtxt_options_read(&options, argc, argv);
}

static void leave(void) {
    nvtxt_conf_deinit(&table, &values.conf);
}

TestSuite(command_line, .fini = leave);

Test(command_line, options_override_files_wherever_they_stand) {
    cr_assert_eq(parse("--path=/a -x --list=1 -f g --list=2 --wait 5s"), 0, "%s", said);
    cr_expect_str_eq(values.conf.path, "/a");
    cr_expect_str_eq(values.conf.list, "1\n2");
    cr_expect_eq(values.conf.ms, 5000);
    cr_expect_str_eq(values.file, "g");
    cr_expect(values.flag);
    cr_expect_eq(heard, 4, "each value of a key, once");
    cr_assert_eq(parse("--word=b"), 0);
    cr_expect_str_eq(values.conf.path, "/of/file");
    cr_expect_eq(values.conf.ms, 3000);
    cr_assert_eq(parse("--file=none --word=bad"), NO_FILE, "before values of keys are looked at");
}

Test(command_line, an_answer_and_an_unknown_option_come_before_the_files) {
    cr_expect_eq(parse("--word=bad --help"), HELP);
    cr_expect_eq(parse("--file=none -h"), HELP);
    cr_expect_eq(parse("--file=none --vers"), VERSION);
    cr_expect_eq(parse("--file=none --flog"), REFUSED);
    cr_expect_str_eq(said, "unknown --flog flag");
}

Test(command_line, says_what_is_wrong) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"--none", "unknown --none "},
        {"--f", "unknown --f "}, // the beginning of two
        {"-z", "unknown -z "},
        {"-f", "no value -f "},
        {"--fil", "no value file "},
        {"--pat", "no value path "},
        {"--flag=1", "value flag "},
        {"--hel=1", "value help "},
        {"--hidden=1s", "unknown --hidden=1s "},
        {"--path=", "bad path none"},
        {"--wait=", "bad wait none"},
        {"--word=", "bad word none"},
        {"--word=bad", "bad word a good word is expected"},
        {"--wait=10s", "bad wait a time from 1 ms to 9 s is expected, as in 100ms or 10s"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(parse(cases[i].text), REFUSED, "%s", cases[i].text);
        cr_expect_str_eq(said, cases[i].said, "%s: %s", cases[i].text, said);
    }
    cr_expect_eq(parse("--list="), 0, "it clears the list");
}
