// SPDX-License-Identifier: Apache-2.0
//
// Iterations: markers of a name, their events, intervals and outliers.
#include "report/model/iterations.h"

#include "report/select/selection.h"
#include "tests/unit/report_kit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct report_selection declaring(const char *name, const char *domain, uint64_t skip) {
    return (struct report_selection){.has_iterations = true,
                                     .iterations = {.name = nvtxt_slice_of(name),
                                                    .domain = nvtxt_slice_of(domain),
                                                    .any_domain = domain == NULL},
                                     .skip_iterations = skip};
}

Test(iterations, are_none_without_a_declaration) {
    struct report_model *model = report_kit_f1();
    struct report_selection nothing = {0};
    cr_assert_eq(report_iterations_init(&model->iterations, model->capture, &nothing), 0);
    cr_assert_not(model->iterations.declared);
    cr_assert_eq(model->iterations.count, 0);
    report_kit_free(model);
}

Test(iterations, of_the_fixture_are_its_steps) {
    struct report_model *model = report_kit_f1();
    struct report_selection selection = declaring("step", "", 0);
    struct report_iterations *its = &model->iterations;
    cr_assert_eq(report_iterations_init(its, model->capture, &selection), 0);
    cr_assert(its->declared);
    cr_assert_eq(its->count, 2);
    cr_assert_eq(its->list[0].duration, 100);
    cr_assert_not(its->list[0].has_interval);
    cr_assert_eq(its->list[0].end - its->list[0].first, 10, "all that starts before 100");
    cr_assert_eq(its->list[1].number, 1);
    cr_assert_eq(its->list[1].duration, 140);
    cr_assert_eq(its->list[1].interval, 120);
    cr_assert_eq(its->list[1].end - its->list[1].first, 5);
    cr_assert_not(its->list[0].is_outlier || its->list[1].is_outlier);
    report_kit_free(model);
}

Test(iterations, that_are_skipped_leave_their_numbers_behind) {
    struct report_model *model = report_kit_f1();
    struct report_selection selection = declaring("step", "", 1);
    struct report_iterations *its = &model->iterations;
    cr_assert_eq(report_iterations_init(its, model->capture, &selection), 0);
    cr_assert_eq(its->skipped, 1);
    cr_assert_eq(its->count, 1);
    cr_assert_eq(its->list[0].number, 1);
    cr_assert_not(its->list[0].has_interval);
    report_iterations_deinit(its);
    selection.skip_iterations = UINT64_MAX;
    cr_assert_eq(report_iterations_init(its, model->capture, &selection), 0);
    cr_assert_eq(its->skipped, 2);
    cr_assert_eq(its->count, 0);
    report_kit_free(model);
}

Test(iterations, know_domains_kinds_processes_and_open_ranges) {
    static const struct report_kit_event events[] = {
        {KIT_EVENT(REPORT_PUSH_POP, 1, "D:it", 0, 10), .pid = 1},
        {KIT_EVENT(REPORT_PUSH_POP, 1, "it", 4, 14), .pid = 2},
        {KIT_EVENT(REPORT_START_END, 1, "D:it", 20, 31), .pid = 1},
        {KIT_EVENT(REPORT_MARK, 1, "D:it", 25, 25), .pid = 1},
        {KIT_EVENT(REPORT_PUSH_POP, 1, "it", 40, 200), .pid = 2},
        {KIT_EVENT(REPORT_PUSH_POP, 1, "it", 50, 50), .pid = 2},
        {KIT_EVENT(REPORT_PUSH_POP, 1, "it", 60, 0), .pid = 2, .flags = REPORT_OPEN},
    };
    struct report_model *model = report_kit_model(events, COUNT(events));
    struct report_iterations *its = &model->iterations;
    struct report_selection selection = declaring("it", NULL, 0);
    cr_assert_eq(report_iterations_init(its, model->capture, &selection), 0);
    static const uint64_t intervals[] = {0, 0, 20, 36, 10};
    static const uint32_t belong[] = {2, 1, 2, 3, 0};
    cr_assert_eq(its->count, 5);
    cr_assert_eq(its->open, 1);
    for (size_t i = 0; i < its->count; i++) {
        cr_assert_eq(its->list[i].number, i);
        cr_assert_eq(its->list[i].has_interval, i > 1);
        cr_assert_eq(its->list[i].interval, intervals[i]);
        cr_assert_eq(its->list[i].end - its->list[i].first, belong[i], "%zu", i);
        cr_assert_eq(its->list[i].is_outlier, i == 3);
    }
    report_iterations_deinit(its);
    selection = declaring("it", "D", 0);
    cr_assert_eq(report_iterations_init(its, model->capture, &selection), 0);
    cr_assert_eq(its->count, 2);
    report_kit_free(model);
}
