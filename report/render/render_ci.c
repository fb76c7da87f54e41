// SPDX-License-Identifier: Apache-2.0
//
// What services for continuous integration show: JUnit XML, a case for each name or rule, and the
// workflow commands of GitHub. Texts are written character by character: what people would not see
// is left out as elsewhere, and what the format reads as its own is escaped. So no name can end an
// element or begin a command.
#include "report/render/render.h"

#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/utf8.h"
#include "report/table/links.h"
#include "report/table/plain.h"

// ---- Texts --------------------------------------------------------------------------------------

typedef void put_fn(struct nvtxt_out *out, struct nvtxt_slice text);

static void put_string(struct nvtxt_out *out, const char *string) {
    nvtxt_out_slice(out, nvtxt_slice_of(string));
}

// Two code points that are characters of UTF-8 and not of XML: U+FFFE and U+FFFF.
static bool is_no_xml(struct nvtxt_slice shown) {
    return shown.len == 3 && (unsigned char)shown.data[0] == 0xEF &&
           (unsigned char)shown.data[1] == 0xBF && (unsigned char)shown.data[2] >= 0xBE;
}

static const char *xml_of(struct nvtxt_slice shown) {
    switch (shown.len == 1 ? shown.data[0] : 0) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return is_no_xml(shown) ? "\xEF\xBF\xBD" : NULL;
    }
}

static void put_xml(struct nvtxt_out *out, struct nvtxt_slice text) {
    while (text.len > 0) {
        struct nvtxt_slice shown;
        size_t len = nvtxt_utf8_shown(text, &shown);
        const char *other = xml_of(shown);
        nvtxt_out_slice(out, other ? nvtxt_slice_of(other) : shown);
        text.data += len;
        text.len -= len;
    }
}

// Of the text of a command; of a property of it, which a colon or a comma would end.
static const char *github_of(char byte, bool property) {
    return byte == '%'               ? "%25"
           : byte == '\r'            ? "%0D"
           : byte == '\n'            ? "%0A"
           : byte == ':' && property ? "%3A"
           : byte == ',' && property ? "%2C"
                                     : NULL;
}

static void put_escaped(struct nvtxt_out *out, struct nvtxt_slice text, bool property) {
    while (text.len > 0) {
        struct nvtxt_slice shown;
        size_t len = nvtxt_utf8_shown(text, &shown);
        const char *other = github_of(text.data[0], property);
        nvtxt_out_slice(out, other ? nvtxt_slice_of(other) : shown);
        text.data += len;
        text.len -= len;
    }
}

static void put_github(struct nvtxt_out *out, struct nvtxt_slice text) {
    put_escaped(out, text, false);
}

static void put_property(struct nvtxt_out *out, struct nvtxt_slice text) {
    put_escaped(out, text, true);
}

// ` name="text"`.
static void put_attribute(struct nvtxt_out *out, const char *name, struct nvtxt_slice text) {
    nvtxt_out_format(out, " %s=\"", name);
    put_xml(out, text);
    put_string(out, "\"");
}

struct counts {
    size_t cases, failures, errors, skipped;
};

static void begin_suite(struct nvtxt_out *out, const char *name, const struct counts *counts) {
    nvtxt_out_format(out,
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                     "<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                     "skipped=\"%zu\">\n",
                     name, counts->cases, counts->failures, counts->errors, counts->skipped);
}

static void end_suite(struct nvtxt_out *out) {
    put_string(out, "</testsuite>\n</testsuites>\n");
}

// ---- Differences --------------------------------------------------------------------------------

static bool is_failure(const struct report_diff_row *row) {
    return row->decides && row->change == REPORT_DIFF_SLOWER;
}

static bool is_skipped(const struct report_diff_row *row) {
    return row->change == REPORT_DIFF_UNDECIDED || row->base.count == 0 || row->new.count == 0;
}

// What became of a name, as a sentence without its name.
static void describe(char *text, size_t size, const struct report_diff_row *row) {
    if (row->base.count == 0 || row->new.count == 0) {
        snprintf(text, size, "only %s has it", row->base.count > 0 ? "BASE" : "NEW");
        return;
    }
    int len = snprintf(text, size, "%s: the median of %zu and %zu is %.0f ns and %.0f ns",
                       report_diff_change_name(row->change), row->base.count, row->new.count,
                       row->base.med, row->new.med);
    if (row->has_delta) {
        len += snprintf(text + len, size - (size_t)len, " (%+.1f %%)", row->delta_pct);
    }
    if (row->change == REPORT_DIFF_UNDECIDED) {
        snprintf(text + len, size - (size_t)len,
                 ", which may be chance: %zu on each side would decide", row->runs_needed);
    }
}

#define DESCRIPTION 512

static void put_property_element(struct nvtxt_out *out, const char *name, const char *value) {
    nvtxt_out_format(out, "<property name=\"%s\"", name);
    put_attribute(out, "value", nvtxt_slice_of(value));
    put_string(out, "/>\n");
}

static void put_case(struct nvtxt_out *out, const struct report_diff_row *row, const char *kind) {
    char text[DESCRIPTION];
    describe(text, sizeof(text), row);
    put_string(out, "<testcase");
    put_attribute(out, "name", row->name);
    put_attribute(out, "classname", nvtxt_slice_of(kind));
    nvtxt_out_format(out, " time=\"%.9f\">", row->new.med / 1e9);
    put_string(out, is_failure(row) ? "<failure" : is_skipped(row) ? "<skipped" : "<system-out>");
    if (is_failure(row)) {
        put_attribute(out, "type", NVTXT_SLICE("slower"));
    }
    if (is_failure(row) || is_skipped(row)) {
        put_attribute(out, "message", nvtxt_slice_of(text));
        put_string(out, "/></testcase>\n");
    } else {
        put_xml(out, nvtxt_slice_of(text));
        put_string(out, "</system-out></testcase>\n");
    }
}

void report_render_diff_junit(struct nvtxt_out *out, const struct report_diff *diff,
                              const struct report_diff_view *view) {
    struct counts counts = {.cases = diff->row_count};
    for (size_t i = 0; i < diff->row_count; i++) {
        counts.failures += is_failure(&diff->rows[i]);
        counts.skipped += is_skipped(&diff->rows[i]);
    }
    begin_suite(out, "nvtxt-report diff", &counts);
    put_string(out, "<properties>\n");
    put_property_element(out, "base", view->base);
    put_property_element(out, "new", view->new);
    put_property_element(out, "verdict", report_diff_verdict_name(diff->verdict));
    put_property_element(out, "reason", diff->reason);
    put_string(out, "</properties>\n");
    for (size_t i = 0; i < diff->row_count; i++) {
        const struct report_diff_row *row = &diff->rows[i];
        put_case(out, row,
                 diff->of_kernels               ? "kernel"
                 : row->kind == REPORT_PUSH_POP ? "push/pop"
                                                : "start/end");
    }
    end_suite(out);
}

// The row is told by its verdict alone when nothing came of it.
static void put_row_command(struct nvtxt_out *out, const struct report_diff_row *row, bool gated) {
    char text[DESCRIPTION];
    if (!is_failure(row) && row->change != REPORT_DIFF_UNDECIDED) {
        return;
    }
    describe(text, sizeof(text), row);
    nvtxt_out_format(out, "::%s title=", !is_failure(row) ? "notice" : gated ? "error" : "warning");
    put_property(out, row->name);
    put_string(out, "::");
    put_github(out, nvtxt_slice_of(text));
    put_string(out, "\n");
}

void report_render_diff_github(struct nvtxt_out *out, const struct report_diff *diff, bool gated) {
    for (size_t i = 0; i < diff->row_count; i++) {
        put_row_command(out, &diff->rows[i], gated);
    }
    put_string(out, "::notice title=nvtxt-report diff::");
    put_string(out, report_diff_verdict_name(diff->verdict));
    put_string(out, ": ");
    put_github(out, nvtxt_slice_of(diff->reason));
    put_string(out, "\n");
}

// ---- Rules --------------------------------------------------------------------------------------

static bool fails(const struct report_result *result, enum report_level level) {
    return result->message_count > 0 && report_result_worst(result) >= level;
}

static void put_messages(struct nvtxt_out *out, const struct report_result *result) {
    for (size_t i = 0; i < result->message_count; i++) {
        const struct report_rule_message *message = &result->messages[i];
        put_string(out, report_level_word(message->level));
        put_string(out, ": ");
        report_link_write(out, message->title, put_xml);
        put_string(out, message->title.len > 0 ? ": " : "");
        report_link_write(out, message->text, put_xml);
        put_string(out, "\n");
    }
}

static void put_rule_case(struct nvtxt_out *out, const struct report_result *result,
                          struct nvtxt_slice scope, enum report_level level) {
    const struct nvtxt_slice why = result->reason.data ? result->reason : NVTXT_SLICE("");
    put_string(out, "<testcase");
    put_attribute(out, "name", result->identifier);
    put_attribute(out, "classname", scope);
    put_string(out, ">");
    if (result->status == REPORT_RULE_FAILED) {
        put_string(out, "<error");
        put_attribute(out, "message", why);
        put_string(out, "/>");
    } else if (result->status == REPORT_RULE_NOT_RUN ||
               result->status == REPORT_RULE_NOT_APPLICABLE) {
        put_string(out, "<skipped");
        put_attribute(out, "message", why);
        put_string(out, "/>");
    } else if (fails(result, level)) {
        put_string(out, "<failure");
        put_attribute(out, "type", nvtxt_slice_of(report_level_name(report_result_worst(result))));
        put_attribute(out, "message", result->name);
        put_string(out, ">");
        put_messages(out, result);
        put_string(out, "</failure>");
    } else if (result->message_count > 0) {
        put_string(out, "<system-out>");
        put_messages(out, result);
        put_string(out, "</system-out>");
    }
    put_string(out, "</testcase>\n");
}

void report_render_check_junit(struct nvtxt_out *out, const struct report_checked *checked,
                               size_t count, enum report_level level) {
    struct counts counts = {.cases = 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < checked[i].count; k++) {
            const struct report_result *result = &checked[i].results[k];
            counts.cases++;
            counts.errors += result->status == REPORT_RULE_FAILED;
            counts.skipped += result->status == REPORT_RULE_NOT_RUN ||
                              result->status == REPORT_RULE_NOT_APPLICABLE;
            counts.failures += (result->status == REPORT_RULE_FINDINGS ||
                                result->status == REPORT_RULE_NO_ISSUE) &&
                               fails(result, level);
        }
    }
    begin_suite(out, "nvtxt-report check", &counts);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < checked[i].count; k++) {
            put_rule_case(out, &checked[i].results[k], checked[i].scope, level);
        }
    }
    end_suite(out);
}

// The first place in a file that belongs to a message.
static const struct report_source_marker *place_of(const struct report_result *result,
                                                   size_t message) {
    for (size_t i = 0; i < result->marker_count; i++) {
        const struct report_source_marker *marker = &result->markers[i];
        if (marker->message == message && marker->kind == REPORT_MARKER_SOURCE &&
            marker->file.len > 0) {
            return marker;
        }
    }
    return NULL;
}

static void put_message_command(struct nvtxt_out *out, const struct report_result *result,
                                size_t index, enum report_level level) {
    const struct report_rule_message *message = &result->messages[index];
    const struct report_source_marker *place = place_of(result, index);
    if (message->level < REPORT_LEVEL_OPTIMIZATION && message->level < level) {
        return;
    }
    nvtxt_out_format(out, "::%s ",
                     message->level >= level                  ? "error"
                     : message->level >= REPORT_LEVEL_WARNING ? "warning"
                                                              : "notice");
    if (place) {
        put_string(out, "file=");
        put_property(out, place->file);
        nvtxt_out_format(out, ",line=%" PRIu64 ",", place->line);
    }
    put_string(out, "title=");
    put_property(out, result->name);
    put_string(out, "::");
    report_link_write(out, message->text, put_github);
    put_string(out, "\n");
}

void report_render_check_github(struct nvtxt_out *out, const struct report_checked *checked,
                                size_t count, enum report_level level) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < checked[i].count; k++) {
            const struct report_result *result = &checked[i].results[k];
            for (size_t m = 0; m < result->message_count; m++) {
                put_message_command(out, result, m, level);
            }
            if (result->status == REPORT_RULE_FAILED) {
                put_string(out, "::warning title=");
                put_property(out, result->name);
                put_string(out, "::the rule failed: ");
                put_github(out, result->reason.data ? result->reason : NVTXT_SLICE(""));
                put_string(out, "\n");
            }
        }
    }
}
