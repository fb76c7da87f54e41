// SPDX-License-Identifier: Apache-2.0
//
// Inputs of the clients: names, kinds, ends, and a stop that loses nothing of what is in a pipe.
#include "client/common/input.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *temp_file(const char *content) {
    static char path[] = "/tmp/test_input.XXXXXX";
    strcpy(path + sizeof(path) - 7, "XXXXXX");
    int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    return path;
}

// An input that reads from a pipe; the writing end is returned.
static int pipe_input(struct input *input) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    *input = (struct input){.name = "pipe", .fd = ends[0]};
    return ends[1];
}

Test(input, reads_a_file_to_its_end) {
    struct input input;
    char data[16];
    size_t got;
    char *path = temp_file("abc\ndef");
    cr_assert_eq(input_open(&input, path), 0);
    cr_assert_str_eq(input.name, path);
    cr_assert(input.is_regular);
    cr_assert_eq(input.size, 7);
    cr_assert_eq(input_read(&input, data, 4, &got), 0);
    cr_assert_eq(got, 4);
    cr_assert_not(input.ended);
    cr_assert_eq(input_read(&input, data, 16, &got), 0);
    cr_assert_eq(got, 3);
    cr_assert_eq(input_read(&input, data, 16, &got), INPUT_END);
    cr_assert(input.ended);
    cr_assert_eq(input_read(&input, data, 16, &got), INPUT_END, "the end stays the end");
    cr_assert_eq(input.taken, 7);
    input_close(&input);
    input_close(&input);
    unlink(path);
}

Test(input, says_why_it_cannot_be_opened) {
    struct input input;
    cr_assert_eq(input_open(&input, "/nonexistent/file.nvtxt"), -ENOENT);
    cr_assert_str_eq(input.name, "/nonexistent/file.nvtxt");
    cr_assert_eq(input.fd, -1);
    cr_assert_eq(input_open(&input, "/tmp"), INPUT_IS_FOLDER);
    cr_assert_str_eq(input_why(INPUT_IS_FOLDER), "Is a directory");
    cr_assert_eq(input.fd, -1);
}

Test(input, calls_a_dash_stdin_and_leaves_it_open) {
    struct input input;
    cr_assert_eq(input_open(&input, "-"), 0);
    cr_assert_str_eq(input.name, "<stdin>");
    cr_assert_eq(input.fd, STDIN_FILENO);
    input_close(&input);
    cr_assert_neq(lseek(STDIN_FILENO, 0, SEEK_CUR) == -1 && errno == EBADF, 1);
}

Test(input, stops_a_file_at_once) {
    struct input input;
    char data[16];
    size_t got;
    char *path = temp_file("abcdef");
    cr_assert_eq(input_open(&input, path), 0);
    cr_assert_eq(input_read(&input, data, 2, &got), 0);
    cr_assert_eq(got, 2);
    input_stop(&input);
    cr_assert_eq(input_read(&input, data, 16, &got), INPUT_END);
    cr_assert_eq(input.taken, 2);
    input_close(&input);
    unlink(path);
}

Test(input, stops_a_pipe_after_what_waits_in_it) {
    struct input input;
    char data[16];
    size_t got;
    int end = pipe_input(&input);
    cr_assert_eq(write(end, "waiting", 7), 7);
    input_stop(&input);
    cr_assert_eq(write(end, "later", 5), 5);
    input_stop(&input); // stopping twice moves nothing
    cr_assert_eq(input_read(&input, data, 4, &got), 0);
    cr_assert_eq(got, 4);
    cr_assert_eq(input_read(&input, data, 16, &got), 0);
    cr_assert_eq(got, 3);
    cr_assert_arr_eq(data, "ing", 3);
    cr_assert_eq(input_read(&input, data, 16, &got), INPUT_END);
    close(end);
    input_close(&input);
}
