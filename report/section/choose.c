// SPDX-License-Identifier: Apache-2.0
//
// Each word of the choice marks sections. Then the marked ones are taken in their order, each
// followed by those that extend it; what only circles of parents reach comes last.
#include "report/section/sections.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/base/slice.h"
#include "report/section/check.h"
#include "report/select/filter.h"

enum { MARKED = 1, TAKEN = 2 };

struct chooser {
    const struct report_sections *sections;
    unsigned char *marks; // owned
    struct report_chosen *chosen;
};

bool report_chosen_has(const struct report_chosen *chosen, struct nvtxt_slice identifier) {
    for (size_t i = 0; i < chosen->count; i++) {
        if (nvtxt_slice_equal(chosen->entries[i]->section->identifier.text, identifier)) {
            return true;
        }
    }
    return false;
}

static const char *section_name(const void *context, size_t index) {
    const struct report_sections *sections = context;
    return index < sections->count ? sections->entries[index].section->identifier.text.data : NULL;
}

// The names of all sets, one section after the other; "" where a section has fewer than 64.
static const char *set_name(const void *context, size_t index) {
    const struct report_sections *sections = context;
    if (index / 64 >= sections->count) {
        return NULL;
    }
    const struct report_list *sets = &sections->entries[index / 64].section->sets;
    const struct report_section_set *set =
        index % 64 < sets->count ? sets->items[index % 64] : NULL;
    return set ? set->identifier.text.data : "";
}

static int unknown(const struct chooser *chooser, const char *what, struct nvtxt_slice word,
                   const char *(*names)(const void *context, size_t index), char *sentence) {
    const char *near = nvtxt_near(word, names, chooser->sections);
    struct nvtxt_slice shown = nvtxt_slice_cut(word, 200);
    snprintf(sentence, REPORT_SENTENCE_BYTES, "no %s '%.*s'%s%.200s%s", what, (int)shown.len,
             shown.data, near ? "; did you mean '" : "", near ?: "", near ? "'?" : "");
    return NVTXT_WRONG;
}

// Marks those whose identifier the expression matches. Returns their number, or what is wrong.
static int mark_regex(struct chooser *chooser, struct report_regex *regex, const char *word,
                      char *sentence) {
    int r = 0, count = 0;
    for (size_t i = 0; i < chooser->sections->count; i++) {
        const struct report_section_entry *entry = &chooser->sections->entries[i];
        if (entry->hidden_by) {
            continue;
        }
        r = report_regex_search(regex, entry->section->identifier.text);
        if (r < 0) {
            return r;
        }
        if (r == REPORT_REGEX_COSTLY) {
            snprintf(sentence, REPORT_SENTENCE_BYTES, "--section '%.300s': too costly", word);
            return NVTXT_WRONG;
        }
        if (r == REPORT_REGEX_YES) {
            chooser->marks[i] = MARKED;
            count++;
        }
    }
    if (count == 0) {
        snprintf(sentence, REPORT_SENTENCE_BYTES, "no section matches '%.300s'", word);
    }
    return count == 0 ? NVTXT_WRONG : 0;
}

static int choose_regex(struct chooser *chooser, const char *word, struct nvtxt_slice pattern,
                        char *sentence) {
    char why[REPORT_REGEX_SENTENCE];
    size_t offset;
    struct report_regex *regex;
    int r = report_regex_new(&regex, pattern, why, &offset);
    if (r > 0) {
        snprintf(sentence, REPORT_SENTENCE_BYTES, "--section '%.300s': %s", word, why);
        return NVTXT_WRONG;
    }
    if (r == 0) {
        r = mark_regex(chooser, regex, word, sentence);
        report_regex_free(regex);
    }
    return r;
}

static int choose_section(struct chooser *chooser, const char *word, char *sentence) {
    struct nvtxt_slice name = nvtxt_slice_of(word), rest;
    if (strcmp(report_metric_prefix(name, &rest), "regex:") == 0) {
        return choose_regex(chooser, word, rest, sentence);
    }
    const struct report_section_entry *entry = report_sections_find(chooser->sections, name);
    if (!entry) {
        return unknown(chooser, "section", name, section_name, sentence);
    }
    chooser->marks[entry - chooser->sections->entries] = MARKED;
    return 0;
}

static int choose_set(struct chooser *chooser, const char *word, char *sentence) {
    struct nvtxt_slice name = nvtxt_slice_of(word);
    bool found = false;
    for (size_t i = 0; i < chooser->sections->count; i++) {
        const struct report_section_entry *entry = &chooser->sections->entries[i];
        if (!entry->hidden_by && report_section_has_set(entry->section, name)) {
            chooser->marks[i] = MARKED;
            found = true;
        }
    }
    return found ? 0 : unknown(chooser, "set", name, set_name, sentence);
}

static void take(struct chooser *chooser, size_t index) {
    const struct report_sections *sections = chooser->sections;
    const struct report_section_entry *entry = &sections->entries[index];
    chooser->marks[index] = TAKEN;
    chooser->chosen->entries[chooser->chosen->count++] = entry;
    for (size_t i = 0; i < sections->count; i++) {
        if (chooser->marks[i] == MARKED &&
            nvtxt_slice_equal(sections->entries[i].section->extends.text,
                              entry->section->identifier.text)) {
            take(chooser, i);
        }
    }
}

static void take_all(struct chooser *chooser) {
    const struct report_sections *sections = chooser->sections;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sections->count; i++) {
            const struct report_section_entry *parent =
                report_sections_find(sections, sections->entries[i].section->extends.text);
            bool below = pass == 0 && parent && chooser->marks[parent - sections->entries];
            if (chooser->marks[i] == MARKED && !below) {
                take(chooser, i);
            }
        }
    }
}

int report_sections_choose(struct report_chosen *chosen, const struct report_sections *sections,
                           const struct report_choice *choice, char *sentence) {
    struct chooser chooser = {sections, calloc(sections->count + 1, 1), chosen};
    chosen->count = 0;
    chosen->entries = calloc(sections->count + 1, sizeof(*chosen->entries));
    int r = chooser.marks && chosen->entries ? 0 : nvtxt_origin(-ENOMEM);
    for (size_t i = 0; i < choice->section_count && r == 0; i++) {
        r = choose_section(&chooser, choice->sections[i], sentence);
    }
    for (size_t i = 0; i < choice->set_count && r == 0; i++) {
        r = choose_set(&chooser, choice->sets[i], sentence);
    }
    // Folders of one's own may have no section of that set: then nothing is shown.
    bool none = choice->section_count == 0 && choice->set_count == 0;
    for (size_t i = 0; r == 0 && none && choice->all && i < sections->count; i++) {
        chooser.marks[i] = sections->entries[i].hidden_by ? 0 : MARKED;
    }
    if (r == 0 && none && !choice->all) {
        (void)choose_set(&chooser, "basic", sentence);
    }
    if (r == 0) {
        take_all(&chooser);
    }
    free(chooser.marks);
    return r;
}

void report_chosen_deinit(struct report_chosen *chosen) {
    free(chosen->entries);
    *chosen = (struct report_chosen){0};
}
