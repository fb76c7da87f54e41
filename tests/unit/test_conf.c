// SPDX-License-Identifier: Apache-2.0
//
// The table of configuration keys: defaults, units, ranges, and files with their line numbers.
#include "daemon/conf/conf.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int set(struct conf *conf, const char *key, const char *value) {
    char why[256] = "";
    int r = nvtxt_conf_set(conf, conf_find(key), value, why, sizeof(why));
    cr_assert(r == 0 || why[0], "%s=%s", key, value);
    return r;
}

#define REFUSED " (unknown keys are refused so that a typing error is seen)"

Test(conf, every_default_is_a_good_value) {
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    for (size_t i = 0; i < conf_table.count; i++) {
        cr_assert_eq(set(&conf, conf_table.keys[i].name, conf_table.keys[i].initial), 0, "%s",
                     conf_table.keys[i].name);
        cr_assert(conf_table.keys[i].help[0]);
    }
    cr_assert_eq(conf.commit_interval_ms, 100);
    cr_assert_eq(conf.memory_budget, 16 << 20);
    cr_assert_eq(conf.max_line, 65536);
    cr_assert_eq(conf.session_expiry_ms, 86400000);
    cr_assert_eq(conf.socket_mode, -1);
    cr_assert_eq(conf.store_mode, 0640);
    cr_assert_eq(conf.cupti_views, 1);
    cr_assert_eq(conf.watch_captures, -1);
    cr_assert_str_eq(conf_synchronous_name(&conf), "full");
    conf_deinit(&conf);
}

Test(conf, defaults_of_the_limits_are_those_of_the_language) {
    static const struct nvtxt_limits language = NVTXT_LIMITS_DEFAULT;
    struct nvtxt_limits limits;
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    conf_limits(&conf, &limits);
    cr_assert_eq(memcmp(&limits, &language, sizeof(limits)), 0);
    conf_deinit(&conf);
}

Test(conf, reads_units) {
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    static const struct {
        const char *value;
        int64_t ms;
    } times[] = {{"1", 1000}, {"20ms", 20}, {"2s", 2000}, {"1 min", 60000}, {"60000ms", 60000}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        cr_assert_eq(set(&conf, "CommitInterval", times[i].value), 0, "%s", times[i].value);
        cr_assert_eq(conf.commit_interval_ms, times[i].ms, "%s", times[i].value);
    }
    cr_assert_eq(set(&conf, "MemoryBudget", "1G"), 0);
    cr_assert_eq(conf.memory_budget, 1 << 30);
    cr_assert_eq(set(&conf, "MaxLine", "8192"), 0);
    cr_assert_eq(conf.max_line, 8192);
    cr_assert_eq(set(&conf, "SessionExpiry", "7d"), 0);
    cr_assert_eq(conf.session_expiry_ms, 7 * INT64_C(86400000));
    static const struct {
        const char *value;
        int64_t percent, bytes;
    } shares[] = {{"0", 0, 0},
                  {"10", 10, 0},
                  {"99%", 99, 0},
                  {"10 %, 4G", 10, INT64_C(4) << 30},
                  {"5,100", 5, 100}};
    struct nvtxt_conf_share initial = nvtxt_conf_share(conf.keep_free);
    cr_assert(initial.percent == 10 && initial.bytes == INT64_C(4) << 30);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        cr_assert_eq(set(&conf, "KeepFree", shares[i].value), 0, "%s", shares[i].value);
        struct nvtxt_conf_share share = nvtxt_conf_share(conf.keep_free);
        cr_assert(share.percent == shares[i].percent && share.bytes == shares[i].bytes, "%s",
                  shares[i].value);
    }
    cr_assert_eq(set(&conf, "SocketMode", "0660"), 0);
    cr_assert_eq(conf.socket_mode, 0660);
    conf_deinit(&conf);
}

Test(conf, refuses_bad_values_and_keeps_the_old_one) {
    static const char *const bad[][2] = {
        {"CommitInterval", "0"},
        {"CommitInterval", "61s"},
        {"CommitInterval", "-1"},
        {"CommitInterval", "1 week"},
        {"CommitInterval", ""},
        {"MemoryBudget", "1023K"},
        {"KeepFree", "100"},
        {"KeepFree", ""},
        {"KeepFree", "10%%"},
        {"KeepFree", "10%,"},
        {"KeepFree", "10%,0"},
        {"KeepFree", "10%,4T"},
        {"KeepFree", "4G"},
        {"KeepFree", "10%,99999999999G"},
        {"MemoryBudget", "16m"},
        {"MemoryBudget", "16MB"},
        {"MemoryBudget", "0x100000"},
        {"MaxLine", "4095"},
        {"LogLevel", "loud"},
        {"LogLevel", "INFO"},
        {"LogLevel", "inf"},
        {"LogLevel", ""},
        {"Synchronous", "off"},
        {"MaxConnectionsPerUser", "1K"},
        {"SocketMode", "0888"},
        {"StoreMode", ""},
        {"StoreMode", "0577"},
        {"StoreMode", "0640 "},
        {"CuptiViews", "true"},
        {"CuptiViews", ""},
        {"WatchCaptures", "maybe"},
        {"MaxNameBytes", "31"},
        {"SocketMode", "01000"},
        {"MemoryBudget", "99999999999999999999"},
        {"MemoryBudget", "9223372036854775807G"},
        {"SocketMode", "77777777777777777777777777"},
    };
    struct conf conf, before;
    cr_assert_eq(conf_init(&conf), 0);
    before = conf;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(set(&conf, bad[i][0], bad[i][1]), 1, "%s=%s", bad[i][0], bad[i][1]);
    }
    cr_assert_eq(memcmp(&conf, &before, sizeof(conf)), 0);
    conf_deinit(&conf);
}

Test(conf, knows_no_other_keys) {
    cr_assert_null(conf_find("socket"));
    cr_assert_null(conf_find(""));
    cr_assert_not_null(conf_find("Socket"));
}

Test(conf, finds_the_key_that_was_meant) {
    cr_assert_str_eq(nvtxt_conf_near(&conf_table, "Sokcet"), "Socket");
    cr_assert_str_eq(nvtxt_conf_near(&conf_table, "socket"), "Socket");
    cr_assert_str_eq(nvtxt_conf_near(&conf_table, "LogLevels"), "LogLevel");
    cr_assert_str_eq(nvtxt_conf_near(&conf_table, "maxline"), "MaxLine");
    cr_assert_null(nvtxt_conf_near(&conf_table, "Colour"));
    cr_assert_null(nvtxt_conf_near(&conf_table, ""));
}

Test(conf, compares_and_copies_key_by_key) {
    struct conf one, two;
    cr_assert_eq(conf_init(&one), 0);
    cr_assert_eq(conf_init(&two), 0);
    cr_assert_eq(set(&two, "Store", "/s"), 0);
    cr_assert_eq(set(&two, "MaxLine", "8K"), 0);
    for (size_t i = 0; i < conf_table.count; i++) {
        const struct nvtxt_conf_key *key = &conf_table.keys[i];
        bool changed = key == conf_find("Store") || key == conf_find("MaxLine");
        cr_assert_eq(nvtxt_conf_differs(&one, &two, key), changed, "%s", key->name);
        cr_assert_eq(nvtxt_conf_copy(&one, &two, key), 0);
        cr_assert_not(nvtxt_conf_differs(&one, &two, key));
    }
    conf_deinit(&two);
    cr_assert_str_eq(one.store, "/s");
    cr_assert_eq(one.max_line, 8192);
    conf_deinit(&one);
}

// ---- Files --------------------------------------------------------------------------------------

static char folder[32], complaints[4096];

static void in_folder(void) {
    strcpy(folder, "/tmp/nvtxt-conf-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(mkdir("f.d", 0700), 0);
    complaints[0] = '\0';
}

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static void on_complaint(void *context, const char *sentence) {
    (void)context;
    snprintf(complaints + strlen(complaints), sizeof(complaints) - strlen(complaints), "%s\n",
             sentence);
}
static const struct nvtxt_faults faults = {.complain = on_complaint};

static void write_file(const char *name, const char *text, size_t len) {
    FILE *file = fopen(name, "w");
    cr_assert_eq(fwrite(text, 1, len, file), len);
    cr_assert_eq(fclose(file), 0);
}

static int read_text(struct conf *conf, const char *text) {
    complaints[0] = '\0';
    write_file("f", text, strlen(text));
    return conf_file_load(conf, "f", true, &faults);
}

TestSuite(conf_file, .init = in_folder, .fini = remove_folder);

Test(conf_file, reads_comments_blanks_and_values) {
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    cr_assert_eq(read_text(&conf, "\xEF\xBB\xBF# c\n; c\n\n[nvtxtd]\r\nSocket=/a b\r\n"
                                  "  CommitInterval = 1s\n\tMaxLine=8K"),
                 0, "%s", complaints);
    cr_assert_str_eq(conf.socket, "/a b");
    cr_assert_eq(conf.commit_interval_ms, 1000);
    cr_assert_eq(conf.max_line, 8192);
    conf_deinit(&conf);
}

Test(conf_file, reports_all_faults_with_their_lines) {
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    cr_assert_eq(read_text(&conf, "Claim=peer\n[nvtxtd]\nSokcet=/a\nMaxLine=1\nnonsense\n[Other]\n"
                                  "Socket=/b\n[nvtxtd]\nStore=x\nColour=red\nalso nonsense\n"),
                 1);
    cr_assert_str_eq(complaints,
                     "f:1: 'Claim' stands before the section [nvtxtd]\n"
                     "f:3: unknown key 'Sokcet': did you mean 'Socket'?" REFUSED "\n"
                     "f:4: bad value '1' for MaxLine: a size from 4096 to 16777216 bytes is "
                     "expected, as in 16M\n"
                     "f:5: a line of the form Key=Value is expected\n"
                     "f:6: unknown section '[Other]': only [nvtxtd] is known (unknown "
                     "sections are refused so that a typing error is seen)\n"
                     "f:9: bad value 'x' for Store: an absolute path is expected\n"
                     "f:10: unknown key 'Colour': nvtxtd.conf(5) lists what is allowed" REFUSED "\n"
                     "f:11: a line of the form Key=Value is expected\n");
    conf_deinit(&conf);
}

Test(conf_file, refuses_a_path_that_no_socket_can_have) {
    struct conf conf;
    char text[512];
    cr_assert_eq(conf_init(&conf), 0);
    snprintf(text, sizeof(text), "[nvtxtd]\nSocket=/%0106d\nControlSocket=/1%0105d\n", 0, 0);
    cr_assert_eq(read_text(&conf, text), 0, "%s", complaints);
    cr_assert_eq(strlen(conf.socket), 107);
    snprintf(text, sizeof(text), "[nvtxtd]\nStore=/%0107d\nSocket=/%0107d\nControlSocket=/%0107d\n",
             0, 0, 0);
    cr_assert_eq(read_text(&conf, text), 1);
    cr_assert_eq(strncmp(complaints, "f:3: bad value '/0", 18), 0, "%s", complaints);
    cr_assert_not_null(
        strstr(complaints, "' for Socket: a path of at most 107 bytes is expected\nf:4: "));
    cr_assert_not_null(strstr(complaints, "' for ControlSocket: a path of at most 107 bytes"));
    conf_deinit(&conf);
}

Test(conf_file, counts_lines_after_long_ones) {
    struct conf conf;
    char text[2048];
    cr_assert_eq(conf_init(&conf), 0);
    snprintf(text, sizeof(text), "[nvtxtd]\n#%0700d\nStore=/%0191d\nMaxLine=1\n", 0, 0);
    cr_assert_eq(read_text(&conf, text), 1);
    cr_assert_eq(strncmp(complaints, "f:4: bad value '1'", 18), 0, "%s", complaints);
    cr_assert_eq(strlen(conf.store), 192);
    snprintf(text, sizeof(text), "[nvtxtd]\nStore=/%0192d\nMaxLine=1\n", 0);
    cr_assert_eq(read_text(&conf, text), 1);
    cr_assert_eq(
        strncmp(complaints, "f:2: the line is too long: at most 198 bytes are allowed\nf:3: ", 62),
        0, "%s", complaints);
    conf_deinit(&conf);
}

Test(conf_file, refuses_a_nul_byte) {
    static const char text[] = "[nvtxtd]\nStore=/a\0b\n";
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    write_file("f", text, sizeof(text) - 1);
    cr_assert_eq(conf_file_load(&conf, "f", true, &faults), 1);
    cr_assert_str_eq(complaints, "f:2: the line has a NUL byte\n");
    conf_deinit(&conf);
}

Test(conf_file, reads_drop_ins_after_the_file_in_the_order_of_their_names) {
    static const char *const files[][2] = {
        {"f.d/20-b.conf", "[nvtxtd]\nMaxLine=8K\nMaxVariables=20\n"},
        {"f.d/10-a.conf", "[nvtxtd]\nMaxLine=12K\nMaxPushDepth=7\n"},
        {"f.d/30-c.conf~", "nonsense\n"},
        {"f.d/.hidden.conf", "nonsense\n"},
        {"f.d/README", "nonsense\n"},
    };
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        write_file(files[i][0], files[i][1], strlen(files[i][1]));
    }
    cr_assert_eq(read_text(&conf, "[nvtxtd]\nMaxLine=16K\nMaxVariables=30\n"), 0, "%s", complaints);
    cr_assert_eq(conf.max_line, 8192);
    cr_assert_eq(conf.max_variables, 20);
    cr_assert_eq(conf.max_push_depth, 7);
    conf_deinit(&conf);
}

Test(conf_file, reports_a_contradiction_at_the_line_of_the_second_key) {
    static const char drop_in[] = "\n[nvtxtd]\nMemoryBudget=1M\n";
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    write_file("f.d/a.conf", drop_in, sizeof(drop_in) - 1);
    cr_assert_eq(read_text(&conf, "[nvtxtd]\nMaxLine=2M\n"), 1);
    cr_assert_str_eq(complaints,
                     "f.d/a.conf:3: MaxLine (2097152) is larger than MemoryBudget (1048576)\n");
    cr_assert_eq(read_text(&conf, "[nvtxtd]\nMaxLine=4K\nRotateSize=3M\nKeepSize=2M\n"), 1);
    cr_assert_str_eq(complaints, "f:4: RotateSize (3145728) is larger than KeepSize (2097152)\n");
    cr_assert_eq(
        read_text(&conf, "[nvtxtd]\nSocket=/s\nMaxLine=4K\nKeepSize=4M\nControlSocket=/s\n"), 1);
    cr_assert_str_eq(complaints, "f:5: Socket and ControlSocket are the same; they must differ\n");
    conf_deinit(&conf);
}

Test(conf_file, a_missing_file_is_a_fault_only_when_it_must_be_there) {
    static const char drop_in[] = "[nvtxtd]\nMaxLine=8K\n";
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    cr_assert_eq(conf_file_load(&conf, "f", true, &faults), -ENOENT);
    cr_assert_str_eq(complaints,
                     "the configuration 'f' cannot be read: No such file or directory\n");
    write_file("f.d/a.conf", drop_in, sizeof(drop_in) - 1);
    cr_assert_eq(conf_file_load(&conf, "f", false, &faults), 0);
    cr_assert_eq(conf.max_line, 8192);
    cr_assert_eq(conf_file_load(&conf, "nowhere/f", false, &faults), 0);
    conf_deinit(&conf);
}

Test(conf_file, a_drop_in_that_cannot_be_read_is_a_fault) {
    struct conf conf;
    cr_assert_eq(conf_init(&conf), 0);
    cr_assert_eq(mkdir("f.d/a.conf", 0700), 0);
    cr_assert_eq(read_text(&conf, ""), 1);
    cr_assert_str_eq(complaints, "the configuration 'f.d/a.conf' cannot be read: Is a directory\n");
    conf_deinit(&conf);
}
