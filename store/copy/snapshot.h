// SPDX-License-Identifier: Apache-2.0
//
// A snapshot of a segment while the daemon writes it: one plain file, complete in itself, that gets
// its name when it is on the disk. It is made inside one read transaction: the writer goes on, and
// its log grows meanwhile.
//
// May be called in the process that writes the store. So nothing but SQLite opens the store's file,
// because closing any other descriptor of it would drop the locks of the whole process
// (https://www.sqlite.org/howtocorrupt.html, 2.2).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/copy/watch.h"

// Mode and group of `file` are those of the segment; it must not exist. Returns STORE_DONE with its
// size, a failure as of store_open() with a sentence in `error`, or STORE_STOPPED, without a
// sentence; after a failure nothing is left.
int store_snapshot(const char *segment, const char *file, const struct store_copy_watch *watch,
                   int64_t *bytes, char *error, size_t size);

// The same into the empty regular file behind `fd`, which may be read and written and stays the
// caller's. What is in it after a failure is of no use.
int store_snapshot_into(const char *segment, int fd, const struct store_copy_watch *watch,
                        int64_t *bytes, char *error, size_t size);
