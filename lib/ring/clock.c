// SPDX-License-Identifier: Apache-2.0
//
// The kernel uses the counter as its clock only after it has found it constant, the same on all
// processors and not stopped by idle states; it says so in sysfs. The processor must call it
// invariant as well, and the program must be allowed to read it.
//
// When the points are too many, every other one of the older half goes. The first one stays, so the
// rate gets more exact with time.
#include "lib/ring/clock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define SURE_NS 1000000.0 // of a distance that says what the rate is
#define RATE_ERROR 0.002  // more than that is a pause of the machine, and no drift

bool clock_is_tsc;

static bool is_clock_of_kernel(void) {
    char name[8];
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t len = read(fd, name, sizeof(name));
    close(fd);
    return len == 4 && memcmp(name, "tsc\n", 4) == 0;
}

void clock_choose(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    int mode = 0; // valgrind does not know that prctl() writes it
    clock_is_tsc = __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1 &&
                   prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_ENABLE && is_clock_of_kernel();
#else
    (void)is_clock_of_kernel;
#endif
}

struct clock_point clock_now(void) {
    struct clock_point best = {0, 0};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = clock_record(), ns = clock_monotonic(), after = clock_record();
        if (after - before < narrowest) {
            narrowest = after - before;
            best = (struct clock_point){before + narrowest / 2, ns};
        }
    }
    return best;
}

void clock_map_init(struct clock_map *map, bool is_tsc, struct clock_point first, double rate) {
    *map = (struct clock_map){.is_tsc = is_tsc, .rate = rate, .is_rough = rate == 0, .count = 1};
    map->points[0] = first;
}

static void make_room(struct clock_map *map) {
    const uint32_t half = CLOCK_POINTS / 2, kept = half / 2;
    for (uint32_t i = 1; i < kept; i++) {
        map->points[i] = map->points[2 * i];
        map->breaks[i] = map->breaks[2 * i] || map->breaks[2 * i - 1];
    }
    bool breaks = map->breaks[half - 1];
    memmove(&map->points[kept], &map->points[half], half * sizeof(map->points[0]));
    memmove(&map->breaks[kept], &map->breaks[half], half * sizeof(map->breaks[0]));
    map->breaks[kept] = map->breaks[kept] || breaks;
    map->count = kept + half;
}

static bool has_break(const struct clock_map *map) {
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->breaks[i]) {
            return true;
        }
    }
    return false;
}

// Learns the rate from two points that are far enough apart. Returns whether they contradict it.
static bool learn(struct clock_map *map, struct clock_point from, struct clock_point to) {
    double ns = (double)(to.ns - from.ns), ticks = (double)(to.ticks - from.ticks);
    if (ns < SURE_NS && ticks * map->rate < SURE_NS) {
        map->rate = map->rate == 0 ? ns / ticks : map->rate;
        return false;
    }
    double error = map->is_rough ? 0 : ns / ticks / map->rate - 1;
    if (error > RATE_ERROR || error < -RATE_ERROR) {
        return true;
    }
    if (!has_break(map)) {
        from = map->points[0];
        ns = (double)(to.ns - from.ns);
        ticks = (double)(to.ticks - from.ticks);
    }
    map->rate = ns / ticks;
    map->is_rough = false;
    return false;
}

void clock_map_add(struct clock_map *map, struct clock_point point) {
    struct clock_point last = map->points[map->count - 1];
    if (!map->is_tsc) {
        return;
    }
    if (point.ticks <= last.ticks || point.ns < last.ns) { // the counter began again
        clock_map_init(map, true, point, map->is_rough ? 0 : map->rate);
        return;
    }
    bool breaks = learn(map, last, point);
    if (map->count == CLOCK_POINTS) {
        make_room(map);
    }
    map->points[map->count] = point;
    map->breaks[map->count++] = breaks;
}

static uint64_t after(struct clock_point point, uint64_t ticks, double rate) {
    return point.ns + (uint64_t)((double)(ticks - point.ticks) * rate);
}

static uint64_t before(struct clock_point point, uint64_t ticks, double rate) {
    uint64_t back = (uint64_t)((double)(point.ticks - ticks) * rate);
    return back < point.ns ? point.ns - back : 0;
}

uint64_t clock_map_ns(const struct clock_map *map, uint64_t ticks) {
    if (!map->is_tsc) {
        return ticks;
    }
    uint32_t i = map->count;
    while (i > 0 && map->points[i - 1].ticks > ticks) {
        i--;
    }
    if (i == 0) {
        return before(map->points[0], ticks, map->rate);
    }
    struct clock_point a = map->points[i - 1];
    if (i == map->count) {
        return after(a, ticks, map->rate);
    }
    struct clock_point b = map->points[i];
    if (map->breaks[i]) {
        uint64_t ns = before(b, ticks, map->rate);
        return ns > a.ns ? ns : a.ns;
    }
    double part = (double)(ticks - a.ticks) / (double)(b.ticks - a.ticks);
    return a.ns + (uint64_t)(part * (double)(b.ns - a.ns));
}
