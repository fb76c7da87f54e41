// SPDX-License-Identifier: Apache-2.0
//
// store/read: readers of a store. They read its events in the order of their rows, and the names of
// what those bear. They also read the NVTX rows of a genuine SQLite export of Nsight Systems of any
// version: what it lacks counts as none.
//
// A reader never writes, and never holds a snapshot for long. It copies each chunk of rows out in a
// short read transaction of its own, so that a slow consumer does not keep the write-ahead log of a
// live store in use. It reads the store as it was when it was opened: it leaves out rows that are
// added later, and rows of events never change. One thread uses a reader at a time. Memory: one
// chunk, and the names that were asked for.
//
// Functions return 0, a positive code of enum store_result, or -errno; the sentence is in
// store_read_error().
#pragma once

#include "protocol/text/forms.h"
#include "store/read/read_event.h"
#include "store/value/rows.h"

struct store_reader;

// Opens a store or an export read-only. On failure `*reader` is NULL and `error` holds a sentence
// that names the path and what to do. Positive codes: STORE_BUSY, STORE_NEWER, STORE_FOREIGN (a
// database without NVTX events), STORE_CORRUPT (no database, or broken), STORE_EMPTY (an empty
// file), STORE_IO.
int store_read_open(struct store_reader **reader, const char *path, char *error, size_t size);
void store_read_close(struct store_reader *reader); // NULL is fine
const char *store_read_error(const struct store_reader *reader);

// What the store held when it was opened. An export has no sources and no losses.
const struct store_totals *store_read_totals(const struct store_reader *reader);

// What an export says of its machine.
enum { STORE_FACT_HOST, STORE_FACT_OS, STORE_FACT_KERNEL, STORE_FACT_CPU, STORE_FACT_CORES };
#define STORE_FACTS 5
extern const char *const store_fact_names[STORE_FACTS]; // in TARGET_INFO_SYSTEM_ENV

// Which file it is: stays the same while the store grows, and in its snapshots and copies.
struct store_read_identity {
    bool is_store;                  // else an export
    char store_id[NVTXT_UUID_SIZE]; // "": it has none
    int64_t segment;                // its number; 0: a plain file
    char facts[STORE_FACTS][256];   // of an export's machine; "": not known, as in each store
};
int store_read_identity(struct store_reader *reader, struct store_read_identity *identity);

// ---- Which events -----------------------------------------------------------------------------

// Starts again with the first event of the window (borrowed for the call only). Finds the rows
// through NVTXT_BATCHES and NVTXT_EVENT_SOURCES, without a scan. After store_read_open() the window
// is STORE_READ_ALL.
int store_read_select(struct store_reader *reader, const struct store_read_window *window);

// The ids of the sources that bear this name (name, display name, or peer's name) or, for decimal
// digits, this id. `*ids` is the caller's to free; NULL with a count of 0 when there are none.
int store_read_find_sources(struct store_reader *reader, const char *name, int64_t **ids,
                            size_t *count);

// ---- Events -----------------------------------------------------------------------------------

// The next chunk. `*events` and the texts live until the next call. A chunk may be empty; the end
// is STORE_NOT_FOUND.
int store_read_chunk(struct store_reader *reader, const struct store_read_event **events,
                     size_t *count);

// From now on events have their range_id, which few callers look at. To be called before the first
// chunk.
int store_read_range_ids(struct store_reader *reader);

// Whether rows may hold what needs the extension `nvtx`: of a store it is known from its sources,
// an export is searched for payloads other than Int64 and Double, and for JSON.
int store_read_has_nvtx(struct store_reader *reader, bool *has);

// How much of the window is read, between 0 and 1.
double store_read_progress(const struct store_reader *reader);

// ---- Names ------------------------------------------------------------------------------------

// Views that live until the reader is closed. data == NULL: it has no name, or the name could not
// be read; then the next chunk reports the failure. `global_tid` is the event's.
struct nvtxt_slice store_read_process(struct store_reader *reader, uint64_t global_tid);
struct nvtxt_slice store_read_thread(struct store_reader *reader, uint64_t global_tid);
struct nvtxt_slice store_read_domain(struct store_reader *reader, uint64_t global_tid,
                                     int64_t domain_id);
struct nvtxt_slice store_read_category(struct store_reader *reader, uint64_t global_tid,
                                       int64_t domain_id, uint32_t category);

// The source of the event in a row: its id, 0 when it has none, and a name for people. The view
// lives until the next call.
int64_t store_read_source(struct store_reader *reader, int64_t row, struct nvtxt_slice *name);

// The level of a line of a log (protocol/lang/names.h), as NVTXT_TIMELINE has it: a marker with a
// payload of 0 to 7 has one when its source has levels. NULL: none. Lives for ever.
const char *store_read_level(struct store_reader *reader, const struct store_read_event *event);

// Hands out every name that somebody gave (no default names), in no order. Ends when the callback
// returns something other than 0, and returns that. The slices live during the callback.
int store_read_names(struct store_reader *reader,
                     int (*on_name)(void *context, const struct store_read_name *name),
                     void *context);

// The same for the names of counters alone.
int store_read_counters(struct store_reader *reader,
                        int (*on_name)(void *context, const struct store_read_name *name),
                        void *context);
