// SPDX-License-Identifier: Apache-2.0
//
// Events are counted once by name and kind. What filter expressions select is filter_notes.c's.
#include "report/select/notes.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"

// ---- Other options ------------------------------------------------------------------------------

static bool has_events(const struct report_notes *notes, struct nvtxt_slice domain) {
    const struct report_capture *capture = notes->capture;
    for (size_t i = 0; i < capture->name_count; i++) {
        if (nvtxt_slice_equal(capture->domains[capture->names[i].domain], domain)) {
            return true;
        }
    }
    return false;
}

static void explain_domains(struct report_notes *notes, const char *option,
                            const struct nvtxt_slice *domains, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (has_events(notes, domains[i])) {
            continue;
        }
        notes->lines++;
        note_put(notes, "--");
        note_put(notes, option);
        note_put(notes, " ");
        note_put_quoted(notes, domains[i].len > 0 ? domains[i] : NVTXT_SLICE("default"));
        note_put(notes, " selects nothing: no event ");
        note_put_place(notes, domains[i], false);
        const char *near = note_near_domain(notes, domains[i]);
        if (near && domains[i].len > 0) {
            note_put(notes, ": did you mean ");
            note_put_quoted(notes, nvtxt_slice_of(near));
            note_put(notes, "?");
        }
        note_end(notes);
    }
}

static bool is_any_domain(const void *context, uint32_t domain) {
    (void)context;
    (void)domain;
    return true;
}

static void spell_marker(struct report_notes *notes, struct nvtxt_slice name,
                         struct nvtxt_slice domain) {
    note_put(notes, ": did you mean '");
    note_spell_name(notes->to, name, "@");
    note_put(notes, domain.len > 0 ? "@" : "");
    note_spell_name(notes->to, domain, "@");
    note_put(notes, "'?");
}

static void explain_marker(struct report_notes *notes, const char *option,
                           const struct report_marker *marker) {
    const struct report_capture *capture = notes->capture;
    size_t here = 0, there = 0;
    uint32_t domain = 0;
    for (size_t i = 0; i < capture->name_count; i++) {
        const struct report_name *name = &capture->names[i];
        if (!nvtxt_slice_equal(capture->messages[name->message], marker->name)) {
            continue;
        }
        size_t count =
            (size_t)notes->counts[i][REPORT_PUSH_POP] + notes->counts[i][REPORT_START_END];
        bool own =
            marker->any_domain || nvtxt_slice_equal(capture->domains[name->domain], marker->domain);
        *(own ? &here : &there) += count;
        domain = own || count == 0 ? domain : name->domain;
    }
    if (here > 0) {
        return;
    }
    note_begin(notes, option, marker->text);
    note_put(notes, "no range ");
    note_put_quoted(notes, marker->name);
    note_put(notes, " ");
    if (marker->any_domain) {
        note_put(notes, "in any domain");
    } else {
        note_put_place(notes, marker->domain, false);
    }
    const char *near = note_near_message(notes, marker->name, NOTE_KINDS, is_any_domain, NULL);
    if (there > 0) {
        char text[64];
        snprintf(text, sizeof(text), ", but %zu range%s of that name ", there,
                 there == 1 ? "" : "s");
        note_put(notes, text);
        note_put_place(notes, capture->domains[domain], false);
        spell_marker(notes, marker->name, capture->domains[domain]);
    } else if (near) {
        spell_marker(notes, nvtxt_slice_of(near), marker->domain);
    }
    note_end(notes);
}

static void explain_ids(struct report_notes *notes, const char *option, const uint32_t *ids,
                        size_t count, bool is_pid) {
    const struct report_capture *capture = notes->capture;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t j = 0; j < capture->thread_count && !found; j++) {
            const struct report_thread *thread = &capture->threads[j];
            found =
                ids[i] == (is_pid ? capture->processes[thread->process].pid : report_tid(thread));
        }
        if (!found) {
            char text[96];
            snprintf(text, sizeof(text), "%u", ids[i]);
            note_begin(notes, option, text);
            snprintf(text, sizeof(text), "no event of a %s %u", is_pid ? "process" : "thread",
                     ids[i]);
            note_put(notes, text);
            note_end(notes);
        }
    }
}

static void explain_category(struct report_notes *notes, const struct report_word *word) {
    const struct report_capture *capture = notes->capture;
    bool found = word->is_number;
    for (size_t i = 0; i < capture->category_count && !found; i++) {
        found = nvtxt_slice_equal(capture->categories[i].name, nvtxt_slice_of(word->text));
    }
    if (found) {
        return;
    }
    const char *near = note_near_category(notes, nvtxt_slice_of(word->text));
    note_begin(notes, "category", word->text);
    note_put(notes, "there is no category of that name");
    if (near) {
        note_put(notes, ": did you mean ");
        note_put_quoted(notes, nvtxt_slice_of(near));
        note_put(notes, "?");
    }
    note_end(notes);
}

// Options that no event fits, in few words; an option with words of its own comes before.
static void explain_rest(struct report_notes *notes) {
    const struct report_selection *selection = notes->outcome->selection;
    const struct {
        enum report_selection_bit condition;
        const char *option, *text, *reason;
    } rows[] = {
        {REPORT_FITS_WITHIN, "within", NULL, "no event starts in such a range"},
        {REPORT_FITS_SPAN,
         selection->has_since  ? "since"
         : selection->has_last ? "last"
                               : "until",
         NULL, "no event in that span of time"},
        {REPORT_FITS_SOURCES, "source", NULL, "it has no events"},
        {REPORT_FITS_KINDS, "kind", NULL, "there are no events of that kind"},
        {REPORT_FITS_CATEGORIES, "category", NULL, "no event of that category"},
        {REPORT_FITS_COLORS, "color", NULL, "no event of that colour"},
        {REPORT_FITS_LEVEL, "level", NULL, "no line of a log has such a level"},
        {REPORT_FITS_MATCH, "match", selection->match_text, "no message matches"},
        {REPORT_FITS_PAYLOADS, "payload",
         selection->payloads_count == 1 ? selection->payloads[0].text : NULL,
         "no event has such a payload"},
        {REPORT_FITS_DURATIONS, selection->has_min ? "min-duration" : "max-duration", NULL,
         "no range is of that length"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool told =
            (rows[i].condition & (REPORT_FITS_WITHIN | REPORT_FITS_CATEGORIES)) && notes->lines > 0;
        if (!(notes->outcome->fitted & rows[i].condition) && !told) {
            note_begin(notes, rows[i].option, rows[i].text);
            note_put(notes, rows[i].reason);
            note_end(notes);
        }
    }
}

static void explain_conditions(struct report_notes *notes) {
    const struct report_selection *selection = notes->outcome->selection;
    explain_domains(notes, "nvtx-domain-include", selection->domain_includes,
                    selection->domain_includes_count);
    explain_domains(notes, "nvtx-domain-exclude", selection->domain_excludes,
                    selection->domain_excludes_count);
    for (size_t i = 0; i < selection->within_count; i++) {
        explain_marker(notes, "within", &selection->within[i]);
    }
    if (selection->has_iterations) {
        explain_marker(notes, "iterations", &selection->iterations);
    }
    explain_ids(notes, "pid", selection->pids, selection->pids_count, true);
    explain_ids(notes, "tid", selection->tids, selection->tids_count, false);
    for (size_t i = 0; i < selection->categories_count; i++) {
        explain_category(notes, &selection->categories[i]);
    }
    explain_rest(notes);
}

// ---- The whole ----------------------------------------------------------------------------------

static void count_events(struct report_notes *notes) {
    const struct report_capture *capture = notes->capture;
    for (size_t i = 0; i < capture->event_count; i++) {
        notes->counts[capture->events[i].name][capture->events[i].kind]++;
    }
}

static bool is_needed(const struct report_outcome *outcome) {
    const struct report_selection *selection = outcome->selection;
    bool failed = outcome->selected == 0 || outcome->fitted != REPORT_FITS_ALL;
    for (size_t i = 0; outcome->seen && i < outcome->filters->count; i++) {
        failed |= !report_bit(outcome->seen, outcome->filters->filters[i].final);
    }
    return failed ||
           selection->domain_includes_count + selection->domain_excludes_count +
                   selection->within_count + selection->pids_count + selection->tids_count +
                   selection->categories_count >
               0 ||
           selection->has_iterations;
}

int report_notes_write(const struct report_outcome *outcome, struct nvtxt_buf *to) {
    const struct report_capture *capture = outcome->capture;
    struct report_notes notes = {.outcome = outcome, .capture = capture, .to = to};
    if (!is_needed(outcome)) {
        return 0;
    }
    if (capture->event_count == 0) {
        bool span = outcome->selection->has_since || outcome->selection->has_until ||
                    outcome->selection->has_last;
        note_put(&notes, span ? "nothing is selected: no event in that span of time\n"
                              : "nothing is selected: there are no events\n");
        return nvtxt_buf_failed(to) ? nvtxt_origin(-ENOMEM) : 0;
    }
    notes.counts = calloc(capture->name_count + 1, sizeof(*notes.counts));
    int r = notes.counts ? 0 : nvtxt_origin(-ENOMEM);
    if (r == 0) {
        count_events(&notes);
        r = note_filters(&notes);
    }
    if (r == 0) {
        explain_conditions(&notes);
        if (notes.lines == 0 && outcome->selected == 0) {
            note_put(&notes,
                     "nothing is selected: each option selects some events, but no event is "
                     "selected by all of them\n");
        }
    }
    free(notes.counts);
    free(notes.words);
    return r ?: nvtxt_buf_failed(to) ? nvtxt_origin(-ENOMEM) : 0;
}
