// SPDX-License-Identifier: Apache-2.0
//
// A library with NVTX in it, to be loaded into a program that has NVTX in it, too.
#include "tests/nvtx/client.h"

__attribute__((visibility("default"))) void unit(nvtxDomainHandle_t domain,
                                                 nvtxStringHandle_t string);

void unit(nvtxDomainHandle_t domain, nvtxStringHandle_t string) {
    nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = sizeof(event)};
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = string;
    nvtxMarkA("of the unit");
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainMarkEx(nvtxDomainCreateA("shared"), &event);
    if (!domain) {
        nvtxDomainRangePop(domain); // nobody else does
    }
}
