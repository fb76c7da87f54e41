// SPDX-License-Identifier: Apache-2.0
//
// The piles of a domain are gone over twice: for push/pop ranges, then for start/end ones.
#include "report/render/listing.h"

static void put_payload(struct report_json *json, const struct report_range *range) {
    switch (range->payload) {
    case REPORT_RANGE_UINT64:
        report_json_uint(json, "payload", range->number);
        break;
    case REPORT_RANGE_INT64:
        report_json_int(json, "payload", report_wire_signed(range->number));
        break;
    case REPORT_RANGE_DOUBLE:
        report_json_double_na(json, "payload", range->real);
        break;
    case REPORT_RANGE_NO_PAYLOAD:
        report_json_null(json, "payload");
        break;
    }
}

// As in a store: int64 and double are not said.
static void put_payload_type(struct report_json *json, const struct report_range *range) {
    static const char *const names[] = {"uint64", NULL, NULL, "uint32", "int32", "float"};
    size_t at = range->payload_type - 1; // the numbers of NVTX begin at 1
    if (range->payload != REPORT_RANGE_NO_PAYLOAD && at < sizeof(names) / sizeof(names[0]) &&
        names[at]) {
        report_json_text(json, "payloadType", names[at]);
    }
}

static void put_range(struct report_json *json, const struct report_range *range, bool start_end,
                      bool serve) {
    report_json_object(json, NULL);
    report_json_slice(json, "name", range->name);
    if (serve) {
        report_json_null(json, "row");
    }
    report_json_uint(json, "category", range->category);
    if (range->has_color) {
        report_json_color(json, "color", range->color);
    } else {
        report_json_null(json, "color");
    }
    put_payload(json, range);
    if (start_end) {
        report_json_uint(json, "id", range->id);
        report_json_uint(json, "tid", range->tid);
    }
    if (serve) {
        put_payload_type(json, range);
        report_json_slice(json, "message", range->message);
        report_json_bool(json, "hasAttributes", range->has_attributes);
    }
    report_json_end_object(json);
}

static void put_ranges(struct report_json *json, const struct report_state *state,
                       const struct report_state_domain *domain, bool start_end, bool serve) {
    struct report_state_piles piles = {.begun = false};
    struct report_pile pile;
    struct report_range range;
    report_json_array(json, start_end ? "startEnd" : "pushPop");
    while (report_state_next_pile(state, domain, &piles, &pile)) {
        struct report_wire ranges = report_ranges_of(&pile);
        while (pile.start_end == start_end && report_range_next(state, &pile, &ranges, &range)) {
            put_range(json, &range, start_end, serve);
        }
    }
    report_json_end_array(json);
}

void report_render_state_json(struct report_json *json, const struct report_state *state,
                              const struct report_state_domain *domain, bool serve) {
    char made[REPORT_STATE_NAME];
    report_json_object(json, NULL);
    report_json_uint(json, "id", domain->id);
    report_json_slice(json, "name", report_state_domain_name(domain, made));
    put_ranges(json, state, domain, false, serve);
    put_ranges(json, state, domain, true, serve);
    report_json_end_object(json);
}
