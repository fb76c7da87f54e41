// SPDX-License-Identifier: Apache-2.0
//
// The command line of a program as a table: a row names an option and the field that it sets. A
// value that is not plain has a function of its own; keys of a configuration are rows, too. What is
// wrong goes to the program, which has its own words for it: nothing is printed here.
#pragma once

#include "protocol/conf/keys.h"

enum nvtxt_option_kind {
    NVTXT_OPTION_END,     // of a table
    NVTXT_OPTION_FLAG,    // bool; takes no value
    NVTXT_OPTION_TEXT,    // const char *; not empty where `wanted` says what it is
    NVTXT_OPTION_LIST,    // struct nvtxt_option_list; the same; the option may be repeated
    NVTXT_OPTION_NUMBER,  // int64_t
    NVTXT_OPTION_SECONDS, // int64_t of milliseconds
    NVTXT_OPTION_BYTES,   // int64_t or uint64_t, up to INT64_MAX
    NVTXT_OPTION_PID,     // uint32_t, a ProcessId
    NVTXT_OPTION_OTHER,   // what `take` makes of it
    NVTXT_OPTION_KEY,     // the configuration, of which it sets `key`
    NVTXT_OPTION_GROUP,   // no option: the rows of `group`, for the struct that is the field
    NVTXT_OPTION_KEYS,    // no option: a row for each key of `keys` that is one, as above
};

#define NVTXT_OPTION_A_PID "a number from 0 to 16777215" // NVTXT_ID_MAX

// A value for a row's `take`.
struct nvtxt_option_value {
    const struct nvtxt_option *row;
    void *field;
    void *context; // as in struct nvtxt_options
    const char *text;
};

struct nvtxt_option {
    const char *name; // without dashes; NULL: it has a letter only
    char letter;      // 0: none
    enum nvtxt_option_kind kind;
    size_t at;           // of the field in the struct of the values
    size_t has;          // of a bool that becomes true; 0: none
    const char *wanted;  // "a number from 1 to 9"
    int64_t least, most; // of numbers; `most` 0: INT64_MAX
    const char *alias;   // another name; NULL: none
    bool optional;       // a number may be left out; it is -1 then
    bool early;          // it is taken before `prepare`, too
    // OTHER: returns 0, what ends the reading, NVTXT_WRONG for what is not `wanted`, or a
    // negative errno: memory is short. KEYS: hears of each value before it is set, and returns 0.
    int (*take)(const struct nvtxt_option_value *value);
    const struct nvtxt_option *group;
    const struct nvtxt_conf_table *keys;
    const struct nvtxt_conf_key *key;
};

struct nvtxt_option_fault {
    enum {
        NVTXT_OPTION_UNKNOWN, // or the beginning of several names
        NVTXT_OPTION_NO_VALUE,
        NVTXT_OPTION_HAS_VALUE, // and takes none
        NVTXT_OPTION_BAD_VALUE,
        NVTXT_OPTION_NO_MEMORY,
    } kind;
    int letter;       // as which it was written; 0: it was a name. Not of the last two kinds.
    const char *word; // of the command line. Not of the last two kinds.
    const char *name; // HAS_VALUE and NO_VALUE without a letter: its whole name
    const char *near; // UNKNOWN: the name that was meant, or NULL
    char names[512];  // UNKNOWN: those that the word begins, " '--a' '--b'"
    const struct nvtxt_option *row; // of the last two kinds
    const char *text;               // BAD_VALUE
    const char *why;                // BAD_VALUE of a key: what is expected, else NULL
};

#define NVTXT_OPTIONS_MOST 96 // rows of one program; nvtxt-report has the most

struct nvtxt_options {
    const struct nvtxt_option *rows;
    void *values;  // the struct whose fields are set
    void *context; // of the program
    char help;     // the letter of --help; 0: none
    // These return what ends the reading. Prints the answer to --help, or to --version:
    int (*answer)(struct nvtxt_options *options, bool help);
    int (*refuse)(struct nvtxt_options *options, const struct nvtxt_option_fault *fault);
    // Takes a word that is no option, in its place, or returns what ends the reading. NULL: such
    // words are moved after the options and begin at `optind`.
    int (*take_word)(struct nvtxt_options *options, char *word);
    // Reads the configuration that options override: comes after a first walk, which looks for
    // --help, for what no table has, and for early rows. Returns 0, or what ends the reading. NULL:
    // there is one walk.
    int (*prepare)(struct nvtxt_options *options);

    int letter;             // of the last option; 0: it has none
    bool dashes;            // set at the end: "--" was there
    unsigned __int128 seen; // bit I: the I-th row, those of groups counted, was there
};

// Takes the options. Returns 0 or what a function above returned. Words that were not taken begin
// at `optind`, those after "--" always.
int nvtxt_options_read(struct nvtxt_options *options, int argc, char **argv);

// What --version adds to the version: " (git 1a2b3c4)" in a program that was built in a checkout,
// with a "+" after the commit where files had changes; "" in one of a tarball.
const char *nvtxt_options_commit(void);

// "--name", or "-n" for an option with a letter, into `out`; returns `out`.
#define NVTXT_OPTION_NAME_SIZE 32
const char *nvtxt_option_name(const struct nvtxt_option *row, char out[NVTXT_OPTION_NAME_SIZE]);

struct nvtxt_option_list {
    const char **words; // owned; each borrowed
    size_t count;
};
int nvtxt_option_list_add(struct nvtxt_option_list *list, const char *word); // 0 or -ENOMEM

// ---- Values -------------------------------------------------------------------------------------

// Decimal, or hexadecimal after 0x, as the language writes integers. False for anything else and
// for what does not fit.
bool nvtxt_option_int64(const char *text, int64_t *value);

// A ProcessId, 0 to NVTXT_ID_MAX.
bool nvtxt_option_pid(const char *text, uint32_t *pid);

// "2", "0.5" seconds as milliseconds, rounded up. False for anything else.
bool nvtxt_option_seconds(const char *text, int64_t *ms);

// "4194304", "4M" bytes, with K, M, G or T for powers of 1024. False for anything else and for what
// does not fit.
bool nvtxt_option_bytes(const char *text, int64_t *bytes);
