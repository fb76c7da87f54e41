// SPDX-License-Identifier: Apache-2.0
//
// The commands that are more than a request (tail, top, where), and answers as text.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "client/common/outcome.h"

struct control_link;
struct ctl_options;
struct term;

// Prints events as soon as they are committed. `link` is connected. Ends when the daemon refuses,
// when a signal comes, when the reader of the output has closed it, or when it has shown the number
// of events of --count.
enum outcome ctl_tail(struct control_link *link, const struct ctl_options *options,
                      struct term *term);

// Shows the rates of the sources again and again. `link` is connected. Goes on until q on a
// terminal; elsewhere it prints one sample, or --count.
enum outcome ctl_top(struct control_link *link, const struct ctl_options *options,
                     struct term *term);

// Which daemon and which store the programs use, and why not the others. Works without a daemon
// too. OUTCOME_NO_DAEMON: no daemon accepts a connection.
enum outcome ctl_where(const struct ctl_options *options, struct term *term);

// Prints a result of the control socket as text for people: aligned, within 80 columns. The result
// of a command without a layout here is printed as JSON, so commands of a newer daemon work too.
// Control characters in texts of unknown origin are not printed.
void ctl_print(FILE *out, const char *command, const json_t *result);
