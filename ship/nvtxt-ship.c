// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ship: its beginning and its end: signals, and the exit status.
#include <malloc.h>
#include <string.h>

#include "ship/options.h"
#include "ship/ship.h"

// The memory of a long text goes back to the system at once, and grows without a copy.
static void give_memory_back(void) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv) {
    struct ship_options options;
    struct term term;
    give_memory_back();
    term_init(&term, "nvtxt-ship: error");
    int r = signals_init();
    if (r < 0) {
        term_say(&term, "cannot start: %s", strerror(-r));
        return outcome_exit_status(OUTCOME_SYSTEM);
    }
    enum outcome outcome = ship_options_read(&options, &term, argc, argv);
    if (outcome == OUTCOME_DONE) {
        outcome = ship_run(&options, &term);
    }
    ship_options_deinit(&options);
    return outcome_exit_status(outcome);
}
