// SPDX-License-Identifier: Apache-2.0
//
// Ends the program while a name of the engine's host is looked up: that is the only wait that no
// deadline ends, because the system's resolver does not return. Nothing is lost then: no
// transaction is open, and a lease that is still held ends by its age.
#pragma once

#include <stdint.h>

// From the call on, `end` is called once `stop_fd` (-1: never) has been readable for `limit_ms`: in
// a signal handler, and it must end the program.
void connect_guard_begin(int stop_fd, int64_t limit_ms, void (*end)(void));
void connect_guard_end(void);
