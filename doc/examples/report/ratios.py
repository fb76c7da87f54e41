#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The metrics of a whole store that are ratios. usage: ratios.py STORE"""
import sys

import nvtxt_report
from nvtxt_report import IMetric


def main():
    with nvtxt_report.load_report(sys.argv[1]) as report:
        summary = report.summary()
        for name in summary:
            metric = summary[name]
            if metric.metric_type() == IMetric.MetricType_RATIO and metric.has_value():
                print("%s: %s %s" % (name, metric.value(), metric.unit()))


main()
