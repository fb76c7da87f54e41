// SPDX-License-Identifier: Apache-2.0
//
// Which sections are shown, and in which order (nvtxt-section(5), "SHOWN").
#pragma once

#include "report/load/load.h"
#include "report/section/sections.h"

struct report_choice {
    const char *const *sections; // identifiers, or regex:RE
    size_t section_count;
    const char *const *sets;
    size_t set_count; // without any of both: the set "basic"
};

struct report_chosen {
    const struct report_section_entry **entries; // owned; a child after its parent
    size_t count;
};

#define REPORT_CHOICE_UNKNOWN 1

// Returns 0, REPORT_CHOICE_UNKNOWN when a word of the choice names nothing, with a sentence
// (REPORT_SENTENCE_BYTES) that offers the nearest name, or -ENOMEM.
int report_sections_choose(struct report_chosen *chosen, const struct report_sections *sections,
                           const struct report_choice *choice, char *sentence);
void report_chosen_deinit(struct report_chosen *chosen); // fine when zeroed

// Whether the section of that identifier is among them.
bool report_chosen_has(const struct report_chosen *chosen, struct nvtxt_slice identifier);
