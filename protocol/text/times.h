// SPDX-License-Identifier: Apache-2.0
//
// Reads times and durations as people write them on a command line.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// "2026-11-21T06:24:00.5Z", "@1795242240.5" (seconds since the epoch), or nanoseconds since the
// epoch. In the first form a blank may replace the T; the seconds or the whole time of day may be
// missing; the zone may be an offset like +01:00, or missing (UTC). False for all else and for what
// does not fit.
bool nvtxt_time_parse(const char *text, int64_t *ns);

// "5m", "1.5h", "2h30m", "90" (seconds) with the units ns, us, ms, s, m, h, d. False for all else
// and for what does not fit.
bool nvtxt_duration_parse(const char *text, int64_t *ns);
