// SPDX-License-Identifier: Apache-2.0
//
// The folder in which a command puts files of NVTXT, as programs do under Nsight: the command finds
// it in NSIGHT_ANALYSIS_SESSION_OUTPUT_PATH. When the command has ended, its files `*.nvtxt` are
// sent, each in a session whose id comes from that of the command's run and from the file's name.
// So whoever sends the folder again stores nothing twice.
//
// Until all is sent, the folder has a hidden file with the hello of the run. Whoever uses the
// folder holds an exclusive flock(2) on it; who finds it unlocked can go on where another stopped.
// Only regular files of the user are taken, and no link is followed. This module sends nothing.
#pragma once

#include <dirent.h>
#include <limits.h>

#include "client/common/input.h"
#include "client/common/term.h"
#include "protocol/wire/hello.h"

struct session_folder {
    char path[PATH_MAX];    // absolute; "": there is none
    int fd, mark;           // the folder, and the hidden file; owned; -1
    bool is_private;        // made for one run: it goes when all its files are sent
    struct nvtxt_hello run; // of the command; its session is "" until it is noted
};

// Makes the folder that was named or, when that is NULL and the variable is not set, a private one,
// and sets the variable. Without a folder the command runs all the same, after a warning. The
// folder can be ended in any case.
void session_folder_begin(struct session_folder *folder, const char *named, struct term *term);

// Notes whose files they will be: before the command runs, and once more when its pid is known.
// `session` is not the hello's if the user named one.
void session_folder_note(struct session_folder *folder, const struct nvtxt_hello *run,
                         const char *session);

// Takes over what an ended process left in `dir`. Returns whether it is such a folder, and free.
bool session_folder_find(struct session_folder *folder, const char *dir, struct term *term);

// Its files, in the order of their names: `*files` is an array to free, each of it and it itself.
// Returns their number or -errno.
int session_folder_list(const struct session_folder *folder, struct dirent ***files);

// Opens one of them, whose path is `path`; the input borrows it. Returns 0, NVTXT_WRONG after a
// sentence when it is none that may be taken, or -errno.
int session_folder_open(const struct session_folder *folder, const char *path, struct input *input,
                        struct term *term);

// The session of a file. Returns 0 or -ENOMEM.
int session_folder_id(const struct session_folder *folder, const char *path,
                      char session[NVTXT_SESSION_ID_BYTES + 1]);

// The file was sent, as far as it was read. Returns whether that is all of it; then it is removed
// from a private folder.
bool session_folder_sent(const struct session_folder *folder, const struct input *input);

// Closes the folder. One that is private goes when `all` was sent; what stays is named.
void session_folder_end(struct session_folder *folder, bool all, struct term *term);
