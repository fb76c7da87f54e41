// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process that records: one region, mapped privately, or as a file of a spool
// folder, from which another process can go on when this one is killed. It holds the rings of the
// threads, the tables of texts, domains, names and open ranges, and the window of lines that the
// daemon has not acknowledged.
//
// A pass of the sender changes nothing that counts until its last store. Everything that a pass
// moves stands twice, each with the number of the pass that wrote it; the one with the larger
// number that is not above `head->pass` is in force. So at any instruction at which the process
// dies the file says which records are lines already. Memory of a file is touched only after the
// kernel has given it, because a full file system would answer with SIGBUS.
//
// The layout is for one version of the library and for this machine; another one is refused.
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "lib/ring/clock.h"
#include "protocol/base/limits.h"

#define REGION_MAGIC "nvtxtrng"
#define REGION_VERSION 2u

#define REGION_CHUNK_RINGS 64u // rings are made so many at a time
#define REGION_CHUNKS 64u
#define REGION_RINGS (REGION_CHUNK_RINGS * REGION_CHUNKS) // live threads
#define REGION_DOMAINS 4096u
#define REGION_STRINGS 65536u
#define REGION_TEXT_BYTES (24u << 20) // of all strings, domains and names together
#define REGION_NAMES 65536u
#define REGION_OPEN 65536u // start/end ranges open at once
#define REGION_LATE 4096u  // ends that found no room in their ring
#define REGION_PAGE 4096u
#define REGION_PATH 640u      // bytes of the path of its file, with the NUL
#define REGION_PREAMBLE 2048u // the first lines of a session and two settings

// Why a call was not recorded, as `#nvtxt-lost` says it.
enum region_loss { LOSS_FULL, LOSS_THREADS, LOSS_DEPTH, LOSS_REENTRANT, LOSS_UNSUPPORTED, LOSSES };
extern const char *const region_loss_names[LOSSES];

// Where the reader of a ring is, by the pass that moved it there.
struct ring_tail {
    _Atomic uint64_t pass, at;
};

enum ring_state { RING_FREE, RING_LIVE, RING_LEFT }; // LEFT: its thread has ended

// A position counts bytes over all laps of the ring; the offset in it is position % ring_bytes. The
// first line of the cache is the writer's.
struct ring_head {
    _Atomic uint64_t at; // the writer's position: records before it are whole
    _Atomic uint32_t tid;
    _Atomic uint32_t state;    // enum ring_state
    _Atomic uint64_t lap_from; // where the writer's last lap ended; 0: nowhere yet
    char pad[40];
    struct ring_tail tails[2];
    _Atomic uint64_t freed;   // the tail of the last pass that was committed, for the writer
    _Atomic uint64_t granted; // bytes of the ring that may be touched
    char pad2[16];
};

struct region_text { // bytes in the area of texts, which never move
    uint32_t at, len;
};

// What a resource, counter, category, thread or the process is called. `version` grows by two with
// each new text and is odd while it is written; `sent[]` says of which one there are lines.
struct region_name {
    _Atomic uint32_t version;
    uint16_t kind, domain; // enum name_kind of catalog.h
    uint64_t key;
    struct region_text what, text, json; // what: kind of a resource, name of a counter, or who
                                         // named the thread ("": the program)
    struct {
        _Atomic uint64_t pass;
        uint32_t version, unused;
    } sent[2];
};

// A start/end range whose start is a line: open in pass N when opened <= N and N < closed.
struct region_open {
    _Atomic uint64_t id, opened, closed;
    uint64_t time; // of its start, in ns
};

// An end that had no room in its ring.
struct region_late {
    uint64_t id, time;
    _Atomic uint64_t given; // grows by two when the entry is written; odd while it is
    _Atomic uint64_t taken; // the pass that took it, else UINT64_MAX
    uint64_t looked_at;     // what `given` was when a pass found no start for it
};

// What a pass moves as a whole.
struct region_state {
    uint64_t lines;       // lines in the window and before it, over the whole session
    uint64_t end;         // position behind the last byte of the window
    uint64_t acked;       // position behind the last line that was acknowledged
    uint64_t acked_lines; // its number
    uint64_t told[LOSSES];
    struct clock_point clock; // the last point of the clock
    double clock_rate;        // ns of a tick; 0: unknown
};

// The session that the lines go to. One that took the place of another begins with lines of its
// own, which are not in the window.
struct region_session {
    char id[NVTXT_SESSION_ID_BYTES + 4]; // "": none yet
    int64_t first; // number of a line of the window less its number in this session
    uint32_t preamble_bytes, preamble_lines;
    char preamble[REGION_PREAMBLE];
};

struct region_head {
    char magic[8];
    uint32_t version, head_bytes;
    uint32_t uid, process; // whose calls these are
    _Atomic uint32_t pid;  // the same, until the process has ended in order: then 0
    uint32_t pid_space;    // number of the name space of `pid`; 0: not known
    _Atomic uint32_t expiry;
    _Atomic uint32_t session;          // sessions[session & 1] is in force
    uint64_t ring_bytes, window_bytes; // powers of two
    char name[256];                    // what the store calls the source; ends with NUL
    char socket[108];                  // of the daemon that it speaks to; "" when it has found none
    uint16_t is_tsc;                   // the clock of the records
    uint16_t levels;                   // payloads of marks are severities
    _Atomic int64_t offset_ns;         // CLOCK_REALTIME less the clock of the records
    _Atomic uint32_t strings, domains, names, chunks;
    _Atomic uint64_t text_bytes;
    _Atomic uint64_t lost[LOSSES]; // calls that were dropped
    _Atomic uint64_t pass;         // the last one that was committed
    struct region_state states[2]; // of pass N: states[N & 1]
    struct region_session sessions[2];
    // Version 1 had no more: its files, whose zeros stand here, are read as well.
    char parent[NVTXT_PARENT_BYTES + 1]; // token of its parent, with a NUL; "": none
};

struct region {
    char *base; // the fixed part
    struct region_head *head;
    struct ring_head *rings;
    struct region_text *strings, *domains;
    struct region_name *names;
    struct region_open *opens;
    struct region_late *lates;
    char *text, *window;
    _Atomic(char *) chunks[REGION_CHUNKS];
    bool is_file; // else private memory
    char path[REGION_PATH];
    dev_t device; // of the file
    ino_t inode;
    uint64_t chunk_at;  // offset of the first chunk in the file
    uint64_t chunk_len; // bytes of each chunk: the head, which says it too, may not be there
    uint64_t window_at; // of the window
    _Atomic uint64_t window_granted;
    _Atomic uint64_t closed;     // start/end ranges whose end a pass has found
    _Atomic uint64_t granted[6]; // bytes of each table that may be touched
};

// Makes a region: a file `path`, which must not exist and is no relative path, or private memory
// (`path` NULL). No descriptor stays open. Sizes are powers of two. Returns 0 or -errno; then
// nothing is left behind. On success the head is filled but for session, name, socket and offset.
int region_make(struct region *region, const char *path, uint64_t ring_bytes,
                uint64_t window_bytes);

// How long the file of such a region is.
uint64_t region_file_bytes(uint64_t ring_bytes, uint64_t window_bytes);

// The number of this process's name space of process ids; 0 when it cannot be known.
uint32_t region_pid_space(void);

// The session in force; what takes its place, by one store.
const struct region_session *region_session(const struct region *region);
void region_set_session(struct region *region, const struct region_session *session);

// Gives the memory back, not the file.
void region_unmap(struct region *region);

// In a child, whose parent's region is not there: private memory of zeros at its addresses, for a
// call that goes on as in the parent. No record fits into a ring of it.
void region_cover(const struct region *region);

// The data of a ring, or NULL when its chunk is not there.
char *region_ring(const struct region *region, uint32_t ring);

// Makes the chunk of a ring. Returns 0 or -errno. Under the caller's lock.
int region_chunk(struct region *region, uint32_t chunk);

// Puts tables that the caller owns in the place of the region's own, which a file cannot.
struct region_tables {
    struct region_text *strings, *domains;
    struct region_name *names;
    char *text;
};
void region_borrow(struct region *region, const struct region_tables *tables);

// Lets the first `bytes` bytes of a ring, or of the window, be touched. Returns 0, or -errno when
// there is no room: then it goes on with what was granted before. A ring may be given more by its
// writer and by the sender at once.
int region_grant_ring(struct region *region, uint32_t ring, uint64_t bytes);
int region_grant_window(struct region *region, uint64_t bytes);

// The tables that grow entry by entry.
enum region_table {
    TABLE_STRINGS,
    TABLE_DOMAINS,
    TABLE_NAMES,
    TABLE_OPENS,
    TABLE_LATES,
    TABLE_TEXT
};

// Lets the first `count` entries (of TABLE_TEXT: bytes) be touched. Returns 0 or -errno. Under the
// lock of who writes the table.
int region_grant(struct region *region, enum region_table table, uint64_t count);

// Of two places that passes `a` and `b` wrote: which one counts when pass `done` is the last that
// was committed. The other one is written next.
static inline int region_in_force(uint64_t a, uint64_t b, uint64_t done) {
    return a > done || (b <= done && b > a);
}

// For who goes on with the region of another process: what a pass wrote that was not committed must
// not count when the next one is.
void region_drop_unfinished(struct region *region);

// The tail of a ring as of the last committed pass, and the one that the next pass writes.
uint64_t region_tail(const struct region *region, uint32_t ring);
void region_move_tail(struct region *region, uint32_t ring, uint64_t at);

// The state in force.
struct region_state region_state(const struct region *region);

// Puts `state` in force, and with it everything that was moved under the next pass's number.
void region_commit(struct region *region, const struct region_state *state);
