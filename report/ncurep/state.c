// SPDX-License-Identifier: Apache-2.0
//
// A state is gone over twice: once to count what is in it, and once to note where it is. The piles
// of a domain are a list, and ids are found by hash tables, so that the time grows with the size of
// a state and no faster, whatever ids are in it. What is noted is a place in the result, of 32
// bits.
#include "report/ncurep/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/ncurep/file/known.h"

void report_state_deinit(struct report_state *state) {
    free(state->domains);
    free(state->piles);
    report_numbers_deinit(&state->ids);
    report_numbers_deinit(&state->strings);
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
    uint32_t tid;
};

static bool next_stack(const struct report_state *state, struct stacks *stacks,
                       struct nvtxt_slice *bytes) {
    struct nvtxt_slice thread;
    while (!report_wire_find(&stacks->thread, NCUREP_THREAD_DOMAIN, bytes)) {
        do {
            if (!next_part(&stacks->threads, &thread)) {
                return false;
            }
            stacks->tid = (uint32_t)number_of(thread, NCUREP_THREAD_TID);
        } while (state->own_thread && stacks->tid != state->tid);
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
    return count <= *room ? 0 : -ENOMEM;
}

static int make_all_room(struct report_state *state) {
    struct counts counts = count_all(state);
    void *domains = state->domains, *piles = state->piles;
    int rc = make_room(&domains, &state->domain_room, counts.domains, sizeof(*state->domains));
    state->domains = domains;
    rc = rc ? rc : make_room(&piles, &state->pile_room, counts.piles, sizeof(*state->piles));
    state->piles = piles;
    rc = rc ? rc : report_numbers_reset(&state->ids, counts.domains);
    rc = rc ? rc : report_numbers_reset(&state->strings, counts.strings);
    state->domain_count = state->pile_count = 0;
    return rc;
}

// ---- Noting -------------------------------------------------------------------------------------

static uint32_t place_of(const struct report_state *state, struct nvtxt_slice bytes) {
    return report_wire_place(state->base, bytes);
}

// The number of a domain, which becomes known.
static uint32_t take_domain(struct report_state *state, uint64_t id) {
    uint32_t *number = report_numbers_at(&state->ids, 0, id);
    if (*number == 0) {
        state->domains[state->domain_count++] = (struct report_domain_entry){.id = id};
        *number = (uint32_t)state->domain_count;
    }
    return *number;
}

#define NO_TEXT 1 // no place: the tag of a state comes before any text

// The first text of a handle counts; of names of a domain the last one.
static void note_domain(struct report_state *state, struct nvtxt_slice part) {
    uint32_t number = take_domain(state, number_of(part, NCUREP_DOMAIN_ID));
    struct report_wire wire = report_wire_of(part);
    struct nvtxt_slice name, string;
    if (report_wire_text(part, NCUREP_DOMAIN_NAME, &name)) {
        state->domains[number - 1].name = place_of(state, name);
    }
    while (report_wire_find(&wire, NCUREP_DOMAIN_STRING, &string)) {
        uint32_t *place =
            report_numbers_at(&state->strings, number, number_of(string, NCUREP_STRING_ID));
        if (*place == 0) {
            struct nvtxt_slice text;
            bool found = report_wire_text(string, NCUREP_STRING_TEXT, &text);
            *place = found ? place_of(state, text) : NO_TEXT;
        }
    }
}

static void note_pile(struct report_state *state, struct nvtxt_slice part, uint32_t tid,
                      bool start_end) {
    if (!has_range(part)) {
        return;
    }
    uint32_t domain = take_domain(state, number_of(part, NCUREP_PILE_DOMAIN));
    struct report_domain_entry *entry = &state->domains[domain - 1];
    state->piles[state->pile_count++] =
        (struct report_pile_entry){place_of(state, part), tid, 0, start_end};
    uint32_t pile = (uint32_t)state->pile_count;
    *(entry->last ? &state->piles[entry->last - 1].next : &entry->first) = pile;
    entry->last = pile;
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
        note_pile(state, part, stacks.tid, false);
    }
    while (next_part(&started, &part)) {
        note_pile(state, part, 0, true);
    }
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
            begin = begin ? begin : at;
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
    int rc = make_all_room(state);
    if (rc == 0) {
        note_all(state);
    }
    return rc;
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
    const struct report_domain_entry *entry = &state->domains[(*cursor)++];
    *domain = (struct report_state_domain){
        .number = (uint32_t)*cursor,
        .id = entry->id,
        .is_default = entry->id == state->default_domain,
    };
    if (!domain->is_default && entry->name > 0) {
        domain->name = report_wire_at(state->base, entry->name);
    }
    return true;
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
    uint32_t place = report_numbers_find(&state->strings, domain, handle);
    if (place <= NO_TEXT) {
        return (struct nvtxt_slice){place == NO_TEXT ? "" : NULL, 0};
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
    *pile = (struct report_pile){domain->number, entry->tid, entry->start_end,
                                 report_wire_at(state->base, entry->place)};
    return true;
}
