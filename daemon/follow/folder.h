// SPDX-License-Identifier: Apache-2.0
//
// A watched folder: which names are in it, and to which files they lead. An event of libuv makes it
// read the names again. While the folder is missing, it tries again when the folder above changes,
// or every few seconds where there are no such events. It does not read the folders inside it. Loop
// thread only; the thread pool reads the names.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct folder;
struct watch;

// The folder is watched from its first list on. NULL when memory is short.
struct folder *folder_open(struct watch *watch, const char *path);
void folder_close(struct folder *folder);         // its files lose their names; frees it later
void folder_list_all(struct folder *folder);      // reads all its names again
bool folder_is_busy(const struct folder *folder); // names are being read, or will be

// So many events at once may be all that the kernel kept; others may be lost.
size_t folder_burst(void);
