// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl tail`: prints events as soon as they are committed.
#pragma once

#include "client/common/outcome.h"

struct control_link;
struct ctl_options;
struct term;

// `link` is connected. Ends when the daemon refuses, when a signal comes, when the reader of the
// output has closed it, or when it has shown the number of events of --count.
enum outcome ctl_tail(struct control_link *link, const struct ctl_options *options,
                      struct term *term);
