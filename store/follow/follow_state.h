// SPDX-License-Identifier: Apache-2.0
//
// The inside of a follower, shared by follow.c and the follow_*.c. Nobody else includes it.
#pragma once

#include <limits.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "protocol/table/hash.h"
#include "store/follow/follow_rows.h"
#include "store/read/reader_tables.h"
#include "store/segment/segments.h"
#include "store/segment/store_id.h"
#include "store/value/arena.h"

#define STORE_FOLLOW_TEXT ((size_t)512 * 1024) // the text that ends a chunk early
#define STORE_FOLLOW_STEPS                                                                         \
    (8 * STORE_FOLLOW_ROWS) // with rows that are left out, which take time too

enum store_follow_stmt {
    STORE_FOLLOW_BATCHES = STORE_FOLLOW_TABLES, // the small tables are before it
    STORE_FOLLOW_EVENT_SOURCES,
    STORE_FOLLOW_UNCLOSED,
    STORE_FOLLOW_OPEN_KEYS,
    STORE_FOLLOW_OPEN_ROW,
    STORE_FOLLOW_STMTS,
};

// What a segment says of itself.
struct store_follow_facts {
    uint64_t number, previous; // 0: a plain file; none
    int64_t base;
    int64_t started_ns; // or when the file was changed
    char id[STORE_ID_SIZE];
    bool has_levels;  // NVTXT_SOURCES has the column; not in a store of an older version
    bool has_parents; // likewise, and NVTXT_RANGE_KEYS is there
};

struct store_follow_batch {
    int64_t id, first, last, committed_ns; // id 0: none
};

// Events that were read and are not handed out yet.
struct store_follow_chunk {
    bool is_there;
    struct store_read_rows rows;
    struct store_follow_batch batch; // that of the last event, or one before it
};

// A walk over a table of rows that change.
struct store_follow_sweep {
    bool is_on;
    int64_t at, domain, key; // after these
    int64_t top;             // the largest id that was handed out
};

struct store_follow {
    char path[PATH_MAX]; // the configured one
    char error[PATH_MAX + 256];
    char id[STORE_ID_SIZE];
    struct store_segments list;

    // The segment that is read.
    struct store_reader *reader; // NULL: none yet
    sqlite3 *db;                 // of the reader
    char file[PATH_MAX];
    dev_t device;
    ino_t inode;
    bool had_shm; // when it was opened; without, it was opened as a file that does not change
    struct store_follow_facts facts;
    sqlite3_stmt *stmts[STORE_FOLLOW_STMTS];

    struct store_place place;        // after the rows that were handed out
    int64_t scanned;                 // the last row that was read, also if it is no event
    struct store_follow_batch batch; // that of the last event, or one before it
    bool is_replaced;                // the path leads to another store
    bool is_later;                   // the link named a later segment
    bool at_end;                     // of the events, since then

    // Where it ends.
    bool has_limit;
    uint64_t limit_segment;
    struct store_place limit; // its rows

    // Rows that were handed out.
    struct store_follow_event *events; // owned
    struct store_follow_chunk ahead;   // in `events`
    void *rows;                        // owned, of one small table
    struct store_arena texts;          // of that table

    // Rows that change: the hash value of their contents, by that of their keys.
    struct nvtxt_map seen;
    struct store_follow_sweep sweeps[STORE_FOLLOW_TABLES];
    bool has_new_categories;
    int64_t key_row; // the last row whose key was handed out

    // Open ranges.
    bool open_is_new;                                  // the caller is to forget all
    struct store_follow_range_key *open, *came, *went; // owned; open and came in order
    size_t open_count, came_count, went_count;
    size_t came_at;  // of those that are to be handed out
    bool open_is_on; // there is more to hand out

    // The folder.
    int watch;   // inotify; -1: none
    int watched; // watch descriptor of the folder; -1: none
};

// Translates an SQLite result code into a code of the store, with the sentence.
int store_follow_translate(struct store_follow *follow, int rc);

// follow_segment.c: opens a segment in place of the one that is open, which stays open on failure.
// `number`: as its name says; 0: ask the file.
int store_follow_enter(struct store_follow *follow, const char *file, uint64_t number);
void store_follow_leave(struct store_follow *follow);

// follow_segment.c: the values of queries with one value each, of any segment, in one transaction.
int store_follow_ask(struct store_follow *follow, const struct store_segment *segment,
                     const char *const *queries, size_t count, int64_t *values,
                     struct store_follow_facts *facts);

// follow_tables.c: forgets which rows that change were handed out.
void store_follow_forget_rows(struct store_follow *follow);

// follow_tables.c: room for STORE_FOLLOW_ROWS rows of any small table; NULL when memory is short.
void *store_follow_room(struct store_follow *follow);

// follow_tables.c: until where rows may be read; `limit` is the member for their table of the place
// where the follower ends.
int64_t store_follow_end_of(const struct store_follow *follow, int64_t limit);

// follow_tables.c: values of a row.
struct store_maybe store_follow_maybe(sqlite3_stmt *stmt, int column);
int store_follow_text(struct store_follow *follow, sqlite3_stmt *stmt, int column,
                      struct nvtxt_slice *text);

// follow_open.c
void store_follow_forget_open(struct store_follow *follow);
