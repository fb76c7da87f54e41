// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of the process: how many there may be, and what for. To be called before the loop
// runs.
#pragma once

#include <stddef.h>

// Opens /dev/null on those of the descriptors 0 to 2 that are closed. Otherwise the next file or
// socket would get that number, and what is printed would go into it.
void descriptors_occupy(void);

// Raises the limit as far as it goes. Returns 0, or an exit status with a sentence in `why` when it
// is too low to start.
int descriptors_check(char *why, size_t size);

// How many descriptors data connections and followed files may take together.
size_t descriptors_for_connections(void);
