// SPDX-License-Identifier: Apache-2.0
//
// Failures as sentences and exit statuses.
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "ship/engine/failure.h"

// What a failure means for the exit status.
enum outcome ship_outcome_of(enum failure_class class);

// Says the failure's sentence; returns what it means. OUTCOME_STOPPED, and no sentence: a signal
// came.
enum outcome ship_say_failure(struct term *term, const struct failure *failure);
