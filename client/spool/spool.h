// SPDX-License-Identifier: Apache-2.0
//
// client/spool: the lines of a session that are not acknowledged, on disk. So a client can take
// input while the daemon is away, and one that is killed loses nothing that it wrote here. spool
// and spool_dir own the files of one session, spool_segment and crc32c know their bytes. One
// thread. The room sends nothing and prints nothing: its caller asks for lines, and shows its
// sentences.
//
// The files, all in one folder that any number of senders may share:
//   <session>.session         text: "nvtxt-spool 1", then the hello of the session, a line each;
//                             and "renewed", another session id and a line number, when the lines
//                             after that one belong to a session of that id. Whoever sends the
//                             session holds an exclusive flock(2) on this file
//   <session>.<n>.segment     lines, in the order of n; see spool_segment.h
// The session file appears whole and locked under its name (it is renamed from .<session>.new), so
// when it can be locked, nobody alive has the session. Lines are appended to the last segment. A
// segment whose lines are all acknowledged is removed, or begun anew if it is the last one. When
// the session has ended everything is removed, the session file last.
//
// The caller drops lines that have no room, and the last segment's head counts them in place. Such
// a loss is open, and grows, until there is room again. Then it is settled: it has the line number
// after the segment's last line, is the line "#nvtxt-lost" there, and the next line begins a new
// segment. An open loss is not given out: what was sent once must be the same each time.
//
// A process that is killed loses nothing that spool_append() returned 0 for: the page cache has it.
// A loss of power may take what was not synced with spool_sync(). With `lasting` it takes no line
// of a segment before the last one, nor the session file, nor the folder. After a failed sync all
// calls that write fail: the system forgets such pages, and would call the next sync a success.
#pragma once

#include <stdbool.h>

#include "client/spool/spool_segment.h"
#include "protocol/base/buf.h"
#include "protocol/wire/hello.h"

#define SPOOL_LIMIT ((uint64_t)1 << 30)       // bytes of a session's files by default
#define SPOOL_LIMIT_LEAST ((uint64_t)4 << 20) // room for a few segments with long lines
#define SPOOL_LINE_MOST ((size_t)16 << 20)    // bytes kept of a line, whatever the limit

enum {
    SPOOL_NONE = 1,  // no line there (yet)
    SPOOL_FULL,      // the limit is reached, or the disk is full (`fault` says so then)
    SPOOL_BUSY,      // another process has the session, or it has just ended
    SPOOL_OTHERS,    // it belongs to another user: `fault` says to whom
    SPOOL_NO_DISK,   // only inside: the disk, or the user's share of it, is full
    SPOOL_NO_GROWTH, // only inside: this file may not grow
    SPOOL_BAD,       // the files are not what they should be: `fault` names file and place
};

struct spool_segment {
    uint64_t number; // in its name
    uint64_t first;  // number of its first line
    uint64_t lines;  // in its records
    uint64_t lost;   // dropped after them
    uint64_t size;   // bytes of the file
};

struct spool {
    char *dir; // owned; as given, for sentences
    int dir_fd;
    int session_fd; // holds the lock
    char session[NVTXT_SESSION_ID_BYTES + 1];
    char renewed[NVTXT_SESSION_ID_BYTES + 1]; // the session of lines after `base`; "": this one
    uint64_t base;
    uint64_t limit;
    bool lasting; // its lines are to outlive a loss of power
    struct crc32c crc;

    struct spool_segment *segments; // owned; at least one, but for a session that holds nothing
    size_t count, cap;
    uint64_t stray;     // number of a last file without a head; 0: there is none
    uint64_t used;      // bytes of all of them, at least a block each
    uint64_t last;      // the last line, without an open loss; first - 1 when there is none
    uint64_t acked;     // the last line that this process knows to be acknowledged
    uint64_t file_most; // the most bytes of a file that the system allows; 0: not known
    bool open_loss;
    bool disk_full;   // the last append failed for want of room on the disk
    bool unsynced;    // a sync failed: what is on the disk is not known
    bool damaged;     // a record of it is not what was written
    uint64_t dropped; // lines, while this process has it
    int tail_fd;
    bool dirty, dirty_dir; // since the last sync

    struct segment_reader reader;
    int reader_fd;
    uint64_t reader_number; // of the segment; 0: none
    struct segment_place {  // the place of a record that was appended, not read
        uint64_t number, at, line;
    } seen;
    struct nvtxt_buf lost_line;
    char fault[1024]; // a sentence for a result < 0, SPOOL_BAD, and for a damaged tail
};

// ---- A session begins and ends

// A new session's spool in `dir`, which is made (0700) when it is missing. `lasting`: the folder
// and the session file are on the disk when this returns 0. Returns 0, SPOOL_FULL (the disk is) or
// -errno, both with `fault`. In any case the spool can be closed.
int spool_create(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                 uint64_t limit, bool lasting);

// Takes over a session that nobody has; `hello` is what it was created with. A record that is cut
// at the end is left out: `fault` is "" or says so in one sentence. Returns 0, SPOOL_NONE when
// there is nothing to send, SPOOL_BUSY, SPOOL_OTHERS, SPOOL_BAD or -errno.
int spool_open(struct spool *spool, const char *dir, const char *session,
               struct nvtxt_hello *hello);

// A spool for lines that another kind of file has, of a session that a process began which is gone;
// the first one is `first`. The lines are nobody's before spool_publish(): what a process leaves
// that is killed before that, the next spool_adopt() of the session removes. Only one process at a
// time may adopt a session. Returns 0; SPOOL_BUSY when there is a spool of this session; SPOOL_FULL
// or -errno, both with `fault`.
int spool_adopt(struct spool *spool, const char *dir, const struct nvtxt_hello *hello,
                uint64_t first);

// All lines are there: spool_open() finds them once the spool is closed. Returns 0, or -errno with
// `fault`.
int spool_publish(struct spool *spool);
void spool_abandon(struct spool *spool); // instead of it: removes what was adopted

// The lines after `base` will be sent in the session `session`; this is on the disk when the
// function returns 0. Otherwise it returns -errno with `fault`.
int spool_renew(struct spool *spool, const char *session, uint64_t base);

// Whether lines go into another session than the one that the spool was made for. NULL: no.
static inline bool spool_is_renewed(const struct spool *spool) {
    return spool && *spool->renewed;
}

// The sessions of a folder, in the order of their ids, also those of which there are only segments:
// `*sessions` is an array of strings to free, and it itself. Returns their number or -errno.
int spool_list(const char *dir, char ***sessions);

// Whether all its files are where they were made: somebody may have removed or moved them.
bool spool_is_there(const struct spool *spool);

// Removes all files: the session has ended. Returns 0, or -errno with `fault`; what is left can be
// resumed.
int spool_remove(struct spool *spool);

void spool_close(struct spool *spool); // the files stay

// ---- Lines

// Appends whole lines, at most 2^32 - 1 bytes. Returns 0, SPOOL_FULL or -errno with `fault`.
int spool_append(struct spool *spool, const char *data, size_t len, uint32_t lines);

// There was no room on the disk, and acknowledgements will not make any: fewer lines may fit.
bool spool_wants_less(const struct spool *spool);

// The caller has dropped lines that would stand after the last one. Returns 0; or SPOOL_FULL (the
// disk is) or -errno, both with `fault`, when it could be noted in memory only.
int spool_lose(struct spool *spool, uint64_t lines);

// There may be room again: settles an open loss if there is. With `over` no line will come any
// more, and the loss is settled whether there is room or not. Returns 0 or -errno.
int spool_settle(struct spool *spool, bool over);

// The lines after line `after`, as many as are at hand; good until the next call. Returns 0,
// SPOOL_NONE, SPOOL_BAD or -errno.
int spool_next(struct spool *spool, uint64_t after, struct segment_record *record);

// The caller has what was appended last, and will not ask for it.
void spool_seen(struct spool *spool);

void spool_ack(struct spool *spool, uint64_t line); // lines up to here are not needed any more

// Puts all that was appended onto the disk. Returns 0, or -EIO with `fault`; after that always
// -EIO.
int spool_sync(struct spool *spool);

// The first line that is held is this one; `last` + 1 when none is.
uint64_t spool_first(const struct spool *spool);
