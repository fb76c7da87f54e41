// SPDX-License-Identifier: Apache-2.0
//
// Numbers are read by loops of our own: strtoll() also takes blanks, signs and octal digits, which
// no user means here.
#include "client/common/arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "protocol/base/limits.h"

static int digit_value(char byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    if (byte >= 'a' && byte <= 'f') {
        return byte - 'a' + 10;
    }
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : 99;
}

bool options_int64(const char *text, int64_t *value) {
    bool negative = *text == '-';
    const char *at = text + negative;
    int base = 10;
    if (!negative && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    }
    int64_t sum = 0; // negative, because that side holds one value more
    if (!*at) {
        return false;
    }
    for (; *at; at++) {
        int digit = digit_value(*at);
        if (digit >= base || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum)) {
            return false;
        }
    }
    if (!negative && sum == INT64_MIN) {
        return false;
    }
    *value = negative ? sum : -sum;
    return true;
}

bool options_bytes(const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    uint64_t sum = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum)) {
            return false;
        }
    }
    const char *unit = at > text && *at ? strchr(units, *at) : NULL;
    if (at == text || (*at && (!unit || at[1]))) {
        return false;
    }
    for (; unit && unit >= units; unit--) {
        if (__builtin_mul_overflow(sum, 1024u, &sum)) {
            return false;
        }
    }
    *bytes = sum;
    return true;
}

enum outcome options_pid(struct term *term, const char *text, uint32_t *pid) {
    int64_t value;
    if (!options_int64(text, &value) || value < 0 || value > NVTXT_ID_MAX) {
        term_say(term, "--pid takes a number from 0 to %u, not '%s'", NVTXT_ID_MAX, text);
        return OUTCOME_USAGE;
    }
    *pid = (uint32_t)value;
    return OUTCOME_DONE;
}

bool options_seconds(const char *text, int64_t *ms) {
    const int64_t most = (int64_t)1 << 40; // in ms: 34 years
    int64_t sum = 0;
    int64_t unit = 1000;
    bool point = false;
    if (*text < '0' || *text > '9') {
        return false;
    }
    for (const char *at = text; *at; at++) {
        if (*at == '.' && !point && at[1]) {
            point = true;
        } else if (*at < '0' || *at > '9') {
            return false;
        } else if (!point) {
            sum = sum * 10 + (*at - '0') * 1000;
        } else {
            unit /= 10;
            sum += unit ? (*at - '0') * unit : *at > '0';
        }
        if (sum > most) {
            return false;
        }
    }
    *ms = sum;
    return true;
}

int options_take_mapping(struct options_mapping *mapping, struct term *term, int option,
                         const char *text) {
    struct nvtxt_mapping *to = &mapping->mapping;
    const struct {
        int option;
        const char *name;
        bool *has;
        int64_t *value;
    } numbers[] = {
        {OPTIONS_NS_A, "ns-a", &mapping->has_ns_a, &to->ns_a},
        {OPTIONS_NS_B, "ns-b", &mapping->has_ns_b, &to->ns_b},
        {OPTIONS_NVTXT_A, "nvtxt-a", &mapping->has_nvtxt_a, &to->nvtxt_a},
        {OPTIONS_NVTXT_B, "nvtxt-b", &mapping->has_nvtxt_b, &to->nvtxt_b},
        {OPTIONS_FREQ, "freq", &mapping->has_freq, &to->freq},
    };
    if (option == OPTIONS_MODE) {
        bool lerp = strcmp(text, "lerp") == 0;
        if (!lerp && strcmp(text, "lin") != 0) {
            term_say(term, "--mode takes lerp or lin, not '%s'", text);
            return OUTCOME_USAGE;
        }
        to->mode = lerp ? NVTXT_MAPPING_LERP : NVTXT_MAPPING_LIN;
        return 0;
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (numbers[i].option != option) {
            continue;
        }
        if (!options_int64(text, numbers[i].value)) {
            term_say(term, "--%s takes an integer of 64 bits, not '%s'", numbers[i].name, text);
            return OUTCOME_USAGE;
        }
        *numbers[i].has = true;
        return 0;
    }
    return OPTIONS_OTHER;
}

enum outcome options_check_mapping(const struct options_mapping *mapping, struct term *term,
                                   bool live) {
    const struct options_mapping *m = mapping;
    const char *missing = NULL;
    const char *fault = NULL;
    bool lerp = m->mapping.mode == NVTXT_MAPPING_LERP;
    if (m->mapping.mode == NVTXT_MAPPING_NONE) {
        if (m->has_ns_a || m->has_ns_b || m->has_nvtxt_a || m->has_nvtxt_b || m->has_freq) {
            missing = "--mode lerp or --mode lin";
        }
    } else if (!m->has_ns_a) {
        missing = "--ns-a";
    } else if (lerp && !m->has_ns_b) {
        missing = "--ns-b";
    } else if (!lerp && !m->has_freq) {
        missing = "--freq";
    } else if (lerp ? m->has_freq : m->has_ns_b || m->has_nvtxt_b) {
        term_say(term, lerp ? "--freq belongs to --mode lin"
                            : "--ns-b and --nvtxt-b belong to --mode lerp");
        return OUTCOME_USAGE;
    } else if (live && (!m->has_nvtxt_a || (lerp && !m->has_nvtxt_b))) {
        missing = m->has_nvtxt_a ? "--nvtxt-b" : "--nvtxt-a";
    } else if (!options_mapping_needs_times(m)) {
        fault = nvtxt_mapping_fault(&m->mapping);
    } else { // the file's times are not known yet
        struct nvtxt_mapping probe = m->mapping;
        probe.nvtxt_a = 0;
        probe.nvtxt_b = 1;
        fault = nvtxt_mapping_fault(&probe);
    }
    if (missing) {
        term_say(term, "the time mapping lacks %s", missing);
    } else if (fault) {
        term_say(term, "the time mapping is impossible: %s", fault);
    }
    return missing || fault ? OUTCOME_USAGE : OUTCOME_DONE;
}

bool options_mapping_needs_times(const struct options_mapping *mapping) {
    enum nvtxt_mapping_mode mode = mapping->mapping.mode;
    return (mode != NVTXT_MAPPING_NONE && !mapping->has_nvtxt_a) ||
           (mode == NVTXT_MAPPING_LERP && !mapping->has_nvtxt_b);
}

enum outcome options_refuse(const struct term *term) {
    fprintf(stderr, "Try '%s --help'.\n", term->program);
    return OUTCOME_USAGE;
}

enum outcome options_answer(struct term *term, int option, void (*print_help)(void)) {
    if (option == 'h') {
        print_help();
    } else if (option == 'V') {
        printf("%s (%s) %s\n", term->program, PACKAGE_NAME, PACKAGE_VERSION);
    } else {
        return OUTCOME_DONE;
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        term_say(term, "cannot write to stdout: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return OUTCOME_ANSWERED;
}
