// SPDX-License-Identifier: Apache-2.0
//
// protocol/interp: the interpreter. It takes one source from lines to events, names and
// diagnostics. It owns everything that earlier lines of the source have set: variables,
// definitions, push stacks, open ranges, display name, waiting names and counters. It shares
// nothing with other sources; any thread may use it, one at a time. It does no I/O, reads no clock,
// writes no log and has no globals: what it must know of the outside is in its configuration, and
// what it makes goes to a sink.
//
// A line that has an error has no effect. After a sink has failed (-errno) the interpreter may only
// be freed.
#pragma once

#include "protocol/interp/source.h"

struct nvtxt_interp;

// Returns NULL when memory is short. The configuration is copied; its mapping must have no fault.
struct nvtxt_interp *nvtxt_interp_new(const struct nvtxt_source_config *config);
void nvtxt_interp_free(struct nvtxt_interp *interp); // NULL is fine

// Takes the next line, without LF and CR. Counts it. Returns 0 whatever the line holds, or -errno
// of the sink or of memory.
int nvtxt_interp_line(struct nvtxt_interp *interp, struct nvtxt_slice line,
                      const struct nvtxt_sink *sink);

// Takes a line that was longer than the limit; `start` holds its first bytes.
int nvtxt_interp_overlong(struct nvtxt_interp *interp, struct nvtxt_slice start,
                          const struct nvtxt_sink *sink);

// Ends the source: each open range becomes an event that ends at the latest time, with a warning;
// waiting names are handed on. After that the interpreter may only be asked for its counters, saved
// and freed.
int nvtxt_interp_end(struct nvtxt_interp *interp, const struct nvtxt_sink *sink);

// Sets what says whether the source may use and name processes; it is copied. A name that it may
// not give has no effect and gets the warning foreign-name, once a source. Without a guard it may
// name every process, and the claim of its configuration is to the letter.
void nvtxt_interp_set_guard(struct nvtxt_interp *interp, const struct nvtxt_guard *guard);

// Names, keys and diagnostics that were handed to sinks since the interpreter was made.
uint64_t nvtxt_interp_rows(const struct nvtxt_interp *interp);

// Sets the offset of a clock, as it was measured last. Before that the values of the clock count as
// nanoseconds, with the warning no-clock. ClockRealtime needs no offset: it is 0.
void nvtxt_interp_set_clock(struct nvtxt_interp *interp, enum nvtxt_timebase base,
                            struct nvtxt_clock_offset offset);

bool nvtxt_interp_has_levels(const struct nvtxt_interp *interp);    // as its configuration says
bool nvtxt_interp_has_escapes(const struct nvtxt_interp *interp);   // likewise
bool nvtxt_interp_has_nvtx(const struct nvtxt_interp *interp);      // likewise
int64_t nvtxt_interp_expiry(const struct nvtxt_interp *interp);     // likewise: seconds, or 0
const char *nvtxt_interp_parent(const struct nvtxt_interp *interp); // likewise: a token, or NULL

// Changes these two of its configuration, for a file whose first line is a hello. Only before its
// first line; `nvtx` implies escapes.
void nvtxt_interp_extend(struct nvtxt_interp *interp, bool escapes, bool nvtx);

// If the next line is a call that makes a complete range, a RangeStartEnd, its event has this key
// and this parent, a token or "". Both are copied, at most NVTXT_KEY_BYTES and NVTXT_PARENT_BYTES
// of them; they are part of the state until that line has come.
void nvtxt_interp_next_range(struct nvtxt_interp *interp, const char *key, const char *parent);

// Hands on the warning bad-parent, once a source. `token` is what cannot be read. Returns 0 or
// -errno of the sink.
int nvtxt_interp_warn_parent(struct nvtxt_interp *interp, struct nvtxt_slice token,
                             const struct nvtxt_sink *sink);

const struct nvtxt_counters *nvtxt_interp_counters(const struct nvtxt_interp *interp);

// The display name in force; empty when there is none. Lives until the next line.
struct nvtxt_slice nvtxt_interp_display_name(const struct nvtxt_interp *interp);

// The memory that open ranges, variables, waiting names and the display name take together, in
// bytes; and a bound of it, in addition to the limit of each. A new interpreter has no bound. A
// line that would pass the bound is a fault, limit-exceeded; what is there already stays.
size_t nvtxt_interp_held(const struct nvtxt_interp *interp);
void nvtxt_interp_allow(struct nvtxt_interp *interp, size_t bytes);

// Smallest and largest Time, Start or End of calls that had an effect, as the source wrote them
// (before mapping). Returns false when there was none. For the defaults of nvtxt_a and nvtxt_b.
bool nvtxt_interp_raw_times(const struct nvtxt_interp *interp, int64_t *smallest, int64_t *largest);

// The first time base of a call that is a known clock but gave way to the mapping of the source.
// NVTXT_TIMEBASE_MANUAL when there was none.
enum nvtxt_timebase nvtxt_interp_mapped_clock(const struct nvtxt_interp *interp);

// ---- Open ranges ------------------------------------------------------------------------------

// Announces an open range: gives the oldest one that was not given before and marks it, so that its
// event will have its number in open_seq. The event of a range that closes earlier has 0 there.
// Returns 1 and fills `*range` (views live until the next line), or 0 when there is none left.
int nvtxt_interp_take_opened(struct nvtxt_interp *interp, struct nvtxt_open_range *range);

// Visits every open range, oldest first; stops at the first non-zero return and returns it.
int nvtxt_interp_each_open(const struct nvtxt_interp *interp,
                           int (*visit)(void *context, const struct nvtxt_open_range *range),
                           void *context);

#define NVTXT_STATE_VERSION 2 // of saved states: the newest one that is read

enum nvtxt_restore_result {
    NVTXT_RESTORED = 0,
    NVTXT_RESTORE_BAD = 1,   // no interpreter has saved that
    NVTXT_RESTORE_NEWER = 2, // one of a newer version has
};

// Puts an open range back into a fresh interpreter, in the order of seq, as one that is announced.
// Limits do not count here: the range was within those that held when it was opened. Returns
// RESTORED, BAD for a range that cannot be (same RangeId twice, wrong depth), or -ENOMEM.
int nvtxt_interp_restore_open(struct nvtxt_interp *interp, const struct nvtxt_open_range *range);
