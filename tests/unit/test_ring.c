// SPDX-License-Identifier: Apache-2.0
//
// A ring against a queue: a writer and a reader take random steps, over many laps, while the ring
// is allowed to grow. Every record comes out once and in order, and a pop always has room.
#include "lib/ring/ring.h"

#include <criterion/criterion.h>

#define KIB 1024u
#define RING_BYTES (256 * KIB)

static struct region region;
static struct ring_writer writer;
static uint64_t seed, written, read_so_far, open_ranges, drops;

static uint32_t random_below(uint32_t most) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % most;
}

static void start(void) {
    cr_assert_eq(region_make(&region, NULL, RING_BYTES, 1 << 20), 0);
    cr_assert_eq(region_chunk(&region, 0), 0);
    cr_assert_eq(region_grant_ring(&region, 3, 0), 0);
    ring_writer_init(&writer, &region, 3);
}

TestSuite(ring, .init = start);

// Writes a record that says its number, `text_len` bytes long. Returns false when it has no room.
static bool put(enum record_kind kind, uint32_t text_len, uint64_t pops) {
    static char text[RECORD_TEXT_MAX];
    struct record_view view = {.kind = kind, .time = written, .text = text, .text_len = text_len};
    uint32_t flags = record_flags(&view);
    uint32_t bytes = record_bytes(false, flags, text_len, 0);
    char *room = ring_reserve(&writer, bytes, (uint32_t)pops);
    if (!room) {
        return false;
    }
    char *data = region_ring(&region, 3);
    cr_assert(room >= data && room + bytes <= data + atomic_load(&writer.head->granted));
    record_write(room, &view, flags, bytes);
    ring_publish(&writer, bytes);
    cr_assert(!ring_is_half_full(&writer) || writer.at > writer.easy, "nobody sees it half full");
    written++;
    return true;
}

// Reads at most `most` records, and says so to the writer as a pass does.
static void take(uint64_t most) {
    struct ring_reader reader;
    struct record_view view;
    ring_reader_init(&reader, &region, 3, region_tail(&region, 3));
    int r = 1;
    for (; most > 0 && (r = ring_next(&reader, &view)) > 0; most--) {
        cr_assert_eq(view.time, read_so_far++);
    }
    cr_assert_geq(r, 0);
    region_move_tail(&region, 3, reader.at);
    struct region_state state = region_state(&region);
    region_commit(&region, &state);
    atomic_store(&writer.head->freed, region_tail(&region, 3));
}

static void step(uint32_t largest) {
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
        if (put(RECORD_PUSH, random_below(largest), open_ranges + 1)) {
            open_ranges++;
        } else {
            drops++;
        }
        break;
    case 3:
        drops += !put(RECORD_MARK, random_below(largest), open_ranges);
        break;
    case 4:
    case 5:
    case 6:
        if (open_ranges > 0) {
            open_ranges--;
            cr_assert(put(RECORD_POP, 0, open_ranges), "a pop has room, at %zu", (size_t)writer.at);
        }
        break;
    default:
        if (random_below(200) == 0) {
            take(random_below(2000));
        }
        if (random_below(20000) == 0) {
            region_grant_ring(&region, 3, 2 * atomic_load(&writer.head->granted));
        }
    }
}

Test(ring, loses_and_tears_nothing) {
    for (seed = 1; seed < 40; seed++) {
        uint64_t before = seed;
        uint32_t largest = random_below(4) ? 100 : RECORD_TEXT_MAX;
        for (int i = 0; i < 20000; i++) {
            step(largest);
        }
        while (open_ranges > 0 && random_below(2)) {
            cr_assert(put(RECORD_POP, 0, --open_ranges));
        }
        seed = before;
    }
    take(UINT64_MAX);
    cr_assert_eq(read_so_far, written);
    cr_assert_gt(drops, 0);
    cr_assert_gt(writer.at, 20 * RING_BYTES);
}

Test(ring, stays_in_its_first_pages_when_it_is_quiet) {
    for (int i = 0; i < 100000; i++) {
        cr_assert(put(RECORD_MARK, 40, 0));
        cr_assert_lt((writer.at - 1) % RING_BYTES, RING_LAP_BYTES + 100);
        take(1);
    }
    cr_assert_eq(read_so_far, written);
}

Test(ring, is_free_as_a_whole_after_it_was_empty) {
    region_grant_ring(&region, 3, RING_BYTES);
    for (int round = 0; round < 50; round++) {
        uint64_t before = written;
        while (put(RECORD_MARK, 1000, 0)) {
        }
        uint64_t bytes = (written - before) * 1024;
        cr_assert_gt(bytes, RING_BYTES - 32 * KIB, "only %zu bytes", (size_t)bytes);
        take(UINT64_MAX);
        for (uint32_t some = random_below(40); some > 0; some--) {
            cr_assert(put(RECORD_MARK, 1000, 0));
            take(UINT64_MAX);
        }
    }
    cr_assert_eq(read_so_far, written);
}

Test(ring, keeps_room_for_all_pops_when_it_is_full) {
    uint64_t pushed = 0;
    while (put(RECORD_PUSH, 0, pushed + 1)) {
        pushed++;
    }
    cr_assert_gt(pushed, 1000);
    put(RECORD_MARK, 0, pushed); // a push needs twice as much
    cr_assert(!put(RECORD_MARK, 0, pushed));
    take(pushed / 2);
    while (put(RECORD_MARK, 100, pushed)) {
    }
    for (; pushed > 0; pushed--) {
        cr_assert(put(RECORD_POP, 0, pushed - 1));
    }
    take(UINT64_MAX);
    cr_assert_eq(read_so_far, written);
}

Test(ring, says_that_a_record_is_damaged) {
    struct ring_reader reader;
    struct record_view view;
    cr_assert(put(RECORD_MARK, 10, 0));
    region_ring(&region, 3)[4] = 1; // its length
    ring_reader_init(&reader, &region, 3, 0);
    cr_assert_lt(ring_next(&reader, &view), 0);
}

// A record is 1 KiB here, so that laps end where the ring ends.
Test(ring, is_filled_to_its_last_byte) {
    region_grant_ring(&region, 3, RING_BYTES);
    while (put(RECORD_MARK, 1000, 0)) {
    }
    cr_assert_eq(writer.at, RING_BYTES);
    for (int i = 0; i < 2000; i++) {
        uint64_t before = writer.at, some = random_below(300);
        uint64_t unread = written - read_so_far;
        take(some);
        while (put(RECORD_MARK, 1000, 0)) {
        }
        uint64_t used = ring_used(region_tail(&region, 3), writer.at, writer.lap_from, RING_BYTES);
        cr_assert_leq(used, RING_BYTES);
        cr_assert(some >= unread || writer.at == before + some * KIB,
                  "as much as was read is free");
    }
    take(UINT64_MAX);
    cr_assert_eq(read_so_far, written);
}

Test(ring, is_full_also_when_its_records_would_fill_it_to_the_last_byte) {
    while (writer.at < RING_BYTES) {
        cr_assert_not_null(ring_reserve(&writer, 64, 0));
        ring_publish(&writer, 64);
        atomic_store(&region.rings[3].freed, writer.at - 64);
    }
    uint64_t freed = atomic_load(&region.rings[3].freed);
    for (unsigned i = 0; i < 2 * RING_BYTES / 64 && ring_reserve(&writer, 64, 0); i++) {
        ring_publish(&writer, 64);
    }
    cr_assert_leq(writer.at - freed, RING_BYTES);
    cr_assert_null(ring_reserve(&writer, 64, 0));
}
