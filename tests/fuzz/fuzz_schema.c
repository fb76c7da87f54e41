// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as schemas, enums and payloads of an event. Whatever they are, what comes out is one
// JSON value that fits, and nothing outside of the payloads is read. The first part of the input
// are the schemas, the rest is the payloads' bytes; in these a word whose last byte is 0x5A becomes
// a pointer to some place in or behind the payload.
#include "tests/fuzz/replay.h"

#include <string.h>

#include "tests/unit/schema_kit.h"

#define ENTRIES 12
#define PAYLOADS 3
#define ID(n) (UINT64_C(0x1000000) + (n))

struct input {
    const uint8_t *at;
    size_t left;
};

static uint8_t byte_of(struct input *input) {
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->at++;
}

// Small numbers mostly, sometimes huge ones.
static uint64_t number_of(struct input *input) {
    uint64_t number = byte_of(input);
    return number < 0xF0 ? number : UINT64_MAX >> (number & 15) * 4;
}

static uint64_t type_of(struct input *input) {
    uint64_t type = byte_of(input);
    return type < 0x80 ? type : type < 0xF8 ? ID(type % 16) : ABI_TYPE_REFERENCED + type % 2;
}

static void add_schema(struct kit *kit, struct input *input, uint64_t number) {
    struct abi_entry entries[ENTRIES] = {0};
    static const char *const names[] = {"a", "b", NULL, "\"\xFF\n"};
    uint8_t head = byte_of(input);
    struct abi_schema schema = {.fields = UINT64_MAX, .type = head & 7, .id = ID(number)};
    schema.count = (head >> 3) % (ENTRIES + 1);
    schema.entries = entries;
    schema.align = byte_of(input) % 5;
    schema.size = number_of(input) % 64;
    for (size_t i = 0; i < schema.count; i++) {
        uint8_t flags = byte_of(input);
        entries[i].flags = (uint64_t)flags | (uint64_t)(byte_of(input) & 7) << 8;
        entries[i].type = type_of(input);
        entries[i].detail = number_of(input);
        entries[i].offset = flags & 1 ? number_of(input) : 0;
        entries[i].name = names[i % 4];
    }
    kit_add(kit, &schema);
}

static void add_enum(struct kit *kit, struct input *input, uint64_t number) {
    struct abi_enumerator values[4] = {0};
    uint8_t head = byte_of(input);
    for (size_t i = 0; i < 4; i++) {
        values[i] = (struct abi_enumerator){i % 2 ? "one" : NULL, number_of(input), 0};
    }
    kit_add_enum(
        kit, &(struct abi_enum){UINT64_MAX, NULL, values, head % 5, head >> 4, ID(number), NULL});
}

static void make_pointers(uint8_t *bytes, size_t size) {
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        if (word >> 56 == 0x5A) {
            word = (uintptr_t)bytes + (word & 0xFFFF) % (size + 9);
            memcpy(bytes + at, &word, sizeof(word));
        }
    }
}

static void write_json(struct kit *kit, const struct abi_payload *payloads, size_t count,
                       size_t room) {
    char *json = malloc(room);
    struct json_out out = {json, room, 0, false};
    struct schema_event event = {0};
    schema_json(&out, &kit->world, payloads, count, &event);
    must(!out.is_full && out.len <= room);
    size_t at;
    must(out.len == 0 || !nvtxt_json_fault((struct nvtxt_slice){json, out.len}, &at));
    if (event.has_message) {
        char message[32];
        code_units_copy(event.message, message, sizeof(message));
        must(strlen(message) < sizeof(message));
    }
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input input = {data, size};
    struct kit kit;
    kit_init(&kit);
    uint8_t head = byte_of(&input);
    for (uint64_t i = 0; i < head % 8; i++) {
        (i == 2 ? add_enum : add_schema)(&kit, &input, i);
    }
    struct abi_payload payloads[PAYLOADS];
    size_t count = (size_t)(head >> 3) % PAYLOADS + 1;
    size_t room = head & 0x80 ? SCHEMA_JSON_MOST : 64 + (size_t)byte_of(&input) * 4;
    for (size_t i = 0; i < count; i++) {
        uint64_t schema = type_of(&input);
        size_t bytes = i + 1 < count ? byte_of(&input) : input.left;
        bytes = bytes < input.left ? bytes : input.left;
        uint8_t *copy = malloc(bytes ? bytes : 1);
        memcpy(copy, input.at, bytes);
        input.at += bytes;
        input.left -= bytes;
        make_pointers(copy, bytes);
        payloads[i] = (struct abi_payload){schema, bytes, copy};
    }
    write_json(&kit, payloads, count, room);
    for (size_t i = 0; i < count; i++) {
        free((void *)payloads[i].data);
    }
    kit_free(&kit);
    return 0;
}
