// SPDX-License-Identifier: Apache-2.0
//
// Names that stand for numbers: of colours, and of the levels of a log.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// ---- Colours ------------------------------------------------------------------------------------

// The named colours of CSS Color 4 and the two hexadecimal forms (nvtxt(5), "Arguments").

// Reads a colour name (any case), "#RRGGBB" or "#AARRGGBB" as 0xAARRGGBB; names and the short form
// have alpha 0xFF. Returns false for anything else.
bool nvtxt_color_parse(struct nvtxt_slice text, uint32_t *argb);

// The names in order, for nvtxt_near(); NULL after the last one. `context` is not used.
const char *nvtxt_color_name(const void *context, size_t index);

// ---- Levels -------------------------------------------------------------------------------------

// How severe a line of a log is: the eight levels of syslog(3), from 0 (emerg) to 7 (debug), which
// are the payloads of markers in a session with levels (nvtxt-protocol(7)).
#define NVTXT_LEVEL_COUNT 8
#define NVTXT_LEVEL_NONE (-1)

// The name of a level as NVTXT_TIMELINE has it: emerg, alert, crit, err, warning, notice, info,
// debug. NULL for any other number.
const char *nvtxt_level_name(int64_t level);

// The level that a word stands for, in any case: its name, or another common one such as "error"
// or "warn". NVTXT_LEVEL_NONE when it stands for none.
int nvtxt_level_find(struct nvtxt_slice word);

// Levels that an option asks for, as `journalctl -p` has them: from the worst, the smaller number,
// to the least, both included.
struct nvtxt_level_span {
    int worst, least;
};

// What a message says when there is no such level.
#define NVTXT_LEVELS_THERE                                                                         \
    "there are emerg, alert, crit, err, warning, notice, info and debug, or 0 to 7, and A..B"

// Reads LEVEL, which is that one and worse, or LEVEL..LEVEL in either order. A LEVEL is a word of
// nvtxt_level_find() or a digit from 0 to 7. Returns false for anything else.
bool nvtxt_level_span_parse(struct nvtxt_slice text, struct nvtxt_level_span *span);

static inline bool nvtxt_level_span_has(const struct nvtxt_level_span *span, int64_t level) {
    return level >= span->worst && level <= span->least;
}
