// SPDX-License-Identifier: Apache-2.0
//
// Cursors in cursors: states of a result (the file may have the field more than once), parts of a
// state, domains of a thread. A registered text is looked for in the lists of its domain.
#include "report/ncurep/state.h"

#include <stdio.h>
#include <string.h>

#include "report/ncurep/known.h"

// The next part of that number, of all states of the result.
static bool next_part(struct report_wire *states, struct report_wire *parts, uint32_t number,
                      struct nvtxt_slice *part) {
    struct nvtxt_slice state;
    while (!report_wire_find(parts, number, part)) {
        if (!report_wire_find(states, NCUREP_RESULT_NVTX, &state)) {
            return false;
        }
        *parts = report_wire_of(state);
    }
    return true;
}

// The last number of that field; false: there is none.
static bool read_number(struct nvtxt_slice message, uint32_t number, uint64_t *value) {
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    bool found = false;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == number && field.type == REPORT_WIRE_VARINT) {
            *value = field.value;
            found = true;
        }
    }
    return found;
}

static uint64_t number_of(struct nvtxt_slice message, uint32_t number) {
    uint64_t value = 0;
    return read_number(message, number, &value) ? value : 0;
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

void report_state_open(struct report_state *state, const struct report_ncurep_result *result) {
    struct report_wire states, parts = {0};
    struct nvtxt_slice part;
    *state = (struct report_state){.states = span_of_states(result->bytes), .tid = result->tid};
    states = report_wire_of(state->states);
    while (report_wire_find(&states, NCUREP_RESULT_NVTX, &part)) {
        read_number(part, NCUREP_STATE_DEFAULT, &state->default_domain);
    }
    states = report_wire_of(state->states);
    while (!state->own_thread && next_part(&states, &parts, NCUREP_STATE_THREAD, &part)) {
        state->own_thread = (uint32_t)number_of(part, NCUREP_THREAD_TID) == state->tid;
    }
}

// ---- Piles --------------------------------------------------------------------------------------

static bool next_stack(const struct report_state *state, struct report_state_piles *cursor,
                       struct nvtxt_slice *bytes) {
    struct nvtxt_slice thread;
    while (!report_wire_find(&cursor->thread, NCUREP_THREAD_DOMAIN, bytes)) {
        do {
            if (!next_part(&cursor->states, &cursor->parts, NCUREP_STATE_THREAD, &thread)) {
                return false;
            }
            cursor->tid = (uint32_t)number_of(thread, NCUREP_THREAD_TID);
        } while (state->own_thread && cursor->tid != state->tid);
        cursor->thread = report_wire_of(thread);
    }
    return true;
}

static void start_over(const struct report_state *state, struct report_state_piles *cursor,
                       bool start_end) {
    *cursor = (struct report_state_piles){
        .started = true, .start_end = start_end, .states = report_wire_of(state->states)};
}

bool report_state_next_pile(const struct report_state *state, struct report_state_piles *cursor,
                            struct report_state_pile *pile) {
    struct nvtxt_slice bytes;
    if (!cursor->started) {
        start_over(state, cursor, false);
    }
    if (!cursor->start_end && !next_stack(state, cursor, &bytes)) {
        start_over(state, cursor, true);
    }
    if (cursor->start_end &&
        !next_part(&cursor->states, &cursor->parts, NCUREP_STATE_START_END, &bytes)) {
        return false;
    }
    *pile = (struct report_state_pile){
        .domain = number_of(bytes, NCUREP_PILE_DOMAIN),
        .tid = cursor->start_end ? 0 : cursor->tid,
        .start_end = cursor->start_end,
        .bytes = bytes,
    };
    return true;
}

// ---- Domains ------------------------------------------------------------------------------------

void report_state_find_domain(const struct report_state *state, uint64_t id,
                              struct report_state_domain *domain) {
    struct report_wire states = report_wire_of(state->states), parts = {0};
    struct nvtxt_slice part, name;
    *domain = (struct report_state_domain){.id = id, .is_default = id == state->default_domain};
    while (!domain->is_default && next_part(&states, &parts, NCUREP_STATE_DOMAIN, &part)) {
        struct report_wire wire = report_wire_of(part);
        bool is_it = number_of(part, NCUREP_DOMAIN_ID) == id;
        while (is_it && report_wire_find(&wire, NCUREP_DOMAIN_NAME, &name)) {
            domain->name = name;
        }
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

static bool has_open(const struct report_state *state, uint64_t domain) {
    struct report_state_piles piles = {.started = false};
    struct report_state_pile pile;
    struct nvtxt_slice range;
    while (report_state_next_pile(state, &piles, &pile)) {
        struct report_wire ranges = report_state_ranges(&pile);
        if (pile.domain == domain && report_wire_find(&ranges, NCUREP_PILE_RANGE, &range)) {
            return true;
        }
    }
    return false;
}

// The ids of all listed domains, then those of all piles, again and again.
struct ids {
    struct report_wire states, parts;
    struct report_state_piles piles;
};

static bool next_id(const struct report_state *state, struct ids *ids, uint64_t *id) {
    struct nvtxt_slice part;
    struct report_state_pile pile;
    if (next_part(&ids->states, &ids->parts, NCUREP_STATE_DOMAIN, &part)) {
        *id = number_of(part, NCUREP_DOMAIN_ID);
        return true;
    }
    if (report_state_next_pile(state, &ids->piles, &pile)) {
        *id = pile.domain;
        return true;
    }
    return false;
}

// Whether an id stands among the first `count`.
static bool came_before(const struct report_state *state, uint64_t id, uint64_t count) {
    struct ids ids = {.states = report_wire_of(state->states)};
    uint64_t other;
    for (uint64_t i = 0; i < count && next_id(state, &ids, &other); i++) {
        if (other == id) {
            return true;
        }
    }
    return false;
}

bool report_state_next_domain(const struct report_state *state, struct report_state_domains *cursor,
                              struct report_state_domain *domain) {
    struct ids ids = {.states = report_wire_of(state->states)};
    uint64_t id, place = 0;
    for (; next_id(state, &ids, &id); place++) {
        if (place >= cursor->next && !came_before(state, id, place) && has_open(state, id)) {
            cursor->next = place + 1;
            report_state_find_domain(state, id, domain);
            return true;
        }
    }
    return false;
}

// ---- Ranges -------------------------------------------------------------------------------------

// The registered text of a handle; data NULL: there is none.
static struct nvtxt_slice registered(const struct report_state *state, uint64_t domain,
                                     uint64_t handle) {
    struct report_wire states = report_wire_of(state->states), parts = {0};
    struct nvtxt_slice part, string, text, found = {NULL, 0};
    while (next_part(&states, &parts, NCUREP_STATE_DOMAIN, &part)) {
        struct report_wire strings = report_wire_of(part);
        bool is_it = number_of(part, NCUREP_DOMAIN_ID) == domain;
        while (is_it && report_wire_find(&strings, NCUREP_DOMAIN_STRING, &string)) {
            struct report_wire wire = report_wire_of(string);
            if (number_of(string, NCUREP_STRING_ID) == handle) {
                found = NVTXT_SLICE("");
                while (report_wire_find(&wire, NCUREP_STRING_TEXT, &text)) {
                    found = text;
                }
                return found;
            }
        }
    }
    return found;
}

#define MESSAGE_REGISTERED 3

struct message {
    uint64_t type, handle;
    bool has_handle;
    struct nvtxt_slice text;
};

static void read_message(struct nvtxt_slice bytes, struct message *message) {
    struct report_wire wire = report_wire_of(bytes);
    struct nvtxt_slice text;
    message->has_handle |= read_number(bytes, NCUREP_MESSAGE_HANDLE, &message->handle);
    read_number(bytes, NCUREP_MESSAGE_TYPE, &message->type);
    while (report_wire_find(&wire, NCUREP_MESSAGE_TEXT, &text)) {
        message->text = text;
    }
}

// Its values by field; the first one that is there counts.
struct payload {
    bool has[NCUREP_PAYLOAD_FLOAT + 1];
    uint64_t values[NCUREP_PAYLOAD_FLOAT + 1];
};

static void read_payload(struct nvtxt_slice bytes, struct payload *payload) {
    static const uint8_t types[] = {[NCUREP_PAYLOAD_DOUBLE] = REPORT_WIRE_FIXED64,
                                    [NCUREP_PAYLOAD_FLOAT] = REPORT_WIRE_FIXED32};
    struct report_wire wire = report_wire_of(bytes);
    struct report_wire_field field;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number <= NCUREP_PAYLOAD_FLOAT && field.type == types[field.number]) {
            payload->has[field.number] = true;
            payload->values[field.number] = field.value;
        }
    }
}

static void set_payload(struct report_state_range *range, const struct payload *payload) {
    uint32_t at = NCUREP_PAYLOAD_UINT64;
    while (at <= NCUREP_PAYLOAD_FLOAT && !payload->has[at]) {
        at++;
    }
    range->payload_type = (uint32_t)payload->values[NCUREP_PAYLOAD_TYPE];
    if (at > NCUREP_PAYLOAD_FLOAT) {
        return;
    }
    const uint64_t bits = payload->values[at];
    const uint32_t low = (uint32_t)bits;
    float single;
    switch (at) {
    case NCUREP_PAYLOAD_UINT64:
    case NCUREP_PAYLOAD_UINT32:
        range->payload = REPORT_STATE_UINT64;
        range->number = at == NCUREP_PAYLOAD_UINT32 ? low : bits;
        break;
    case NCUREP_PAYLOAD_INT64:
    case NCUREP_PAYLOAD_INT32:
        range->payload = REPORT_STATE_INT64;
        range->number = at == NCUREP_PAYLOAD_INT32 && low >> 31 ? UINT64_MAX << 32 | low
                        : at == NCUREP_PAYLOAD_INT32            ? low
                                                                : bits;
        break;
    default:
        range->payload = REPORT_STATE_DOUBLE;
        memcpy(&single, &low, sizeof(single));
        memcpy(&range->real, &bits, sizeof(range->real));
        range->real = at == NCUREP_PAYLOAD_FLOAT ? (double)single : range->real;
        break;
    }
}

static void read_color(struct nvtxt_slice bytes, struct report_state_range *range, uint64_t *type) {
    uint64_t value;
    read_number(bytes, NCUREP_COLOR_TYPE, type);
    if (read_number(bytes, NCUREP_COLOR_VALUE, &value)) {
        range->has_color = true;
        range->color = (uint32_t)value;
    }
}

// What all attributes of a range say together.
struct attributes {
    struct message message;
    struct payload payload;
    uint64_t color_type;
};

static void read_attributes(struct nvtxt_slice bytes, struct report_state_range *range,
                            struct attributes *attributes) {
    struct report_wire wire = report_wire_of(bytes);
    struct report_wire_field field;
    range->has_attributes = true;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == NCUREP_ATTRIBUTES_CATEGORY && field.type == REPORT_WIRE_VARINT) {
            range->category = (uint32_t)field.value;
        } else if (field.type != REPORT_WIRE_BYTES) {
            continue;
        } else if (field.number == NCUREP_ATTRIBUTES_COLOR) {
            read_color(field.bytes, range, &attributes->color_type);
        } else if (field.number == NCUREP_ATTRIBUTES_PAYLOAD) {
            read_payload(field.bytes, &attributes->payload);
        } else if (field.number == NCUREP_ATTRIBUTES_MESSAGE) {
            read_message(field.bytes, &attributes->message);
        }
    }
}

static void finish_range(const struct report_state *state, uint64_t domain,
                         const struct attributes *attributes, struct report_state_range *range) {
    const struct message *message = &attributes->message;
    bool by_handle =
        message->has_handle && (message->type == MESSAGE_REGISTERED || !message->text.data);
    range->message = message->text;
    if (by_handle) {
        struct nvtxt_slice text = registered(state, domain, message->handle);
        range->message = text.data ? text : range->message;
    }
    if (!range->name.data) {
        range->name = range->message.data ? range->message : NVTXT_SLICE("");
    }
    range->has_color = range->has_color && attributes->color_type != 0;
    set_payload(range, &attributes->payload);
}

bool report_state_next_range(const struct report_state *state, const struct report_state_pile *pile,
                             struct report_wire *cursor, struct report_state_range *range) {
    struct nvtxt_slice bytes;
    struct report_wire_field field;
    struct attributes attributes = {.color_type = 1};
    const uint32_t name = pile->start_end ? NCUREP_START_NAME : NCUREP_PUSH_NAME;
    const uint32_t more = pile->start_end ? NCUREP_START_ATTRIBUTES : NCUREP_PUSH_ATTRIBUTES;
    if (!report_wire_find(cursor, NCUREP_PILE_RANGE, &bytes)) {
        return false;
    }
    struct report_wire wire = report_wire_of(bytes);
    *range = (struct report_state_range){.category = 0};
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.type == REPORT_WIRE_BYTES && field.number == name) {
            range->name = field.bytes;
        } else if (field.type == REPORT_WIRE_BYTES && field.number == more) {
            read_attributes(field.bytes, range, &attributes);
        } else if (field.type != REPORT_WIRE_VARINT || !pile->start_end) {
            continue;
        } else if (field.number == NCUREP_START_ID) {
            range->id = field.value;
        } else if (field.number == NCUREP_START_TID) {
            range->tid = (uint32_t)field.value;
        }
    }
    finish_range(state, pile->domain, &attributes, range);
    return true;
}
