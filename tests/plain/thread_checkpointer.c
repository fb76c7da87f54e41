// SPDX-License-Identifier: Apache-2.0
//
// A store is written while its checkpoint helper runs: the helper moves pages into the main file by
// itself, the WAL stays near its cap, nothing is lost. A plain program, so that ThreadSanitizer can
// watch it.
#undef NDEBUG
#include "store/store.h"

#include <time.h>

#include "tests/plain/thread_kit.h"

#define EVENTS_A_COMMIT 1000
#define DEADLINE_S 60

// Below the writer's cap only the helper can make the main file grow.
static void helper_moves_pages(void) {
    const struct store_options options = {.checkpoint_helper = true, .wal_cap_pages = 1000000};
    struct store *store = kit_open(&options);
    int64_t before = store_file_bytes(store);
    for (int i = 0; i < 100; i++) {
        kit_commit(store, EVENTS_A_COMMIT);
    }
    for (time_t end = time(NULL) + DEADLINE_S; store_file_bytes(store) < before + (1 << 20);) {
        assert(time(NULL) < end);
        usleep(1000);
    }
    store_close(store);
}

static void wal_stays_near_its_cap(void) {
    const size_t cap = 200;
    const struct store_options options = {.checkpoint_helper = true, .wal_cap_pages = cap};
    struct store *store = kit_open(&options);
    int64_t most = 0;
    for (int i = 0; i < 200; i++) {
        kit_commit(store, EVENTS_A_COMMIT);
        if (store_wal_bytes(store) > most) {
            most = store_wal_bytes(store);
        }
    }
    assert(most < (int64_t)(2 * cap + 200) * 4120);
    store_close(store);
}

int main(void) {
    kit_make_folder();
    helper_moves_pages();
    wal_stays_near_its_cap();
    kit_count_events();
    kit_remove_folder();
    return 0;
}
