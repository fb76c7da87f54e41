// SPDX-License-Identifier: Apache-2.0
//
// store/follow: the rows of a daemon's store after a place, in order, over all of its segments, for
// whoever brings them elsewhere (nvtxt-ship(1)). A follower reads what was committed, goes on when
// the daemon commits more, goes from segment to segment as the link does, and finds out when a
// segment went before it was read. It owns one read-only connection, to the segment that it reads,
// and an inotify descriptor. It never writes, and keeps nothing in use: each function below reads
// in a read transaction of its own that is over when it returns, so the log of a live store does
// not grow because of its caller. It does not know where the rows go, and remembers no place: its
// caller does, together with the rows. One thread uses a follower at a time. Memory: a chunk of
// rows, and 16 bytes for each name and source that was handed out.
//
// This is the order of calls:
//
//   store_follow_open(), store_follow_id()           whose store it is
//   store_follow_seek(place)                         where to go on; again after each failure
//   store_follow_refresh()                           each round: reads the link and its segments
//   store_follow_events() ...                        until STORE_NOT_FOUND
//   store_follow_diagnostics(), _losses() ...        the same, and what changed of small tables
//   store_follow_place()                             goes with these rows
//   store_follow_is_finished(), store_follow_next()  to the next segment
//
// The rows of one call live until the next call of any function here that reads. A call hands out
// at most STORE_FOLLOW_ROWS rows, or fewer when their texts are long; the end is STORE_NOT_FOUND.
// Texts are as the store has them: any bytes. A slice whose data is NULL is NULL.
//
// Functions return STORE_DONE, STORE_NOT_FOUND, another positive code of enum store_result or of
// enum store_follow_result, or -errno; the sentence is in store_follow_error().
#pragma once

#include "store/follow/follow_rows.h"
#include "store/segment/store_id.h"

#define STORE_FOLLOW_ROWS 2048

enum store_follow_result {
    STORE_FOLLOW_OTHER = 100, // not the store of the place: it was cloned, or put back
    STORE_FOLLOW_NO_ID = 101, // the store has no STORE_ID yet: nvtxtd gives it one when it starts
    STORE_FOLLOW_NEW_ID = 102 // the path leads to another store or file now: open it anew
};

struct store_follow;

// Opens the store at the configured `path`: a link with segments, or one plain file. On failure
// `*follow` is NULL and `error` holds a sentence that names the path and what to do. Returns what
// store_read_open() does, STORE_FOREIGN also for an export of Nsight Systems, or
// STORE_FOLLOW_NO_ID, where the follower may still be used: it is open, and store_follow_id() is
// "".
int store_follow_open(struct store_follow **follow, const char *path, char *error, size_t size);
void store_follow_close(struct store_follow *follow); // NULL is fine
const char *store_follow_error(const struct store_follow *follow);

// STORE_ID of the newest segment, 36 bytes as RFC 9562 writes it; "" when it has none.
const char *store_follow_id(const struct store_follow *follow);

// ---- Where it reads -----------------------------------------------------------------------------

// Goes on after `place`, forgets which changes it handed out, and compares the place with the
// store. A zeroed place is before the oldest segment. STORE_FOLLOW_OTHER: its batch is not in this
// store. STORE_FOLLOW_NEW_ID: only segments of a store that began later are left. STORE_NOT_FOUND:
// there is no segment to go on with yet; try again after the next refresh.
// `gap->count` is above 0 when rows after the place are gone.
int store_follow_seek(struct store_follow *follow, const struct store_place *place,
                      struct store_gap *gap);

// The place before the first event that was committed at `committed_ns` or later; INT64_MAX: the
// end of what is committed now. For a reader that has no place yet; seek it then.
int store_follow_find(struct store_follow *follow, int64_t committed_ns, struct store_place *place);

// Older segments may have another STORE_ID, when none of them could be read as the newest one
// began; more than one, when that happened again. `changes` is how many changes to leave out, from
// the newest segment back. `place` is before the oldest segment after the next one, `other` the
// STORE_ID before it; both are zeroed when there is none. A segment that is broken has no say; one
// that cannot be read at the moment is a failure: try again.
int store_follow_first(struct store_follow *follow, size_t changes, struct store_place *place,
                       char other[STORE_ID_SIZE]);

// From now on the store is the one with this STORE_ID: it ends before the first segment that has
// another one (STORE_FOLLOW_NEW_ID), like any store.
void store_follow_take(struct store_follow *follow, const char *id);

// After the rows that were handed out so far.
void store_follow_place(const struct store_follow *follow, struct store_place *place);

// Moves the place over the rows of names that stand after the last event, for a caller that has all
// names as of now (STORE_FOLLOW_CHANGED): when the segment goes, they are not missing. True: the
// place has moved. Does nothing before the end of the events.
bool store_follow_pass_names(struct store_follow *follow);

// The segment of the place.
void store_follow_segment(const struct store_follow *follow, struct store_follow_segment *segment);

// Reads the link and the list of segments. STORE_NOT_FOUND: there is no store at the moment.
int store_follow_refresh(struct store_follow *follow);

// The follower ends at what is committed now, instead of going on for ever; also after another
// seek.
int store_follow_until_now(struct store_follow *follow);

// True when all events of this segment were handed out, and the link had named a later one before,
// or another store stood in its place: then none will follow in it. Never in the segment in which
// store_follow_until_now() ends.
bool store_follow_is_finished(const struct store_follow *follow);

// Goes to the next segment, when this one is finished. `gap` as above. STORE_FOLLOW_NEW_ID.
// STORE_NOT_FOUND: this one is not finished.
int store_follow_next(struct store_follow *follow, struct store_gap *gap);

// How many rows of events were committed and not handed out, in all segments, as of the last
// refresh; 0 when there is none.
int store_follow_behind(struct store_follow *follow, int64_t *rows);

// ---- For a caller that reads the store by itself (follow_mark.c) --------------------------------
//
// They need no place, and keep nothing open.

// What is newest in a store. No member is padding: marks are compared with memcmp().
struct store_mark {
    int64_t committed_ns; // of the last batch of the newest segment; 0: none
    int64_t file[3];      // the newest segment: its number, and which file it is
    int64_t rows[5];      // its last batch, diagnostic and loss, its open ranges
};

// Equal marks: nothing was committed in between. STORE_NOT_FOUND: there is no store at the moment.
int store_follow_mark(struct store_follow *follow, struct store_mark *mark);

// How many events are in all segments; reads all of them.
int store_follow_count(struct store_follow *follow, int64_t *events);

// ---- Events -------------------------------------------------------------------------------------

int store_follow_events(struct store_follow *follow, const struct store_follow_event **events,
                        size_t *count);

// Reads now what the next store_follow_events() will hand out, for a caller that has to wait for
// something else meanwhile. The place stays where it is, the rows of the last call are gone, and a
// failure is left to the next one.
void store_follow_read_ahead(struct store_follow *follow);

// ---- Small tables -------------------------------------------------------------------------------

// Of diagnostics and losses: the rows after the place; of keys: see store_follow_pass_keys(). Of
// the others: rows of this segment that are new or other than when they were handed out last. After
// a seek, and in a new segment, all are. Of names, only given and default ones that the segment
// has.
enum store_follow_what {
    STORE_FOLLOW_ADDED,  // only those that came since: cheap, for each round with events
    STORE_FOLLOW_CHANGED // also those whose contents changed: looks at all of them
};

// Some rows of a table: an array of its struct. Call it until STORE_NOT_FOUND.
int store_follow_rows(struct store_follow *follow, enum store_follow_table table,
                      enum store_follow_what what, const void **rows, size_t *count);

// Keys are handed out with their events or after them, and after a seek from the beginning of the
// segment on: a caller that has those of the rows up to this one says so.
void store_follow_pass_keys(struct store_follow *follow, int64_t row);

// The STORE_FOLLOW_OPEN open ranges that began first: which of them came and went since the last
// time. `open->all`: what came is all of them, forget the others. Call it until STORE_NOT_FOUND;
// what went comes with the first call.
#define STORE_FOLLOW_OPEN 10000
int store_follow_open_ranges(struct store_follow *follow, struct store_follow_opens *open);

// ---- Waiting ------------------------------------------------------------------------------------

// Watches the store's folder until a change is found or store_follow_unwatch(). `*fd` is readable
// when something in the folder changed, for poll(); it belongs to the follower. Begin a watch, then
// refresh and read: what changes after that is seen. Does nothing while a watch lasts. Returns 0 or
// -errno.
int store_follow_watch(struct store_follow *follow, int *fd);
void store_follow_unwatch(struct store_follow *follow);

// Empties the descriptor. True when the store may have changed since the watch began; the watch is
// over then. Without a watch it is always true. A commit writes the log first and can be seen some
// time after that, when the log is on the disk, which changes nothing more in the folder: so a
// reader that found nothing looks again somewhat later.
bool store_follow_changed(struct store_follow *follow);
