// SPDX-License-Identifier: Apache-2.0
//
// A name is UNIT__QUANTITY[.ROLLUP[.SUBMETRIC]] or UNIT__QUANTITY.RATIO: the words are found after
// the points. The type is that of the base, whatever is computed of it. Names of older tools have
// underscores for points; of them the words at the end and within tell the unit.
#include "report/launch/launches.h"

#include <stdio.h>
#include <string.h>

static const char *const rollups[] = {"avg", "max", "min", "sum", NULL};
static const char *const ratios[] = {"ratio", "pct", "max_rate", NULL};
static const char *const subtypes[] = {
    "peak_sustained",
    "peak_sustained_active",
    "peak_sustained_active_per_second",
    "peak_sustained_elapsed",
    "peak_sustained_elapsed_per_second",
    "peak_sustained_frame",
    "peak_sustained_frame_per_second",
    "peak_sustained_region",
    "peak_sustained_region_per_second",
    "per_cycle_active",
    "per_cycle_elapsed",
    "per_cycle_in_frame",
    "per_cycle_in_region",
    "per_region",
    "per_second",
    "pct_of_peak_sustained_active",
    "pct_of_peak_sustained_elapsed",
    "pct_of_peak_sustained_frame",
    "pct_of_peak_sustained_region",
    NULL,
};

// Whether `text` is the word. A point within is an underscore there: `.peak_sustained.per_second`.
static bool is_word(const char *word, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (word[i] != (text[i] == '.' ? '_' : text[i])) {
            return false;
        }
    }
    return word[len] == '\0';
}

static const char *find_word(const char *const *words, const char *text, size_t len) {
    while (*words && !is_word(*words, text, len)) {
        words++;
    }
    return *words;
}

// Whether the quantity, which ends at `point`, is a throughput.
static bool is_throughput(const char *name, const char *point) {
    static const char end[] = "_throughput";
    size_t len = sizeof(end) - 1;
    return (size_t)(point - name) > len && memcmp(point - len, end, len) == 0;
}

// ---- The unit -----------------------------------------------------------------------------------

static bool begins_with(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

// Whether the quantity has the word, between underscores.
static bool has_word(struct nvtxt_slice quantity, const char *word) {
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= quantity.len; i++) {
        bool begins = i == 0 || quantity.data[i - 1] == '_';
        bool ends = i + len == quantity.len || quantity.data[i + len] == '_';
        if (begins && ends && memcmp(quantity.data + i, word, len) == 0) {
            return true;
        }
    }
    return false;
}

// "bytes_per_sector" is no number of bytes.
static const char *unit_of(struct nvtxt_slice quantity) {
    return begins_with(quantity.data, "time_") ? "ns"
           : has_word(quantity, "per")         ? ""
           : has_word(quantity, "cycles")      ? "cycle"
           : has_word(quantity, "bytes")       ? "byte"
                                               : "";
}

static const char *per_second(const char *unit) {
    static const char *const units[] = {"/s", "cycle/s", "byte/s"};
    return units[strcmp(unit, "cycle") == 0 ? 1 : strcmp(unit, "byte") == 0 ? 2 : 0];
}

// After the roll-up nothing, or what changes no unit.
const char *report_metric_unit(const char *name) {
    const char *quantity = strstr(name, "__");
    if (!quantity || begins_with(quantity, "__attribute_")) {
        return "";
    }
    quantity += 2;
    const struct nvtxt_slice base = {quantity, strcspn(quantity, ".")};
    const char *word = quantity + base.len, *unit = unit_of(base);
    if (*word && find_word(rollups, word + 1, strcspn(word + 1, "."))) {
        word += 1 + strcspn(word + 1, ".");
    }
    bool is_percent = begins_with(word, ".pct") || nvtxt_ends_with(name, "_pct");
    return is_percent                         ? "%"
           : strcmp(word, ".per_second") == 0 ? per_second(unit)
           : *word                            ? ""
                                              : unit;
}

// ---- The words ----------------------------------------------------------------------------------

// What the first word of a name stands for, in the words of the public documentation.
static const char *const units[][2] = {
    {"dram", "device memory"},
    {"fbpa", "memory controllers"},
    {"fe", "frontend"},
    {"gpc", "graphics processing clusters"},
    {"gpu", "GPU"},
    {"gr", "graphics engine"},
    {"idc", "indexed constant cache"},
    {"l1tex", "L1/TEX caches"},
    {"ltc", "L2 cache"},
    {"lts", "L2 cache slices"},
    {"pcie", "PCI Express"},
    {"sm", "streaming multiprocessors"},
    {"smsp", "SM sub-partitions"},
    {"sys", "system"},
    {"tpc", "texture processing clusters"},
    {NULL, NULL},
};

static void describe(const char *name, char text[REPORT_DESCRIPTION_BYTES]) {
    const char *quantity = strstr(name, "__");
    size_t len = quantity ? (size_t)(quantity - name) : 0, i = 0;
    while (units[i][0] && (strlen(units[i][0]) != len || memcmp(units[i][0], name, len) != 0)) {
        i++;
    }
    if (!units[i][0] || begins_with(quantity, "__attribute_")) {
        return;
    }
    size_t at = (size_t)snprintf(text, REPORT_DESCRIPTION_BYTES, "%s: ", units[i][1]);
    for (const char *from = quantity + 2; *from && at + 3 < REPORT_DESCRIPTION_BYTES; from++) {
        if (*from == '.') {
            text[at++] = ',';
        }
        text[at++] = *from == '.' || *from == '_' ? ' ' : *from;
    }
    text[at] = '\0';
}

struct report_metric_words report_metric_words(const char *name) {
    struct report_metric_words words = {.type = "other"};
    const char *point = strchr(name, '.');
    describe(name, words.description);
    if (!point || strstr(name, "__attribute_")) {
        return words;
    }
    const char *word = point + 1;
    size_t len = strcspn(word, ".");
    words.type = "counter";
    words.rollup = find_word(rollups, word, len);
    const char *rest = words.rollup ? word + len + (word[len] == '.') : word;
    const char *ratio = find_word(ratios, rest, strlen(rest));
    words.subtype = ratio ?: find_word(subtypes, rest, strlen(rest));
    if (is_throughput(name, point)) {
        words.type = "throughput";
    } else if (ratio || strcmp(rest, "pct_of_elapsed") == 0) {
        words.type = "ratio";
    }
    return words;
}
