// SPDX-License-Identifier: Apache-2.0
//
// A name is UNIT__QUANTITY[.ROLLUP[.SUBMETRIC]]: the words are found after the points.
#include "report/serve/metric_words.h"

#include <stddef.h>
#include <string.h>

static const char *rollup_of(const char *word) {
    static const char *const rollups[] = {"avg", "max", "min", "sum"};
    size_t len = strcspn(word, ".");
    for (size_t i = 0; i < sizeof(rollups) / sizeof(rollups[0]); i++) {
        if (len == strlen(rollups[i]) && memcmp(rollups[i], word, len) == 0) {
            return rollups[i];
        }
    }
    return NULL;
}

struct report_metric_words report_metric_words(const char *name) {
    const char *point = strchr(name, '.');
    if (!point || strstr(name, "__attribute_")) {
        return (struct report_metric_words){.type = "other"};
    }
    const char *last = strrchr(name, '.') + 1;
    struct report_metric_words words = {.type = "counter", .rollup = rollup_of(point + 1)};
    if (strcmp(last, "ratio") == 0 || strncmp(last, "pct_of_", 7) == 0) {
        words.type = "ratio";
    } else if (strcmp(last, "per_second") == 0) {
        words.type = "throughput";
        words.subtype = "per_second";
    }
    return words;
}
