// SPDX-License-Identifier: Apache-2.0
//
// Looks first for a priority, as syslog and sd-daemon(3) write it before a line, then for the name
// of a level. "error" is also a word of plain English, so a name counts only where it is written as
// a level is: in capitals, before a colon, in brackets, or as the value of a key. An exception's
// name before a colon, and the first line of a traceback, are errors.
#include "client/text/levels.h"

#include <stdio.h>
#include <string.h>

#include "client/common/arguments.h"
#include "protocol/base/scan.h"
#include "protocol/lang/names.h"

// Severities of syslog, from 0 (emergency) to 7 (debug).
static const char *const severity_colors[NVTXT_LEVEL_COUNT] = {
    "DarkMagenta", "MediumVioletRed", "DarkRed", "Red", "Orange", "Gold", "DodgerBlue", "Gray"};

#define NAME_BYTES 11 // of the longest

void levels_deinit(struct levels *levels) {
    for (size_t i = 0; i < levels->count; i++) {
        regfree(&levels->rules[i].regex);
    }
    *levels = (struct levels){0};
}

bool levels_color(const char *text, uint32_t *color) {
    int64_t value;
    if (nvtxt_option_int64(text, &value) && value >= 0 && value <= UINT32_MAX) {
        *color = (uint32_t)value;
        return true;
    }
    return nvtxt_color_parse(nvtxt_slice_of(text), color);
}

static int add_rule(struct levels *levels, const char *text, const char *equals, char *fault,
                    size_t size) {
    struct levels_rule *rule = &levels->rules[levels->count];
    char regex[LEVELS_PATTERN_BYTES];
    size_t len = (size_t)(equals - text);
    if (len >= sizeof(regex)) {
        snprintf(fault, size, "is too long");
        return NVTXT_WRONG;
    }
    memcpy(regex, text, len);
    regex[len] = '\0';
    int r = regcomp(&rule->regex, regex, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        regerror(r, &rule->regex, fault, size);
        return NVTXT_WRONG;
    }
    levels->count++;
    return 0;
}

int levels_add(struct levels *levels, const char *text, char *fault, size_t size) {
    const char *equals = strrchr(text, '=');
    if (strcmp(text, "none") == 0) {
        levels->usual_off = true;
        return 0;
    }
    if (levels->count == LEVELS_RULES) {
        snprintf(fault, size, "there are %d already", LEVELS_RULES);
        return NVTXT_WRONG;
    }
    if (!equals || equals == text) {
        snprintf(fault, size, "takes REGEX=COLOR or none");
        return NVTXT_WRONG;
    }
    if (!levels_color(equals + 1, &levels->rules[levels->count].color)) {
        snprintf(fault, size, "no such colour: %.100s", equals + 1);
        return NVTXT_WRONG;
    }
    return add_rule(levels, text, equals, fault, size);
}

// ---- The usual ----------------------------------------------------------------------------------

static bool is_letter(char byte) {
    return nvtxt_lower(byte) >= 'a' && nvtxt_lower(byte) <= 'z';
}

static bool is_capital(const char *word, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (word[i] > 'Z') {
            return false;
        }
    }
    return true;
}

// "level":"error": a quoted word after a colon.
static bool is_json_value(const char *begin, const char *at, char after) {
    if (at - begin < 2 || at[-1] != '"' || after != '"') {
        return false;
    }
    at -= 2;
    while (at > begin && *at == ' ') {
        at--;
    }
    return *at == ':';
}

static bool is_written_as_level(const char *begin, const char *at, char after) {
    char before = at > begin ? at[-1] : '\0';
    return after == ':' || (before == '[' && after == ']') || (before == '<' && after == '>') ||
           (before == '(' && after == ')') || before == '=' || is_json_value(begin, at, after);
}

static bool ends_in(const char *word, size_t len, const char *ending) {
    size_t tail = strlen(ending);
    return len > tail && memcmp(word + len - tail, ending, tail) == 0;
}

// "TypeError:", "java.io.IOException:", "Traceback (most recent call last):".
static bool is_exception(const char *word, size_t len, const char *end) {
    static const char trace[] = "Traceback (";
    size_t left = (size_t)(end - word);
    if (left >= sizeof(trace) - 1 && memcmp(word, trace, sizeof(trace) - 1) == 0) {
        return true;
    }
    return left > len && word[len] == ':' && word[0] <= 'Z' &&
           (ends_in(word, len, "Error") || ends_in(word, len, "Exception"));
}

static int find_name(const char *begin, const char *end) {
    for (const char *at = begin; at < end;) {
        const char *word = at;
        while (at < end && is_letter(*at)) {
            at++;
        }
        size_t len = (size_t)(at - word);
        char after = at < end ? *at : '\0';
        bool whole = len >= 3 && len <= NAME_BYTES && !nvtxt_char_is(after, NVTXT_CHAR_WORD) &&
                     (word == begin || !nvtxt_char_is(word[-1], NVTXT_CHAR_WORD));
        if (whole && (is_capital(word, len) || is_written_as_level(begin, word, after))) {
            int severity = nvtxt_level_find((struct nvtxt_slice){word, len});
            if (severity >= 0) {
                return severity;
            }
        }
        if (len > 3 && (word == begin || !nvtxt_char_is(word[-1], NVTXT_CHAR_WORD)) &&
            is_exception(word, len, end)) {
            return 3;
        }
        at += at == word;
    }
    return -1;
}

// <3> or <34>: the last three bits are the severity.
static int find_priority(struct nvtxt_slice line) {
    int value = 0;
    size_t i = 1;
    for (; i < line.len && i < 4 && line.data[i] >= '0' && line.data[i] <= '9'; i++) {
        value = value * 10 + (line.data[i] - '0');
    }
    bool good = line.len > 2 && line.data[0] == '<' && i > 1 && i < line.len &&
                line.data[i] == '>' && value <= 191;
    return good ? value % 8 : -1;
}

// ---- A line -------------------------------------------------------------------------------------

static bool matches(const struct levels_rule *rule, struct nvtxt_slice line) {
    regmatch_t range = {
        .rm_so = 0,
        .rm_eo =
            (regoff_t)(line.len < LEVELS_PATTERN_BYTES ? line.len : (size_t)LEVELS_PATTERN_BYTES)};
    return regexec(&rule->regex, line.data, 1, &range, REG_STARTEND) == 0;
}

// A pattern of the user gives a colour; it does not change the level.
static bool own_color(const struct levels *levels, struct nvtxt_slice line, uint32_t *color) {
    for (size_t i = 0; line.len > 0 && i < levels->count; i++) {
        if (matches(&levels->rules[i], line)) {
            *color = levels->rules[i].color;
            return true;
        }
    }
    return false;
}

void levels_paint(const struct levels *levels, struct nvtxt_slice line, int level,
                  uint32_t *color) {
    if (!own_color(levels, line, color) && level >= 0) {
        (void)nvtxt_color_parse(nvtxt_slice_of(severity_colors[level]), color);
    }
}

int levels_find(const struct levels *levels, struct nvtxt_slice line, uint32_t *color) {
    int severity = NVTXT_LEVEL_NONE;
    if (!levels->usual_off) {
        const char *end = line.data + (line.len < LEVELS_BYTES ? line.len : LEVELS_BYTES);
        severity = find_priority(line);
        severity = severity < 0 ? find_name(line.data, end) : severity;
    }
    levels_paint(levels, line, severity, color);
    return severity;
}
