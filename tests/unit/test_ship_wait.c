// SPDX-License-Identifier: Apache-2.0
//
// The socket is a pipe; another one says that the program shall end.
#include <criterion/criterion.h>
#include <poll.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "ship/engine/wait.h"

#define GRACE_MS 40
#define LONG_MS 3600000

static int told; // how often `alive` was called

static void alive(void) {
    told++;
}

struct place {
    int socket[2], stop[2];
    struct wait wait;
};

static struct place place_of(bool is_readable, bool shall_end) {
    struct place place = {0};
    cr_assert_eq(pipe(place.socket), 0);
    cr_assert_eq(pipe(place.stop), 0);
    cr_assert(!is_readable || write(place.socket[1], "", 1) == 1);
    cr_assert(!shall_end || write(place.stop[1], "", 1) == 1);
    place.wait = (struct wait){.stop_fd = place.stop[0], .grace_ms = GRACE_MS};
    return place;
}

static int wait_in(struct place *place, int64_t ms, bool may_break) {
    return wait_for(&place->wait, place->socket[0], POLLIN, wait_deadline(&place->wait, ms),
                    may_break);
}

Test(ship_wait, ends_with_the_socket_or_with_the_deadline) {
    struct place ready = place_of(true, false), silent = place_of(false, false);
    cr_assert_eq(wait_in(&ready, LONG_MS, true), WAIT_READY);
    int64_t begun = nvtxt_monotonic_ms();
    cr_assert_eq(wait_in(&silent, 20, true), WAIT_LATE);
    cr_assert_geq(nvtxt_monotonic_ms() - begun, 20);
}

Test(ship_wait, breaks_a_statement_off_once_before_the_program_ends) {
    struct place place = place_of(false, true);
    place.wait.break_ms = nvtxt_monotonic_ms();
    place.wait.stop_ms = place.wait.break_ms + GRACE_MS;
    cr_assert_eq(wait_in(&place, LONG_MS, true), WAIT_BREAK);
    cr_assert_eq(wait_in(&place, LONG_MS, true), WAIT_LATE);
    cr_assert_geq(nvtxt_monotonic_ms(), place.wait.stop_ms);
    cr_assert_eq(wait_deadline(&place.wait, LONG_MS), place.wait.stop_ms);
}

Test(ship_wait, breaks_nothing_off_that_is_to_finish) {
    struct place place = place_of(false, true);
    cr_assert_eq(wait_in(&place, LONG_MS, false), WAIT_LATE);
    cr_assert_eq(place.wait.stop_ms - place.wait.break_ms, GRACE_MS / 2);
}

Test(ship_wait, ends_although_the_socket_is_always_ready) {
    struct place place = place_of(true, true);
    while (wait_in(&place, LONG_MS, false) == WAIT_READY) {
        continue;
    }
    cr_assert_geq(nvtxt_monotonic_ms(), place.wait.stop_ms);
}

// A busy machine may let one sign out.
Test(ship_wait, gives_signs_of_life_while_it_waits) {
    struct place place = place_of(false, false);
    place.wait.alive = alive;
    place.wait.alive_ms = 5;
    for (int tries = 0; tries < 100 && told < 2; tries++) {
        told = 0;
        cr_assert_eq(wait_in(&place, 50, true), WAIT_LATE);
    }
    cr_assert_geq(told, 2);
}
