// SPDX-License-Identifier: Apache-2.0
//
// The files that are known: those in watched folders, and those that the store knows. Found by
// device and inode. Owns no memory but its table's; the watch frees what is in it. Loop thread
// only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct follow;
struct follows;
struct watch;
struct watch_stat;

void follows_deinit(struct follows *follows); // of the table; a zeroed struct is an empty one

// A file that is not known yet. NULL when memory is short.
struct follow *follows_new(struct watch *watch, const char *path, int64_t device, int64_t inode);
void follows_forget(struct follow *follow); // frees it; its source is not in memory

// The file of a name, as looked at just now, which is new when it is not known. A file system may
// have another number since the machine was started again: a file that nobody saw since then is
// known by inode and path, and gets the number that its file system has now. NULL when memory is
// short.
struct follow *follows_find(struct watch *watch, const char *path, const struct watch_stat *stat);

// An older file whose number was given to a newer one is not there any more: it is not found again.
void follows_retire(struct follows *follows, int64_t device, int64_t inode);

// A look at a file that was seen before; at one that has a new name.
void follows_see(struct follow *follow, const struct watch_stat *stat);
void follows_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat);
void follows_lose_name(struct follow *follow, bool replaced);
