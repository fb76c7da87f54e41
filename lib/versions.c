// SPDX-License-Identifier: Apache-2.0
//
// Functions under the names of symbol versions that programs may have been linked with, and that
// are no longer the default. nvtxt.map says which version is whose: NVTXT_0.1 never changed;
// nvtxt_color() and nvtxt_finish() were NVTXT_0.2 before 1.0, and are NVTXT_1.0 now. Only the
// shared library has symbol versions.
#ifdef PIC

#pragma GCC visibility push(default)
#include "lib/nvtxt.h"

uint32_t nvtxt_color_0_2(const char *text);
void nvtxt_finish_0_2(void);
#pragma GCC visibility pop

__asm__(".symver nvtxt_color_0_2, nvtxt_color@NVTXT_0.2");
__asm__(".symver nvtxt_finish_0_2, nvtxt_finish@NVTXT_0.2");

uint32_t nvtxt_color_0_2(const char *text) {
    return nvtxt_color(text);
}

void nvtxt_finish_0_2(void) {
    nvtxt_finish();
}

#endif
