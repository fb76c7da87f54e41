// SPDX-License-Identifier: Apache-2.0
//
// A store out in one of the formats: which events, from which files, with a look at the signals and
// at the progress.
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/format/export_fmt.h"

struct export_list {    // words of an option that may be repeated
    const char **words; // owned; each borrowed
    size_t count;
};

struct export_options {
    const char *store;
    const struct export_format *format;
    bool has_since, has_until, has_last;
    int64_t since_ns, until_ns, last_ns;
    struct export_list pids, sources, categories; // one of each is enough; none: all
    bool has_level;
    int level; // lines of logs of this level and worse ones; see protocol/lang/level.h
    bool has_match;
    regex_t match; // of the message
    bool progress; // wanted; shown on a terminal only
};

// Writes the export to `fd` (borrowed); `name` is what it is called in sentences. FAULTS: the
// format could not hold everything. NO_READER: whoever reads `fd` went away, and nothing was said.
enum outcome export_run(const struct export_options *options, struct term *term, int fd,
                        const char *name);

// Checks that `path` is none of the files of the store.
enum outcome export_check_output(const struct export_options *options, struct term *term,
                                 const char *path);
