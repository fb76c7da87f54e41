// SPDX-License-Identifier: Apache-2.0
//
// Files that somebody else made: the inputs of export, info and merge, and the copies that merge
// extends. Their schema is somebody else's program: it calls no function that could do harm, no
// trigger of it runs, and no tables but those of the file are reached. However long it takes, a
// question that somebody asked us to stop is stopped.
//
// Functions return SQLite result codes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

// Who is asked whether to stop: above 0 means yes. For the whole process; NULL, and at the start:
// nobody. To be called before anything is opened.
void store_stranger_ask(int (*asked_to_stop)(void));

// For a connection that was just opened. What was stopped ends with SQLITE_INTERRUPT.
int store_stranger_guard(struct sqlite3 *db);

// Whether the main database has a table NVTX_EVENTS that is none of rows: a view, a virtual table,
// a table without rowids.
int store_stranger_is_odd(struct sqlite3 *db, bool *odd);

// The name of a trigger of the main database, cut to `size`; "" when there is none.
int store_stranger_trigger(struct sqlite3 *db, char *name, size_t size);
