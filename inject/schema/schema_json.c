// SPDX-License-Identifier: Apache-2.0
//
// Each payload is walked over on its own. When that fails, what it has written is taken back and
// its length stands there: room for that is kept free for all payloads that are still to come.
#include "inject/schema/schema_json.h"

#define TRUNCATED_BYTES 40u // of {"truncated":BYTES} and a comma

static void add_truncated(struct json_out *out, uint64_t bytes) {
    json_out_string(out, "{\"truncated\":");
    json_out_u64(out, bytes);
    json_out_string(out, "}");
}

static bool is_shown(const struct abi_payload *payload) {
    return payload->schema != ABI_TYPE_REFERENCED;
}

static size_t count_shown(const struct abi_payload *payloads, size_t count) {
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        shown += is_shown(&payloads[i]);
    }
    return shown;
}

static uint64_t bytes_of(const struct abi_payload *payload) {
    struct walk none = {0};
    bool is_text = schema_is_string(payload->schema);
    return payload->size == SCHEMA_UNKNOWN && !is_text ? 0 : payload_size(&none, payload);
}

static uint64_t all_bytes(const struct abi_payload *payloads, size_t count) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += bytes_of(&payloads[i]);
    }
    return bytes;
}

// Adds a payload, or its length when it does not fit into `room`.
static bool add_or_truncate(struct walk *walk, const struct abi_payload *payload, size_t room) {
    struct json_out *out = walk->out;
    struct json_out before = *out;
    unsigned levels = walk->levels;
    out->room = room;
    walk->meter.has_failed = false;
    walk->meter.steps = 0;
    schema_walk(walk, payload);
    bool is_whole = !walk->meter.has_failed && !out->is_full;
    out->room = before.room;
    if (!is_whole) {
        *out = before;
        walk->levels = levels;
        add_truncated(out, bytes_of(payload));
    }
    return is_whole;
}

bool schema_json(struct json_out *out, const struct schema_world *world,
                 const struct abi_payload *payloads, size_t count, struct schema_event *event) {
    size_t shown = payloads ? count_shown(payloads, count) : 0;
    size_t room = out->room - out->len;
    if (shown == 0) {
        return true;
    }
    if (room / TRUNCATED_BYTES < shown) {
        add_truncated(out, all_bytes(payloads, count));
        return false;
    }
    struct walk walk = {.out = out,
                        .meter.world = world,
                        .payloads = payloads,
                        .payload_count = count,
                        .event = event,
                        .levels = shown > 1};
    bool is_whole = true;
    size_t left = shown;
    json_out_string(out, shown > 1 ? "[" : "");
    for (size_t i = 0; i < count; i++) {
        if (is_shown(&payloads[i])) {
            json_out_string(out, left < shown ? "," : "");
            size_t reserved = shown > 1 ? --left * TRUNCATED_BYTES + 1 : 0;
            is_whole = add_or_truncate(&walk, &payloads[i], out->room - reserved) && is_whole;
        }
    }
    json_out_string(out, shown > 1 ? "]" : "");
    return is_whole;
}

size_t schema_json_size(const struct schema_world *world, uint64_t id) {
    struct schema_meter meter = {.world = world};
    return schema_shape_of(&meter, id).size;
}
