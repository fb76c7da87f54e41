// SPDX-License-Identifier: Apache-2.0
//
// Places of followed files: what is kept, what goes on, what is forgotten.
#include "tests/unit/store_kit.h"

static struct store_source file_source(int64_t id) {
    struct store_source source = kit_source(id);
    source.kind = STORE_SOURCE_FILE;
    source.name = "/in/a.nvtxt";
    source.has_peer = true;
    source.peer_uid = 1000;
    return source;
}

static const struct store_followed place = {
    .path = "/in/b.nvtxt",
    .device = 3,
    .inode = 4,
    .offset = 5,
    .head_bytes = 6,
    .tail_bytes = 7,
    .head_hash = UINT64_MAX,
    .tail_hash = 1,
    .changed_ns = 9,
};

static struct store_batch_source *add_file(struct kit *kit, int64_t id, const char *state) {
    struct store_source source = file_source(id);
    struct store_batch_source *share = store_batch_source(kit->batch, &source);
    cr_assert_not_null(share);
    cr_assert_eq(store_batch_file(share, &place, nvtxt_slice_of(state)), 0);
    return share;
}

static void end_file(struct kit *kit, int64_t id) {
    cr_assert_eq(store_batch_end_source(add_file(kit, id, "{}"), "idle", 77), 0);
    kit_commit(kit);
}

Test(followed, gives_back_place_state_and_open_ranges) {
    struct kit kit;
    struct store_file file;
    struct store_session session;
    const struct nvtxt_open_range range = {
        .seq = 1, .type = NVTXT_EVENT_PUSH_POP, .text = NVTXT_SLICE("open"), .line = 3};
    kit_open(&kit);
    cr_assert_eq(store_batch_open_range(add_file(&kit, 8, "{\"a\":1}"), &range), 0);
    kit_commit(&kit);
    cr_assert_eq(store_file_load(kit.store, 8, &file, &session), STORE_DONE);
    cr_assert_str_eq(file.path, "/in/b.nvtxt");
    cr_assert_eq(file.at.inode, 4);
    cr_assert_eq(file.at.offset, 5);
    cr_assert_eq(file.at.head_hash, UINT64_MAX);
    cr_assert_eq(file.at.changed_ns, 9);
    cr_assert_eq(file.ended, false);
    cr_assert_str_eq(session.name, "/in/a.nvtxt");
    cr_assert_str_eq(session.state, "{\"a\":1}");
    cr_assert_eq(session.opened_ns, 500);
    cr_assert_eq(session.range_count, 1);
    store_file_deinit(&file);
    store_session_deinit(&session);
    kit_close(&kit);
}

Test(followed, keeps_parts_over_the_end_until_nobody_can_go_on) {
    struct kit kit;
    struct store_file file;
    struct store_session session;
    kit_open(&kit);
    cr_assert_eq(store_batch_state(add_file(&kit, 8, "{}"), 1, NVTXT_SLICE("whole")), 0);
    kit_commit(&kit);
    cr_assert_eq(store_batch_state(add_file(&kit, 8, "{}"), 2, NVTXT_SLICE("change")), 0);
    end_file(&kit, 8);
    cr_assert_eq(store_file_load(kit.store, 8, &file, &session), STORE_DONE);
    cr_assert_eq(session.part_count, 2);
    cr_assert_str_eq(session.parts[1].data, "change");
    store_file_deinit(&file);
    store_session_deinit(&session);
    cr_assert_eq(store_batch_state(add_file(&kit, 9, "{}"), 1, NVTXT_SLICE("whole")), 0);
    add_file(&kit, 8, "");
    kit_commit(&kit);
    assert_rows(&kit, "SELECT sourceId, part FROM NVTXT_STATE", "9|1");
    cr_assert_eq(store_batch_forget_file(kit.batch, 9), 0);
    kit_commit(&kit);
    assert_rows(&kit, "SELECT count(*) FROM NVTXT_STATE", "0");
    kit_close(&kit);
}

Test(followed, does_not_know_a_source_without_a_file) {
    struct kit kit;
    struct store_file file;
    struct store_session session;
    kit_open(&kit);
    cr_assert_eq(store_file_load(kit.store, 8, &file, &session), STORE_NOT_FOUND);
    kit_close(&kit);
}

Test(followed, keeps_the_place_of_a_source_that_ended_and_opens_it_again) {
    struct kit kit;
    struct store_file_list list;
    kit_open(&kit);
    end_file(&kit, 8);
    cr_assert_str_eq(kit_text(&kit, "SELECT closedNs, ended FROM NVTXT_SOURCES"), "77|idle");
    cr_assert_eq(store_file_list(kit.store, &list), STORE_DONE);
    cr_assert_eq(list.count, 1);
    cr_assert(list.files[0].ended);
    cr_assert_eq(list.files[0].closed_ns, 77);
    store_files_free(&list);
    add_file(&kit, 8, "{}");
    kit_commit(&kit);
    cr_assert_str_eq(kit_text(&kit, "SELECT count(*) FROM NVTXT_SOURCES WHERE closedNs IS NULL AND "
                                    "ended IS NULL"),
                     "1");
    kit_close(&kit);
}

Test(followed, forgets_on_demand_and_lists_the_others_by_source) {
    struct kit kit;
    struct store_file_list list;
    kit_open(&kit);
    for (int64_t id = 9; id >= 7; id--) {
        add_file(&kit, id, "{}");
    }
    cr_assert_eq(store_batch_forget_file(kit.batch, 8), 0);
    kit_commit(&kit);
    cr_assert_eq(store_file_list(kit.store, &list), STORE_DONE);
    cr_assert_eq(list.count, 2);
    cr_assert_eq(list.files[0].source_id, 7);
    cr_assert_eq(list.files[1].source_id, 9);
    store_files_free(&list);
    kit_close(&kit);
}

Test(followed, writes_no_place_of_what_was_discarded) {
    struct kit kit;
    kit_open(&kit);
    store_batch_discard(add_file(&kit, 8, "{}"));
    struct nvtxt_event event = kit_mark(1, "m");
    kit_add(&kit, 9, &event);
    kit_commit(&kit);
    cr_assert_str_eq(kit_text(&kit, "SELECT count(*) FROM NVTXT_FILES"), "0");
    kit_close(&kit);
}

Test(followed, recovery_leaves_those_open_that_can_go_on) {
    struct kit kit;
    struct store_source lost = file_source(9);
    kit_open(&kit);
    add_file(&kit, 8, "{}");
    cr_assert_not_null(store_batch_source(kit.batch, &lost));
    kit_commit(&kit);
    cr_assert_eq(store_recover(kit.store, 99), STORE_DONE);
    cr_assert_str_eq(kit_text(&kit, "SELECT id, ifnull(ended, 'open') FROM NVTXT_SOURCES"),
                     "8|open 9|lost");
    kit_close(&kit);
}
