// SPDX-License-Identifier: Apache-2.0
//
// The rates of the sources: the difference of two samples of the daemon's counters. No clock is
// read here: the caller gives the times.
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct rates_per_second {
    double events, lines, bytes; // a second; below 0: not known yet
};

struct rates_row {
    int64_t source, opened_ns;
    int64_t events, lines, bytes; // counters
    struct rates_per_second rate;
    json_t *object; // the daemon's description; owned
};

struct rates_sample {
    int64_t at_ms;          // of a clock that does not jump
    int64_t taken_ns;       // Unix time
    int64_t pid;            // of the daemon; another daemon's counters begin at 0
    struct rates_row *rows; // owned; after rates_compare() the fastest first
    size_t count;
    int64_t events, lines, bytes; // totals
    struct rates_per_second rate;
};

// From the results of `status` and `sources`, which are borrowed. Returns 0 or -ENOMEM.
int rates_take(struct rates_sample *sample, const json_t *status, const json_t *sources,
               int64_t at_ms, int64_t taken_ns);
void rates_deinit(struct rates_sample *sample); // zeroed is fine

// Works out the rates of `now` since `before` (zeroed: there was none) and sorts.
void rates_compare(struct rates_sample *now, const struct rates_sample *before);

#define RATES_TEXT_SIZE 32
// "-", "0.5", "1,234", "1.23M": at most 9 columns. Returns `out`.
const char *rates_text(char out[static RATES_TEXT_SIZE], double rate);
