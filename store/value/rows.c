// SPDX-License-Identifier: Apache-2.0
//
// The texts of a row stand in the row, so that a list is one allocation.
#include "store/value/rows.h"

#include <stdlib.h>

void store_losses_deinit(struct store_losses *losses) {
    free(losses->rows);
    *losses = (struct store_losses){0};
}

void store_diags_deinit(struct store_diags *diags) {
    free(diags->rows);
    *diags = (struct store_diags){0};
}
