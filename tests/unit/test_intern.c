// SPDX-License-Identifier: Apache-2.0
//
// An id is found for the bytes that it was added with, and for no others: also when hashes collide,
// and when the bytes of an entry were overwritten by just those that are searched for.
#include "store/value/arena.h"

#include "store/value/record.h"
#include "tests/unit/store_kit.h"

#define RING ((size_t)1 << 20) // of intern.c

static struct store_intern intern;

// Moves the ring on by `bytes`, in pieces that no test searches for and that leave no gap at its
// end.
static void fill(size_t bytes) {
    static char piece[1024];
    while (bytes > 0) {
        size_t len = bytes < sizeof(piece) ? bytes : sizeof(piece);
        size_t left = RING - intern.head % RING;
        len = len < left ? len : left;
        store_intern_add(&intern, 1, piece, len, -2);
        bytes -= len;
    }
}

// What an attacker does: it puts a text of its own where that of another was, and searches for it
// under the hash that both have.
Test(intern, an_entry_does_not_match_the_bytes_that_replaced_its_own) {
    cr_assert_eq(store_intern_init(&intern), 0);
    store_intern_add(&intern, 7, "theirs", 6, 100);
    cr_assert_eq(store_intern_find(&intern, 7, "theirs", 6), 100);
    fill(RING - 6);
    store_intern_add(&intern, 9, "forged and more", 15, 200);
    cr_assert_eq(store_intern_find(&intern, 7, "forged", 6), -1);
    cr_assert_eq(store_intern_find(&intern, 7, "theirs", 6), -1);
    cr_assert_eq(store_intern_find(&intern, 9, "forged and more", 15), 200);
    store_intern_deinit(&intern);
}

Test(intern, an_entry_is_gone_with_the_first_of_its_bytes_and_not_before) {
    cr_assert_eq(store_intern_init(&intern), 0);
    fill(1000);
    store_intern_add(&intern, 7, "theirs", 6, 100);
    fill(RING - 6);
    cr_assert_eq(store_intern_find(&intern, 7, "theirs", 6), 100);
    store_intern_add(&intern, 9, "t", 1, 200); // the same byte, and yet another's
    cr_assert_eq(store_intern_find(&intern, 7, "theirs", 6), -1);
    store_intern_deinit(&intern);
}

Test(intern, distinguishes_texts_of_one_hash) {
    cr_assert_eq(store_intern_init(&intern), 0);
    store_intern_add(&intern, 7, "one", 3, 1);
    store_intern_add(&intern, 7, "two", 3, 2);
    store_intern_add(&intern, 7, "", 0, 3);
    cr_assert_eq(store_intern_find(&intern, 7, "one", 3), 1);
    cr_assert_eq(store_intern_find(&intern, 7, "two", 3), 2);
    cr_assert_eq(store_intern_find(&intern, 7, "", 0), 3);
    cr_assert_eq(store_intern_find(&intern, 7, "six", 3), -1);
    store_intern_forget(&intern);
    cr_assert_eq(store_intern_find(&intern, 7, "", 0), -1);
    store_intern_deinit(&intern);
}

static uint32_t random_state = 12345;

static uint32_t below(uint32_t bound) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)random_state * bound) >> 32);
}

// Short texts of two letters in a ring that is filled many times, long ones that move it on, and
// few hash values: so every kind of mix-up comes often. The id of a text is made from the text.
static int64_t id_of(const char *text, size_t len) {
    int64_t id = 1;
    for (size_t i = 0; i < len; i++) {
        id = id * 2 + (text[i] == 'b');
    }
    return id;
}

Test(intern, answers_the_id_of_just_these_bytes_in_a_long_random_run) {
    static char filler[RING / 8];
    unsigned found = 0;
    cr_assert_eq(store_intern_init(&intern), 0);
    for (int round = 0; round < 200000; round++) {
        char text[8];
        size_t len = 1 + below(sizeof(text));
        for (size_t i = 0; i < len; i++) {
            text[i] = below(2) ? 'a' : 'b';
        }
        uint32_t hash = below(256);
        int64_t id = store_intern_find(&intern, hash, text, len);
        if (id < 0) {
            store_intern_add(&intern, hash, text, len, id_of(text, len));
        } else {
            cr_assert_eq(id, id_of(text, len), "round %d: another's id", round);
            found++;
        }
        if (below(20) == 0) { // so that the ring comes round every few hundred texts
            memset(filler, 'a' + (int)below(2), sizeof(filler));
            store_intern_add(&intern, 1000, filler, sizeof(filler) - below(16), -2);
        }
    }
    cr_assert_gt(found, 1000);
    store_intern_deinit(&intern);
}

// The whole way: whatever texts come, in whatever order, each event's textId is the id of its text.
Test(intern, every_text_id_is_that_of_the_text_over_random_batches) {
    enum { TEXTS = 20000, EVENTS = 1000, BATCHES = 30 };
    struct kit kit;
    kit_open(&kit);
    char *text = malloc(RING);
    memset(text, 'x', RING);
    for (int batch = 0; batch < BATCHES; batch++) {
        for (int i = 0; i < EVENTS; i++) {
            size_t len = below(100) == 0 ? below(20000) + 10 : below(120) + 10;
            char saved = text[len];
            snprintf(text, 10, "%08u", below(below(2) ? TEXTS : 100));
            text[8] = text[9] = 'x';
            text[len] = '\0';
            struct nvtxt_event event = kit_mark(i, text);
            kit_add(&kit, 1, &event);
            text[len] = saved;
        }
        kit_commit(&kit);
    }
    assert_rows(&kit,
                "SELECT count(*), count(s.id), sum(s.value = e.text) FROM NVTX_EVENTS e "
                "LEFT JOIN StringIds s ON s.id = e.textId",
                "30000|30000|30000");
    free(text);
    kit_close(&kit);
}
