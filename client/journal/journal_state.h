// SPDX-License-Identifier: Apache-2.0
//
// client/journal: entries of systemd's journal as lines of NVTXT, each exactly once. The state is
// the file that remembers across restarts which line of a session stands for which entry, the
// reader knows libsystemd, the lines are what an entry becomes. The room owns the state file and
// the open journal. It runs on the main thread of nvtxt-send and does not send: client/send does.
//
// The state file has the session and places: after this line of the session, this entry is in. The
// places of lines are on the disk before the lines are sent. So, when the daemon says how many
// lines it has, there is a place for that number, whenever we or the machine stopped. Places of
// acknowledged lines, but for the last one, are forgotten.
//
// The file is text: a head, the session, and a place a line. Places are added at its end; now and
// then, and when a session begins or goes on, a new file replaces it. A last line that is not whole
// was cut by a crash, and nothing of what it stands for was sent. Who uses the file holds an
// exclusive flock(2) on it.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/text/forms.h"

#define JOURNAL_PLACES 8192u     // known at a time: more lines are not sent unacknowledged
#define JOURNAL_CURSOR_SIZE 256u // of a cursor with its NUL; systemd's have about 140 bytes

struct journal_place {
    uint64_t line;  // of the session, from 0
    uint64_t taken; // 0: all of the entry is in; else so many bytes of its message
    uint64_t usec;  // time of the entry, since 1970; without a cursor where to begin, 0: the oldest
    char cursor[JOURNAL_CURSOR_SIZE]; // of the entry; "": none
};

struct journal_state {
    const char *path; // borrowed; NULL: nothing is kept
    int fd;           // owned, locked; -1: none
    uint64_t size;    // of the file
    char session[NVTXT_UUID_SIZE];
    struct journal_place *places; // owned; a ring of JOURNAL_PLACES
    size_t first, count;          // never empty once a session has begun
    struct nvtxt_buf unwritten;   // places that are not in the file yet
    char fault[PATH_MAX + 256];   // a sentence, after NVTXT_WRONG or a negative errno
};

enum { JOURNAL_STATE_NEW = NVTXT_WRONG + 1, JOURNAL_STATE_BUSY };

// Opens the file, makes it if there is none, and reads the places. Returns 0; JOURNAL_STATE_NEW: no
// session is in it, the caller begins one; JOURNAL_STATE_BUSY: another process uses it;
// NVTXT_WRONG: it is no such file, or damaged; or -errno. `path` NULL is always new. In any case it
// can be closed.
int journal_state_open(struct journal_state *state, const char *path);
void journal_state_close(struct journal_state *state);

// Begins a session, of no lines, at this place. It is on the disk when this returns 0, else -errno.
int journal_state_begin(struct journal_state *state, const char session[NVTXT_UUID_SIZE],
                        const struct journal_place *place);

// The session goes on after this line: forgets all places but the last one that is not after it.
// That one is of this line now. On the disk when this returns 0. Returns -errno, or NVTXT_WRONG
// when no place is so early.
int journal_state_go_on(struct journal_state *state, uint64_t line);

// The last place that is known, and the first.
const struct journal_place *journal_state_last(const struct journal_state *state);
const struct journal_place *journal_state_first(const struct journal_state *state);

bool journal_state_has_room(const struct journal_state *state);

// Adds a place after the last one; only when there is room. journal_state_sync() puts it onto the
// disk. Both return 0 or -errno.
int journal_state_add(struct journal_state *state, const struct journal_place *place);
int journal_state_sync(struct journal_state *state);

// Lines up to this one are committed.
void journal_state_acked(struct journal_state *state, uint64_t line);
