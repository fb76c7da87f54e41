// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "protocol/lang/cmddef.h"

void nvtxt_cmddef_add(struct nvtxt_cmddef *definition, enum nvtxt_arg arg) {
    definition->args[definition->count++] = (uint8_t)arg;
    definition->listed |= nvtxt_arg_bit(arg);
}

void nvtxt_cmddef_default(struct nvtxt_cmddef *definition, enum nvtxt_command command) {
    const struct nvtxt_command_info *info = &nvtxt_commands[command];
    *definition = (struct nvtxt_cmddef){0};
    for (unsigned i = 0; i < info->arg_count; i++) {
        nvtxt_cmddef_add(definition, info->args[i]);
    }
}
