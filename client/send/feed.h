// SPDX-License-Identifier: Apache-2.0
//
// From a log to an intake: lines go over as long as there is room. What has none waits in the log,
// which is not read on then.
#pragma once

#include "client/send/intake.h"
#include "client/text/textlog.h"

// Returns 0, or as intake_move() does.
int feed_move(struct textlog *log, struct intake *intake);

// The longest line of NVTXT that is sent: the language's own limit, or less when the daemon said
// so.
size_t feed_line_max(const struct sender *sender);
