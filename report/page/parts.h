// SPDX-License-Identifier: Apache-2.0
//
// The parts of a page: what the build puts into the program, summaries, findings, sections, and the
// links in texts of rules. Only this room includes it, and report/diffpage for its assets.
#pragma once

#include "protocol/base/slice.h"
#include "report/page/page.h"

// What assets/ has, as page/embed put it into the program: the page with places such as
// `{{title}}`, its style and its script, and what the policy of the page calls them.
extern const struct nvtxt_slice page_assets_page, page_assets_style, page_assets_script;
extern const char page_assets_style_hash[], page_assets_script_hash[]; // "sha256-…"

// The same of the page of nvtxt-report diff, which report/diffpage writes.
extern const struct nvtxt_slice page_assets_diff_page, page_assets_diff_style;
extern const struct nvtxt_slice page_assets_diff_script;
extern const char page_assets_diff_style_hash[], page_assets_diff_script_hash[];

// A text of a rule (nvtxt-rule(5), "LINKS") in <bdi>; what it links to is a link where the page or
// the web has it, else its text.
void page_links(struct nvtxt_out *out, const struct report_page *page, struct nvtxt_slice text);

// The same between words of the program.
void page_linked(struct nvtxt_out *out, const struct report_page *page, const char *before,
                 struct nvtxt_slice text, const char *after);

// Results of rules on the page: an article each, with messages (several are a table), estimates,
// focus metrics and tables. Links in texts become links where what they name is on the page.
// All of them: errors first, then warnings, optimizations, what failed, hints, what found nothing,
// what was not run.
void page_findings(struct nvtxt_out *out, const struct report_page *page);

// The same in a line: how many there are of each level, and a link to each by its title.
void page_findings_line(struct nvtxt_out *out, const struct report_page *page);

// The results in that order: the group of one, from 0 to before PAGE_GROUPS.
enum page_group {
    PAGE_ERRORS,
    PAGE_WARNINGS,
    PAGE_OPTIMIZATIONS,
    PAGE_FAILED,
    PAGE_HINTS, // no issue, but something is said
    PAGE_FINE,
    PAGE_NOT_APPLICABLE,
    PAGE_NOT_RUN,
    PAGE_GROUPS,
};
enum page_group page_group_of(const struct report_result *result);

// Sections on the page: metrics as tables, charts as tables with bars, which print and can be read
// aloud.
void page_sections(struct nvtxt_out *out, const struct report_page *page);

// The head of the page: its title, and the capture in words.
void page_title(struct nvtxt_out *out, const struct report_page *page);
void page_capture(struct nvtxt_out *out, const struct report_page *page);

// What a title calls a file: the last two names of its path, or the last one where its folder is
// temporary; not fewer than `least`.
struct nvtxt_slice page_short_path(const char *path, unsigned least);

// The path from the root on of one that begins elsewhere, which the caller frees; else NULL. The
// last name stays, also that of a link: it is what people call the store.
char *page_whole_path(const char *path);

// Report Summary and Session Summary of the page: the stores with their counts, the sources with
// each message about their lines. All that `summary --format json` says is in them.
void page_report_summary(struct nvtxt_out *out, const struct report_capture *capture,
                         const struct report_overview *overviews);
void page_session_summary(struct nvtxt_out *out, const struct report_capture *capture);

// An instant of a store whose times count from `base_ns`.
void page_instant(struct nvtxt_out *out, int64_t ns, int64_t base_ns);

// What ids of the lines of a source's file begin with: "line-STORE-ID-"; the line follows.
#define PAGE_LINE_ID 48
const char *page_line_id(char id[PAGE_LINE_ID], const struct report_source *source);

// The id of a source in the page: "source-STORE-ID".
void page_source_id(struct nvtxt_out *out, const struct report_source *source);

// How the numbers of one column look: all in one unit, with as many decimals, so that they stand
// point under point. It is told each of them, then writes their cells, which have the exact value
// in data-value, of a time in `title`, too.
struct page_figures {
    const char *unit;  // "ns": times; NULL or empty: none
    int most_decimals; // of what is no time; 0: three
    bool plain;        // no commas: as programs read them, or numbers that stand for something
    // What was seen.
    bool any, real, fraction;
    int decimals;
    double least, most; // sizes; the smallest above 0
};
void page_figures_see(struct page_figures *figures, const struct report_cell *cell);
// A number; `style` NULL: none.
void page_figure(struct nvtxt_out *out, const struct page_figures *figures,
                 const struct report_cell *cell, const struct report_rule_style *style);

// Begins, or ends, what is bold or italic.
void page_emphasis(struct nvtxt_out *out, bool bold, bool italic, bool end);

// The unit that people read: of times the one that fits.
const char *page_figures_unit(const struct page_figures *figures);

// A table; a sentence says how many rows more than `most` there are.
struct page_table {
    const struct report_page *page;         // what links of rules may lead to
    struct nvtxt_slice caption;             // may have links; empty: none
    size_t most;                            // rows
    const struct report_rule_style *styles; // one a column; NULL: none
    const char *id; // what the id of each row begins with: its first cell follows, which is a
                    // number. NULL: none
};
void page_table(struct nvtxt_out *out, const struct report_table *table,
                const struct page_table *view);

// An item of a section, or the chart of a rule.
struct report_shown_item;
void page_shown_item(struct nvtxt_out *out, const struct report_shown_item *item);
