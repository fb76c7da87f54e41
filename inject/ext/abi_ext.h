// SPDX-License-Identifier: Apache-2.0
//
// What the extensions of NVTX pass, as abi.h has it for the core: numbers of callbacks and layouts.
#pragma once

#include "inject/abi.h"

enum { ABI_PAYLOAD_IS_ENABLED = 7, ABI_PAYLOAD_TIMESTAMP = 8, ABI_PAYLOAD_COUNT = 18 };
