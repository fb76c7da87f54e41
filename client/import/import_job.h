// SPDX-License-Identifier: Apache-2.0
//
// What nvtxt-import has to do, and the commands that do it. A command makes one file, whole or not
// at all: it is written under a temporary name in the same folder.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "client/import/import.h"
#include "protocol/base/slice.h"

struct out_file;

struct import_job {
    const char *input;  // -i
    const char *output; // -o
    const char **files; // after -n, or folders
    int file_count;
    bool force;      // OUT may exist already
    bool quiet;      // no diagnostics, no progress
    bool has_target; // `target` was given: upper 16 bits of globalTid
    uint16_t target;
    bool prolong;    // --update-report-time
    bool no_session; // --no-session-files
    struct load_options load;
};

enum outcome import_create(const struct import_job *job, struct term *term);
enum outcome import_merge(const struct import_job *job, struct term *term);
enum outcome import_collect(const struct import_job *job, struct term *term);

// Begins the file that a command makes: checks the mapping, checks that an OUT that exists may be
// replaced, and removes the temporary files of killed imports. `exports`: an export of Nsight
// Systems may be replaced too. Unless this returns OUTCOME_DONE, there is nothing to discard.
enum outcome import_begin_output(const struct import_job *job, bool exports, struct out_file *out,
                                 struct term *term);

// Loads the job's files. After a file that cannot be read, or has errors, the others are still
// loaded: the outcome is OUTCOME_FAULTS, or OUTCOME_NO_INPUT when none could be read at all. Any
// other outcome ends the import.
enum outcome import_files(struct import *import, const struct import_job *job);

// Opens a file and loads it: OUTCOME_DONE, OUTCOME_FAULTS, or an outcome that ends the import.
// `*loaded`: it could be opened.
enum outcome import_file(struct import *import, const char *path, bool *loaded);

// For commands that make a store: its globalTid has no target. Prints a message if one was given.
void import_ignore_target(const struct import_job *job, struct term *term);

// ---- Folders ------------------------------------------------------------------------------------

// The NVTXT files of report folders. A report is in a capture folder, whose name contains
// "capture" (`project_Capture_000`), and the capture folder is in a session folder. The files of
// both folders belong to the report, unless `no_session` is set. So for a capture folder the files
// of its parent are found too, and for any other folder the files of the capture folders in it.
struct folders {
    struct folders_file {
        char *path; // owned
        dev_t device;
        ino_t inode; // a file with two names, or found through a link, is listed once
        bool is_regular;
    } *files; // owned
    size_t count, room;
    struct folders_taken { // those that were read, in this order
        char *path;        // owned
        dev_t device;
        ino_t inode;
        size_t files; // found in it
    } *taken;         // owned
    size_t taken_count;
    bool no_session; // the files of session folders are left out; set by the caller
};

// Adds the `*.nvtxt` files of `folder` and of the folders that belong to it, sorted by name within
// each folder, without hidden ones. Returns 0 with the number of files found, which counts files
// that were listed before too; or FOLDERS_IS_NONE when `folder` is a file, or -errno, with 0 files.
enum { FOLDERS_IS_NONE = NVTXT_WRONG + 1 };
int folders_add(struct folders *folders, const char *folder, size_t *found);

void folders_deinit(struct folders *folders); // fine when zeroed
