// SPDX-License-Identifier: Apache-2.0
//
// Parents in other processes: the range that was open where the process of a source was started. A
// source has said the token of its parent, SESSION:KEY, and some events have one of their own
// (nvtxt-store(5), NVTXT_RANGE_KEYS). Here tokens become ranges of any of the files, which are
// those of one store.
//
// A token means the range of that key in a session of the same user as the one who said it. If the
// session has no such range (yet), it means the range of the key "run", else what that session
// began under. Whatever else it says, the parent is unknown. Where parents go round in a circle, as
// only somebody else's store has them, the first one that comes again has none.
//
// Memory: the sources of sessions, and what is named as a parent; not the other events.
#pragma once

#include "store/read/reader.h"

struct store_parents;

struct store_parent {
    struct nvtxt_slice token; // as it was said; several may mean one range, this is one of them
    uint32_t number;          // from 1 on; no other parent of these files has it
    bool is_known;            // the rest is there
    size_t file;              // index of its reader
    const char *name;         // of its file, without the folder
    int64_t row, start, end;
    struct nvtxt_slice text;       // what it is called
    const struct store_parent *up; // what it is under if no range of its lane is around it, or NULL
};

// Reads the parents of a store whose files these readers have opened; they are borrowed.
// `*parents` is NULL when nothing has a parent. After a failure `*failed` is the index of the
// reader that has the sentence.
int store_parents_load(struct store_parents **parents, struct store_reader *const *readers,
                       size_t count, size_t *failed);
void store_parents_free(struct store_parents *parents); // NULL is fine

// Whether a circle was cut.
bool store_parents_were_cut(const struct store_parents *parents);

// The parent of a row, whose file's reader is open, if no range of its lane is around it; NULL: it
// has none. Quick for rows in their order. A failure is reported by the next chunk.
const struct store_parent *store_parents_of(struct store_parents *parents, size_t file, int64_t row,
                                            int64_t source_id);

// The range of a row as a parent; NULL: nothing has it as a parent.
const struct store_parent *store_parents_at(const struct store_parents *parents, size_t file,
                                            int64_t row);

// The ids of the sources in a file of which something has a parent. They live until the end.
const int64_t *store_parents_sources(const struct store_parents *parents, size_t file,
                                     size_t *count);
