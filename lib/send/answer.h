// SPDX-License-Identifier: Apache-2.0
//
// The daemon's replies, as far as a library must know them. They are scanned in place, without
// memory of their own; what is unknown or malformed is no reply.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum answer_type {
    ANSWER_OTHER, // a diagnostic, or of a later version
    ANSWER_WELCOME,
    ANSWER_ACK,
    ANSWER_END,
    ANSWER_ERROR,
};

struct answer {
    enum answer_type type;
    uint64_t line;       // welcome, ack, end
    uint64_t nvtx;       // welcome: 0 when the daemon does not know the extension
    uint64_t line_bytes; // welcome: limits; 0 when it does not say
    uint64_t variable_bytes, push_depth, open_ranges;
    char code[32]; // error
};

// Reads one line without its LF. Returns false when it is no JSON object of one level of objects.
bool answer_read(const char *text, size_t len, struct answer *answer);
