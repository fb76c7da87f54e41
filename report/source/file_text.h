// SPDX-License-Identifier: Apache-2.0
//
// The lines of a file, as text.
#pragma once

#include <stddef.h>

#include "protocol/base/slice.h"

struct report_file_text {
    char *bytes;               // owned
    struct nvtxt_slice *lines; // owned; without LF and CR; [0] is line 1
    size_t count;
};

// Reads all of the file. Returns 0 or a negative errno; deinit is fine after both.
int report_file_text_read(struct report_file_text *text, const char *path);
void report_file_text_deinit(struct report_file_text *text);
