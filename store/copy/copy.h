// SPDX-License-Identifier: Apache-2.0
//
// store/copy: whole copies of a store, and the check of a whole store. A copy that merge extends
// (here), a snapshot while the daemon writes (snapshot.h), verify (verify.h). All of them read
// through connections of their own; none writes to its input. They may take minutes, so callers can
// watch and stop them. Any thread, one call at a time.
//
// store_copy() makes a consistent copy of a database under another name: of a store, also while a
// daemon writes it, or of an SQLite export of Nsight Systems. It changes nothing of its input, and
// leaves nothing beside it but a -shm where a -wal lay without one. The copy is for one writer to
// extend before anybody sees it, so it is not synced; see client/common/out_file.h for that.
#pragma once

#include "store/copy/snapshot.h"

enum store_copy_kind {
    STORE_COPY_STORE,  // one of ours, of this version or an older one
    STORE_COPY_EXPORT, // an export, see nsys_facts.h
};

// Copies `from`, which may be a link, to a new file `to` of exactly `mode`. Returns STORE_DONE,
// STORE_BUSY, STORE_NEWER, STORE_FOREIGN (a database that is neither), STORE_CORRUPT (no database,
// or a broken one), STORE_EMPTY (an empty file), STORE_IO, STORE_NO_SPACE or -errno, with a
// sentence in `error` that names the file and what to do; or STORE_STOPPED, without a sentence.
// `watch` may be NULL. After a failure `to` may be there.
int store_copy(const char *from, const char *to, uint32_t mode,
               const struct store_copy_watch *watch, enum store_copy_kind *kind, char *error,
               size_t size);

// The session of the export `path`, in its own time: as it says itself, else what its rows span; 0
// and 0 if there are none. Returns what store_copy() does of its input, STORE_FOREIGN for a store.
int store_copy_export_span(const char *path, int64_t *first_ns, int64_t *last_ns, char *error,
                           size_t size);
