// SPDX-License-Identifier: Apache-2.0
//
// A watched folder: which names are in it and which files they lead to. libuv's fs events say when
// to look again; a folder that is not there is looked for when the folder above it changes, or now
// and then when that cannot be told. Sub folders are not looked into. Loop thread only; the looking
// is done in the thread pool.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct folder;
struct watch;

// Watches when it is listed for the first time. NULL when memory is short.
struct folder *folder_open(struct watch *watch, const char *path);
void folder_close(struct folder *folder);    // its names are lost; it is freed by itself
void folder_list_all(struct folder *folder); // looks at everything in it again
bool folder_is_looking(const struct folder *folder);

// How many events at once may be all that the kernel kept, the others being lost.
size_t folder_burst(void);
