// SPDX-License-Identifier: Apache-2.0
//
// The files that are known: those in watched folders, and those that the store knows. They are
// found by device and inode; folders say here which names they gain and lose. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct follow;
struct known_files;
struct watch;
struct watch_stat;

void known_files_deinit(struct known_files *known); // frees the table, when it is empty

// A file that is not known yet. NULL when memory is short.
struct follow *known_files_add(struct watch *watch, const char *path, int64_t device,
                               int64_t inode);
void known_files_forget(struct follow *follow); // frees it; its source is not in memory

// The file that a look has shown at this path; adds it when it is not known. NULL when memory is
// short. A file system may have another number after a restart of the machine: a file that was not
// seen since then is found by inode and path, and gets the new number.
struct follow *known_files_find_or_add(struct watch *watch, const char *path,
                                       const struct watch_stat *stat);

#define KNOWN_EMPTY_MOST 4096 // empty files of all folders; each costs about 700 bytes

// Whether an empty file that a look has shown is left out, because there are so many: nothing is
// kept of it until a look shows it with bytes.
bool known_files_pass_over(const struct known_files *known, const struct watch_stat *stat);

// A newer file has this number, so an older one is gone: it is not found any more.
void known_files_retire(struct known_files *known, int64_t device, int64_t inode);

// A look showed a file under a name that it had, or that is new to it; a name is gone (`replaced`:
// another file has it).
void known_files_see(struct follow *follow, const struct watch_stat *stat);
void known_files_gain_name(struct follow *follow, const char *path, const struct watch_stat *stat);
void known_files_lose_name(struct follow *follow, bool replaced);
