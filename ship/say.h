// SPDX-License-Identifier: Apache-2.0
//
// Failures as sentences and exit statuses.
#pragma once

#include <stddef.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "ship/engine/failure.h"

// Writes to stdout, or says why it cannot.
enum outcome ship_print(struct term *term, const char *text, size_t size);

// What a failure means for the exit status.
enum outcome ship_outcome_of(enum failure_class class);

// Says the failure's sentence; returns what it means. OUTCOME_STOPPED, and no sentence: a signal
// came.
enum outcome ship_say_failure(struct term *term, const struct failure *failure);
