// SPDX-License-Identifier: Apache-2.0
//
// One table finds everything by the bytes that make it: a letter for what it is, then a text, the
// numbers of a name, or those of a pile. What is new gets the next number of its kind. The ranges
// of a pile have equal times; their order is that of the pile.
#include "report/ncurep/matching.h"

#define MOST_EVENTS 100000 // notes are no reason for more memory

struct known {
    struct nvtxt_hash_node node;
    struct nvtxt_slice key; // in the arena
    uint32_t number;
};

static bool has_failed(const struct report_gathered *g) {
    return g->incomplete || nvtxt_buf_failed(&g->key) || nvtxt_buf_failed(&g->events) ||
           nvtxt_buf_failed(&g->names) || nvtxt_buf_failed(&g->messages) ||
           nvtxt_buf_failed(&g->domains) || nvtxt_buf_failed(&g->threads) ||
           nvtxt_buf_failed(&g->processes);
}

// What has the bytes of `key`; if nothing has them, it gets the number `next`. NULL without memory.
static const struct known *find_known(struct report_gathered *g, uint32_t next) {
    struct nvtxt_slice key = {g->key.data, g->key.len};
    struct known *known;
    if (nvtxt_buf_failed(&g->key)) {
        return NULL;
    }
    uint64_t hash = nvtxt_hash_bytes(key);
    NVTXT_HASH_FIND(known, node, &g->known, hash, nvtxt_slice_equal(known->key, key));
    if (known) {
        return known;
    }
    known = store_arena_make(&g->arena, sizeof(*known));
    const char *copy = store_arena_copy(&g->arena, key.data, key.len);
    if (!known || !copy || nvtxt_hash_add(&g->known, &known->node, hash) != 0) {
        return NULL;
    }
    known->key = (struct nvtxt_slice){copy, key.len};
    known->number = next;
    return known;
}

static void begin_key(struct report_gathered *g, char letter) {
    nvtxt_buf_clear(&g->key);
    nvtxt_buf_add(&g->key, &letter, 1);
}

static uint32_t count_of(const struct nvtxt_buf *list, size_t size) {
    return (uint32_t)(list->len / size);
}

// The number of a message ('m') or a domain ('d').
static uint32_t number_of_text(struct report_gathered *g, char letter, struct nvtxt_slice text) {
    struct nvtxt_buf *list = letter == 'm' ? &g->messages : &g->domains;
    uint32_t next = count_of(list, sizeof(text));
    begin_key(g, letter);
    nvtxt_buf_add(&g->key, text.data, text.len);
    const struct known *known = find_known(g, next);
    if (!known) {
        g->incomplete = true;
        return 0;
    }
    if (known->number == next) {
        text = (struct nvtxt_slice){known->key.data + 1, known->key.len - 1};
        nvtxt_buf_add(list, &text, sizeof(text));
    }
    return known->number;
}

static uint32_t number_of_name(struct report_gathered *g, uint32_t domain,
                               struct nvtxt_slice message) {
    struct report_name name = {domain, number_of_text(g, 'm', message)};
    uint32_t next = count_of(&g->names, sizeof(name));
    begin_key(g, 'n');
    nvtxt_buf_add(&g->key, &name, sizeof(name));
    const struct known *known = find_known(g, next);
    if (!known) {
        g->incomplete = true;
        return 0;
    }
    if (known->number == next) {
        nvtxt_buf_add(&g->names, &name, sizeof(name));
    }
    return known->number;
}

// A thread and a process for a pile that was not there yet.
static void add_pile(struct report_gathered *g, enum report_kind kind, const uint32_t *names,
                     size_t count) {
    uint32_t pile = count_of(&g->threads, sizeof(struct report_thread));
    struct report_thread thread = {.process = pile};
    struct report_process process = {.pid = pile};
    struct report_event event = {
        .start = 2 * (int64_t)pile,
        .end = 2 * (int64_t)pile + 1,
        .thread = pile,
        .source = REPORT_NONE,
        .more = REPORT_NONE,
        .kind = (uint8_t)kind,
    };
    nvtxt_buf_add(&g->threads, &thread, sizeof(thread));
    nvtxt_buf_add(&g->processes, &process, sizeof(process));
    for (size_t i = 0; i < count; i++) {
        event.name = names[i];
        nvtxt_buf_add(&g->events, &event, sizeof(event));
    }
}

static void take_pile(struct report_gathered *g, const struct report_state *state, uint32_t domain,
                      const struct report_pile *pile) {
    struct report_wire ranges = report_ranges_of(pile);
    struct report_range range;
    struct nvtxt_buf names = {0};
    while (!has_failed(g) && report_range_next(state, pile, &ranges, &range)) {
        uint32_t name = number_of_name(g, domain, range.name);
        nvtxt_buf_add(&names, &name, sizeof(name));
    }
    size_t count = count_of(&names, sizeof(uint32_t));
    uint32_t next = count_of(&g->threads, sizeof(struct report_thread));
    begin_key(g, pile->start_end ? 's' : 'p');
    nvtxt_buf_add(&g->key, names.data, names.len);
    const struct known *known = find_known(g, next);
    g->incomplete |= !known || nvtxt_buf_failed(&names) ||
                     count_of(&g->events, sizeof(struct report_event)) + count > MOST_EVENTS;
    if (!has_failed(g) && known->number == next && count > 0) {
        add_pile(g, pile->start_end ? REPORT_START_END : REPORT_PUSH_POP,
                 (const uint32_t *)(const void *)names.data, count);
    }
    nvtxt_buf_deinit(&names);
}

void report_gathered_add(struct report_gathered *g, const struct report_state *state) {
    struct report_state_domain domain;
    char made[REPORT_STATE_NAME];
    size_t domains = 0;
    (void)number_of_text(g, 'd', NVTXT_SLICE("")); // the default domain is number 0
    while (!has_failed(g) && report_state_next_domain(state, &domains, &domain)) {
        struct report_state_piles piles = {.begun = false};
        struct report_pile pile;
        uint32_t number =
            domain.is_default ? 0 : number_of_text(g, 'd', report_state_domain_name(&domain, made));
        while (!has_failed(g) && report_state_next_pile(state, &domain, &piles, &pile)) {
            take_pile(g, state, number, &pile);
        }
    }
}

bool report_gathered_capture(const struct report_gathered *g, struct report_capture *capture) {
    *capture = (struct report_capture){
        .events = (void *)g->events.data,
        .event_count = g->events.len / sizeof(struct report_event),
        .names = (void *)g->names.data,
        .name_count = g->names.len / sizeof(struct report_name),
        .messages = (void *)g->messages.data,
        .message_count = g->messages.len / sizeof(struct nvtxt_slice),
        .domains = (void *)g->domains.data,
        .domain_count = g->domains.len / sizeof(struct nvtxt_slice),
        .threads = (void *)g->threads.data,
        .thread_count = g->threads.len / sizeof(struct report_thread),
        .processes = (void *)g->processes.data,
        .process_count = g->processes.len / sizeof(struct report_process),
    };
    return capture->event_count > 0 && !has_failed(g);
}

void report_gathered_deinit(struct report_gathered *g) {
    struct nvtxt_buf *const all[] = {&g->key,     &g->events,  &g->names,    &g->messages,
                                     &g->domains, &g->threads, &g->processes};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        nvtxt_buf_deinit(all[i]);
    }
    nvtxt_hash_deinit(&g->known);
    store_arena_deinit(&g->arena);
    *g = (struct report_gathered){.incomplete = false};
}
