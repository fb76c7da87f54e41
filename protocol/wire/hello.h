// SPDX-License-Identifier: Apache-2.0
//
// What a client says on the data socket beside its NVTXT: the hello line that begins a session, and
// the lines that report dropped lines or give the next range a key. All of them are comments of the
// language that begin with "#nvtxt-". Their members: nvtxt-protocol(7). A reader ignores members
// that it does not know.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "protocol/base/limits.h"
#include "protocol/base/slice.h"
#include "protocol/lang/timebase.h"

#define NVTXT_PROTOCOL_VERSION 1
#define NVTXT_NVTX_VERSION 1                // of the extension `nvtx`
#define NVTXT_HELLO_PREFIX "#nvtxt-session" // then a blank and a JSON object
#define NVTXT_HELLO_BYTES 4096              // longest hello line, without its LF
#define NVTXT_LOST_PREFIX "#nvtxt-lost"     // then a blank and a JSON object; counted as a line
#define NVTXT_LOST_BYTES 256                // longest such line, without its LF
#define NVTXT_RANGE_PREFIX "#nvtxt-range"   // then a blank and a JSON object; counted as a line
#define NVTXT_RANGE_BYTES 512               // longest such line, without its LF
#define NVTXT_END_LINE "#nvtxt-end"         // the last line of a session, not counted
#define NVTXT_RESERVED_PREFIX                                                                      \
    "#nvtxt-"                        // a client puts a blank before lines of its user that
                                     // begin so
#define NVTXT_SOURCE_NAME_BYTES 1024 // kept of "name" and "client" of a hello

struct nvtxt_hello {
    int64_t protocol;
    // As the client wrote it, with small letters: 8-4-4-4-12 hexadecimal digits or 32 of them.
    // Ids are compared as text: the two spellings of one UUID are two ids.
    char session[NVTXT_SESSION_ID_BYTES + 1];
    char client[NVTXT_SOURCE_NAME_BYTES + 1]; // "" when not given
    char name[NVTXT_SOURCE_NAME_BYTES + 1];   // "" when not given
    bool is_probe;                            // asks who is there; its `session` may be ""
    bool has_pid;
    uint32_t pid;
    struct nvtxt_mapping mapping; // NONE when not given
    bool escapes;                 // default false, true with nvtx
    bool levels;                  // default false
    int64_t nvtx;                 // the highest version of the extension; 0: not asked for
    bool nvtx_optional;           // with nvtx: a daemon with escapes alone is good, too
    int64_t expiry;               // seconds; 0: not given
    bool diagnostics;             // default true
    bool has_acked;
    uint64_t acked;
    // The token of the range that all outermost events of the session have as their parent; "":
    // none. One that cannot be read has only its first bytes here, and is none.
    char parent[NVTXT_PARENT_BYTES + 1];
    bool bad_parent;
};

// True when a first line is a hello and not an ordinary comment: the prefix, then a blank or the
// end.
bool nvtxt_hello_is(struct nvtxt_slice line);

enum nvtxt_hello_result {
    NVTXT_HELLO_OK = 0,
    NVTXT_HELLO_MALFORMED = 1,
    NVTXT_HELLO_UNSUPPORTED = 2, // the protocol number of another version
};

// Reads a hello line (with its prefix, without LF). Returns an nvtxt_hello_result, with a sentence
// in `why` (valid UTF-8) unless it is OK; or -ENOMEM.
int nvtxt_hello_parse(struct nvtxt_slice line, struct nvtxt_hello *hello, char *why, size_t size);

// Reads what the first line of a file says about the file: `escapes` and `nvtx`. A session id is
// not needed then. Returns 1 for a hello that is well formed, 0 for anything else, which is a
// comment, or -ENOMEM.
int nvtxt_hello_of_file(struct nvtxt_slice line, bool *escapes, bool *nvtx);

// Appends the hello line with its LF. Bytes of a name that are not UTF-8 are replaced, and a name
// is cut where the line would grow past NVTXT_HELLO_BYTES. A bad parent is left out.
void nvtxt_hello_format(struct nvtxt_buf *out, const struct nvtxt_hello *hello);

// Lines that a client had to drop: `#nvtxt-lost {"lines":12,"reason":"full"}`. The report is a line
// of the session like any other: sent again after a break, it does not count twice.
struct nvtxt_lost {
    uint64_t lines;  // how many, at least 1
    char reason[32]; // small letters and hyphens
};

#define NVTXT_LOST_FULL "full" // nvtxt-send: neither the spool nor the memory window had room

// Returns 1 when a line (without LF) is such a report, 0 for anything else, which is a comment, or
// -ENOMEM.
int nvtxt_lost_parse(struct nvtxt_slice line, struct nvtxt_lost *lost);

// Appends the line with its LF.
void nvtxt_lost_format(struct nvtxt_buf *out, const struct nvtxt_lost *lost);

// A key for the range that the next line makes, if it makes a complete one:
// `#nvtxt-range {"key":"run","parent":"SESSION:KEY"}`. With a parent, that is the range's, not the
// one of the hello.
struct nvtxt_keyed {
    char key[NVTXT_KEY_BYTES + 1];
    char parent[NVTXT_PARENT_BYTES + 1]; // as in a hello
    bool bad_parent;
};

// Returns 1 when a line (without LF) is such a line, 0 for anything else, which is a comment, or
// -ENOMEM.
int nvtxt_keyed_parse(struct nvtxt_slice line, struct nvtxt_keyed *keyed);

// Appends the line with its LF; a bad parent is left out.
void nvtxt_keyed_format(struct nvtxt_buf *out, const struct nvtxt_keyed *keyed);
