// SPDX-License-Identifier: Apache-2.0
//
// Reads the times in lines of logs: a format (--time-format of nvtxt-send(1)) is checked once and
// then applied to many lines. Reads no clock: the caller gives a time that fills in what a stamp
// leaves out (year, date). A stamp without a zone is local time; the C library knows the zone (TZ).
// The names of months and days are English, whatever the locale.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"
#include "protocol/text/civil.h"

#define TIMESTAMP_SEARCH_BYTES 1024u // of a line are searched by a format that begins with %*

struct timestamp {
    const char *formats[3]; // tried in this order; the rest NULL
    bool named;             // brackets, blanks and <N> before the stamp are skipped
    bool search;            // the stamp may stand anywhere: the first place that fits
    struct nvtxt_civil_zone zone;
};

// `format` is borrowed: "auto", "iso", "syslog", "epoch", or directives. Returns 0, or 1 with
// `*fault` at what is no directive (never the NUL), or 2 when the format cannot give a time.
int timestamp_init(struct timestamp *stamp, const char *format, const char **fault);

// `near_ns` is when the line was read: a stamp without a year gets the latest one that is not more
// than a day after it, one without a date the day that brings it closest. `*ns` counts from the
// Unix epoch. Returns false when there is no such time in the line, or when it does not fit.
bool timestamp_read(struct timestamp *stamp, struct nvtxt_slice line, int64_t near_ns, int64_t *ns);
