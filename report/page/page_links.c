// SPDX-License-Identifier: Apache-2.0
//
// A link is one only if its target can be reached: an address of the web, a section that is shown,
// a source of the capture. Ranges and times are fragments, which the script reads.
#include "report/page/parts.h"

#include <assert.h>
#include <inttypes.h>

#include "report/page/html.h"
#include "report/table/links.h"

#define PARTS_OF_ROOM 50 // the room on each side of a time is such a part of the elapsed time

// Digits, with a sign or without.
static bool read_int(struct nvtxt_slice text, int64_t *value) {
    bool negative = text.len > 0 && text.data[0] == '-';
    *value = 0;
    for (size_t i = negative; i < text.len; i++) {
        int digit = text.data[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, negative ? -digit : digit, value)) {
            return false;
        }
    }
    return text.len > negative;
}

static const struct report_source *source_named(const struct report_page *page,
                                                struct nvtxt_slice file) {
    const struct report_capture *capture = page->model->capture;
    for (size_t i = 0; i < capture->source_count; i++) {
        char made[REPORT_SOURCE_NAME];
        const struct report_source *source = &capture->sources[i];
        if (nvtxt_slice_equal(report_source_name(source, made), file) ||
            (source->display_name.data && nvtxt_slice_equal(source->display_name, file))) {
            return source;
        }
    }
    return NULL;
}

static bool has_section(const struct report_page *page, struct nvtxt_slice identifier) {
    for (size_t i = 0; i < page->section_count; i++) {
        const struct report_section *section = page->sections[i].entry->section;
        if (nvtxt_slice_equal(section->identifier.text, identifier)) {
            return true;
        }
    }
    return false;
}

// True when the page shows that line of the source's file.
static bool shows_line(const struct report_page *page, const struct report_source *source,
                       int64_t line) {
    for (size_t i = 0; i < page->line_count; i++) {
        const struct report_table *table = page->lines[i].table;
        size_t rows = table->row_count < REPORT_PAGE_LINES ? table->row_count : REPORT_PAGE_LINES;
        struct report_cell room[REPORT_TABLE_MADE];
        for (size_t row = 0; page->lines[i].source == source && row < rows; row++) {
            if (report_table_cells(table, row, room)[0].int64 == line) {
                return true;
            }
        }
    }
    return false;
}

// To the line where its file is at hand, else to the source in the Session Summary.
static bool begin_source(struct nvtxt_out *out, const struct report_page *page,
                         const struct report_link *link) {
    const struct report_source *source = source_named(page, link->target);
    char id[PAGE_LINE_ID];
    int64_t line;
    if (!source) {
        return false;
    }
    page_raw(out, "<a href=\"#");
    if (read_int(link->line, &line) && shows_line(page, source, line)) {
        page_raw(out, page_line_id(id, source));
        nvtxt_out_int(out, line);
    } else {
        page_source_id(out, source);
    }
    page_raw(out, "\">");
    return true;
}

// A time with some room on both sides, so that it is in the middle of a view.
static bool begin_time(struct nvtxt_out *out, const struct report_page *page,
                       struct nvtxt_slice target) {
    int64_t at, from, to;
    if (!read_int(target, &at)) {
        return false;
    }
    int64_t room = (int64_t)(page->model->elapsed_ns / PARTS_OF_ROOM) + 1;
    from = __builtin_sub_overflow(at, room, &from) ? INT64_MIN : from;
    to = __builtin_add_overflow(at, room, &to) ? INT64_MAX : to;
    nvtxt_out_format(out, "<a href=\"#t=%" PRId64 "..%" PRId64 "\">", from, to);
    return true;
}

static void begin_anchor(struct nvtxt_out *out, const char *begin, struct nvtxt_slice target,
                         const char *end) {
    page_raw(out, "<a href=\"");
    page_raw(out, begin);
    report_link_put(out, target, page_text);
    page_raw(out, end);
}

// Writes what stands before the text of the link; false: it is no link here.
static bool begin_link(struct nvtxt_out *out, const struct report_page *page,
                       const struct report_link *link) {
    switch (link->kind) {
    case REPORT_LINK_URL:
        begin_anchor(out, "", link->target, "\" rel=\"noopener noreferrer\">");
        return true;
    case REPORT_LINK_SECTION:
        if (!has_section(page, link->target)) {
            return false;
        }
        begin_anchor(out, "#section-", link->target, "\">");
        return true;
    case REPORT_LINK_RANGE:
        begin_anchor(out, "#sel=", link->target, "\">");
        return true;
    case REPORT_LINK_TIME:
        return begin_time(out, page, link->target);
    case REPORT_LINK_SOURCE:
        return begin_source(out, page, link);
    case REPORT_LINK_NONE:
        return false;
    }
    assert(false);
    return false;
}

void page_linked(struct nvtxt_out *out, const struct report_page *page, const char *before,
                 struct nvtxt_slice text, const char *after) {
    page_raw(out, before);
    page_links(out, page, text);
    page_raw(out, after);
}

void page_links(struct nvtxt_out *out, const struct report_page *page, struct nvtxt_slice text) {
    struct nvtxt_slice rest = text, before;
    struct report_link link;
    page_raw(out, "<bdi>");
    while (report_link_next(&rest, &before, &link)) {
        report_link_put(out, before, page_text);
        bool is_link = begin_link(out, page, &link);
        report_link_put(out, link.text, page_text);
        page_raw(out, is_link ? "</a>" : "");
    }
    report_link_put(out, before, page_text);
    page_raw(out, "</bdi>");
}
