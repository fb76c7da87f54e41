# SPDX-License-Identifier: Apache-2.0
"""Exactly once: shipper and server are killed again and again while the daemon writes and rotates.
With NVTXT_TEST_LONG=1 as often as the promise says."""
import os
import time

from lib import Daemon, equal, run, wait_for
from postgres import Postgres
from ship import Shipper, compare_store, good

LONG = os.environ.get("NVTXT_TEST_LONG")
SECONDS = 16 if LONG else 5
LINES = 120000 if LONG else 20000
HEAD = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, Message\n"


def send(daemon, first, count):
    with daemon.plain() as connection:
        connection.send(HEAD + "".join('Marker, %d, 7, 8, "m"\n' % number
                                       for number in range(first, first + count)))


def test_each_event_is_there_once_after_kills_of_both_sides():
    with Postgres() as server, Daemon() as daemon:
        good("init", "--target", server.target())
        args = ("--target", server.target(), "--store", daemon.store, "--interval", "50ms")
        step = LINES // (SECONDS * 10)
        sent = 0
        with Shipper(*args) as shipper:
            began = time.monotonic()
            for tick in range(SECONDS * 10):
                send(daemon, sent, step)
                sent += step
                if tick % 10 == 9:
                    shipper.kill()
                    shipper.start()
                if tick % (SECONDS * 10 // 3) == 7:
                    server.stop()
                    server.start()
                if tick % 13 == 5:
                    server.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                                "application_name = 'nvtxt-ship'")
                if tick % (SECONDS * 10 // 4) == 3:
                    daemon.control("rotate")
                left = began + (tick + 1) * 0.1 - time.monotonic()
                if left > 0:
                    time.sleep(left)
            daemon.settled()
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == str(sent),
                     "all %d events are there" % sent)
            equal(shipper.stop(), 0, shipper.said())
        equal(server.rows("SELECT count(*), count(DISTINCT start_ns), min(start_ns), max(start_ns) "
                          "FROM nvtxt.events"), [(str(sent), str(sent), "0", str(sent - 1))])
        good("--once", *args)
        equal(server.one("SELECT count(*) FROM nvtxt.losses"), "0")
        compare_store(server, daemon.segments())


run(globals())
