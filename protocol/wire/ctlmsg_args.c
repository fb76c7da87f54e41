// SPDX-License-Identifier: Apache-2.0
//
// Each member of a request is looked up in the table and its value compared with the row; then each
// required row is looked up in the request. The first thing that is wrong becomes the sentence.
#include "protocol/wire/ctlmsg_args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

#define NAME_BYTES 64 // the rest of a longer unknown name is cut off

static const struct nvtxt_ctl_arg *find_arg(const struct nvtxt_ctl_arg *args, const char *name) {
    for (; args && args->name; args++) {
        if (strcmp(args->name, name) == 0) {
            return args;
        }
    }
    return NULL;
}

static bool is_word(const char *words, const char *word) {
    size_t len = strcspn(word, "|");
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        if (len > 0 && !word[len] && strncmp(at, word, len) == 0 && (at[len] == '|' || !at[len])) {
            return true;
        }
    }
    return false;
}

static bool is_in_range(const struct nvtxt_ctl_arg *arg, int64_t value) {
    return value >= arg->min && value <= arg->max;
}

static bool fits(const struct nvtxt_ctl_arg *arg, const json_t *value) {
    if (arg->type == NVTXT_CTL_INTEGER) {
        return json_is_integer(value) && is_in_range(arg, json_integer_value(value));
    }
    if (!json_is_string(value)) {
        return false;
    }
    return arg->words ? is_word(arg->words, json_string_value(value))
                      : is_in_range(arg, (int64_t)json_string_length(value));
}

static int say_wrong(const struct nvtxt_ctl_arg *arg, char *why, size_t size) {
    if (arg->words) {
        snprintf(why, size, "\"%s\" must be one of %s", arg->name, arg->words);
    } else if (arg->type == NVTXT_CTL_STRING) {
        snprintf(why, size, "\"%s\" must be a string of %" PRId64 " to %" PRId64 " bytes",
                 arg->name, arg->min, arg->max);
    } else {
        snprintf(why, size, "\"%s\" must be an integer from %" PRId64 " to %" PRId64, arg->name,
                 arg->min, arg->max);
    }
    return 1;
}

// The name comes from the peer: what is not printable ASCII is shown as '?'.
static int say_unknown(const char *name, char *why, size_t size) {
    char shown[NAME_BYTES + 1];
    size_t len = 0;
    for (; len < NAME_BYTES && name[len]; len++) {
        shown[len] = nvtxt_is_printable(name[len]) ? name[len] : '?';
    }
    shown[len] = '\0';
    snprintf(why, size, "the command takes no argument \"%s\"; \"help\" lists what it takes",
             shown);
    return 1;
}

int nvtxt_ctl_args_check(const json_t *request, const struct nvtxt_ctl_arg *args, char *why,
                         size_t size) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)request, name, value) {
        if (strcmp(name, "id") == 0 || strcmp(name, "command") == 0) {
            continue;
        }
        const struct nvtxt_ctl_arg *arg = find_arg(args, name);
        if (!arg) {
            return say_unknown(name, why, size);
        }
        if (!fits(arg, value)) {
            return say_wrong(arg, why, size);
        }
    }
    for (const struct nvtxt_ctl_arg *arg = args; arg && arg->name; arg++) {
        if (arg->required && !json_object_get(request, arg->name)) {
            snprintf(why, size, "the argument \"%s\" is missing", arg->name);
            return 1;
        }
    }
    return 0;
}

int64_t nvtxt_ctl_integer(const json_t *request, const char *name, int64_t otherwise) {
    const json_t *value = json_object_get(request, name);
    return value ? json_integer_value(value) : otherwise;
}

const char *nvtxt_ctl_string(const json_t *request, const char *name) {
    return json_string_value(json_object_get(request, name));
}

const char *nvtxt_ctl_type_name(enum nvtxt_ctl_type type) {
    return type == NVTXT_CTL_INTEGER ? "integer" : "string";
}
