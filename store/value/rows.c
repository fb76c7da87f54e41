// SPDX-License-Identifier: Apache-2.0
//
// The texts of a row stand in the row, so that a list is one allocation.
#include "store/value/rows.h"

#include <stdbool.h>
#include <stdlib.h>

void *store_rows_grow(void *rows, size_t count, size_t size) {
    bool is_full = (count & (count - 1)) == 0; // room is a power of two, or none
    return is_full ? realloc(rows, (count ? count * 2 : 1) * size) : rows;
}

void store_losses_deinit(struct store_losses *losses) {
    free(losses->rows);
    *losses = (struct store_losses){0};
}

void store_diags_deinit(struct store_diags *diags) {
    free(diags->rows);
    *diags = (struct store_diags){0};
}
