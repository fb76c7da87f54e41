// SPDX-License-Identifier: Apache-2.0
//
// Each line is masked again when it is written: what a million lines have in their places is never
// kept. Lines of one time stand as they were stored. A percentile is the nearest rank, the median
// the mean of the two middle values, as everywhere.
#include "report/logs/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/base/origin.h"
#include "protocol/table/arrays.h"

#define WHOLE_MOST 9007199254740992.0 // 2^53: a double has all digits of what is below

// ---- Lines and figures --------------------------------------------------------------------------

static int find_lines(struct report_values *values) {
    const struct report_capture *capture = values->capture;
    struct report_mask mask;
    for (size_t i = 0; i < capture->event_count; i++) {
        const struct report_event *event = &capture->events[i];
        if (!(event->flags & REPORT_SELECTED) || !report_is_line(capture, event)) {
            continue;
        }
        report_mask(&mask, report_event_text(capture, event));
        struct nvtxt_slice pattern = report_mask_pattern(&mask);
        if (!nvtxt_slice_equal(pattern, report_mask_pattern(&values->wanted)) &&
            !nvtxt_slice_equal(pattern, values->text)) {
            continue;
        }
        if (nvtxt_grow(&values->lines, &values->room, values->count + 1, sizeof(uint32_t)) < 0) {
            return nvtxt_origin(-ENOMEM);
        }
        values->places = values->count == 0 ? mask.place_count : values->places;
        values->lines[values->count++] = (uint32_t)i;
    }
    return 0;
}

static void mask_line(const struct report_values *values, size_t line, struct report_mask *mask) {
    const struct report_capture *capture = values->capture;
    report_mask(mask, report_event_text(capture, &capture->events[values->lines[line]]));
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return NVTXT_ORDER(a, b);
}

static void sum_up(struct report_place_figures *figures, double *numbers, size_t count) {
    *figures = (struct report_place_figures){.numbers = count};
    if (count > 0) {
        qsort(numbers, count, sizeof(*numbers), by_value);
        size_t rank = (count * 9 + 9) / 10 - 1;
        figures->min = numbers[0];
        figures->median =
            count % 2 ? numbers[count / 2] : numbers[count / 2 - 1] / 2 + numbers[count / 2] / 2;
        figures->p90 = numbers[rank];
        figures->max = numbers[count - 1];
    }
}

static int by_time(const void *left, const void *right, void *context) {
    const struct report_event *events = context;
    const struct report_event *a = &events[*(const uint32_t *)left];
    const struct report_event *b = &events[*(const uint32_t *)right];
    return NVTXT_ORDER(a->start, b->start) ?: NVTXT_ORDER(a->store, b->store)
               ?: NVTXT_ORDER(a->row, b->row);
}

static int find_figures(struct report_values *values) {
    struct report_mask mask;
    double *numbers = malloc((values->count + 1) * sizeof(*numbers));
    for (size_t place = 0; numbers && place < values->places; place++) {
        size_t count = 0;
        for (size_t i = 0; i < values->count; i++) {
            mask_line(values, i, &mask);
            count +=
                place < mask.place_count && report_mask_number(mask.places[place], &numbers[count]);
        }
        sum_up(&values->figures[place], numbers, count);
    }
    int r = numbers ? 0 : nvtxt_origin(-ENOMEM);
    free(numbers);
    return r;
}

int report_values_init(struct report_values *values, const struct report_capture *capture,
                       struct nvtxt_slice text) {
    *values = (struct report_values){.capture = capture, .text = text};
    report_mask(&values->wanted, text);
    int r = find_lines(values);
    if (r == 0 && values->count > 0) {
        qsort_r(values->lines, values->count, sizeof(*values->lines), by_time, capture->events);
    }
    return r ?: find_figures(values);
}

void report_values_deinit(struct report_values *values) {
    free(values->lines);
    *values = (struct report_values){0};
}

// ---- Tables -------------------------------------------------------------------------------------

static const struct report_column figure_columns[] = {
    {"Place", REPORT_COLUMN_LABEL}, {"Numbers", REPORT_COLUMN_NUMBER}, {"Min", REPORT_COLUMN_MIXED},
    {"Med", REPORT_COLUMN_MIXED},   {"P90", REPORT_COLUMN_MIXED},      {"Max", REPORT_COLUMN_MIXED},
};

static struct report_cell place_cell(struct report_table *table, size_t place) {
    char name[24];
    snprintf(name, sizeof(name), "#%zu", place + 1);
    return report_cell_copy(table, nvtxt_slice_of(name));
}

// Whole numbers without a point.
static struct report_cell number_cell(double value) {
    bool whole = fabs(value) < WHOLE_MOST && value == floor(value);
    return whole ? report_cell_int((int64_t)value) : report_cell_real(value);
}

int report_values_figures_table(struct report_table *table, const struct report_values *values) {
    int r = 0;
    report_table_init(table, "values", figure_columns, 6);
    for (size_t i = 0; r == 0 && i < values->places; i++) {
        const struct report_place_figures *of = &values->figures[i];
        bool any = of->numbers > 0;
        const struct report_cell cells[] = {
            place_cell(table, i),
            report_cell_uint(of->numbers),
            any ? number_cell(of->min) : REPORT_NO_CELL,
            any ? number_cell(of->median) : REPORT_NO_CELL,
            any ? number_cell(of->p90) : REPORT_NO_CELL,
            any ? number_cell(of->max) : REPORT_NO_CELL,
        };
        r = report_table_add(table, cells);
    }
    return r ?: table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

#define BEFORE 2 // columns before those of places: time, level

static int begin_lines(struct report_table *table, const struct report_values *values) {
    report_table_init(table, "lines", NULL, 0);
    struct report_column *columns = report_table_columns(table, BEFORE + values->places + 1);
    if (!columns) {
        return nvtxt_origin(-ENOMEM);
    }
    columns[0] = (struct report_column){"Start (ns)", REPORT_COLUMN_MOMENT};
    columns[1] = (struct report_column){"Level", REPORT_COLUMN_LABEL};
    for (size_t i = 0; i < values->places; i++) {
        struct report_cell name = place_cell(table, i);
        columns[BEFORE + i] = (struct report_column){name.text, REPORT_COLUMN_ID};
    }
    columns[BEFORE + values->places] = (struct report_column){"Source", REPORT_COLUMN_TEXT};
    return table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

static int put_line(struct report_table *table, const struct report_values *values, size_t line) {
    const struct report_capture *capture = values->capture;
    const struct report_event *event = &capture->events[values->lines[line]];
    const char *level = nvtxt_level_name(report_line_level(capture, event));
    char made[REPORT_SOURCE_NAME];
    struct report_mask mask;
    struct report_cell *cells = report_table_row(table);
    if (!cells) {
        return nvtxt_origin(-ENOMEM);
    }
    mask_line(values, line, &mask);
    cells[0] = report_cell_int(event->start);
    cells[1] = level ? report_cell_text(nvtxt_slice_of(level)) : REPORT_NO_CELL;
    for (size_t i = 0; i < values->places && i < mask.place_count; i++) {
        cells[BEFORE + i] = report_cell_text(mask.places[i]);
    }
    cells[BEFORE + values->places] =
        report_cell_copy(table, report_source_name(&capture->sources[event->source], made));
    return table->failed ? nvtxt_origin(-ENOMEM) : 0;
}

int report_values_lines_table(struct report_table *table, const struct report_values *values) {
    int r = begin_lines(table, values);
    for (size_t i = 0; r == 0 && i < values->count; i++) {
        r = put_line(table, values, i);
    }
    return r;
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_places(struct report_json *json, const struct report_values *values) {
    report_json_array(json, "places");
    for (size_t i = 0; i < values->places; i++) {
        const struct report_place_figures *of = &values->figures[i];
        report_json_object(json, NULL);
        report_json_uint(json, "numbers", of->numbers);
        if (of->numbers > 0) {
            report_json_double(json, "min", of->min);
            report_json_double(json, "median", of->median);
            report_json_double(json, "p90", of->p90);
            report_json_double(json, "max", of->max);
        }
        report_json_end_object(json);
    }
    report_json_end_array(json);
}

static void put_values(struct report_json *json, const struct report_mask *mask) {
    double number;
    report_json_array(json, "values");
    for (size_t i = 0; i < mask->place_count; i++) {
        if (report_mask_number(mask->places[i], &number)) {
            report_json_double(json, NULL, number);
        } else {
            report_json_slice(json, NULL, mask->places[i]);
        }
    }
    report_json_end_array(json);
}

void report_values_json(struct report_json *json, const struct report_values *values) {
    const struct report_capture *capture = values->capture;
    struct report_mask mask;
    report_json_slice(json, "pattern", report_mask_pattern(&values->wanted));
    put_places(json, values);
    report_json_array(json, "matches");
    for (size_t i = 0; i < values->count && !json->out->error; i++) {
        const struct report_event *event = &capture->events[values->lines[i]];
        const struct report_source *source = &capture->sources[event->source];
        mask_line(values, i, &mask);
        report_json_object(json, NULL);
        report_json_int(json, "start", event->start);
        report_json_text(json, "level", nvtxt_level_name(report_line_level(capture, event)));
        report_json_uint(json, "store", source->store);
        report_json_int(json, "sourceId", source->id);
        report_json_int(json, "row", event->row);
        put_values(json, &mask);
        report_json_end_object(json);
    }
    report_json_end_array(json);
}
