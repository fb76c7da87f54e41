// SPDX-License-Identifier: Apache-2.0
//
// lib: libnvtxt, with which a program annotates itself (nvtxt.h). The lead is the life of the
// recording in a process: its first event, fork, exit. Recording is in lib/ring, sending in
// lib/send; here they are put together and taken apart. The room owns the calls and what the
// environment asks for. The calls run on the threads of the program: none of them waits, allocates
// on an event or changes errno.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/send/sender.h"

extern struct sender life_sender;

// Sets the hooks of the recorder. It is the library's constructor; a call that comes even earlier
// is counted as lost.
void life_init(void);

// Starts the sender if it was put off. The caller promises to be in no signal handler; where it
// shows that this is not so, nothing is done. Under the recorder's lock.
void life_start_sender(void);

// Whether an event was recorded in this process, or its parent before it was forked.
bool life_has_begun(void);
