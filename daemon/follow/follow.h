// SPDX-License-Identifier: Apache-2.0
//
// A followed file: from its bytes to the lines of a source. It is known by device and inode, not by
// name. How far it was read goes into the store with the events of what was read, so each line has
// its effect once, whatever is killed when.
//
// A file at rest takes a few hundred bytes: its descriptor is closed, and the state of its source
// is in the store only; it is loaded, like that of a session, when the file has changed. A source
// ends when its file has gone, was cut, or did not change for long. Its place and state are kept
// then: when the same file grows it goes on, and ranges that were open stay closed. Only a file
// that was cut, or another file with its name, begins a new source.
//
// At any time a follow is at rest, waits for a step (`ready`), or is `busy`: the thread pool or the
// writer works for it, and it must not be freed. Loop thread only, but for what watch_io does.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct follow;
struct watch;

// How a source ends: the file did not change for FileExpiry; its folder is no longer watched.
extern const char follow_idle[], follow_unwatched[];

// A file that was found or that the store knows; in no list yet. NULL when memory is short.
struct follow *follow_new(struct watch *watch, const char *path, int64_t device, int64_t inode);
void follow_free(struct follow *follow); // neither busy nor in a list

// It never had a byte, so there is no place to keep.
bool follow_is_blank(const struct follow *follow);

// Begins its next step. The follow is busy until schedule_done() is called with it, which may be
// before this returns.
void follow_run(struct follow *follow);
