// SPDX-License-Identifier: Apache-2.0
//
// Command definitions: which arguments of a command its calls list, and in which order. The others
// are static: read from variables when a call is made (nvtxt(5), "Instructions").
#pragma once

#include "protocol/lang/commands.h"

struct nvtxt_cmddef {
    uint8_t count;
    uint8_t args[NVTXT_COMMAND_ARGS]; // nvtxt_arg, in the order of the values
    uint16_t listed;                  // bit set of them
};

// The definition that holds until the source gives another: all arguments, in the table's order.
void nvtxt_cmddef_default(struct nvtxt_cmddef *definition, enum nvtxt_command command);

// Adds an argument. The caller has checked that the command takes it and that it is not listed.
void nvtxt_cmddef_add(struct nvtxt_cmddef *definition, enum nvtxt_arg arg);
