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

// ---- A copy of a locked segment (beside.c) ------------------------------------------------------
//
// A private copy of a segment that another process keeps locked, so that the next segment can take
// over what goes on. A reader of the segment itself would need its locks. What the other process
// writes during the copy may be missing in it. The daemon's own data are complete: the daemon
// writes nothing meanwhile.

// Copies the main file of `segment` and its log to `copy` and `copy`-wal, new files that only their
// owner may read, and which are the caller's to remove. Nobody in this process may have the segment
// open. Returns 0 or -errno.
int store_beside_copy(const char *segment, const char *copy);

// ---- A new -shm (renew.c) -----------------------------------------------------------------------
//
// A new -shm for a store whose log is empty. The first process that opens a store makes its -shm
// anew from the log, with the locks for recovery. With an empty log there is nothing to
// recover: the file holds nothing that anybody needs, only the locks of who is in the way. A file
// that takes its place has no locks.

// Replaces the -shm of the store at `file` by an empty one that only its owner may open: nobody can
// lock it before the caller has recovered from it. The caller gives it its mode then. Returns 0; 1
// when it stays as it is, because the log is not empty or somebody has the store open; or -errno.
int store_shm_renew(const char *file);
