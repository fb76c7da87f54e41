// SPDX-License-Identifier: Apache-2.0
//
// client/format: writes events as chrome, perfetto, speedscope, folded, csv, jsonl, NVTXT, OTLP or
// as an export of Nsight Systems. It owns the output buffer and what a format has to remember
// between events: names, stacks. It runs on the main thread of nvtxt-export. It does not choose,
// filter or fetch the events (client/export does), opens no file and prints no message.
//
// This header has the table of formats, with a writer for each. A writer gets the events one by
// one, with the names that it asked for, and puts them into the output.
#pragma once

#include "protocol/text/out.h"
#include "store/nsys/nsys_copy.h"
#include "store/read/event_members.h"
#include "store/read/reader.h"

struct export_writer {
    const struct export_format *format;
    struct nvtxt_out out;
    int64_t base_ns;  // start of the first event of the files, also when it is filtered out
    bool all;         // nothing is filtered out: all names are written too
    bool looks;       // the rows are only shown to look()
    bool is_wanted;   // the row is: look() of a format that looks at all gets others, too
    bool nvtx;        // the rows need the extension `nvtx`
    size_t file;      // index of the segment that is read
    uint64_t changed; // texts that the format could not hold unchanged
    const char *note; // a remark for the user about the whole export, set at the end; NULL: none
    void *state;      // of the format; NULL while it has none
    const char *host; // of this machine; NULL: not known
    const char *path; // of the file, for a format that makes it itself
    const char *name; // what messages call it
    struct store_nsys_copy_options copy; // of nsys
    char error[1024]; // the sentence about a failure of the format; "": memory is short
};

struct export_format {
    const char *name; // in --format
    const char *loss; // follows the number writer->changed in a message: what was changed
    bool wants_sources;
    bool wants_parents; // in other processes; see the row
    bool looks_at_all;  // see look()
    bool makes_file;    // a database at writer->path, in place of the output
    // Each returns 0, -errno or, while it reads names, what store_read_names() returns; one that
    // makes its file also other codes of the store, with a sentence in writer->error. They do not
    // return a failure of the output: writer->out remembers it. All but `row` may be NULL.
    int (*begin)(struct export_writer *writer);
    // Is shown the rows before they are written, and after the last one NULL, and sets `nvtx` when
    // one needs the extension. It is for a format that must know this at its beginning; it is not
    // called when no row can need it. After that the format is freed and begins again. A format
    // that looks at all is shown every row that is written, and every other push/pop range of the
    // processes and the time that are wanted. It is not freed after that.
    int (*look)(struct export_writer *writer, const struct store_named_event *row);
    int (*segment)(struct export_writer *writer, struct store_reader *reader); // before its events
    int (*row)(struct export_writer *writer, const struct store_named_event *row);
    int (*settle)(struct export_writer *writer); // after a segment: writes what was held back
    int (*end)(struct export_writer *writer);
    void (*free)(struct export_writer *writer); // of `state`
};

extern const struct export_format export_chrome;
extern const struct export_format export_nvtxt;
extern const struct export_format export_perfetto;
extern const struct export_format export_speedscope;
extern const struct export_format export_folded;
extern const struct export_format export_otlp;
extern const struct export_format export_nsys;

const struct export_format *export_format_find(const char *name); // NULL: there is none
const char *export_format_name(size_t index); // in the order of the table; NULL after the last

static inline bool export_is_real(const struct nvtxt_payload *payload) {
    return payload->kind == NVTXT_PAYLOAD_DOUBLE || payload->kind == NVTXT_PAYLOAD_FLOAT;
}
