// SPDX-License-Identifier: Apache-2.0
//
// One file of a spool: lines of a session in their order, on disk. This module knows its bytes; the
// spool knows which files there are and which may be removed.
//
// Format, integers little-endian:
//   bytes 0-63   magic "nvtxtspl", version (4 bytes, 1), session id (40, filled with NULs), number
//                of the first line (8), CRC-32C of bytes 0-59
//   bytes 64-79  how many lines were dropped after the last record (8 bytes), 0 (4), CRC-32C of
//                bytes 64-75; all 0 at first. Written again in place, so that a drop can be
//                written down also when the disk is full
//   from 80 on   records: bytes of the lines (4), number of lines (4), CRC-32C of the number of the
//                record's first line (8) and of these 8 bytes and of the lines (4); the lines as
//                they go over the socket, each with its LF
// A later version keeps bytes 0-11 and the checksum of the first 60, so that a program of an older
// one tells its segments from damaged ones.
// A record is written with one call. A process that is killed leaves whole records and perhaps the
// beginning of one; after a loss of power the checksums tell which records are whole. They cover
// the line number, so that a record of another place or file is not taken for one.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "protocol/base/limits.h"

// CRC-32C (Castagnoli, RFC 3720), eight bytes a step. The caller has the tables, so there is no
// global state; to make them takes microseconds.
struct crc32c {
    uint32_t table[8][256];
};

void crc32c_init(struct crc32c *crc);

// The checksum of `len` bytes after others whose checksum is `before` (0: of these alone).
uint32_t crc32c_add(const struct crc32c *crc, uint32_t before, const void *data, size_t len);

// The remainder (the complement of a checksum) that so many zero bytes turn into `rest`.
uint32_t crc32c_back(uint32_t rest, size_t zeros);

// ---- A segment ----------------------------------------------------------------------------------

#define SEGMENT_HEAD_BYTES 80u
#define SEGMENT_RECORD_BYTES 12u // before the lines of a record

enum {
    SEGMENT_END = 1,   // after the last record
    SEGMENT_DAMAGED,   // these bytes are no whole record, or no segment's head
    SEGMENT_NEWER,     // the head is of a newer version
    SEGMENT_CUT,       // a writer that died leaves such bytes after its last whole record
    SEGMENT_NO_DISK,   // the disk is full
    SEGMENT_NO_QUOTA,  // the user's share of the disk is full
    SEGMENT_NO_GROWTH, // this file may not grow (ulimit -f)
};

// What `error`, the errno of a call that makes or writes a segment, means: SEGMENT_NO_… or -errno.
int segment_write_error(int error);

#define SEGMENT_VERSION 1u

struct segment_head {
    uint32_t version; // of the head that was read; not used to write one
    char session[NVTXT_SESSION_ID_BYTES + 1];
    uint64_t first; // number of the first line
    uint64_t lost;  // lines dropped after the last record
};

// Writes the whole head. Returns as segment_write_error(), or 0.
int segment_write_head(int fd, const struct crc32c *crc, const struct segment_head *head);

// Writes the number of dropped lines in place. Returns as segment_write_error(), or 0.
int segment_write_lost(int fd, const struct crc32c *crc, uint64_t lost);

// Returns 0, SEGMENT_CUT (shorter than a head, or only zeros), SEGMENT_DAMAGED, SEGMENT_NEWER with
// nothing but `version`, or -errno.
int segment_read_head(int fd, const struct crc32c *crc, struct segment_head *head);

// Appends whole lines, the first of which is `first`, at offset `at`. Returns 0, or as
// segment_write_error() after the file was cut to `at` again as far as that works.
int segment_append(int fd, const struct crc32c *crc, uint64_t at, uint64_t first, const char *data,
                   size_t len, uint32_t lines);

// Reads one record after the other through a buffer.
struct segment_reader {
    int fd;        // borrowed
    uint64_t at;   // offset of the next record
    uint64_t line; // number of its first line
    char *data;    // owned: bytes of the file from data_at on
    uint64_t data_at;
    size_t data_len, data_cap;
};

struct segment_record {
    const char *data; // whole lines; good until the next call on the reader
    size_t len;
    uint32_t lines;
};

// Begins at `at`, where the record that begins with `line` stands. Keeps the buffer's memory.
void segment_reader_start(struct segment_reader *reader, int fd, uint64_t at, uint64_t line);
void segment_reader_deinit(struct segment_reader *reader); // zeroed ones are fine

// Reads the next record and moves on. Returns 0, SEGMENT_END, SEGMENT_DAMAGED (the reader stays at
// its beginning) or -errno.
int segment_next(struct segment_reader *reader, const struct crc32c *crc,
                 struct segment_record *record);

// What SEGMENT_DAMAGED in a session's last file means. Returns SEGMENT_CUT when the record there
// goes beyond the file's end or lacks blocks that were never written, or when the file was about to
// begin anew; SEGMENT_DAMAGED when the record is whole but for what has changed, or a whole record
// with later lines follows; or -errno. The reader must be started again after it.
int segment_judge(struct segment_reader *reader, const struct crc32c *crc);
