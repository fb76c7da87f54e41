// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxt-send, as values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/arguments.h"
#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/send/transfer.h"
#include "client/text/textlog.h"

struct send_arguments {
    struct transfer_options transfer;
    struct arguments_mapping mapping;
    struct textlog_options text; // levels are owned
    const char *socket;
    const char *name; // NULL: the file's
    bool has_pid;
    uint32_t pid;
    char session[NVTXT_SESSION_ID_BYTES + 1]; // "": a new id each time
    bool is_text;
    bool has_levels; // --level-pattern
    bool has_color;
    const char *mark;    // TEXT; NULL: none
    const char *payload; // of the mark; NULL: none
    const char *range;   // TEXT; NULL: a command's range has its command line
    bool steps;
    bool nvtx;          // the command's NVTX calls are recorded
    bool print;         // ... no command: print the variables for it
    bool record_output; // ... its output, too
    const char *spool;  // folder; NULL: none
    const char *resume; // folder; NULL: new sessions are sent
    uint64_t spool_limit;
    char **files; // up to a NULL
    int file_count;
    char **command; // likewise; NULL: files are sent
};

// `argv` is changed; the arguments point into it.
enum outcome send_arguments_parse(struct send_arguments *args, struct term *term, int argc,
                                  char **argv);
