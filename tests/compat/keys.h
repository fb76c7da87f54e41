// SPDX-License-Identifier: Apache-2.0
//
// What the programs that print facts share: the keys of a configuration, and lists of words, each
// word a fact of its own, so that a new one is no change of the others.
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/conf/keys.h"

// "mark|range": words of a thing that these names lead to.
static inline void print_words(const char *interface, const char *group, const char *name,
                               const char *member, const char *words) {
    while (words && *words) {
        size_t len = strcspn(words, "|");
        printf("%s\t%s %s%s%s %.*s: word\n", interface, group, name, *member ? " " : "", member,
               (int)len, words);
        words += len + (words[len] == '|');
    }
}

// Ends a line; `max` 0: any.
static inline void print_range(int64_t min, int64_t max) {
    if (max) {
        printf(", %" PRId64 " to %" PRId64, min, max);
    }
    puts("");
}

static inline void print_key(const char *file, const struct nvtxt_conf_key *key) {
    static const char *const types[] = {
        [NVTXT_CONF_TEXT] = "text",     [NVTXT_CONF_PATH] = "path",
        [NVTXT_CONF_TEXTS] = "texts",   [NVTXT_CONF_PATHS] = "paths",
        [NVTXT_CONF_CHOICE] = "choice", [NVTXT_CONF_INTEGER] = "integer",
        [NVTXT_CONF_SIZE] = "size",     [NVTXT_CONF_DURATION] = "duration",
        [NVTXT_CONF_MODE] = "mode",     [NVTXT_CONF_SHARE] = "share",
    };
    printf("conf\t%s %s: %s, default \"%s\"", file, key->name, types[key->type], key->initial);
    print_range(key->min, key->max);
    print_words("conf", file, key->name, "", key->choices);
}

static inline void print_keys(const char *file, const struct nvtxt_conf_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        print_key(file, &table->keys[i]);
    }
}
