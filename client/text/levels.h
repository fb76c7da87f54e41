// SPDX-License-Identifier: Apache-2.0
//
// How severe a line of a log says it is, and its colour: of patterns of the user's own, then of
// its level. Rules: nvtxt-send(1), "Levels".
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

#define LEVELS_RULES 64           // patterns of one's own: each is tried on every line
#define LEVELS_BYTES 256u         // of a line are looked at for the usual words
#define LEVELS_PATTERN_BYTES 4096 // and for a pattern of one's own

struct levels {
    bool usual_off;
    size_t count;
    struct levels_rule {
        regex_t regex;
        uint32_t color; // 0xAARRGGBB
    } rules[LEVELS_RULES];
};

void levels_deinit(struct levels *levels); // zeroed ones are fine

// Takes "REGEX=COLOR", a POSIX extended regular expression, or "none", which turns the usual words
// off. Returns 0, or 1 with a sentence about it in `fault`.
int levels_add(struct levels *levels, const char *text, char *fault, size_t size);

// How severe a line is, 0 to 7 (protocol/lang/level.h), or NVTXT_LEVEL_NONE when nothing in it says
// so.
// `*color` becomes the colour of its pattern or level, and stays as it is when it has neither.
int levels_find(const struct levels *levels, struct nvtxt_slice line, uint32_t *color);

// A colour's name, "#RRGGBB", "#AARRGGBB" or an integer, as of an argument Color.
bool levels_color(const char *text, uint32_t *color);
