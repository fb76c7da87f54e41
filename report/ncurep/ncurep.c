// SPDX-License-Identifier: Apache-2.0
//
// A file is gone over twice: once to look at everything in it and to count, once to note the
// places of results and strings. The range of each result is found by a hash table; results are
// then put side by side by range, as in a sort by counting.
#include "report/ncurep/ncurep.h"

#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"
#include "protocol/table/hash.h"
#include "report/ncurep/known.h"
#include "report/ncurep/result.h"

#define INDEX_LEAST ((uint64_t)64 << 20) // bytes that an index may have in any case

bool report_ncurep_next_header(const struct report_ncurep *report, struct report_blocks *blocks,
                               struct nvtxt_slice *header) {
    struct report_ncurep_fault none;
    struct report_block block;
    blocks->file = report->bytes;
    if (report_blocks_next(blocks, &block, &none) != REPORT_BLOCKS_MORE) {
        return false;
    }
    *header = block.header;
    return true;
}

bool report_ncurep_next(const struct report_ncurep *report, struct report_ncurep_cursor *cursor,
                        struct nvtxt_slice *result) {
    struct report_ncurep_fault none;
    cursor->blocks.file = report->bytes;
    while (report_entries_next(&cursor->entries, report->bytes, result, &none) !=
           REPORT_BLOCKS_MORE) {
        if (report_blocks_next(&cursor->blocks, &cursor->block, &none) != REPORT_BLOCKS_MORE ||
            !report_entries_start(&cursor->entries, report->bytes, &cursor->block, &none)) {
            return false;
        }
    }
    return true;
}

// A cursor over all strings.
struct strings {
    struct report_blocks blocks;
    struct report_wire header, table;
};

static bool next_string(const struct report_ncurep *report, struct strings *at,
                        struct nvtxt_slice *text) {
    struct nvtxt_slice part;
    while (!report_wire_find(&at->table, NCUREP_STRINGS_TEXT, text)) {
        if (report_wire_find(&at->header, NCUREP_BLOCK_STRINGS, &part)) {
            at->table = report_wire_of(part);
        } else if (report_ncurep_next_header(report, &at->blocks, &part)) {
            at->header = report_wire_of(part);
        } else {
            return false;
        }
    }
    return true;
}

static void count(struct report_ncurep *report) {
    struct report_ncurep_fault none;
    struct report_blocks blocks = {.file = report->bytes};
    struct report_block block;
    struct strings strings = {.table = {0}};
    struct nvtxt_slice text;
    while (report_blocks_next(&blocks, &block, &none) == REPORT_BLOCKS_MORE) {
        report->result_count += block.results;
    }
    while (next_string(report, &strings, &text)) {
        report->string_count++;
    }
}

int report_ncurep_take(struct report_ncurep **report, char *bytes, size_t len,
                       struct report_ncurep_fault *fault) {
    struct report_ncurep *made = calloc(1, sizeof(*made));
    *report = NULL;
    if (!made) {
        free(bytes);
        return nvtxt_origin(-ENOMEM);
    }
    made->bytes = (struct nvtxt_slice){bytes, len};
    if (report_blocks_check(made->bytes, fault) != 0) {
        report_ncurep_free(made);
        return REPORT_NCUREP_BROKEN;
    }
    count(made);
    *report = made;
    return 0;
}

int report_ncurep_open(struct report_ncurep **report, const char *path,
                       const struct report_ncurep_options *options,
                       struct report_ncurep_fault *fault) {
    char *bytes;
    size_t len;
    *report = NULL;
    int r = report_ncurep_read(path, options, &bytes, &len, fault);
    return r ?: report_ncurep_take(report, bytes, len, fault);
}

void report_ncurep_free(struct report_ncurep *report) {
    if (report) {
        free(report->ranges);
        free(report->results);
        free(report->strings);
        free((char *)report->bytes.data);
        free(report);
    }
}

// ---- The index ----------------------------------------------------------------------------------

struct ranges {
    struct nvtxt_slots slots;
    struct report_ncurep_range *list; // owned
    size_t count, room;
    uint32_t *of_result; // the range of each
};

static int add_range(struct ranges *ranges, uint64_t context, uint64_t stream) {
    if (nvtxt_grow(&ranges->list, &ranges->room, ranges->count + 1, sizeof(*ranges->list)) < 0) {
        return nvtxt_origin(-ENOMEM);
    }
    ranges->list[ranges->count++] =
        (struct report_ncurep_range){.context = context, .stream = stream};
    return 0;
}

static int find_range(struct ranges *ranges, struct nvtxt_slice bytes, uint32_t *range) {
    struct report_ncurep_result result;
    report_ncurep_result_read(bytes, &result);
    size_t at =
        nvtxt_slots_start(&ranges->slots, nvtxt_hash_numbers(result.context, result.stream));
    for (; ranges->slots.places[at]; at = nvtxt_slots_next(&ranges->slots, at)) {
        const struct report_ncurep_range *found = &ranges->list[ranges->slots.places[at] - 1];
        if (found->context == result.context && found->stream == result.stream) {
            *range = ranges->slots.places[at] - 1;
            return 0;
        }
    }
    *range = (uint32_t)ranges->count;
    ranges->slots.places[at] = *range + 1;
    return add_range(ranges, result.context, result.stream);
}

static int find_ranges(const struct report_ncurep *report, struct ranges *ranges) {
    struct report_ncurep_cursor cursor = {.entries = {0}};
    struct nvtxt_slice result;
    int r = 0;
    for (size_t i = 0; r == 0 && report_ncurep_next(report, &cursor, &result); i++) {
        r = find_range(ranges, result, &ranges->of_result[i]);
    }
    return r;
}

// Takes the list of ranges.
static void make_ranges(struct report_ncurep *report, struct ranges *ranges) {
    report->ranges = ranges->list;
    report->range_count = ranges->count;
    ranges->list = NULL;
    for (size_t i = 0; i < report->result_count; i++) {
        report->ranges[ranges->of_result[i]].count++;
    }
    uint32_t first = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        report->ranges[i].first = first;
        first += report->ranges[i].count;
        report->ranges[i].count = 0; // counted again as the results are put in
    }
    struct report_ncurep_cursor cursor = {.entries = {0}};
    struct nvtxt_slice result;
    for (size_t i = 0; report_ncurep_next(report, &cursor, &result); i++) {
        struct report_ncurep_range *range = &report->ranges[ranges->of_result[i]];
        report->results[range->first + range->count++] =
            (uint32_t)(result.data - report->bytes.data);
    }
}

static int index_results(struct report_ncurep *report) {
    struct ranges ranges = {.count = 0};
    ranges.of_result = calloc(report->result_count + 1, sizeof(*ranges.of_result));
    report->results = calloc(report->result_count + 1, sizeof(*report->results));
    int r = ranges.of_result && report->results ? 0 : nvtxt_origin(-ENOMEM);
    r = r ?: nvtxt_slots_reset(&ranges.slots, report->result_count);
    r = r ?: add_range(&ranges, 0, 0); // so that there is a list
    ranges.count = 0;
    r = r ?: find_ranges(report, &ranges);
    if (r == 0) {
        make_ranges(report, &ranges);
    }
    free(ranges.list);
    free(ranges.of_result);
    nvtxt_slots_deinit(&ranges.slots);
    return r;
}

static int index_strings(struct report_ncurep *report) {
    struct strings strings = {.table = {0}};
    struct nvtxt_slice text;
    report->strings = calloc(report->string_count + 1, sizeof(*report->strings));
    for (size_t i = 0; report->strings && next_string(report, &strings, &text); i++) {
        report->strings[i] = report_wire_place(report->bytes.data, text);
    }
    return report->strings ? 0 : nvtxt_origin(-ENOMEM);
}

int report_ncurep_index(struct report_ncurep *report, struct report_ncurep_fault *fault) {
    uint64_t size = 13 * report->result_count + 4 * report->string_count;
    fault->offset = 0;
    if (report->ranges) {
        return 0;
    }
    if (report->bytes.len > UINT32_MAX) {
        snprintf(fault->what, sizeof(fault->what), "it has more than 4 GiB");
        return REPORT_NCUREP_TOO_LARGE;
    }
    if (size > INDEX_LEAST && size > report->bytes.len) {
        snprintf(fault->what, sizeof(fault->what), "its index needs %llu bytes, more than the file",
                 (unsigned long long)size);
        return REPORT_NCUREP_TOO_LARGE;
    }
    int r = index_strings(report);
    return r ?: index_results(report);
}

struct nvtxt_slice report_ncurep_action(const struct report_ncurep *report, size_t range,
                                        size_t action) {
    const char *at = report->bytes.data + report->results[report->ranges[range].first + action];
    const unsigned char *size = (const unsigned char *)at - 4;
    return (struct nvtxt_slice){at, (size_t)size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 |
                                        (size_t)size[3] << 24};
}

struct nvtxt_slice report_ncurep_string(const struct report_ncurep *report, uint64_t number) {
    if (number >= report->string_count) {
        return (struct nvtxt_slice){NULL, 0};
    }
    return report_wire_at(report->bytes.data, report->strings[number]);
}

// ---- Sessions -----------------------------------------------------------------------------------

bool report_session_next_provider(const struct report_ncurep *report, struct report_session *cursor,
                                  struct report_provider *provider) {
    struct nvtxt_slice message;
    *provider = (struct report_provider){NVTXT_SLICE(""), NVTXT_SLICE("")};
    while (!report_wire_find(&cursor->details, NCUREP_SESSION_VERSION, &message)) {
        if (report_wire_find(&cursor->header, NCUREP_BLOCK_SESSION, &message)) {
            cursor->details = report_wire_of(message);
        } else if (report_ncurep_next_header(report, &cursor->blocks, &message)) {
            cursor->header = report_wire_of(message);
        } else {
            return false;
        }
    }
    report_wire_text(message, NCUREP_VERSION_PROVIDER, &provider->name);
    report_wire_text(message, NCUREP_VERSION_VERSION, &provider->version);
    return true;
}

bool report_session_next_process(const struct report_ncurep *report, struct report_session *cursor,
                                 struct report_profiled_process *process) {
    struct nvtxt_slice message;
    *process = (struct report_profiled_process){0, NVTXT_SLICE(""), NVTXT_SLICE("")};
    while (!report_wire_find(&cursor->header, NCUREP_BLOCK_PROCESS, &message)) {
        if (!report_ncurep_next_header(report, &cursor->blocks, &message)) {
            return false;
        }
        cursor->header = report_wire_of(message);
    }
    report_wire_number(message, NCUREP_PROCESS_ID, &process->pid);
    report_wire_text(message, NCUREP_PROCESS_HOST, &process->host);
    report_wire_text(message, NCUREP_PROCESS_NAME, &process->name);
    return true;
}
