// SPDX-License-Identifier: Apache-2.0
//
// Files into a store, or into the copy of an export of Nsight Systems: each file is a source of its
// own, and what the loader makes of it is written as it comes, so that memory stays flat however
// long a file is.
#pragma once

#include <stdbool.h>
#include <stdint.h>
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
    char display_name[IMPORT_NAME_BYTES]; // cut; "" when it gave none

    // Private. A store, with the batch that is being filled, or an export.
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

// Loads into an export that is open and placed, which is taken over.
void import_open_export_take(struct import *import, struct store_nsys *nsys,
                             const struct load_options *options, struct term *term);

// Loads one open input. FAULTS: it had errors or could not be read to its end, and what was good is
// loaded. What is worse ends the import.
enum outcome import_input(struct import *import, struct input *input);

// Writes what is left and closes; an export stays open for its counts to be read. Unless it
// returns DONE, the file is not whole.
enum outcome import_finish(struct import *import);

void import_abandon(struct import *import); // closes without writing; fine when closed or zeroed

// Whether --force may replace what stands at `path`: a store of ours and, with `exports`, an export
// that merge() could have made. Returns NO_OUTPUT, or DONE, also for what is no database or not
// there, which out_file_init() looks at.
enum outcome import_check_replaced(const char *path, bool exports, struct term *term);

// The permissions of a file that is made now: what the umask leaves.
uint32_t import_file_mode(void);
