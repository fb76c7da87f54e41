// SPDX-License-Identifier: Apache-2.0
//
// A build with --enable-origins tells where an errno was born, and the way up; this program is
// built like that whatever the others are. It reads its own stderr.
#include "protocol/base/origin.h"

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline)) // a function that is on the way up

static char told[8192];
static int from;

// What was told since the last call, as a text.
static const char *read_told(void) {
    ssize_t n = read(from, told, sizeof(told) - 1);
    told[n > 0 ? n : 0] = '\0';
    return told;
}

static void catch_stderr(void) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], STDERR_FILENO) < 0) {
        err(1, "pipe");
    }
    from = ends[0];
}

static int failed;

static void expect(bool is_so, const char *what) {
    if (!is_so) {
        printf("not so: %s\n%s", what, told);
        failed = 1;
    }
}

static int born_at;

static PLAIN int open_nothing(void) {
    born_at = __LINE__ + 1;
    return open("/nothing/there", O_RDONLY) < 0 ? nvtxt_origin(-errno) : 0;
}

static PLAIN int open_first(void) {
    int r = open_nothing();
    return r < 0 ? r : 0;
}

static PLAIN int be_out_of_memory(bool is_out) {
    return is_out ? nvtxt_origin(-ENOMEM) : 0;
}

static PLAIN int descend_a_long_way_so_that_the_line_about_it_is_longer_than_it_may_be(int depth) {
    int r = depth > 0
                ? descend_a_long_way_so_that_the_line_about_it_is_longer_than_it_may_be(depth - 1)
                : nvtxt_origin(-EIO);
    return r < 0 ? r : depth;
}

static size_t count_lines(const char *text) {
    size_t lines = 0;
    for (; (text = strchr(text, '\n')); text++) {
        lines++;
    }
    return lines;
}

int main(void) {
    char end[100];
    catch_stderr();

    int r = open_first();
    expect(r == -ENOENT && errno == ENOENT, "the errno is passed on, and stays");
    snprintf(end, sizeof(end), "tests/plain/origins.c:%d) < open_first < main\n", born_at);
    expect(strncmp(read_told(), "origin: -ENOENT in open_nothing (", 33) == 0 &&
               strcmp(strstr(told, "tests/plain/origins.c") ?: "", end) == 0,
           "a line says what, where, and the way up");

    expect(be_out_of_memory(false) == 0 && !*read_told(), "nothing is told without a fault");
    for (int i = 0; i < 1000; i++) {
        r = be_out_of_memory(true);
    }
    expect(r == -ENOMEM && count_lines(read_told()) == 4, "a place tells at powers of ten");
    expect(strstr(told, ", time 1000)"), "the line says which time it is");

    r = descend_a_long_way_so_that_the_line_about_it_is_longer_than_it_may_be(200);
    expect(r == -EIO && count_lines(read_told()) == 1, "a long way is one line");
    expect(strlen(told) == 1024, "which is bounded");
    return failed;
}
