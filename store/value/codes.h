// SPDX-License-Identifier: Apache-2.0
//
// What functions of the store return: 0, one of these positive codes, which the caller handles, or
// -errno, which it passes on. Each function says which of them it returns.
#pragma once

enum store_result {
    STORE_DONE = 0,
    STORE_NOT_FOUND = 1,
    STORE_BUSY = 2,     // another process holds a lock: try again
    STORE_NEWER = 3,    // store_open: written by a newer version; untouched
    STORE_FOREIGN = 4,  // store_open: a database of another application; untouched
    STORE_CORRUPT = 5,  // not a database, or a broken one
    STORE_NO_SPACE = 6, // the disk is full: roll back, try again later
    STORE_IO = 7,       // another I/O error: the same
    STORE_REFUSED = 8,  // SQLite refuses a row (a constraint, too big): it always will
    STORE_GONE = 9,     // store_begin: the file, or its log, was moved or removed
    STORE_LACKING = 10, // somebody added a trigger or an index that calls a function, a module or a
                        // collation that this program does not have: try again when it is gone
    STORE_EMPTY = 11,   // an empty file, where a store must be
    STORE_FAILED = 12,  // SQLite failed in a way that is none of these
    STORE_STOPPED = 13, // the caller's callback asked to stop
    STORE_UNSURE = 14,  // store_session_load: nobody knows it, but something cannot be read
};
