// SPDX-License-Identifier: Apache-2.0
//
// A result is a line, with a line for each domain and each range in it below.
#include "report/render/ncurep/listing_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/ncurep/range.h"
#include "report/ncurep/session.h"
#include "report/render/kit/plain.h"

static void put(const struct report_listing_text *listing, struct nvtxt_slice text) {
    if (listing->markdown) {
        report_plain_markdown(listing->out, text);
    } else {
        report_plain_text(listing->out, text);
    }
}

static void __attribute__((format(printf, 2, 3)))
put_format(struct nvtxt_out *out, const char *format, ...) {
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    nvtxt_out_slice(out, nvtxt_slice_of(text));
}

static void put_range(const struct report_listing_text *listing, const struct report_pile *pile,
                      const struct report_range *range) {
    struct nvtxt_out *out = listing->out;
    put_format(out, "%s%s ", listing->markdown ? "  - " : "    ",
               pile->start_end ? "start/end" : "push/pop");
    put(listing, range->name);
    if (range->category != 0) {
        put_format(out, ", category %" PRIu32, range->category);
    }
    if (range->has_color) {
        NVTXT_OUT_LITERAL(out, ", ");
        nvtxt_out_color(out, range->color);
    }
    if (range->payload == REPORT_RANGE_UINT64) {
        put_format(out, ", payload %" PRIu64, range->number);
    } else if (range->payload == REPORT_RANGE_INT64) {
        put_format(out, ", payload %" PRId64, report_wire_signed(range->number));
    } else if (range->payload == REPORT_RANGE_DOUBLE) {
        const char *na = report_json_na_of(range->real);
        put_format(out, ", payload %s", na ? na : "");
        nvtxt_out_double(out, range->real);
    }
    if (pile->start_end) {
        put_format(out, ", id %" PRIu64 ", thread %" PRIu32, range->id, range->tid);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_domain(const struct report_listing_text *listing, const struct report_state *state,
                       const struct report_state_domain *domain) {
    struct report_state_piles piles = {.begun = false};
    struct report_pile pile;
    struct report_range range;
    char made[REPORT_STATE_NAME];
    put_format(listing->out, "%s", listing->markdown ? "- " : "  ");
    put(listing, report_state_domain_name(domain, made));
    NVTXT_OUT_LITERAL(listing->out, "\n");
    while (report_state_next_pile(state, domain, &piles, &pile)) {
        struct report_wire ranges = report_ranges_of(&pile);
        while (report_range_next(state, &pile, &ranges, &range)) {
            put_range(listing, &pile, &range);
        }
    }
}

static struct nvtxt_slice kernel_name(const struct report_ncurep_result *result) {
    return result->function.len > 0    ? result->function
           : result->demangled.len > 0 ? result->demangled
                                       : result->mangled;
}

void report_listing_text_result(const struct report_listing_text *listing,
                                const struct report_listed *listed) {
    struct nvtxt_out *out = listing->out;
    const struct report_ncurep_result *result = listed->result;
    struct report_state_domain domain;
    size_t domains = 0;
    put_format(out, "\n%s%" PRIu64 ": ", listing->markdown ? "### " : "", listed->index);
    put(listing, kernel_name(result));
    put_format(out, "%s", listing->markdown ? "\n\n" : ", ");
    put_format(out, "thread %" PRIu32 ", context %" PRIu64 ", stream %" PRIu64 ", ", result->tid,
               result->context, result->stream);
    put_format(out, "%" PRIu64 " metric%s%s\n", result->metric_count,
               result->metric_count == 1 ? "" : "s", listing->markdown ? "\n" : "");
    bool any = false;
    while (report_state_next_domain(listed->state, &domains, &domain)) {
        put_domain(listing, listed->state, &domain);
        any = true;
    }
    if (!any) {
        put_format(out, "%sno range is open\n", listing->markdown ? "" : "  ");
    }
}

void report_listing_text_begin(struct report_listing_text *listing, const char *path,
                               const struct report_ncurep *report) {
    struct nvtxt_out *out = listing->out;
    struct report_session session = {.blocks = {.at = 0}};
    struct report_provider provider;
    struct report_profiled_process process;
    put_format(out, "%s%s", listing->begun ? "\n" : "", listing->markdown ? "## " : "");
    listing->begun = true;
    put(listing, nvtxt_slice_of(path));
    put_format(out, "%sversion %d, %" PRIu64 " result%s\n", listing->markdown ? "\n\n" : ": ",
               REPORT_NCUREP_VERSION, report->result_count, report->result_count == 1 ? "" : "s");
    while (report_session_next_provider(report, &session, &provider)) {
        put_format(out, "%s", listing->markdown ? "\nWritten by " : "written by ");
        put(listing, provider.name);
        NVTXT_OUT_LITERAL(out, " ");
        put(listing, provider.version);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    session = (struct report_session){.blocks = {.at = 0}};
    while (report_session_next_process(report, &session, &process)) {
        put_format(out, "%s %" PRIu64 " ", listing->markdown ? "\nProcess" : "process",
                   process.pid);
        put(listing, process.name);
        NVTXT_OUT_LITERAL(out, " on ");
        put(listing, process.host);
        NVTXT_OUT_LITERAL(out, "\n");
    }
}
