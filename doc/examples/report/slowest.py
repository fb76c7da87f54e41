#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The longest ranges of a store. usage: slowest.py STORE [NUMBER]"""
import heapq
import sys

import nvtxt_report


def main():
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with nvtxt_report.load_report(sys.argv[1]) as report:
        ranges = []
        for thread in report:
            durations = thread.values("range__time_duration.sum")  # ns; None of a mark
            ranges += [(duration, thread, index) for index, duration in enumerate(durations)
                       if duration is not None]
        for duration, thread, index in heapq.nlargest(most, ranges, key=lambda one: one[0]):
            print("%d ns  %s (%s)" % (duration, thread[index].name(), thread.name()))


main()
