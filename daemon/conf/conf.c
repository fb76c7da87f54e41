// SPDX-License-Identifier: Apache-2.0
//
// Only conf_check() and conf_limits() know a key by name; the rest goes through the table.
#include "daemon/conf/conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int conf_init(struct conf *config) {
    *config = (struct conf){0};
    return nvtxt_conf_init(&conf_table, config);
}

void conf_deinit(struct conf *config) {
    nvtxt_conf_deinit(&conf_table, config);
}

const struct nvtxt_conf_key *conf_find(const char *name) {
    return nvtxt_conf_find(&conf_table, name);
}

int conf_check(const struct conf *config, const struct nvtxt_conf_key *keys[2], char *why,
               size_t size) {
    if (*config->socket && strcmp(config->socket, config->control_socket) == 0) {
        keys[0] = conf_find("Socket");
        keys[1] = conf_find("ControlSocket");
        snprintf(why, size, "Socket and ControlSocket are the same; they must differ");
        return NVTXT_WRONG;
    }
    if (config->max_line > config->memory_budget) {
        keys[0] = conf_find("MaxLine");
        keys[1] = conf_find("MemoryBudget");
        snprintf(why, size, "MaxLine (%" PRId64 ") is larger than MemoryBudget (%" PRId64 ")",
                 config->max_line, config->memory_budget);
        return NVTXT_WRONG;
    }
    if (config->keep_size > 0 && config->rotate_size > config->keep_size) {
        keys[0] = conf_find("RotateSize");
        keys[1] = conf_find("KeepSize");
        snprintf(why, size, "RotateSize (%" PRId64 ") is larger than KeepSize (%" PRId64 ")",
                 config->rotate_size, config->keep_size);
        return NVTXT_WRONG;
    }
    return 0;
}

void conf_limits(const struct conf *config, struct nvtxt_limits *limits) {
    *limits = (struct nvtxt_limits){
        .line_bytes = (size_t)config->max_line,
        .variables = (size_t)config->max_variables,
        .variable_bytes = (size_t)config->max_variable_bytes,
        .name_bytes = (size_t)config->max_name_bytes,
        .push_depth = (size_t)config->max_push_depth,
        .open_ranges = (size_t)config->max_open_ranges,
        .open_threads = (size_t)config->max_open_threads,
        .open_bytes = (size_t)config->max_open_bytes,
        .waiting_names = (size_t)config->max_waiting_names,
        .diagnostics = (size_t)config->diagnostics_per_source,
    };
}

const char *conf_synchronous_name(const struct conf *config) {
    return config->synchronous == CONF_SYNCHRONOUS_NORMAL ? "normal" : "full";
}
