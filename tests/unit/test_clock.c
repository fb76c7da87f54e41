// SPDX-License-Identifier: Apache-2.0
//
// Ticks to nanoseconds: exact at the points, between them within what a drift allows, never
// backwards; over pauses and when the counter begins again; and on this machine as it is.
#include "lib/ring/clock.h"

#include <criterion/criterion.h>
#include <unistd.h>

#define RATE 0.4 // of a counter of 2.5 GHz
#define MS 1000000u

static struct clock_map map;

static uint64_t ticks_at(uint64_t ns) {
    return 1000000 + (uint64_t)((double)ns / RATE);
}

static void add(uint64_t ns) {
    clock_map_add(&map, (struct clock_point){ticks_at(ns), ns});
}

static void is_near(uint64_t ns, uint64_t wanted, uint64_t error) {
    uint64_t difference = ns > wanted ? ns - wanted : wanted - ns;
    cr_assert_leq(difference, error, "%llu and not %llu", (unsigned long long)ns,
                  (unsigned long long)wanted);
}

static void start(void) {
    clock_map_init(&map, true, (struct clock_point){ticks_at(100 * MS), 100 * MS}, 0);
}

TestSuite(clock, .init = start);

Test(clock, is_exact_at_all_points_however_many_there_were) {
    for (uint64_t ns = 110 * MS; ns < 20000ull * MS; ns += 10 * MS) {
        add(ns);
        is_near(clock_map_ns(&map, ticks_at(ns)), ns, 1);
        is_near(clock_map_ns(&map, ticks_at(ns - 3 * MS)), ns - 3 * MS, 2);
        is_near(clock_map_ns(&map, ticks_at(ns + 2 * MS)), ns + 2 * MS, 2);
        is_near(clock_map_ns(&map, ticks_at(ns / 2 + 50 * MS)), ns / 2 + 50 * MS, 2);
    }
    is_near(clock_map_ns(&map, ticks_at(50 * MS)), 50 * MS, 2);
    is_near((uint64_t)(map.rate * 1e9), (uint64_t)(RATE * 1e9), 1);
}

Test(clock, follows_a_clock_that_is_slewed) {
    uint64_t ns = 110 * MS, ticks = ticks_at(ns), last = 0;
    add(ns);
    for (int i = 0; i < 2000; i++) {
        double rate = RATE * (i / 500 % 2 ? 1.0005 : 0.9995); // the most that adjtime does
        for (uint64_t part = 0; part < 10; part++) {
            uint64_t time = clock_map_ns(&map, ticks + part * 2500000);
            cr_assert_geq(time + 15, last, "no more backwards than a caller mends");
            is_near(time, ns + (uint64_t)((double)part * 2500000 * rate), 12000);
            last = time;
        }
        ticks += 25000000;
        ns += (uint64_t)(25000000 * rate);
        clock_map_add(&map, (struct clock_point){ticks, ns});
    }
}

Test(clock, grows_with_the_ticks) {
    for (uint64_t i = 1; i < 200; i++) {
        uint64_t ns = 100 * MS + i * i * 7001;
        clock_map_add(&map, (struct clock_point){ticks_at(ns) + i % 3 * 40, ns}); // not exact
    }
    uint64_t last = 0;
    for (uint64_t ns = 90 * MS; ns < 400 * MS; ns += 1777) {
        uint64_t time = clock_map_ns(&map, ticks_at(ns));
        cr_assert_geq(time, last);
        last = time;
    }
}

Test(clock, finds_a_pause_of_the_machine) {
    for (uint64_t ns = 110 * MS; ns <= 200 * MS; ns += 10 * MS) {
        add(ns);
    }
    uint64_t pause = 3600ull * 2500000000u; // of an hour: the counter went on, the clock did not
    clock_map_add(&map, (struct clock_point){ticks_at(210 * MS) + pause, 210 * MS});
    is_near(clock_map_ns(&map, ticks_at(209 * MS) + pause), 209 * MS, 10);
    is_near(clock_map_ns(&map, ticks_at(201 * MS)), 200 * MS, 10); // not later than known
    clock_map_add(&map, (struct clock_point){ticks_at(220 * MS) + pause, 220 * MS});
    is_near(clock_map_ns(&map, ticks_at(213 * MS) + pause), 213 * MS, 10);
    is_near(clock_map_ns(&map, ticks_at(150 * MS)), 150 * MS, 10);
}

Test(clock, bears_a_counter_that_begins_again) {
    for (uint64_t ns = 110 * MS; ns <= 200 * MS; ns += 10 * MS) {
        add(ns);
    }
    clock_map_add(&map, (struct clock_point){500, 210 * MS});
    is_near(clock_map_ns(&map, 500 + 2500000), 211 * MS, 10);
    is_near(clock_map_ns(&map, 0), 210 * MS, 1000);
}

Test(clock, leaves_nanoseconds_as_they_are) {
    clock_map_init(&map, false, (struct clock_point){7, 7}, 0);
    clock_map_add(&map, (struct clock_point){8, 8});
    cr_assert_eq(clock_map_ns(&map, 12345), 12345);
}

Test(clock, is_that_of_the_machine) {
    clock_choose();
    clock_map_init(&map, clock_is_tsc, clock_now(), 0);
    for (int i = 0; i < 30; i++) {
        uint64_t before = clock_monotonic(), record = clock_record(), after = clock_monotonic();
        usleep(3000);
        clock_map_add(&map, clock_now());
        uint64_t ns = clock_map_ns(&map, record);
        cr_assert(ns + 5000 >= before && ns <= after + 5000, "%llu is not from %llu to %llu",
                  (unsigned long long)ns, (unsigned long long)before, (unsigned long long)after);
    }
}
