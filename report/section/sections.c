// SPDX-License-Identifier: Apache-2.0
//
// The files are read in the order in which they were found, since of two with one identifier the
// first counts. Definitions go in file by file; cycles show only when all are there, and take their
// files out again. Then the entries are put into the order of the sections.
#include "report/section/sections.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/section/check.h"
#include "report/text/parse.h"

struct loader {
    struct report_sections *sections;
    const struct report_section_filter_view *view;
    struct report_definitions *definitions;
    struct report_messages *messages;
};

const struct report_section_entry *report_sections_find(const struct report_sections *sections,
                                                        struct nvtxt_slice identifier) {
    for (size_t i = 0; i < sections->count; i++) {
        const struct report_section_entry *entry = &sections->entries[i];
        if (!entry->hidden_by && nvtxt_slice_equal(entry->section->identifier.text, identifier)) {
            return entry;
        }
    }
    return NULL;
}

bool report_section_has_set(const struct report_section *section, struct nvtxt_slice set) {
    for (size_t i = 0; i < section->sets.count; i++) {
        const struct report_section_set *each = section->sets.items[i];
        if (nvtxt_slice_equal(each->identifier.text, set)) {
            return true;
        }
    }
    return false;
}

static int define(struct loader *loader, const struct report_file *file,
                  const struct report_section_definition *said,
                  const struct report_section_filter *section_filter) {
    static const enum report_aggregate aggregates[] = {REPORT_AGGREGATE_INSTANCES,
                                                       REPORT_AGGREGATE_OPERANDS};
    struct report_section_filters filter = report_section_filter_join(section_filter, said->filter);
    if (!report_section_filter_matches(&filter, loader->view)) {
        return report_definitions_leave_out(loader->definitions, said->name.text);
    }
    struct report_definition definition = {
        .name = said->name.text,
        .expression = said->expression.text,
        .aggregate = report_has(&said->aggregate) ? aggregates[said->aggregate.integer]
                                                  : REPORT_AGGREGATE_UNSAID,
        .unit = said->unit.text,
        .description = said->description.text,
        .origin = REPORT_FROM_SECTION,
        .owner = file,
    };
    struct report_expression_fault fault = {0};
    int r = report_definitions_add(loader->definitions, &definition, &fault);
    if (r > 0) {
        bool expression = strcmp(fault.code, "bad-expression") == 0 && fault.column > 0;
        struct report_place at =
            expression ? report_place_in(&said->expression, fault.column - 1) : said->name.at;
        report_messages_add(loader->messages, file->path, at, REPORT_FILE_ERROR, fault.code, "%s",
                            fault.text);
    }
    return r < 0 ? r : 0;
}

static int define_all(struct loader *loader, const struct report_file *file,
                      const struct report_section *section) {
    int r = 0;
    for (size_t i = 0; i < section->definitions.count; i++) {
        const struct report_section_definitions *list = section->definitions.items[i];
        for (size_t j = 0; j < list->definitions.count && r == 0; j++) {
            r = define(loader, file, list->definitions.items[j], section->filter);
        }
    }
    return r;
}

static void tell_hidden(struct loader *loader, const struct report_section_entry *entry) {
    const struct report_scalar *identifier = &entry->section->identifier;
    report_messages_add(loader->messages, entry->file->path, identifier->at, REPORT_FILE_WARNING,
                        "duplicate-identifier", "section '%s' is hidden by %s",
                        identifier->text.data, entry->hidden_by->path);
}

static int load_file(struct loader *loader, const struct report_file *file) {
    struct report_sections *sections = loader->sections;
    size_t first = loader->messages->count, errors = loader->messages->errors;
    struct nvtxt_slice text;
    void *section = NULL;
    int r = report_file_read(file, &sections->arena, &text, loader->messages);
    if (r == 0) {
        r = report_text_parse(&report_section_type, text, file->path, &sections->arena,
                              loader->messages, &section);
    }
    if (r >= 0 && section) {
        r = report_section_check(section, file->path, loader->messages);
    }
    if (r < 0) {
        return r;
    }
    struct report_section_entry entry = {.section = section, .file = file};
    bool good = loader->messages->errors == errors;
    const struct report_section_entry *first_one =
        good ? report_sections_find(sections, entry.section->identifier.text) : NULL;
    if (first_one) {
        entry.hidden_by = first_one->file;
        tell_hidden(loader, &entry);
    } else if (good) {
        r = define_all(loader, file, section);
    }
    report_messages_sort(loader->messages, first);
    if (loader->messages->errors == errors) {
        sections->entries[sections->count++] = entry;
    } else {
        report_definitions_drop(loader->definitions, file);
        sections->failed++;
    }
    return r;
}

static void remove_entry(struct report_sections *sections, struct report_section_entry *entry) {
    size_t after = (size_t)(sections->entries + sections->count - (entry + 1));
    memmove(entry, entry + 1, after * sizeof(*entry));
    sections->count--;
    sections->failed++;
}

static struct report_place place_of_definition(const struct report_section *section,
                                               const char *name) {
    for (size_t i = 0; i < section->definitions.count; i++) {
        const struct report_section_definitions *list = section->definitions.items[i];
        for (size_t j = 0; j < list->definitions.count; j++) {
            const struct report_section_definition *each = list->definitions.items[j];
            if (nvtxt_slice_equal(each->name.text, nvtxt_slice_of(name))) {
                return each->name.at;
            }
        }
    }
    return section->identifier.at;
}

// A cycle that an option closes stays for the caller, who knows what to say of options.
static int drop_cycles(struct loader *loader) {
    for (;;) {
        struct report_expression_fault fault = {0};
        const char *name;
        const void *owner;
        int r = report_definitions_cycle(loader->definitions, &fault, &name, &owner);
        if (r <= 0) {
            return r;
        }
        struct report_section_entry *entry = NULL;
        for (size_t i = 0; i < loader->sections->count; i++) {
            if (loader->sections->entries[i].file == owner) {
                entry = &loader->sections->entries[i];
            }
        }
        if (!entry) {
            return 0;
        }
        report_messages_add(loader->messages, entry->file->path,
                            place_of_definition(entry->section, name), REPORT_FILE_ERROR,
                            fault.code, "%s", fault.text);
        report_definitions_drop(loader->definitions, owner);
        remove_entry(loader->sections, entry);
    }
}

static void warn_of_parents(struct loader *loader) {
    for (size_t i = 0; i < loader->sections->count; i++) {
        const struct report_section_entry *entry = &loader->sections->entries[i];
        const struct report_scalar *parent = &entry->section->extends;
        if (!entry->hidden_by && report_has(parent) &&
            !report_sections_find(loader->sections, parent->text)) {
            report_messages_add(loader->messages, entry->file->path, parent->at,
                                REPORT_FILE_WARNING, "unknown-section",
                                "there is no section '%s' to extend", parent->text.data);
        }
    }
}

int report_sections_define(const struct report_sections *sections,
                           const struct report_section_filter_view *view,
                           struct report_definitions *definitions) {
    struct report_messages told = {0};
    struct loader loader = {NULL, view, definitions, &told};
    int r = 0;
    for (size_t i = 0; i < sections->count; i++) {
        report_definitions_drop(definitions, sections->entries[i].file);
    }
    for (size_t i = 0; i < sections->count && r == 0; i++) {
        const struct report_section_entry *entry = &sections->entries[i];
        r = entry->hidden_by ? 0 : define_all(&loader, entry->file, entry->section);
    }
    struct report_expression_fault fault;
    const char *name;
    const void *owner;
    while (r == 0 && report_definitions_cycle(definitions, &fault, &name, &owner) > 0 && owner) {
        report_definitions_drop(definitions, owner);
    }
    report_messages_deinit(&told);
    return r;
}

static int compare_entries(const void *a, const void *b) {
    const struct report_section_entry *x = a, *y = b;
    const struct report_section *one = x->section, *other = y->section;
    int order = NVTXT_ORDER(one->order.integer, other->order.integer);
    order = order ?: nvtxt_slice_order(one->identifier.text, other->identifier.text);
    return order ?: NVTXT_ORDER(x->file, y->file);
}

int report_sections_load(struct report_sections *sections, const struct report_files *files,
                         const struct report_section_filter_view *view,
                         struct report_definitions *definitions, struct report_messages *messages) {
    struct loader loader = {sections, view, definitions, messages};
    *sections = (struct report_sections){0};
    sections->entries = calloc(files->count + 1, sizeof(*sections->entries));
    int r = sections->entries ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; i < files->count && r == 0; i++) {
        r = report_file_is(&files->files[i], ".section") ? load_file(&loader, &files->files[i]) : 0;
    }
    r = r ?: drop_cycles(&loader);
    if (r < 0) {
        return r;
    }
    warn_of_parents(&loader);
    qsort(sections->entries, sections->count, sizeof(*sections->entries), compare_entries);
    return messages->failed ? nvtxt_origin(-ENOMEM) : 0;
}

void report_sections_deinit(struct report_sections *sections) {
    free(sections->entries);
    store_arena_deinit(&sections->arena);
    *sections = (struct report_sections){0};
}

struct warner {
    const struct report_definitions *definitions;
    struct report_messages *messages;
    const char *file;
};

static void warn_of_name(const struct warner *warner, const struct report_scalar *name) {
    struct nvtxt_slice rest;
    if (*report_metric_prefix(name->text, &rest) ||
        report_metric_exists(warner->definitions, name->text.data)) {
        return;
    }
    report_warn_unknown_metric(warner->messages, warner->file, name, warner->definitions);
}

void report_warn_unknown_metric(struct report_messages *messages, const char *file,
                                const struct report_scalar *name,
                                const struct report_definitions *definitions) {
    bool left_out = report_definitions_left_out(definitions, name->text);
    const char *near = left_out ? NULL : report_metric_near(definitions, name->text);
    struct nvtxt_slice shown = nvtxt_slice_cut(name->text, 100);
    report_messages_add(messages, file, name->at, REPORT_FILE_WARNING, "unknown-metric",
                        "no metric '%.*s'%s%s%s", (int)shown.len, shown.data,
                        left_out ? ": the filter of its definition does not match"
                        : near   ? "; did you mean '"
                                 : "",
                        near ?: "", near ? "'?" : "");
}

static int warn_of_metric(void *context, const struct report_section_metric *metric,
                          enum report_metric_place place) {
    (void)place;
    struct report_section_filters filter = report_section_filter_join(NULL, metric->filter);
    if (filter.importance && filter.importance->integer == REPORT_OPTIONAL) {
        return 0;
    }
    warn_of_name(context, &metric->name);
    for (size_t i = 0; i < metric->options.count; i++) {
        const struct report_metric_option *option = metric->options.items[i];
        warn_of_name(context, &option->name);
    }
    return 0;
}

int report_sections_warn(const struct report_sections *sections,
                         const struct report_definitions *definitions,
                         struct report_messages *messages) {
    struct warner warner = {.definitions = definitions, .messages = messages};
    for (size_t i = 0; i < sections->count; i++) {
        warner.file = sections->entries[i].file->path;
        if (!sections->entries[i].hidden_by) {
            (void)report_section_each_metric(sections->entries[i].section, warn_of_metric, &warner);
        }
    }
    return messages->failed ? nvtxt_origin(-ENOMEM) : 0;
}
