// SPDX-License-Identifier: Apache-2.0
//
// Why options select nothing, while it is written: what notes, filter_notes and note_text share.
// Texts go to a buffer, which remembers when memory is short.
#pragma once

#include "report/select/filter_set.h"

#define NOTE_WORD 64 // nvtxt_near() compares no longer words
#define NOTE_KINDS 3

struct report_notes {
    const struct report_outcome *outcome; // borrowed
    const struct report_capture *capture;
    struct nvtxt_buf *to;
    uint32_t (*counts)[NOTE_KINDS]; // owned: events of each name, by kind
    char (*words)[NOTE_WORD];       // owned: for nvtxt_near()
    size_t word_count;
    size_t lines;
};

// A line: what the option is, then texts, then its end.
void note_begin(struct report_notes *notes, const char *option, const char *text);
void note_put(struct report_notes *notes, const char *text);
void note_put_slice(struct report_notes *notes, struct nvtxt_slice text); // of a user: one line
void note_put_quoted(struct report_notes *notes, struct nvtxt_slice text);
void note_end(struct report_notes *notes);

// "in the default domain", "in domain 'D'", "in a domain that matches 'D'".
void note_put_place(struct report_notes *notes, struct nvtxt_slice domain, bool is_regex);

// Writes a name so that an expression reads it as it is.
void note_spell_name(struct nvtxt_buf *to, struct nvtxt_slice name, const char *special);

// The domain or category nearest to a word; NULL: none. It lives until the next call.
const char *note_near_domain(struct report_notes *notes, struct nvtxt_slice word);
const char *note_near_category(struct report_notes *notes, struct nvtxt_slice word);

// The nearest message of ranges; of those that `is_here` holds for. A kind of NOTE_KINDS: both.
const char *note_near_message(struct report_notes *notes, struct nvtxt_slice word, unsigned kind,
                              bool (*is_here)(const void *context, uint32_t domain),
                              const void *context);

// A line for each filter expression that takes no event. Returns 0 or -ENOMEM.
int note_filters(struct report_notes *notes);
