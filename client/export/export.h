// SPDX-License-Identifier: Apache-2.0
//
// client/export: the program nvtxt-export. It opens the segments of a store, or an export of Nsight
// Systems, chooses events, gives them their names, and hands them to a format (client/format). It
// owns the readers of the store, the output file and the command line; it has one thread. It never
// writes to the store, and it does not know how a format looks.
//
// This header is the export itself: it filters, shows the progress, and ends when a signal comes.
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/format/export_fmt.h"
#include "protocol/lang/names.h"

struct export_pids {
    uint32_t *ids; // owned
    size_t count;
};

struct export_options {
    const char *store;
    const struct export_format *format;
    bool has_since, has_until, has_last;
    int64_t since_ns, until_ns, last_ns;
    struct export_pids pids; // an event needs one of these and of each list; empty: all
    struct nvtxt_option_list sources, categories;
    bool has_level;
    struct nvtxt_level_span level; // of lines of logs
    bool has_match;
    regex_t match;                       // of the message
    struct store_nsys_copy_options copy; // of --format nsys
    bool progress;                       // show it, but only on a terminal
};

// Writes the export to `fd` (borrowed); messages call it `name`. A format that makes its file opens
// it by `path`, which may be NULL for the others. FAULTS: the format could not hold everything.
// NO_READER: the reader of `fd` has closed it; there is no message about that.
enum outcome export_run(const struct export_options *options, struct term *term, int fd,
                        const char *path, const char *name);

// Checks that `path` is none of the files of the store.
enum outcome export_check_output(const struct export_options *options, struct term *term,
                                 const char *path);

// ---- Which events ------------------------------------------------------------------------------

struct store_read_window export_window(const struct export_options *options); // without sources
bool export_wants_all(const struct export_options *options);

// Whether an option leaves it out: --pid; --match; --category, by its number or its name; --level.
bool export_wants_process(const struct export_options *options,
                          const struct store_read_event *event);
bool export_wants_text(const struct export_options *options, const struct store_read_event *event);
bool export_wants_category(const struct export_options *options, uint32_t category,
                           struct nvtxt_slice name);
bool export_wants_level(const struct export_options *options, const struct store_named_event *row);

// ---- Parents in other processes (parents.c) -----------------------------------------------------
//
// Only what no range of its lane is around has one (store/read/reader_parents.h), and the range
// around a row comes after it: so the push/pop ranges of the sources that have parents are read
// first. 48 bytes are kept of each until all are known, then of each that is outermost. A lane is
// the push/pop ranges of a thread and a domain.

struct export_parents;

// `*parents` is NULL when nothing in these files has a parent. `any`: the caller finds out itself
// what is around a row, so each row gets the parent that it would have if nothing were. The window
// of the readers is another one afterwards. Returns what store_read_chunk() does; after a failure
// the reader `*failed` has the sentence. Ends early when a signal came.
int export_parents_find(struct export_parents **parents, struct store_reader *const *readers,
                        size_t count, bool any, size_t *failed);
void export_parents_free(struct export_parents *parents); // NULL is fine

// Whether parents went round in a circle somewhere.
bool export_parents_were_cut(const struct export_parents *parents);

// Sets the parent of a row of a file, and what it is as a parent.
void export_parents_set(struct export_parents *parents, struct store_reader *reader, size_t file,
                        struct store_named_event *row);

// ---- The command line ---------------------------------------------------------------------------

struct export_command_line {
    const char *output; // -o; NULL: stdout
    bool quiet;
    struct export_options options; // owns its lists and its expression
};

// ANSWERED after --help and --version. Deinit in each case.
enum outcome export_command_line_parse(struct export_command_line *args, struct term *term,
                                       int argc, char **argv);
void export_command_line_deinit(struct export_command_line *args);
