// SPDX-License-Identifier: Apache-2.0
//
// A watched folder: which names are in it, and to which files they lead. Events of libuv say when
// to look again. A folder that is missing is looked for when the folder above it changes, or every
// few seconds when there are no events for that. Folders in it are not looked into. Loop thread
// only; a look is made in the thread pool.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct folder;
struct watch;

// The folder is watched from its first list on. NULL when memory is short.
struct folder *folder_open(struct watch *watch, const char *path);
void folder_close(struct folder *folder);         // its files lose their names; frees it later
void folder_list_all(struct folder *folder);      // looks at all its names again
bool folder_is_busy(const struct folder *folder); // a look is under way, or wanted

// So many events at once may be all that the kernel kept; others may be lost.
size_t folder_burst(void);
