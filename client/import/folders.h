// SPDX-License-Identifier: Apache-2.0
//
// The NVTXT files of report folders. A report lies in a capture folder, whose name has "capture" in
// it (`project_Capture_000`), and that lies in a session folder. Files of either place belong to
// the report: for a capture folder those of the folder around it are found as well, for another
// folder those of the capture folders in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct folders {
    struct folders_file {
        char *path; // owned
        dev_t device;
        ino_t inode; // a file that is found twice, by a link or another name, is listed once
        bool is_regular;
    } *files; // owned
    size_t count, room;
};

// Adds the `*.nvtxt` files of `folder` and of what belongs to it, sorted by name within each place;
// hidden ones are left out. Returns 0 with the number of files that were found there, listed before
// or not; or FOLDERS_IS_NONE for a file, or -errno, with 0 files.
#define FOLDERS_IS_NONE 1
int folders_add(struct folders *folders, const char *folder, size_t *found);

void folders_deinit(struct folders *folders); // fine when zeroed
