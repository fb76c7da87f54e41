// SPDX-License-Identifier: Apache-2.0
//
// What the option parsers of the clients share: numbers, the time mapping, --help and --version.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/common/outcome.h"
#include "client/common/term.h"
#include "protocol/lang/timebase.h"

// Values of long options that have no letter; a program's own ones begin at OPTIONS_OWN.
enum {
    OPTIONS_MODE = 256,
    OPTIONS_NS_A,
    OPTIONS_NS_B,
    OPTIONS_NVTXT_A,
    OPTIONS_NVTXT_B,
    OPTIONS_FREQ,
    OPTIONS_PID,
    OPTIONS_ORIGIN,
    OPTIONS_CLOCK,
    OPTIONS_OWN,
};

// The end of every struct option table, for <getopt.h>: 'h' and 'V'.
#define OPTIONS_TAIL                                                                               \
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {                       \
        NULL, 0, NULL, 0                                                                           \
    }

// Lines of such a table. The spellings with an underscore are those of
// Nsight Systems' ImportNvtxt.
#define OPTIONS_MAPPING                                                                            \
    {"mode", required_argument, NULL, OPTIONS_MODE},                                               \
        {"ns-a", required_argument, NULL, OPTIONS_NS_A},                                           \
        {"ns_a", required_argument, NULL, OPTIONS_NS_A},                                           \
        {"ns-b", required_argument, NULL, OPTIONS_NS_B},                                           \
        {"ns_b", required_argument, NULL, OPTIONS_NS_B},                                           \
        {"nvtxt-a", required_argument, NULL, OPTIONS_NVTXT_A},                                     \
        {"nvtxt_a", required_argument, NULL, OPTIONS_NVTXT_A},                                     \
        {"nvtxt-b", required_argument, NULL, OPTIONS_NVTXT_B},                                     \
        {"nvtxt_b", required_argument, NULL, OPTIONS_NVTXT_B}, {                                   \
        "freq", required_argument, NULL, OPTIONS_FREQ                                              \
    }

struct options_mapping {
    struct nvtxt_mapping mapping;
    bool has_ns_a, has_ns_b, has_nvtxt_a, has_nvtxt_b, has_freq;
};

// Decimal, or hexadecimal after 0x, as the language writes integers. False for anything else and
// for what does not fit.
bool options_int64(const char *text, int64_t *value);

// A ProcessId for `--pid`.
enum outcome options_pid(struct term *term, const char *text, uint32_t *pid);

// "2", "0.5" seconds as milliseconds, rounded up. False for anything else.
bool options_seconds(const char *text, int64_t *ms);

// "4194304", "4M" bytes, with K, M, G or T for powers of 1024. False for anything else and for what
// does not fit.
bool options_bytes(const char *text, uint64_t *bytes);

// Takes one of the mapping's options. Returns an outcome, or OPTIONS_OTHER when `option` is none of
// them.
#define OPTIONS_OTHER 256
int options_take_mapping(struct options_mapping *mapping, struct term *term, int option,
                         const char *text);

// Checks that all options of the mode are there, and no others. A stream (`live`) has no smallest
// time: its nvtxt_a and nvtxt_b must be given.
enum outcome options_check_mapping(const struct options_mapping *mapping, struct term *term,
                                   bool live);

// True when nvtxt_a or nvtxt_b must be found in the file.
bool options_mapping_needs_times(const struct options_mapping *mapping);

// The second line of an option error, after the one that getopt_long() printed.
enum outcome options_refuse(const struct term *term);

// Answers 'h' with `print_help` and 'V' with "nvtxt-send (nvtxtd) 0.1.0" on stdout. DONE when
// `option` is none of them.
enum outcome options_answer(struct term *term, int option, void (*print_help)(void));
