// SPDX-License-Identifier: Apache-2.0
//
// The tail is summed up from its largest term on; each next one is the last times a factor that
// becomes smaller.
#include "report/logs/patterns.h"

#include <math.h>

double report_chance(uint64_t count, uint64_t least, double share) {
    double n = (double)count, sum = 0;
    if (least == 0 || share >= 1) {
        return 1;
    }
    if (least > count || share <= 0) {
        return 0;
    }
    int sign;
    double k = (double)least;
    double term = exp(lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign) +
                      k * log(share) + (n - k) * log1p(-share));
    double odds = share / (1 - share);
    for (; k <= n; k++) {
        sum += term;
        double factor = (n - k) / (k + 1) * odds;
        term *= factor;
        if (factor < 1 && term < sum * 1e-12) {
            break;
        }
    }
    return sum < 1 ? sum : 1;
}

bool report_is_burst(uint64_t now, double now_ns, uint64_t before, double before_ns) {
    if (!(now_ns > 0) || !(before_ns > 0)) {
        return false;
    }
    bool often = (double)now * before_ns >= REPORT_BURST_TIMES * (double)before * now_ns;
    return often &&
           report_chance(now + before, now, now_ns / (now_ns + before_ns)) <= REPORT_BURST_CHANCE;
}
