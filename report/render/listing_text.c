// SPDX-License-Identifier: Apache-2.0
//
// A result is a line, with a line for each domain and each range in it below.
#include "report/render/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/table/number.h"
#include "report/table/plain.h"

static void put(const struct report_listing_text *listing, struct nvtxt_slice text) {
    if (listing->markdown) {
        report_plain_markdown(listing->out, text);
    } else {
        report_plain_text(listing->out, text);
    }
}

static void put_range(const struct report_listing_text *listing, const struct report_pile *pile,
                      const struct report_range *range) {
    struct nvtxt_out *out = listing->out;
    nvtxt_out_format(out, "%s%s ", listing->markdown ? "  - " : "    ",
                     pile->start_end ? "start/end" : "push/pop");
    put(listing, range->name);
    if (range->category != 0) {
        nvtxt_out_format(out, ", category %" PRIu32, range->category);
    }
    if (range->has_color) {
        NVTXT_OUT_LITERAL(out, ", ");
        nvtxt_out_color(out, range->color);
    }
    if (range->payload == REPORT_RANGE_UINT64) {
        nvtxt_out_format(out, ", payload %" PRIu64, range->number);
    } else if (range->payload == REPORT_RANGE_INT64) {
        nvtxt_out_format(out, ", payload %" PRId64, report_wire_signed(range->number));
    } else if (range->payload == REPORT_RANGE_DOUBLE) {
        NVTXT_OUT_LITERAL(out, ", payload ");
        report_number_write(out, range->real);
    }
    if (pile->start_end) {
        nvtxt_out_format(out, ", id %" PRIu64 ", thread %" PRIu32, range->id, range->tid);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void put_domain(const struct report_listing_text *listing, const struct report_state *state,
                       const struct report_state_domain *domain) {
    struct report_state_piles piles = {.begun = false};
    struct report_pile pile;
    struct report_range range;
    char made[REPORT_STATE_NAME];
    nvtxt_out_slice(listing->out, nvtxt_slice_of(listing->markdown ? "- " : "  "));
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
    nvtxt_out_format(out, "\n%s%" PRIu64 ": ", listing->markdown ? "### " : "", listed->index);
    put(listing, kernel_name(result));
    nvtxt_out_slice(out, nvtxt_slice_of(listing->markdown ? "\n\n" : ", "));
    nvtxt_out_format(out, "thread %" PRIu32 ", context %" PRIu64 ", stream %" PRIu64 ", ",
                     result->tid, result->context, result->stream);
    nvtxt_out_format(out, "%" PRIu64 " metric%s%s\n", result->metric_count,
                     result->metric_count == 1 ? "" : "s", listing->markdown ? "\n" : "");
    bool any = false;
    while (report_state_next_domain(listed->state, &domains, &domain)) {
        put_domain(listing, listed->state, &domain);
        any = true;
    }
    if (!any) {
        nvtxt_out_format(out, "%sno range is open\n", listing->markdown ? "" : "  ");
    }
}

static void put_processes(struct report_listing_text *listing, const struct report_ncurep *report) {
    struct nvtxt_out *out = listing->out;
    struct report_profiled_process *processes;
    size_t count;
    int r = report_session_processes(report, &processes, &count);
    out->error = out->error ?: r;
    for (size_t i = 0; i < count; i++) {
        nvtxt_out_format(out, "%s %" PRIu64 " ", listing->markdown ? "\nProcess" : "process",
                         processes[i].pid);
        put(listing, processes[i].name);
        NVTXT_OUT_LITERAL(out, " on ");
        put(listing, processes[i].host);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    free(processes);
}

void report_listing_text_begin(struct report_listing_text *listing, const char *path,
                               const struct report_ncurep *report) {
    struct nvtxt_out *out = listing->out;
    struct report_session session = {.blocks = {.at = 0}};
    struct report_provider provider;
    nvtxt_out_format(out, "%s%s", listing->begun ? "\n" : "", listing->markdown ? "## " : "");
    listing->begun = true;
    put(listing, nvtxt_slice_of(path));
    nvtxt_out_format(out, "%sversion %d, %" PRIu64 " result%s\n", listing->markdown ? "\n\n" : ": ",
                     REPORT_NCUREP_VERSION, report->result_count,
                     report->result_count == 1 ? "" : "s");
    while (report_session_next_provider(report, &session, &provider)) {
        nvtxt_out_slice(out, nvtxt_slice_of(listing->markdown ? "\nWritten by " : "written by "));
        put(listing, provider.name);
        NVTXT_OUT_LITERAL(out, " ");
        put(listing, provider.version);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    put_processes(listing, report);
}
