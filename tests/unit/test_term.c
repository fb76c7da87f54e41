// SPDX-License-Identifier: Apache-2.0
//
// What a program that does the same again and again says once.
#include "client/common/term.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct term term;
static struct term_round rounds[2];
static char said[256 * 1024];

// Runs `say` with standard error in a file; returns what is in it then.
static const char *heard(void (*say)(int), int argument) {
    char path[] = "/tmp/test_term-XXXXXX";
    int file = mkstemp(path), stderr_fd = dup(STDERR_FILENO);
    cr_assert(file >= 0 && stderr_fd >= 0 && unlink(path) == 0);
    cr_assert(dup2(file, STDERR_FILENO) >= 0);
    say(argument);
    cr_assert(dup2(stderr_fd, STDERR_FILENO) >= 0);
    ssize_t len = pread(file, said, sizeof(said) - 1, 0);
    cr_assert(len >= 0);
    said[len] = '\0';
    close(stderr_fd);
    close(file);
    return said;
}

static size_t line_count(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

static void say_one(int number) {
    term_say(&term, "number %d", number);
}

static void say_round(int count) {
    term_begin_round(&term, rounds);
    for (int i = 0; i < count; i++) {
        say_one(i);
    }
}

static void begin(void) {
    term = (struct term){.program = "program"};
    memset(rounds, 0, sizeof(rounds));
}

Test(term, without_rounds_each_line_is_shown, .init = begin) {
    cr_assert_str_eq(heard(say_one, 1), "program: number 1\n");
    cr_assert_str_eq(heard(say_one, 1), "program: number 1\n");
}

Test(term, what_the_round_before_had_is_not_said_again, .init = begin) {
    cr_assert_str_eq(heard(say_round, 2), "program: number 0\nprogram: number 1\n");
    cr_assert_str_eq(heard(say_round, 2), "");
    cr_assert_str_eq(heard(say_round, 1), "");
    cr_assert_str_eq(heard(say_round, 2), "program: number 1\n", "a round went by without it");
}

Test(term, more_lines_than_a_round_has_are_said_to_be_more_once, .init = begin) {
    cr_assert_eq(line_count(heard(say_round, TERM_HEARD)), TERM_HEARD);
    const char *text = heard(say_round, TERM_HEARD + 50);
    cr_assert_str_eq(text, "program: there are more than 1000 different messages: the others are "
                           "not shown\n");
    for (int i = 0; i < 3; i++) {
        cr_assert_str_eq(heard(say_round, TERM_HEARD + 50), "");
    }
    cr_assert_str_eq(heard(say_round, 1), "");
    cr_assert_eq(line_count(heard(say_round, TERM_HEARD + 1)), TERM_HEARD - 1 + 1);
}
