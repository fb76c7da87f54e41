// SPDX-License-Identifier: Apache-2.0
//
// Tables of `nvtxt-report stats` from hand-made captures, and how they look in each format.
#include <string.h>

#include "report/stats/reports.h"
#include "report/table/write.h"
#include "tests/unit/report_kit.h"

static const char *const percentile_names[] = {"90", "99.9"};
static const double percentiles[] = {90, 99.9};
static const struct report_stats_options none = {.percentile_count = 0},
                                         two = {.percentiles = percentiles,
                                                .percentile_names = percentile_names,
                                                .percentile_count = 2};
static const struct report_table_view nanoseconds = {.unit_ns = 1};

static struct report_screen screen = {.width = 80};

static char text[65536];

static void show(const char *name, struct report_model *model,
                 const struct report_stats_options *options, const struct report_table_view *view,
                 char format) {
    struct nvtxt_out out;
    struct report_table table;
    struct report_json json;
    cr_assert(nvtxt_out_init(&out, -1) == 0);
    cr_assert(report_stats_make(&table, report_stats_find(name), model, options) == 0);
    report_json_init(&json, &out);
    if (format == 's') {
        report_screen_attach(&out, &screen);
        report_table_text(&out, &table, view);
    } else if (format == 'j') {
        report_table_json(&json, &table, view);
    } else if (format == 't') {
        report_table_text(&out, &table, view);
    } else if (format == 'm') {
        report_table_markdown(&out, &table, view);
    } else {
        report_table_separated(&out, &table, view, format);
    }
    cr_assert(out.error == 0 && out.len < sizeof(text));
    memcpy(text, out.data, out.len);
    text[out.len] = '\0';
    nvtxt_out_deinit(&out);
    report_table_deinit(&table);
    report_kit_free(model);
}

#define SHOWS(wanted) cr_expect_str_eq(text, wanted, "%s", text)

Test(stats, sums_ranges_of_f1) {
    show("nvtx_sum", report_kit_f1(), &none, &nanoseconds, ',');
    SHOWS("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),"
          "Style,Range\n"
          "34.285714285714285,240,2,120.0,120.0,100,140,28.284271247461902,PushPop,:step\n"
          "24.285714285714285,170,2,85.0,85.0,60,110,35.35533905932738,PushPop,:compute\n"
          "17.142857142857142,120,2,60.0,60.0,20,100,56.568542494923804,StartEnd,:request\n"
          "12.857142857142858,90,3,30.0,20.0,20,50,17.320508075688775,PushPop,:kernel\n"
          "7.142857142857143,50,1,50.0,50.0,50,50,0.0,PushPop,:wait\n"
          "4.285714285714286,30,2,15.0,15.0,10,20,7.0710678118654755,PushPop,:load\n");
}

Test(stats, puts_percentiles_after_the_deviation_and_divides_times) {
    const struct report_table_view microseconds = {.unit_ns = 1000};
    show("nvtx_pushpop_sum", report_kit_f1(), &two, &microseconds, '\t');
    SHOWS(
        "Time (%)\tTotal Time (us)\tInstances\tAvg (us)\tMed (us)\tMin (us)\tMax (us)\t"
        "StdDev (us)\tP90 (us)\tP99.9 (us)\tRange\n"
        "41.37931034482759\t0.24\t2\t0.12\t0.12\t0.1\t0.14\t0.0282842712474619\t0.14\t0.14\t:step\n"
        "29.310344827586206\t0.17\t2\t0.085\t0.085\t0.06\t0.11\t0.035355339059327376\t0.11\t0.11\t:"
        "compute\n"
        "15.517241379310345\t0.09\t3\t0.03\t0.02\t0.02\t0.05\t0.017320508075688773\t0.05\t0.05\t:"
        "kernel\n"
        "8.620689655172415\t0.05\t1\t0.05\t0.05\t0.05\t0.05\t0.0\t0.05\t0.05\t:wait\n"
        "5.172413793103448\t0.03\t2\t0.015\t0.015\t0.01\t0.02\t0.007071067811865475\t0.02\t0.02\t:"
        "load\n");
}

Test(stats, shows_marks_of_f1) {
    show("nvtx_mark_sum", report_kit_f1(), &none, &nanoseconds, 'j');
    SHOWS("{\"report\":\"nvtx_mark_sum\",\"columns\":[\"Instances\",\"Rate (1/s)\","
          "\"Avg Interval (ns)\",\"Med Interval (ns)\",\"Min Interval (ns)\","
          "\"Max Interval (ns)\",\"First (ns)\",\"Last (ns)\",\"Mark\"],"
          "\"rows\":[[3,20000000.0,50.0,50.0,40,60,20,120,\":tick\"]],\"notes\":[]}");
}

Test(stats, counts_intervals_within_a_process) {
    const struct report_kit_event events[] = {
        {KIT_EVENT(REPORT_MARK, 1, "tick", 10, 10), .pid = 7},
        {KIT_EVENT(REPORT_MARK, 1, "tick", 12, 12), .pid = 8},
        {KIT_EVENT(REPORT_MARK, 2, "tick", 20, 20), .pid = 7},
        {KIT_EVENT(REPORT_MARK, 1, "tick", 32, 32), .pid = 8},
        KIT_MARK(1, "alone", 5),
    };
    show("nvtx_mark_sum", report_kit_model(events, 5), &none, &nanoseconds, ',');
    cr_expect(strstr(text, "\n4,136363636.36363637,15.0,15.0,10,20,10,32,:tick\n"), "%s", text);
    cr_expect(strstr(text, "\n1,,,,,,5,5,:alone\n"), "%s", text);
}

Test(stats, leaves_open_ranges_out_and_says_so) {
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "a", 0, 1234567),
        {KIT_EVENT(REPORT_PUSH_POP, 1, "b|\x1b[31m", 10, 0), .flags = REPORT_OPEN},
        KIT_RANGE(1, "b|\x1b[31m", 20, 10),
    };
    show("nvtx_sum", report_kit_model(events, 3), &none, &nanoseconds, 't');
    SHOWS("** nvtx_sum:\n\n"
          "Time (%)  Total Time (ns)  Instances     Avg (ns)     Med (ns)   Min (ns)   Max (ns)  "
          "StdDev (ns)  Style    Range\n"
          "--------  ---------------  ---------  -----------  -----------  ---------  ---------  "
          "-----------  -------  --------\n"
          "   100.0        1,234,567          1  1,234,567.0  1,234,567.0  1,234,567  1,234,567  "
          "        0.0  PushPop  :a\n"
          "     0.0                0          1          0.0          0.0          0          0  "
          "        0.0  PushPop  :b| [31m\n"
          "note: 1 open range is left out: it has no end\n");
    show("nvtx_sum", report_kit_model(events, 3), &none, &nanoseconds, 'm');
    cr_expect(strstr(text, "| 0.0 | PushPop | :b\\| \\[31m |\n"), "%s", text);
}

Test(stats, an_empty_table_says_so) {
    show("nvtx_sum", report_kit_model(NULL, 0), &none, &nanoseconds, 't');
    SHOWS("** nvtx_sum:\n\nno rows\n");
}

Test(stats, shortens_names_on_a_terminal) {
    const struct report_table_view terminal = {.limit = 0};
    const struct report_kit_event events[] = {
        KIT_RANGE(1, "a name that is so long that no terminal of eighty columns has room", 0, 10),
    };
    show("nvtx_sum", report_kit_model(events, 1), &none, &terminal, 's');
    cr_expect(strstr(text, "\xE2\x80\xA6"), "%s", text);
    cr_expect(strstr(text, "has room\n") && !strstr(text, "eighty"), "%s", text);
    show("nvtx_sum", report_kit_model(events, 1), &none, &nanoseconds, 't');
    cr_expect(strstr(text, "eighty columns has room\n"), "%s", text);
}

Test(stats, a_long_name_does_not_pad_all_other_rows) {
    static char name[10001];
    struct report_kit_event events[100];
    memset(name, 'x', sizeof(name) - 1);
    for (size_t i = 0; i < 100; i++) {
        events[i] = (struct report_kit_event)KIT_RANGE(1, "a", (int64_t)i * 10, (int64_t)i * 10);
    }
    events[99].name = name;
    show("nvtx_pushpop_trace", report_kit_model(events, 100), &none, &nanoseconds, 't');
    cr_expect(!strstr(text, name), "the name is cut");
    cr_expect_lt(strlen(text), 30000); // the name stands twice
    const struct report_table_view full = {.unit_ns = 1, .full_names = true};
    show("nvtx_pushpop_trace", report_kit_model(events, 100), &none, &full, 't');
    cr_expect(strstr(text, name), "nothing is cut off");
    cr_expect_lt(strlen(text), 60000);
}
