// SPDX-License-Identifier: Apache-2.0
//
// What options.h promises: each variable, its bounds and the line on stderr when it cannot be; who
// wins; what is left out. Each case is a process of its own, so the environment is read anew.
#include "lib/options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KIB 1024u
#define MIB (1024u * 1024u)

static const char *const variables[] = {
    "NVTXT_SOCKET",    "NVTXT_NAME",           "NVTXT_SPOOL",
    "NVTXT_RING",      "NVTXT_WINDOW",         "NVTXT_LOG",
    "NVTXT_EXIT_WAIT", "NVTXT_DOMAIN_INCLUDE", "NVTXT_DOMAIN_EXCLUDE"};

static void start(void) {
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]);
    }
}

TestSuite(options, .init = start);

static char *complete(const char *first, size_t len) {
    static char text[8192];
    snprintf(text, sizeof(text), "%s", first);
    memset(text + strlen(first), 'x', len - strlen(first));
    text[len] = '\0';
    return text;
}

// Reads the environment and asserts what stderr gets.
static void reading_says(const char *wanted) {
    char text[4096];
    int file = memfd_create("stderr", MFD_CLOEXEC), before = dup(STDERR_FILENO);
    cr_assert(file >= 0 && before >= 0 && dup2(file, STDERR_FILENO) >= 0);
    options_read();
    dup2(before, STDERR_FILENO);
    ssize_t len = pread(file, text, sizeof(text) - 1, 0);
    cr_assert_geq(len, 0);
    text[len] = '\0';
    cr_assert_str_eq(text, wanted);
    close(file);
    close(before);
}

#define complains(name_, variable, value, what)                                                    \
    Test(options, complains_of_##name_) {                                                          \
        setenv(variable, value, 1);                                                                \
        reading_says("nvtxt: " variable "=" value " " what "\n");                                  \
        cr_assert_eq(lib_options.ring_bytes, MIB);                                                 \
        cr_assert_eq(lib_options.window_bytes, 32 * MIB);                                          \
        cr_assert_eq(lib_options.exit_ms, 500);                                                    \
    }

#define RING "NVTXT_RING"
#define NO_RING "is no power of two from 64K to 64M; 1M is used"
#define NO_WINDOW "is no size from 1M to 16G; 32M is used"
#define NO_EXIT "is no number of seconds from 0 to 60; 0.5 is used"
complains(a_ring_of_no_size, RING, "12x", "is no size; 1M is used") complains(
    a_ring_that_is_negative, RING, "-1",
    "is no size; 1M is used") complains(a_ring_of_a_word, RING, "M", "is no size; 1M is used")
    complains(a_ring_with_a_tail, RING, "1MB", "is no size; 1M is used")
        complains(a_ring_that_overflows, RING, "18446744073709617152", "is no size; 1M is used")
            complains(a_ring_that_overflows_with_its_unit, RING, "17179869184G",
                      NO_RING) complains(a_ring_of_nothing, RING, "0", NO_RING)
                complains(a_ring_that_is_no_power, RING, "96K",
                          NO_RING) complains(a_ring_that_is_small, RING, "32K", NO_RING)
                    complains(a_ring_that_is_large, RING, "128M",
                              NO_RING) complains(a_window_of_no_size, "NVTXT_WINDOW", "1.5M",
                                                 "is no size; 32M is used")
                        complains(a_window_that_is_small, "NVTXT_WINDOW", "1023K", NO_WINDOW)
                            complains(a_window_that_is_large, "NVTXT_WINDOW", "17G", NO_WINDOW)
                                complains(a_wait_that_is_long, "NVTXT_EXIT_WAIT", "60.001", NO_EXIT)
                                    complains(a_wait_of_a_word, "NVTXT_EXIT_WAIT", "long", NO_EXIT)
                                        complains(a_wait_of_a_point, "NVTXT_EXIT_WAIT", ".",
                                                  NO_EXIT)
                                            complains(a_wait_that_is_negative, "NVTXT_EXIT_WAIT",
                                                      "-1", NO_EXIT)

                                                Test(options, complains_in_one_line) {
    setenv("NVTXT_RING", "1\n2\r\x1b", 1);
    reading_says("nvtxt: NVTXT_RING=1?2?? is no size; 1M is used\n");
}

Test(options, takes_what_the_environment_says) {
    setenv("NVTXT_RING", "64K", 1);
    setenv("NVTXT_WINDOW", "1048577", 1);
    setenv("NVTXT_EXIT_WAIT", "60", 1);
    setenv("NVTXT_SOCKET", "/a/b.sock", 1);
    setenv("NVTXT_NAME", "job \xff", 1);
    setenv("NVTXT_SPOOL", "/spool", 1);
    setenv("NVTXT_LOG", "stderr", 1);
    reading_says("");
    cr_assert_eq(lib_options.ring_bytes, 64 * KIB);
    cr_assert_eq(lib_options.window_bytes, 2 * MIB, "the power of two above");
    cr_assert_eq(lib_options.exit_ms, 60000);
    cr_assert_str_eq(lib_options.socket, "/a/b.sock");
    cr_assert_str_eq(lib_options.name, "job \xef\xbf\xbd");
    cr_assert_str_eq(lib_options.spool, "/spool");
    cr_assert_str_eq(lib_options.log, "stderr");
    char paths[SENDER_PATHS][108];
    cr_assert_eq(options_paths(paths), 1);
    cr_assert_str_eq(paths[0], "/a/b.sock");
}

Test(options, has_defaults) {
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        setenv(variables[i], "", 1); // as if it were not there
    }
    reading_says("");
    cr_assert_eq(lib_options.ring_bytes, MIB);
    cr_assert_eq(lib_options.exit_ms, 500);
    cr_assert_str_eq(lib_options.name, program_invocation_short_name);
    cr_assert_str_eq(lib_options.socket, "");
    cr_assert_str_eq(lib_options.log, "");
    cr_assert(!options_is_excluded("default"));
    char paths[SENDER_PATHS][108];
    cr_assert_geq(options_paths(paths), 1);
}

Test(options, waits_for_parts_of_a_second) {
    setenv("NVTXT_EXIT_WAIT", ".0259", 1);
    reading_says("");
    cr_assert_eq(lib_options.exit_ms, 25);
}

Test(options, takes_a_path_of_no_socket_for_an_absent_daemon) {
    setenv("NVTXT_SOCKET", complete("/", 108), 1);
    reading_says("");
    char paths[SENDER_PATHS][108];
    cr_assert_eq(options_paths(paths), 0);
}

Test(options, says_in_the_log_that_the_path_is_too_long) {
    setenv("NVTXT_SOCKET", complete("/", 108), 1);
    setenv("NVTXT_LOG", "stderr", 1);
    char wanted[200];
    snprintf(wanted, sizeof(wanted),
             "nvtxt[%d]: NVTXT_SOCKET has more than the 107 bytes that the path of a socket may "
             "have\n",
             getpid());
    reading_says(wanted);
}

Test(options, complains_of_texts_that_are_too_long) {
    char wanted[200], *name = complete("n", 256);
    setenv("NVTXT_NAME", name, 1);
    snprintf(wanted, sizeof(wanted),
             "nvtxt: NVTXT_NAME=%.100s is no name of at most 255 bytes; %s is used\n", name,
             program_invocation_short_name);
    reading_says(wanted);
}

Test(options, keeps_paths_when_the_program_goes_elsewhere) {
    char here[PATH_MAX], wanted[PATH_MAX + 16];
    cr_assert(chdir("/tmp") == 0 && getcwd(here, sizeof(here)));
    setenv("NVTXT_SOCKET", "s.sock", 1);
    setenv("NVTXT_SPOOL", "spool", 1);
    setenv("NVTXT_LOG", "log", 1);
    reading_says("");
    cr_assert_eq(chdir("/"), 0);
    snprintf(wanted, sizeof(wanted), "%s/s.sock", here);
    cr_assert_str_eq(lib_options.socket, wanted);
    snprintf(wanted, sizeof(wanted), "%s/spool", here);
    cr_assert_str_eq(lib_options.spool, wanted);
    snprintf(wanted, sizeof(wanted), "%s/log", here);
    cr_assert_str_eq(lib_options.log, wanted);
}

// ---- nvtxt_init() -------------------------------------------------------------------------------

static const struct nvtxt_options given = {.size = sizeof(given),
                                           .socket = "/given.sock",
                                           .name = "given",
                                           .spool = "/given",
                                           .ring_bytes = 128 * KIB,
                                           .window_bytes = 3 * MIB,
                                           .exit_ms = 7,
                                           .levels = 1};

Test(options, takes_what_the_program_gives) {
    cr_assert_eq(options_give(&given), 0);
    reading_says("");
    cr_assert_str_eq(lib_options.socket, "/given.sock");
    cr_assert_str_eq(lib_options.name, "given");
    cr_assert_str_eq(lib_options.spool, "/given");
    cr_assert_eq(lib_options.ring_bytes, 128 * KIB);
    cr_assert_eq(lib_options.window_bytes, 4 * MIB);
    cr_assert_eq(lib_options.exit_ms, 7);
    cr_assert(lib_options.levels);
}

static void has_the_environment(void) {
    cr_assert_str_eq(lib_options.socket, "/environment.sock");
    cr_assert_str_eq(lib_options.name, "environment");
    cr_assert_str_eq(lib_options.spool, "/given");
    cr_assert_eq(lib_options.ring_bytes, 64 * KIB);
    cr_assert_eq(lib_options.exit_ms, 7);
}

static void set_some(void) {
    setenv("NVTXT_SOCKET", "/environment.sock", 1);
    setenv("NVTXT_NAME", "environment", 1);
    setenv("NVTXT_RING", "64K", 1);
}

Test(options, lets_the_environment_win) {
    set_some();
    cr_assert_eq(options_give(&given), 0);
    reading_says("");
    has_the_environment();
}

Test(options, lets_the_environment_win_when_it_was_read_before) {
    set_some();
    reading_says("");
    cr_assert_eq(options_give(&given), 0);
    has_the_environment();
}

Test(options, names_the_given_value_in_force) {
    setenv("NVTXT_RING", "12x", 1);
    cr_assert_eq(options_give(&given), 0);
    reading_says("nvtxt: NVTXT_RING=12x is no size; 128K is used\n");
    cr_assert_eq(lib_options.ring_bytes, 128 * KIB);
}

static void refuses(struct nvtxt_options bad) {
    bad.name = "bad";
    cr_assert_eq(options_give(&bad), -EINVAL);
    cr_assert_str_eq(lib_options.name, "");
}

#define SIZE .size = sizeof(struct nvtxt_options)

Test(options, refuses_values_that_cannot_be) {
    refuses((struct nvtxt_options){.size = 0});
    refuses((struct nvtxt_options){SIZE, .ring_bytes = 100000});
    refuses((struct nvtxt_options){SIZE, .ring_bytes = 32 * KIB});
    refuses((struct nvtxt_options){SIZE, .window_bytes = 4096});
    refuses((struct nvtxt_options){SIZE, .exit_ms = 60001});
    refuses((struct nvtxt_options){SIZE, .levels = 2});
    refuses((struct nvtxt_options){SIZE, .socket = complete("/", 108)});
    refuses((struct nvtxt_options){SIZE, .spool = complete("/", 600)});
}

Test(options, reads_no_more_than_the_given_size) {
    struct nvtxt_options small = {.size = offsetof(struct nvtxt_options, spool),
                                  .name = "small",
                                  .spool = (const char *)1,
                                  .ring_bytes = 1};
    cr_assert_eq(options_give(&small), 0);
    cr_assert_str_eq(lib_options.name, "small");
    cr_assert_eq(options_give(NULL), 0);
}

// ---- Domains ------------------------------------------------------------------------------------

Test(options, leaves_out_the_domains_of_a_list) {
    setenv("NVTXT_DOMAIN_EXCLUDE", "default,cuDF,a b", 1);
    cr_assert(options_is_excluded("default"));
    cr_assert(options_is_excluded("cuDF"));
    cr_assert(options_is_excluded("a b"));
    cr_assert(!options_is_excluded("cuD"));
    cr_assert(!options_is_excluded("cuDFs"));
    cr_assert(!options_is_excluded("cuDF,a b"));
    setenv("NVTXT_DOMAIN_EXCLUDE", "cuD", 1); // too late
    cr_assert(!options_is_excluded("cuD"));
}

Test(options, leaves_out_all_but_the_domains_of_a_list) {
    setenv("NVTXT_DOMAIN_INCLUDE", "cuDF,NCCL", 1);
    setenv("NVTXT_DOMAIN_EXCLUDE", "NCCL", 1);
    cr_assert(!options_is_excluded("cuDF"));
    cr_assert(options_is_excluded("NCCL"), "both lists name it");
    cr_assert(options_is_excluded("default"));
}
