// SPDX-License-Identifier: Apache-2.0
//
// A message begins with its length, in one byte mostly. So one byte is left free for it, and the
// message is moved when the length needs more.
#include "protocol/text/out.h"

#define VARINT_MOST 10 // bytes of 64 bits, 7 in each

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2 };

static size_t put_varint(char *to, uint64_t value) {
    size_t len = 0;
    for (; value > 0x7F; value >>= 7) {
        to[len++] = (char)(value | 0x80);
    }
    to[len++] = (char)value;
    return len;
}

static void put_tag(struct nvtxt_out *out, unsigned field, enum wire_type type) {
    char *room = nvtxt_out_room(out, VARINT_MOST);
    out->len += room ? put_varint(room, (uint64_t)field << 3 | type) : 0;
}

void nvtxt_pb_uint(struct nvtxt_out *out, unsigned field, uint64_t value) {
    put_tag(out, field, VARINT);
    char *room = nvtxt_out_room(out, VARINT_MOST);
    out->len += room ? put_varint(room, value) : 0;
}

void nvtxt_pb_fixed(struct nvtxt_out *out, unsigned field, uint64_t value) {
    char bytes[sizeof(value)];
    for (size_t i = 0; i < sizeof(bytes); i++, value >>= 8) {
        bytes[i] = (char)value;
    }
    put_tag(out, field, FIXED64);
    nvtxt_out_bytes(out, bytes, sizeof(bytes));
}

void nvtxt_pb_double(struct nvtxt_out *out, unsigned field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    nvtxt_pb_fixed(out, field, bits);
}

void nvtxt_pb_string(struct nvtxt_out *out, unsigned field, struct nvtxt_slice text) {
    size_t begun = nvtxt_pb_begin(out, field);
    nvtxt_out_repaired(out, text);
    nvtxt_pb_end(out, begun);
}

size_t nvtxt_pb_begin(struct nvtxt_out *out, unsigned field) {
    put_tag(out, field, BYTES);
    nvtxt_out_bytes(out, "", 1);
    return out->len;
}

void nvtxt_pb_end(struct nvtxt_out *out, size_t begun) {
    char length[VARINT_MOST];
    size_t len = out->len - begun, more = put_varint(length, len) - 1;
    if (!nvtxt_out_room(out, more) || out->error != 0) {
        return;
    }
    char *message = out->data + begun;
    memmove(message + more, message, len);
    memcpy(message - 1, length, more + 1);
    out->len += more;
}
