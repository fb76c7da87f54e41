// SPDX-License-Identifier: Apache-2.0
//
// Rows of a store as they are read back: losses, diagnostics, totals, and a number that may be
// NULL.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/lang/diag.h"

#define STORE_LOSS_REFUSED "refused" // reason of a loss: SQLite does not take the rows

struct store_maybe {
    bool is_set; // false: NULL
    int64_t value;
};

// Rows of NVTXT_LOSSES, newest first. Deinit frees what it owns.
struct store_losses {
    struct store_loss_row {
        int64_t at_ns, source_id, uid, pid; // 0, 0, -1, 0 when not known
        uint64_t count;
        char reason[64];
        char source[256]; // display name or name of the source; "" when it has none
    } *rows;              // owned
    size_t count;
};
void store_losses_deinit(struct store_losses *losses);

// Rows of NVTXT_DIAGNOSTICS, newest first. Deinit frees what it owns.
struct store_diags {
    struct store_diag_row {
        int64_t at_ns, source_id;
        uint64_t line;
        uint32_t column;
        char severity[16], stage[16], code[64];
        char message[NVTXT_DIAG_MESSAGE_SIZE];
        char excerpt[NVTXT_DIAG_EXCERPT_SIZE];
        char source[256]; // name or display name of the source, or its peer's; "" for none
    } *rows;              // owned
    size_t count;
};
void store_diags_deinit(struct store_diags *diags);

struct store_totals {
    uint64_t events;  // rows of type 34, 59, 60 in the file
    int64_t first_ns; // smallest start, largest end of them; 0 when there are none
    int64_t last_ns;
    uint64_t sources;
    uint64_t losses;
};
