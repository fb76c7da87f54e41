// SPDX-License-Identifier: Apache-2.0
//
// Connection strings: whether one can be used, and what it leaves open. Over TCP to another machine
// the server's certificate and name are verified, unless the target, its service or libpq's
// environment says otherwise (nvtxt-ship(1), "SECURITY"). Changes the environment of this process.
#pragma once

#include <limits.h>
#include <stddef.h>

#include "ship/engine/failure.h"

// Whether a connection string can be used at all: it is well formed and without a password, also
// within the value of dbname, which servers quote. "" is libpq's environment. `failure` has the
// sentence.
enum failure_class target_check(const char *target, struct failure *failure);

// The key words to connect with, as PQconnectStartParams() takes them, where dbname is expanded.
struct target_words {
    const char *keys[8], *values[8]; // a NULL after the last
    size_t count;
    // A password file that others may use, so that libpq would warn and not read it; with a / after
    // it, and "" when there is none. It is not given to libpq.
    char open_file[PATH_MAX];
};

// `target` is borrowed for as long as the words are used.
enum failure_class target_words(struct target_words *words, const char *target,
                                struct failure *failure);
