// SPDX-License-Identifier: Apache-2.0
//
// A program with NVTX, in C. It knows nothing of nvtxtd; nvtxt-inject(7):
//
//   cc nvtx.c -o example -ldl        (and -I with the folder that has nvtx3, if need be)
//   nvtxt-send --nvtx -- ./example
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static nvtxDomainHandle_t domain;

static unsigned long sum_of_squares(unsigned count) {
    nvtxEventAttributes_t attr = {0};
    attr.version = NVTX_VERSION;
    attr.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attr.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attr.message.ascii = "sum of squares";
    attr.category = 1;
    attr.colorType = NVTX_COLOR_ARGB;
    attr.color = 0xFF00A000;
    attr.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
    attr.payload.uiValue = count;
    nvtxDomainRangePushEx(domain, &attr);
    unsigned long sum = 0;
    for (unsigned i = 1; i <= count; i++) {
        sum += (unsigned long)i * i;
    }
    nvtxDomainRangePop(domain);
    return sum;
}

int main(void) {
    domain = nvtxDomainCreateA("example");
    nvtxDomainNameCategoryA(domain, 1, "arithmetic");
    nvtxRangeId_t all = nvtxRangeStartA("all rounds"); // any thread may end it
    for (unsigned round = 1; round <= 3; round++) {
        printf("%lu\n", sum_of_squares(round * 1000));
    }
    nvtxMarkA("the last round is done");
    nvtxRangeEnd(all);
    return 0;
}
