// SPDX-License-Identifier: Apache-2.0
//
// Report files of Nsight Compute among the words of a command.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "report/ncurep/ncurep.h"

// Whether a file is one by its first bytes, or is to be one by the end of its name.
bool profile_is(const char *path);

// Reads one, with at most so many bytes; report_ncurep_free() it. Says why it cannot; `*profile` is
// NULL then.
enum outcome profile_open(struct report_ncurep **profile, struct term *term, const char *path,
                          uint64_t max_memory);
