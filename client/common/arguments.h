// SPDX-License-Identifier: Apache-2.0
//
// The command line of a client as a table: a row names an option and the field that it sets. A
// value that is not plain has a function of its own. A message says what a wrong value should have
// been.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "protocol/lang/timebase.h"

enum arguments_kind {
    ARGUMENTS_END,     // of a table
    ARGUMENTS_FLAG,    // bool; takes no value
    ARGUMENTS_TEXT,    // const char *; not empty where `wanted` says what it is
    ARGUMENTS_LIST,    // struct arguments_list; the same; the option may be repeated
    ARGUMENTS_NUMBER,  // int64_t
    ARGUMENTS_SECONDS, // int64_t of milliseconds
    ARGUMENTS_BYTES,   // uint64_t, up to INT64_MAX
    ARGUMENTS_PID,     // uint32_t, a ProcessId
    ARGUMENTS_OTHER,   // what `take` makes of it
    ARGUMENTS_GROUP,   // no option: the rows of `group`, for the struct that is the field
};

#define ARGUMENTS_A_PID "a number from 0 to 16777215" // NVTXT_ID_MAX

// A value for a row's `take`.
struct arguments_value {
    const struct arguments_row *row;
    void *field;
    struct term *term;
    const char *text;
};

struct arguments_row {
    const char *name; // without dashes; NULL: it has a letter only
    char letter;      // 0: none; messages name the option by it
    enum arguments_kind kind;
    size_t at;           // of the field in the struct of the values
    size_t has;          // of a bool that becomes true; 0: none
    const char *wanted;  // "--name takes …, not 'text'"
    int64_t least, most; // of numbers; `most` 0: INT64_MAX
    const char *alias;   // another name; NULL: none
    bool optional;       // a number may be left out; it is -1 then
    // Returns 0, an outcome, or ARGUMENTS_WRONG for what is not `wanted`.
    int (*take)(const struct arguments_value *value);
    const struct arguments_row *group;
};
#define ARGUMENTS_WRONG 256

struct arguments_list {
    const char **words; // owned; each borrowed
    size_t count;
};
int arguments_list_add(struct arguments_list *list, const char *word); // 0, or SYSTEM

struct arguments_parser {
    const struct arguments_row *rows;
    void *values; // the struct whose fields are set
    struct term *term;
    void (*print_help)(void);
    void (*print_help_of)(const void *values); // instead of it: what --help says depends on them
    bool hint; // the line about --help comes after wrong values, too
    // Takes a word that is no option, in its place. NULL: such words are moved after the options
    // and begin at `optind`.
    enum outcome (*take_word)(struct arguments_parser *parser, char *word);

    int letter;     // of the last option; 0: it has none
    bool dashes;    // set at the end: "--" was there
    uint64_t given; // bit I: the I-th row, those of groups counted, was there
};

// Takes the options, or prints --help or --version (ANSWERED). Words after "--" begin at `optind`.
enum outcome arguments_parse(struct arguments_parser *parser, int argc, char **argv);

// "--name", or "-n" for an option with a letter, into `out`; returns `out`.
#define ARGUMENTS_NAME_SIZE 32
const char *arguments_name(const struct arguments_row *row, char out[ARGUMENTS_NAME_SIZE]);

struct arguments_mapping {
    struct nvtxt_mapping mapping;
    bool has_ns_a, has_ns_b, has_nvtxt_a, has_nvtxt_b, has_freq;
};

// Decimal, or hexadecimal after 0x, as the language writes integers. False for anything else and
// for what does not fit.
bool arguments_int64(const char *text, int64_t *value);

// A ProcessId, 0 to NVTXT_ID_MAX.
bool arguments_pid(const char *text, uint32_t *pid);

// "2", "0.5" seconds as milliseconds, rounded up. False for anything else.
bool arguments_seconds(const char *text, int64_t *ms);

// "4194304", "4M" bytes, with K, M, G or T for powers of 1024. False for anything else and for what
// does not fit.
bool arguments_bytes(const char *text, uint64_t *bytes);

// Their options, for a group. The spellings with an underscore are those of Nsight Systems'
// ImportNvtxt.
extern const struct arguments_row arguments_mapping_rows[];
int arguments_take_mode(const struct arguments_value *value);
bool arguments_mapping_given(const struct arguments_mapping *mapping); // any of them

// Checks that all options of the mode are there, and no others. A stream (`live`) has no smallest
// time: its nvtxt_a and nvtxt_b must be given.
enum outcome arguments_check_mapping(const struct arguments_mapping *mapping, struct term *term,
                                     bool live);

// True when nvtxt_a or nvtxt_b must be found in the file.
bool arguments_mapping_needs_times(const struct arguments_mapping *mapping);

// The second line of an option error, after the one that says what is wrong. Returns USAGE.
enum outcome arguments_refuse(const struct term *term);
