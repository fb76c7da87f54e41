// SPDX-License-Identifier: Apache-2.0
//
// Finds the level of a line of a log, and its colour: first from the user's patterns, then from the
// level. Rules: nvtxt-send(1), "Levels".
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

#define LEVELS_RULES 64           // patterns of the user: each is tried on every line
#define LEVELS_BYTES 256u         // of a line are searched for the usual words
#define LEVELS_PATTERN_BYTES 4096 // and for a pattern of the user

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
// off. Returns 0, or NVTXT_WRONG with a sentence about it in `fault`.
int levels_add(struct levels *levels, const char *text, char *fault, size_t size);

// The level of a line, 0 to 7 (protocol/lang/names.h), or NVTXT_LEVEL_NONE. `*color` becomes the
// colour of its pattern or level, and stays unchanged when it has neither.
int levels_find(const struct levels *levels, struct nvtxt_slice line, uint32_t *color);

// The colour of a line whose level is known, or NVTXT_LEVEL_NONE: as above.
void levels_paint(const struct levels *levels, struct nvtxt_slice line, int level, uint32_t *color);

// Reads a colour's name, "#RRGGBB", "#AARRGGBB" or an integer, as an argument Color has it.
bool levels_color(const char *text, uint32_t *color);
