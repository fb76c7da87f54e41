// SPDX-License-Identifier: Apache-2.0
//
// The table is made of the list in the header, so a command stands in one place only.
#include "client/report/commands.h"

#include <string.h>

#include "protocol/base/slice.h"

const struct report_command report_commands[] = {
#define X(bit, name, function, formats, words, least, most, what)                                  \
    {name, bit, formats, words, least, most, what, report_command_##function},
    REPORT_COMMANDS(X)
#undef X
        {0},
};

const struct report_command *report_command_find(const char *name) {
    for (const struct report_command *command = report_commands; command->name; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

static const char *name_of(const void *context, size_t index) {
    (void)context;
    return report_commands[index].name;
}

const char *report_command_near(const char *name) {
    return nvtxt_near(nvtxt_slice_of(name), name_of, NULL);
}
