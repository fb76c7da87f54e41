// SPDX-License-Identifier: Apache-2.0
//
// A key's row says where its field is and of which type: a number (int64_t) or an owned text.
// Setting, copying and comparing go through that row, so no function here knows a key by name but
// conf_check() and conf_limits().
#include "daemon/conf/conf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/near.h"
#include "protocol/conf/conf_value.h"

static bool is_text(const struct conf_key *key) {
    return key->type == CONF_TEXT || key->type == CONF_PATH || key->type == CONF_PATHS;
}

static void *field_of(const struct conf *config, const struct conf_key *key) {
    return (char *)config + key->offset;
}

static int set_number(int64_t *field, const struct conf_key *key, const char *value, char *why,
                      size_t size) {
    const struct nvtxt_unit *units = key->type == CONF_SIZE       ? nvtxt_conf_sizes
                                     : key->type == CONF_DURATION ? nvtxt_conf_durations
                                                                  : nvtxt_conf_plain;
    int64_t number;
    if (nvtxt_conf_number(value, units, &number) && number >= key->min && number <= key->max) {
        *field = number;
        return 0;
    }
    switch (key->type) {
    case CONF_SIZE:
        snprintf(why, size, "a size from %" PRId64 " to %" PRId64 " bytes is expected, as in 16M",
                 key->min, key->max);
        break;
    case CONF_DURATION:
        nvtxt_conf_expect_duration(key->min, key->max, why, size);
        break;
    default:
        snprintf(why, size, "a number from %" PRId64 " to %" PRId64 " is expected", key->min,
                 key->max);
    }
    return 1;
}

// ---- A share: two numbers in one ----------------------------------------------------------------

#define SHARE_PERCENTS 128

struct conf_share conf_share(int64_t value) {
    return (struct conf_share){.percent = value % SHARE_PERCENTS, .bytes = value / SHARE_PERCENTS};
}

static int set_share(int64_t *field, const struct conf_key *key, const char *value, char *why,
                     size_t size) {
    char text[64];
    int64_t percent = 0, bytes = 0;
    bool good = strlen(value) < sizeof(text);
    snprintf(text, sizeof(text), "%s", value);
    char *comma = strchr(text, ',');
    if (comma) {
        *comma++ = '\0';
        comma += strspn(comma, " ");
        good = good && nvtxt_conf_number(comma, nvtxt_conf_sizes, &bytes) && bytes > 0 &&
               bytes <= INT64_MAX / SHARE_PERCENTS - 1;
    }
    char *sign = strchr(text, '%');
    if (sign && sign[1 + strspn(sign + 1, " ")] == '\0') {
        *sign = '\0';
    }
    good = good && nvtxt_conf_number(text, nvtxt_conf_plain, &percent) && percent >= key->min &&
           percent <= key->max;
    if (!good) {
        snprintf(why, size,
                 "a percentage from %" PRId64 " to %" PRId64
                 " is expected, with or without a size that bounds it, as in 10%% or 10%%,4G",
                 key->min, key->max);
        return 1;
    }
    *field = bytes * SHARE_PERCENTS + percent;
    return 0;
}

static int set_mode(int64_t *field, const struct conf_key *key, const char *value, char *why,
                    size_t size) {
    int64_t mode = 0;
    const char *at = value;
    for (; *at >= '0' && *at <= '7' && mode <= key->max; at++) {
        mode = mode * 8 + (*at - '0');
    }
    bool by_default = !*value && !*key->initial;
    if (!by_default && (*at || !*value || mode < key->min || mode > key->max)) {
        snprintf(why, size, "an octal mode from %04o to %04o is expected, as in 0660",
                 (unsigned)key->min, (unsigned)key->max);
        return 1;
    }
    *field = by_default ? -1 : mode;
    return 0;
}

int conf_set(struct conf *config, const struct conf_key *key, const char *value, char *why,
             size_t size) {
    void *field = field_of(config, key);
    if (is_text(key)) {
        return nvtxt_conf_set_text(field, value, key->type == CONF_PATHS);
    }
    if (key->type == CONF_CHOICE) {
        return nvtxt_conf_set_choice(field, key->choices, value, why, size);
    }
    if (key->type == CONF_SHARE) {
        return set_share(field, key, value, why, size);
    }
    if (key->type == CONF_MODE) {
        return set_mode(field, key, value, why, size);
    }
    return set_number(field, key, value, why, size);
}

const struct conf_key *conf_find(const char *name) {
    for (size_t i = 0; i < conf_key_count; i++) {
        if (strcmp(conf_keys[i].name, name) == 0) {
            return &conf_keys[i];
        }
    }
    return NULL;
}

static const char *key_name(const void *context, size_t index) {
    (void)context;
    return index < conf_key_count ? conf_keys[index].name : NULL;
}

const char *conf_near(const char *name) {
    return nvtxt_near(nvtxt_slice_of(name), key_name, NULL);
}

int conf_init(struct conf *config) {
    char why[128];
    *config = (struct conf){0};
    for (size_t i = 0; i < conf_key_count; i++) {
        int r = conf_set(config, &conf_keys[i], conf_keys[i].initial, why, sizeof(why));
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

void conf_deinit(struct conf *config) {
    for (size_t i = 0; i < conf_key_count; i++) {
        if (is_text(&conf_keys[i])) {
            free(*(char **)field_of(config, &conf_keys[i]));
        }
    }
    *config = (struct conf){0};
}

int conf_check(const struct conf *config, const struct conf_key *keys[2], char *why, size_t size) {
    if (*config->socket && strcmp(config->socket, config->control_socket) == 0) {
        keys[0] = conf_find("Socket");
        keys[1] = conf_find("ControlSocket");
        snprintf(why, size, "Socket and ControlSocket are the same; they must differ");
        return 1;
    }
    if (config->max_line > config->memory_budget) {
        keys[0] = conf_find("MaxLine");
        keys[1] = conf_find("MemoryBudget");
        snprintf(why, size, "MaxLine (%" PRId64 ") is larger than MemoryBudget (%" PRId64 ")",
                 config->max_line, config->memory_budget);
        return 1;
    }
    if (config->keep_size > 0 && config->rotate_size > config->keep_size) {
        keys[0] = conf_find("RotateSize");
        keys[1] = conf_find("KeepSize");
        snprintf(why, size, "RotateSize (%" PRId64 ") is larger than KeepSize (%" PRId64 ")",
                 config->rotate_size, config->keep_size);
        return 1;
    }
    return 0;
}

bool conf_differs(const struct conf *a, const struct conf *b, const struct conf_key *key) {
    const void *left = field_of(a, key), *right = field_of(b, key);
    if (is_text(key)) {
        return strcmp(*(char *const *)left, *(char *const *)right) != 0;
    }
    return *(const int64_t *)left != *(const int64_t *)right;
}

int conf_copy(struct conf *to, const struct conf *from, const struct conf_key *key) {
    void *field = field_of(to, key);
    const void *value = field_of(from, key);
    if (!is_text(key)) {
        *(int64_t *)field = *(const int64_t *)value;
        return 0;
    }
    char *copy = strdup(*(char *const *)value);
    if (!copy) {
        return -ENOMEM;
    }
    free(*(char **)field);
    *(char **)field = copy;
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
