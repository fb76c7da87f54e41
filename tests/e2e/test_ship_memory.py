# SPDX-License-Identifier: Apache-2.0
"""The longest texts that a daemon takes: shipping them takes 64 MiB at most, whatever they are."""
import os
import subprocess

from lib import Daemon, Skip, equal, program, run, wait_for
from postgres import Postgres
from ship import good

PIECE = "x" * (1 << 20)  # this test stays small: what a program took includes what began it
MOST_KIB = 64 << 10


def kib_of(*args):
    """What a run that must succeed had in memory at most."""
    with subprocess.Popen([program("ship", "nvtxt-ship"), *args], stdin=subprocess.DEVNULL) as process:
        status, usage = os.wait4(process.pid, 0)[1:]
        process.returncode = os.waitstatus_to_exitcode(status)
    equal(process.returncode, 0)
    return usage.ru_maxrss


def send_long(connection, begin):
    connection.send(begin + '"')
    for _ in range(15):
        connection.send(PIECE)
    connection.send(PIECE[100:] + '"\n')


def test_the_longest_texts():
    if os.environ.get("SANITIZERS"):
        raise Skip("a sanitizer takes memory of its own")
    limits = "MaxLine=16M\nMaxBytesPerUser=64M\nMemoryBudget=256M\n"
    with Postgres() as server, Daemon(config=limits) as daemon:
        good("init", "--target", server.target())
        with daemon.plain() as connection:
            connection.send("TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@Marker, Time, Message\n"
                            "@RangeStart, Time, RangeId, Message\n@SetThreadName, ThreadId, Name\n")
            for begin in ("Marker, 1, ", "Marker, 2, ", "RangeStart, 1, 1, ",
                          "SetThreadName, 8, ", "SetThreadName, 9, "):
                send_long(connection, begin)
            wait_for(lambda: daemon.query("SELECT (SELECT count(*) FROM NVTXT_OPEN_RANGES), (SELECT "
                                          "count(*) FROM ThreadNames WHERE globalTid >> 24 = 7)")
                     == [(1, 2)], "all lines are committed")
            used = kib_of("--target", server.target(), "--store", daemon.store, "--once")
        equal(server.rows("SELECT (SELECT count(*) FROM nvtxt.events WHERE length(text) > 15000000), "
                          "(SELECT count(*) FROM nvtxt.open_ranges WHERE length(text) > 15000000), "
                          "(SELECT count(*) FROM nvtxt.threads WHERE length(name) > 15000000)"),
              [("2", "1", "2")])
        equal(used <= MOST_KIB, True, "%d KiB" % used)


run(globals())
