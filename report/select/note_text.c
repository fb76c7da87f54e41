// SPDX-License-Identifier: Apache-2.0
//
// The texts of a note, and the names that are near to one that is not there.
#include "report/select/notes.h"

#include <string.h>

#include "protocol/table/arrays.h"

void note_put(struct report_notes *notes, const char *text) {
    nvtxt_buf_add_string(notes->to, text);
}

// Messages and domains in a line of text: control characters are blanks.
void note_put_slice(struct report_notes *notes, struct nvtxt_slice text) {
    size_t begin = notes->to->len;
    nvtxt_buf_add(notes->to, text.data, text.len);
    for (size_t i = begin; !nvtxt_buf_failed(notes->to) && i < notes->to->len; i++) {
        if ((unsigned char)notes->to->data[i] < ' ') {
            notes->to->data[i] = ' ';
        }
    }
}

void note_put_quoted(struct report_notes *notes, struct nvtxt_slice text) {
    note_put(notes, "'");
    note_put_slice(notes, text);
    note_put(notes, "'");
}

void note_begin(struct report_notes *notes, const char *option, const char *text) {
    notes->lines++;
    note_put(notes, "--");
    note_put(notes, option);
    if (text) {
        note_put(notes, " ");
        note_put_quoted(notes, nvtxt_slice_of(text));
    }
    note_put(notes, " selects nothing: ");
}

void note_end(struct report_notes *notes) {
    note_put(notes, "\n");
}

void note_put_place(struct report_notes *notes, struct nvtxt_slice domain, bool is_regex) {
    if (domain.len == 0 ||
        (!is_regex && nvtxt_slice_equal(domain, NVTXT_SLICE(REPORT_DEFAULT_DOMAIN)))) {
        note_put(notes, "in the default domain");
    } else {
        note_put(notes, is_regex ? "in a domain that matches " : "in domain ");
        note_put_quoted(notes, domain);
    }
}

void note_spell_name(struct nvtxt_buf *to, struct nvtxt_slice name, const char *special) {
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] != '\0' && strchr(special, name.data[i])) {
            nvtxt_buf_add_string(to, "\\");
        }
        nvtxt_buf_add(to, name.data + i, 1);
    }
}

// ---- Near names ---------------------------------------------------------------------------------

static const char *word_at(const void *context, size_t index) {
    const struct report_notes *notes = context;
    return index < notes->word_count ? notes->words[index] : NULL;
}

// A word that finds no memory is not offered.
static void add_word(struct report_notes *notes, struct nvtxt_slice word) {
    char *copy = word.len > 0 && word.len < NOTE_WORD
                     ? nvtxt_add(&notes->words, &notes->word_count, NOTE_WORD)
                     : NULL;
    if (copy) {
        memcpy(copy, word.data, word.len);
    }
}

const char *note_near_domain(struct report_notes *notes, struct nvtxt_slice word) {
    notes->word_count = 0;
    for (size_t i = 1; i < notes->capture->domain_count; i++) {
        add_word(notes, notes->capture->domains[i]);
    }
    return nvtxt_near(word, word_at, notes);
}

const char *note_near_category(struct report_notes *notes, struct nvtxt_slice word) {
    notes->word_count = 0;
    for (size_t i = 0; i < notes->capture->category_count; i++) {
        add_word(notes, notes->capture->categories[i].name);
    }
    return nvtxt_near(word, word_at, notes);
}

const char *note_near_message(struct report_notes *notes, struct nvtxt_slice word, unsigned kind,
                              bool (*is_here)(const void *context, uint32_t domain),
                              const void *context) {
    const struct report_capture *capture = notes->capture;
    notes->word_count = 0;
    for (size_t i = 0; i < capture->name_count; i++) {
        const uint32_t *counts = notes->counts[i];
        size_t len = capture->messages[capture->names[i].message].len;
        bool wanted = kind < NOTE_KINDS ? counts[kind] > 0
                                        : counts[REPORT_PUSH_POP] + counts[REPORT_START_END];
        if (wanted && len + 2 >= word.len && len <= word.len + 2 &&
            is_here(context, capture->names[i].domain)) {
            add_word(notes, capture->messages[capture->names[i].message]);
        }
    }
    return nvtxt_near(word, word_at, notes);
}
