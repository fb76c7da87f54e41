// SPDX-License-Identifier: Apache-2.0
//
// A key's row says where its field is and of which type: setting, copying and comparing go through
// it, so no function here knows a key by name. Numbers are read digit by digit, so that one that is
// too large is seen.
#include "protocol/conf/keys.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/base/origin.h"
#include "protocol/base/scan.h"

#define MIB (INT64_C(1) << 20)
#define DAY_MS INT64_C(86400000)

// ---- Values -------------------------------------------------------------------------------------

const struct nvtxt_unit nvtxt_conf_sizes[] = {
    {"", 1}, {"K", 1024}, {"M", MIB}, {"G", 1024 * MIB}, {NULL, 0}};
const struct nvtxt_unit nvtxt_conf_durations[] = {
    {"", 1000}, {"ms", 1}, {"s", 1000}, {"min", 60000}, {"h", 3600000}, {"d", DAY_MS}, {NULL, 0}};
const struct nvtxt_unit nvtxt_conf_plain[] = {{"", 1}, {NULL, 0}};

bool nvtxt_conf_number(const char *text, const struct nvtxt_unit *units, int64_t *number) {
    struct nvtxt_scan scan = nvtxt_scan(nvtxt_slice_of(text));
    struct nvtxt_slice digits = nvtxt_scan_take_run(&scan, NVTXT_CHAR_DIGIT);
    uint64_t value;
    if (digits.len == 0 || !nvtxt_decimal_value(digits, &value) || value > INT64_MAX) {
        return false;
    }
    const char *at = scan.at + strspn(scan.at, " ");
    for (; units->name; units++) {
        if (strcmp(at, units->name) == 0) {
            return !__builtin_mul_overflow((int64_t)value, units->factor, number);
        }
    }
    return false;
}

int nvtxt_conf_set_choice(int64_t *field, const char *choices, const char *value, char *why,
                          size_t size) {
    size_t len = strlen(value);
    int64_t place = 0;
    for (const char *at = choices; at; place++) {
        size_t word = strcspn(at, "|");
        if (word == len && memcmp(at, value, len) == 0) {
            *field = place;
            return 0;
        }
        at = at[word] ? at + word + 1 : NULL;
    }
    snprintf(why, size, "one of %s is expected", choices);
    return NVTXT_WRONG;
}

int nvtxt_conf_set_text(char **field, const char *value, bool adds) {
    bool joins = adds && *value && *field && **field;
    size_t before = joins ? strlen(*field) + 1 : 0, len = strlen(value) + 1;
    char *text = malloc(before + len);
    if (!text) {
        return nvtxt_origin(-ENOMEM);
    }
    if (joins) {
        memcpy(text, *field, before - 1);
        text[before - 1] = '\n';
    }
    memcpy(text + before, value, len);
    free(*field);
    *field = text;
    return 0;
}

static int set_number(int64_t *field, const struct nvtxt_conf_key *key, const char *value,
                      char *why, size_t size) {
    const struct nvtxt_unit *units = key->type == NVTXT_CONF_SIZE       ? nvtxt_conf_sizes
                                     : key->type == NVTXT_CONF_DURATION ? nvtxt_conf_durations
                                                                        : nvtxt_conf_plain;
    int64_t number;
    bool good =
        nvtxt_conf_number(value, units, &number) || (key->read_ms && key->read_ms(value, &number));
    if (good && number >= key->min && number <= key->max) {
        *field = number;
        return 0;
    }
    if (key->type == NVTXT_CONF_SIZE) {
        snprintf(why, size, "a size from %" PRId64 " to %" PRId64 " bytes is expected, as in 16M",
                 key->min, key->max);
    } else if (key->type == NVTXT_CONF_DURATION) {
        snprintf(why, size,
                 "a time from %" PRId64 " ms to %" PRId64 " s is expected, as in 100ms or 10s",
                 key->min, key->max / 1000);
    } else {
        snprintf(why, size, "a number from %" PRId64 " to %" PRId64 " is expected", key->min,
                 key->max);
    }
    return NVTXT_WRONG;
}

// ---- A share: two numbers in one ----------------------------------------------------------------

#define SHARE_PERCENTS 128

struct nvtxt_conf_share nvtxt_conf_share(int64_t value) {
    return (struct nvtxt_conf_share){.percent = value % SHARE_PERCENTS,
                                     .bytes = value / SHARE_PERCENTS};
}

static int set_share(int64_t *field, const struct nvtxt_conf_key *key, const char *value, char *why,
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
        return NVTXT_WRONG;
    }
    *field = bytes * SHARE_PERCENTS + percent;
    return 0;
}

static int set_mode(int64_t *field, const struct nvtxt_conf_key *key, const char *value, char *why,
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
        return NVTXT_WRONG;
    }
    *field = by_default ? -1 : mode;
    return 0;
}

// ---- The row of a key ---------------------------------------------------------------------------

static bool is_text(const struct nvtxt_conf_key *key) {
    return key->type <= NVTXT_CONF_PATHS;
}

static bool is_list(const struct nvtxt_conf_key *key) {
    return key->type == NVTXT_CONF_TEXTS || key->type == NVTXT_CONF_PATHS;
}

bool nvtxt_conf_is_path(const struct nvtxt_conf_key *key) {
    return key->type == NVTXT_CONF_PATH || key->type == NVTXT_CONF_PATHS;
}

static void *field_of(const void *values, const struct nvtxt_conf_key *key) {
    return (char *)values + key->offset;
}

static int set_text(char **field, const struct nvtxt_conf_key *key, const char *value, char *why,
                    size_t size) {
    bool clears = is_list(key) && !*value;
    if (!clears && key->is_good && !key->is_good(value)) {
        snprintf(why, size, "%s is expected", key->wanted);
        return NVTXT_WRONG;
    }
    return nvtxt_conf_set_text(field, value, is_list(key));
}

int nvtxt_conf_set(void *values, const struct nvtxt_conf_key *key, const char *value, char *why,
                   size_t size) {
    void *field = field_of(values, key);
    switch (key->type) {
    case NVTXT_CONF_TEXT:
    case NVTXT_CONF_PATH:
    case NVTXT_CONF_TEXTS:
    case NVTXT_CONF_PATHS:
        return set_text(field, key, value, why, size);
    case NVTXT_CONF_CHOICE:
        if (!*value && !*key->initial) {
            *(int64_t *)field = -1;
            return 0;
        }
        return nvtxt_conf_set_choice(field, key->choices, value, why, size);
    case NVTXT_CONF_INTEGER:
    case NVTXT_CONF_SIZE:
    case NVTXT_CONF_DURATION:
        return set_number(field, key, value, why, size);
    case NVTXT_CONF_MODE:
        return set_mode(field, key, value, why, size);
    case NVTXT_CONF_SHARE:
        return set_share(field, key, value, why, size);
    }
    assert(!"a type of a key");
    return NVTXT_WRONG;
}

bool nvtxt_conf_may_be_empty(const struct nvtxt_conf_key *key) {
    return !nvtxt_conf_is_path(key) && key->type != NVTXT_CONF_DURATION &&
           !(key->is_good && !is_list(key));
}

bool nvtxt_conf_differs(const void *a, const void *b, const struct nvtxt_conf_key *key) {
    const void *left = field_of(a, key), *right = field_of(b, key);
    if (is_text(key)) {
        return strcmp(*(char *const *)left, *(char *const *)right) != 0;
    }
    return *(const int64_t *)left != *(const int64_t *)right;
}

int nvtxt_conf_copy(void *to, const void *from, const struct nvtxt_conf_key *key) {
    void *field = field_of(to, key);
    const void *value = field_of(from, key);
    if (is_text(key)) {
        return nvtxt_conf_set_text(field, *(char *const *)value, false);
    }
    *(int64_t *)field = *(const int64_t *)value;
    return 0;
}

// ---- The table ----------------------------------------------------------------------------------

const struct nvtxt_conf_key *nvtxt_conf_find(const struct nvtxt_conf_table *table,
                                             const char *name) {
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].name, name) == 0) {
            return &table->keys[i];
        }
    }
    return NULL;
}

static const char *key_name(const void *context, size_t index) {
    const struct nvtxt_conf_table *table = context;
    return index < table->count ? table->keys[index].name : NULL;
}

const char *nvtxt_conf_near(const struct nvtxt_conf_table *table, const char *name) {
    return nvtxt_near(nvtxt_slice_of(name), key_name, table);
}

int nvtxt_conf_init(const struct nvtxt_conf_table *table, void *values) {
    char why[128];
    int r = 0;
    for (size_t i = 0; r == 0 && i < table->count; i++) {
        r = nvtxt_conf_set(values, &table->keys[i], table->keys[i].initial, why, sizeof(why));
    }
    return r < 0 ? r : 0;
}

void nvtxt_conf_deinit(const struct nvtxt_conf_table *table, void *values) {
    for (size_t i = 0; i < table->count; i++) {
        if (is_text(&table->keys[i])) {
            char **field = field_of(values, &table->keys[i]);
            free(*field);
            *field = NULL;
        }
    }
}
