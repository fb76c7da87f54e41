// SPDX-License-Identifier: Apache-2.0
//
// What nvtxt-ship does without a command: it ships until it is stopped (follow), or what is there
// when it begins (once), or only says what that would be (dry run).
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "ship/options.h"

// For ever: a failure that may pass is logged and tried again, with growing delay. A signal ends
// all three; OUTCOME_STOPPED: it cut something short.
enum outcome follow_run(const struct ship_options *options, struct term *term);

enum outcome follow_once(const struct ship_options *options, struct term *term);
enum outcome follow_dry_run(const struct ship_options *options, struct term *term);
