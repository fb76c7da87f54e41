// SPDX-License-Identifier: Apache-2.0
//
// The page is a text with places. It is written up to a place, then what belongs there, and so on.
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "report/page/html.h"
#include "report/page/parts.h"
#include "report/page/timeline.h"

#define PIECE ((size_t)64 << 10)

struct writer {
    struct nvtxt_out *out;
    const struct report_page *page;
    struct nvtxt_slice data; // of the pictures
    struct nvtxt_out flame;  // to memory; a member of the same
    size_t single;           // events that are drawn singly
    bool cut;
};

// ---- What stands at the places ------------------------------------------------------------------

static void put_cut(struct writer *writer) {
    page_raw(writer->out, writer->cut ? " data-cut=\"1\"" : "");
}

static void put_attributes(struct writer *writer) {
    page_raw(writer->out, writer->page->follow ? REPORT_PAGE_FOLLOWS : "");
    put_cut(writer);
}

static void put_policy(struct writer *writer) {
    page_policy(writer->out, page_assets_script_hash, page_assets_style_hash);
}

static void put_heading(struct writer *writer) {
    page_title(writer->out, writer->page);
}

static void put_title(struct writer *writer) {
    page_title(writer->out, writer->page);
    page_raw(writer->out, writer->page->title ? "" : " - nvtxt-report");
}

static void put_capture(struct writer *writer) {
    page_capture(writer->out, writer->page);
}

static void put_names(struct writer *writer) {
    const struct page_table view = {.page = writer->page, .most = REPORT_PAGE_NAMES};
    if (writer->page->names->row_count > 0) {
        page_table(writer->out, writer->page->names, &view);
    } else {
        page_raw(writer->out, "<p>This report has no ranges that have an end.</p>\n");
    }
}

static void put_style(struct writer *writer) {
    nvtxt_out_slice(writer->out, page_assets_style);
}

static void put_script(struct writer *writer) {
    nvtxt_out_slice(writer->out, page_assets_script);
}

static void put_report_summary(struct writer *writer) {
    page_report_summary(writer->out, writer->page->model->capture, writer->page->overviews);
}

static void put_session_summary(struct writer *writer) {
    page_session_summary(writer->out, writer->page->model->capture);
}

static void put_findings(struct writer *writer) {
    page_findings(writer->out, writer->page);
}

static void put_findings_line(struct writer *writer) {
    page_findings_line(writer->out, writer->page);
}

static void put_timeline_message(struct writer *writer) {
    page_raw(writer->out, writer->page->model->selected > 0
                              ? "The timeline needs JavaScript; all tables are here without it."
                              : "This report has no events.");
}

static void put_flame_message(struct writer *writer) {
    page_raw(writer->out, writer->page->model->selected > 0
                              ? "The flame graph needs JavaScript; the table below has its figures."
                              : "This report has no events.");
}

static void put_banner(struct writer *writer) {
    if (writer->cut) {
        nvtxt_out_format(writer->out, "%zu of %zu events are drawn singly", writer->single,
                         writer->page->model->selected);
    }
}

static void put_tree(struct writer *writer) {
    const struct report_paths *paths = writer->page->paths;
    if (writer->page->tree->row_count == 0) {
        return;
    }
    page_raw(writer->out, "<h3>Paths of all events</h3>\n");
    if (paths->left_out > 0) {
        nvtxt_out_format(writer->out,
                         "<p>The picture has the %zu widest of %zu paths; where others would be, "
                         "it is empty.</p>\n",
                         paths->count, paths->count + paths->left_out);
    }
    const struct page_table view = {.page = writer->page, .most = REPORT_PAGE_TREE_ROWS};
    page_table(writer->out, writer->page->tree, &view);
}

static void put_logs_link(struct writer *writer) {
    page_raw(writer->out, writer->page->logs ? "<a href=\"#logs\">Logs</a>\n" : "");
}

// A page without logs does not speak of them.
static void put_logs(struct writer *writer) {
    const struct page_table view = {.page = writer->page, .most = REPORT_PAGE_PATTERNS};
    if (writer->page->logs) {
        page_raw(writer->out, "<section id=\"logs\" aria-labelledby=\"h-logs\">\n"
                              "<h2 id=\"h-logs\">Logs</h2>\n"
                              "<p>Patterns of their lines: # is what differs from line to "
                              "line.</p>\n");
        page_table(writer->out, writer->page->logs, &view);
        page_raw(writer->out, "</section>\n");
    }
}

static void put_sections(struct writer *writer) {
    page_sections(writer->out, writer->page);
}

// The sentences about files that were not taken.
static void put_refused(struct writer *writer) {
    struct nvtxt_slice rest = writer->page->refused;
    const char *end;
    while (rest.len > 0 && (end = memchr(rest.data, '\n', rest.len))) {
        size_t len = (size_t)(end - rest.data);
        page_named(writer->out,
                   "<p class=\"warning\">Warning: ", (struct nvtxt_slice){rest.data, len},
                   "</p>\n");
        rest = (struct nvtxt_slice){end + 1, rest.len - len - 1};
    }
}

static void put_line_message(struct nvtxt_out *out, const struct report_diagnostic *of) {
    nvtxt_out_format(out, "<li>%" PRId64 ":%" PRId64, of->line, of->column);
    page_named(out, ": ", of->severity, " (");
    page_name(out, of->stage);
    page_named(out, "): ", of->message, " [");
    page_name(out, of->code);
    page_raw(out, "]</li>\n");
}

// The messages about the lines, which the Session Summary has as a table.
static void put_line_messages(struct nvtxt_out *out, const struct report_source *source) {
    page_raw(out, source->diagnostic_count > 0 ? "<ul class=\"diagnostics\">\n" : "");
    for (size_t i = 0; i < report_diagnostics_shown(source) && !out->error; i++) {
        put_line_message(out, &source->diagnostics[i]);
    }
    page_raw(out, source->diagnostic_count > 0 ? "</ul>\n" : "");
}

static void put_lines(struct writer *writer) {
    put_refused(writer);
    if (writer->page->line_count == 0 && writer->page->refused.len == 0) {
        page_raw(writer->out, "<p>No source file was at hand (--resolve-source-file).</p>\n");
    }
    for (size_t i = 0; i < writer->page->line_count; i++) {
        const struct report_page_lines *lines = &writer->page->lines[i];
        char made[REPORT_SOURCE_NAME];
        page_raw(writer->out, "<section");
        page_attribute_int(writer->out, "data-file-of-source", lines->source->id);
        page_attribute_int(writer->out, "data-store", lines->source->store);
        page_named(writer->out, "><h3>", report_source_name(lines->source, made), "</h3>\n");
        char id[PAGE_LINE_ID];
        const struct page_table view = {
            .page = writer->page, .most = REPORT_PAGE_LINES, .id = page_line_id(id, lines->source)};
        page_table(writer->out, lines->table, &view);
        put_line_messages(writer->out, lines->source);
        page_raw(writer->out, "</section>\n");
    }
}

static void put_messages(struct writer *writer) {
    const struct report_messages *messages = writer->page->messages;
    if (messages->count == 0) {
        return;
    }
    page_raw(writer->out, "<h3>Messages about sections and rules</h3>\n<ul>\n");
    for (size_t i = 0; i < messages->count; i++) {
        struct nvtxt_buf line = {0};
        report_message_write(&line, &messages->items[i]);
        page_named(writer->out, "<li><code>",
                   (struct nvtxt_slice){line.data, line.failed ? 0 : line.len}, "</code></li>\n");
        nvtxt_buf_deinit(&line);
    }
    page_raw(writer->out, "</ul>\n");
}

static void put_fact(struct nvtxt_out *out, const char *what, const char *text) {
    page_begin_fact(out, what);
    page_raw(out, text);
    page_end_fact(out);
}

// What the page has less of than the stores.
static void put_cuts(struct writer *writer) {
    struct nvtxt_out *out = writer->out;
    page_raw(out, "<p>");
    if (writer->cut) {
        put_banner(writer);
        page_raw(out,
                 "; ranges that are shorter than a part of 4,096 of the whole time, and marks, "
                 "are merged with their neighbours in the timeline. Summaries, findings and "
                 "sections speak of all events.</p>\n<p>");
    } else {
        page_raw(out, "All events are drawn singly.</p>\n<p>");
    }
    nvtxt_out_format(out,
                     "Of paths the flame graph shows at most %d, its table %d, of instances of a "
                     "metric %d, of lines of a source %d; a table that was cut says how many more "
                     "there are.</p>\n",
                     REPORT_PAGE_PATHS, REPORT_PAGE_TREE_ROWS, REPORT_PAGE_INSTANCES,
                     REPORT_PAGE_LINES);
}

static void put_about(struct writer *writer) {
    struct nvtxt_out *out = writer->out;
    page_raw(out, "<dl class=\"facts\">");
    put_fact(out, "Made by", "nvtxt-report " PACKAGE_VERSION);
    page_begin_fact(out, "Command line");
    page_named(out, "<code>", writer->page->command_line, "</code>");
    page_end_fact(out);
    put_fact(out, "Schema", "nvtxt-report/1");
    page_begin_fact(out, "Events");
    nvtxt_out_uint(out, writer->page->model->selected);
    page_end_fact(out);
    if (writer->page->follow) {
        page_begin_fact(out, "Follows");
        nvtxt_out_format(out, "written again when there is something new, at most every %.9g s",
                         (double)writer->page->follow->interval_ms / 1000);
        page_end_fact(out);
        page_begin_fact(out, "Written");
        page_instant(out, writer->page->follow->written_ns, 0);
        page_end_fact(out);
    }
    page_raw(out, "</dl>\n");
    put_cuts(writer);
    put_messages(writer);
}

static void put_follow(struct writer *writer) {
    const struct report_page_follow *follow = writer->page->follow;
    if (follow) {
        nvtxt_out_format(writer->out,
                         ",\"follow\":{\"interval\":%" PRId64 ",\"written\":\"%" PRId64
                         "\",\"newest\":\"%" PRId64 "\"}",
                         follow->interval_ms, follow->written_ns, follow->newest_ns);
    }
}

// The flame graph is the last member of the object but that of a page that follows. In pieces, so
// that the output does not have to hold all of it.
static void put_data(struct writer *writer) {
    struct nvtxt_slice data = writer->data;
    data.len -= data.len > 0; // the brace
    while (data.len > 0 && !writer->out->error) {
        size_t len = data.len < PIECE ? data.len : PIECE;
        nvtxt_out_bytes(writer->out, data.data, len);
        data = (struct nvtxt_slice){data.data + len, data.len - len};
    }
    page_raw(writer->out, ",");
    nvtxt_out_bytes(writer->out, writer->flame.data, writer->flame.len);
    put_follow(writer);
    page_raw(writer->out, "}");
}

static const struct {
    const char *name;
    void (*put)(struct writer *writer);
} places[] = {
    {"about", put_about},
    {"banner", put_banner},
    {"capture", put_capture},
    {"csp", put_policy},
    {"cut", put_cut},
    {"data", put_data},
    {"findings", put_findings},
    {"findings-line", put_findings_line},
    {"flame-graph-message", put_flame_message},
    {"flame-table", put_tree},
    {"html-attributes", put_attributes},
    {"logs", put_logs},
    {"logs-link", put_logs_link},
    {"names-table", put_names},
    {"policy", put_policy},
    {"report-summary", put_report_summary},
    {"script", put_script},
    {"sections", put_sections},
    {"session-summary", put_session_summary},
    {"source", put_lines},
    {"style", put_style},
    {"timeline-message", put_timeline_message},
    {"title", put_title},
    {"title-text", put_heading},
};

// ---- The page -----------------------------------------------------------------------------------

static void put_place(void *context, struct nvtxt_slice name) {
    struct writer *writer = context;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if (nvtxt_slice_equal(nvtxt_slice_of(places[i].name), name)) {
            places[i].put(writer);
        }
    }
}

int report_page_begin(struct report_page *page) {
    page->drawing = page_drawing_begin(page->model, page->max_events);
    return page->drawing ? 0 : nvtxt_origin(-ENOMEM);
}

void report_page_end(struct report_page *page) {
    page_drawing_free(page->drawing);
    page->drawing = NULL;
}

int report_page_write(struct nvtxt_out *out, const struct report_page *page, size_t *single) {
    struct writer writer = {.out = out, .page = page};
    int r = page_drawing_end(page->drawing, &writer.data, &writer.single);
    writer.cut = page->model->selected > page->max_events;
    r = r ?: nvtxt_out_init(&writer.flame, -1);
    if (r == 0) {
        page_flame(&writer.flame, page->model->capture, page->paths,
                   page_drawing_names(page->drawing));
        r = writer.flame.error;
    }
    if (r == 0) {
        page_fill(out, page_assets_page, put_place, &writer);
    }
    nvtxt_out_deinit(&writer.flame);
    *single = writer.single;
    return r;
}
