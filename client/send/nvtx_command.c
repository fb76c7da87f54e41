// SPDX-License-Identifier: Apache-2.0
//
// A signal ends what is done after the command's end, and what is left stays where it is.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "client/nvtx/nvtx_run.h"
#include "client/send/command.h"
#include "client/send/send_options.h"
#include "protocol/base/clock.h"

#define PROCESSES_MS 20 // how often it looks whether they have ended

bool send_has_daemon(const struct send_arguments *args) {
    struct search probed = *args->transfer.search;
    if (args->transfer.wait || args->transfer.search->won >= 0) {
        return true;
    }
    probe_sockets(&probed, false);
    return probed.won >= 0;
}

// The daemon that is there: the command's programs need not look for it, whatever their
// environment. Where there is none, the place that was named.
static const char *command_socket(const struct search *search, struct search *probed) {
    const struct search_place *first = &search->places[0];
    *probed = *search;
    if (search->count > 1) {
        probe_sockets(probed, false);
    }
    return probed->won >= 0  ? probed->places[probed->won].path
           : first->is_named ? first->path
                             : NULL;
}

enum outcome nvtx_command_print(const struct send_arguments *args, struct term *term) {
    struct nvtx_run run;
    struct search probed;
    if (!nvtx_run_find(&run, command_socket(args->transfer.search, &probed), args->spool, term)) {
        return OUTCOME_NO_INPUT;
    }
    if (args->spool) {
        nvtx_run_make_folder(&run, term);
    }
    int r = nvtx_run_print(&run);
    if (r < 0) {
        term_say(term, "stdout: %s", strerror(-r));
        return outcome_of_write(r);
    }
    return OUTCOME_DONE;
}

void nvtx_command_begin(const struct send_arguments *args, struct nvtx_run *run,
                        struct term *term) {
    struct search probed;
    (void)nvtx_run_find(run, command_socket(args->transfer.search, &probed), args->spool, term);
    nvtx_run_make_folder(run, term);
    nvtx_run_set(run);
}

// Says where what was not sent is.
static void say_left(const struct send_arguments *args, struct term *term, const char *dir,
                     size_t in_use) {
    char count[TERM_COUNT_SIZE];
    if (in_use == 0) {
        term_say(term, "not all that %s recorded is sent: 'nvtxt-send --resume %s' sends the rest",
                 args->command[0], dir);
        return;
    }
    term_say(term, "%s that %s started still record%s: 'nvtxt-send --resume %s' sends what %s",
             in_use == 1 ? "a process" : term_count(count, in_use), args->command[0],
             in_use == 1 ? "s" : "", dir, in_use == 1 ? "it leaves" : "processes leave");
}

// Processes that the command started may be ending just now. Returns how many of them go on.
static size_t wait_for_processes(const char *dir) {
    int64_t until = nvtxt_monotonic_ms() + COMMAND_LINGER_MS;
    size_t in_use;
    while ((in_use = salvage_in_use(dir)) > 0 && nvtxt_monotonic_ms() < until &&
           signals_count() == 0) {
        struct pollfd signals = {.fd = signals_fd(), .events = POLLIN};
        (void)poll(&signals, 1, PROCESSES_MS);
    }
    return in_use;
}

void nvtx_command_end(struct send_arguments *args, struct term *term, struct nvtx_run *run,
                      bool goes_on) {
    struct transfer_options options = args->transfer;
    size_t in_use = 0;
    options.resume = options.one_chance = true;
    options.only_errors = !options.verbose; // a killed process leaves its ranges open
    options.text = NULL;
    options.timeout_ms = options.timeout_ms < 0 ? COMMAND_PATIENCE_MS : options.timeout_ms;
    if (goes_on) {
        in_use = wait_for_processes(run->folder);
        (void)salvage_folder(run->folder, true, term);
        if (!options.given_up && send_has_daemon(args)) {
            (void)resume_sessions(&options, run->folder, term);
        }
    }
    args->transfer.too_old |= options.too_old;
    args->transfer.given_up |= options.given_up;
    if (nvtx_run_leave_folder(run) || in_use > 0) {
        say_left(args, term, run->folder, in_use);
    }
}
