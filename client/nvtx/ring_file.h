// SPDX-License-Identifier: Apache-2.0
//
// A ring file of a process that is gone (lib/ring/region.h): is it one, is it ours, is it free, is
// it whole? Nothing in it is believed. It is read into private memory and never mapped, so nobody
// who cuts or changes it meanwhile can do us harm; the file itself is not changed.
#pragma once

#include <stdbool.h>

#include "lib/ring/region.h"

#define RING_FILE_SUFFIX ".ring"

struct ring_file {
    int fd;               // owned, and locked; -1: none
    struct region region; // what was read; of ring_file_read()
    char fault[512];      // why it cannot be used: a clause after "FILE "
};

enum {
    RING_FILE_BAD = 1, // `fault` says why
    RING_FILE_IN_USE,  // its process has it mapped: `fault` names it
    RING_FILE_EMPTY,   // its process ended in order, or before it recorded anything
    RING_FILE_BUSY,    // another program has it locked, or has removed it
};

// Opens a file of a folder and looks at its head and at its process. Returns 0, one of the above,
// or -errno with `fault`. It can be closed in any case.
int ring_file_open(struct ring_file *file, int dir_fd, const char *name);

// Reads all of it and checks each number in it. Returns 0, RING_FILE_BAD, or -errno with `fault`.
int ring_file_read(struct ring_file *file);

void ring_file_close(struct ring_file *file);

// Whether everything in the region can be worked with by lib/ring/pass: sizes, positions, texts and
// each record. Writes the clause and returns false for what cannot.
bool ring_file_check(const struct region *region, char *fault, size_t size);
