// SPDX-License-Identifier: Apache-2.0
//
// From a member to the struct that it is embedded in.
#pragma once

#include <stddef.h>

#define NVTXT_CONTAINER_OF(pointer, type, member)                                                  \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
