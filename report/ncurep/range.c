// SPDX-License-Identifier: Apache-2.0
//
// Of a field that stands twice the last one counts, of a message that stands twice the fields of
// both. What all of them say together is known only at the end: then the name is chosen.
#include "report/ncurep/state.h"

#include <string.h>

#include "report/ncurep/known.h"

#define MESSAGE_REGISTERED 3

struct message {
    uint64_t type, handle;
    bool has_handle;
    struct nvtxt_slice text;
};

static void read_message(struct nvtxt_slice bytes, struct message *message) {
    message->has_handle |= report_wire_number(bytes, NCUREP_MESSAGE_HANDLE, &message->handle);
    report_wire_number(bytes, NCUREP_MESSAGE_TYPE, &message->type);
    report_wire_text(bytes, NCUREP_MESSAGE_TEXT, &message->text);
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

static void set_payload(struct report_range *range, const struct payload *payload) {
    uint32_t at = NCUREP_PAYLOAD_UINT64;
    while (at <= NCUREP_PAYLOAD_FLOAT && !payload->has[at]) {
        at++;
    }
    if (at > NCUREP_PAYLOAD_FLOAT) {
        return;
    }
    range->payload_type = at - NCUREP_PAYLOAD_TYPE;
    const uint64_t bits = payload->values[at];
    const uint32_t low = (uint32_t)bits;
    float single;
    switch (at) {
    case NCUREP_PAYLOAD_UINT64:
    case NCUREP_PAYLOAD_UINT32:
        range->payload = REPORT_RANGE_UINT64;
        range->number = at == NCUREP_PAYLOAD_UINT32 ? low : bits;
        break;
    case NCUREP_PAYLOAD_INT64:
    case NCUREP_PAYLOAD_INT32:
        range->payload = REPORT_RANGE_INT64;
        range->number = at == NCUREP_PAYLOAD_INT32 && low >> 31 ? UINT64_MAX << 32 | low
                        : at == NCUREP_PAYLOAD_INT32            ? low
                                                                : bits;
        break;
    default:
        range->payload = REPORT_RANGE_DOUBLE;
        memcpy(&single, &low, sizeof(single));
        memcpy(&range->real, &bits, sizeof(range->real));
        range->real = at == NCUREP_PAYLOAD_FLOAT ? (double)single : range->real;
        break;
    }
}

static void read_color(struct nvtxt_slice bytes, struct report_range *range, uint64_t *type) {
    uint64_t value;
    report_wire_number(bytes, NCUREP_COLOR_TYPE, type);
    if (report_wire_number(bytes, NCUREP_COLOR_VALUE, &value)) {
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

static void read_attributes(struct nvtxt_slice bytes, struct report_range *range,
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

static void finish_range(const struct report_state *state, uint32_t domain,
                         const struct attributes *attributes, struct report_range *range) {
    const struct message *message = &attributes->message;
    bool by_handle =
        message->has_handle && (message->type == MESSAGE_REGISTERED || !message->text.data);
    range->message = message->text;
    if (by_handle) {
        struct nvtxt_slice text = report_state_registered(state, domain, message->handle);
        range->message = text.data ? text : range->message;
    }
    if (!range->name.data) {
        range->name = range->message.data ? range->message : NVTXT_SLICE("");
    }
    range->has_color = range->has_color && attributes->color_type != 0;
    set_payload(range, &attributes->payload);
}

bool report_range_next(const struct report_state *state, const struct report_pile *pile,
                       struct report_wire *cursor, struct report_range *range) {
    struct nvtxt_slice bytes;
    struct report_wire_field field;
    struct attributes attributes = {.color_type = 1};
    const uint32_t name = pile->start_end ? NCUREP_START_NAME : NCUREP_PUSH_NAME;
    const uint32_t more = pile->start_end ? NCUREP_START_ATTRIBUTES : NCUREP_PUSH_ATTRIBUTES;
    if (!report_wire_find(cursor, NCUREP_PILE_RANGE, &bytes)) {
        return false;
    }
    struct report_wire wire = report_wire_of(bytes);
    *range = (struct report_range){.category = 0};
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
