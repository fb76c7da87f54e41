// SPDX-License-Identifier: Apache-2.0
//
// Payloads are not read yet: an event that bears one is recorded without it.
#include "inject/ext/payload.h"

#include "inject/ext/abi_ext.h"
#include "inject/extension.h"
#include "lib/private.h"

uint8_t payload_is_enabled(const struct inject_domain *domain) {
    return !nvtxt_private_is_excluded(inject_domain_of(domain));
}

static int64_t timestamp(void) {
    return (int64_t)nvtxt_private_now();
}

size_t extension_json(const struct inject_domain *domain, const struct abi_payload *payloads,
                      size_t count, char *json, size_t size) {
    (void)domain, (void)payloads, (void)count, (void)json, (void)size;
    return 0;
}

const struct abi_payload *extension_chained(const struct abi_payload *payloads, size_t count,
                                            void *room, size_t size) {
    (void)payloads, (void)count, (void)room, (void)size;
    return NULL;
}

static const abi_function functions[ABI_PAYLOAD_COUNT] = {
    [ABI_PAYLOAD_DOMAIN_IS_ENABLED] = (abi_function)payload_is_enabled,
    [ABI_PAYLOAD_TIMESTAMP_GET] = (abi_function)timestamp,
};

const struct extension_module extension_payload = {ABI_EXTENSION_PAYLOAD, 0x0104, ABI_PAYLOAD_COUNT,
                                                   functions};
