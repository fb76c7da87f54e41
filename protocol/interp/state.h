// SPDX-License-Identifier: Apache-2.0
//
// The state of a source as text, so that a session or a followed file can go on after any break. It
// holds everything that decides what later lines mean. What changes with every line is short, and
// is saved as one JSON object: mapping, origin, default process, one-time warnings, counters and
// times. What changes seldom may be long, and is saved in parts: variables, definitions, display
// name and waiting names. The first part is whole, later ones have what changed since. Open ranges
// are in neither: the store keeps them as rows of their own.
#pragma once

#include "protocol/base/buf.h"
#include "protocol/interp/interp.h"

// How many bytes, about, of what changes seldom were not saved yet.
size_t nvtxt_state_unsaved(const struct nvtxt_interp *interp);

// Whether there are parts that later ones can be added to; and whether these have become so long
// that a whole one should stand in place of all.
bool nvtxt_state_is_begun(const struct nvtxt_interp *interp);
bool nvtxt_state_is_long(const struct nvtxt_interp *interp);

// What was saved is not there any more: the next part must be whole, and the open ranges are
// announced again.
void nvtxt_state_begin_anew(struct nvtxt_interp *interp);

// Appends the next part to `out`, and counts it as saved: all of it with `whole`, which stands in
// place of all parts before, else what changed since the last one, which may be nothing. `*part` is
// its number, from 1, and is set when something was appended. Returns 0, or -ENOMEM: then the
// interpreter may only be freed.
int nvtxt_state_save_part(struct nvtxt_interp *interp, bool whole, struct nvtxt_buf *out,
                          uint64_t *part);

// Appends the rest of the state, which goes with the parts that were saved before. Returns 0 or
// -ENOMEM.
int nvtxt_state_save(const struct nvtxt_interp *interp, struct nvtxt_buf *out);

// Appends all of it as one object, as stores had it before there were parts; on request with the
// open ranges. Returns 0 or -ENOMEM.
int nvtxt_state_save_in_one(const struct nvtxt_interp *interp, bool with_open_ranges,
                            struct nvtxt_buf *out);

// A new interpreter that goes on where the saved one was; `parts` are all its parts in their order,
// none for a state in one. The configuration gives only what a state does not hold: limits and
// claim; set its clocks as those of a new one. Returns an nvtxt_restore_result (BAD for texts that
// were not saved so, or of which some are missing; NEWER) or -ENOMEM. `*interp` is set only when
// the result is RESTORED.
int nvtxt_state_restore(struct nvtxt_interp **interp, const struct nvtxt_source_config *config,
                        struct nvtxt_slice state, const struct nvtxt_slice *parts, size_t count);
