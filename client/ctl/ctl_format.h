// SPDX-License-Identifier: Apache-2.0
//
// Formats pieces of what nvtxt-ctl prints for people: texts cut to columns, sizes. Times are those
// of protocol/text/shown.h.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_SIZE 32

int64_t format_integer(const json_t *object, const char *name);  // 0 when there is none
const char *format_text(const json_t *object, const char *name); // "" when there is none

// Copies a text of unknown origin for a terminal, cut to `columns` (0: not cut) and to `size`.
// It is shown as nvtxt_utf8_show() has it.
void format_fit(char *out, size_t size, const char *text, size_t columns);
size_t format_columns(const char *text); // the columns that a printable text takes on a terminal

// JSON on stdout, one line; on a terminal in ASCII, which has no character that acts on it.
void format_json(const json_t *value);

// Returns `out`.
const char *format_bytes(char out[static FORMAT_SIZE], int64_t bytes); // 1.2 MiB

// Formats what retention removed, as in "2 segments, 1,000 events, 3.1 MiB (KeepFiles 2)";
// `removed` is that member of status and health. False when nothing was removed, or it is not
// known.
bool format_removed(char *out, size_t size, const json_t *removed);
