// SPDX-License-Identifier: Apache-2.0
//
// What a simulation stands on: work that waits in turns, and times that are counted in classes.
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "protocol/base/clock.h"
#include "ship/simulate/inner.h"

#define LONG_MS 3600000
#define WORKERS 3
#define MANY 600

// ---- Fibers -------------------------------------------------------------------------------------

struct pass { // each worker waits for a byte, and sends the next one its own
    int pipes[WORKERS][2];
    int signal[2];
    int heard;
    size_t order[WORKERS], count;
};

static void hand_on(void *context, size_t index) {
    struct pass *pass = context;
    struct pollfd fd = {.fd = pass->pipes[index][0], .events = POLLIN};
    cr_assert_eq(fibers_poll(&fd, 1, LONG_MS), 1);
    cr_assert_eq(fd.revents, POLLIN);
    pass->order[pass->count++] = index;
    if (index > 0) {
        cr_assert_eq(write(pass->pipes[index - 1][1], "", 1), 1);
    }
}

static bool hear(void *context) {
    struct pass *pass = context;
    pass->heard++;
    return false;
}

static struct pass pass_of(void) {
    struct pass pass = {0};
    cr_assert_eq(pipe(pass.signal), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        cr_assert_eq(pipe(pass.pipes[i]), 0);
    }
    return pass;
}

static struct fibers_plan plan_of(struct pass *pass, void (*work)(void *, size_t)) {
    return (struct fibers_plan){WORKERS, work, pass, pass->signal[0], hear};
}

Test(ship_simulate, work_waits_while_other_work_goes_on) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, hand_on);
    cr_assert_eq(write(pass.pipes[WORKERS - 1][1], "", 1), 1);
    cr_assert_eq(fibers_run(&plan), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        cr_assert_eq(pass.order[i], WORKERS - 1 - i);
    }
    cr_assert_eq(pass.heard, 0);
}

static void wait_a_little(void *context, size_t index) {
    struct pass *pass = context;
    struct pollfd fd = {.fd = pass->pipes[index][0], .events = POLLIN};
    int64_t begun = nvtxt_monotonic_ms();
    cr_assert_eq(fibers_poll(&fd, 1, 20), 0);
    cr_assert_geq(nvtxt_monotonic_ms() - begun, 20);
}

Test(ship_simulate, a_wait_ends_with_its_time) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, wait_a_little);
    cr_assert_eq(fibers_run(&plan), 0);
}

static void sleep_until_heard(void *context, size_t index) {
    struct pass *pass = context;
    if (index == 0) {
        cr_assert_eq(write(pass->signal[1], "", 1), 1);
    }
    fibers_sleep(LONG_MS);
    cr_assert_eq(pass->heard, 1);
}

// It stays readable, and is heard once: the first time says not to listen on.
Test(ship_simulate, a_signal_is_heard_and_ends_all_sleep) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, sleep_until_heard);
    cr_assert_eq(fibers_run(&plan), 0);
    cr_assert_eq(pass.heard, 1);
}

static void allow_open_files(rlim_t soft, rlim_t hard) {
    const struct rlimit limit = {soft, hard};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void wait_for_the_same(void *context, size_t index) {
    struct pass *pass = context;
    struct pollfd fds[] = {{.fd = pass->pipes[0][0], .events = POLLIN},
                           {.fd = pass->signal[0], .events = POLLIN}};
    (void)index;
    cr_assert_eq(fibers_poll(fds, 2, LONG_MS), 1);
    pass->count++;
}

// They wait for more descriptors, counted each time, than poll(2) takes with this limit.
Test(ship_simulate, the_limit_of_open_files_is_raised_for_many, .timeout = 120) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, wait_for_the_same);
    plan.count = MANY;
    allow_open_files(1024, 2048);
    cr_assert_eq(write(pass.pipes[0][1], "", 1), 1);
    cr_assert_eq(fibers_run(&plan), 0);
    cr_assert_eq(pass.count, MANY);
}

Test(ship_simulate, nothing_is_run_where_the_limit_cannot_be_raised, .timeout = 120) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, wait_for_the_same);
    plan.count = MANY;
    allow_open_files(1024, 1024);
    cr_assert_eq(write(pass.pipes[0][1], "", 1), 1);
    cr_assert_eq(fibers_run(&plan), -EMFILE);
    cr_assert_eq(pass.count, 0);
}

static void wait_without_descriptors(void *context, size_t index) {
    if (index == 0) {
        allow_open_files(1, 1024);
    }
    wait_for_the_same(context, index);
}

Test(ship_simulate, a_wait_that_is_refused_ends_all_work, .timeout = 120) {
    struct pass pass = pass_of();
    struct fibers_plan plan = plan_of(&pass, wait_without_descriptors);
    cr_assert_eq(fibers_run(&plan), -EINVAL);
    allow_open_files(1024, 1024); // LeakSanitizer opens files at the end
}

// ---- Times --------------------------------------------------------------------------------------

Test(ship_simulate, quantiles_are_right_within_4_percent) {
    static struct measure measure;
    cr_assert_eq(measure_quantile(&measure, 99), 0);
    for (int64_t us = 1; us <= 1000000; us++) {
        measure_add(&measure, us * 1000);
    }
    for (int64_t percent = 1; percent <= 100; percent++) {
        int64_t wanted = percent * 10000 * 1000, got = measure_quantile(&measure, percent);
        cr_assert_geq(got, wanted, "%d %%", (int)percent);
        cr_assert_leq(got, wanted + wanted / 25, "%d %%", (int)percent);
    }
    cr_assert_eq(measure.max, INT64_C(1000000000));
    cr_assert_eq(measure_quantile(&measure, 100), measure.max);
}

Test(ship_simulate, times_that_are_none_have_a_class_too) {
    static struct measure measure;
    measure_add(&measure, -1);
    measure_add(&measure, 0);
    cr_assert_leq(measure_quantile(&measure, 99), 1000);
    measure_add(&measure, INT64_MAX);
    cr_assert_eq(measure.max, INT64_MAX);
    cr_assert_gt(measure_quantile(&measure, 99), INT64_C(3600) * 1000000000);
}
