// SPDX-License-Identifier: Apache-2.0
//
// The file of -o: it is written under a temporary name beside its place and replaces what stood
// there when it is complete. A device or a pipe is written to directly.
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "client/common/outcome.h"

struct term;

struct export_file {
    int fd;              // -1: not open
    const char *name;    // as given; borrowed
    char path[PATH_MAX]; // where it will be, links followed
    char temp[PATH_MAX]; // where it is written; "" when it is written to directly
};

// An SQLite database is not replaced.
enum outcome export_file_open(struct export_file *file, struct term *term, const char *name);

// Puts the finished file in its place and onto the disk. The temporary file is gone in any case.
enum outcome export_file_publish(struct export_file *file, struct term *term);

void export_file_discard(struct export_file *file); // fine when not open
