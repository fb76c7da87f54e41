# SPDX-License-Identifier: Apache-2.0
"""The wall clock jumps, forwards and back: nothing is lost or expires, and commits go on."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib  # noqa: E402

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n@RangePush, Time, Message\n@RangePop, Time\n'


def jump(seconds):
    with lib.FaultyDaemon("clock:%d" % seconds, "SessionExpiry=12s\n") as daemon:
        with daemon.session() as away:
            away.send(HEADER + 'RangePush, 1, "open"\n')
            away.ack(5)
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(4)
            daemon.tell_fault()
            for number in range(20):
                session.send('Marker, %d, "m"\n' % number)
                session.ack(number + 5)
            # The expiry looks twice a second: it must have had its chance.
            commits = daemon.control("status")["commits"]
            for number in range(20, 32):
                session.send('Marker, %d, "m"\n' % number)
                session.ack(number + 5)
            assert daemon.control("status")["commits"] > commits
            status = daemon.control("status")
            lib.equal((status["sessions_expired"], status["in_trouble"]), (0, False))
            assert 0 <= status["uptime_s"] < 1000, status
            session.end()
        with daemon.session(away.id) as again:
            lib.equal((again.welcome["type"], again.welcome["line"]), ("welcome", 5))
            again.send("RangePop, 2\n")
            lib.equal(again.end()["events"], 1)
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(33,)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_UNCLOSED"), [(0,)])
        lib.equal(daemon.query("SELECT sum(events), count(*) > 20 FROM NVTXT_BATCHES"), [(33, 1)])


def test_the_clock_is_set_back():
    jump(-1000000)


def test_the_clock_is_set_forwards():
    jump(1000000)


lib.run(globals())
