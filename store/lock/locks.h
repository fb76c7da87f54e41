// SPDX-License-Identifier: Apache-2.0
//
// Who has locked the files of a store. The system says this only to a process that asks through a
// descriptor of the file, and closing that descriptor would drop all locks that the process has on
// the file, SQLite's too. So a child process asks. https://www.sqlite.org/walformat.html, "WAL
// Locks"; fcntl_locking(2), F_GETLK
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_locks {
    bool found;    // somebody else has a lock that a writer may need
    bool blocks;   // and it prevents us from opening the store
    bool recovery; // but only for making its -shm anew from the log
    int64_t pid;   // 0: a process that cannot be seen
    int64_t uid;   // -1: not known
    char name[64]; // of the process; "" when not known
};

// Looks at the locks of the store at `file`, of its main file and its -shm. Says that nothing was
// found when it cannot ask.
void store_locks_find(const char *file, struct store_locks *locks);

// Whose they are, for people: "process 42 (sqlite3, uid 1000)".
void store_locks_say(const struct store_locks *locks, char *text, size_t size);
