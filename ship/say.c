// SPDX-License-Identifier: Apache-2.0
//
// Once a signal came, a failure is only how a wait was cut short, and is not said.
#include "ship/ship.h"

#include <stdio.h>

enum outcome ship_print(struct term *term, const char *text, size_t size) {
    if (term_print(text, size)) {
        return OUTCOME_DONE;
    }
    term_say(term, "cannot write to stdout: %m");
    return OUTCOME_IO;
}

// What a failure means for the exit status.
static enum outcome outcome_of(enum failure_class class) {
    switch (class) {
    case FAILURE_NONE:
        return OUTCOME_DONE;
    case FAILURE_MEMORY:
        return OUTCOME_SYSTEM;
    case FAILURE_TARGET:
    case FAILURE_PASSWORD:
        return OUTCOME_USAGE;
    case FAILURE_REFUSED:
    case FAILURE_NOT_OURS:
        return OUTCOME_FORBIDDEN;
    case FAILURE_NO_SCHEMA:
    case FAILURE_NEWER_SCHEMA:
    case FAILURE_ENCODING:
        return OUTCOME_PROTOCOL;
    case FAILURE_OTHER:
    case FAILURE_MOVED:
    case FAILURE_AWAY:
        return OUTCOME_LATER;
    case FAILURE_CLONE:
    case FAILURE_BAD_STORE:
        return OUTCOME_BAD_DATA;
    case FAILURE_NO_STORE:
        return OUTCOME_NO_INPUT;
    case FAILURE_STORE:
        return OUTCOME_IO;
    case FAILURE_GONE:
    case FAILURE_ENGINE:
    case FAILURE_NO_PARTITION:
    case FAILURE_NEW_STORE:
    case FAILURE_AGAIN:
        break;
    }
    return OUTCOME_NO_DAEMON;
}

enum outcome ship_say_failure(struct term *term, const struct failure *failure) {
    if (signals_came()) {
        return OUTCOME_STOPPED; // whoever stops us cuts the waits short
    }
    term_say(term, "%s%s", failure_words_before(failure), failure->sentence);
    return outcome_of(failure->class);
}
