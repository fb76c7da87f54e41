// SPDX-License-Identifier: Apache-2.0
//
// inject/ext: extensions of NVTX, payloads that a schema describes, counters, memory. This room
// turns them into JSON, names and samples of libnvtxt. It keeps schemas and counters for the life
// of the process; it runs on the threads of the program.
#pragma once

#include <stdint.h>

#include "inject/handles.h"

// Whether events of the domain are recorded.
uint8_t payload_is_enabled(const struct inject_domain *domain);
