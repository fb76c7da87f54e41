// SPDX-License-Identifier: Apache-2.0
//
// The keys of a program's configuration as a table, one row each: name, type, range, default. Files
// and options set the fields of one struct through it. The table and the struct are the program's.
// A function that sets a field returns 0, NVTXT_WRONG (`why` says what is expected, in `size`
// bytes), or -ENOMEM; the field changes only with 0.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/base/slice.h"

// A text is an owned char *, and "" when not given; all others are int64_t.
enum nvtxt_conf_type {
    NVTXT_CONF_TEXT,
    NVTXT_CONF_PATH,   // must be absolute in a file, but not on the command line
    NVTXT_CONF_TEXTS,  // each value adds a line, "" clears the list
    NVTXT_CONF_PATHS,  // the same, of absolute paths
    NVTXT_CONF_CHOICE, // a word of `choices`; the value is its place there, -1 a default of ""
    NVTXT_CONF_INTEGER,
    NVTXT_CONF_SIZE,     // bytes; K, M, G: powers of 1024
    NVTXT_CONF_DURATION, // milliseconds; ms, s, min, h, d; a bare number is seconds
    NVTXT_CONF_MODE,     // octal; "" is -1
    NVTXT_CONF_SHARE,    // a percentage, and a size that bounds it: 10, 10%, "10%,4G"
};

struct nvtxt_conf_key {
    const char *name;
    enum nvtxt_conf_type type;
    int change; // when a change of it applies, as the program has it
    size_t offset;
    int64_t min, max;    // PATH: `max` is its greatest length in bytes, 0: any
    const char *choices; // CHOICE: "full|normal"
    const char *initial; // the default, as a user would write it
    const char *topic;   // keys of one topic stand together
    const char *help;
    const char *option; // without dashes; NULL: it has none
    // Whether a text can be a value at all; NULL: any can. `wanted` says what is expected.
    bool (*is_good)(const char *value);
    const char *wanted;
    bool (*read_ms)(const char *text, int64_t *ms); // other ways to write a DURATION; NULL: none
};

struct nvtxt_conf_table {
    const struct nvtxt_conf_key *keys;
    size_t count;
    const char *no_value; // what is said of an option's empty value, where there can be none
};

// Sets all keys of a struct of zeros to their defaults. Returns 0 or -ENOMEM; needs the other one
// in both cases, which frees the texts.
int nvtxt_conf_init(const struct nvtxt_conf_table *table, void *values);
void nvtxt_conf_deinit(const struct nvtxt_conf_table *table, void *values);

// NULL when there is no such key. Names are matched exactly.
const struct nvtxt_conf_key *nvtxt_conf_find(const struct nvtxt_conf_table *table,
                                             const char *name);

// The name of the key that somebody meant who wrote this one; NULL when none is near.
const char *nvtxt_conf_near(const struct nvtxt_conf_table *table, const char *name);

int nvtxt_conf_set(void *values, const struct nvtxt_conf_key *key, const char *value, char *why,
                   size_t size);

bool nvtxt_conf_is_path(const struct nvtxt_conf_key *key);

// Whether an option's value may be "", which mostly comes from a variable that a script did not
// set.
bool nvtxt_conf_may_be_empty(const struct nvtxt_conf_key *key);

bool nvtxt_conf_differs(const void *a, const void *b, const struct nvtxt_conf_key *key);
int nvtxt_conf_copy(void *to, const void *from, const struct nvtxt_conf_key *key); // 0, -ENOMEM

// The two numbers in the value of a SHARE.
struct nvtxt_conf_share {
    int64_t percent;
    int64_t bytes; // upper bound; 0: none
};
struct nvtxt_conf_share nvtxt_conf_share(int64_t value);

// ---- Values without a row -----------------------------------------------------------------------

struct nvtxt_unit {
    const char *name;
    int64_t factor;
};

extern const struct nvtxt_unit nvtxt_conf_sizes[];     // bytes; K, M, G: powers of 1024
extern const struct nvtxt_unit nvtxt_conf_durations[]; // milliseconds; a bare number is seconds
extern const struct nvtxt_unit nvtxt_conf_plain[];     // no unit

// Reads digits, blanks or none, and one of the units, which a row without a name ends. Returns
// false for anything else and for a number that does not fit.
bool nvtxt_conf_number(const char *text, const struct nvtxt_unit *units, int64_t *number);

// The place of a word among `choices`: "full|normal".
int nvtxt_conf_set_choice(int64_t *field, const char *choices, const char *value, char *why,
                          size_t size);

// Replaces an owned text, or adds a line to it: `adds`, and neither of them is "". A field may be
// NULL.
int nvtxt_conf_set_text(char **field, const char *value, bool adds);
