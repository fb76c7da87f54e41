// SPDX-License-Identifier: Apache-2.0
//
// SQLSTATEs to classes by their first two characters, except for a few. When a connection fails the
// library gives text only; so it is asked to write the SQLSTATE into it, which is taken out here
// again. What TLS says has none: it is known by its words, which are never translated, because
// this program sets no locale.
#include "ship/engine/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum failure_class failure_set(struct failure *failure, enum failure_class class,
                               const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(failure->sentence, sizeof(failure->sentence), format, args);
    va_end(args);
    failure->class = class;
    failure->state[0] = '\0';
    failure->was_reached = false;
    return class;
}

const char *failure_words_before(const struct failure *failure) {
    return failure->class == FAILURE_GONE && !failure->was_reached
               ? "the engine cannot be reached: "
               : "";
}

enum failure_class failure_of_state(const char *state, bool is_gone) {
    static const struct {
        const char *prefix;
        enum failure_class class;
    } classes[] = {
        {"28", FAILURE_REFUSED},      {"42501", FAILURE_REFUSED},   {"3D000", FAILURE_REFUSED},
        {"42P01", FAILURE_NO_SCHEMA}, {"3F000", FAILURE_NO_SCHEMA}, {"23514", FAILURE_NO_PARTITION},
        {"08", FAILURE_AWAY},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (strncmp(state, classes[i].prefix, strlen(classes[i].prefix)) == 0 &&
            !(is_gone && classes[i].class == FAILURE_AWAY)) {
            return classes[i].class;
        }
    }
    return is_gone ? FAILURE_GONE : FAILURE_ENGINE;
}

// The length of "28P01: " at `text`, or 0.
static size_t state_len(const char *text) {
    size_t len = strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return len == 5 && text[5] == ':' && text[6] == ' ' ? 7 : 0;
}

// Appends a line without its SQLSTATE, which goes to failure->state.
static size_t add_line(struct failure *failure, size_t at, const char *line, size_t len) {
    const char *end = line + len;
    if (at > 0) {
        at += (size_t)snprintf(failure->sentence + at, sizeof(failure->sentence) - at, "; ");
    }
    while (line < end && at + 1 < sizeof(failure->sentence)) {
        size_t skip = at > 2 && strncmp(failure->sentence + at - 3, ":  ", 3) == 0 && end - line > 7
                          ? state_len(line)
                          : 0;
        if (skip > 0) {
            memcpy(failure->state, line, 5);
            failure->state[5] = '\0';
            line += skip;
            failure->sentence[at - 1] = *line++; // one blank is enough
            continue;
        }
        failure->sentence[at++] = *line++;
    }
    failure->sentence[at] = '\0';
    return at;
}

static bool is_of_tls(const char *sentence) {
    return strstr(sentence, "certificate") || strstr(sentence, "SSL error") ||
           strstr(sentence, "does not support SSL") || strstr(sentence, "private key file") ||
           strstr(sentence, "for a verified SSL connection") ||
           strstr(sentence, "channel binding required");
}

// Advice, where the server is, and what part of a statement it is about.
static bool is_left_out(const char *line, size_t len) {
    static const char *const begins[] = {"\t", "LOCATION:", "HINT:", "LINE "};
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        if (strncmp(line, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return len == 0 || strspn(line, " ^") >= len;
}

enum failure_class failure_of_connect(struct failure *failure, const char *message,
                                      bool needs_password) {
    size_t at = 0;
    const char *last = message;
    failure->sentence[0] = '\0';
    failure->state[0] = '\0';
    failure->was_reached = false;
    while (*message && at + 4 < sizeof(failure->sentence)) {
        size_t len = strcspn(message, "\n");
        // With and without TLS the server may have said the same.
        bool is_again = strncmp(last, message, len) == 0 && last != message && last[len] == '\n';
        if (!is_left_out(message, len) && !is_again) {
            at = add_line(failure, at, message, len);
            last = message;
        }
        message += len + (message[len] == '\n');
    }
    failure->class = failure->state[0] ? failure_of_state(failure->state, true)
                     : needs_password || is_of_tls(failure->sentence) ? FAILURE_REFUSED
                                                                      : FAILURE_GONE;
    return failure->class;
}

enum failure_class failure_of_start(struct failure *failure, const char *message) {
    static const char *const tried[] = {"could not translate host name", "connection to server",
                                        "could not create socket"};
    failure_of_connect(failure, message, false);
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        if (strncmp(message, tried[i], strlen(tried[i])) == 0) {
            return failure->class;
        }
    }
    return failure->class = FAILURE_TARGET;
}
