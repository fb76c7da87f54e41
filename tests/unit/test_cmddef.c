// SPDX-License-Identifier: Apache-2.0
//
// Definitions of commands: the default ones and their building.
#include "protocol/lang/cmddef.h"

#include <criterion/criterion.h>

Test(cmddef, lists_all_arguments_by_default) {
    for (unsigned command = 0; command < NVTXT_CMD_COUNT; command++) {
        const struct nvtxt_command_info *info = &nvtxt_commands[command];
        struct nvtxt_cmddef definition;
        memset(&definition, 0xAA, sizeof(definition));
        nvtxt_cmddef_default(&definition, (enum nvtxt_command)command);
        cr_assert_eq(definition.count, info->arg_count);
        cr_assert_arr_eq(definition.args, info->args, info->arg_count);
        cr_assert_eq(definition.listed, info->accepted);
    }
}

Test(cmddef, keeps_the_order_in_which_arguments_are_added) {
    struct nvtxt_cmddef definition = {0};
    nvtxt_cmddef_add(&definition, NVTXT_ARG_PAYLOAD);
    nvtxt_cmddef_add(&definition, NVTXT_ARG_TIME);
    cr_assert_eq(definition.count, 2);
    cr_assert_eq(definition.args[0], NVTXT_ARG_PAYLOAD);
    cr_assert_eq(definition.args[1], NVTXT_ARG_TIME);
    cr_assert_eq(definition.listed,
                 nvtxt_arg_bit(NVTXT_ARG_PAYLOAD) | nvtxt_arg_bit(NVTXT_ARG_TIME));
}
