// SPDX-License-Identifier: Apache-2.0
//
// NVTX for the clients of the tests: the real headers, or the stand-in.
#pragma once

#ifdef WITH_NVTX3
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#else
#include "tests/nvtx/stand_in.h"
#endif

// What a second linkage unit (unit.c) does with handles that the first one made.
typedef void (*unit_function)(nvtxDomainHandle_t domain, nvtxStringHandle_t string);
