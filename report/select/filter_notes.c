// SPDX-License-Identifier: Apache-2.0
//
// An expression that matches nothing fails at the first of its names that no range of its kind and
// domain has; then the counts say where that name is. If all its names are there, they never lie
// so; a looser expression is offered after it was tried.
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "report/select/notes.h"

struct tally {
    size_t here[NOTE_KINDS], there[NOTE_KINDS]; // in the expression's domains, and in others
    uint32_t domain[NOTE_KINDS];                // one of the others
};

struct failed {
    struct report_notes *notes;
    const struct report_filter_set *set;
    size_t index; // of the filter
    const struct report_filter *filter;
};

static const char *const kind_names[NOTE_KINDS] = {"mark", "push/pop range", "start/end range"};

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
        for (size_t kind = 0; kind < NOTE_KINDS; kind++) {
            uint32_t count = failed->notes->counts[i][kind];
            *(own ? &tally.here[kind] : &tally.there[kind]) += count;
            if (!own && count > 0) {
                tally.domain[kind] = domain;
            }
        }
    }
    return tally;
}

static void put_own_place(const struct failed *failed) {
    const struct report_filter *filter = failed->filter;
    note_put_place(failed->notes,
                   filter->has_domain ? filter->domain.name : (struct nvtxt_slice){NULL, 0},
                   filter->has_domain && filter->is_regex);
}

static void spell_domain(struct nvtxt_buf *to, struct nvtxt_slice domain) {
    if (domain.len > 0 && !nvtxt_slice_equal(domain, NVTXT_SLICE(REPORT_DEFAULT_DOMAIN))) {
        note_spell_name(to, domain, "@\\");
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
            note_spell_name(to, item == from ? name : item->name, "@,[]/*+\\");
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
    note_spell_name(to, name, "@,[]/*+\\");
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
    note_put(failed->notes, text);
}

// Where ranges of that name are, and the expression for them. False: there are none.
static bool offer_place(const struct failed *failed, const struct report_item *item,
                        const struct tally *tally) {
    struct report_notes *notes = failed->notes;
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
        note_put(notes, " ");
        note_put_place(notes, domain, false);
    }
    if (!filter->is_regex) {
        note_put(notes, ": did you mean '");
        if (kind == own) {
            spell_filter(notes->to, filter, domain, NULL, item->name);
        } else {
            spell_other_kind(notes->to, filter, domain, item->name);
        }
        note_put(notes, "'?");
    } else if (here && filter->count == 1) {
        note_put(notes, filter->is_push_pop ? ": leave out the '/'" : ": did you mean '");
        if (!filter->is_push_pop) {
            note_put_slice(notes, nvtxt_slice_of(filter->text));
            note_put(notes, "/'?");
        }
    }
    return true;
}

static void offer_near(const struct failed *failed, const struct report_item *item) {
    struct report_notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    unsigned own = filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END;
    if (filter->is_regex) {
        return;
    }
    const char *near = note_near_message(notes, item->name, own, is_own_domain, failed);
    struct nvtxt_slice domain = own_domain(filter);
    bool same_kind = near != NULL;
    near = near ?: note_near_message(notes, item->name, NOTE_KINDS, is_own_domain, failed);
    if (!near) {
        near = note_near_message(notes, item->name, own, is_other_domain, failed);
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
        note_put(notes, ": did you mean '");
        if (same_kind) {
            spell_filter(notes->to, filter, domain, item, nvtxt_slice_of(near));
        } else {
            spell_other_kind(notes->to, filter, domain, nvtxt_slice_of(near));
        }
        note_put(notes, "'?");
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
    struct report_notes *notes = failed->notes;
    const struct report_filter *filter = failed->filter;
    if (!is_there(failed)) {
        const char *near = filter->is_regex ? NULL : note_near_domain(notes, filter->domain.name);
        note_put(notes, filter->is_regex ? "no domain matches " : "there is no domain ");
        note_put_quoted(notes, filter->domain.name);
        if (near) {
            note_put(notes, ": did you mean '");
            spell_filter(notes->to, filter, nvtxt_slice_of(near), NULL, item->name);
            note_put(notes, "'?");
        } else {
            offer_place(failed, item, tally);
        }
        return;
    }
    note_put(notes, "no ");
    note_put(notes, kind_names[filter->is_push_pop ? REPORT_PUSH_POP : REPORT_START_END]);
    note_put(notes, item->regex ? " that matches " : " ");
    note_put_quoted(notes, item->name);
    note_put(notes, " ");
    put_own_place(failed);
    size_t marks = tally->here[REPORT_MARK] + tally->there[REPORT_MARK];
    if (offer_place(failed, item, tally)) {
        return;
    }
    if (marks > 0) {
        put_count(failed, marks, REPORT_MARK);
        note_put(notes, ", which are in no stack: --match and --kind mark select them");
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
            note_spell_name(&text, filter->items[i].name, "@,[]/*+\\");
        }
    }
    nvtxt_buf_add_string(&text, count == 1 ? "/" : "");
    nvtxt_buf_add(&text, "", 1); // its NUL
    size_t events = failed->notes->capture->event_count;
    uint64_t *hits = calloc(events / 64 + 1, sizeof(*hits));
    uint64_t *seen = calloc(text.len / 32 + 2, sizeof(*seen));
    int r = nvtxt_buf_failed(&text) || !hits || !seen ? nvtxt_origin(-ENOMEM) : 0;
    r = r ?: report_selection_take(&selection, "nvtx-include", text.data, &fault);
    r = r ?: report_filter_set_init(&set, failed->notes->capture, &selection, &fault);
    r = r ?: report_sweep(&set, hits, seen);
    if (r == 0 && report_bit(seen, set.filters[0].final)) {
        note_put(failed->notes, ": did you mean '");
        note_put_slice(failed->notes, nvtxt_slice_of(text.data));
        note_put(failed->notes, "'?");
    }
    free(hits);
    free(seen);
    report_filter_set_deinit(&set);
    report_selection_deinit(&selection);
    nvtxt_buf_deinit(&text);
    return r < 0 ? r : 0;
}

static int explain_filter(const struct failed *failed) {
    struct report_notes *notes = failed->notes;
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
        note_put(notes, "no domain matches ");
        note_put_quoted(notes, filter->domain.name);
        return 0;
    }
    if (!filter->is_push_pop) {
        note_put(notes, notes->outcome->of_results
                            ? "no result has all of these ranges open "
                            : "no event starts while all of these ranges are open ");
        put_own_place(failed);
        return 0;
    }
    note_put(notes, "there are such ranges, but no such stack ");
    put_own_place(failed);
    return filter->is_regex ? 0 : offer_looser(failed);
}

int note_filters(struct report_notes *notes) {
    const struct report_filter_set *set = notes->outcome->filters;
    int r = 0;
    for (size_t i = 0; notes->outcome->seen && i < set->count && r == 0; i++) {
        const struct report_set_filter *of = &set->filters[i];
        if (!report_bit(notes->outcome->seen, of->final)) {
            struct failed failed = {notes, set, i, of->filter};
            note_begin(notes, of->exclude ? "nvtx-exclude" : "nvtx-include", of->filter->text);
            r = explain_filter(&failed);
            note_end(notes);
        }
    }
    return r;
}
