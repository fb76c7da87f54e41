// SPDX-License-Identifier: Apache-2.0
//
// Files into a store: each file is a source of its own, and what the loader makes of it goes into
// the store batch by batch, so that memory stays flat however long a file is.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/load.h"
#include "store/store.h"

struct import {
    const struct load_options *options; // borrowed
    struct term *term;                  // borrowed
    bool quiet;
    struct store *store;       // owned
    struct store_batch *batch; // owned
    int64_t next_id;           // of the next source

    // Private: the file that is being loaded.
    struct store_source source;
    struct store_batch_source *share;
    struct load_target target;
};

// Opens or creates the store at `path`. Returns 0, or an exit status after a sentence.
int import_open(struct import *import, const char *path, const struct load_options *options,
                struct term *term);

// Loads one open input. Returns 0, 1 when it had errors (its good lines are loaded), EX_NOINPUT
// when it could not be read to its end (the same), or a status that ends the import, after a
// sentence.
int import_input(struct import *import, struct input *input);

// Writes what is left and closes. Returns 0, or an exit status after a sentence; then the store is
// not whole.
int import_finish(struct import *import);

void import_abandon(struct import *import); // closes without writing; fine when closed or zeroed
