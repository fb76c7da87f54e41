// SPDX-License-Identifier: Apache-2.0
//
// report/select: which events count: filter expressions, regular expressions, domains, spans of
// time, and conditions on single events. It owns what the options said, and decides for events in
// order; it changes no event. One thread, no I/O, no clock. The rules are those of nvtxt-filter(7)
// and of nvtxt-report(1), "SELECTION".
//
// This header is what the options of a command said.
#pragma once

#include "protocol/lang/names.h"
#include "report/select/payload.h"

// Names with a domain, NAME[@DOMAIN], and lists of domains, as options have them. Nothing is
// allocated: the text is changed in place where it has escapes.

// A name of the default domain, by which expressions and lists can call it.
#define REPORT_DEFAULT_DOMAIN "<default domain>"

// NAME[@DOMAIN], of --within and --iterations.
struct report_marker {
    const char *text; // as given
    struct nvtxt_slice name;
    struct nvtxt_slice domain; // empty: the default domain
    bool any_domain;           // @*
};

// Reads NAME[@DOMAIN]: `\@` is an at sign, `@*` any domain. `text` is changed; the views point to
// it. Returns 0 or NVTXT_WRONG.
int report_marker_parse(char *text, struct report_marker *marker, struct report_fault *fault);

// Takes the next domain of a comma list: `default` is the default domain, an empty slice, `\,` a
// comma, `\default` a domain of that name. `*at` starts at the text, which is changed, and is NULL
// after the last one. Returns 0 or NVTXT_WRONG.
int report_domain_next(char *text, char **at, struct nvtxt_slice *domain,
                       struct report_fault *fault);

struct report_filter; // report/select/filter.h
struct report_regex;  // report/select/filter.h

struct report_word { // of --source and --category: a name or a number
    const char *text;
    bool is_number;
    int64_t number;
};

// Lists are owned by the selection. Without a word in a list it asks for nothing.
#define REPORT_LIST(type, name)                                                                    \
    type *name;                                                                                    \
    size_t name##_count

struct report_selection {
    REPORT_LIST(struct report_filter *, includes);
    REPORT_LIST(struct report_filter *, excludes);
    REPORT_LIST(struct nvtxt_slice, domain_includes); // empty: the default domain
    REPORT_LIST(struct nvtxt_slice, domain_excludes);
    REPORT_LIST(struct report_marker, within);
    bool within_none; // `--within none`: `within` is no restriction
    bool has_since, has_until, has_last;
    int64_t since_ns, until_ns, last_ns;
    REPORT_LIST(uint32_t, pids);
    REPORT_LIST(uint32_t, tids);
    REPORT_LIST(struct report_word, sources);
    REPORT_LIST(struct report_word, categories);
    unsigned kinds; // 1 << enum report_kind; 0: all
    REPORT_LIST(uint32_t, colors);
    bool has_level;
    struct nvtxt_level_span level; // of lines of logs
    struct report_regex *match;    // NULL: none
    const char *match_text;
    REPORT_LIST(struct report_payload_condition, payloads); // all must be true
    bool has_min, has_max;
    int64_t min_ns, max_ns;
    bool has_iterations;
    struct report_marker iterations;
    uint64_t skip_iterations;
    bool expect_some;
    REPORT_LIST(char *, texts); // what the views above point to
};

void report_selection_deinit(struct report_selection *selection); // a zeroed one is fine

// Takes an option of SELECT: its name without dashes, such as "nvtx-include", and its value (NULL
// for expect-some). The value is copied, but `fault->text` is borrowed from it. Returns 0,
// NVTXT_WRONG (report/select/fault.h), or -ENOMEM.
int report_selection_take(struct report_selection *selection, const char *option, const char *text,
                          struct report_fault *fault);

// After the last option: those that exclude each other. `fault->text.data` is NULL then: the
// sentence stands for itself. Returns 0 or NVTXT_WRONG.
int report_selection_check(const struct report_selection *selection, struct report_fault *fault);

// The span of --since, --until and --last: events that end at its first time or later and start at
// its last or before. --last counts from --until, or else from `now_ns`. All in ns since the Unix
// epoch.
void report_selection_span(const struct report_selection *selection, int64_t now_ns,
                           int64_t *since_ns, int64_t *until_ns);

// Whether any option but the span and the sources restricts the events.
bool report_selection_looks_at_events(const struct report_selection *selection);

// Whether an option looks at the category, the colour, the payload or the level of an event.
bool report_selection_looks_at_values(const struct report_selection *selection);

// Whether any option restricts the events (--iterations, --skip-iterations and --expect-some do
// not).
bool report_selection_is_all(const struct report_selection *selection);
