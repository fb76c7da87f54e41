#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many events a filter takes, and how long its ranges last.

usage: by_filter.py STORE FILTER    (nvtxt-filter(7), such as 'step/compute/kernel')
"""
import sys

import nvtxt_report


def main():
    count = total = 0
    with nvtxt_report.load_report(sys.argv[1]) as report:
        for thread in report:
            for index in thread.actions_by_nvtx([sys.argv[2]], []):
                metric = thread[index].metric_by_name("range__time_duration.sum")
                count += 1
                total += metric.as_uint64() if metric else 0  # a mark has none
    print("%d events\n%d ns in ranges" % (count, total))


main()
