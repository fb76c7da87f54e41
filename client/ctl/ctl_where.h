// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl where`: which daemon and which store the programs use, and why not the others.
#pragma once

#include "client/common/outcome.h"

struct ctl_options;
struct term;

// Works without a daemon too. OUTCOME_NO_DAEMON: no daemon accepts a connection.
enum outcome ctl_where(const struct ctl_options *options, struct term *term);
