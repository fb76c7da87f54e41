// SPDX-License-Identifier: Apache-2.0
//
// Two flat tables, of commands and of arguments, and searches from their first row: they are too
// short for anything faster. The order of a command's first arguments is its default definition;
// those of the extension `nvtx` stand after them. What is not in its set of required arguments is
// optional.
#include "protocol/lang/commands.h"

#include <string.h>

#define BIT(arg) (1u << NVTXT_ARG_##arg)
#define ATTRIBUTES                                                                                 \
    NVTXT_ARG_TIME_BASE, NVTXT_ARG_PROCESS_ID, NVTXT_ARG_THREAD_ID, NVTXT_ARG_CATEGORY_ID,         \
        NVTXT_ARG_COLOR, NVTXT_ARG_MESSAGE, NVTXT_ARG_PAYLOAD
#define ATTRIBUTE_BITS                                                                             \
    (BIT(TIME_BASE) | BIT(PROCESS_ID) | BIT(THREAD_ID) | BIT(CATEGORY_ID) | BIT(COLOR) |           \
     BIT(MESSAGE) | BIT(PAYLOAD))
#define WHERE NVTXT_ARG_TIME_BASE, NVTXT_ARG_PROCESS_ID, NVTXT_ARG_THREAD_ID
#define WHERE_BITS (BIT(TIME_BASE) | BIT(PROCESS_ID) | BIT(THREAD_ID))

#define DOMAIN_JSON NVTXT_ARG_DOMAIN, NVTXT_ARG_JSON
#define DOMAIN_JSON_BITS (BIT(DOMAIN) | BIT(JSON))

#define NAME(text)                                                                                 \
    { text, sizeof(text) - 1 }

const struct nvtxt_command_info nvtxt_commands[NVTXT_CMD_COUNT] =
    {
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
                .nvtx_count = 2,
                .args = {NVTXT_ARG_TIME, ATTRIBUTES, DOMAIN_JSON},
                .required = BIT(TIME),
                .accepted = BIT(TIME) | ATTRIBUTE_BITS,
                .nvtx_accepted = DOMAIN_JSON_BITS,
            },
        [NVTXT_CMD_RANGE_PUSH] =
            {
                .name = NAME("RangePush"),
                .arg_count = 8,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_TIME, ATTRIBUTES, DOMAIN_JSON},
                .required = BIT(TIME),
                .accepted = BIT(TIME) | ATTRIBUTE_BITS,
                .nvtx_accepted = DOMAIN_JSON_BITS,
            },
        [NVTXT_CMD_RANGE_POP] =
            {
                .name = NAME("RangePop"),
                .arg_count = 4,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_TIME, WHERE, DOMAIN_JSON},
                .required = BIT(TIME),
                .accepted = BIT(TIME) | WHERE_BITS,
                .nvtx_accepted = DOMAIN_JSON_BITS,
            },
        [NVTXT_CMD_RANGE_START_END] =
            {
                .name = NAME("RangeStartEnd"),
                .arg_count = 9,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_START, NVTXT_ARG_END, ATTRIBUTES, DOMAIN_JSON},
                .required = BIT(START) | BIT(END),
                .accepted = BIT(START) | BIT(END) | ATTRIBUTE_BITS,
                .nvtx_accepted = DOMAIN_JSON_BITS,
            },
        [NVTXT_CMD_RANGE_START] =
            {
                .name = NAME("RangeStart"),
                .arg_count = 9,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_TIME, NVTXT_ARG_RANGE_ID, ATTRIBUTES, DOMAIN_JSON},
                .required = BIT(TIME) | BIT(RANGE_ID),
                .accepted = BIT(TIME) | BIT(RANGE_ID) | ATTRIBUTE_BITS,
                .nvtx_accepted = DOMAIN_JSON_BITS,
            },
        [NVTXT_CMD_RANGE_END] =
            {
                .name = NAME("RangeEnd"),
                .arg_count = 5,
                .nvtx_count = 1,
                .args = {NVTXT_ARG_TIME, NVTXT_ARG_RANGE_ID, WHERE, NVTXT_ARG_JSON},
                .required = BIT(TIME) | BIT(RANGE_ID),
                .accepted = BIT(TIME) | BIT(RANGE_ID) | WHERE_BITS,
                .nvtx_accepted = BIT(JSON),
            },
        [NVTXT_CMD_SET_CATEGORY_NAME] =
            {
                .name = NAME("SetCategoryName"),
                .arg_count = 2,
                .nvtx_count = 1,
                .args = {NVTXT_ARG_CATEGORY_ID, NVTXT_ARG_NAME, NVTXT_ARG_DOMAIN},
                .required = BIT(CATEGORY_ID) | BIT(NAME),
                .accepted = BIT(CATEGORY_ID) | BIT(NAME),
                .nvtx_accepted = BIT(DOMAIN),
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
        [NVTXT_CMD_SET_RESOURCE_NAME] =
            {
                .name = NAME("SetResourceName"),
                .nvtx = true,
                .arg_count = 3,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_KIND, NVTXT_ARG_HANDLE, NVTXT_ARG_NAME, NVTXT_ARG_DOMAIN,
                         NVTXT_ARG_PROCESS_ID},
                .required = BIT(KIND) | BIT(HANDLE) | BIT(NAME),
                .accepted = BIT(KIND) | BIT(HANDLE) | BIT(NAME),
                .nvtx_accepted = BIT(DOMAIN) | BIT(PROCESS_ID),
            },
        [NVTXT_CMD_SET_COUNTER] =
            {
                .name = NAME("SetCounter"),
                .nvtx = true,
                .arg_count = 1,
                .nvtx_count = 2,
                .args = {NVTXT_ARG_NAME, DOMAIN_JSON},
                .required = BIT(NAME),
                .accepted = BIT(NAME),
                .nvtx_accepted = DOMAIN_JSON_BITS,
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
    [NVTXT_ARG_DOMAIN] = {NAME("Domain"), NVTXT_TAKES_TEXT},
    [NVTXT_ARG_JSON] = {NAME("Json"), NVTXT_TAKES_JSON},
    [NVTXT_ARG_KIND] = {NAME("Kind"), NVTXT_TAKES_WORD},
    [NVTXT_ARG_HANDLE] = {NAME("Handle"), NVTXT_TAKES_HANDLE},
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

bool nvtxt_cmddef_equal(const struct nvtxt_cmddef *one, const struct nvtxt_cmddef *other) {
    return one->count == other->count && memcmp(one->args, other->args, one->count) == 0;
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
