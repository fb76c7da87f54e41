// SPDX-License-Identifier: Apache-2.0
//
// Tables of nvtxt-report stats from hand-made events: each row as one text.
#include "report/stats/reports.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/select/selection.h"
#include "tests/unit/report_kit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void add_cell(char *text, size_t size, const struct report_cell *cell) {
    size_t at = strlen(text);
    switch ((enum report_cell_kind)cell->kind) {
    case REPORT_CELL_EMPTY:
        snprintf(text + at, size - at, "-");
        break;
    case REPORT_CELL_INT:
        snprintf(text + at, size - at, "%" PRId64, cell->int64);
        break;
    case REPORT_CELL_UINT:
        snprintf(text + at, size - at, "%" PRIu64, cell->uint64);
        break;
    case REPORT_CELL_REAL:
        snprintf(text + at, size - at, "%.7g", cell->real);
        break;
    case REPORT_CELL_TEXT:
        snprintf(text + at, size - at, "%.*s", (int)cell->text_len, cell->text);
        break;
    }
}

// The rows, cells separated by `|`, then the notes, which start with `# `; NULL ends `wanted`.
static void check(const struct report_model *model, const char *name, const char *const *wanted) {
    const struct report_stats_report *report = report_stats_find(name);
    struct report_stats_options options = {0};
    struct report_table table;
    char text[1024];
    cr_assert_not_null(report);
    cr_assert_eq(report_stats_make(&table, report, model, &options), 0);
    for (size_t i = 0; i < table.row_count + table.note_count; i++) {
        text[0] = '\0';
        for (size_t k = 0; i < table.row_count && k < table.column_count; k++) {
            if (k > 0) {
                strcat(text, "|");
            }
            add_cell(text, sizeof(text), &table.cells[i * table.column_count + k]);
        }
        if (i >= table.row_count) {
            snprintf(text, sizeof(text), "# %s", table.notes[i - table.row_count]);
        }
        cr_assert_not_null(*wanted, "%s: too many rows: %s", name, text);
        cr_assert_str_eq(text, *wanted, "%s: %s", name, text);
        wanted++;
    }
    cr_assert_null(*wanted, "%s: no row %s", name, *wanted);
    report_table_deinit(&table);
}

#define CHECK(model, name, ...) check(model, name, (const char *const[]){__VA_ARGS__, NULL})

Test(tables, of_the_fixture) {
    struct report_model *model = report_kit_f1();
    CHECK(model, "nvtx_pushpop_trace", //
          "0|100|100|80|20|:step|100|1|0|2|9|-|:9|:step",
          "0|50|50|0|50|:wait|100|2|0|0|3|-|:3|:wait",
          "10|30|20|0|20|:load|100|1|1|0|2|9|:9:2|  :load",
          "30|90|60|40|20|:compute|100|1|1|2|8|9|:9:8|  :compute",
          "40|60|20|0|20|:kernel|100|1|2|0|4|8|:9:8:4|    :kernel",
          "60|80|20|0|20|:kernel|100|1|2|0|7|8|:9:8:7|    :kernel",
          "120|260|140|120|20|:step|100|1|0|2|15|-|:15|:step",
          "130|140|10|0|10|:load|100|1|1|0|12|15|:15:12|  :load",
          "140|250|110|50|60|:compute|100|1|1|1|14|15|:15:14|  :compute",
          "150|200|50|0|50|:kernel|100|1|2|0|13|14|:15:14:13|    :kernel");
    CHECK(model, "nvtx_tree", //
          "240|40|2|120|0|step", "170|80|2|85|1|step;compute", "90|90|3|30|2|step;compute;kernel",
          "30|30|2|15|1|step;load", "50|50|1|50|0|wait");
    CHECK(model, "nvtx_folded", //
          "step|40", "step;compute|80", "step;compute;kernel|90", "step;load|30", "wait|50");
    CHECK(model, "nvtx_thread_sum", //
          "92.30769|240|10|0|2|100|1|-", "19.23077|50|2|3|0|100|2|-");
    CHECK(model, "nvtx_gap_sum", "20|1|20|20|20|100|:step|:step|100|1");
    CHECK(model, "nvtx_concurrency", //
          "0.6538462|1|0|:compute", "0.3461538|1|0|:kernel", "0.1153846|1|0|:load",
          "0.4615385|2|20|:request", "0.9230769|1|0|:step", "0.1923077|1|0|:wait");
    CHECK(model, "nvtx_iteration_sum", "# no iterations declared");
    CHECK(model, "nvtx_kern_sum", "# no kernels: kit0.db has no CUPTI tables");
    CHECK(model, "nvtx_gpu_proj_sum", "# no kernels: kit0.db has no CUPTI tables");
    report_kit_free(model);
}

Test(tables, of_a_selection_have_the_stacks_of_all) {
    struct report_model *model = report_kit_f1();
    for (size_t i = 0; i < model->count; i++) {
        struct report_event *event = &model->capture->events[i];
        if (!nvtxt_slice_equal(report_event_text(model->capture, event), NVTXT_SLICE("kernel"))) {
            event->flags &= (uint8_t)~REPORT_SELECTED;
        }
    }
    report_model_count_selected(model);
    CHECK(model, "nvtx_pushpop_trace", //
          "40|60|20|0|20|:kernel|100|1|2|0|4|8|:9:8:4|    :kernel",
          "60|80|20|0|20|:kernel|100|1|2|0|7|8|:9:8:7|    :kernel",
          "150|200|50|0|50|:kernel|100|1|2|0|13|14|:15:14:13|    :kernel");
    CHECK(model, "nvtx_tree", "90|90|3|30|2|step;compute;kernel");
    CHECK(model, "nvtx_thread_sum", "56.25|90|3|0|2|100|1|-");
    CHECK(model, "nvtx_gap_sum", "70|1|70|70|70|80|:kernel|:kernel|100|1");
    CHECK(model, "nvtx_concurrency", "0.5625|1|0|:kernel");
    report_kit_free(model);
}

Test(tables, know_domains_and_semicolons_and_ranges_that_cross) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "a;b", 0, 100),
        KIT_RANGE(1, "D:a;b", 10, 50),
        KIT_RANGE(2, "a,b", 0, 10),
        KIT_RANGE(1, "D:c", 20, 80), // goes on when the range under it is over
        KIT_RANGE(1, "D:d", 60, 70),
        {KIT_EVENT(REPORT_PUSH_POP, 1, "D:never", 90, 0), .flags = REPORT_OPEN},
        KIT_RANGE(1, "D:e", 95, 96),
        KIT_RANGE(3, "", 0, 0),
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    static const char note[] = "# 1 open range is left out: it has no end";
    CHECK(model, "nvtx_tree", //
          "0|0|1|0|0|", "40|10|1|40|0|D:a,b", "60|50|1|60|1|D:a,b;D:c", "10|10|1|10|1|D:c;D:d",
          "1|1|1|1|1|D:never;D:e", "110|110|2|55|0|a,b", note);
    CHECK(model, "nvtx_folded", //
          "D:a,b|10", "D:a,b;D:c|50", "D:c;D:d|10", "D:never;D:e|1", "a,b|110", note);
    CHECK(model, "nvtx_thread_sum", //
          "100|100|6|0|1|100|1|-", "10|10|1|0|0|100|2|-", "0|0|1|0|0|100|3|-",
          "# 1 open range is counted, but not in the times: it has no end");
    report_kit_free(model);
}

Test(tables, name_the_first_of_the_longest_gaps_and_the_outermost_ranges) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "in", 2, 10),    KIT_RANGE(1, "out", 0, 10),   KIT_RANGE(1, "next in", 15, 16),
        KIT_RANGE(1, "next", 15, 20), KIT_RANGE(1, "none", 22, 22), KIT_RANGE(1, "last", 25, 30),
        KIT_RANGE(2, "x", 0, 10),     KIT_RANGE(2, "y", 20, 30),
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    CHECK(model, "nvtx_gap_sum", //
          "10|2|5|5|5|10|:out|:next|100|1", "10|1|10|10|10|10|:x|:y|100|2");
    report_kit_free(model);
}

Test(tables, of_iterations) {
    struct report_model *model = report_kit_f1();
    struct report_selection selection = {.has_iterations = true,
                                         .iterations = {.name = NVTXT_SLICE("kernel")}};
    cr_assert_eq(report_iterations_init(&model->iterations, model->capture, &selection), 0);
    CHECK(model, "nvtx_iteration_sum", //
          "0|40|20|-|-|100|1", "1|60|20|20|-|100|1", "2|150|50|90|yes|100|1");
    report_iterations_deinit(&model->iterations);
    selection.skip_iterations = 1;
    cr_assert_eq(report_iterations_init(&model->iterations, model->capture, &selection), 0);
    CHECK(model, "nvtx_iteration_sum", //
          "1|60|20|-|-|100|1", "2|150|50|90|-|100|1", "# the first iteration is left out");
    report_kit_free(model);

    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "it", 0, 30), KIT_RANGE(1, "it", 30, 50), KIT_RANGE(1, "it", 50, 70)};
    model = report_kit_model(events, COUNT(events));
    selection = (struct report_selection){.has_iterations = true,
                                          .iterations = {.name = NVTXT_SLICE("it")}};
    cr_assert_eq(report_iterations_init(&model->iterations, model->capture, &selection), 0);
    CHECK(model, "nvtx_iteration_sum", // 30 is 1.5 times the median, not more
          "0|0|30|-|-|100|1", "1|30|20|30|-|100|1", "2|50|20|20|-|100|1");
    report_kit_free(model);
}

Test(tables, of_kernels) {
    static const struct report_kit_event events[] = {
        KIT_RANGE(1, "step", 0, 100),
        KIT_RANGE(1, "D:net", 5, 40),
        KIT_RANGE(1, "step", 100, 200),
        KIT_RANGE(2, "step", 0, 100),
        KIT_RANGE(1, "none", 50, 60),
        KIT_START_END(1, "request", 0, 300),
        {KIT_EVENT(REPORT_PUSH_POP, 1, "open", 0, 0), .flags = REPORT_OPEN},
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    struct report_capture *capture = model->capture;
    // Messages 0 and 1, step and net, are names of kernels too.
    struct report_kernel kernels[] = {
        {.start = 120, .end = 150, .name = 0, .thread = 0, .call_start = 10},
        {.start = 40, .end = 50, .name = 0, .thread = 0, .call_start = 40},
        {.start = 300, .end = 340, .name = 1, .thread = 0, .call_start = 100},
        {.start = 10, .end = 20, .name = 0, .thread = 0, .call_start = 20},
        {.start = 10, .end = 20, .name = 0, .thread = 0, .call_start = 200},
        {.start = 10, .end = 20, .name = 0, .thread = REPORT_NONE, .call_start = 20},
        {.start = 10, .end = 11, .name = 0, .thread = 1, .call_start = 99},
    };
    capture->kernels = kernels;
    capture->kernel_count = COUNT(kernels);
    capture->stores[0].has_kernels = true;
    static const char note[] = "# 1 open range is left out: it has no end";
    CHECK(model, "nvtx_kern_sum", //
          ":step|PushPop|100|1|1|3|50|16.66667|10|10|30|11.54701|step",
          ":step|PushPop|100|1|1|1|40|40|40|40|40|0|net",
          "D:net|PushPop|100|1|1|2|40|20|20|10|30|14.14214|step",
          ":step|PushPop|100|2|1|1|1|1|1|1|1|0|step", note);
    CHECK(model, "nvtx_gpu_proj_sum", //
          ":step|PushPop|181|300|3|60.33333|40|1|140|71.69612|5|1.666667|0.6666667|0.3333333",
          "D:net|PushPop|140|35|1|140|140|140|140|0|2|2|0|0", note);
    capture->kernels = NULL;
    capture->kernel_count = 0;
    report_kit_free(model);
}

Test(tables, refuse_texts_that_would_take_all_memory) {
    struct report_table table;
    report_table_init(&table, "t", NULL, 0);
    cr_assert_null(report_table_room(&table, SIZE_MAX));
    cr_assert_null(report_table_room(&table, REPORT_TABLE_TEXT_BYTES));
    cr_assert_not_null(report_table_room(&table, 1 << 16));
    cr_assert_null(report_table_room(&table, REPORT_TABLE_TEXT_BYTES - (1 << 16)));
    report_table_deinit(&table);
}
