// SPDX-License-Identifier: Apache-2.0
//
// Arguments of control commands: a table says what a command takes. A request is checked against it
// before the command gets it, so a command never reads a value of a wrong type.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nvtxt_ctl_type { NVTXT_CTL_INTEGER, NVTXT_CTL_STRING };

// A table of them ends with a row whose name is NULL.
struct nvtxt_ctl_arg {
    const char *name;
    enum nvtxt_ctl_type type;
    bool required;
    int64_t min, max;  // INTEGER: its range; STRING: its bytes, unless `words` are given
    const char *words; // STRING: "a|b|c", one of which it must be; NULL: any
};

// Returns 0, or 1 with a sentence that names the argument in `why`. `args` NULL: none are taken.
int nvtxt_ctl_args_check(const json_t *request, const struct nvtxt_ctl_arg *args, char *why,
                         size_t size);

// An argument of a request that was checked, or what is meant when it is not given.
int64_t nvtxt_ctl_integer(const json_t *request, const char *name, int64_t otherwise);
const char *nvtxt_ctl_string(const json_t *request, const char *name); // borrowed; NULL: not given

const char *nvtxt_ctl_type_name(enum nvtxt_ctl_type type);
