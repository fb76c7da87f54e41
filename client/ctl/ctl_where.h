// SPDX-License-Identifier: Apache-2.0
//
// nvtxt-ctl where: which daemon and which store the programs would take, and why not the others.
#pragma once

struct ctl_options;
struct term;

// Needs no daemon. Returns 0, EX_UNAVAILABLE when no daemon accepts, or EX_IOERR after a sentence.
int ctl_where(const struct ctl_options *options, struct term *term);
