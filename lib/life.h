// SPDX-License-Identifier: Apache-2.0
//
// The life of the recording in a process: its first event, fork, exit. What the calls share with
// each other is in lib/ring (thread.h); here it is put together and taken apart.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/send/sender.h"

extern struct sender life_sender;

// The hooks of the recorder are set before any call, by the constructor of the library; a call that
// comes even earlier does it itself.
void life_init(void);

// Whether an event was recorded in this process, or its parent before it was forked.
bool life_has_begun(void);
