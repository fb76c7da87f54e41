// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl top`: shows the rates of the sources again and again.
#pragma once

#include "client/common/outcome.h"

struct control_link;
struct ctl_options;
struct term;

// `link` is connected. Goes on until q on a terminal; elsewhere it prints one sample, or --count.
enum outcome ctl_top(struct control_link *link, const struct ctl_options *options,
                     struct term *term);
