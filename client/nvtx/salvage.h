// SPDX-License-Identifier: Apache-2.0
//
// What processes that are gone have left in their ring files becomes spools in the same folder
// (client/spool), from which nvtxt-send sends it like any other. A spool has the lines that the
// daemon had not acknowledged and those of records that were no lines yet; it is of the same
// session and goes on with its numbers, so each line is stored once.
//
// Kill us where you like: a ring file stays until its spool is whole, and a spool that is not whole
// is made anew from the file.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

// Takes all ring files of the folder `dir`. One that cannot be used stays, after a sentence, and
// the others are taken; the outcome is BAD_DATA then. With `pass_over` this is not so for files in
// use, which stay without a word. A folder that cannot be opened has no files.
enum outcome salvage_folder(const char *dir, bool pass_over, struct term *term);

// How many of them a process has in use.
size_t salvage_in_use(const char *dir);
