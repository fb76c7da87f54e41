# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report from outside: its command line, its output and its exit statuses."""
from client import Folder
from lib import equal, run
from report import f1, query

STEP, COMPUTE, LOAD, KERNEL = "step", "compute", "load", "kernel"


def test_the_fixture_has_its_fifteen_events():
    with Folder() as folder:
        equal(query(f1(folder), "SELECT eventType, start, end, globalTid >> 24, "
                                "globalTid & 0xFFFFFF, endGlobalTid & 0xFFFFFF, text "
                                "FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) "
                                "ORDER BY globalTid, start, end DESC"),
              [(59, 0, 100, 100, 1, None, STEP),
               (60, 5, 105, 100, 1, 2, "request"),
               (59, 10, 30, 100, 1, None, LOAD),
               (59, 30, 90, 100, 1, None, COMPUTE),
               (59, 40, 60, 100, 1, None, KERNEL),
               (59, 60, 80, 100, 1, None, KERNEL),
               (59, 120, 260, 100, 1, None, STEP),
               (59, 130, 140, 100, 1, None, LOAD),
               (59, 140, 250, 100, 1, None, COMPUTE),
               (59, 150, 200, 100, 1, None, KERNEL),
               (59, 0, 50, 100, 2, None, "wait"),
               (34, 20, 20, 100, 2, None, "tick"),
               (60, 50, 70, 100, 2, None, "request"),
               (34, 60, 60, 100, 2, None, "tick"),
               (34, 120, 120, 100, 2, None, "tick")])


if __name__ == "__main__":
    run(globals())
