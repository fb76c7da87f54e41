// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl where: which daemon and which store the programs would take, and why not the others.
#pragma once

#include "client/common/outcome.h"

struct ctl_options;
struct term;

// Needs no daemon. NO_DAEMON: none accepts.
enum outcome ctl_where(const struct ctl_options *options, struct term *term);
