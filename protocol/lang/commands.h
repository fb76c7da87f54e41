// SPDX-License-Identifier: Apache-2.0
//
// protocol/lang: the language (nvtxt(5)): tokens, statements, values and variables, time bases,
// colours, and the tables of commands and of diagnostics. Everything here is a constant table or
// works on memory of its caller, so any thread may call it. Nothing here does I/O or reads a clock.
// What a statement does is not here but in protocol/interp.
//
// THE table of the language: commands, their arguments and which of these are optional (nvtxt(5),
// "Commands" and "Arguments"). Parser, interpreter and manual use this one table.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "protocol/base/slice.h"

enum nvtxt_arg {
    NVTXT_ARG_TIME,
    NVTXT_ARG_START,
    NVTXT_ARG_END,
    NVTXT_ARG_RANGE_ID,
    NVTXT_ARG_TIME_BASE,
    NVTXT_ARG_PROCESS_ID,
    NVTXT_ARG_THREAD_ID,
    NVTXT_ARG_CATEGORY_ID,
    NVTXT_ARG_COLOR,
    NVTXT_ARG_MESSAGE,
    NVTXT_ARG_PAYLOAD,
    NVTXT_ARG_NAME,
    NVTXT_ARG_DOMAIN, // this and the following only with NVTXT_NVTX
    NVTXT_ARG_JSON,
    NVTXT_ARG_KIND,
    NVTXT_ARG_HANDLE,
    NVTXT_ARG_COUNT,
};

// What a session may ask for in its hello beside the language itself (nvtxt-protocol(7)). Bits.
enum nvtxt_extension {
    NVTXT_LEVELS = 1, // Payload takes an empty String, which is none
    NVTXT_NVTX = 2,   // domains, JSON, typed payloads, resources and counters
};

enum nvtxt_command {
    NVTXT_CMD_SET_FILE_DISPLAY_NAME,
    NVTXT_CMD_MARKER,
    NVTXT_CMD_RANGE_PUSH,
    NVTXT_CMD_RANGE_POP,
    NVTXT_CMD_RANGE_START_END,
    NVTXT_CMD_RANGE_START,
    NVTXT_CMD_RANGE_END,
    NVTXT_CMD_SET_CATEGORY_NAME,
    NVTXT_CMD_SET_THREAD_NAME,
    NVTXT_CMD_SET_PROCESS_NAME,
    NVTXT_CMD_SET_RESOURCE_NAME, // this and the following only with NVTXT_NVTX
    NVTXT_CMD_SET_COUNTER,
    NVTXT_CMD_COUNT,
};

// What an argument takes.
enum nvtxt_arg_type {
    NVTXT_TAKES_INTEGER,
    NVTXT_TAKES_STRING,
    NVTXT_TAKES_TEXT,    // String, or Integer as its decimal digits
    NVTXT_TAKES_COLOR,   // String or Integer
    NVTXT_TAKES_PAYLOAD, // Integer, or String of a decimal number
    NVTXT_TAKES_JSON,    // String of one JSON value, or an empty one
    NVTXT_TAKES_WORD,    // String that is a word
    NVTXT_TAKES_HANDLE,  // Integer, or String of 0x and 1 to 16 hexadecimal digits
};

#define NVTXT_COMMAND_ARGS 12 // more than any command takes

struct nvtxt_command_info {
    struct nvtxt_slice name;
    bool nvtx;                        // only with NVTXT_NVTX
    uint8_t arg_count;                // of the default definition
    uint8_t nvtx_count;               // arguments after these, only with NVTXT_NVTX
    uint16_t required;                // bit set of nvtxt_arg
    uint16_t accepted;                // bit set of nvtxt_arg
    uint16_t nvtx_accepted;           // bit set of those after arg_count
    uint8_t args[NVTXT_COMMAND_ARGS]; // in the order of the default definition, then the others
};

struct nvtxt_arg_info {
    struct nvtxt_slice name;
    enum nvtxt_arg_type type;
};

extern const struct nvtxt_command_info nvtxt_commands[NVTXT_CMD_COUNT];
extern const struct nvtxt_arg_info nvtxt_args[NVTXT_ARG_COUNT];

// Exact match; NVTXT_CMD_COUNT or NVTXT_ARG_COUNT when there is none.
enum nvtxt_command nvtxt_command_find(struct nvtxt_slice name);
enum nvtxt_arg nvtxt_arg_find(struct nvtxt_slice name);

static inline uint16_t nvtxt_arg_bit(unsigned arg) {
    return (uint16_t)(1u << arg);
}

// The arguments that the command takes, and how many of info->args these are.
static inline uint16_t nvtxt_command_accepts(const struct nvtxt_command_info *info,
                                             unsigned extensions) {
    return (uint16_t)(info->accepted | (extensions & NVTXT_NVTX ? info->nvtx_accepted : 0));
}

static inline unsigned nvtxt_command_arg_count(const struct nvtxt_command_info *info,
                                               unsigned extensions) {
    return info->arg_count + (extensions & NVTXT_NVTX ? info->nvtx_count : 0u);
}

// Whether a session with these extensions has the command.
static inline bool nvtxt_command_known(enum nvtxt_command command, unsigned extensions) {
    return command < NVTXT_CMD_COUNT &&
           (!nvtxt_commands[command].nvtx || (extensions & NVTXT_NVTX) != 0);
}

// ---- Definitions -------------------------------------------------------------------------------

// A definition: which arguments of a command its calls list, and in which order. The others are
// static: a call reads them from variables (nvtxt(5), "Instructions").
struct nvtxt_cmddef {
    uint8_t count;
    uint8_t args[NVTXT_COMMAND_ARGS]; // nvtxt_arg, in the order of the values
    uint16_t listed;                  // bit set of them
};

// The definition that holds until the source gives another: all arguments, in the table's order.
void nvtxt_cmddef_default(struct nvtxt_cmddef *definition, enum nvtxt_command command);

bool nvtxt_cmddef_equal(const struct nvtxt_cmddef *one, const struct nvtxt_cmddef *other);

// Adds an argument. The caller has checked that the command takes it and that it is not listed.
void nvtxt_cmddef_add(struct nvtxt_cmddef *definition, enum nvtxt_arg arg);
