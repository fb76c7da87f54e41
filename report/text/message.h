// SPDX-License-Identifier: Apache-2.0
//
// What is said of a file of sections, rules or metrics, as nvtxt-check says it of lines: where, how
// bad, and why. The codes are those of nvtxt-section(5), "DIAGNOSTICS".
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/buf.h"
#include "store/value/arena.h"

// Both from 1, the column in bytes. Line 0: no place.
struct report_place {
    uint32_t line, column;
};

// The place of what is said of a program as a whole: where it begins.
#define REPORT_FILE_BEGIN ((struct report_place){1, 1})

enum report_file_severity { REPORT_FILE_ERROR, REPORT_FILE_WARNING };

struct report_file_message {
    const char *file; // borrowed from the caller of report_messages_add()
    struct report_place at;
    enum report_file_severity severity;
    const char *code;
    const char *text; // UTF-8
};

struct report_messages {
    struct report_file_message *items; // owned
    size_t count, room;
    size_t errors;            // of severity ERROR
    bool failed;              // memory was short: a message is missing
    struct store_arena texts; // owns the texts
};

void report_messages_deinit(struct report_messages *messages); // fine when zeroed

// `file` and `code` have to live as long as the messages. Short memory sets `failed`.
__attribute__((format(printf, 6, 7))) void
report_messages_add(struct report_messages *messages, const char *file, struct report_place at,
                    enum report_file_severity severity, const char *code, const char *format, ...);

// Whether a message with that code is there already of the place.
bool report_messages_has(const struct report_messages *messages, const char *file,
                         struct report_place at, const char *code);

// Puts the messages from index `first` on into the order of their places; those of one place stay
// as they are.
void report_messages_sort(struct report_messages *messages, size_t first);

const char *report_file_severity_name(enum report_file_severity severity); // "error", "warning"

// Appends `FILE:LINE:COLUMN: error|warning: TEXT [code]` without a line feed; a message without a
// place has `FILE:` alone. Control characters become '?'.
void report_message_write(struct nvtxt_buf *out, const struct report_file_message *message);

// Every code that a message may have, in the order of the manual page; ends with a row without a
// name.
struct report_message_code {
    const char *name;
    const char *text; // what it means
};
extern const struct report_message_code report_message_codes[];
