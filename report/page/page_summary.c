// SPDX-License-Identifier: Apache-2.0
//
// What machines read stands in attributes, as plain digits; the cells say the same for people.
#include "report/page/parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/clock.h"
#include "report/page/html.h"
#include "report/table/number.h"

static void put_number(struct nvtxt_out *out, int64_t value) {
    char number[REPORT_NUMBER];
    report_number_int(number, value);
    page_raw(out, number);
}

void page_source_id(struct nvtxt_out *out, const struct report_source *source) {
    nvtxt_out_format(out, "source-%" PRIu32 "-%" PRId64, source->store, source->id);
}

const char *page_line_id(char id[PAGE_LINE_ID], const struct report_source *source) {
    snprintf(id, PAGE_LINE_ID, "line-%" PRIu32 "-%" PRId64 "-", source->store, source->id);
    return id;
}

// ---- Report Summary -----------------------------------------------------------------------------

void page_instant(struct nvtxt_out *out, int64_t ns, int64_t base_ns) {
    nvtxt_out_format(out, "<time data-ns=\"%" PRId64 "\">", ns);
    nvtxt_out_utc(out, nvtxt_time_plus(ns, base_ns));
    page_raw(out, "</time>");
}

static void put_window(struct nvtxt_out *out, const struct report_store *store,
                       const struct report_overview *of) {
    page_raw(out, "<td class=\"time\">");
    if (of->has_events) {
        page_instant(out, of->first_ns, store->utc_base_ns);
        page_raw(out, "<br>");
        page_instant(out, of->last_ns, store->utc_base_ns);
    }
    page_raw(out, "</td>");
}

static void put_product(struct nvtxt_out *out, const struct report_store *store) {
    page_raw(out, "<td class=\"product\">");
    page_raw(out, store->ours ? "nvtxt" : "nsys");
    if (store->product.data) {
        page_raw(out, ": ");
        page_name(out, store->product);
    }
    if (store->version.data) {
        page_raw(out, " ");
        page_name(out, store->version);
    }
    if (store->ours) {
        nvtxt_out_format(out, ", schema %" PRId64, store->schema_version);
    }
    page_raw(out, "</td>");
}

static void put_store(struct nvtxt_out *out, const struct report_store *store, size_t index,
                      const struct report_overview *of) {
    page_raw(out, "<tr");
    page_attribute_int(out, "data-store", (int64_t)index);
    page_attribute_int(out, "data-events", (int64_t)of->events);
    page_attribute_int(out, "data-errors", (int64_t)of->errors);
    page_attribute_int(out, "data-warnings", (int64_t)of->warnings);
    page_named(out, "><th scope=\"row\">", store->path, "</th>");
    put_product(out, store);
    put_window(out, store, of);
    page_cell_uint(out, store->segment_count);
    page_cell_uint(out, of->events);
    page_cell_uint(out, of->marks);
    page_cell_uint(out, of->pushpop);
    page_cell_uint(out, of->startend);
    page_cell_uint(out, of->open);
    page_cell_uint(out, of->processes);
    page_cell_uint(out, of->threads);
    page_cell_uint(out, of->domains);
    page_cell_uint(out, of->losses);
    page_cell_uint(out, of->errors);
    page_cell_uint(out, of->warnings);
    page_cell_uint(out, of->files_with_errors);
    page_raw(out, "</tr>\n");
}

static void put_warning(struct nvtxt_out *out, const struct report_source *source) {
    char made[REPORT_SOURCE_NAME];
    page_raw(out, "<li class=\"warning\"");
    page_attribute_int(out, "data-store", source->store);
    page_raw(out, ">Warning: <a href=\"#");
    page_source_id(out, source);
    page_named(out, "\">", report_source_name(source, made), "</a>: ");
    put_number(out, source->errors);
    page_raw(out, source->errors == 1 ? " error" : " errors");
    page_raw(out, ", see Session Summary</li>\n");
}

static void put_warnings(struct nvtxt_out *out, const struct report_capture *capture) {
    bool any = false;
    for (size_t i = 0; i < capture->source_count; i++) {
        if (capture->sources[i].errors > 0) {
            page_raw(out, any ? "" : "<ul class=\"warnings\">\n");
            put_warning(out, &capture->sources[i]);
            any = true;
        }
    }
    page_raw(out, any ? "</ul>\n" : "");
}

static void put_segments(struct nvtxt_out *out, const struct report_store *store) {
    nvtxt_out_format(out, "<details open><summary>%zu", store->segment_count);
    page_named(out, " segments of ", store->path, "</summary><ol>\n");
    for (size_t i = 0; i < store->segment_count; i++) {
        page_named(out, "<li>", store->segments[i], "</li>\n");
    }
    page_raw(out, "</ol></details>\n");
}

static void put_losses(struct nvtxt_out *out, const struct report_capture *capture) {
    static const char *const titles[] = {"Store", "At", "Source", "Reason", "Events lost", NULL};
    if (capture->loss_count == 0) {
        return;
    }
    page_raw(out, "<h3>Losses</h3>\n<table class=\"losses\">");
    page_titles(out, titles);
    page_raw(out, "<tbody>\n");
    for (size_t i = 0; i < capture->loss_count; i++) {
        const struct report_loss *loss = &capture->losses[i];
        page_raw(out, "<tr");
        page_attribute_int(out, "data-loss", (int64_t)i);
        page_raw(out, ">");
        page_cell(out, capture->stores[loss->store].path);
        page_raw(out, "<td class=\"time\">");
        page_instant(out, loss->at_ns, 0);
        page_raw(out, "</td><td>");
        if (loss->has_source) {
            nvtxt_out_int(out, loss->source);
        }
        page_raw(out, "</td>");
        page_cell(out, loss->reason);
        page_cell_uint(out, loss->count);
        page_raw(out, "</tr>\n");
    }
    page_raw(out, "</tbody></table>\n");
}

void page_report_summary(struct nvtxt_out *out, const struct report_capture *capture,
                         const struct report_overview *overviews) {
    static const char *const titles[] = {"Store",
                                         "Kind and product",
                                         "First and last",
                                         "Segments",
                                         "Events",
                                         "Marks",
                                         "Push/&#8203;pop",
                                         "Start/&#8203;end",
                                         "Open",
                                         "Processes",
                                         "Threads",
                                         "Domains",
                                         "Lost",
                                         "Errors",
                                         "Warnings",
                                         "Files with errors",
                                         NULL};
    put_warnings(out, capture);
    page_begin_table(out, "Stores", "stores", titles);
    for (size_t i = 0; i < capture->store_count; i++) {
        put_store(out, &capture->stores[i], i, &overviews[i]);
    }
    page_end_table(out);
    for (size_t i = 0; i < capture->store_count; i++) {
        if (capture->stores[i].segment_count > 1) {
            put_segments(out, &capture->stores[i]);
        }
    }
    put_losses(out, capture);
}

// ---- Session Summary ----------------------------------------------------------------------------

static void put_fact(struct nvtxt_out *out, const char *what, struct nvtxt_slice text) {
    if (text.data) {
        page_begin_fact(out, what);
        page_name(out, text);
        page_end_fact(out);
    }
}

static void put_count(struct nvtxt_out *out, const char *what, int64_t count) {
    page_begin_fact(out, what);
    put_number(out, count);
    page_end_fact(out);
}

static void put_time(struct nvtxt_out *out, const char *what, int64_t ns) {
    page_begin_fact(out, what);
    page_instant(out, ns, 0);
    page_end_fact(out);
}

static void put_facts(struct nvtxt_out *out, const struct report_source *source) {
    page_raw(out, "<dl class=\"facts\">");
    put_fact(out, "Name", source->name);
    put_fact(out, "Display name", source->display_name);
    put_fact(out, "Kind", source->kind);
    if (source->has_pid) {
        page_begin_fact(out, "Process");
        nvtxt_out_int(out, source->pid);
        page_end_fact(out);
    }
    put_count(out, "Lines", source->lines);
    put_count(out, "Events", source->events);
    put_count(out, "Errors", source->errors);
    put_count(out, "Warnings", source->warnings);
    put_time(out, "Opened", source->opened_ns);
    if (source->has_closed) {
        put_time(out, "Closed", source->closed_ns);
    } else {
        put_fact(out, "Closed", NVTXT_SLICE("not closed"));
    }
    put_fact(out, "Ended", source->ended);
    if (source->has_times) {
        put_time(out, "First event", source->first_ns);
        put_time(out, "Last event", source->last_ns);
    }
    page_raw(out, "</dl>\n");
}

static void put_diagnostic(struct nvtxt_out *out, const struct report_diagnostic *of) {
    page_raw(out, "<tr");
    page_attribute_int(out, "data-line", of->line);
    page_attribute_int(out, "data-column", of->column);
    page_attribute(out, "data-code", of->code);
    page_attribute(out, "data-severity", of->severity);
    page_attribute(out, "data-stage", of->stage);
    nvtxt_out_format(out, "><td class=\"n\">%" PRId64 "</td><td class=\"n\">%" PRId64 "</td>",
                     of->line, of->column);
    page_cell(out, of->severity);
    page_cell(out, of->stage);
    page_cell(out, of->code);
    page_cell(out, of->message);
    page_named(out, "<td><code>", of->excerpt, "</code></td></tr>\n");
}

static void put_diagnostics(struct nvtxt_out *out, const struct report_source *source) {
    static const char *const titles[] = {"Line", "Column",  "Severity", "Stage",
                                         "Code", "Message", "Excerpt",  NULL};
    if (source->diagnostic_count == 0) {
        page_raw(out, "<p>No lexing, parsing or loading messages.</p>\n");
        return;
    }
    page_begin_table(out, "Messages", "diagnostics", titles);
    size_t shown = report_diagnostics_shown(source);
    for (size_t i = 0; i < shown && !out->error; i++) {
        put_diagnostic(out, &source->diagnostics[i]);
    }
    page_end_table(out);
    if (shown < source->diagnostic_count) {
        nvtxt_out_format(out, "<p>%zu of %zu are shown.</p>\n", shown, source->diagnostic_count);
    }
}

static void put_source(struct nvtxt_out *out, const struct report_source *source) {
    char made[REPORT_SOURCE_NAME];
    page_raw(out, "<section");
    page_attribute_int(out, "data-source", source->id);
    page_attribute_int(out, "data-store", source->store);
    page_raw(out, " id=\"");
    page_source_id(out, source);
    page_named(out, "\"><h3>", report_source_name(source, made), "</h3>\n");
    put_facts(out, source);
    put_diagnostics(out, source);
    page_raw(out, "</section>\n");
}

void page_session_summary(struct nvtxt_out *out, const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        bool has = false, any = false;
        for (size_t k = 0; k < capture->source_count && !out->error; k++) {
            has |= capture->sources[k].store == i;
            if (capture->sources[k].store == i && !capture->sources[k].left_out) {
                put_source(out, &capture->sources[k]);
                any = true;
            }
        }
        if (!any) {
            page_raw(out, "<p>");
            page_name(out, capture->stores[i].path);
            page_raw(out, has ? ": no source of it is selected.</p>\n"
                          : capture->stores[i].ours
                              ? ": it has no sources.</p>\n"
                              : ": an export of Nsight Systems has no sources.</p>\n");
        }
    }
}
