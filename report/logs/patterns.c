// SPDX-License-Identifier: Apache-2.0
//
// A table finds the pattern of a line. Only when all places are taken, a heap is built that has the
// rarest on top: its key is the lines that a place counted, those of the patterns before included.
#include "report/logs/patterns.h"

#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/hash.h"
#include "report/logs/mask.h"

struct place {
    struct nvtxt_hash_node node; // the pattern, by its text
    size_t at;                   // in the heap
    struct report_pattern pattern;
};

struct report_patterns {
    size_t kept;
    struct nvtxt_hash table;
    struct place **places; // owned, each; as they came, then the heap
    size_t count;
    bool heap;
    uint64_t lines;
    struct report_strip_scale scale;
    struct report_pattern **list; // owned; for report_patterns_list()
    struct report_mask mask;      // of the line that came last
};

int report_patterns_new(struct report_patterns **patterns, size_t kept) {
    struct report_patterns *made = *patterns = calloc(1, sizeof(*made));
    if (!made) {
        return nvtxt_origin(-ENOMEM);
    }
    made->kept = kept;
    made->places = calloc(kept, sizeof(struct place *));
    made->list = calloc(kept, sizeof(struct report_pattern *));
    return made->places && made->list ? 0 : nvtxt_origin(-ENOMEM);
}

void report_patterns_free(struct report_patterns *patterns) {
    if (!patterns) {
        return;
    }
    for (size_t i = 0; i < patterns->count; i++) {
        free((char *)patterns->places[i]->pattern.text.data);
        free(patterns->places[i]);
    }
    nvtxt_hash_deinit(&patterns->table);
    free(patterns->places);
    free(patterns->list);
    free(patterns);
}

// ---- The heap -----------------------------------------------------------------------------------

static uint64_t weight(const struct place *place) {
    return place->pattern.count + place->pattern.missed;
}

static void put(struct report_patterns *patterns, size_t at, struct place *place) {
    patterns->places[at] = place;
    place->at = at;
}

// A place whose weight became larger goes down.
static void sink(struct report_patterns *patterns, size_t at) {
    struct place *place = patterns->places[at];
    for (size_t child; (child = 2 * at + 1) < patterns->count; at = child) {
        struct place **places = patterns->places;
        child += child + 1 < patterns->count && weight(places[child + 1]) < weight(places[child]);
        if (weight(place) <= weight(places[child])) {
            break;
        }
        put(patterns, at, places[child]);
    }
    put(patterns, at, place);
}

static void build_heap(struct report_patterns *patterns) {
    for (size_t i = patterns->count; i-- > 0;) {
        patterns->places[i]->at = i;
        sink(patterns, i);
    }
    patterns->heap = true;
}

// ---- Finding ------------------------------------------------------------------------------------

static struct place *find(const struct report_patterns *patterns, struct nvtxt_slice text,
                          uint64_t hash) {
    struct place *found;
    NVTXT_HASH_FIND(found, node, &patterns->table, hash,
                    nvtxt_slice_equal(found->pattern.text, text));
    return found;
}

const struct report_pattern *report_patterns_find(const struct report_patterns *patterns,
                                                  struct nvtxt_slice text) {
    const struct place *place = find(patterns, text, nvtxt_hash_bytes(text));
    return place ? &place->pattern : NULL;
}

static struct place *new_place(struct report_patterns *patterns) {
    struct place *place = calloc(1, sizeof(*place));
    if (place) {
        patterns->places[patterns->count++] = place;
    }
    return place;
}

// The rarest pattern goes; what its place has counted is what the new one may have had before.
static struct place *take_over(struct report_patterns *patterns) {
    if (!patterns->heap) {
        build_heap(patterns);
    }
    struct place *place = patterns->places[0];
    uint64_t missed = weight(place);
    nvtxt_hash_remove(&patterns->table, &place->node);
    free((char *)place->pattern.text.data);
    place->pattern = (struct report_pattern){.missed = missed};
    return place;
}

static struct place *make(struct report_patterns *patterns, struct nvtxt_slice text,
                          uint64_t hash) {
    char *copy = malloc(text.len + 1);
    struct place *place = !copy                              ? NULL
                          : patterns->count < patterns->kept ? new_place(patterns)
                                                             : take_over(patterns);
    if (!place) {
        free(copy);
        return NULL;
    }
    memcpy(copy, text.data, text.len);
    place->pattern.text = (struct nvtxt_slice){copy, text.len};
    return nvtxt_hash_add(&patterns->table, &place->node, hash) == 0 ? place : NULL;
}

// ---- Lines --------------------------------------------------------------------------------------

static void fit_time(struct report_patterns *patterns, int64_t time) {
    const struct report_strip_scale before = patterns->scale;
    if (report_strip_fit(&patterns->scale, time)) {
        for (size_t i = 0; i < patterns->count; i++) {
            report_strip_move(patterns->places[i]->pattern.strip, &before, &patterns->scale);
        }
    }
}

static void add_source(struct report_pattern *pattern, const struct report_source *source) {
    for (size_t i = 0; i < pattern->source_count; i++) {
        if (pattern->sources[i].store == source->store && pattern->sources[i].id == source->id) {
            return;
        }
    }
    if (pattern->source_count == REPORT_PATTERN_SOURCES) {
        pattern->more_sources = true;
    } else {
        pattern->sources[pattern->source_count++] =
            (struct report_pattern_source){source->store, source->id};
    }
}

static void count(struct report_patterns *patterns, struct place *place,
                  const struct report_capture *capture, const struct report_event *event) {
    struct report_pattern *pattern = &place->pattern;
    int level = report_line_level(capture, event);
    bool first = pattern->count++ == 0;
    pattern->levels[level == NVTXT_LEVEL_NONE ? NVTXT_LEVEL_COUNT : level]++;
    pattern->first_ns =
        first || event->start < pattern->first_ns ? event->start : pattern->first_ns;
    pattern->last_ns = first || event->start > pattern->last_ns ? event->start : pattern->last_ns;
    pattern->strip[report_strip_step(&patterns->scale, event->start)]++;
    add_source(pattern, &capture->sources[event->source]);
    if (patterns->heap) {
        sink(patterns, place->at);
    }
}

int report_patterns_add(struct report_patterns *patterns, const struct report_capture *capture,
                        const struct report_event *event) {
    report_mask(&patterns->mask, report_event_text(capture, event));
    struct nvtxt_slice text = report_mask_pattern(&patterns->mask);
    uint64_t hash = nvtxt_hash_bytes(text);
    fit_time(patterns, event->start);
    struct place *place = find(patterns, text, hash) ?: make(patterns, text, hash);
    if (!place) {
        return nvtxt_origin(-ENOMEM);
    }
    patterns->lines++;
    count(patterns, place, capture, event);
    return 0;
}

int report_patterns_take(struct report_patterns *patterns, const struct report_capture *capture) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < capture->event_count; i++) {
        const struct report_event *event = &capture->events[i];
        if ((event->flags & REPORT_SELECTED) && report_is_line(capture, event)) {
            r = report_patterns_add(patterns, capture, event);
        }
    }
    return r;
}

// ---- The list -----------------------------------------------------------------------------------

static int by_count(const void *left, const void *right) {
    const struct report_pattern *a = *(struct report_pattern *const *)left;
    const struct report_pattern *b = *(struct report_pattern *const *)right;
    return NVTXT_ORDER(b->count, a->count) ?: nvtxt_slice_order(a->text, b->text);
}

struct report_pattern *const *report_patterns_list(struct report_patterns *patterns, size_t most,
                                                   size_t *count) {
    for (size_t i = 0; i < patterns->count; i++) {
        patterns->list[i] = &patterns->places[i]->pattern;
    }
    qsort(patterns->list, patterns->count, sizeof(*patterns->list), by_count);
    *count = patterns->count < most ? patterns->count : most;
    return patterns->list;
}

uint64_t report_patterns_lines(const struct report_patterns *patterns) {
    return patterns->lines;
}

const struct report_strip_scale *report_patterns_scale(const struct report_patterns *patterns) {
    return &patterns->scale;
}

int report_pattern_worst(const struct report_pattern *pattern) {
    int level = 0;
    while (level < NVTXT_LEVEL_COUNT && pattern->levels[level] == 0) {
        level++;
    }
    return level < NVTXT_LEVEL_COUNT ? level : NVTXT_LEVEL_NONE;
}
