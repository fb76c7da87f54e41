// SPDX-License-Identifier: Apache-2.0
//
// Where files of sections and rules are found (nvtxt-section(5), "FILES"): the folders that were
// given, or those of the search path, in their order; in each the files by name.
#pragma once

#include "report/text/message.h"

#define REPORT_FILES_BUILTIN "builtin" // in place of a path: the folders of the package

struct report_search_folder {
    const char *path;
    bool recursive;
};

struct report_file {
    const char *path;
    bool builtin; // in a folder of the package
};

struct report_files {
    struct report_file *files; // owned, as are the paths
    size_t count, room;
    struct store_arena arena;
};

// All *.section, *.rule and *.py of the given folders, or of the search path without any. With
// `kernels` the package's own are those for results of report files, else those for events. Returns
// 0, NVTXT_WRONG when a given folder cannot be read (its path is in `*missing`, errno has the
// reason), or -ENOMEM.
int report_files_find(struct report_files *files, const struct report_search_folder *folders,
                      size_t count, bool kernels, const char **missing);
void report_files_deinit(struct report_files *files); // fine when zeroed

// The folder of that name of the package, such as "python", in `path` (PATH_MAX).
void report_files_package(const char *name, char *path);

bool report_file_is(const struct report_file *file, const char *extension); // ".section"

// How lists show it: its path, or "(built in)".
const char *report_file_shown(const struct report_file *file);

// Reads a file into the arena, a NUL after it. Returns 0, NVTXT_WRONG after a message when it
// cannot be read or is too large, or -ENOMEM.
int report_file_read(const struct report_file *file, struct store_arena *arena,
                     struct nvtxt_slice *text, struct report_messages *messages);

// A file that is run, as it was read once: by the descriptor that was looked at.
struct report_program_text {
    const char *real; // its path without links
    struct nvtxt_slice bytes;
};

// The same for a file that is run, if only root and the caller may change it: the file, its folder
// and that of a link to it, and each folder above them, but that others may write to one above if
// it is sticky, as /tmp is. Returns NVTXT_WRONG after a message also when it is another's to
// change.
int report_file_read_program(const struct report_file *file, struct store_arena *arena,
                             struct report_program_text *text, struct report_messages *messages);

// Puts messages into the order of the files, those of other files first; within a file they stay as
// they are. Returns 0 or -ENOMEM.
int report_files_sort_messages(const struct report_files *files, struct report_messages *messages);
