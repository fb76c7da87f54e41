// SPDX-License-Identifier: Apache-2.0
//
// Preloaded, it sets the wall clock of a program to a time after 2038, when the seconds since 1970
// need more than 31 bits. All other clocks are as they are.
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define LATER_S (INT64_C(20) * 365 * 86400)

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) {
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int r = next(clock, now);
    if (r == 0 && clock == CLOCK_REALTIME) {
        now->tv_sec += LATER_S;
    }
    return r;
}
