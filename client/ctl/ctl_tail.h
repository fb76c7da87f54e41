// SPDX-License-Identifier: Apache-2.0
//
// `nvtxt-ctl tail`: events as they are committed.
#pragma once

#include "client/common/outcome.h"

struct control_link;
struct ctl_options;
struct term;

// `link` is connected. Ends with the daemon's refusal, a signal, the reader of what it prints, or
// when it has shown as many as were asked for.
enum outcome ctl_tail(struct control_link *link, const struct ctl_options *options,
                      struct term *term);
