// SPDX-License-Identifier: Apache-2.0
//
// What is not among the rows is the last one: `others`, with its number of lines alone.
#include "report/logs/patterns.h"

#include <inttypes.h>
#include <stdio.h>

#include "protocol/base/buf.h"
#include "protocol/base/origin.h"

static const struct report_column columns[] = {
    {"Count", REPORT_COLUMN_NUMBER},     {"Level", REPORT_COLUMN_LABEL},
    {"Levels", REPORT_COLUMN_LABEL},     {"First (ns)", REPORT_COLUMN_MOMENT},
    {"Last (ns)", REPORT_COLUMN_MOMENT}, {"Over Time", REPORT_COLUMN_LABEL},
    {"Sources", REPORT_COLUMN_TEXT},     {"Pattern", REPORT_COLUMN_TEXT},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct report_cell copied(struct report_table *table, struct nvtxt_buf *text) {
    table->failed |= nvtxt_buf_failed(text);
    return report_cell_label(table, (struct nvtxt_slice){text->data, text->len});
}

// "err 3, info 12": those that there are, the worst first; lines without a level are not named.
static struct report_cell levels_cell(struct report_table *table, struct nvtxt_buf *text,
                                      const struct report_pattern *pattern) {
    nvtxt_buf_clear(text);
    for (int level = 0; level < NVTXT_LEVEL_COUNT; level++) {
        if (pattern->levels[level] > 0) {
            nvtxt_buf_add_string(text, text->len > 0 ? ", " : "");
            nvtxt_buf_add_string(text, nvtxt_level_name(level));
            nvtxt_buf_add_pair_uint(text, " ", pattern->levels[level]);
        }
    }
    return copied(table, text);
}

// Then Count and Level say it, and people have more room for the pattern.
static bool has_one_level(const struct report_pattern *pattern) {
    int worst = report_pattern_worst(pattern);
    return worst != NVTXT_LEVEL_NONE && pattern->levels[worst] == pattern->count;
}

static struct report_cell strip_cell(struct report_table *table, struct nvtxt_buf *text,
                                     const struct report_pattern *pattern, size_t steps,
                                     bool blocks) {
    char shown[REPORT_STRIP_TEXT];
    nvtxt_buf_clear(text);
    if (blocks) {
        nvtxt_buf_add(text, shown, report_strip_blocks(shown, pattern->strip, steps));
        return copied(table, text);
    }
    for (size_t i = 0; i < steps; i++) {
        nvtxt_buf_add_pair_uint(text, i > 0 ? " " : "", pattern->strip[i]);
    }
    return copied(table, text);
}

// NULL: the capture does not have it, which cannot be.
static const struct report_source *source_of(const struct report_capture *capture,
                                             const struct report_pattern_source *source) {
    for (size_t i = 0; i < capture->source_count; i++) {
        const struct report_source *one = &capture->sources[i];
        if (one->store == source->store && one->id == source->id) {
            return one;
        }
    }
    return NULL;
}

// A name stands where it is first, with how many sources have it.
static void put_name(struct nvtxt_buf *text, const struct nvtxt_slice *names, size_t count,
                     size_t at) {
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        if (!nvtxt_slice_equal(names[i], names[at])) {
            continue;
        }
        if (i < at) {
            return;
        }
        same++;
    }
    nvtxt_buf_add_string(text, at > 0 ? ", " : "");
    nvtxt_buf_add(text, names[at].data, names[at].len);
    if (same > 1) {
        nvtxt_buf_add_pair_uint(text, " (", same);
        nvtxt_buf_add_string(text, ")");
    }
}

static struct report_cell sources_cell(struct report_table *table, struct nvtxt_buf *text,
                                       const struct report_pattern *pattern,
                                       const struct report_capture *capture) {
    char made[REPORT_PATTERN_SOURCES][REPORT_SOURCE_NAME];
    struct nvtxt_slice names[REPORT_PATTERN_SOURCES];
    size_t count = 0;
    nvtxt_buf_clear(text);
    for (size_t i = 0; i < pattern->source_count; i++) {
        const struct report_source *source = source_of(capture, &pattern->sources[i]);
        if (source) {
            names[count] = report_source_name(source, made[count]);
            count++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        put_name(text, names, count, i);
    }
    nvtxt_buf_add_string(text, pattern->more_sources ? " and more" : "");
    return copied(table, text);
}

static int put_pattern(struct report_table *table, struct nvtxt_buf *text,
                       const struct report_pattern *pattern, size_t steps,
                       const struct report_pattern_view *view) {
    const char *worst = nvtxt_level_name(report_pattern_worst(pattern));
    const struct report_cell cells[COLUMNS] = {
        report_cell_uint(pattern->count),
        worst ? report_cell_text(nvtxt_slice_of(worst)) : REPORT_NO_CELL,
        view->blocks && has_one_level(pattern) ? REPORT_NO_CELL : levels_cell(table, text, pattern),
        report_cell_int(pattern->first_ns),
        report_cell_int(pattern->last_ns),
        strip_cell(table, text, pattern, steps, view->blocks),
        sources_cell(table, text, pattern, view->capture),
        report_cell_text(pattern->text),
    };
    return report_table_add(table, cells);
}

static uint64_t lines_of(struct report_pattern *const *list, size_t count) {
    uint64_t lines = 0;
    for (size_t i = 0; i < count; i++) {
        lines += list[i]->count;
    }
    return lines;
}

// In the largest unit of which it is a whole number.
static void note_width(struct report_table *table, int64_t ns) {
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {
        {INT64_C(86400000000000), "d"},
        {INT64_C(3600000000000), "h"},
        {INT64_C(60000000000), "min"},
        {1000000000, "s"},
        {1000000, "ms"},
        {1000, "us"},
    };
    size_t at = 0;
    while (ns % units[at].ns != 0) { // the least width is 1 us
        at++;
    }
    table->failed |= report_table_note(table, "a step of Over Time is %" PRId64 " %s",
                                       ns / units[at].ns, units[at].name) < 0;
}

static void note_length(struct report_table *table, const struct report_strip_scale *scale,
                        bool blocks) {
    size_t steps = report_strip_steps(scale);
    size_t by = blocks ? (steps + REPORT_STRIP_SHOWN - 1) / REPORT_STRIP_SHOWN : 1;
    if (steps > 0) {
        note_width(table, report_strip_width(scale) * (int64_t)by);
    }
}

int report_pattern_table(struct report_table *table, struct report_patterns *patterns,
                         const struct report_pattern_view *view) {
    size_t count, steps = report_strip_steps(report_patterns_scale(patterns));
    struct report_pattern *const *list = report_patterns_list(patterns, view->most, &count);
    struct nvtxt_buf text = {0};
    int r = 0;
    report_table_init(table, "logs", columns, COLUMNS);
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = put_pattern(table, &text, list[i], steps, view);
    }
    uint64_t others = report_patterns_lines(patterns) - lines_of(list, count);
    if (r == 0 && others > 0) {
        r = report_table_add(table, (const struct report_cell[COLUMNS]){
                                        report_cell_uint(others),
                                        [COLUMNS - 1] = report_cell_text(NVTXT_SLICE("others"))});
    }
    note_length(table, report_patterns_scale(patterns), view->blocks);
    nvtxt_buf_deinit(&text);
    return r ?: table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_levels(struct report_json *json, const struct report_pattern *pattern) {
    report_json_object(json, "levels");
    for (int level = 0; level < NVTXT_LEVEL_COUNT; level++) {
        if (pattern->levels[level] > 0) {
            report_json_uint(json, nvtxt_level_name(level), pattern->levels[level]);
        }
    }
    if (pattern->levels[NVTXT_LEVEL_COUNT] > 0) {
        report_json_uint(json, "none", pattern->levels[NVTXT_LEVEL_COUNT]);
    }
    report_json_end_object(json);
}

static void put_sources(struct report_json *json, const struct report_pattern *pattern,
                        const struct report_capture *capture) {
    char made[REPORT_SOURCE_NAME];
    report_json_array(json, "sources");
    for (size_t i = 0; i < pattern->source_count; i++) {
        const struct report_source *source = source_of(capture, &pattern->sources[i]);
        report_json_object(json, NULL);
        report_json_uint(json, "store", pattern->sources[i].store);
        report_json_int(json, "id", pattern->sources[i].id);
        report_json_slice(json, "name",
                          source ? report_source_name(source, made) : (struct nvtxt_slice){0});
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_bool(json, "moreSources", pattern->more_sources);
}

void report_pattern_json(struct report_json *json, struct report_patterns *patterns,
                         const struct report_pattern_view *view) {
    const struct report_strip_scale *scale = report_patterns_scale(patterns);
    size_t count, steps = report_strip_steps(scale);
    struct report_pattern *const *list = report_patterns_list(patterns, view->most, &count);
    int64_t width = report_strip_width(scale);
    report_json_uint(json, "lines", report_patterns_lines(patterns));
    report_json_optional(json, "beginNs", scale->any && scale->begin > INT64_MIN / width,
                         scale->begin > INT64_MIN / width ? scale->begin * width : 0);
    report_json_optional(json, "stepNs", scale->any, width);
    report_json_array(json, "patterns");
    for (size_t i = 0; i < count; i++) {
        const struct report_pattern *pattern = list[i];
        report_json_object(json, NULL);
        report_json_slice(json, "pattern", pattern->text);
        report_json_uint(json, "count", pattern->count);
        report_json_uint(json, "missed", pattern->missed);
        report_json_text(json, "level", nvtxt_level_name(report_pattern_worst(pattern)));
        put_levels(json, pattern);
        report_json_int(json, "firstNs", pattern->first_ns);
        report_json_int(json, "lastNs", pattern->last_ns);
        report_json_array(json, "counts");
        for (size_t k = 0; k < steps; k++) {
            report_json_uint(json, NULL, pattern->strip[k]);
        }
        report_json_end_array(json);
        put_sources(json, pattern, view->capture);
        report_json_end_object(json);
    }
    report_json_end_array(json);
    report_json_uint(json, "others", report_patterns_lines(patterns) - lines_of(list, count));
}
