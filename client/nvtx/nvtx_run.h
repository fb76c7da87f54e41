// SPDX-License-Identifier: Apache-2.0
//
// client/nvtx: what `nvtxt-send --nvtx` adds to the run of a command. nvtx_run makes the
// environment in which programs with NVTX record themselves; after it, salvage makes spools of
// what killed ones left; ring_file reads and checks their files. The room owns the folder of a run.
// One thread. It speaks to no daemon: its caller runs the command and sends the spools.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

struct nvtx_run {
    char library[PATH_MAX]; // NVTX_INJECTION64_PATH
    char chain[PATH_MAX];   // NVTXT_CHAIN; "": as it is
    char socket[PATH_MAX];  // NVTXT_SOCKET; "": as it is
    char folder[PATH_MAX];  // NVTXT_SPOOL; "": none
    bool is_private;        // the folder is of this run only
};

// Finds the library, and what the variables are to be. `socket` is the daemon's, `spool` the folder
// that the user named; both may be NULL. Returns false after a sentence when there is no library:
// then programs that call it themselves are recorded all the same.
bool nvtx_run_find(struct nvtx_run *run, const char *socket, const char *spool, struct term *term);

// Makes the folder that was named, or a private one where files are memory. Without one a command
// runs all the same, after a sentence.
void nvtx_run_make_folder(struct nvtx_run *run, struct term *term);

// Sets the variables for the command.
void nvtx_run_set(const struct nvtx_run *run);

// Writes them to stdout, for a shell's eval. Returns 0 or -errno.
int nvtx_run_print(const struct nvtx_run *run);

// Removes a private folder that is empty. Returns whether it is there still.
bool nvtx_run_leave_folder(struct nvtx_run *run);

// Removes `dir` when it is the private folder that a run of this user left, and is empty now.
void nvtx_run_remove_left(const char *dir);

// ---- Salvage ------------------------------------------------------------------------------------

// What processes that are gone have left in their ring files becomes spools in the same folder
// (client/spool), from which nvtxt-send sends it like any other. A spool has the lines that the
// daemon had not acknowledged and those of records that were no lines yet; it is of the same
// session and goes on with its numbers, so each line is stored once.
//
// Kill us where you like: a ring file stays until its spool is whole, and a spool that is not whole
// is made anew from the file.

// Takes all ring files of the folder `dir`. One that cannot be used stays, after a sentence, and
// the others are taken; the outcome is BAD_DATA then. With `pass_over` this is not so for files in
// use, which stay without a word. A folder that cannot be opened has no files.
enum outcome salvage_folder(const char *dir, bool pass_over, struct term *term);

// How many of them a process has in use.
size_t salvage_in_use(const char *dir);
