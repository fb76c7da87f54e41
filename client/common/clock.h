// SPDX-License-Identifier: Apache-2.0
//
// The clocks of the machine as numbers. Realtime is for what is stored and shown; it may jump.
// Monotonic time is for waiting and for rates; only differences of it mean something.
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_A_SECOND INT64_C(1000000000)

int64_t clock_read_ns(clockid_t clock);
int64_t clock_realtime_ns(void); // since 1970
int64_t clock_monotonic_ms(void);
