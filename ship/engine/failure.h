// SPDX-License-Identifier: Apache-2.0
//
// What went wrong between this program and the engine: a class, which says what to do about it, and
// one sentence for people. Pure.
#pragma once

#include <stdbool.h>

enum failure_class {
    FAILURE_NONE,
    FAILURE_MEMORY,       // of this process
    FAILURE_TARGET,       // the connection string is wrong
    FAILURE_PASSWORD,     // there is a password in the connection string
    FAILURE_GONE,         // no connection: tried again
    FAILURE_ENGINE,       // the engine refused a statement: tried again, on a new connection
    FAILURE_AWAY,         // another machine of the engine cannot be reached: tried again
    FAILURE_NO_PARTITION, // of events, for a row's day: it is made, and the round begins anew
    FAILURE_REFUSED,      // password, certificate, role
    FAILURE_NO_SCHEMA,    // run nvtxt-ship init
    FAILURE_NEWER_SCHEMA, // of a version that this program does not speak
    FAILURE_ENCODING,     // the database's is not UTF8
    FAILURE_MOVED,        // the cursor is not where this process believes: begin at "connect"
    FAILURE_OTHER,        // another shipper has the store
    FAILURE_NOT_OURS,     // the store belongs to another role
    FAILURE_CLONE,        // the store is not the one that was shipped
    FAILURE_STORE,        // the store cannot be read at the moment: tried again
    FAILURE_NO_STORE,     // there is none, or none that may be read
    FAILURE_BAD_STORE,    // a file that is no store, or one without an identity
    FAILURE_NEW_STORE,    // the next segment has another identity: open the store anew
    FAILURE_AGAIN,        // nothing is wrong: from the place of the cursor, at once
};

#define FAILURE_SENTENCE 1024
#define FAILURE_LOCK_TIMEOUT "55P03" // a SQLSTATE
// That of a COPY for whatever another machine of the engine said: only words tell what it is.
#define FAILURE_RELAYED "XX000"

struct failure {
    enum failure_class class;
    char state[6];    // SQLSTATE; "" when the engine gave none
    bool was_reached; // FAILURE_GONE: by this program's decision
    char sentence[FAILURE_SENTENCE];
};

// What is said before the sentence.
const char *failure_words_before(const struct failure *failure);

// Sets class and sentence; returns the class.
enum failure_class failure_set(struct failure *failure, enum failure_class class,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

// The class of an answer with this SQLSTATE; `is_gone`: the connection broke with it.
enum failure_class failure_of_state(const char *state, bool is_gone);

// The class of a connection that was refused. `message` is all that the library said, with
// SQLSTATEs where the server gave one ("FATAL:  28P01: …"); the sentence becomes its first lines
// without these and without advice. `needs_password`: the server wanted one and there was none.
enum failure_class failure_of_connect(struct failure *failure, const char *message,
                                      bool needs_password);

// The same for a connection that failed before it was tried: a word of the target is wrong, or a
// name does not resolve.
enum failure_class failure_of_start(struct failure *failure, const char *message);
