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

#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"

// Takes all ring files of the folder `dir`. One that cannot be used stays, after a sentence, and
// the others are taken; the outcome is BAD_DATA then. `in_use` NULL: that goes for files in use,
// too; else they are counted there. A folder that cannot be opened has none.
enum outcome salvage_folder(const char *dir, size_t *in_use, struct term *term);
