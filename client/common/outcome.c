// SPDX-License-Identifier: Apache-2.0
//
// The one place of the clients that knows the numbers of <sysexits.h>, and the one that looks at a
// negative errno to say what it means for the program.
#include "client/common/outcome.h"

#include <signal.h>
#include <sysexits.h>

#include "protocol/base/origin.h"

int outcome_exit_status(enum outcome outcome) {
    static const int statuses[] = {
        [OUTCOME_DONE] = EX_OK,           [OUTCOME_FAULTS] = 1,
        [OUTCOME_FINDINGS] = 2,           [OUTCOME_UNDECIDED] = 3,
        [OUTCOME_USAGE] = EX_USAGE,       [OUTCOME_BAD_DATA] = EX_DATAERR,
        [OUTCOME_NO_INPUT] = EX_NOINPUT,  [OUTCOME_NO_DAEMON] = EX_UNAVAILABLE,
        [OUTCOME_SYSTEM] = EX_OSERR,      [OUTCOME_NO_OUTPUT] = EX_CANTCREAT,
        [OUTCOME_IO] = EX_IOERR,          [OUTCOME_LATER] = EX_TEMPFAIL,
        [OUTCOME_PROTOCOL] = EX_PROTOCOL, [OUTCOME_FORBIDDEN] = EX_NOPERM,
        [OUTCOME_CONFIG] = EX_CONFIG,     [OUTCOME_NO_READER] = 128 + SIGPIPE,
        [OUTCOME_ANSWERED] = EX_OK,       [OUTCOME_RUNNING] = EX_SOFTWARE,
    };
    return outcome == OUTCOME_STOPPED ? 128 + signals_first() : statuses[outcome];
}

enum outcome outcome_of_error(int error, enum outcome other) {
    return -error == ENOMEM ? OUTCOME_SYSTEM : other;
}

enum outcome outcome_of_open(int error) {
    switch (nvtxt_origin(-error)) {
    case ENOENT:
    case ENOTDIR:
    case ENOLINK:
    case EISDIR:
    case EINVAL:
    case EACCES:
        return OUTCOME_NO_INPUT;
    case ENOMEM:
    case EMFILE:
        return OUTCOME_SYSTEM;
    default:
        return OUTCOME_IO;
    }
}

enum outcome outcome_of_write(int error) {
    return -error == ENOSPC || -error == EIO ? OUTCOME_IO : OUTCOME_NO_OUTPUT;
}
