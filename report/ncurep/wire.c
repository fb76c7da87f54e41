// SPDX-License-Identifier: Apache-2.0
//
// Each read looks first at how many bytes are left. Groups, which no message of ours has, are
// passed over with a list of the numbers that are open, not by recursion.
#include "report/ncurep/wire.h"

#define VARINT_BYTES 10
#define NUMBER_MAX ((UINT64_C(1) << 29) - 1)
#define END_GROUP 4

static enum report_wire_result broken(struct report_wire *wire, const char *at, const char *what) {
    wire->at = at;
    wire->what = what;
    return REPORT_WIRE_BROKEN;
}

static bool read_varint(struct report_wire *wire, uint64_t *value) {
    const char *begin = wire->at;
    uint64_t result = 0;
    for (unsigned i = 0; i < VARINT_BYTES; i++) {
        if (wire->at == wire->end) {
            broken(wire, begin, "a number is cut off");
            return false;
        }
        unsigned char byte = (unsigned char)*wire->at++;
        result |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte < 0x80) {
            *value = result;
            return true;
        }
    }
    broken(wire, begin, "a number has more than 10 bytes");
    return false;
}

static bool read_fixed(struct report_wire *wire, unsigned bytes, uint64_t *value) {
    if ((size_t)(wire->end - wire->at) < bytes) {
        broken(wire, wire->at, "a number is cut off");
        return false;
    }
    *value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        *value |= (uint64_t)(unsigned char)*wire->at++ << (8 * i);
    }
    return true;
}

static bool read_bytes(struct report_wire *wire, struct nvtxt_slice *bytes) {
    const char *begin = wire->at;
    uint64_t len;
    if (!read_varint(wire, &len)) {
        return false;
    }
    if (len > (uint64_t)(wire->end - wire->at)) {
        broken(wire, begin, "a field is longer than what it stands in");
        return false;
    }
    *bytes = (struct nvtxt_slice){wire->at, (size_t)len};
    wire->at += len;
    return true;
}

// A tag and, for what is no group, its value. `*type` may be END_GROUP.
static bool read_field(struct report_wire *wire, struct report_wire_field *field, unsigned *type) {
    const char *begin = wire->at;
    uint64_t tag;
    if (!read_varint(wire, &tag)) {
        return false;
    }
    *type = tag & 7;
    if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX) {
        broken(wire, begin, "there is no field of that number");
        return false;
    }
    field->number = (uint32_t)(tag >> 3);
    switch (*type) {
    case REPORT_WIRE_VARINT:
        return read_varint(wire, &field->value);
    case REPORT_WIRE_FIXED64:
        return read_fixed(wire, 8, &field->value);
    case REPORT_WIRE_FIXED32:
        return read_fixed(wire, 4, &field->value);
    case REPORT_WIRE_BYTES:
        return read_bytes(wire, &field->bytes);
    case REPORT_WIRE_GROUP:
    case END_GROUP:
        return true;
    default:
        broken(wire, begin, "there is no wire type of that number");
        return false;
    }
}

static bool pass_group(struct report_wire *wire, uint32_t number) {
    uint32_t open[REPORT_WIRE_DEPTH] = {number};
    for (unsigned depth = 1; depth > 0;) {
        struct report_wire_field field;
        const char *begin = wire->at;
        unsigned type;
        if (wire->at == wire->end) {
            broken(wire, begin, "a group has no end");
            return false;
        }
        if (!read_field(wire, &field, &type)) {
            return false;
        }
        if (type == END_GROUP && field.number != open[--depth]) {
            broken(wire, begin, "a group has the end of another one");
            return false;
        }
        if (type == REPORT_WIRE_GROUP) {
            if (depth == REPORT_WIRE_DEPTH) {
                broken(wire, begin, "groups are nested too deeply");
                return false;
            }
            open[depth++] = field.number;
        }
    }
    return true;
}

enum report_wire_result report_wire_next(struct report_wire *wire,
                                         struct report_wire_field *field) {
    const char *begin = wire->at;
    unsigned type;
    if (wire->at == wire->end) {
        return REPORT_WIRE_END;
    }
    *field = (struct report_wire_field){.number = 0};
    if (!read_field(wire, field, &type)) {
        return REPORT_WIRE_BROKEN;
    }
    if (type == END_GROUP) {
        return broken(wire, begin, "a group ends that did not begin");
    }
    if (type == REPORT_WIRE_GROUP && !pass_group(wire, field->number)) {
        return REPORT_WIRE_BROKEN;
    }
    field->type = (enum report_wire_type)type;
    return REPORT_WIRE_FIELD;
}

bool report_wire_find(struct report_wire *wire, uint32_t number, struct nvtxt_slice *bytes) {
    struct report_wire_field field;
    while (report_wire_next(wire, &field) == REPORT_WIRE_FIELD) {
        if (field.number == number && field.type == REPORT_WIRE_BYTES) {
            *bytes = field.bytes;
            return true;
        }
    }
    return false;
}

struct nvtxt_slice report_wire_at(const char *base, uint32_t place) {
    const unsigned char *at = (const unsigned char *)base + place;
    size_t len = 0;
    for (unsigned shift = 0;; shift += 7) {
        len |= (size_t)(*at & 0x7F) << shift;
        if (*at++ < 0x80) {
            return (struct nvtxt_slice){(const char *)at, len};
        }
    }
}

bool report_wire_number(struct nvtxt_slice message, uint32_t number, uint64_t *value) {
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

bool report_wire_text(struct nvtxt_slice message, uint32_t number, struct nvtxt_slice *text) {
    struct report_wire wire = report_wire_of(message);
    bool found = false;
    while (report_wire_find(&wire, number, text)) {
        found = true;
    }
    return found;
}
