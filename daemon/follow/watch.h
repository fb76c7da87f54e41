// SPDX-License-Identifier: Apache-2.0
//
// The watched folders and the files in them that are followed (WatchDirectory). Events of the file
// system only say where to look; what is true is what looking gives, so a lost event costs time,
// not lines. Few files are worked on at once, one chunk each in turn; few are open, those that
// changed last. When nothing changes nothing wakes up, but for the look at what is to end, 24 times
// in FileExpiry, and at folders that are missing or whose file system tells nothing.
//
// Owns folders and follows. Loop thread only.
#pragma once

#include <stddef.h>

#include "daemon/follow/watch_state.h"

// With what the store knew at the start; takes the list. `descriptors` is how many connections and
// files may be open together; `reserved` of them are for the files. Returns 0 or -errno;
// watch_stop() and watch_deinit() in any case.
int watch_start(struct watch *watch, struct hub *hub, struct store_file_list *known_take,
                size_t descriptors);
void watch_configure(
    struct watch *watch);               // folders were added or taken away, or FileExpiry changed
void watch_stop(struct watch *watch);   // reads no more; what was read is in the open batch
void watch_deinit(struct watch *watch); // after the loop has run out
