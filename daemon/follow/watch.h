// SPDX-License-Identifier: Apache-2.0
//
// daemon/follow: the watched folders and the files in them that are followed (WatchDirectory). A
// folder finds names (folder.h), a file is read and becomes a source (follow.h), a file that lost
// its name is searched for before it is believed gone (lost_files.h). Events of the file system
// only say where to look; what is true is what a look finds, so a lost event costs time, not lines.
// Few files are worked on at once, one chunk of each (schedule.h), and few are open: those that
// changed last. When nothing changes nothing wakes up, but for a check of what is to end, 24 times
// in FileExpiry, and a look at folders that are missing or whose file system sends no events.
//
// The room owns folders and followed files. It knows neither connections nor the control socket.
// Loop thread; what blocks runs in libuv's thread pool (watch_io.h).
#pragma once

#include <stddef.h>

#include "daemon/follow/watch_state.h"

// Takes the list of files that the store knew at the start. `descriptors` is how many connections
// and files may be open together; `reserved` of them are for the files. Returns 0 or -errno; call
// watch_stop() and watch_deinit() in any case.
int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors);
void watch_configure(struct watch *watch); // WatchDirectory or FileExpiry may have changed
void watch_stop(struct watch *watch);      // reads no more; what was read is in the open batch
void watch_deinit(struct watch *watch);    // after the loop has run out
