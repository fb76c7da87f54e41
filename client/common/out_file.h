// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: it is written under a temporary name beside its place
// and renamed at the end. For stores: the files that SQLite keeps beside a database are handled
// too.
#pragma once

#include <limits.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "protocol/base/slice.h"

struct term;

struct out_file {
    const char *path;    // where it will be; borrowed
    char temp[PATH_MAX]; // where it is written; "" when there is nothing to remove
    bool replace;        // an older store may stand at `path`
};

// True when the first bytes are those of a database, or the file is empty.
bool out_file_is_database(const char *path);

// Chooses a temporary name beside `path`. False, and "", when it is too long.
bool out_file_name_temp(char temp[PATH_MAX], const char *path);

// Checks that a store can be put at `path` and chooses the temporary name; creates nothing. Refuses
// a file that exists (with `replace`: one that is no database), and a place with a journal beside
// it, because SQLite would play the journal into the new file.
enum outcome out_file_init(struct out_file *out, struct term *term, const char *path, bool replace);

// Removes what killed programs left for the same place: temporary files that nobody holds and
// nobody has written to for OUT_FILE_LEFT_S.
#define OUT_FILE_LEFT_S 60
void out_file_sweep(const struct out_file *out);

// Holds the temporary file, once it exists, so that no other program removes it. Returns a
// descriptor to close when the file has its name or is discarded, or -1.
int out_file_hold(const struct out_file *out);

// Puts the finished file in its place and onto the disk. The temporary file is gone in any case.
enum outcome out_file_publish(struct out_file *out, struct term *term);

// The name of a file that was put in its place goes onto the disk, where that works: the file is
// there in any case.
void out_file_sync_name(const char *path);

// Removes the temporary file. Fine when there is none.
void out_file_discard(struct out_file *out);

// Where a name that was given for output leads, in `path`: its links are followed, whether or not
// there is a file. Returns 0, -errno, or
// - OUT_FILE_STRANGER: there is a link of another user, who is not root, in a folder that others
//   may write to; `path` is the link, and it is not followed, whatever fs.protected_symlinks is;
// - OUT_FILE_OPEN: it is a descriptor of this process, such as /dev/stdout; `*fd` is its number.
enum { OUT_FILE_STRANGER = NVTXT_WRONG + 1, OUT_FILE_OPEN };
int out_file_resolve(const char *name, char path[PATH_MAX], int *fd);

// The permissions of a new file, after the umask.
uint32_t out_file_mode(void);

// Says why such a link is not followed.
enum outcome out_file_refuse_link(struct term *term, const char *name, const char *link);
