// SPDX-License-Identifier: Apache-2.0
//
// The file of -o of a program that reads stores. It is written under a temporary name in the same
// folder; when it is complete, it replaces the old file. A device or a pipe is written to directly,
// and so is a descriptor of this process, such as /dev/stdout.
#pragma once

#include <limits.h>

#include "client/common/outcome.h"

struct term;

struct result_file {
    int fd;              // -1: not open
    const char *name;    // as given; borrowed
    char path[PATH_MAX]; // the final path, without a link
    char temp[PATH_MAX]; // the temporary path; "" when it is written to directly
};

// Does not replace an SQLite database, and does not follow a link of another user where others may
// write. Waits for the reader of a pipe, after a sentence.
enum outcome result_file_open(struct result_file *file, struct term *term, const char *name);

// Syncs the finished file and renames it to its place. In any case the temporary file is gone then.
enum outcome result_file_publish(struct result_file *file, struct term *term);

void result_file_discard(struct result_file *file); // fine when not open

// Whether `path` is the database `store`, or one of the files that SQLite keeps beside it.
bool result_file_is_of(const char *path, const char *store);
