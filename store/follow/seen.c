// SPDX-License-Identifier: Apache-2.0
//
// An open table: a row stands in the first free place from its key on. It is at most three quarters
// full.
#include "store/follow/seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

static struct store_seen_row *place_of(const struct store_seen *seen, uint64_t key) {
    size_t at = key & (seen->room - 1);
    while (seen->rows[at].key && seen->rows[at].key != key) {
        at = (at + 1) & (seen->room - 1);
    }
    return &seen->rows[at];
}

static int grow(struct store_seen *seen) {
    struct store_seen bigger = {.room = seen->room ? seen->room * 2 : FIRST_ROOM};
    bigger.rows = calloc(bigger.room, sizeof(*bigger.rows));
    if (!bigger.rows) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < seen->room; i++) {
        if (seen->rows[i].key) {
            *place_of(&bigger, seen->rows[i].key) = seen->rows[i];
        }
    }
    bigger.count = seen->count;
    free(seen->rows);
    *seen = bigger;
    return 0;
}

int store_seen_put(struct store_seen *seen, uint64_t key, uint64_t contents) {
    if (seen->count == STORE_SEEN_MAX) {
        store_seen_forget(seen);
    }
    if (seen->count >= seen->room / 4 * 3 && grow(seen) < 0) {
        return -ENOMEM;
    }
    struct store_seen_row *row = place_of(seen, key ? key : 1);
    if (row->key && row->contents == contents) {
        return 0;
    }
    seen->count += !row->key;
    *row = (struct store_seen_row){key ? key : 1, contents};
    return 1;
}

void store_seen_forget(struct store_seen *seen) {
    if (seen->count > 0) {
        memset(seen->rows, 0, seen->room * sizeof(*seen->rows));
    }
    seen->count = 0;
}

void store_seen_deinit(struct store_seen *seen) {
    free(seen->rows);
    *seen = (struct store_seen){0};
}
