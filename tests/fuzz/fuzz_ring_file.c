// SPDX-License-Identifier: Apache-2.0
//
// A region as a process left it, overwritten as the input says: again and again an area (1 byte),
// an offset in it (3 bytes) and a length (1 byte), then so many bytes. It is refused with a
// sentence, or all its lines come, whole and counted.
#include "tests/fuzz/replay.h"

#include "client/nvtx/ring_file.h"
#include "tests/unit/region_kit.h"

struct area {
    char *at;
    size_t size;
};

static struct area find_area(const struct region *region, unsigned number) {
    const struct area areas[] = {
        {(char *)region->head, sizeof(*region->head)},
        {(char *)region->rings, 4 * sizeof(*region->rings)},
        {(char *)region->strings, 64},
        {(char *)region->domains, 64},
        {(char *)region->names, 4 * sizeof(*region->names)},
        {(char *)region->opens, 64 * sizeof(*region->opens)},
        {(char *)region->lates, 8 * sizeof(*region->lates)},
        {region->text, 256},
        {region->window, 8192},
        {region_ring(region, 0), 1024},
        {region_ring(region, 1), 1024},
    };
    return areas[number % (sizeof(areas) / sizeof(areas[0]))];
}

static void overwrite(const struct region *region, const uint8_t *data, size_t size) {
    while (size > 5) {
        struct area area = find_area(region, data[0]);
        size_t offset =
            ((size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % area.size;
        size_t len = data[4] < size - 5 ? data[4] : size - 5;
        size_t fits = len < area.size - offset ? len : area.size - offset;
        memcpy(area.at + offset, data + 5, fits);
        data += 5 + len;
        size -= 5 + len;
    }
}

static void check_lines(const struct region *region, const struct region_state *state) {
    uint64_t lines = 0;
    for (uint64_t at = state->acked; at < state->end; at++) {
        lines += region->window[at & (KIT_WINDOW - 1)] == '\n';
    }
    must(state->end - state->acked <= KIT_WINDOW);
    must(lines == state->lines - state->acked_lines);
}

static void run_on(struct region *region) {
    static struct pass pass;
    pass_init(&pass, region);
    for (int quiet = 0; quiet < 2;) {
        quiet = pass_run(&pass, true, NULL).moved ? 0 : quiet + 1;
        check_lines(region, &pass.next);
        pass.next.acked = pass.next.end;
        pass.next.acked_lines = pass.next.lines;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct region_kit kit;
    char fault[512] = "";
    must(region_kit_make(&kit, NULL) == 0);
    overwrite(&kit.region, data, size);
    // What ring_file_read() takes from elsewhere.
    kit.region.head->ring_bytes = KIT_RING;
    kit.region.head->window_bytes = KIT_WINDOW;
    atomic_store(&kit.region.head->chunks, 1);
    if (ring_file_check(&kit.region, fault, sizeof(fault))) {
        run_on(&kit.region);
    } else {
        must(*fault);
    }
    region_kit_free(&kit);
    return 0;
}
