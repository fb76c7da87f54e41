// SPDX-License-Identifier: Apache-2.0
//
// Finds the NVTXT files of report folders. A report is in a capture folder, whose name contains
// "capture" (`project_Capture_000`), and the capture folder is in a session folder. The files of
// both folders belong to the report. So for a capture folder the files of its parent are found too,
// and for any other folder the files of the capture folders in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct folders {
    struct folders_file {
        char *path; // owned
        dev_t device;
        ino_t inode; // a file with two names, or found through a link, is listed once
        bool is_regular;
    } *files; // owned
    size_t count, room;
};

// Adds the `*.nvtxt` files of `folder` and of the folders that belong to it, sorted by name within
// each folder, without hidden ones. Returns 0 with the number of files found, which counts files
// that were listed before too; or FOLDERS_IS_NONE when `folder` is a file, or -errno, with 0 files.
#define FOLDERS_IS_NONE 1
int folders_add(struct folders *folders, const char *folder, size_t *found);

void folders_deinit(struct folders *folders); // fine when zeroed
