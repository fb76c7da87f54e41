// SPDX-License-Identifier: Apache-2.0
//
// Compares two samples of one daemon source by source, found by id. A counter that is smaller than
// before has begun at 0 again, so its new value is the difference.
#include "client/ctl/ctl_rates.h"

#include <stdio.h>
#include <stdlib.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"
#include "protocol/base/origin.h"

#define UNKNOWN ((struct rates_per_second){-1, -1, -1})

int rates_take(struct rates_sample *sample, const json_t *status, const json_t *sources,
               int64_t at_ms, int64_t taken_ns) {
    const json_t *list = json_object_get(sources, "sources");
    size_t index;
    json_t *source;
    *sample = (struct rates_sample){
        .at_ms = at_ms,
        .taken_ns = taken_ns,
        .pid = format_integer(status, "pid"),
        .events = format_integer(status, "events"),
        .lines = format_integer(status, "lines"),
        .bytes = format_integer(status, "bytes"),
        .rate = UNKNOWN,
    };
    sample->rows = calloc(json_array_size(list) + 1, sizeof(*sample->rows));
    if (!sample->rows) {
        return nvtxt_origin(-ENOMEM);
    }
    json_array_foreach(list, index, source) {
        sample->rows[sample->count++] = (struct rates_row){
            .source = format_integer(source, "source"),
            .opened_ns = format_integer(source, "opened_ns"),
            .events = format_integer(source, "events"),
            .lines = format_integer(source, "lines"),
            .bytes = format_integer(source, "bytes"),
            .rate = UNKNOWN,
            .object = json_incref(source),
        };
    }
    return 0;
}

void rates_deinit(struct rates_sample *sample) {
    for (size_t i = 0; i < sample->count; i++) {
        json_decref(sample->rows[i].object);
    }
    free(sample->rows);
    *sample = (struct rates_sample){0};
}

// A new connection of a session counts its bytes from 0.
static double per_second(int64_t now, int64_t before, double seconds) {
    int64_t more = now >= before ? now - before : now;
    return (double)more / seconds;
}

static const struct rates_row *find_row(const struct rates_sample *sample, int64_t source) {
    for (size_t i = 0; i < sample->count; i++) {
        if (sample->rows[i].source == source) {
            return &sample->rows[i];
        }
    }
    return NULL;
}

static int by_rate(const void *left, const void *right) {
    const struct rates_row *a = left, *b = right;
    double more[] = {b->rate.events - a->rate.events, b->rate.lines - a->rate.lines,
                     b->rate.bytes - a->rate.bytes, (double)(b->source - a->source)};
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        if (more[i] < 0 || more[i] > 0) {
            return more[i] > 0 ? 1 : -1;
        }
    }
    return 0;
}

void rates_compare(struct rates_sample *now, const struct rates_sample *before) {
    static const struct rates_row none;
    double seconds = (double)(now->at_ms - before->at_ms) / 1000;
    bool comparable = before->rows && before->pid == now->pid && seconds > 0;
    for (size_t i = 0; comparable && i < now->count; i++) {
        struct rates_row *row = &now->rows[i];
        const struct rates_row *old = find_row(before, row->source);
        if (!old && row->opened_ns >= before->taken_ns) {
            old = &none; // a new source: all its lines came since the sample before
        }
        if (old) {
            row->rate = (struct rates_per_second){per_second(row->events, old->events, seconds),
                                                  per_second(row->lines, old->lines, seconds),
                                                  per_second(row->bytes, old->bytes, seconds)};
        }
    }
    if (comparable) {
        now->rate = (struct rates_per_second){per_second(now->events, before->events, seconds),
                                              per_second(now->lines, before->lines, seconds),
                                              per_second(now->bytes, before->bytes, seconds)};
    }
    if (now->count > 0) {
        qsort(now->rows, now->count, sizeof(*now->rows), by_rate);
    }
}

const char *rates_text(char out[static RATES_TEXT_SIZE], double rate) {
    if (rate < 0) {
        snprintf(out, RATES_TEXT_SIZE, "-");
    } else if (rate > 0 && rate < 9.95) {
        snprintf(out, RATES_TEXT_SIZE, "%.1f", rate);
    } else if (rate < 1e6) {
        term_count(out, (uint64_t)(rate + 0.5));
    } else {
        snprintf(out, RATES_TEXT_SIZE, rate < 1e9 ? "%.2fM" : "%.0fM", rate / 1e6);
    }
    return out;
}
