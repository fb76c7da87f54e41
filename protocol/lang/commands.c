// SPDX-License-Identifier: Apache-2.0
//
// Two flat tables, of commands and of arguments, and searches from their first row: they are too
// short for anything faster. The order of a command's arguments is its default definition. What is
// not in its set of required arguments is optional.
#include "protocol/lang/commands.h"

#define BIT(arg) (1u << NVTXT_ARG_##arg)
#define ATTRIBUTES                                                                                 \
    NVTXT_ARG_TIME_BASE, NVTXT_ARG_PROCESS_ID, NVTXT_ARG_THREAD_ID, NVTXT_ARG_CATEGORY_ID,         \
        NVTXT_ARG_COLOR, NVTXT_ARG_MESSAGE, NVTXT_ARG_PAYLOAD
#define ATTRIBUTE_BITS                                                                             \
    (BIT(TIME_BASE) | BIT(PROCESS_ID) | BIT(THREAD_ID) | BIT(CATEGORY_ID) | BIT(COLOR) |           \
     BIT(MESSAGE) | BIT(PAYLOAD))
#define WHERE NVTXT_ARG_TIME_BASE, NVTXT_ARG_PROCESS_ID, NVTXT_ARG_THREAD_ID
#define WHERE_BITS (BIT(TIME_BASE) | BIT(PROCESS_ID) | BIT(THREAD_ID))

#define NAME(text)                                                                                 \
    { text, sizeof(text) - 1 }

const struct nvtxt_command_info nvtxt_commands[NVTXT_CMD_COUNT] = {
    [NVTXT_CMD_SET_FILE_DISPLAY_NAME] =
        {
            .name = NAME("SetFileDisplayName"),
            .arg_count = 1,
            .args = {NVTXT_ARG_NAME},
            .required = BIT(NAME),
            .accepted = BIT(NAME),
        },
    [NVTXT_CMD_MARKER] =
        {
            .name = NAME("Marker"),
            .arg_count = 8,
            .args = {NVTXT_ARG_TIME, ATTRIBUTES},
            .required = BIT(TIME),
            .accepted = BIT(TIME) | ATTRIBUTE_BITS,
        },
    [NVTXT_CMD_RANGE_PUSH] =
        {
            .name = NAME("RangePush"),
            .arg_count = 8,
            .args = {NVTXT_ARG_TIME, ATTRIBUTES},
            .required = BIT(TIME),
            .accepted = BIT(TIME) | ATTRIBUTE_BITS,
        },
    [NVTXT_CMD_RANGE_POP] =
        {
            .name = NAME("RangePop"),
            .arg_count = 4,
            .args = {NVTXT_ARG_TIME, WHERE},
            .required = BIT(TIME),
            .accepted = BIT(TIME) | WHERE_BITS,
        },
    [NVTXT_CMD_RANGE_START_END] =
        {
            .name = NAME("RangeStartEnd"),
            .arg_count = 9,
            .args = {NVTXT_ARG_START, NVTXT_ARG_END, ATTRIBUTES},
            .required = BIT(START) | BIT(END),
            .accepted = BIT(START) | BIT(END) | ATTRIBUTE_BITS,
        },
    [NVTXT_CMD_RANGE_START] =
        {
            .name = NAME("RangeStart"),
            .arg_count = 9,
            .args = {NVTXT_ARG_TIME, NVTXT_ARG_RANGE_ID, ATTRIBUTES},
            .required = BIT(TIME) | BIT(RANGE_ID),
            .accepted = BIT(TIME) | BIT(RANGE_ID) | ATTRIBUTE_BITS,
        },
    [NVTXT_CMD_RANGE_END] =
        {
            .name = NAME("RangeEnd"),
            .arg_count = 5,
            .args = {NVTXT_ARG_TIME, NVTXT_ARG_RANGE_ID, WHERE},
            .required = BIT(TIME) | BIT(RANGE_ID),
            .accepted = BIT(TIME) | BIT(RANGE_ID) | WHERE_BITS,
        },
    [NVTXT_CMD_SET_CATEGORY_NAME] =
        {
            .name = NAME("SetCategoryName"),
            .arg_count = 2,
            .args = {NVTXT_ARG_CATEGORY_ID, NVTXT_ARG_NAME},
            .required = BIT(CATEGORY_ID) | BIT(NAME),
            .accepted = BIT(CATEGORY_ID) | BIT(NAME),
        },
    [NVTXT_CMD_SET_THREAD_NAME] =
        {
            .name = NAME("SetThreadName"),
            .arg_count = 3,
            .args = {NVTXT_ARG_PROCESS_ID, NVTXT_ARG_THREAD_ID, NVTXT_ARG_NAME},
            .required = BIT(THREAD_ID) | BIT(NAME),
            .accepted = BIT(PROCESS_ID) | BIT(THREAD_ID) | BIT(NAME),
        },
    [NVTXT_CMD_SET_PROCESS_NAME] =
        {
            .name = NAME("SetProcessName"),
            .arg_count = 2,
            .args = {NVTXT_ARG_PROCESS_ID, NVTXT_ARG_NAME},
            .required = BIT(NAME),
            .accepted = BIT(PROCESS_ID) | BIT(NAME),
        },
};

const struct nvtxt_arg_info nvtxt_args[NVTXT_ARG_COUNT] = {
    [NVTXT_ARG_TIME] = {NAME("Time"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_START] = {NAME("Start"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_END] = {NAME("End"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_RANGE_ID] = {NAME("RangeId"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_TIME_BASE] = {NAME("TimeBase"), NVTXT_TAKES_STRING},
    [NVTXT_ARG_PROCESS_ID] = {NAME("ProcessId"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_THREAD_ID] = {NAME("ThreadId"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_CATEGORY_ID] = {NAME("CategoryId"), NVTXT_TAKES_INTEGER},
    [NVTXT_ARG_COLOR] = {NAME("Color"), NVTXT_TAKES_COLOR},
    [NVTXT_ARG_MESSAGE] = {NAME("Message"), NVTXT_TAKES_TEXT},
    [NVTXT_ARG_PAYLOAD] = {NAME("Payload"), NVTXT_TAKES_PAYLOAD},
    [NVTXT_ARG_NAME] = {NAME("Name"), NVTXT_TAKES_TEXT},
};

enum nvtxt_command nvtxt_command_find(struct nvtxt_slice name) {
    int command = 0;
    while (command < NVTXT_CMD_COUNT && !nvtxt_slice_equal(name, nvtxt_commands[command].name)) {
        command++;
    }
    return (enum nvtxt_command)command;
}

enum nvtxt_arg nvtxt_arg_find(struct nvtxt_slice name) {
    int arg = 0;
    while (arg < NVTXT_ARG_COUNT && !nvtxt_slice_equal(name, nvtxt_args[arg].name)) {
        arg++;
    }
    return (enum nvtxt_arg)arg;
}

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
