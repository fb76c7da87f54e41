// SPDX-License-Identifier: Apache-2.0
//
// The store: one SQLite file in the schema of Nsight Systems' SQLite export, plus tables of our own
// (nvtxt-store(5)). This is the writing side and what a resumed session reads back. One thread
// uses a store at a time. No SQLite code leaves it: functions return 0, a documented positive code,
// or -errno, and leave a sentence for people in store_error().
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/interp/interp.h"
#include "store/value/batch.h"

struct store;

struct store_options {
    bool plain; // an import's store: one plain file, no WAL, no link; complete when it is closed,
                // but not synced, which is for who gives it its name
    bool synchronous_normal; // NORMAL instead of FULL
    bool no_cupti_views;     // leave the two compatibility views out
    uint32_t file_mode;      // of a new file, e.g. 0640
    bool keeps_lock; // nobody else writes to it while it is open, see store/lock/writelock.h; its
                     // log is moved into it before it is closed, not by closing it
    bool checkpoint_helper; // a thread that checkpoints beside the writer (see checkpointer.h)
    size_t wal_cap_pages;   // the writer checkpoints past this many WAL pages; 0: default (8000)
    bool read_only;         // figures only: nothing is created, migrated or written
    int64_t group;          // of a new file and its logs; 0: whatever the system gives
    const char *name;       // borrowed for the store's life: the configured path of a store of
                            // segments, by which sentences call it; NULL: a file of its own
    size_t carry_rows;      // see store/segment/carry_over.h; 0: default (10000)
};

enum store_result {
    STORE_DONE = 0,
    STORE_NOT_FOUND = 1,
    STORE_BUSY = 2,     // somebody else holds a lock: try again
    STORE_NEWER = 3,    // store_open: written by a newer version; untouched
    STORE_FOREIGN = 4,  // store_open: a database of another application; untouched
    STORE_CORRUPT = 5,  // not a database, or a broken one
    STORE_NO_SPACE = 6, // the disk is full: roll back, try again later
    STORE_IO = 7,       // another I/O error: the same
    STORE_REFUSED = 8,  // SQLite does not take a row (a constraint, too big): never will
    STORE_GONE = 9,     // store_begin: the file, or its log, is not where it was any more
    STORE_LACKING = 10, // a trigger or an index that somebody added calls a function, a module or a
                        // collation that this program has not: try again when it is gone
};

// Opens or creates. On failure `*store` is NULL and `error` holds a sentence that names the path
// and what to do. `error` may be NULL.
int store_open(struct store **store, const char *path, const struct store_options *options,
               char *error, size_t error_size);

// Checkpoints (main file complete), closes, frees. NULL is fine.
void store_close(struct store *store);

// The same for a segment that the link left: first takes from it what goes on elsewhere, under the
// lock that it has. What cannot be done now is done by store_rotation_leave() later.
void store_leave(struct store *store);

// The same without touching its files any more: for one that is broken.
void store_abandon(struct store *store);

const char *store_error(const struct store *store); // sentence of the last failure

// The id for the next new source: larger than every id in the store, whatever its segment. The
// filling side counts on.
int64_t store_next_source_id(const struct store *store);

// ---- Transactions: begin, write any number of batches, commit or roll back --------------------

int store_begin(struct store *store);
int store_write(struct store *store, struct store_batch *batch);
// Commits with one NVTXT_BATCHES row for the events of the transaction (none when it had none).
int store_commit(struct store *store);
void store_rollback(struct store *store); // forgets cached ids as well; fine without a transaction

// For a batch that was refused (STORE_REFUSED, -EIO), without a transaction: writes and commits it
// share by share. What is refused even so is taken out, and noted in NVTXT_LOSSES as "refused" with
// the number of rows. On a failure that may pass (disk full) call it again: it goes on.
int store_write_apart(struct store *store, struct store_batch *batch, int64_t now_ns);

#define STORE_LOSS_REFUSED "refused"

// For a store that keeps its lock, without a transaction: gives it back, so that somebody else can
// write, until the next transaction takes it again.
void store_let_go(struct store *store);
bool store_has_let_go(const struct store *store);

// Moves the WAL into the main file and cuts it, on demand: says what became of it. A reader in the
// way is no failure.
struct store_checkpointed {
    int64_t before_bytes, bytes; // the WAL file
    int64_t pages, moved_pages;  // in the WAL when it was done, and those that the main file has
    bool pinned;                 // a reader keeps the WAL from beginning again
};
int store_checkpoint(struct store *store, struct store_checkpointed *done);

// ---- Sessions ---------------------------------------------------------------------------------

// What the store knows of a session. Deinit frees what it owns.
struct store_session {
    bool ended;   // its id is known, its state is gone: answer with `counters` and `line`
    char how[16]; // ended: as in NVTXT_SOURCES.ended
    int64_t source_id;
    int64_t uid;   // -1 when not known
    int64_t pid;   // of the process that began it; 0 when not known
    uint64_t line; // last committed line
    int64_t opened_ns;
    struct nvtxt_counters counters;
    char *name, *display_name;       // owned, may be NULL
    char *state;                     // owned JSON text; NULL when ended
    struct nvtxt_open_range *ranges; // owned with their texts, in the order of seq
    size_t range_count;
    struct store_session_diag {
        uint64_t line;
        uint32_t column;
        char severity[16], stage[16], code[64];
        char message[NVTXT_DIAG_MESSAGE_SIZE];
    } *diags; // owned: diagnostics of lines after `acked`, in order
    size_t diag_count;
};

// Returns STORE_DONE, STORE_NOT_FOUND for an id that was never seen, or a failure. Diagnostics are
// read only when `want_diags`, those of lines > acked. Lines of a resumed session go on at line+1.
int store_session_load(struct store *store, const char *session_id, bool want_diags, uint64_t acked,
                       struct store_session *session);
void store_session_deinit(struct store_session *session);

// The end of a session that cannot go on, into its share of a batch: what is known of it is
// `session`, the loaded rows. Its open ranges become events, each with the warning that it was
// never closed. Returns 0 or -ENOMEM: discard the share then.
int store_session_end(struct store_batch_source *share, const struct store_session *session,
                      const char *how, int64_t closed_ns);

// How many sessions of this user can be resumed. Returns 0 or a failure.
int store_session_count(struct store *store, int64_t uid, int64_t *count);

// The id of one open session that was last seen before `before_ns`. STORE_DONE (id written, size at
// least NVTXT_SESSION_ID_BYTES + 1), or STORE_NOT_FOUND.
int store_session_expired(struct store *store, int64_t before_ns, char *session_id, size_t size);

// ---- Followed files ---------------------------------------------------------------------------

// What the store knows of a followed file. Deinit frees what it owns.
struct store_file {
    int64_t source_id;
    struct store_followed at; // its path is NULL
    char *path;               // owned
    bool ended;               // its source is closed; it goes on when the file does
    int64_t opened_ns, closed_ns;
    struct nvtxt_counters counters;
};
void store_file_deinit(struct store_file *file);

struct store_file_list {
    struct store_file *files; // owned, by source id
    size_t count;
};
int store_file_list(struct store *store, struct store_file_list *list);
void store_files_free(struct store_file_list *list);

// All that is needed to go on with the file of a source: its place in `file`, state and open ranges
// in `session`. Returns STORE_DONE, STORE_NOT_FOUND or a failure (nothing is owned then).
int store_file_load(struct store *store, int64_t source_id, struct store_file *file,
                    struct store_session *session);

// ---- After a kill -----------------------------------------------------------------------------

// Called once after store_open by the daemon: sources that a killed daemon left open (plain ones)
// are closed as "lost", their open ranges stored as the language says for a source that ended.
int store_recover(struct store *store, int64_t now_ns);

// ---- Owners -----------------------------------------------------------------------------------

// Hands out the open sessions of known users that keep something open, each with the bytes of that
// and when it was last seen; stops at the first result that is not 0. Returns as the next one.
int store_sessions_open(struct store *store,
                        int (*on_session)(void *context, const char *session_id, int64_t uid,
                                          size_t open_bytes, int64_t seen_ns),
                        void *context);

// Hands out whose the names of processes are (see store_batch_owner); stops at the first result
// that is not 0. Returns it, STORE_DONE, or a failure.
int store_owners_load(struct store *store, int (*on_owner)(void *context, int64_t pid, int64_t uid),
                      void *context);

// ---- Losses -----------------------------------------------------------------------------------

// Rows of NVTXT_LOSSES, newest first. Deinit frees what it owns.
struct store_losses {
    struct store_loss_row {
        int64_t at_ns, source_id, uid, pid; // 0, 0, -1, 0 when not known
        uint64_t count;
        char reason[64];
        char source[256]; // display name or name of the source; "" when it has none
    } *rows;              // owned
    size_t count;
};

// At most `limit` of them.
int store_losses_load(struct store *store, size_t limit, struct store_losses *losses);
void store_losses_deinit(struct store_losses *losses);

// How many rows there are, as of the last transaction or load; -1 when that cannot be read.
int64_t store_loss_count(struct store *store);

// ---- Diagnostics ------------------------------------------------------------------------------

// Rows of NVTXT_DIAGNOSTICS, newest first. Deinit frees what it owns.
struct store_diags {
    struct store_diag_row {
        int64_t at_ns, source_id;
        uint64_t line;
        uint32_t column;
        char severity[16], stage[16], code[64];
        char message[NVTXT_DIAG_MESSAGE_SIZE];
        char excerpt[NVTXT_DIAG_EXCERPT_SIZE];
        char source[256]; // name or display name of the source, or its peer's; "" for none
    } *rows;              // owned
    size_t count;
};

// At most `limit` of them; of one source unless `source_id` is 0.
int store_diags_load(struct store *store, int64_t source_id, size_t limit,
                     struct store_diags *diags);
void store_diags_deinit(struct store_diags *diags);

// ---- Events, read back ------------------------------------------------------------------------

// A place between two events of a store, whatever segments it has (segments.h).
struct store_cursor {
    uint64_t segment; // its number
    int64_t row;      // the event with this rowid is before it, the next one behind
};

#define STORE_CURSOR_END                                                                           \
    (struct store_cursor) {                                                                        \
        UINT64_MAX, 0                                                                              \
    }

// What is asked for. Texts are borrowed; what is not set does not matter.
struct store_event_query {
    struct store_cursor cursor;
    bool backward;             // events before the cursor, the newest one first
    size_t limit;              // at most so many, and at most STORE_EVENTS_BYTES of text
    int64_t pid;               // -1: any
    int64_t category;          // number; -1: any
    const char *category_name; // NULL: any
    const char *message;       // a part of it; NULL: any
    const char *kind;          // as NVTXT_TIMELINE has it, or "range"; NULL: any
};

// One call looks at so many rows, so that it takes milliseconds whatever the store holds; a cursor
// that has more than STORE_EVENTS_BEHIND rows of its segment ahead of it passes over the oldest.
#define STORE_EVENTS_SCANNED 10000
#define STORE_EVENTS_BEHIND 100000
#define STORE_EVENTS_BYTES (1u << 20)

struct store_events {
    struct store_event_row {
        int64_t row, start_ns, duration_ns, pid, tid, category, source_id; // 0: none
        struct nvtxt_slice kind, message;
        struct nvtxt_slice category_name, process, thread, source, domain, color, payload; // or ""
        char *texts; // owned: what the slices point to
    } *rows;         // owned
    size_t count;
    struct store_cursor next; // where to go on
    struct store_cursor end;  // behind the newest event
    bool more;                // there are rows beyond `next` that were not looked at
    uint64_t skipped;         // rows passed over because the cursor was too far behind
    bool gone;                // its segment is not there any more: nobody knows how many
};

// Only what is committed is seen, also while a transaction is open. `path` is the configured one.
int store_events_load(struct store *store, const char *path, const struct store_event_query *query,
                      struct store_events *events);
void store_events_deinit(struct store_events *events);

// ---- Figures ----------------------------------------------------------------------------------

struct store_figures {
    uint64_t events;  // rows of type 34, 59, 60 in the file
    int64_t first_ns; // smallest start, largest end of them; 0 when there are none
    int64_t last_ns;
    uint64_t sources;
    uint64_t losses;
};
int store_figures(struct store *store, struct store_figures *figures);

int64_t store_file_bytes(const struct store *store);
int64_t store_wal_bytes(const struct store *store);

// What the file will take when its write-ahead log is in it. Also within a transaction.
int64_t store_content_bytes(struct store *store);

// Bytes of the log that readers keep in use, or that are not worth a checkpoint yet. Between two
// transactions: does the checkpoint that is due, so that one big commit is not taken for a reader.
int64_t store_wal_used(struct store *store);

const char *store_file(const struct store *store); // its real path; the store's
int64_t store_begun_ns(struct store *store);      // when its segment was begun; 0: it is no segment
bool store_holds_events(struct store *store);     // committed ones
int64_t store_carried_bytes(struct store *store); // that its segment took over from the one before
bool store_is_empty(struct store *store); // for certain: no events, diagnostics, losses of its own
