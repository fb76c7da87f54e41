// SPDX-License-Identifier: Apache-2.0
//
// The command line of nvtxt-export: its options, its --help.
#pragma once

#include <stdbool.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "client/export/export.h"

struct export_command_line {
    const char *output; // -o; NULL: stdout
    bool quiet;
    struct export_options options; // owns its lists and its expression
};

// ANSWERED after --help and --version. Deinit in each case.
enum outcome export_command_line_parse(struct export_command_line *args, struct term *term,
                                       int argc, char **argv);
void export_command_line_deinit(struct export_command_line *args);
