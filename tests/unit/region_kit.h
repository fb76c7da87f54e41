// SPDX-License-Identifier: Apache-2.0
//
// A region as a process leaves it: names, a domain, strings, lines in the window that nobody has
// acknowledged, and records in two rings that are no lines yet. For tests of who goes on with it.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "lib/ring/pass.h"
#include "lib/ring/region.h"
#include "lib/ring/ring.h"

#define KIT_RING (64u << 10)
#define KIT_WINDOW (1u << 20)
#define KIT_SESSION "7f0c1a2b-0000-4000-8000-00000000000b"
#define KIT_RECORDS 6u // of each round, in each ring

struct region_kit {
    struct region region;
    struct ring_writer writers[2];
    struct pass *pass;
    uint32_t text_bytes;
    uint64_t time, range;
};

static inline struct region_text kit_put_text(struct region_kit *kit, const char *text) {
    struct region_text put = {kit->text_bytes, (uint32_t)strlen(text)};
    memcpy(kit->region.text + put.at, text, put.len);
    kit->text_bytes += put.len;
    atomic_store(&kit->region.head->text_bytes, kit->text_bytes);
    return put;
}

static inline void kit_put_record(struct region_kit *kit, int ring, struct record_view view) {
    uint32_t flags = record_flags(&view);
    bool has_id = view.kind == RECORD_START || view.kind == RECORD_END;
    uint32_t bytes = record_bytes(has_id, flags, view.text_len, view.json_len);
    view.time = kit->time++;
    record_write(ring_reserve(&kit->writers[ring], bytes, 0), &view, flags, bytes);
    ring_publish(&kit->writers[ring], bytes);
}

// Adds records of each kind; the range of ring 0 is ended in ring 1, that of the round before, too.
static inline void kit_record_round(struct region_kit *kit) {
    uint64_t id = kit->range += 2;
    kit_put_record(kit, 0,
                   (struct record_view){.kind = RECORD_MARK, .text = "a mark", .text_len = 6});
    kit_put_record(kit, 0,
                   (struct record_view){.kind = RECORD_PUSH, .domain = 1, .has_string = true});
    kit_put_record(
        kit, 0,
        (struct record_view){.kind = RECORD_POP, .domain = 1, .json = "[1]", .json_len = 3});
    kit_put_record(kit, 0,
                   (struct record_view){.kind = RECORD_START, .id = id, .category = 4, .color = 5});
    kit_put_record(kit, 0, (struct record_view){.kind = RECORD_START, .id = id + 1});
    kit_put_record(kit, 0,
                   (struct record_view){.kind = RECORD_MARK, .value_kind = RECORD_F64, .value = 1});
    kit_put_record(kit, 1, (struct record_view){.kind = RECORD_END, .id = id});
    kit_put_record(kit, 1, (struct record_view){.kind = RECORD_END, .id = id - 1});
    for (uint32_t i = 2; i < KIT_RECORDS; i++) {
        kit_put_record(kit, 1,
                       (struct record_view){.kind = RECORD_MARK, .text = "b", .text_len = 1});
    }
}

// `path` NULL: private memory. The region's process is ours. Returns 0 or -errno.
static inline int region_kit_make(struct region_kit *kit, const char *path) {
    *kit = (struct region_kit){.time = 1000, .text_bytes = 1, .range = 1};
    struct region *region = &kit->region;
    int result = region_make(region, path, KIT_RING, KIT_WINDOW);
    result = result == 0 ? region_chunk(region, 0) : result;
    for (int table = TABLE_STRINGS; result == 0 && table <= TABLE_TEXT; table++) {
        result = region_grant(region, (enum region_table)table, 16);
    }
    if (result < 0) {
        return result;
    }
    struct region_session session = {.id = KIT_SESSION};
    region_set_session(region, &session);
    strcpy(region->head->name, "kit");
    region->strings[0] = kit_put_text(kit, "a string");
    region->domains[1] = kit_put_text(kit, "a domain");
    region->names[0].kind = NAME_CATEGORY;
    region->names[0].key = 4;
    region->names[0].text = kit_put_text(kit, "a category");
    atomic_store(&region->names[0].version, 2);
    atomic_store(&region->head->strings, 1);
    atomic_store(&region->head->domains, 2);
    atomic_store(&region->head->names, 1);
    for (uint32_t i = 0; result == 0 && i < 2; i++) {
        result = region_grant_ring(region, i, 0);
        atomic_store(&region->rings[i].tid, 40 + i);
        atomic_store(&region->rings[i].state, RING_LIVE);
        ring_writer_init(&kit->writers[i], region, i);
    }
    kit->pass = malloc(sizeof(*kit->pass));
    if (result < 0 || !kit->pass) {
        return result < 0 ? result : -1;
    }
    pass_init(kit->pass, region);
    kit_record_round(kit);
    pass_run(kit->pass, true, NULL);
    kit_record_round(kit);
    return 0;
}

static inline void region_kit_free(struct region_kit *kit) {
    region_unmap(&kit->region);
    free(kit->pass);
}
