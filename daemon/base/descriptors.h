// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of the process: how many there may be, what they are kept for, and the three
// standard ones, which must not become something else. Before the loop runs.
#pragma once

#include <stddef.h>

// Those of 0 to 2 that are closed are opened on /dev/null. Else the next file that is opened would
// be the standard output of whoever prints something.
void descriptors_occupy(void);

// Raises the limit as far as it goes. Returns 0, or an exit status with a sentence in `why` when
// it is too low to do anything.
int descriptors_check(char *why, size_t size);

// How many of them data connections may take.
size_t descriptors_for_connections(void);
