// SPDX-License-Identifier: Apache-2.0
//
// A timer ends the child where the network is silent. The child leaves without what a program does
// at its end: memory, files and the connection are its parent's.
#include "ship/engine/wait.h"

#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 1

static void ask(PGcancel *cancel) {
    char why[256];
    signal(SIGALRM, SIG_DFL);
    alarm(LIMIT_S);
    (void)PQcancel(cancel, why, sizeof(why));
}

void cancel_statement(struct pg_conn *conn) {
    PGcancel *cancel = PQgetCancel(conn);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
        continue; // the one before has ended
    }
    if (cancel && fork() == 0) {
        ask(cancel);
        _exit(0);
    }
    PQfreeCancel(cancel);
}
