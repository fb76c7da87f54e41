// SPDX-License-Identifier: Apache-2.0
//
// The sections of all files that were found: read, checked, in their order.
#pragma once

#include <stddef.h>

#include "report/load/load.h"
#include "report/metric/definitions.h"
#include "report/section/filters.h"
#include "report/text/files.h"

struct report_section_entry {
    const struct report_section *section;
    const struct report_file *file;
    const struct report_file *hidden_by; // the file with that identifier that counts; or NULL
};

struct report_sections {
    struct report_section_entry *entries; // owned; by Order, then Identifier, then as found
    size_t count;                         // of those without an error
    size_t failed;                        // files with an error
    struct store_arena arena;             // owns what was read
};

// Reads all *.section of `files`, which is borrowed. Definitions of metrics go into `definitions`,
// those whose filter matches `view`. A file with an error is left out. Messages of a file are in
// the order of their places. Returns 0 or -ENOMEM.
int report_sections_load(struct report_sections *sections, const struct report_files *files,
                         const struct report_section_filter_view *view,
                         struct report_definitions *definitions, struct report_messages *messages);
void report_sections_deinit(struct report_sections *sections); // fine when zeroed

// For another `view`: takes the definitions of the sections out, and those whose filter matches in
// again. What is wrong with them is not told twice. Returns 0 or -ENOMEM.
int report_sections_define(const struct report_sections *sections,
                           const struct report_section_filter_view *view,
                           struct report_definitions *definitions);

// Warns of each metric that does not exist, in all sections. Returns 0 or -ENOMEM.
int report_sections_warn(const struct report_sections *sections,
                         const struct report_definitions *definitions,
                         struct report_messages *messages);

// Warns that a metric of that name does not exist, with the nearest one that does.
void report_warn_unknown_metric(struct report_messages *messages, const char *file,
                                const struct report_scalar *name,
                                const struct report_definitions *definitions);

// The section that counts of that identifier, or NULL.
const struct report_section_entry *report_sections_find(const struct report_sections *sections,
                                                        struct nvtxt_slice identifier);

bool report_section_has_set(const struct report_section *section, struct nvtxt_slice set);

// ---- The choice ---------------------------------------------------------------------------------

// Which sections are shown, and in which order (nvtxt-section(5), "SHOWN").
struct report_choice {
    const char *const *sections; // identifiers, or regex:RE
    size_t section_count;
    const char *const *sets;
    size_t set_count; // without any of both: the set "basic", or all
    bool all;
};

struct report_chosen {
    const struct report_section_entry **entries; // owned; a child after its parent
    size_t count;
};

// Returns 0, NVTXT_WRONG when a word of the choice names nothing, with a sentence
// (REPORT_SENTENCE_BYTES) that offers the nearest name, or -ENOMEM.
int report_sections_choose(struct report_chosen *chosen, const struct report_sections *sections,
                           const struct report_choice *choice, char *sentence);
void report_chosen_deinit(struct report_chosen *chosen); // fine when zeroed

// Whether the section of that identifier is among them.
bool report_chosen_has(const struct report_chosen *chosen, struct nvtxt_slice identifier);
