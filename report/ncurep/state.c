// SPDX-License-Identifier: Apache-2.0
//
// A state is gone over twice: once to count what is in it, and once to note where it is. The piles
// of a domain are a list, and ids are found by hash tables, so that the time grows with the size of
// a state and no faster, whatever ids are in it. What is noted is a place in the result, of 32
// bits.
#include "report/ncurep/state.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/ncurep/known.h"

void report_state_deinit(struct report_state *state) {
    free(state->domains);
    free(state->piles);
    free(state->texts);
    nvtxt_slots_deinit(&state->by_id);
    nvtxt_slots_deinit(&state->by_handle);
    *state = (struct report_state){.base = NULL};
}

// ---- Parts --------------------------------------------------------------------------------------

// A cursor over the parts of one number of all states of the result. Start it with parts_of().
struct parts {
    struct report_wire states, parts;
    uint32_t number;
};

static struct parts parts_of(const struct report_state *state, uint32_t number) {
    return (struct parts){.states = report_wire_of(state->states), .number = number};
}

static bool next_part(struct parts *parts, struct nvtxt_slice *part) {
    struct nvtxt_slice state;
    while (!report_wire_find(&parts->parts, parts->number, part)) {
        if (!report_wire_find(&parts->states, NCUREP_RESULT_NVTX, &state)) {
            return false;
        }
        parts->parts = report_wire_of(state);
    }
    return true;
}

static uint64_t number_of(struct nvtxt_slice message, uint32_t number) {
    uint64_t value = 0;
    return report_wire_number(message, number, &value) ? value : 0;
}

// A cursor over the push/pop piles that count.
struct stacks {
    struct parts threads;
    struct report_wire thread;
};

static bool next_stack(const struct report_state *state, struct stacks *stacks,
                       struct nvtxt_slice *bytes) {
    struct nvtxt_slice thread;
    while (!report_wire_find(&stacks->thread, NCUREP_THREAD_DOMAIN, bytes)) {
        do {
            if (!next_part(&stacks->threads, &thread)) {
                return false;
            }
        } while (state->own_thread && (uint32_t)number_of(thread, NCUREP_THREAD_TID) != state->tid);
        stacks->thread = report_wire_of(thread);
    }
    return true;
}

static bool has_range(struct nvtxt_slice pile) {
    struct report_wire wire = report_wire_of(pile);
    struct nvtxt_slice range;
    return report_wire_find(&wire, NCUREP_PILE_RANGE, &range);
}

// ---- Counting -----------------------------------------------------------------------------------

struct counts {
    size_t domains, strings, piles;
};

static struct counts count_all(const struct report_state *state) {
    struct counts counts = {0};
    struct parts domains = parts_of(state, NCUREP_STATE_DOMAIN);
    struct stacks stacks = {.threads = parts_of(state, NCUREP_STATE_THREAD)};
    struct parts started = parts_of(state, NCUREP_STATE_START_END);
    struct nvtxt_slice part, string;
    for (; next_part(&domains, &part); counts.domains++) {
        struct report_wire wire = report_wire_of(part);
        while (report_wire_find(&wire, NCUREP_DOMAIN_STRING, &string)) {
            counts.strings++;
        }
    }
    while (next_stack(state, &stacks, &part)) {
        counts.piles += has_range(part);
    }
    while (next_part(&started, &part)) {
        counts.piles += has_range(part);
    }
    counts.domains += counts.piles;
    return counts;
}

// Room for `count` of a list; what is in it is forgotten.
static int make_room(void **list, size_t *room, size_t count, size_t size) {
    if (count > *room) {
        free(*list);
        *list = calloc(count, size);
        *room = *list ? count : 0;
    }
    return count <= *room ? 0 : nvtxt_origin(-ENOMEM);
}

static int make_all_room(struct report_state *state) {
    struct counts counts = count_all(state);
    void *domains = state->domains, *piles = state->piles, *texts = state->texts;
    int r = make_room(&domains, &state->domain_room, counts.domains, sizeof(*state->domains));
    r = r ?: make_room(&piles, &state->pile_room, counts.piles, sizeof(*state->piles));
    r = r ?: make_room(&texts, &state->text_room, counts.strings, sizeof(*state->texts));
    r = r ?: nvtxt_slots_reset(&state->by_id, counts.domains);
    r = r ?: nvtxt_slots_reset(&state->by_handle, counts.strings);
    state->domains = domains;
    state->piles = piles;
    state->texts = texts;
    state->domain_count = state->stack_count = state->pile_count = state->text_count = 0;
    return r;
}

// ---- Noting -------------------------------------------------------------------------------------

static uint32_t place_of(const struct report_state *state, struct nvtxt_slice bytes) {
    return report_wire_place(state->base, bytes);
}

// The number of a domain, which becomes known.
static uint32_t take_domain(struct report_state *state, uint64_t id) {
    const struct nvtxt_slots *slots = &state->by_id;
    size_t at = nvtxt_slots_start(slots, nvtxt_hash_number(id));
    while (slots->places[at] && state->domains[slots->places[at] - 1].id != id) {
        at = nvtxt_slots_next(slots, at);
    }
    if (!slots->places[at]) {
        state->domains[state->domain_count++] = (struct report_domain_entry){.id = id};
        slots->places[at] = (uint32_t)state->domain_count;
    }
    return slots->places[at];
}

// The slot of a registered text.
static uint32_t *slot_of_text(const struct report_state *state, uint32_t domain, uint64_t handle) {
    const struct nvtxt_slots *slots = &state->by_handle;
    size_t at = nvtxt_slots_start(slots, nvtxt_hash_numbers(domain, handle));
    for (; slots->places[at]; at = nvtxt_slots_next(slots, at)) {
        const struct report_text_entry *entry = &state->texts[slots->places[at] - 1];
        if (entry->handle == handle && entry->domain == domain) {
            break;
        }
    }
    return &slots->places[at];
}

#define NO_TEXT 0 // no place: the tag of a state comes before any text

// The first text of a handle counts.
static void note_text(struct report_state *state, uint32_t domain, struct nvtxt_slice string) {
    uint64_t handle = number_of(string, NCUREP_STRING_ID);
    uint32_t *slot = slot_of_text(state, domain, handle);
    struct nvtxt_slice text;
    if (*slot == 0) {
        bool found = report_wire_text(string, NCUREP_STRING_TEXT, &text);
        state->texts[state->text_count++] =
            (struct report_text_entry){handle, domain, found ? place_of(state, text) : NO_TEXT};
        *slot = (uint32_t)state->text_count;
    }
}

// Of the names of a domain the last one counts.
static void note_domain(struct report_state *state, struct nvtxt_slice part) {
    uint32_t number = take_domain(state, number_of(part, NCUREP_DOMAIN_ID));
    struct report_wire wire = report_wire_of(part);
    struct nvtxt_slice name, string;
    if (report_wire_text(part, NCUREP_DOMAIN_NAME, &name)) {
        state->domains[number - 1].name = place_of(state, name);
    }
    while (report_wire_find(&wire, NCUREP_DOMAIN_STRING, &string)) {
        note_text(state, number, string);
    }
}

// `next` is the domain until all piles are known.
static void note_pile(struct report_state *state, struct nvtxt_slice part) {
    if (has_range(part)) {
        state->piles[state->pile_count++] = (struct report_pile_entry){
            place_of(state, part), take_domain(state, number_of(part, NCUREP_PILE_DOMAIN))};
    }
}

// The last pile goes into its list first, so that all lists are in order.
static void link_piles(struct report_state *state) {
    for (size_t i = state->pile_count; i > 0; i--) {
        struct report_pile_entry *pile = &state->piles[i - 1];
        uint32_t *first = &state->domains[pile->next - 1].first;
        pile->next = *first;
        *first = (uint32_t)i;
    }
}

static void note_all(struct report_state *state) {
    struct parts domains = parts_of(state, NCUREP_STATE_DOMAIN);
    struct stacks stacks = {.threads = parts_of(state, NCUREP_STATE_THREAD)};
    struct parts started = parts_of(state, NCUREP_STATE_START_END);
    struct nvtxt_slice part;
    while (next_part(&domains, &part)) {
        note_domain(state, part);
    }
    while (next_stack(state, &stacks, &part)) {
        note_pile(state, part);
    }
    state->stack_count = state->pile_count;
    while (next_part(&started, &part)) {
        note_pile(state, part);
    }
    link_piles(state);
}

// The shortest part of a result that has all of its states: metrics, of which there are many, need
// not be passed over again and again.
static struct nvtxt_slice span_of_states(struct nvtxt_slice result) {
    struct report_wire wire = report_wire_of(result);
    struct report_wire_field field;
    const char *begin = NULL, *end = NULL;
    for (const char *at = wire.at; report_wire_next(&wire, &field) == REPORT_WIRE_FIELD;
         at = wire.at) {
        if (field.number == NCUREP_RESULT_NVTX && field.type == REPORT_WIRE_BYTES) {
            begin = begin ?: at;
            end = wire.at;
        }
    }
    return (struct nvtxt_slice){begin, (size_t)(end - begin)};
}

int report_state_open(struct report_state *state, const struct report_ncurep_result *result) {
    struct nvtxt_slice part;
    state->base = result->bytes.data;
    state->states = span_of_states(result->bytes);
    state->tid = result->tid;
    state->own_thread = false;
    state->default_domain = 0;
    struct report_wire states = report_wire_of(state->states);
    while (report_wire_find(&states, NCUREP_RESULT_NVTX, &part)) {
        report_wire_number(part, NCUREP_STATE_DEFAULT, &state->default_domain);
    }
    struct parts threads = parts_of(state, NCUREP_STATE_THREAD);
    while (!state->own_thread && next_part(&threads, &part)) {
        state->own_thread = (uint32_t)number_of(part, NCUREP_THREAD_TID) == state->tid;
    }
    int r = make_all_room(state);
    if (r == 0) {
        note_all(state);
    }
    return r;
}

// ---- Domains and piles --------------------------------------------------------------------------

bool report_state_next_domain(const struct report_state *state, size_t *cursor,
                              struct report_state_domain *domain) {
    while (*cursor < state->domain_count && state->domains[*cursor].first == 0) {
        (*cursor)++;
    }
    if (*cursor == state->domain_count) {
        return false;
    }
    report_state_get_domain(state, (uint32_t)++ * cursor, domain);
    return true;
}

void report_state_get_domain(const struct report_state *state, uint32_t number,
                             struct report_state_domain *domain) {
    const struct report_domain_entry *entry = &state->domains[number - 1];
    *domain = (struct report_state_domain){
        .number = number,
        .id = entry->id,
        .is_default = entry->id == state->default_domain,
    };
    if (!domain->is_default && entry->name > 0) {
        domain->name = report_wire_at(state->base, entry->name);
    }
}

struct nvtxt_slice report_state_domain_name(const struct report_state_domain *domain,
                                            char made[REPORT_STATE_NAME]) {
    if (domain->is_default) {
        return NVTXT_SLICE(REPORT_STATE_DEFAULT);
    }
    if (domain->name.data) {
        return domain->name;
    }
    snprintf(made, REPORT_STATE_NAME, "Domain %llu", (unsigned long long)domain->id);
    return nvtxt_slice_of(made);
}

struct nvtxt_slice report_state_registered(const struct report_state *state, uint32_t domain,
                                           uint64_t handle) {
    uint32_t number = *slot_of_text(state, domain, handle);
    uint32_t place = number > 0 ? state->texts[number - 1].place : NO_TEXT;
    if (place == NO_TEXT) {
        return (struct nvtxt_slice){number > 0 ? "" : NULL, 0};
    }
    return report_wire_at(state->base, place);
}

bool report_state_next_pile(const struct report_state *state,
                            const struct report_state_domain *domain,
                            struct report_state_piles *cursor, struct report_pile *pile) {
    uint32_t at = cursor->begun ? cursor->next : state->domains[domain->number - 1].first;
    cursor->begun = true;
    if (at == 0) {
        return false;
    }
    const struct report_pile_entry *entry = &state->piles[at - 1];
    cursor->next = entry->next;
    *pile = (struct report_pile){domain->number, at > state->stack_count,
                                 report_wire_at(state->base, entry->place)};
    return true;
}
