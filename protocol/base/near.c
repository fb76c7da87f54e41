// SPDX-License-Identifier: Apache-2.0
//
// The distance of two words is the least number of slips between them. It is found row by row in
// the table of the distances between the beginnings of the words. Long words are not compared.

#include "protocol/base/scan.h"

#define WORD_MAX 40
#define PART_LEAST 4 // a shorter word stands in too many names

static size_t distance(struct nvtxt_slice a, struct nvtxt_slice b) {
    size_t rows[3][WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = nvtxt_lower(a.data[i - 1]), y = nvtxt_lower(b.data[j - 1]);
            row[j] = nvtxt_min(last[j - 1] + (x != y), nvtxt_min(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == nvtxt_lower(b.data[j - 2]) &&
                y == nvtxt_lower(a.data[i - 2])) {
                row[j] = nvtxt_min(row[j], before[j - 2] + 1);
            }
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b.len];
}

static bool contains(struct nvtxt_slice name, struct nvtxt_slice word) {
    for (size_t at = 0; at + word.len <= name.len; at++) {
        size_t same = 0;
        while (same < word.len &&
               nvtxt_lower(name.data[at + same]) == nvtxt_lower(word.data[same])) {
            same++;
        }
        if (same == word.len) {
            return true;
        }
    }
    return false;
}

// The only name that contains the word; NULL when there is none, or another one.
static const char *only_container(struct nvtxt_slice word,
                                  const char *(*names)(const void *context, size_t index),
                                  const void *context) {
    const char *only = NULL, *name;
    for (size_t i = 0; (name = names(context, i)); i++) {
        if (contains(nvtxt_slice_of(name), word)) {
            if (only) {
                return NULL;
            }
            only = name;
        }
    }
    return only;
}

const char *nvtxt_near(struct nvtxt_slice word,
                       const char *(*names)(const void *context, size_t index),
                       const void *context) {
    const char *name, *best = word.len >= PART_LEAST && word.len <= WORD_MAX
                                  ? only_container(word, names, context)
                                  : NULL;
    if (best) {
        return best;
    }
    // Short words are too much alike for two slips.
    size_t most = word.len <= 1 || word.len > WORD_MAX ? 0 : word.len <= 4 ? 1 : 2;
    for (size_t i = 0; most > 0 && (name = names(context, i)); i++) {
        struct nvtxt_slice other = nvtxt_slice_of(name);
        size_t apart = other.len > word.len ? other.len - word.len : word.len - other.len;
        // Words whose lengths differ by more are not as near.
        size_t found = other.len > WORD_MAX || apart > most ? SIZE_MAX : distance(word, other);
        if (other.len > 0 && found <= most) {
            best = name;
            most = found > 0 ? found - 1 : 0;
        }
    }
    return best;
}
