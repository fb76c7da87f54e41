// SPDX-License-Identifier: Apache-2.0
//
// What the modules of a spool share: spool (lines, bounds), spool_dir (a session's files as a
// whole), session_file (who has the session) and recover (segments that somebody left).
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include "client/spool/spool.h"

#define SESSION_SUFFIX ".session"
#define SEGMENT_SUFFIX ".segment"
#define SPOOL_NAME_BYTES 80u // of a file's name

// ---- Lines (spool.c)

void spool_fault(struct spool *spool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void spool_segment_name(const struct spool *spool, uint64_t number, char *name, size_t size);
int spool_begin(struct spool *spool); // the first segment; returns as spool_create()
int spool_bad_record(struct spool *spool, uint64_t number, uint64_t at, const char *what);

// ---- The session file (session_file.c)

void spool_session_name(const struct spool *spool, char *name, size_t size);

// Makes the session file, under its name or the hidden one, and locks it. Returns 0 or -errno with
// `fault`.
int session_file_write(struct spool *spool, const struct nvtxt_hello *hello);
int session_file_write_hidden(struct spool *spool, const struct nvtxt_hello *hello);

// Puts the hidden file under the session's name, in place of an older one. Returns 0, or -errno
// when the older one stays.
int session_file_show(struct spool *spool);
void session_file_drop(struct spool *spool); // removes the hidden one

// Takes the session. Returns 0, SPOOL_BUSY, SPOOL_OTHERS, SPOOL_BAD or -errno.
int session_file_lock(struct spool *spool);

// Reads and checks the file. Returns 0, SPOOL_BAD or -errno.
int session_file_read(struct spool *spool, struct nvtxt_hello *hello);

// Syncs a folder as far as its file system can. Returns 0 or -errno.
int spool_sync_folder(int fd);

// ---- Segments that are there (recover.c)

// Lists the segments, by number only. Returns 0 or -errno with `fault`.
int spool_find_segments(struct spool *spool);

// Each segment must be ours before one is read. Returns 0, SPOOL_OTHERS or -errno.
int spool_check_owners(struct spool *spool);

// Finds, checks and reads all of them. Returns 0, SPOOL_OTHERS, SPOOL_BAD or -errno.
int spool_read_segments(struct spool *spool);

// The next entry, or NULL with `*r` -errno unless that was the last one.
struct dirent *spool_next_entry(DIR *list, int *r);

// The clause for what a newer version has written, in `what`.
#define SPOOL_NEWER_BYTES 128
const char *spool_newer(uint64_t version, uint32_t known, char what[SPOOL_NEWER_BYTES]);

// Write the sentence, and return what it says: `r`, or SPOOL_OTHERS.
int spool_refuse(struct spool *spool, int r);
int spool_leave_to_owner(struct spool *spool, const char *name, uid_t uid);
