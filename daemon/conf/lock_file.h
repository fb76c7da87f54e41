// SPDX-License-Identifier: Apache-2.0
//
// Lock files: `<path>.lock` lets only one daemon use a socket's path or a store. Called at the
// start, before anything of the path is opened, and by the writer when it has to make a new store.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Locks `<path>.lock` for this process; `what` is a word for `path`. Returns a descriptor to keep
// open, or -1 with a sentence in `why` when another process has the lock or the file cannot be
// created.
int lock_file_take(const char *path, const char *what, char *why, size_t size);

// Whether `store` may be used: it may not be a segment of a store that another daemon has locked.
// Returns 0, or an exit status with a sentence in `why`.
int lock_file_check_segment(const char *store, char *why, size_t size);

bool lock_file_is_ours(const char *path, int fd); // whether the lock file is still that of `fd`
void lock_file_release(const char *path, int fd); // removes the lock file; does nothing for fd -1
