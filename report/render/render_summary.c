// SPDX-License-Identifier: Apache-2.0
//
// Text and Markdown are one walk: only headlines, the beginnings of lines and what is escaped
// differ. A diagnostic is the line that nvtxt-check prints.
#include "report/render/render.h"

#include <inttypes.h>

#include "protocol/base/clock.h"
#include "report/render/render_source.h"
#include "report/table/number.h"
#include "report/table/plain.h"

// ---- JSON ---------------------------------------------------------------------------------------

static void put_store(struct report_json *json, const struct report_store *store,
                      const struct report_overview *of) {
    report_json_object(json, NULL);
    report_json_slice(json, "path", store->path);
    report_json_text(json, "kind", store->ours ? "nvtxt" : "nsys");
    report_json_slice(json, "product", store->product);
    report_json_slice(json, "version", store->version);
    if (store->ours) {
        report_json_int(json, "schemaVersion", store->schema_version);
    } else {
        report_json_slice(json, "schemaVersion", store->schema);
    }
    report_json_slices(json, "segments", store->segments, store->segment_count);
    report_json_uint(json, "events", of->events);
    report_json_uint(json, "marks", of->marks);
    report_json_uint(json, "pushpop", of->pushpop);
    report_json_uint(json, "startend", of->startend);
    report_json_uint(json, "open", of->open);
    report_json_optional(json, "firstNs", of->has_events, of->first_ns);
    report_json_optional(json, "lastNs", of->has_events, of->last_ns);
    report_json_uint(json, "processes", of->processes);
    report_json_uint(json, "threads", of->threads);
    report_json_uint(json, "domains", of->domains);
    report_json_uint(json, "losses", of->losses);
    report_json_uint(json, "errors", of->errors);
    report_json_uint(json, "warnings", of->warnings);
    report_json_uint(json, "filesWithErrors", of->files_with_errors);
    report_json_end_object(json);
}

static void put_source(struct report_json *json, const struct report_source *source) {
    report_json_object(json, NULL);
    report_json_uint(json, "store", source->store);
    report_json_int(json, "id", source->id);
    report_json_slice(json, "name", source->name);
    report_json_slice(json, "displayName", source->display_name);
    report_json_slice(json, "kind", source->kind);
    report_json_optional(json, "pid", source->has_pid, source->pid);
    report_json_int(json, "openedNs", source->opened_ns);
    report_json_optional(json, "closedNs", source->has_closed, source->closed_ns);
    report_json_slice(json, "ended", source->ended);
    report_json_int(json, "lines", source->lines);
    report_json_int(json, "events", source->events);
    report_json_int(json, "warnings", source->warnings);
    report_json_int(json, "errors", source->errors);
    report_json_optional(json, "firstNs", source->has_times, source->first_ns);
    report_json_optional(json, "lastNs", source->has_times, source->last_ns);
    report_render_diagnostics_json(json, "diagnostics", source->diagnostics,
                                   source->diagnostic_count);
    report_json_end_object(json);
}

static void put_loss(struct report_json *json, const struct report_loss *loss) {
    report_json_object(json, NULL);
    report_json_uint(json, "store", loss->store);
    report_json_int(json, "atNs", loss->at_ns);
    report_json_optional(json, "source", loss->has_source, loss->source);
    report_json_slice(json, "reason", loss->reason);
    report_json_uint(json, "count", loss->count);
    report_json_end_object(json);
}

void report_render_summary_json(struct report_json *json, const struct report_capture *capture,
                                const struct report_overview *overviews) {
    report_json_array(json, "stores");
    for (size_t i = 0; i < capture->store_count; i++) {
        put_store(json, &capture->stores[i], &overviews[i]);
    }
    report_json_end_array(json);
    report_json_array(json, "sources");
    for (size_t i = 0; i < capture->source_count; i++) {
        if (!capture->sources[i].left_out) {
            put_source(json, &capture->sources[i]);
        }
    }
    report_json_end_array(json);
    report_json_array(json, "losses");
    for (size_t i = 0; i < capture->loss_count; i++) {
        put_loss(json, &capture->losses[i]);
    }
    report_json_end_array(json);
}

// ---- Text ---------------------------------------------------------------------------------------

struct page {
    struct nvtxt_out *out;
    bool markdown;
    const struct report_table_view *view;
};

static void put_word(const struct page *page, const char *word) {
    nvtxt_out_slice(page->out, nvtxt_slice_of(word));
}

// Text of others.
static void put_name(const struct page *page, struct nvtxt_slice text) {
    if (page->markdown) {
        report_plain_markdown(page->out, text);
    } else {
        report_plain_name(page->out, text, page->view->full_names);
    }
}

static void put_named(const struct page *page, const char *before, struct nvtxt_slice text,
                      const char *after) {
    put_word(page, before);
    put_name(page, text);
    put_word(page, after);
}

static void put_headline(const struct page *page, const char *title) {
    put_word(page, page->markdown ? "## " : "");
    report_screen_styled(page->out, REPORT_STYLE_BOLD, title);
    put_word(page, "\n\n");
}

enum line { TOP, BELOW, DIAGNOSTIC };

// A diagnostic begins its line, so that editors find the place.
static void begin_line(const struct page *page, enum line line) {
    static const char *const text[] = {"", "  ", ""}, *const markdown[] = {"- ", "  - ", "  - "};
    put_word(page, page->markdown ? markdown[line] : text[line]);
}

static void put_count(const struct page *page, const char *before, uint64_t count, const char *one,
                      const char *many) {
    char number[REPORT_NUMBER];
    report_number_uint(number, count);
    nvtxt_out_format(page->out, "%s%s %s", before, number, count == 1 ? one : many);
}

static void put_window(const struct page *page, const struct report_store *store,
                       const struct report_overview *of) {
    if (of->has_events) {
        int64_t first = nvtxt_time_plus(of->first_ns, store->utc_base_ns);
        put_word(page, ", from ");
        report_screen_moment(page->out, first, NULL);
        put_word(page, " to ");
        report_screen_moment(page->out, nvtxt_time_plus(of->last_ns, store->utc_base_ns), &first);
    }
}

static void put_kinds(const struct page *page, const struct report_overview *of) {
    put_count(page, "", of->events, "event", "events");
    put_count(page, " (", of->marks, "mark", "marks");
    put_count(page, ", ", of->pushpop, "push/pop range", "push/pop ranges");
    put_count(page, ", ", of->startend, "start/end range", "start/end ranges");
    if (of->open > 0) {
        put_count(page, ", ", of->open, "of them open", "of them open");
    }
    put_count(page, ") of ", of->processes, "process", "processes");
    put_count(page, ", ", of->threads, "thread", "threads");
    put_count(page, " and ", of->domains, "domain", "domains");
}

static void put_store_line(const struct page *page, const struct report_store *store,
                           const struct report_overview *of) {
    begin_line(page, TOP);
    put_name(page, store->path);
    put_word(page, ": ");
    put_kinds(page, of);
    put_window(page, store, of);
    put_count(page, "; ", of->losses, "event lost", "events lost");
    put_word(page, "\n");
}

// How many lines are not there, in the place of them.
static void put_more(const struct page *page, const struct report_table *counted, enum line line) {
    if (report_table_more(counted, page->view) > 0) {
        begin_line(page, line);
        report_table_put_more(page->out, counted, page->view);
    }
}

static void put_warning(const struct page *page, const struct report_source *source) {
    char made[REPORT_SOURCE_NAME], number[REPORT_NUMBER];
    report_number_int(number, source->errors);
    begin_line(page, BELOW);
    put_name(page, report_source_name(source, made));
    put_word(page, ": warning: ");
    put_word(page, number);
    put_word(page, " errors, see Session Summary\n");
}

static void put_stores(const struct page *page, const struct report_capture *capture,
                       const struct report_overview *overviews) {
    for (size_t i = 0; i < capture->store_count; i++) {
        struct report_table warnings = {.row_count = 0}; // only counted
        put_store_line(page, &capture->stores[i], &overviews[i]);
        for (size_t k = 0; k < capture->source_count; k++) {
            const struct report_source *source = &capture->sources[k];
            if (source->store == i && source->errors > 0) {
                warnings.row_count++;
                if (report_table_more(&warnings, page->view) == 0) {
                    put_warning(page, source);
                }
            }
        }
        put_more(page, &warnings, BELOW);
    }
}

// "file.nvtxt:12:9: error: undefined variable '$Pid' [undefined-variable]"
static void put_diagnostic_line(const struct page *page, struct nvtxt_slice name,
                                const struct report_diagnostic *diagnostic) {
    begin_line(page, DIAGNOSTIC);
    put_name(page, name);
    nvtxt_out_format(page->out, ":%" PRId64 ":%" PRId64 ": ", diagnostic->line, diagnostic->column);
    put_named(page, "", diagnostic->severity, ": ");
    put_name(page, diagnostic->message);
    put_word(page, page->markdown ? " \\[" : " [");
    put_name(page, diagnostic->code);
    put_word(page, page->markdown ? "\\]\n" : "]\n");
}

static void put_session(const struct page *page, const struct report_source *source) {
    put_word(page, "; opened ");
    report_screen_moment(page->out, source->opened_ns, NULL);
    if (source->has_closed) {
        put_word(page, ", closed ");
        report_screen_moment(page->out, source->closed_ns, &source->opened_ns);
    } else {
        put_word(page, ", not closed");
    }
    if (source->ended.data) {
        put_named(page, " (", source->ended, ")");
    }
}

static void put_source_line(const struct page *page, const struct report_source *source) {
    char made[REPORT_SOURCE_NAME];
    struct nvtxt_slice name = report_source_name(source, made);
    begin_line(page, TOP);
    put_name(page, name);
    if (source->display_name.data && !nvtxt_slice_equal(source->display_name, name)) {
        put_word(page, ", ");
        put_name(page, source->display_name);
    }
    if (source->kind.data) {
        put_named(page, " (", source->kind, ")");
    }
    if (source->has_pid) {
        nvtxt_out_format(page->out, ", process %" PRId64, source->pid);
    }
    put_count(page, ": ", (uint64_t)source->errors, "error", "errors");
    put_count(page, " and ", (uint64_t)source->warnings, "warning", "warnings");
    put_count(page, " in ", (uint64_t)source->lines, "line", "lines");
    put_count(page, ", ", (uint64_t)source->events, "event", "events");
    put_session(page, source);
    put_word(page, "\n");
    size_t shown = report_diagnostics_shown(source);
    for (size_t i = 0; i < shown; i++) {
        put_diagnostic_line(page, name, &source->diagnostics[i]);
    }
    if (shown < source->diagnostic_count) {
        begin_line(page, DIAGNOSTIC);
        put_count(page, "... ", source->diagnostic_count - shown, "more", "more");
        put_word(page, " (--format json has all)\n");
    }
}

static void put_sources(const struct page *page, const struct report_capture *capture) {
    for (size_t i = 0; i < capture->store_count; i++) {
        const struct report_store *store = &capture->stores[i];
        struct report_table sources = {.row_count = 0}; // only counted
        bool any = false;
        for (size_t k = 0; k < capture->source_count; k++) {
            any |= capture->sources[k].store == i;
            if (capture->sources[k].store == i && !capture->sources[k].left_out) {
                sources.row_count++;
                if (report_table_more(&sources, page->view) == 0) {
                    put_source_line(page, &capture->sources[k]);
                }
            }
        }
        report_table_put_more(page->out, &sources, page->view);
        if (sources.row_count == 0) {
            begin_line(page, TOP);
            put_name(page, store->path);
            put_word(page, any           ? ": no source of it is selected\n"
                           : store->ours ? ": it has no sources\n"
                                         : ": an export of Nsight Systems has no sources\n");
        }
    }
}

static void put_losses(const struct page *page, const struct report_capture *capture) {
    const struct report_table losses = {.row_count = capture->loss_count}; // only counted
    for (size_t i = 0; i < report_table_rows(&losses, page->view); i++) {
        const struct report_loss *loss = &capture->losses[i];
        begin_line(page, TOP);
        put_name(page, capture->stores[loss->store].path);
        put_count(page, ": ", loss->count, "event", "events");
        put_word(page, " lost at ");
        report_screen_moment(page->out, loss->at_ns, NULL);
        if (loss->has_source) {
            nvtxt_out_format(page->out, ", source %" PRId64, loss->source);
        }
        if (loss->reason.data) {
            put_word(page, ": ");
            put_name(page, loss->reason);
        }
        put_word(page, "\n");
    }
    put_more(page, &losses, TOP);
}

void report_render_summary_text(struct nvtxt_out *out, const struct report_capture *capture,
                                const struct report_overview *overviews, bool markdown,
                                const struct report_table_view *view) {
    const struct page page = {out, markdown, view};
    put_headline(&page, "Report Summary");
    put_stores(&page, capture, overviews);
    put_losses(&page, capture);
    put_word(&page, "\n");
    put_headline(&page, "Session Summary");
    put_sources(&page, capture);
}
