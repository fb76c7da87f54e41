// SPDX-License-Identifier: Apache-2.0
//
// A child waits for longer than the limit, as the resolver does.
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ship/engine/wait.h"

static void end(void) {
    _exit(7);
}

// How a child ended, guarded by a pipe that has a byte or none.
static int status_of(bool is_readable) {
    int ends[2], status = -1;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        if (is_readable) {
            (void)!write(ends[1], "", 1);
        }
        connect_guard_begin(ends[0], 200, end);
        for (int ticks = 0; is_readable || ticks < 5; ticks++) {
            pause();
        }
        connect_guard_end();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

Test(ship_guard, ends_the_program_as_it_was_told) {
    cr_assert_eq(status_of(true), 7);
}

Test(ship_guard, ends_nothing_that_nobody_wants_to_end) {
    cr_assert_eq(status_of(false), 0);
}
