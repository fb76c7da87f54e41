// SPDX-License-Identifier: Apache-2.0
//
// The checkpoint helper: a thread with a connection of its own. It moves the WAL into the main file
// while the writer goes on writing, so that most of that work costs the writer nothing. It does
// only PASSIVE checkpoints, which wait for nobody. It cannot make a busy WAL start again from its
// beginning, because the writer has appended before the helper is through. So when the WAL reaches
// its cap, the writer moves what is left in store_checkpointer_finish(), and its next transaction
// starts the WAL anew.
// https://www.sqlite.org/wal.html, "Checkpointing";
// https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
//
// The thread sleeps until the writer reports enough new pages: no timer, no wake-ups when idle.
// When it fails, only speed suffers: the writer has more to move. The store owns it; the thread
// that uses the store calls its functions.
#pragma once

#include <sqlite3.h>
#include <stddef.h>

struct store_checkpointer;

// Starts the helper for the WAL store at `path`. NULL when that is not possible: the store works
// without it.
struct store_checkpointer *store_checkpointer_start(const char *path);
void store_checkpointer_stop(struct store_checkpointer *checkpointer); // NULL is fine

// Reports how many pages the WAL has after a commit.
void store_checkpointer_note(struct store_checkpointer *checkpointer, size_t wal_pages);

// Waits until a running pass ends, then checkpoints what is left through `db`, the writer's own
// connection. Works with a NULL checkpointer as well. Returns SQLite's code. `pages` and `moved`,
// which may be NULL, get what sqlite3_wal_checkpoint_v2() says.
int store_checkpointer_finish(struct store_checkpointer *checkpointer, sqlite3 *db, int mode,
                              int *pages, int *moved);
