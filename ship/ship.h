// SPDX-License-Identifier: Apache-2.0
//
// Inside this room: the commands, and what they share: failures as sentences and exit statuses, the
// position, the service manager.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "ship/engine/pg.h"

struct ship_options;

// ---- Commands (ship/command.c, ship/follow.c) ---------------------------------------------------

enum outcome ship_run(const struct ship_options *options, struct term *term);

// Without a command. For ever: a failure that may pass is logged and tried again, with growing
// delay. Or what is there when it begins (once), or it only says what that would be (dry run). A
// signal ends all three; OUTCOME_STOPPED: it cut something short.
enum outcome follow_run(const struct ship_options *options, struct term *term);
enum outcome follow_once(const struct ship_options *options, struct term *term);
enum outcome follow_dry_run(const struct ship_options *options, struct term *term);

// ---- Failures (ship/say.c) ----------------------------------------------------------------------

// Writes to stdout, or says why it cannot.
enum outcome ship_print(struct term *term, const char *text, size_t size);

// Says the failure's sentence; returns what it means. OUTCOME_STOPPED, and no sentence: a signal
// came.
enum outcome ship_say_failure(struct term *term, const struct failure *failure);

// ---- What others are told -----------------------------------------------------------------------

// Replaces the file that tells nvtxtd how far its store is shipped (nvtxtd.conf(5), ShippedFile),
// in one step: the STORE_ID, a blank, and the number of the first segment that is not wholly
// shipped. Returns 0 or -errno.
int position_write(const char *path, const char *store_id, uint64_t segment);

// A service manager: ready, alive, stopping. Without libsystemd nothing is told.
void notify_ready(void);
void notify_alive(void); // for its watchdog
void notify_stopping(void);

// How often it wants a sign of life, in ms; INT64_MAX: never.
int64_t notify_interval_ms(void);
