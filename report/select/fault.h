// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with the value of an option: a sentence, and the place in the value. It owns
// nothing.
#pragma once

#include <stddef.h>

#include "protocol/base/buf.h"
#include "protocol/base/slice.h"

#define REPORT_FAULT_BYTES 512

struct report_fault {
    const char *option;                // its name without dashes; lives for ever
    struct nvtxt_slice text;           // its value; borrowed from whoever gave it
    size_t column;                     // bytes from 1 within the value; 0: the value as a whole
    char sentence[REPORT_FAULT_BYTES]; // without option and value
};

// Writes the message for people, lines with LF between them and none at the end:
//
//   --nvtx-include 'A/,B': ',' in a push/pop expression; write '\,' if it belongs to the name
//     A/,B
//       ^
//
// The value and the caret follow only if there is a column. Control characters are blanks, and what
// is no UTF-8 is '?', so that the caret stands below its place.
void report_fault_write(const struct report_fault *fault, struct nvtxt_buf *message);

// Sets column and sentence.
void report_fault_set(struct report_fault *fault, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
