// SPDX-License-Identifier: Apache-2.0
//
// Why a report file is not read, and what bounds its reading.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REPORT_NCUREP_WHAT 128

// Why a file is refused: a sentence and the place. Of a compressed file the place is one of the
// bytes that were in it, unless the compression itself is broken.
struct report_ncurep_fault {
    uint64_t offset; // bytes from 0
    char what[REPORT_NCUREP_WHAT];
};

enum report_ncurep_result_code {
    REPORT_NCUREP_BROKEN = 1, // no report, another version, cut: the fault has the place
    REPORT_NCUREP_NO_INPUT,   // the fault has the reason, without a place
    REPORT_NCUREP_IO,         // the same
    REPORT_NCUREP_TOO_LARGE,  // the same
    REPORT_NCUREP_STOPPED,    // `interrupted` said so
};

struct report_ncurep_options {
    uint64_t max_memory;       // bytes; 0: no bound
    bool (*interrupted)(void); // asked now and then; NULL: never
};
