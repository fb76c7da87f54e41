// SPDX-License-Identifier: Apache-2.0
//
// The commands, and what they share: the connection, and what a failure means for the program.
#pragma once

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "ship/engine/pg.h"
#include "ship/options.h"

enum outcome ship_run(const struct ship_options *options, struct term *term);

// Connects as the options say; a failure is said. `role` as in struct pg_settings.
enum outcome ship_connect(const struct ship_options *options, struct term *term, const char *role,
                          struct pg **pg);
