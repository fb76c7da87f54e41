// SPDX-License-Identifier: Apache-2.0
//
// The sections of all files that were found: read, checked, in their order.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/metric/definitions.h"
#include "report/section/files.h"
#include "report/section/filters.h"
#include "report/section/section.h"

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
                         const struct report_filter_view *view,
                         struct report_definitions *definitions, struct report_messages *messages);
void report_sections_deinit(struct report_sections *sections); // fine when zeroed

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
