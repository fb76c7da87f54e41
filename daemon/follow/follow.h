// SPDX-License-Identifier: Apache-2.0
//
// A followed file: from its bytes to the lines of a source. It is known by device and inode, not by
// name. How far it was read goes into the store with the events of what was read, so each line has
// its effect once, whatever is killed when.
//
// A file at rest takes a few hundred bytes: its descriptor is closed and the state of its source is
// in the store only, from where it is loaded when the file has changed, like a session's. A source
// ends when its file has gone, was cut or did not change for long; its place and state are kept
// then, and when the same file grows it goes on, with the ranges closed that were open. Only a file
// that is cut, or is another one in its place, begins a new source.
//
// At any time a follow is at rest, waits for its turn (`ready`), or is `busy`: in the hands of the
// thread pool or the writer, and not to be freed. Loop thread only, but for what watch_io does.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct follow;
struct watch;

// Ends: the file did not change for FileExpiry; nobody wants it any more.
extern const char follow_idle[], follow_unwatched[];

// A file that was found or that the store knows; not in any list yet. NULL when memory is short.
struct follow *follow_new(struct watch *watch, const char *path, int64_t device, int64_t inode);
void follow_free(struct follow *follow); // neither busy nor in a list

// It never held a byte: there is nothing to come back to.
bool follow_is_blank(const struct follow *follow);

// Its turn: starts a step of what is to be done. The follow is busy until watch_done() is called
// with it, which may be before this returns.
void follow_run(struct follow *follow);
