// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-report nvtx-state FILE...`: the NVTX ranges around each kernel result. A file is looked at
// as a whole before any of it is printed; of one that is broken only a message is. The others are
// printed all the same.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/common/signals.h"
#include "client/report/job.h"
#include "report/ncurep/known.h"
#include "report/ncurep/matching.h"
#include "report/ncurep/ncurep.h"
#include "report/render/kit/json.h"
#include "report/render/kit/plain.h"
#include "report/select/filter.h"

struct listing {
    struct report_job *job;
    struct report_matching matching;
    struct report_json json;
    bool begun;    // something of a file was printed
    bool markdown; // else text, or JSON
};

struct listed_result {
    uint64_t index;
    struct report_ncurep_result result;
    struct report_state state;
};

// Texts of a message of a header, by their field; the last one counts.
struct listed_text {
    uint32_t number;
    struct nvtxt_slice text;
};

static void read_texts(struct nvtxt_slice message, struct listed_text *texts, size_t count) {
    struct report_wire wire = report_wire_of(message);
    struct report_wire_field field;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        for (size_t i = 0; i < count; i++) {
            if (field.type == REPORT_WIRE_BYTES && field.number == texts[i].number) {
                texts[i].text = field.bytes;
            }
        }
    }
}

static uint64_t read_pid(struct nvtxt_slice process) {
    struct report_wire wire = report_wire_of(process);
    struct report_wire_field field;
    uint64_t pid = 0;
    while (report_wire_next(&wire, &field) == REPORT_WIRE_FIELD) {
        if (field.type == REPORT_WIRE_VARINT && field.number == NCUREP_PROCESS_ID) {
            pid = field.value;
        }
    }
    return pid;
}

// The next message of the headers of all blocks.
struct headers {
    struct report_blocks blocks;
    struct report_wire header, session;
};

static bool next_process(const struct report_ncurep *report, struct headers *headers,
                         struct nvtxt_slice *process) {
    struct nvtxt_slice header;
    while (!report_wire_find(&headers->header, NCUREP_BLOCK_PROCESS, process)) {
        if (!report_ncurep_next_header(report, &headers->blocks, &header)) {
            return false;
        }
        headers->header = report_wire_of(header);
    }
    return true;
}

static bool next_provider(const struct report_ncurep *report, struct headers *headers,
                          struct listed_text texts[2]) {
    struct nvtxt_slice message;
    texts[0] = (struct listed_text){NCUREP_VERSION_PROVIDER, NVTXT_SLICE("")};
    texts[1] = (struct listed_text){NCUREP_VERSION_VERSION, NVTXT_SLICE("")};
    while (!report_wire_find(&headers->session, NCUREP_SESSION_VERSION, &message)) {
        if (report_wire_find(&headers->header, NCUREP_BLOCK_SESSION, &message)) {
            headers->session = report_wire_of(message);
        } else if (report_ncurep_next_header(report, &headers->blocks, &message)) {
            headers->header = report_wire_of(message);
        } else {
            return false;
        }
    }
    read_texts(message, texts, 2);
    return true;
}

static struct nvtxt_slice kernel_name(const struct report_ncurep_result *result) {
    return result->function.len > 0    ? result->function
           : result->demangled.len > 0 ? result->demangled
                                       : result->mangled;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void range_json(struct report_json *json, const struct report_state_pile *pile,
                       const struct report_state_range *range) {
    report_json_object(json, NULL);
    report_json_slice(json, "name", range->name);
    report_json_uint(json, "category", range->category);
    if (range->has_color) {
        report_json_before(json, "color");
        NVTXT_OUT_LITERAL(json->out, "\"");
        nvtxt_out_color(json->out, range->color);
        NVTXT_OUT_LITERAL(json->out, "\"");
    } else {
        report_json_null(json, "color");
    }
    switch (range->payload) {
    case REPORT_STATE_UINT64:
        report_json_uint(json, "payload", range->number);
        break;
    case REPORT_STATE_INT64:
        report_json_int(json, "payload", report_wire_signed(range->number));
        break;
    case REPORT_STATE_DOUBLE:
        report_json_double(json, "payload", range->real);
        break;
    default:
        report_json_null(json, "payload");
        break;
    }
    if (pile->start_end) {
        report_json_uint(json, "id", range->id);
        report_json_uint(json, "tid", range->tid);
    }
    report_json_end_object(json);
}

static void ranges_json(struct report_json *json, const struct report_state *state, uint64_t domain,
                        bool start_end) {
    struct report_state_piles piles = {.started = false};
    struct report_state_pile pile;
    struct report_state_range range;
    report_json_array(json, start_end ? "startEnd" : "pushPop");
    while (report_state_next_pile(state, &piles, &pile)) {
        struct report_wire ranges = report_state_ranges(&pile);
        while (pile.domain == domain && pile.start_end == start_end &&
               report_state_next_range(state, &pile, &ranges, &range)) {
            range_json(json, &pile, &range);
        }
    }
    report_json_end_array(json);
}

static void result_json(struct report_json *json, const struct listed_result *listed) {
    struct report_state_domains domains = {.next = 0};
    struct report_state_domain domain;
    char made[REPORT_STATE_NAME];
    report_json_object(json, NULL);
    report_json_uint(json, "index", listed->index);
    report_json_slice(json, "name", listed->result.function);
    report_json_slice(json, "demangledName", listed->result.demangled);
    report_json_slice(json, "mangledName", listed->result.mangled);
    report_json_uint(json, "tid", listed->result.tid);
    report_json_uint(json, "context", listed->result.context);
    report_json_uint(json, "stream", listed->result.stream);
    report_json_uint(json, "metrics", listed->result.metric_count);
    report_json_array(json, "domains");
    while (report_state_next_domain(&listed->state, &domains, &domain)) {
        report_json_object(json, NULL);
        report_json_uint(json, "id", domain.id);
        report_json_slice(json, "name", report_state_domain_name(&domain, made));
        ranges_json(json, &listed->state, domain.id, false);
        ranges_json(json, &listed->state, domain.id, true);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_end_object(json);
}

static void file_json(struct report_json *json, const char *path,
                      const struct report_ncurep *report) {
    struct headers headers = {.blocks = {.at = 0}};
    struct listed_text texts[2];
    struct nvtxt_slice process;
    report_json_object(json, NULL);
    report_json_text(json, "path", path);
    report_json_uint(json, "version", REPORT_NCUREP_VERSION);
    report_json_array(json, "providers");
    while (next_provider(report, &headers, texts)) {
        report_json_object(json, NULL);
        report_json_slice(json, "name", texts[0].text);
        report_json_slice(json, "version", texts[1].text);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_array(json, "processes");
    headers = (struct headers){.blocks = {.at = 0}};
    while (next_process(report, &headers, &process)) {
        texts[0] = (struct listed_text){NCUREP_PROCESS_HOST, NVTXT_SLICE("")};
        texts[1] = (struct listed_text){NCUREP_PROCESS_NAME, NVTXT_SLICE("")};
        read_texts(process, texts, 2);
        report_json_object(json, NULL);
        report_json_uint(json, "pid", read_pid(process));
        report_json_slice(json, "host", texts[0].text);
        report_json_slice(json, "name", texts[1].text);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_array(json, "results");
}

// ---- Text and Markdown --------------------------------------------------------------------------

static void put(const struct listing *listing, struct nvtxt_slice text) {
    if (listing->markdown) {
        report_plain_markdown(&listing->job->out, text);
    } else {
        report_plain_text(&listing->job->out, text);
    }
}

static void put_format(struct nvtxt_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put_format(struct nvtxt_out *out, const char *format, ...) {
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    nvtxt_out_slice(out, nvtxt_slice_of(text));
}

static void range_text(const struct listing *listing, const struct report_state_pile *pile,
                       const struct report_state_range *range) {
    struct nvtxt_out *out = &listing->job->out;
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
    if (range->payload == REPORT_STATE_UINT64) {
        put_format(out, ", payload %" PRIu64, range->number);
    } else if (range->payload == REPORT_STATE_INT64) {
        put_format(out, ", payload %" PRId64, report_wire_signed(range->number));
    } else if (range->payload == REPORT_STATE_DOUBLE) {
        const char *na = report_json_na_of(range->real);
        put_format(out, ", payload %s", na ? na : "");
        nvtxt_out_double(out, range->real);
    }
    if (pile->start_end) {
        put_format(out, ", id %" PRIu64 ", thread %" PRIu32, range->id, range->tid);
    }
    NVTXT_OUT_LITERAL(out, "\n");
}

static void domain_text(const struct listing *listing, const struct report_state *state,
                        const struct report_state_domain *domain) {
    struct report_state_piles piles = {.started = false};
    struct report_state_pile pile;
    struct report_state_range range;
    char made[REPORT_STATE_NAME];
    put_format(&listing->job->out, "%s", listing->markdown ? "- " : "  ");
    put(listing, report_state_domain_name(domain, made));
    NVTXT_OUT_LITERAL(&listing->job->out, "\n");
    while (report_state_next_pile(state, &piles, &pile)) {
        struct report_wire ranges = report_state_ranges(&pile);
        while (pile.domain == domain->id &&
               report_state_next_range(state, &pile, &ranges, &range)) {
            range_text(listing, &pile, &range);
        }
    }
}

static void result_text(const struct listing *listing, const struct listed_result *listed) {
    struct nvtxt_out *out = &listing->job->out;
    const struct report_ncurep_result *result = &listed->result;
    struct report_state_domains domains = {.next = 0};
    struct report_state_domain domain;
    put_format(out, "\n%s%" PRIu64 ": ", listing->markdown ? "### " : "", listed->index);
    put(listing, kernel_name(result));
    put_format(out, "%s", listing->markdown ? "\n\n" : ", ");
    put_format(out, "thread %" PRIu32 ", context %" PRIu64 ", stream %" PRIu64 ", ", result->tid,
               result->context, result->stream);
    put_format(out, "%" PRIu64 " metric%s%s\n", result->metric_count,
               result->metric_count == 1 ? "" : "s", listing->markdown ? "\n" : "");
    bool any = false;
    while (report_state_next_domain(&listed->state, &domains, &domain)) {
        domain_text(listing, &listed->state, &domain);
        any = true;
    }
    if (!any) {
        put_format(out, "%sno range is open\n", listing->markdown ? "" : "  ");
    }
}

static void file_text(const struct listing *listing, const char *path,
                      const struct report_ncurep *report) {
    struct nvtxt_out *out = &listing->job->out;
    struct headers headers = {.blocks = {.at = 0}};
    struct listed_text texts[2];
    struct nvtxt_slice process;
    put_format(out, "%s%s", listing->begun ? "\n" : "", listing->markdown ? "## " : "");
    put(listing, nvtxt_slice_of(path));
    put_format(out, "%sversion %d, %" PRIu64 " result%s\n", listing->markdown ? "\n\n" : ": ",
               REPORT_NCUREP_VERSION, report->result_count, report->result_count == 1 ? "" : "s");
    while (next_provider(report, &headers, texts)) {
        put_format(out, "%s", listing->markdown ? "\nWritten by " : "written by ");
        put(listing, texts[0].text);
        NVTXT_OUT_LITERAL(out, " ");
        put(listing, texts[1].text);
        NVTXT_OUT_LITERAL(out, "\n");
    }
    headers = (struct headers){.blocks = {.at = 0}};
    while (next_process(report, &headers, &process)) {
        texts[0] = (struct listed_text){NCUREP_PROCESS_HOST, NVTXT_SLICE("")};
        texts[1] = (struct listed_text){NCUREP_PROCESS_NAME, NVTXT_SLICE("")};
        read_texts(process, texts, 2);
        put_format(out, "%s %" PRIu64 " ", listing->markdown ? "\nProcess" : "process",
                   read_pid(process));
        put(listing, texts[1].text);
        NVTXT_OUT_LITERAL(out, " on ");
        put(listing, texts[0].text);
        NVTXT_OUT_LITERAL(out, "\n");
    }
}

// ---- Files --------------------------------------------------------------------------------------

static int write_results(struct listing *listing, const struct report_ncurep *report) {
    struct report_ncurep_cursor cursor = {.blocks = {.at = 0}};
    struct listed_result listed = {.index = 0};
    struct report_fault fault = {0};
    struct nvtxt_slice bytes;
    for (; report_ncurep_next(report, &cursor, &bytes); listed.index++) {
        bool taken;
        if (listing->job->out.error || signals_came()) {
            break;
        }
        report_ncurep_result_read(bytes, &listed.result);
        report_state_open(&listed.state, &listed.result);
        int rc = report_matching_take(&listing->matching, &listed.state, &fault, &taken);
        if (rc > 0) {
            return report_options_refuse(listing->job->term, &fault);
        }
        if (rc < 0) {
            return rc;
        }
        if (taken && listing->job->options->format == REPORT_JSON) {
            result_json(&listing->json, &listed);
        } else if (taken) {
            result_text(listing, &listed);
        }
    }
    return 0;
}

static int write_file(struct listing *listing, const char *path,
                      const struct report_ncurep *report) {
    bool json = listing->job->options->format == REPORT_JSON;
    if (json && !listing->begun) {
        report_json_begin(&listing->json, &listing->job->out, "nvtx-state");
        report_json_array(&listing->json, "files");
    }
    if (json) {
        file_json(&listing->json, path, report);
    } else {
        file_text(listing, path, report);
    }
    listing->begun = true;
    int rc = write_results(listing, report);
    if (json) {
        report_json_end_array(&listing->json);
        report_json_end_object(&listing->json);
    }
    return rc;
}

// Says why a file is not printed. Returns what the exit status will be at least.
static enum outcome refuse(struct term *term, const char *path, int code,
                           const struct report_ncurep_fault *fault) {
    if (code == REPORT_NCUREP_BROKEN) {
        term_say(term, "%s: offset %" PRIu64 ": %s", path, fault->offset, fault->what);
        return OUTCOME_BAD_DATA;
    }
    term_say(term, "cannot read %s: %s", path, fault->what);
    return code == REPORT_NCUREP_NO_INPUT    ? OUTCOME_NO_INPUT
           : code == REPORT_NCUREP_TOO_LARGE ? OUTCOME_SYSTEM
                                             : OUTCOME_IO;
}

static int take_file(struct listing *listing, const char *path) {
    const struct report_ncurep_options options = {.max_memory = listing->job->options->max_memory,
                                                  .interrupted = signals_came};
    struct report_ncurep_fault fault;
    struct report_ncurep *report;
    int rc = report_ncurep_open(&report, path, &options, &fault);
    if (rc == REPORT_NCUREP_STOPPED) {
        return OUTCOME_STOPPED;
    }
    if (rc > 0) {
        report_job_raise(listing->job, refuse(listing->job->term, path, rc, &fault));
        return 0;
    }
    rc = rc == 0 ? write_file(listing, path, report) : rc;
    report_ncurep_free(report);
    return rc;
}

// An expression that was true in no result.
static void note_unused(const struct listing *listing) {
    const struct report_selection *selection = &listing->job->options->selection;
    for (size_t i = 0; i < selection->includes_count + selection->excludes_count; i++) {
        const bool exclude = i >= selection->includes_count;
        const struct report_filter *filter =
            exclude ? selection->excludes[i - selection->includes_count] : selection->includes[i];
        if (listing->begun && !listing->matching.seen[i]) {
            term_say(listing->job->term, "note: --nvtx-%s '%s' selects nothing: no result has it",
                     exclude ? "exclude" : "include", filter->text);
        }
    }
}

int report_command_nvtx_state(struct report_job *job) {
    struct listing listing = {.job = job, .markdown = job->options->format == REPORT_MARKDOWN};
    int rc = report_matching_init(&listing.matching, &job->options->selection);
    for (size_t i = 0; i < job->store_count && rc == 0; i++) {
        rc = take_file(&listing, job->stores[i]);
    }
    if (rc == 0 && listing.begun && job->options->format == REPORT_JSON) {
        report_json_end_array(&listing.json);
        report_json_end(&listing.json);
    }
    if (rc == 0) {
        note_unused(&listing);
    }
    report_matching_deinit(&listing.matching);
    return rc;
}
