// SPDX-License-Identifier: Apache-2.0
//
// Ring files become spools first, so that there is one kind of session to send. Then one spool is
// sent after the other, in the order of their ids.
#include "client/send/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "client/locate/search.h"
#include "client/nvtx/nvtx_run.h"

// What is left of the session goes to the daemon.
static enum outcome resume_lines(struct transfer_options *options, struct term *term,
                                 struct spool *spool, const struct nvtxt_hello *hello) {
    struct input input = {.name = hello->name, .fd = -1, .ended = true};
    return transfer_run(options, &input, spool, hello, term);
}

// It holds nothing to send.
static enum outcome remove_session(struct term *term, struct spool *spool) {
    if (spool_remove(spool) < 0) {
        term_say(term, "%s", spool->fault);
        return OUTCOME_IO;
    }
    return OUTCOME_DONE;
}

static enum outcome resume_session(struct transfer_options *options, struct term *term,
                                   const char *dir, const char *session) {
    struct spool spool;
    struct nvtxt_hello hello;
    int r = spool_open(&spool, dir, session, &hello);
    if (*spool.fault && r != SPOOL_BUSY) { // also when only a cut tail is left out
        term_say(term, "%s", spool.fault);
    }
    enum outcome outcome = r == 0            ? resume_lines(options, term, &spool, &hello)
                           : r == SPOOL_NONE ? remove_session(term, &spool)
                           : r == SPOOL_BAD  ? OUTCOME_BAD_DATA
                           : r < 0           ? OUTCOME_IO
                                             : OUTCOME_DONE; // another user's, or being sent
    spool_close(&spool);
    return outcome;
}

static void free_list(char **list, int count) {
    for (int i = 0; i < count; i++) {
        free(list[i]);
    }
    free(list);
}

// A session that cannot be sent does not stop the others, unless there is no daemon.
enum outcome resume_sessions(struct transfer_options *options, const char *dir, struct term *term) {
    char **sessions;
    int count = spool_list(dir, &sessions);
    enum outcome status = OUTCOME_DONE;
    if (count < 0) {
        term_say(term, "%s: %s", dir, strerror(-count));
        return outcome_of_open(count);
    }
    options->resume = true;
    bool absent = false;
    for (int i = 0; i < count && !absent && signals_count() == 0; i++) {
        enum outcome r = resume_session(options, term, dir, sessions[i]);
        bool forbidden =
            r == OUTCOME_FORBIDDEN && options->search->won < 0; // all of them, not one session
        absent = r == OUTCOME_NO_DAEMON || forbidden || (options->one_chance && options->given_up);
        status = r > status || absent ? r : status;
    }
    free_list(sessions, count);
    return signals_count() > 0 ? OUTCOME_STOPPED : status;
}

enum outcome resume_folder(struct transfer_options *options, const char *dir, struct term *term) {
    enum outcome salvaged = salvage_folder(dir, false, term);
    enum outcome resumed = resume_sessions(options, dir, term);
    nvtx_run_remove_left(dir);
    return salvaged > resumed ? salvaged : resumed;
}
