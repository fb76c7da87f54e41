// SPDX-License-Identifier: Apache-2.0
//
// Events are counted once by name and kind. An expression that matches nothing fails at the first
// of its names that no range of its kind and domain has; then the counts say where that name is. If
// all its names are there, they never lie so; a looser expression is offered after it was tried.
#include "report/select/notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/near.h"
#include "report/select/marker.h"
#include "report/select/sweep.h"

#define NEAR_BYTES 64 // nvtxt_near() compares no longer words
#define KINDS 3

struct notes {
    const struct report_outcome *outcome;
    const struct report_capture *capture;
    struct nvtxt_buf *to;
    uint32_t (*counts)[KINDS]; // events of each name, by kind
    char (*words)[NEAR_BYTES]; // for nvtxt_near()
    size_t word_count, word_room;
    size_t lines;
};

static void put(struct notes *notes, const char *text) {
    nvtxt_buf_add_string(notes->to, text);
}

// Messages and domains in a line of text: control characters are blanks.
static void put_slice(struct notes *notes, struct nvtxt_slice text) {
    size_t begin = notes->to->len;
    nvtxt_buf_add(notes->to, text.data, text.len);
    for (size_t i = begin; !nvtxt_buf_failed(notes->to) && i < notes->to->len; i++) {
        if ((unsigned char)notes->to->data[i] < ' ') {
            notes->to->data[i] = ' ';
        }
    }
}

static void put_quoted(struct notes *notes, struct nvtxt_slice text) {
    put(notes, "'");
    put_slice(notes, text);
    put(notes, "'");
}

static void begin_line(struct notes *notes, const char *option, const char *text) {
    notes->lines++;
    put(notes, "--");
    put(notes, option);
    if (text) {
        put(notes, " ");
        put_quoted(notes, nvtxt_slice_of(text));
    }
    put(notes, " selects nothing: ");
}

static void end_line(struct notes *notes) {
    put(notes, "\n");
}

// ---- Near names ---------------------------------------------------------------------------------

static const char *word_at(const void *context, size_t index) {
    const struct notes *notes = context;
    return index < notes->word_count ? notes->words[index] : NULL;
}

// A word that finds no memory is not offered.
static void add_word(struct notes *notes, struct nvtxt_slice word) {
    if (notes->word_count == notes->word_room) {
        size_t room = notes->word_room > 0 ? 2 * notes->word_room : 16;
        void *words = realloc(notes->words, room * sizeof(*notes->words));
        notes->words = words ? words : notes->words;
        notes->word_room = words ? room : notes->word_room;
    }
    if (word.len > 0 && word.len < NEAR_BYTES && notes->word_count < notes->word_room) {
        snprintf(notes->words[notes->word_count++], NEAR_BYTES, "%.*s", (int)word.len, word.data);
    }
}

// The domain nearest to a word; NULL: none.
static const char *near_domain(struct notes *notes, struct nvtxt_slice word) {
    notes->word_count = 0;
    for (size_t i = 1; i < notes->capture->domain_count; i++) {
        add_word(notes, notes->capture->domains[i]);
    }
    return nvtxt_near(word, word_at, notes);
}

static const char *near_category(struct notes *notes, struct nvtxt_slice word) {
    notes->word_count = 0;
    for (size_t i = 0; i < notes->capture->category_count; i++) {
        add_word(notes, notes->capture->categories[i].name);
    }
    return nvtxt_near(word, word_at, notes);
}

// The nearest message of ranges; of those that `is_here` holds for. A kind of KINDS: both.
static const char *near_message(struct notes *notes, struct nvtxt_slice word, unsigned kind,
                                bool (*is_here)(const void *context, uint32_t domain),
                                const void *context) {
    const struct report_capture *capture = notes->capture;
    notes->word_count = 0;
    for (size_t i = 0; i < capture->name_count; i++) {
        const uint32_t *counts = notes->counts[i];
        size_t len = capture->messages[capture->names[i].message].len;
        bool wanted =
            kind < KINDS ? counts[kind] > 0 : counts[REPORT_PUSH_POP] + counts[REPORT_START_END];
        if (wanted && len + 2 >= word.len && len <= word.len + 2 &&
            is_here(context, capture->names[i].domain)) {
            add_word(notes, capture->messages[capture->names[i].message]);
        }
    }
    return nvtxt_near(word, word_at, notes);
}

// ---- Expressions --------------------------------------------------------------------------------

struct tally {
    size_t here[KINDS], there[KINDS]; // in the expression's domains, and in others
    uint32_t domain[KINDS];           // one of the others
};

struct failed {
    struct notes *notes;
    const struct report_filter_set *set;
    size_t index; // of the filter
    const struct report_filter *filter;
};

static const char *const kind_names[KINDS] = {"mark", "push/pop range", "start/end range"};

static bool is_own_domain(const void *context, uint32_t domain) {
    const struct failed *failed = context;
    return report_filter_has_domain(failed->set, failed->index, domain);
}

static bool is_other_domain(const void *context, uint32_t domain) {
    return !is_own_domain(context, domain);
}

static struct tally count_name(const struct failed *failed, size_t bit) {
    const struct report_capture *capture = failed->notes->capture;
    struct tally tally = {0};
    for (size_t i = 0; i < capture->name_count; i++) {
        uint32_t class = failed->set->classes[capture->names[i].message];
        uint32_t domain = capture->names[i].domain;
        if (!report_bit(report_filter_set_row(failed->set, failed->set->names, class), bit)) {
            continue;
        }
        bool own = is_own_domain(failed, domain);
        for (size_t kind = 0; kind < KINDS; kind++) {
            uint32_t count = failed->notes->counts[i][kind];
            *(own ? &tally.here[kind] : &tally.there[kind]) += count;
            if (!own && count > 0) {
                tally.domain[kind] = domain;
            }
        }
    }
    return tally;
}

// "in the default domain", "in domain 'D'", "in a domain that matches 'D'".
static void put_place(struct notes *notes, struct nvtxt_slice domain, bool is_regex) {
    if (domain.len == 0 ||
        (!is_regex && nvtxt_slice_equal(domain, NVTXT_SLICE(REPORT_DEFAULT_DOMAIN)))) {
        put(notes, "in the default domain");
    } else {
        put(notes, is_regex ? "in a domain that matches " : "in domain ");
        put_quoted(notes, domain);
    }
}

static void put_own_place(const struct failed *failed) {
    const struct report_filter *filter = failed->filter;
    put_place(failed->notes,
              filter->has_domain ? filter->domain.name : (struct nvtxt_slice){NULL, 0},
              filter->has_domain && filter->is_regex);
}

// Writes a name so that an expression reads it as it is.
static void spell_name(struct nvtxt_buf *to, struct nvtxt_slice name, const char *special) {
    for (size_t i = 0; i < name.len; i++) {
        if (name.data[i] != '\0' && strchr(special, name.data[i])) {
            nvtxt_buf_add_string(to, "\\");
        }
        nvtxt_buf_add(to, name.data + i, 1);
    }
}

static void spell_domain(struct nvtxt_buf *to, struct nvtxt_slice domain) {
    if (domain.len > 0 && !nvtxt_slice_equal(domain, NVTXT_SLICE(REPORT_DEFAULT_DOMAIN))) {
        spell_name(to, domain, "@\\");
        nvtxt_buf_add_string(to, "@");
    }
}

// The expression in another domain, with another name for one of its items (`from` NULL: none).
static void spell_filter(struct nvtxt_buf *to, const struct report_filter *filter,
                         struct nvtxt_slice domain, const struct report_item *from,
                         struct nvtxt_slice name) {
    bool needs_slash = filter->is_push_pop && !filter->bottom && !filter->top && filter->count == 1;
    spell_domain(to, domain);
    nvtxt_buf_add_string(to, filter->bottom ? "[" : "");
    for (size_t i = 0; i < filter->count; i++) {
        const struct report_item *item = &filter->items[i];
        nvtxt_buf_add_string(to, i == 0 ? "" : filter->is_push_pop ? "/" : ",");
        if (item->kind == REPORT_ITEM_NAME) {
            spell_name(to, item == from ? name : item->name, "@,[]/*+\\");
        } else {
            nvtxt_buf_add_string(to, item->kind == REPORT_ITEM_MANY ? "*" : "+");
        }
    }
    nvtxt_buf_add_string(to, needs_slash ? "/" : filter->top ? "]" : "");
}

// One name as an expression of the other kind.
static void spell_other_kind(struct nvtxt_buf *to, const struct report_filter *filter,
                             struct nvtxt_slice domain, struct nvtxt_slice name) {
    spell_domain(to, domain);
    spell_name(to, name, "@,[]/*+\\");
    nvtxt_buf_add_string(to, filter->is_push_pop ? "" : "/");
}

static struct nvtxt_slice own_domain(const struct report_filter *filter) {
    return filter->has_domain ? filter->domain.name : (struct nvtxt_slice){NULL, 0};
}

static void put_count(const struct failed *failed, size_t count, unsigned kind) {
    char text[96];
    if (failed->notes->outcome->of_results) {
        snprintf(text, sizeof(text), ", but %ss of that name", kind_names[kind]);
    } else {
        snprintf(text, sizeof(text), ", but %zu %s%s of that name", count, kind_names[kind],
                 count == 1 ? "" : "s");
    }
    put(failed->notes, text);
}

// Where ranges of that name are, and the expression for them. False: there are none.
static bool offer_place(const struct failed *failed, const struct report_item *item,
                        const struct tally *tally) {
    struct notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    unsigned own = filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END;
    unsigned other = filter->is_push_pop ? REPORT_START_END : REPORT_PUSH_POP;
    bool here = tally->here[other] > 0;
    unsigned kind = here ? other : tally->there[own] > 0 ? own : other;
    if (!here && tally->there[kind] == 0) {
        return false;
    }
    struct nvtxt_slice domain =
        here ? own_domain(filter) : notes->capture->domains[tally->domain[kind]];
    put_count(failed, here ? tally->here[kind] : tally->there[kind], kind);
    if (!here) {
        put(notes, " ");
        put_place(notes, domain, false);
    }
    if (!filter->is_regex) {
        put(notes, ": did you mean '");
        if (kind == own) {
            spell_filter(notes->to, filter, domain, NULL, item->name);
        } else {
            spell_other_kind(notes->to, filter, domain, item->name);
        }
        put(notes, "'?");
    } else if (here && filter->count == 1) {
        put(notes, filter->is_push_pop ? ": leave out the '/'" : ": did you mean '");
        if (!filter->is_push_pop) {
            put_slice(notes, nvtxt_slice_of(filter->text));
            put(notes, "/'?");
        }
    }
    return true;
}

static void offer_near(const struct failed *failed, const struct report_item *item) {
    struct notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    unsigned own = filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END;
    if (filter->is_regex) {
        return;
    }
    const char *near = near_message(notes, item->name, own, is_own_domain, failed);
    struct nvtxt_slice domain = own_domain(filter);
    bool same_kind = near != NULL;
    near = near ? near : near_message(notes, item->name, KINDS, is_own_domain, failed);
    if (!near) {
        near = near_message(notes, item->name, own, is_other_domain, failed);
        same_kind = near != NULL;
        for (size_t i = 0; near && i < notes->capture->name_count; i++) {
            const struct report_name *name = &notes->capture->names[i];
            if (notes->counts[i][own] > 0 && is_other_domain(failed, name->domain) &&
                nvtxt_slice_equal(notes->capture->messages[name->message], nvtxt_slice_of(near))) {
                domain = notes->capture->domains[name->domain];
                break;
            }
        }
    }
    if (near) {
        put(notes, ": did you mean '");
        if (same_kind) {
            spell_filter(notes->to, filter, domain, item, nvtxt_slice_of(near));
        } else {
            spell_other_kind(notes->to, filter, domain, nvtxt_slice_of(near));
        }
        put(notes, "'?");
    }
}

static bool is_there(const struct failed *failed) {
    for (uint32_t i = 0; i < failed->notes->capture->domain_count; i++) {
        if (is_own_domain(failed, i)) {
            return true;
        }
    }
    return false;
}

static void explain_missing(const struct failed *failed, const struct report_item *item,
                            const struct tally *tally) {
    struct notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    if (!is_there(failed)) {
        const char *near = filter->is_regex ? NULL : near_domain(notes, filter->domain.name);
        put(notes, filter->is_regex ? "no domain matches " : "there is no domain ");
        put_quoted(notes, filter->domain.name);
        if (near) {
            put(notes, ": did you mean '");
            spell_filter(notes->to, filter, nvtxt_slice_of(near), NULL, item->name);
            put(notes, "'?");
        } else {
            offer_place(failed, item, tally);
        }
        return;
    }
    put(notes, "no ");
    put(notes, kind_names[filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END]);
    put(notes, item->regex ? " that matches " : " ");
    put_quoted(notes, item->name);
    put(notes, " ");
    put_own_place(failed);
    size_t marks = tally->here[REPORT_MARK] + tally->there[REPORT_MARK];
    if (offer_place(failed, item, tally)) {
        return;
    }
    if (marks > 0) {
        put_count(failed, marks, REPORT_MARK);
        put(notes, ", which are in no stack: --match and --kind mark select them");
        return;
    }
    offer_near(failed, item);
}

// The same names with anything between them.
static int offer_looser(const struct failed *failed) {
    const struct report_filter *filter = failed->filter;
    struct report_selection selection = {0};
    struct report_filter_set set = {0};
    struct report_fault fault;
    struct nvtxt_buf text = {0};
    size_t count = 0;
    spell_domain(&text, own_domain(filter));
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->items[i].kind == REPORT_ITEM_NAME) {
            nvtxt_buf_add_string(&text, count++ > 0 ? "/*/" : "");
            spell_name(&text, filter->items[i].name, "@,[]/*+\\");
        }
    }
    nvtxt_buf_add_string(&text, count == 1 ? "/" : "");
    nvtxt_buf_add(&text, "", 1); // its NUL
    size_t events = failed->notes->capture->event_count;
    uint64_t *taken = calloc(events / 64 + 1, sizeof(*taken));
    uint64_t *seen = calloc(text.len / 32 + 2, sizeof(*seen));
    int result = nvtxt_buf_failed(&text) || !taken || !seen ? -ENOMEM : 0;
    if (result == 0) {
        result = report_selection_take(&selection, "nvtx-include", text.data, &fault);
    }
    if (result == 0) {
        result = report_filter_set_init(&set, failed->notes->capture, &selection, &fault);
    }
    if (result == 0) {
        result = report_sweep(&set, taken, seen);
    }
    if (result == 0 && report_bit(seen, set.filters[0].final)) {
        put(failed->notes, ": did you mean '");
        put_slice(failed->notes, nvtxt_slice_of(text.data));
        put(failed->notes, "'?");
    }
    free(taken);
    free(seen);
    report_filter_set_deinit(&set);
    report_selection_deinit(&selection);
    nvtxt_buf_deinit(&text);
    return result < 0 ? result : 0;
}

static int explain_filter(const struct failed *failed) {
    struct notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    size_t bit = failed->set->filters[failed->index].first;
    for (size_t i = 0; i < filter->count; i++) {
        const struct report_item *item = &filter->items[i];
        if (item->kind == REPORT_ITEM_NAME) {
            struct tally tally = count_name(failed, bit);
            if (tally.here[filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END] == 0) {
                explain_missing(failed, item, &tally);
                return 0;
            }
        }
        bit += item->kind != REPORT_ITEM_MANY;
    }
    if (!is_there(failed)) {
        put(notes, "no domain matches ");
        put_quoted(notes, filter->domain.name);
        return 0;
    }
    if (!filter->is_push_pop) {
        put(notes, notes->outcome->of_results
                       ? "no result has all of these ranges open "
                       : "no event starts while all of these ranges are open ");
        put_own_place(failed);
        return 0;
    }
    put(notes, "there are such ranges, but no such stack ");
    put_own_place(failed);
    return filter->is_regex ? 0 : offer_looser(failed);
}

static int explain_filters(struct notes *notes) {
    const struct report_filter_set *set = notes->outcome->filters;
    int result = 0;
    for (size_t i = 0; notes->outcome->seen && i < set->count && result == 0; i++) {
        const struct report_set_filter *of = &set->filters[i];
        if (!report_bit(notes->outcome->seen, of->final)) {
            struct failed failed = {notes, set, i, of->filter};
            begin_line(notes, of->exclude ? "nvtx-exclude" : "nvtx-include", of->filter->text);
            result = explain_filter(&failed);
            end_line(notes);
        }
    }
    return result;
}

// ---- Other options ------------------------------------------------------------------------------

static bool has_events(const struct notes *notes, struct nvtxt_slice domain) {
    const struct report_capture *capture = notes->capture;
    for (size_t i = 0; i < capture->name_count; i++) {
        if (nvtxt_slice_equal(capture->domains[capture->names[i].domain], domain)) {
            return true;
        }
    }
    return false;
}

static void explain_domains(struct notes *notes, const char *option,
                            const struct nvtxt_slice *domains, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (has_events(notes, domains[i])) {
            continue;
        }
        notes->lines++;
        put(notes, "--");
        put(notes, option);
        put(notes, " ");
        put_quoted(notes, domains[i].len > 0 ? domains[i] : NVTXT_SLICE("default"));
        put(notes, " selects nothing: no event ");
        put_place(notes, domains[i], false);
        const char *near = near_domain(notes, domains[i]);
        if (near && domains[i].len > 0) {
            put(notes, ": did you mean ");
            put_quoted(notes, nvtxt_slice_of(near));
            put(notes, "?");
        }
        end_line(notes);
    }
}

static bool is_any_domain(const void *context, uint32_t domain) {
    (void)context;
    (void)domain;
    return true;
}

static void spell_marker(struct notes *notes, struct nvtxt_slice name, struct nvtxt_slice domain) {
    put(notes, ": did you mean '");
    spell_name(notes->to, name, "@");
    put(notes, domain.len > 0 ? "@" : "");
    spell_name(notes->to, domain, "@");
    put(notes, "'?");
}

static void explain_marker(struct notes *notes, const char *option,
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
    begin_line(notes, option, marker->text);
    put(notes, "no range ");
    put_quoted(notes, marker->name);
    put(notes, " ");
    if (marker->any_domain) {
        put(notes, "in any domain");
    } else {
        put_place(notes, marker->domain, false);
    }
    const char *near = near_message(notes, marker->name, KINDS, is_any_domain, NULL);
    if (there > 0) {
        char text[64];
        snprintf(text, sizeof(text), ", but %zu range%s of that name ", there,
                 there == 1 ? "" : "s");
        put(notes, text);
        put_place(notes, capture->domains[domain], false);
        spell_marker(notes, marker->name, capture->domains[domain]);
    } else if (near) {
        spell_marker(notes, nvtxt_slice_of(near), marker->domain);
    }
    end_line(notes);
}

static void explain_ids(struct notes *notes, const char *option, const uint32_t *ids, size_t count,
                        bool is_pid) {
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
            begin_line(notes, option, text);
            snprintf(text, sizeof(text), "no event of a %s %u", is_pid ? "process" : "thread",
                     ids[i]);
            put(notes, text);
            end_line(notes);
        }
    }
}

static void explain_category(struct notes *notes, const struct report_word *word) {
    const struct report_capture *capture = notes->capture;
    bool found = word->is_number;
    for (size_t i = 0; i < capture->category_count && !found; i++) {
        found = nvtxt_slice_equal(capture->categories[i].name, nvtxt_slice_of(word->text));
    }
    if (found) {
        return;
    }
    const char *near = near_category(notes, nvtxt_slice_of(word->text));
    begin_line(notes, "category", word->text);
    put(notes, "there is no category of that name");
    if (near) {
        put(notes, ": did you mean ");
        put_quoted(notes, nvtxt_slice_of(near));
        put(notes, "?");
    }
    end_line(notes);
}

// Options that no event fits, in few words; an option with words of its own comes before.
static void explain_rest(struct notes *notes) {
    const struct report_selection *selection = notes->outcome->selection;
    const struct {
        enum report_condition condition;
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
            begin_line(notes, rows[i].option, rows[i].text);
            put(notes, rows[i].reason);
            end_line(notes);
        }
    }
}

static void explain_conditions(struct notes *notes) {
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

static void count_events(struct notes *notes) {
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
    struct notes notes = {.outcome = outcome, .capture = capture, .to = to};
    if (!is_needed(outcome)) {
        return 0;
    }
    if (capture->event_count == 0) {
        bool span = outcome->selection->has_since || outcome->selection->has_until ||
                    outcome->selection->has_last;
        put(&notes, span ? "nothing is selected: no event in that span of time\n"
                         : "nothing is selected: there are no events\n");
        return nvtxt_buf_failed(to) ? -ENOMEM : 0;
    }
    notes.counts = calloc(capture->name_count + 1, sizeof(*notes.counts));
    int result = notes.counts ? 0 : -ENOMEM;
    if (result == 0) {
        count_events(&notes);
        result = explain_filters(&notes);
    }
    if (result == 0) {
        explain_conditions(&notes);
        if (notes.lines == 0 && outcome->selected == 0) {
            put(&notes, "nothing is selected: each option selects some events, but no event is "
                        "selected by all of them\n");
        }
    }
    free(notes.counts);
    free(notes.words);
    return result != 0 ? result : nvtxt_buf_failed(to) ? -ENOMEM : 0;
}
