// SPDX-License-Identifier: Apache-2.0
//
// Files that somebody else made: what export, info and merge read, and the copies that merge
// extends. Their schema could be an attack. So it may call no function that does harm, no trigger
// of it runs, and no tables are reached but those of the file. And a query can be stopped, however
// long it takes.
//
// Functions return SQLite result codes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

// Sets the function that queries ask whether to stop: above 0 means yes. NULL, and before the first
// call: they ask nobody. For the whole process; call it before you open anything.
void store_stranger_ask(int (*asked_to_stop)(void));

// Guards a connection that was just opened. A query that is stopped ends with SQLITE_INTERRUPT.
int store_stranger_guard(struct sqlite3 *db);

// Whether NVTX_EVENTS of the main database is no table with rowids, but a view, a virtual table or
// a table without rowids.
int store_stranger_is_odd(struct sqlite3 *db, bool *odd);

// The name of a trigger of the main database, cut to `size`; "" when there is none.
int store_stranger_trigger(struct sqlite3 *db, char *name, size_t size);
