# SPDX-License-Identifier: Apache-2.0
"""Plain connections: send NVTXT, close; nothing comes back."""
import os

import lib

HEADER = 'TimeBase = Manual\nProcessId = 7\nThreadId = 8\n@Marker, Time, Message\n'


def test_stores_a_marker_of_a_plain_connection():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 5, "hi"\n')
        lib.equal(daemon.query('SELECT start, "end", eventType, text, globalTid FROM NVTX_EVENTS'),
                  [(5, 5, 34, "hi", 7 << 24 | 8)])


def test_makes_no_source_of_a_connection_that_says_nothing():
    with lib.Daemon() as daemon:
        daemon.plain().close()
        daemon.send(HEADER + 'Marker, 5, "hi"\n')
        lib.equal(daemon.query("SELECT kind, lines FROM NVTXT_SOURCES"), [("plain", 5)])


def test_takes_a_last_line_without_line_end():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 5, "hi"')
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("hi",)])


def test_takes_lines_that_come_byte_by_byte():
    with lib.Daemon() as daemon:
        with daemon.plain() as connection:
            for byte in (HEADER + 'Marker, 5, "bytes"\r\n').encode():
                connection.send(bytes([byte]))
        daemon.settled()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("bytes",)])


def test_sends_nothing_back():
    with lib.Daemon() as daemon:
        connection = daemon.plain()
        connection.send("nonsense\n" + HEADER + 'Marker, 5, "hi"\n')
        daemon.flush()
        connection.socket.setblocking(False)
        try:
            lib.equal(connection.socket.recv(1), "nothing")
        except BlockingIOError:
            pass
        connection.close()


def test_keeps_good_lines_between_bad_ones():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'bogus\nMarker, 1, "a"\nMarker, x, "b"\n\0\nMarker, 2, "c"\n')
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS ORDER BY start"), [("a",), ("c",)])
        lib.equal(daemon.query('SELECT line FROM NVTXT_DIAGNOSTICS ORDER BY line'),
                  [(5,), (7,), (8,)])


def test_writes_who_sent_it():
    with lib.Daemon() as daemon:
        daemon.send("# only a comment\n")
        rows = daemon.query("SELECT kind, peerPid, peerUid, peerGid, peerComm, ended, lines, events "
                            "FROM NVTXT_SOURCES WHERE lines > 0")
        with open("/proc/self/comm", encoding="utf-8") as file:
            comm = file.read().strip()
        lib.equal(rows, [("plain", os.getpid(), os.getuid(), os.getgid(), comm, "closed", 1, 0)])


def test_takes_the_peer_as_default_process():
    with lib.Daemon() as daemon:
        daemon.send('TimeBase = Manual\n@Marker, Time\nMarker, 5\n')
        lib.equal(daemon.query("SELECT globalTid FROM NVTX_EVENTS"),
                  [(os.getpid() << 24 | os.getpid(),)])


def test_claim_refuses_events_of_other_processes():
    with lib.Daemon(config="Claim=peer\n") as daemon:
        daemon.send(HEADER + 'Marker, 5, "foreign"\nProcessId = %d\nMarker, 6, "own"\n' % os.getpid())
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("own",)])
        lib.equal(daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS"), [("foreign-process",)])


def test_an_almost_hello_is_a_comment():
    with lib.Daemon() as daemon:
        daemon.send('#nvtxt-sessions {}\n' + HEADER + 'Marker, 5, "hi"\n')
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("hi",)])


def test_commits_by_age_without_being_asked():
    with lib.Daemon() as daemon:
        with daemon.plain() as connection:
            connection.send(HEADER + 'Marker, 5, "aged"\n')
            lib.wait_for(lambda: daemon.query("SELECT text FROM NVTX_EVENTS") == [("aged",)],
                         "the line is committed while its source is open")


def test_an_open_range_shows_before_it_closes():
    with lib.Daemon() as daemon:
        with daemon.plain() as connection:
            connection.send(HEADER + '@RangePush, Time, Message\n@RangePop, Time\n'
                            'RangePush, 3, "running"\n')
            lib.wait_for(lambda: daemon.query("SELECT text, start FROM NVTXT_OPEN_RANGES") ==
                         [("running", 3)], "the range is seen open")
            lib.equal(daemon.query("SELECT p.name, s.value FROM NVTXT_OPEN_RANGES o "
                                   "JOIN PROCESSES p ON p.globalPid = o.globalTid >> 24 << 24 "
                                   "JOIN ThreadNames t ON t.globalTid = o.globalTid "
                                   "JOIN StringIds s ON s.id = t.nameId"),
                      [("Process 7", "Thread 8")])
            connection.send("RangePop, 9\n")
            lib.wait_for(lambda: daemon.query('SELECT text, start, "end" FROM NVTX_EVENTS') ==
                         [("running", 3, 9)], "the range is seen closed")
            lib.equal(daemon.query("SELECT text FROM NVTXT_OPEN_RANGES"), [])


def test_a_line_that_is_too_long_is_skipped_and_told():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + "x" * 70000 + '\nMarker, 5, "after"\n')
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("after",)])
        lib.equal(daemon.query("SELECT line, code FROM NVTXT_DIAGNOSTICS"), [(5, "line-too-long")])


def test_moves_clock_times_to_the_timeline():
    import time
    with lib.Daemon() as daemon:
        before = time.time_ns()
        raw = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        after = time.time_ns()  # a busy machine may do other things between two looks
        daemon.send('@Marker, Time, TimeBase\nMarker, %d, ClockMonotonicRaw\n' % raw)
        (start,), = daemon.query("SELECT start FROM NVTX_EVENTS")
        assert before - 50_000_000 < start < after + 50_000_000, (before, start, after)
        clocks = dict(daemon.query("SELECT clock, count(*) FROM NVTXT_CLOCKS GROUP BY clock"))
        assert {"ClockMonotonicRaw", "ClockMonotonic", "ClockBoottime"} <= set(clocks), clocks
        lib.equal(daemon.query("SELECT * FROM NVTXT_DIAGNOSTICS"), [])


def test_relative_times_count_from_the_connection():
    import time
    with lib.Daemon() as daemon:
        before = time.time_ns()
        daemon.send('@Marker, Time, TimeBase\nMarker, 1000, Relative\n')
        (start,), = daemon.query("SELECT start FROM NVTX_EVENTS")
        (opened,), = daemon.query("SELECT openedNs FROM NVTXT_SOURCES WHERE events = 1")
        lib.equal(start, opened + 1000)
        assert opened >= before, (opened, before)


lib.run(globals())
