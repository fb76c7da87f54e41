// SPDX-License-Identifier: Apache-2.0
//
// Ends the program while a name of the engine's host is looked up: that is the only wait that no
// deadline ends, because the system's resolver does not return. Nothing is held at that moment.
#pragma once

// From the call on, the program ends with status 0 when `stop_fd` has been readable for 2 s; -1: it
// never is.
void connect_guard_begin(int stop_fd);
void connect_guard_end(void);
