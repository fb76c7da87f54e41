# SPDX-License-Identifier: Apache-2.0
"""The fleet of scripts/demo: the stores of two daemons, in one database of its own."""
import time

import lib
import postgres
import ship

HEAD = "TimeBase = ClockRealtime\n@RangePush, Time, Message\n@RangePop, Time\n"
STEP = 'RangePush, %d, "step"\nRangePop, %d\n'
QUERY = ("SELECT host, count(*), round(avg(duration) / 1e6, 3) FROM nvtxt.timeline "
         "WHERE message = 'step' GROUP BY host ORDER BY host")


def main():
    with postgres.Postgres() as server, lib.Daemon() as one, lib.Daemon() as two:
        ship.good("init", "--target", server.target())
        for host, daemon, steps in (("one", one, 3), ("two", two, 5)):
            now = time.time_ns()
            daemon.send(HEAD + "".join(STEP % (now + step * 10**7, now + step * 10**7 + 10**6 * steps)
                                       for step in range(steps)))
            ship.good("--once", "--target", server.target(), "--store", daemon.store, "--host", host)
        print("%-6s %6s %10s" % ("host", "count", "mean (ms)"))
        rows = server.rows(QUERY)
        for row in rows:
            print("%-6s %6s %10s" % row)
        if [row[:2] for row in rows] != [("one", "3"), ("two", "5")]:
            raise SystemExit("that is not what was sent")


try:
    main()
except lib.Skip as reason:
    print("left out: %s" % reason)
