// SPDX-License-Identifier: Apache-2.0
//
// Files of lines Key=Value with their drop-ins, and the kinds of values in them.
#include "protocol/conf/ini.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/conf/keys.h"

static char folder[32], taken[1024], complaints[1024];

static void append(char *to, const char *text) {
    cr_assert_lt(strlen(to) + strlen(text) + 2, 1024);
    strcat(strcat(to, text), "\n");
}

static void on_complaint(void *context, const char *sentence) {
    (void)context;
    append(complaints, sentence);
}

static int take(struct nvtxt_ini *ini, const char *name, const char *value) {
    char line[512];
    if (strcmp(name, "Stop") == 0) {
        return -ECANCELED;
    }
    if (strcmp(name, "Bad") == 0) {
        nvtxt_ini_bad_value(ini, name, value, "none is expected");
    } else if (strcmp(name, "Unknown") == 0) {
        nvtxt_ini_unknown_key(ini, name, *value ? value : NULL);
    } else {
        snprintf(line, sizeof(line), "%s:%u %s=%s", ini->path, ini->line, name, value);
        append(taken, line);
    }
    return 0;
}

static void write_file(const char *name, const char *text, size_t len) {
    FILE *file = fopen(name, "w");
    cr_assert_eq(fwrite(text, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

static int read_files(bool must_exist, bool *faulty) {
    static const struct nvtxt_faults faults = {.complain = on_complaint};
    struct nvtxt_ini ini = {.section = "own", .manual = "own(5)", .faults = &faults, .take = take};
    taken[0] = complaints[0] = '\0';
    int r = nvtxt_conf_files_read(&ini, "f", must_exist);
    *faulty = ini.faulty;
    return r;
}

// Reads the text as the main file, and compares what was taken and what was said.
static void expect(const char *text, const char *keys, const char *said) {
    bool faulty;
    write_file("f", text, strlen(text));
    cr_assert_eq(read_files(true, &faulty), 0);
    cr_assert_str_eq(taken, keys, "%s", text);
    cr_assert_str_eq(complaints, said, "%s", text);
    cr_assert_eq(faulty, *said != '\0');
}

static void in_folder(void) {
    strcpy(folder, "/tmp/nvtxt-ini-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(ini, .init = in_folder, .fini = remove_folder);

#define REFUSED " (unknown keys are refused so that a typing error is seen)"

Test(ini, takes_keys_of_its_section) {
    expect("\xEF\xBB\xBF[own]\r\n a = b c \nd=\n\n\te=f=g:h", "f:2 a=b c\nf:3 d=\nf:5 e=f=g:h\n",
           "");
}

Test(ini, a_comment_begins_a_line_or_stands_after_a_blank) {
    expect("# [x]\n;\n[own] ; x\na=b ; c\na=b;c # d\na=;b\na= ;b\n",
           "f:4 a=b\nf:5 a=b;c # d\nf:6 a=;b\nf:7 a=\n", "");
}

Test(ini, says_what_each_line_should_be) {
    expect(
        "a=1\n[own\na=2\n[other]\na=3\n[own]\na\na:b=1\na ; =1\nBad=x\nUnknown=Known\nUnknown=\n",
        "",
        "f:1: 'a' stands before the section [own]\n"
        "f:2: a section of the form [own] is expected\n"
        "f:4: unknown section '[other]': only [own] is known (unknown sections are refused so that "
        "a typing error is seen)\n"
        "f:7: a line of the form Key=Value is expected\n"
        "f:8: a line of the form Key=Value is expected\n"
        "f:9: a line of the form Key=Value is expected\n"
        "f:10: bad value 'x' for Bad: none is expected\n"
        "f:11: unknown key 'Unknown': did you mean 'Known'?" REFUSED "\n"
        "f:12: unknown key 'Unknown': own(5) lists what is allowed" REFUSED "\n");
}

Test(ini, allows_only_a_comment_after_a_section) {
    expect("[own]a=1\nb=2\n[own] # x\n[own];x\n[own] \t; x\nc=3\n", "f:2 b=2\nf:6 c=3\n",
           "f:1: 'a=1' stands after the section [own], on its line\n"
           "f:3: '# x' stands after the section [own], on its line\n"
           "f:4: ';x' stands after the section [own], on its line\n");
}

Test(ini, bounds_a_line_that_is_no_comment) {
    char text[1024], keys[512];
    snprintf(text, sizeof(text), "[own]\n#%0300d\na=%0196d\n", 0, 0);
    snprintf(keys, sizeof(keys), "f:3 a=%0196d\n", 0);
    expect(text, keys, "");
    snprintf(text, sizeof(text), "[own]\na=%0197d\nb=1\n", 0);
    expect(text, "f:3 b=1\n", "f:2: the line is too long: at most 198 bytes are allowed\n");
}

Test(ini, refuses_a_nul_byte) {
    static const char text[] = "[own]\na=b\0c\nd=e\n";
    bool faulty;
    write_file("f", text, sizeof(text) - 1);
    cr_assert_eq(read_files(true, &faulty), 0);
    cr_assert_str_eq(taken, "f:3 d=e\n");
    cr_assert_str_eq(complaints, "f:2: the line has a NUL byte\n");
}

Test(ini, ends_where_a_key_cannot_be_taken) {
    bool faulty;
    write_file("f", "[own]\nStop=\na=1\n", 16);
    cr_assert_eq(read_files(true, &faulty), -ECANCELED);
    cr_assert(faulty);
    cr_assert_str_eq(taken, "");
}

Test(ini, reads_drop_ins_in_the_order_of_their_bytes) {
    bool faulty;
    cr_assert_eq(mkdir("f.d", 0700), 0);
    cr_assert_eq(mkdir("f.d/B.conf", 0700), 0);
    write_file("f.d/a.conf", "[own]\na=2\n", 10);
    write_file("f.d/C.conf", "[own]\na=1\n", 10);
    write_file("f.d/.conf", "[own]\na=3\n", 10);
    write_file("f.d/d.conf~", "[own]\na=4\n", 10);
    cr_assert_eq(read_files(false, &faulty), 0);
    cr_assert(faulty);
    cr_assert_str_eq(taken, "f.d/C.conf:2 a=1\nf.d/a.conf:2 a=2\n");
    cr_assert_str_eq(complaints, "the configuration 'f.d/B.conf' cannot be read: Is a directory\n");
    cr_assert_eq(read_files(true, &faulty), -ENOENT);
    cr_assert_str_eq(complaints,
                     "the configuration 'f' cannot be read: No such file or directory\n");
    cr_assert_str_eq(taken, "");
}

// ---- Values -------------------------------------------------------------------------------------

Test(conf_value, a_number_has_digits_and_a_unit) {
    static const struct {
        const char *text;
        const struct nvtxt_unit *units;
        int64_t number; // -1: it is none
    } cases[] = {
        {"7", nvtxt_conf_plain, 7},
        {"7K", nvtxt_conf_plain, -1},
        {"7K", nvtxt_conf_sizes, 7168},
        {"2  M", nvtxt_conf_sizes, 2 << 20},
        {"3", nvtxt_conf_durations, 3000},
        {"2min", nvtxt_conf_durations, 120000},
        {"", nvtxt_conf_sizes, -1},
        {"M", nvtxt_conf_sizes, -1},
        {"-1", nvtxt_conf_plain, -1},
        {"1.5s", nvtxt_conf_durations, -1},
        {"1 ", nvtxt_conf_plain, 1},
        {" 1", nvtxt_conf_plain, -1},
        {"9223372036854775807", nvtxt_conf_plain, INT64_MAX},
        {"9223372036854775808", nvtxt_conf_plain, -1},
        {"9223372036854775807K", nvtxt_conf_sizes, -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t number;
        bool good = nvtxt_conf_number(cases[i].text, cases[i].units, &number);
        cr_assert_eq(good ? number : -1, cases[i].number, "%s", cases[i].text);
    }
}

Test(conf_value, a_choice_is_a_whole_word) {
    static const char *const words[] = {"full", "normal", "", "ful", "full|normal"};
    static const int64_t places[] = {0, 1, -1, -1, -1};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char why[64] = "";
        int64_t place = -1;
        int r = nvtxt_conf_set_choice(&place, "full|normal", words[i], why, sizeof(why));
        cr_assert_eq(place, places[i], "%s", words[i]);
        cr_assert_eq(r, place < 0);
        cr_assert_str_eq(why, r ? "one of full|normal is expected" : "");
    }
}

Test(conf_value, a_text_is_replaced_or_gets_a_line) {
    static const struct {
        const char *value;
        bool adds;
        const char *text;
    } steps[] = {{"a", true, "a"}, {"b", true, "a\nb"}, {"c", false, "c"},
                 {"", true, ""},   {"d", true, "d"},    {"", false, ""}};
    char *text = NULL;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        cr_assert_eq(nvtxt_conf_set_text(&text, steps[i].value, steps[i].adds), 0);
        cr_assert_str_eq(text, steps[i].text);
    }
    free(text);
}
