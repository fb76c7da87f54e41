// SPDX-License-Identifier: Apache-2.0
//
// The table of commands: it agrees with itself and with the language's definition (nvtxt(5),
// "Commands"), typed here a second time; and the definitions that are made from it.
#include "protocol/lang/commands.h"

#include <criterion/criterion.h>
#include <stdio.h>

// Optional arguments are in parentheses, those of the extension `nvtx` in brackets.
static const struct {
    enum nvtxt_command command;
    const char *line;
} page[] = {
    {NVTXT_CMD_SET_FILE_DISPLAY_NAME, "SetFileDisplayName: Name"},
    {NVTXT_CMD_MARKER, "Marker: Time (TimeBase) (ProcessId) (ThreadId) (CategoryId) (Color) "
                       "(Message) (Payload) [Domain] [Json]"},
    {NVTXT_CMD_RANGE_PUSH, "RangePush: Time (TimeBase) (ProcessId) (ThreadId) (CategoryId) "
                           "(Color) (Message) (Payload) [Domain] [Json]"},
    {NVTXT_CMD_RANGE_POP, "RangePop: Time (TimeBase) (ProcessId) (ThreadId) [Domain] [Json]"},
    {NVTXT_CMD_RANGE_START_END, "RangeStartEnd: Start End (TimeBase) (ProcessId) (ThreadId) "
                                "(CategoryId) (Color) (Message) (Payload) [Domain] [Json]"},
    {NVTXT_CMD_RANGE_START, "RangeStart: Time RangeId (TimeBase) (ProcessId) (ThreadId) "
                            "(CategoryId) (Color) (Message) (Payload) [Domain] [Json]"},
    {NVTXT_CMD_RANGE_END, "RangeEnd: Time RangeId (TimeBase) (ProcessId) (ThreadId) [Json]"},
    {NVTXT_CMD_SET_CATEGORY_NAME, "SetCategoryName: CategoryId Name [Domain]"},
    {NVTXT_CMD_SET_THREAD_NAME, "SetThreadName: (ProcessId) ThreadId Name"},
    {NVTXT_CMD_SET_PROCESS_NAME, "SetProcessName: (ProcessId) Name"},
    {NVTXT_CMD_SET_RESOURCE_NAME, "SetResourceName: Kind Handle Name [Domain] [ProcessId]"},
    {NVTXT_CMD_SET_COUNTER, "SetCounter: Name [Domain] [Json]"},
};

Test(commands, are_those_of_the_page_in_its_order) {
    cr_assert_eq(sizeof(page) / sizeof(page[0]), NVTXT_CMD_COUNT);
    for (size_t i = 0; i < NVTXT_CMD_COUNT; i++) {
        const struct nvtxt_command_info *info = &nvtxt_commands[page[i].command];
        char line[256];
        size_t len = (size_t)snprintf(line, sizeof(line), "%s:", info->name.data);
        for (unsigned a = 0; a < nvtxt_command_arg_count(info, NVTXT_NVTX); a++) {
            bool required = info->required & nvtxt_arg_bit(info->args[a]);
            len += (size_t)snprintf(line + len, sizeof(line) - len,
                                    a >= info->arg_count ? " [%s]"
                                    : required           ? " %s"
                                                         : " (%s)",
                                    nvtxt_args[info->args[a]].name.data);
        }
        cr_assert_str_eq(line, page[i].line);
    }
}

Test(commands, list_each_argument_once_and_accept_what_they_list) {
    for (unsigned c = 0; c < NVTXT_CMD_COUNT; c++) {
        const struct nvtxt_command_info *info = &nvtxt_commands[c];
        uint16_t listed = 0;
        cr_assert_gt(info->arg_count, 0);
        unsigned count = nvtxt_command_arg_count(info, NVTXT_NVTX);
        cr_assert_lt(count, NVTXT_COMMAND_ARGS, "room for one more");
        for (unsigned a = 0; a < count; a++) {
            cr_assert_lt(info->args[a], NVTXT_ARG_COUNT);
            cr_assert_not(listed & nvtxt_arg_bit(info->args[a]), "%s", info->name.data);
            listed |= nvtxt_arg_bit(info->args[a]);
        }
        cr_assert_eq(info->accepted & info->nvtx_accepted, 0, "%s", info->name.data);
        cr_assert_eq(nvtxt_command_accepts(info, NVTXT_NVTX), listed, "%s", info->name.data);
        cr_assert_eq(nvtxt_command_accepts(info, NVTXT_LEVELS), info->accepted);
        cr_assert_eq(nvtxt_command_arg_count(info, 0), info->arg_count);
        cr_assert_eq(nvtxt_command_known((enum nvtxt_command)c, NVTXT_LEVELS), !info->nvtx);
        cr_assert(nvtxt_command_known((enum nvtxt_command)c, NVTXT_NVTX));
        cr_assert_eq(info->required & ~info->accepted, 0, "%s", info->name.data);
    }
}

Test(commands, are_found_by_their_exact_names) {
    for (unsigned c = 0; c < NVTXT_CMD_COUNT; c++) {
        struct nvtxt_slice name = nvtxt_commands[c].name;
        cr_assert_eq(strlen(name.data), name.len);
        cr_assert_eq(nvtxt_command_find(name), c);
        cr_assert_eq(nvtxt_command_find((struct nvtxt_slice){name.data, name.len - 1}),
                     NVTXT_CMD_COUNT);
    }
    cr_assert_eq(nvtxt_command_find(NVTXT_SLICE("marker")), NVTXT_CMD_COUNT);
    cr_assert_eq(nvtxt_command_find(NVTXT_SLICE("Markers")), NVTXT_CMD_COUNT);
    cr_assert_eq(nvtxt_command_find(NVTXT_SLICE("")), NVTXT_CMD_COUNT);
}

Test(arguments, are_found_by_their_exact_names) {
    for (unsigned a = 0; a < NVTXT_ARG_COUNT; a++) {
        struct nvtxt_slice name = nvtxt_args[a].name;
        cr_assert_eq(strlen(name.data), name.len);
        cr_assert_eq(nvtxt_arg_find(name), a);
    }
    cr_assert_eq(nvtxt_arg_find(NVTXT_SLICE("time")), NVTXT_ARG_COUNT);
    cr_assert_eq(nvtxt_arg_find(NVTXT_SLICE("Tim")), NVTXT_ARG_COUNT);
    cr_assert_eq(nvtxt_arg_find(NVTXT_SLICE("")), NVTXT_ARG_COUNT);
}

Test(arguments, have_the_types_of_the_page) {
    static const struct {
        const char *name;
        enum nvtxt_arg_type type;
    } types[] = {
        {"Time", NVTXT_TAKES_INTEGER},       {"Start", NVTXT_TAKES_INTEGER},
        {"End", NVTXT_TAKES_INTEGER},        {"TimeBase", NVTXT_TAKES_STRING},
        {"ProcessId", NVTXT_TAKES_INTEGER},  {"ThreadId", NVTXT_TAKES_INTEGER},
        {"CategoryId", NVTXT_TAKES_INTEGER}, {"Color", NVTXT_TAKES_COLOR},
        {"Message", NVTXT_TAKES_TEXT},       {"Name", NVTXT_TAKES_TEXT},
        {"Payload", NVTXT_TAKES_PAYLOAD},    {"RangeId", NVTXT_TAKES_INTEGER},
        {"Domain", NVTXT_TAKES_TEXT},        {"Json", NVTXT_TAKES_JSON},
        {"Kind", NVTXT_TAKES_WORD},          {"Handle", NVTXT_TAKES_HANDLE},
    };
    cr_assert_eq(sizeof(types) / sizeof(types[0]), NVTXT_ARG_COUNT);
    for (size_t i = 0; i < NVTXT_ARG_COUNT; i++) {
        enum nvtxt_arg arg = nvtxt_arg_find(nvtxt_slice_of(types[i].name));
        cr_assert_neq(arg, NVTXT_ARG_COUNT, "%s", types[i].name);
        cr_assert_eq(nvtxt_args[arg].type, types[i].type, "%s", types[i].name);
    }
}

Test(definitions, lists_all_arguments_by_default) {
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

Test(definitions, keeps_the_order_in_which_arguments_are_added) {
    struct nvtxt_cmddef definition = {0};
    nvtxt_cmddef_add(&definition, NVTXT_ARG_PAYLOAD);
    nvtxt_cmddef_add(&definition, NVTXT_ARG_TIME);
    cr_assert_eq(definition.count, 2);
    cr_assert_eq(definition.args[0], NVTXT_ARG_PAYLOAD);
    cr_assert_eq(definition.args[1], NVTXT_ARG_TIME);
    cr_assert_eq(definition.listed,
                 nvtxt_arg_bit(NVTXT_ARG_PAYLOAD) | nvtxt_arg_bit(NVTXT_ARG_TIME));
}
