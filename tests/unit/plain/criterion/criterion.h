// SPDX-License-Identifier: Apache-2.0
//
// What our unit programs use of Criterion, without its processes: each of its cases is a program
// that starts anew with all its libraries, which takes ten times as long as the case under
// valgrind. Here a case is a fork of one process, as alone as there, and leaks are looked for when
// it ends. Under ThreadSanitizer Criterion's own programs abort. No more than our programs need:
// values are not shown unless a message has them, and no case is chosen. In force when configured
// with CRITERION_CFLAGS=-I of this folder; see scripts/check-full.
#pragma once
#pragma GCC system_header // warnings are for the tests

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cr_suite {
    const char *name;
    struct cr_suite *next;
    void (*init)(void);
    void (*fini)(void);
};

struct cr_test {
    const char *suite;
    const char *name;
    void (*run)(void);
    void (*init)(void);
    void (*fini)(void);
    double timeout; // that of run-test holds
    struct cr_test *next;
};

// Weak: of all files of a program together.
__attribute__((weak)) struct cr_suite *cr_suites;
__attribute__((weak)) struct cr_test *cr_tests;
__attribute__((weak)) bool cr_failed;

#define TestSuite(suite, ...)                                                                      \
    static struct cr_suite cr_suite_##suite = {.name = #suite, __VA_ARGS__};                       \
    __attribute__((constructor)) static void cr_add_suite_##suite(void) {                          \
        cr_suite_##suite.next = cr_suites;                                                         \
        cr_suites = &cr_suite_##suite;                                                             \
    }                                                                                              \
    struct cr_suite

#define Test(suite_, case_, ...)                                                                   \
    static void cr_run_##suite_##_##case_(void);                                                   \
    static struct cr_test cr_test_##suite_##_##case_ = {                                           \
        .suite = #suite_, .name = #case_, .run = cr_run_##suite_##_##case_, __VA_ARGS__};          \
    __attribute__((constructor)) static void cr_add_##suite_##_##case_(void) {                     \
        cr_test_##suite_##_##case_.next = cr_tests;                                                \
        cr_tests = &cr_test_##suite_##_##case_;                                                    \
    }                                                                                              \
    static void cr_run_##suite_##_##case_(void)

static inline void cr_check(bool is_true, bool goes_on, const char *file, int line,
                            const char *message, ...) {
    if (is_true) {
        return;
    }
    va_list args;
    va_start(args, message);
    printf("# %s:%d: assertion failed ", file, line);
    vprintf(message, args);
    puts("");
    va_end(args);
    cr_failed = true;
    if (!goes_on) {
        exit(1);
    }
}

#define CR_ASSERT(is_true, ...) cr_check(is_true, false, __FILE__, __LINE__, "" __VA_ARGS__)
#define CR_EXPECT(is_true, ...) cr_check(is_true, true, __FILE__, __LINE__, "" __VA_ARGS__)

#define cr_assert(is_true, ...) CR_ASSERT(is_true, ##__VA_ARGS__)
#define cr_assert_not(is_true, ...) CR_ASSERT(!(is_true), ##__VA_ARGS__)
#define cr_assert_null(pointer, ...) CR_ASSERT(!(pointer), ##__VA_ARGS__)
#define cr_assert_not_null(pointer, ...) CR_ASSERT((pointer) != NULL, ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...) CR_ASSERT((a) == (b), ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...) CR_ASSERT((a) != (b), ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...) CR_ASSERT((a) < (b), ##__VA_ARGS__)
#define cr_assert_leq(a, b, ...) CR_ASSERT((a) <= (b), ##__VA_ARGS__)
#define cr_assert_gt(a, b, ...) CR_ASSERT((a) > (b), ##__VA_ARGS__)
#define cr_assert_geq(a, b, ...) CR_ASSERT((a) >= (b), ##__VA_ARGS__)
#define cr_assert_float_eq(a, b, distance, ...)                                                    \
    CR_ASSERT(fabs((a) - (b)) <= (distance), ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) CR_ASSERT(strcmp(a, b) == 0, ##__VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) CR_ASSERT(strcmp(a, b) != 0, ##__VA_ARGS__)
#define cr_assert_str_empty(a, ...) CR_ASSERT(!*(a), ##__VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...) CR_ASSERT(memcmp(a, b, size) == 0, ##__VA_ARGS__)
#define cr_assert_fail(...) CR_ASSERT(false, ##__VA_ARGS__)

#define cr_expect(is_true, ...) CR_EXPECT(is_true, ##__VA_ARGS__)
#define cr_expect_not(is_true, ...) CR_EXPECT(!(is_true), ##__VA_ARGS__)
#define cr_expect_null(pointer, ...) CR_EXPECT(!(pointer), ##__VA_ARGS__)
#define cr_expect_not_null(pointer, ...) CR_EXPECT((pointer) != NULL, ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...) CR_EXPECT((a) == (b), ##__VA_ARGS__)
#define cr_expect_neq(a, b, ...) CR_EXPECT((a) != (b), ##__VA_ARGS__)
#define cr_expect_lt(a, b, ...) CR_EXPECT((a) < (b), ##__VA_ARGS__)
#define cr_expect_gt(a, b, ...) CR_EXPECT((a) > (b), ##__VA_ARGS__)
#define cr_expect_leq(a, b, ...) CR_EXPECT((a) <= (b), ##__VA_ARGS__)
#define cr_expect_geq(a, b, ...) CR_EXPECT((a) >= (b), ##__VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) CR_EXPECT(strcmp(a, b) == 0, ##__VA_ARGS__)

#define cr_expect_arr_eq(a, b, size, ...) CR_EXPECT(memcmp(a, b, size) == 0, ##__VA_ARGS__)
#define cr_expect_float_eq(a, b, distance, ...)                                                    \
    CR_EXPECT(fabs((a) - (b)) <= (distance), ##__VA_ARGS__)
#define cr_expect_fail(...) CR_EXPECT(false, ##__VA_ARGS__)

#define CR_SKIPPED 77
#define cr_skip_test(...) exit(CR_SKIPPED)

#define cr_log_error(...) (printf("# "), printf(__VA_ARGS__), (void)puts(""))

static inline void cr_run(const struct cr_test *test) {
    const struct cr_suite *suite = cr_suites;
    while (suite && strcmp(suite->name, test->suite) != 0) {
        suite = suite->next;
    }
    if (suite && suite->init) {
        suite->init();
    }
    if (test->init) {
        test->init();
    }
    test->run();
    if (test->fini) {
        test->fini();
    }
    if (suite && suite->fini) {
        suite->fini();
    }
    exit(cr_failed);
}

#ifndef CR_NO_MAIN // a fuzzer that uses a kit of the unit programs has its own
__attribute__((weak)) int main(void) {
    int count = 0, failed = 0;
    for (const struct cr_test *test = cr_tests; test; test = test->next) {
        count++;
    }
    printf("1..%d\n", count);
    count = 0;
    for (const struct cr_test *test = cr_tests; test; test = test->next) {
        int status = 1;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            cr_run(test);
        }
        waitpid(child, &status, 0);
        bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == CR_SKIPPED;
        failed += status != 0 && !skipped;
        printf("%s %d - %s::%s%s\n", status && !skipped ? "not ok" : "ok", ++count, test->suite,
               test->name, skipped ? " # SKIP" : "");
    }
    return failed != 0;
}
#endif
