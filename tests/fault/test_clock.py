# SPDX-License-Identifier: Apache-2.0
"""The wall clock jumps, forwards and back: nothing is lost or expires, and commits go on."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib  # noqa: E402

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n@RangePush, Time, Message\n@RangePop, Time\n'


def has_looked(daemon, before):
    """Waits until the expiry has looked at all sessions once more: one that expires by itself is the
    reason, and it looks for others after that. The time is far less than SessionExpiry."""
    for number in (1, 2):  # what the first look found is done before the second
        with daemon.session(expiry=1) as short:
            short.send(HEADER)
            short.ack(4)
        lib.wait_for(lambda: daemon.control("status")["sessions_expired"] >= before + number, "it has expired")


def jump(seconds):
    with lib.FaultyDaemon("clock:%d" % seconds, "SessionExpiry=5000s\n") as daemon:
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
            has_looked(daemon, 0)
            commits = daemon.control("status")["commits"]
            for number in range(20, 32):
                session.send('Marker, %d, "m"\n' % number)
                session.ack(number + 5)
            assert daemon.control("status")["commits"] > commits
            status = daemon.control("status")
            lib.equal((status["sessions_expired"], status["in_trouble"]), (2, False))
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
