// SPDX-License-Identifier: Apache-2.0
//
// The keeper changes neither the segment in use nor those that were begun after it: it does not
// move their logs, and it ends nothing that goes on in them.
#include "daemon/writer/segment_keeper.h"

#include <sys/stat.h>

#include "daemon/writer/bqueue.h"
#include "store/rotation.h"
#include "tests/unit/store_kit.h"

struct kept {
    struct kit kit;
    struct bqueue queue;
    struct store *next;
};

static void ring(void *context) {
    (void)context;
}

// A store whose segment in use holds a source that is open, in its log. Nobody has it locked.
static void begin(struct kept *kept) {
    struct kit *kit = &kept->kit;
    bool vanished;
    memset(kept, 0, sizeof(*kept));
    kit_folder(kit);
    cr_assert_eq(bqueue_init(&kept->queue, ring, NULL), 0);
    cr_assert_eq(store_rotation_open(&kit->store, kit->path, &kit->options, STORE_OPEN_ACTIVE,
                                     &vanished, kit->error, sizeof(kit->error)),
                 STORE_DONE, "%s", kit->error);
    struct nvtxt_event event = kit_mark(1, "a");
    kit_add(kit, 1, &event);
    kit_commit(kit);
}

static void end(struct kept *kept) {
    char command[96];
    store_close(kept->next);
    store_close(kept->kit.store);
    store_batch_free(kept->kit.batch);
    bqueue_deinit(&kept->queue);
    snprintf(command, sizeof(command), "rm -r '%s'", kept->kit.folder);
    cr_assert_eq(system(command), 0);
}

// A whole life of it, with the first segment in use.
static void look(struct kept *kept) {
    struct keeper keeper;
    struct rotate_limits limits = {0};
    cr_assert_eq(keeper_init(&keeper, kept->kit.path, &kept->queue, &limits), 0);
    keeper_set_active(&keeper, kept->kit.store, false, 0);
    keeper_check(&keeper);
    keeper_deinit(&keeper);
}

static int64_t log_bytes(struct store *store) {
    char path[160];
    struct stat status;
    snprintf(path, sizeof(path), "%s-wal", store_file_path(store));
    return stat(path, &status) == 0 ? (int64_t)status.st_size : 0;
}

Test(segment_keeper, leaves_the_segment_in_use_alone) {
    struct kept kept;
    begin(&kept);
    int64_t before = log_bytes(kept.kit.store);
    cr_assert_gt(before, 0);
    look(&kept);
    cr_assert_eq(log_bytes(kept.kit.store), before);
    cr_assert_eq(kit_int(&kept.kit, "SELECT count(*) FROM NVTXT_SOURCES WHERE closedNs IS NULL"),
                 1);
    end(&kept);
}

// The link points to the next segment already, and the keeper does not know it yet.
Test(segment_keeper, leaves_the_segment_in_use_alone_while_the_next_one_begins) {
    struct kept kept;
    begin(&kept);
    struct kit *kit = &kept.kit;
    int64_t before = log_bytes(kit->store);
    cr_assert_eq(store_rotation_next(&kept.next, kit->store, kit->path, &kit->options, kit->error,
                                     sizeof(kit->error)),
                 STORE_DONE, "%s", kit->error);
    look(&kept);
    cr_assert_eq(log_bytes(kit->store), before);
    cr_assert_eq(kit_int(kit, "SELECT count(*) FROM NVTXT_SOURCES WHERE closedNs IS NULL"), 1);
    end(&kept);
}
