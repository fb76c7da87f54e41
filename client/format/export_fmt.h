// SPDX-License-Identifier: Apache-2.0
//
// The formats of an export: one table, a writer each. A writer gets the events one by one, with the
// names that it asked for, and puts them into the output; what it has to remember between them is
// its own. Nothing here knows where the events come from or which were left out.
#pragma once

#include "client/format/export_out.h"
#include "store/read/reader.h"

// An event with its names; data is NULL where there is none. Views that live during the call.
struct export_row {
    const struct store_read_event *event;
    struct nvtxt_slice process, thread, category, domain;
    int64_t source_id;         // 0: none
    struct nvtxt_slice source; // both only for a format that wants sources
    const char *level;         // of a line of a log; NULL: none
};

struct export_writer {
    const struct export_format *format;
    struct export_out out;
    int64_t base_ns;  // start of the first event of all that is read, filtered or not
    bool all;         // no event is left out, so no name is either
    uint64_t changed; // texts that the format could not hold as they were
    const char *note; // what people should know of the whole, set at the end; NULL: nothing
    void *state;      // of the format; NULL while it has none
};

struct export_format {
    const char *name; // as --format has it
    const char *loss; // behind the number writer->changed: what is not as it was
    bool wants_sources;
    // Each returns 0, -errno or, reading names, what store_read_names() does. Output that fails is
    // no error of theirs: it is seen in writer->out. All but `row` may be NULL.
    int (*begin)(struct export_writer *writer);
    int (*segment)(struct export_writer *writer, struct store_reader *reader); // before its events
    int (*row)(struct export_writer *writer, const struct export_row *row);
    int (*settle)(struct export_writer *writer); // behind a segment: writes what was held back
    int (*end)(struct export_writer *writer);
    void (*free)(struct export_writer *writer); // of `state`
};

extern const struct export_format export_chrome;
extern const struct export_format export_nvtxt;
extern const struct export_format export_speedscope;
extern const struct export_format export_folded;

// By name; NULL when there is none. Their names in order, NULL behind the last.
const struct export_format *export_format_find(const char *name);
const char *export_format_name(size_t index);

// What the kinds are called, as in NVTXT_TIMELINE: "mark", "push/pop", "start/end".
struct nvtxt_slice export_kind_name(enum nvtxt_event_type type);

static inline uint32_t export_pid(uint64_t global_tid) {
    return (uint32_t)(global_tid >> 24);
}
static inline uint32_t export_tid(uint64_t global_tid) {
    return (uint32_t)(global_tid & 0xFFFFFF);
}
