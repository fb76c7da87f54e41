// SPDX-License-Identifier: Apache-2.0
//
// The table of the control commands, the functions that its rows call in other files, and what
// these files share.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "daemon/control/control.h"

struct watch;

extern const struct control_command control_commands[];
extern const size_t control_command_count;

void control_sources(struct control_call *call);
void control_disconnect(struct control_call *call);
void control_diagnostics(struct control_call *call);
void control_checkpoint(struct control_call *call);
void control_metrics(struct control_call *call);
void control_rotate(struct control_call *call);
void control_snapshot(struct control_call *call);
void control_verify(struct control_call *call);

// What `status` says of watched folders (control_sources.c).
void control_add_folders(json_t *status, const struct watch *watch);

// A job whose answer the call waits for. NULL: the call was answered, because the store cannot be
// written now or memory is short (control_store.c).
struct job *control_job_new(struct control_call *call, enum job_kind kind,
                            void (*on_done)(struct job *job), void *context);
