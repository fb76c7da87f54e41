// SPDX-License-Identifier: Apache-2.0
//
// The common event, with bytes or a registered string and a plain payload, is read into a structure
// of nvtxt.h and recorded. A wide message needs memory for what it is turned into: it lies on
// the stack of a function that only it calls. Payloads are read by inject/ext.
#include "inject/core/core.h"

#include <string.h>

#include "inject/text.h"
#include "lib/private.h"

static void read_message(struct nvtxt_attr *attr, int32_t type, union abi_message message) {
    attr->message = text_of_bytes(type, message);
    if (type == ABI_MESSAGE_REGISTERED && message.handle) {
        attr->string = ((const struct inject_string *)message.handle)->string;
    }
}

_Static_assert((int)NVTXT_U64 == (int)ABI_PAYLOAD_U64 && (int)NVTXT_I64 == (int)ABI_PAYLOAD_I64 &&
                   (int)NVTXT_F64 == (int)ABI_PAYLOAD_F64 &&
                   (int)NVTXT_U32 == (int)ABI_PAYLOAD_U32 &&
                   (int)NVTXT_I32 == (int)ABI_PAYLOAD_I32 && (int)NVTXT_F32 == (int)ABI_PAYLOAD_F32,
               "types of payloads have the same numbers");

static void read_event(struct nvtxt_attr *attr, const struct abi_event *event) {
    if (ABI_HAS(event, category)) {
        attr->category = event->category;
    }
    if (ABI_HAS(event, color) && event->color_type == ABI_COLOR_ARGB) {
        attr->color = event->color;
    }
    if (ABI_HAS(event, payload) && event->payload_type > ABI_PAYLOAD_NONE &&
        event->payload_type <= ABI_PAYLOAD_F32) {
        attr->value_kind = (uint32_t)event->payload_type;
        memcpy(&attr->value, &event->payload, sizeof(attr->value));
    }
    if (ABI_HAS(event, message)) {
        read_message(attr, event->message_type, event->message);
    }
}

static uint64_t record_attr(enum event_kind kind, struct nvtxt_domain *domain,
                            const struct nvtxt_attr *attr) {
    switch (kind) {
    case EVENT_MARK:
        nvtxt_mark_ex(domain, attr);
        return 0;
    case EVENT_PUSH:
        return (uint64_t)nvtxt_push_ex(domain, attr);
    case EVENT_START:
    default:
        return nvtxt_start_ex(domain, attr);
    }
}

static bool has_payloads(const struct abi_event *event) {
    return ABI_HAS(event, payload) && event->payload_type == ABI_PAYLOAD_EXTENSION &&
           event->payload.u64 && event->reserved > 0;
}

static const struct abi_payload *payloads_of(const struct abi_event *event) {
    return (const struct abi_payload *)(uintptr_t)event->payload.u64; // NOLINT
}

struct target {
    enum event_kind kind;
    struct nvtxt_domain *domain;
};

static uint64_t consume(const void *context, const struct nvtxt_attr *attr) {
    const struct target *to = context;
    return record_attr(to->kind, to->domain, attr);
}

static uint64_t record(enum event_kind kind, const struct inject_domain *domain,
                       const struct abi_event *event, struct nvtxt_attr *attr) {
    struct target to = {kind, inject_domain_of(domain)};
    return has_payloads(event) ? extension_read(domain, payloads_of(event), (size_t)event->reserved,
                                                attr, consume, &to)
                               : record_attr(kind, to.domain, attr);
}

static __attribute__((noinline)) uint64_t record_wide(enum event_kind kind,
                                                      const struct inject_domain *domain,
                                                      const struct abi_event *event,
                                                      struct nvtxt_attr *attr) {
    attr->message = TEXT_OF_WIDE(event->message.wide);
    return record(kind, domain, event, attr);
}

uint64_t event_record(enum event_kind kind, const struct inject_domain *domain,
                      const struct abi_event *event) {
    struct nvtxt_attr attr = {.size = sizeof(attr)};
    if (!event) {
        return record_attr(kind, inject_domain_of(domain), &attr);
    }
    read_event(&attr, event);
    if (ABI_HAS(event, message) && event->message_type == ABI_MESSAGE_WIDE) {
        return record_wide(kind, domain, event, &attr);
    }
    return record(kind, domain, event, &attr);
}

// ---- For the library behind us ------------------------------------------------------------------

static bool has_string(const struct abi_event *event) {
    return ABI_HAS(event, message) && event->message_type == ABI_MESSAGE_REGISTERED;
}

const struct abi_event *event_chained(const struct inject_domain *domain,
                                      const struct abi_event *event, struct event_copy *copy) {
    if (!event || (!has_string(event) && !has_payloads(event))) {
        return event;
    }
    size_t size = event->size < sizeof(copy->bytes) ? event->size : sizeof(copy->bytes);
    memcpy(copy->bytes, event, size);
    copy->event.size = (uint16_t)size;
    if (has_string(event)) {
        copy->event.message = text_chained(event->message_type, event->message);
    }
    if (has_payloads(event)) {
        const struct abi_payload *payloads =
            extension_chained(domain, payloads_of(event), (size_t)event->reserved, copy->payloads,
                              sizeof(copy->payloads));
        copy->event.payload.u64 = (uintptr_t)payloads;
        copy->event.payload_type = payloads ? ABI_PAYLOAD_EXTENSION : ABI_PAYLOAD_NONE;
        copy->event.reserved = payloads ? event->reserved : 0;
    }
    return &copy->event;
}
