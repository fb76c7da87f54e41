// SPDX-License-Identifier: Apache-2.0
//
// The width of the terminal that reads an output.
#pragma once

#include <stddef.h>

// In characters; 0: the descriptor is no terminal, or its width is not known.
size_t report_screen_width(int fd);
