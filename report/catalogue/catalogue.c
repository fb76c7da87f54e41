// SPDX-License-Identifier: Apache-2.0
//
// The table, and names in both directions: a cursor counts through entries, keys and roll-ups and
// writes each name; a name is taken apart from its ends, the base at the front and the roll-up
// after the first point, and what is left between them has to be a key of that entry.
#include "report/catalogue/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "protocol/base/scan.h"

static const struct report_catalogue_entry entries[] = {
#define ENTRY(id, name, unit, type, rollups, keys, text)                                           \
    {REPORT_M_##id, name, unit, type, rollups, &(keys)[(keys)[0] == '!'], (keys)[0] == '!', text},
    REPORT_CATALOGUE(ENTRY)
#undef ENTRY
};

static const struct {
    const char *word;
    enum report_key key;
} keys[] = {
    {"name", REPORT_KEY_NAME},         {"thread", REPORT_KEY_THREAD},
    {"process", REPORT_KEY_PROCESS},   {"domain", REPORT_KEY_DOMAIN},
    {"category", REPORT_KEY_CATEGORY}, {"iteration", REPORT_KEY_ITERATION},
    {"source", REPORT_KEY_SOURCE},     {"line", REPORT_KEY_LINE},
    {"event", REPORT_KEY_EVENT},
};

static const struct {
    const char *word;
    enum report_rollup rollup;
    bool real; // always a double
} rollups[] = {
    {"sum", REPORT_SUM, false},
    {"sum.per_second", REPORT_PER_SECOND, true},
    {"sum.pct_of_elapsed", REPORT_PCT_OF_ELAPSED, true},
    {"avg", REPORT_AVG, true},
    {"min", REPORT_MIN, false},
    {"max", REPORT_MAX, false},
    {"med", REPORT_MED, true},
    {"stddev", REPORT_STDDEV, true},
    {"ratio", REPORT_RATIO, true},
    {"last", REPORT_LAST, false},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const struct report_catalogue_entry *report_catalogue_at(size_t index) {
    return index < COUNT_OF(entries) ? &entries[index] : NULL;
}

struct nvtxt_slice report_catalogue_word(const char *list, unsigned n) {
    for (; *list; n--) {
        size_t len = strcspn(list, " ");
        if (n == 0) {
            return (struct nvtxt_slice){list, len};
        }
        list += len + (list[len] == ' ');
    }
    return (struct nvtxt_slice){NULL, 0};
}

static void step(struct report_catalogue_cursor *at) {
    const struct report_catalogue_entry *entry = &entries[at->entry];
    if (report_catalogue_word(entry->rollups, at->rollup + 1).data) {
        at->rollup++;
        return;
    }
    at->rollup = 0;
    if (report_catalogue_word(entry->keys, at->key).data) {
        at->key++;
        return;
    }
    at->key = 0;
    at->entry++;
}

bool report_catalogue_next(struct report_catalogue_cursor *at) {
    if (at->name[0]) {
        step(at);
    }
    if (at->entry == COUNT_OF(entries)) {
        return false;
    }
    const struct report_catalogue_entry *entry = &entries[at->entry];
    at->key += at->key == 0 && entry->always_keyed;
    struct nvtxt_slice rollup = report_catalogue_word(entry->rollups, at->rollup);
    struct nvtxt_slice key = {"", 0};
    if (at->key > 0) {
        key = report_catalogue_word(entry->keys, at->key - 1);
    }
    snprintf(at->name, sizeof(at->name), "%s%s%.*s%s%.*s", entry->name, at->key ? "_per_" : "",
             (int)key.len, key.data, rollup.len ? "." : "", (int)rollup.len,
             rollup.len ? rollup.data : "");
    return true;
}

static bool has_word(const char *list, struct nvtxt_slice word) {
    struct nvtxt_slice one;
    for (unsigned i = 0; (one = report_catalogue_word(list, i)).data; i++) {
        if (nvtxt_slice_equal(one, word)) {
            return true;
        }
    }
    return false;
}

// "90", "99.9": more than 0, at most 100.
static bool read_percent(struct nvtxt_slice text, double *percent) {
    double value = 0, place = 1;
    bool point = false, digit = false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '.' && digit && !point && i + 1 < text.len) {
            point = true;
        } else if (nvtxt_char_is(text.data[i], NVTXT_CHAR_DIGIT) && i < 12) {
            value = value * 10 + (text.data[i] - '0');
            place *= point ? 10 : 1;
            digit = true;
        } else {
            return false;
        }
    }
    *percent = value / place;
    return digit && *percent > 0 && *percent <= 100;
}

static bool has_percentiles(const struct report_catalogue_entry *entry) {
    return has_word(entry->rollups, NVTXT_SLICE("p90"));
}

static void set_unit(struct report_catalogue_metric *metric) {
    const char *unit = metric->rollup == REPORT_PCT_OF_ELAPSED ? "%" : metric->entry->unit;
    snprintf(metric->unit, sizeof(metric->unit), "%s%s", unit,
             metric->rollup == REPORT_PER_SECOND ? "/s" : "");
}

static bool find_rollup(struct report_catalogue_metric *metric, struct nvtxt_slice word) {
    metric->type = metric->entry->type;
    if (word.len > 0 && word.data[0] == 'p' && has_percentiles(metric->entry)) {
        metric->rollup = REPORT_PERCENTILE;
        return read_percent((struct nvtxt_slice){word.data + 1, word.len - 1}, &metric->percent);
    }
    if (!has_word(metric->entry->rollups, word)) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(rollups); i++) {
        if (nvtxt_slice_equal(word, nvtxt_slice_of(rollups[i].word))) {
            metric->rollup = rollups[i].rollup;
            metric->type = rollups[i].real ? REPORT_DOUBLE : metric->type;
            return true;
        }
    }
    return false;
}

static bool find_key(struct report_catalogue_metric *metric, struct nvtxt_slice word) {
    if (!has_word(metric->entry->keys, word)) {
        return false;
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (nvtxt_slice_equal(word, nvtxt_slice_of(keys[i].word))) {
            metric->key = keys[i].key;
            return true;
        }
    }
    return false;
}

// Takes `name` as one of that entry: what is after its base is a key, a point and a roll-up.
static bool take_apart(struct nvtxt_slice name, struct report_catalogue_metric *metric) {
    static const char per[] = "_per_";
    const struct report_catalogue_entry *entry = metric->entry;
    name.data += strlen(entry->name);
    name.len -= strlen(entry->name);
    if (entry->rollups[0] == '\0') {
        metric->type = entry->type;
        return name.len == 0;
    }
    const char *point = name.len ? memchr(name.data, '.', name.len) : NULL;
    if (!point) {
        return false;
    }
    struct nvtxt_slice key = {name.data, (size_t)(point - name.data)};
    struct nvtxt_slice rollup = {point + 1, name.len - key.len - 1};
    if (key.len == 0) {
        return !entry->always_keyed && find_rollup(metric, rollup);
    }
    if (!nvtxt_starts_with(key, per)) {
        return false;
    }
    key.data += sizeof(per) - 1;
    key.len -= sizeof(per) - 1;
    return find_key(metric, key) && find_rollup(metric, rollup);
}

bool report_catalogue_find(struct nvtxt_slice name, struct report_catalogue_metric *metric) {
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        *metric = (struct report_catalogue_metric){.entry = &entries[i]};
        if (nvtxt_starts_with(name, entries[i].name) && take_apart(name, metric)) {
            set_unit(metric);
            return true;
        }
    }
    return false;
}
