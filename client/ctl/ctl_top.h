// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl top`: how fast each source goes, as long as one looks.
#pragma once

#include "client/common/outcome.h"

struct control_link;
struct ctl_options;
struct term;

// `link` is connected. On a terminal until q; else one sample, or as many as were asked for.
// Returns the exit status.
enum outcome ctl_top(struct control_link *link, const struct ctl_options *options,
                     struct term *term);
