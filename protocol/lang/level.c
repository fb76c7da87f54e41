// SPDX-License-Identifier: Apache-2.0
//
// One table: first the names that the store has, in the order of their levels, then other words
// that programs write. A search takes the first row of the same letters.
#include "protocol/lang/names.h"

#include "protocol/base/scan.h"

static const struct {
    const char *name;
    int level;
} names[] = {
    {"emerg", 0},       {"alert", 1},    {"crit", 2},    {"err", 3},       {"warning", 4},
    {"notice", 5},      {"info", 6},     {"debug", 7},   {"emergency", 0}, {"panic", 0},
    {"fatal", 2},       {"critical", 2}, {"error", 3},   {"severe", 3},    {"warn", 4},
    {"information", 6}, {"trace", 7},    {"verbose", 7},
};

const char *nvtxt_level_name(int64_t level) {
    return level >= 0 && level < NVTXT_LEVEL_COUNT ? names[level].name : NULL;
}

int nvtxt_level_find(struct nvtxt_slice word) {
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (nvtxt_equal_any_case(word, names[i].name)) {
            return names[i].level;
        }
    }
    return NVTXT_LEVEL_NONE;
}

static int find_or_read(struct nvtxt_slice word) {
    bool is_digit = word.len == 1 && word.data[0] >= '0' && word.data[0] < '0' + NVTXT_LEVEL_COUNT;
    return is_digit ? word.data[0] - '0' : nvtxt_level_find(word);
}

bool nvtxt_level_span_parse(struct nvtxt_slice text, struct nvtxt_level_span *span) {
    struct nvtxt_scan scan = nvtxt_scan(text);
    const char *dot = nvtxt_scan_find(&scan, '.');
    if (!dot) {
        *span = (struct nvtxt_level_span){0, find_or_read(text)};
        return span->least != NVTXT_LEVEL_NONE;
    }
    struct nvtxt_slice last = nvtxt_slice_between(dot, scan.end);
    int from = find_or_read(nvtxt_slice_between(text.data, dot));
    int to = last.len > 2 && last.data[1] == '.'
                 ? find_or_read((struct nvtxt_slice){last.data + 2, last.len - 2})
                 : NVTXT_LEVEL_NONE;
    *span = from < to ? (struct nvtxt_level_span){from, to} : (struct nvtxt_level_span){to, from};
    return from != NVTXT_LEVEL_NONE && to != NVTXT_LEVEL_NONE;
}
