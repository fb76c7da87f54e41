// SPDX-License-Identifier: Apache-2.0
//
// client/import: the two programs that read NVTXT files without a daemon: nvtxt-import and
// nvtxt-check. It owns the reading of files and folders (load, folders), the commands
// (import_job.h) and the rows on their way into a new store or a copy of one; it has one thread. A
// command never changes a file that exists: it makes a new one, whole or not at all.
//
// This module writes files into a store, or into the copy of an export of Nsight Systems. Each file
// is a source of its own. Rows are written as the loader makes them, so a long file needs no more
// memory than a short one.
#pragma once

#include <stdio.h>

#include "client/import/load.h"
#include "store/nsys/nsys.h"
#include "store/store.h"

#define IMPORT_NAME_BYTES 256

struct import {
    const struct load_options *options; // borrowed
    struct term *term;                  // borrowed
    bool quiet;
    FILE *messages; // where diagnostics go instead of the terminal; borrowed, may be NULL

    // Of the file that was loaded last.
    struct nvtxt_counters counters;
    char display_name[IMPORT_NAME_BYTES]; // cut; "" when the file set none

    // Private: a store, with the batch that is being filled, or an export.
    struct store *store;
    struct store_batch *batch;
    int64_t next_id; // of the next source
    struct store_nsys *nsys;
    struct store_source source; // the file that is being loaded
    struct store_batch_source *share;
    struct load_target target;
};

// Opens or creates the store at `path`.
enum outcome import_open(struct import *import, const char *path,
                         const struct load_options *options, struct term *term);

// Loads into an export that is open and has its target; takes it over.
void import_open_export_take(struct import *import, struct store_nsys *nsys,
                             const struct load_options *options, struct term *term);

// Loads one open input. FAULTS: the input had errors or could not be read to its end; all else in
// it is loaded. Any worse outcome ends the import.
enum outcome import_input(struct import *import, struct input *input);

// Writes the rest and closes; an export stays open, so that its counts can be read. Unless this
// returns DONE, the file is not whole.
enum outcome import_finish(struct import *import);

void import_abandon(struct import *import); // closes without writing; fine when closed or zeroed

// Whether --force may replace the file at `path`: a store of ours and, with `exports`, an export
// that `merge` could have made. Returns NO_OUTPUT, or DONE; also DONE when there is no file or no
// database, because out_file_init() checks these.
enum outcome import_check_replaced(const char *path, bool exports, struct term *term);
