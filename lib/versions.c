// SPDX-License-Identifier: Apache-2.0
//
// Functions under the names of symbol versions that programs may have been linked with, and that
// are no longer the default. nvtxt.map says which version is whose: NVTXT_0.1 never changed;
// nvtxt_color() and nvtxt_finish() were NVTXT_0.2 before 1.0, and are NVTXT_1.0 now. Only the
// shared library has symbol versions.
#ifdef PIC

#pragma GCC visibility push(default)
#include "lib/nvtxt.h"

// The attribute also holds when the whole program is optimized (-flto). clang has none, and takes
// the line of assembler.
#if __has_attribute(symver)
#define OLD_NAME(function, name, version) __attribute__((symver(name "@" version)))
#else
#define OLD_NAME(function, name, version) __asm__(".symver " #function ", " name "@" version);
#endif

uint32_t nvtxt_color_0_2(const char *text);
void nvtxt_finish_0_2(void);
#pragma GCC visibility pop

OLD_NAME(nvtxt_color_0_2, "nvtxt_color", "NVTXT_0.2")
uint32_t nvtxt_color_0_2(const char *text) {
    return nvtxt_color(text);
}

OLD_NAME(nvtxt_finish_0_2, "nvtxt_finish", "NVTXT_0.2")
void nvtxt_finish_0_2(void) {
    nvtxt_finish();
}

#endif
