// SPDX-License-Identifier: Apache-2.0
//
// The journal as a list of entries, one after the other. journal_systemd.c reads it with
// libsystemd; journal_none.c takes its place where nvtxt-send was built without. It owns the open
// journal and copies of the fields of one entry. A field that cannot be read, because the file is
// damaged, counts as one that is not there.
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/journal/journal_state.h"
#include "protocol/lang/names.h"

struct journal_reader;

// Which entries.
struct journal_wanted {
    const char *source;       // a file or folder; NULL: the journal of this machine
    const char *const *units; // borrowed; names as people write them
    size_t unit_count;        // 0: all
    bool has_levels;          // only entries of these levels, and none without a level
    struct nvtxt_level_span levels;
    bool follow; // those that come later, too
};

struct journal_entry {
    struct nvtxt_slice message;
    bool has_message;
    struct nvtxt_slice unit;    // or what wrote it when no unit did; may be empty
    struct nvtxt_slice machine; // the name of the other machine that it is from; empty: of this one
    int level;                  // NVTXT_LEVEL_NONE: it has none
    uint32_t pid, tid;          // 0: it has none
    uint64_t usec;              // since 1970
    const char *cursor;
};

// Opens the journal. Says what is wrong, or that only a part may be read, unless `quiet`, and goes
// on then. FORBIDDEN: no right to read; NO_INPUT: there is none; NO_DAEMON: there is no libsystemd.
enum outcome journal_reader_open(struct journal_reader **reader,
                                 const struct journal_wanted *wanted, bool quiet,
                                 struct term *term);
void journal_reader_close(struct journal_reader *reader); // NULL is fine

// What to poll for to hear of new entries, in `*fd` and `*events`, and until when by
// CLOCK_MONOTONIC in milliseconds; -1: no end. Asks the system to tell of new entries from now on.
// Returns 0 or -errno.
int journal_reader_watch(struct journal_reader *reader, int *fd, short *events, int64_t *until_ms);

// poll(2) returned: there may be new entries. Returns 0 or -errno.
int journal_reader_woken(struct journal_reader *reader);

enum { JOURNAL_NOTHING = NVTXT_WRONG + 1, JOURNAL_GAP, JOURNAL_UNLINKED };

// The place of the newest entry; where there is none, of this moment. Returns 0 or -errno.
int journal_reader_find_end(struct journal_reader *reader, struct journal_place *place);

// The next entry is the first wanted one after the place, or the entry of the place itself if only
// a part of its message was taken. Returns 0, JOURNAL_GAP: that entry is not in the journal any
// more, what comes next is the first one after its time; or -errno.
int journal_reader_seek(struct journal_reader *reader, const struct journal_place *place);

// The next entry; views are good until the next call. Returns 0; JOURNAL_NOTHING: there is none
// yet; JOURNAL_UNLINKED: there is one that its writer may not have finished, ask again soon, or
// when what journal_reader_watch() names has come; or -errno.
int journal_reader_next(struct journal_reader *reader, struct journal_entry *entry);

// ---- Who may read (client/journal/journal_rights.c) ---------------------------------------------

// Looks whether the files of the journal can be read. Returns DONE; FORBIDDEN or NO_INPUT after a
// sentence. `source` as in struct journal_wanted; `folders` up to a NULL: where the machine's may
// be.
enum outcome journal_rights_check(const char *source, const char *const *folders, bool quiet,
                                  struct term *term);
