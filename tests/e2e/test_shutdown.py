# SPDX-License-Identifier: Apache-2.0
"""The orderly stop: what was received is committed, clients are told."""
import contextlib
import os
import re
import resource
import signal
import threading
import time

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def test_commits_what_lies_in_the_sockets():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        plain = [daemon.plain() for _ in range(100)]  # more than are accepted in one turn
        for number, connection in enumerate(plain):
            connection.send(HEADER + "".join('Marker, %d, "m%d"\n' % (i, number)
                                             for i in range(100)))
        daemon.stop()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(10000,)])
        lib.equal(daemon.query("SELECT DISTINCT ended FROM NVTXT_SOURCES WHERE lines > 0"),
                  [("shutdown",)])
        for connection in plain:
            connection.close()


def test_sessions_get_acks_and_are_told():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        sessions = [daemon.session() for _ in range(20)]
        for session in sessions:
            session.send(HEADER + 'Marker, 1, "a"\nMarker, 2')
        daemon.stop()
        for session in sessions:
            kinds = [(r["type"], r.get("line"), r.get("code")) for r in session.replies()]
            lib.equal(kinds, [("ack", 3, None), ("error", None, "shutting-down")])
            session.close()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(20,)])
        lib.equal(daemon.query("SELECT count(*), min(line), max(line) FROM NVTXT_SESSIONS"),
                  [(20, 3, 3)])


def test_an_end_in_the_socket_is_still_answered():
    with lib.Daemon(config="CommitInterval=60s\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER + 'Marker, 1, "a"\n#nvtxt-end\n')
            daemon.stop()
            lib.equal([r["type"] for r in session.replies() if r["type"] != "ack"], ["end"])


def test_a_cut_line_of_a_plain_source_is_written_down_as_lost():
    with lib.Daemon() as daemon:
        connection = daemon.plain()
        connection.send(HEADER + 'Marker, 12')
        lib.wait_for(lambda: daemon.control("status")["lines"] >= 0 and
                     daemon.control("sources")["sources"], "the source is known")
        daemon.stop()
        lib.equal(daemon.query("SELECT * FROM NVTX_EVENTS"), [])
        lib.equal(daemon.query("SELECT reason, count FROM NVTXT_LOSSES"), [("partial-line", 1)])
        connection.close()


def test_a_cut_hello_is_no_loss():
    with lib.Daemon() as daemon, daemon.plain() as connection:
        connection.send('#nvtxt-session {"protocol":1')
        lib.wait_for(lambda: daemon.control("status")["connections"] == 1, "it is known")
        daemon.stop()
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])


def test_open_ranges_of_plain_sources_are_closed():
    with lib.Daemon() as daemon:
        connection = daemon.plain()
        connection.send('TimeBase = Manual\n@RangePush, Time, Message\n@Marker, Time\n'
                        'RangePush, 3, "open"\nMarker, 9\n')
        lib.wait_for(lambda: daemon.query("SELECT * FROM NVTXT_OPEN_RANGES"), "the range is open")
        daemon.stop()
        lib.equal(daemon.query('SELECT text, start, "end" FROM NVTX_EVENTS WHERE eventType = 59'),
                  [("open", 3, 9)])
        lib.equal(daemon.query("SELECT * FROM NVTXT_OPEN_RANGES"), [])
        connection.close()


def test_removes_its_sockets_and_leaves_a_complete_main_file():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\n')
        daemon.stop()
        left = sorted(os.listdir(daemon.folder))
        assert "data.sock" not in left and "ctl.sock" not in left, left
        assert not [name for name in left if name.endswith(".lock")], left
        copy = os.path.join(daemon.folder, "copy.sqlite")
        with open(daemon.store, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        daemon.store = copy
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("a",)])


def test_says_last_what_is_stored():
    with lib.Daemon() as daemon:
        daemon.send(HEADER + 'Marker, 1, "a"\nMarker, 2, "b"\n')
        daemon.stop()
        last = daemon.log_text().splitlines()[-1]
        assert last.endswith("stopped lines=4 events=2 uncommitted=0"), last


def test_a_stop_that_could_not_write_says_so():
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, resource.RLIM_INFINITY))

    def grow(number):
        return "".join('Marker, %d, "%s"\n' % (number * 100 + i, "x" * 100) for i in range(100))
    with lib.Daemon(config="StopTimeout=1s\n", limits=small_files) as daemon:
        with daemon.session() as session:
            session.send(HEADER)
            acked, number = session.ack(2) and 2 or 2, 0
            while not (now := daemon.control("status"))["in_trouble"]:
                if now["bytes_in_flight"] < 1 << 20:  # else a slow writer would stop the reading
                    session.send(grow(number))
                    number += 1
            daemon.stop(status=74)
            acked = max([reply["line"] for reply in session.replies() if reply["type"] == "ack"] or [acked])
        sent, last = number * 100, daemon.log_text().splitlines()[-1]
        events, uncommitted = [int(count) for count in
                               re.search(r"stopped lines=\d+ events=(\d+) uncommitted=(\d+)$", last).groups()]
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(events,)], last)
        assert uncommitted > 0 and events + uncommitted <= sent and acked == events + 2, (last, acked)
        daemon.limits = None
        daemon.start()
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], events + 2)
            again.send("".join(grow(n) for n in range(number)).split("\n", events)[events])
            lib.equal(again.end()["events"], sent)


def test_a_stop_on_a_slow_disk_gives_up_what_is_not_written():
    def lines(first, last):
        return "".join('Marker, %d, "m"\n' % number for number in range(first, last))

    sent = [0]

    def send(session):
        with contextlib.suppress(OSError):  # the daemon has gone
            while True:
                session.send(lines(sent[0], sent[0] + 10))
                sent[0] += 10
                time.sleep(0.01)  # so there is always something that came during a sync
    # A sync far longer than the stop may last: a busy machine may hold up the stop for seconds.
    with lib.FaultyDaemon("slow-sync:8000", "StopTimeout=1s\nCommitInterval=5ms\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
            daemon.tell_fault()
            sender = threading.Thread(target=send, args=(session,), daemon=True)
            sender.start()
            lib.wait_for(lambda: sent[0] >= 500, "a sync is under way")
            daemon.tell_to_stop()
            daemon.wait(status=74)
            sender.join()
        assert "what is not written is given up" in daemon.log_text(), daemon.log_text()
        uncommitted = int(re.search(r"uncommitted=(\d+)$", daemon.log_text().splitlines()[-1]).group(1))
        daemon.restart_without()
        with daemon.session(session.id) as again:
            line = again.welcome["line"]
            assert 0 < uncommitted <= sent[0] + 10 - (line - 2), (uncommitted, sent, line)
            again.send(lines(line - 2, sent[0]))
            lib.equal(again.end()["events"], max(sent[0], line - 2))
        lib.equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS WHERE eventType = 34"),
                  [(max(sent[0], line - 2),) * 2])


def test_removes_only_what_is_its_own():
    with lib.Daemon() as daemon:
        taken = [daemon.socket, daemon.control_socket] + [
            path + ".lock" for path in (daemon.socket, daemon.control_socket, daemon.store)]
        for path in taken:
            assert os.path.lexists(path), path
            os.rename(path, path + ".away")
            with open(path, "w", encoding="utf-8") as file:
                file.write("another's")
        daemon.stop()
        for path in taken:
            with open(path, encoding="utf-8") as file:
                lib.equal(file.read(), "another's", path)


def test_a_client_that_never_reads_does_not_hold_the_stop_up():
    with lib.Daemon(config="StopTimeout=2s\n") as daemon:
        session = daemon.session()
        session.send(HEADER)
        session.ack(2)
        # Diagnostics that nobody reads fill the socket; the rest waits in the daemon.
        session.send("bad\n" * 1000 + 'Marker, 1, "a"\n')
        lib.wait_for(lambda: daemon.query("SELECT * FROM NVTX_EVENTS"), "all is committed")
        daemon.stop()
        lib.equal(daemon.query("SELECT line FROM NVTXT_SESSIONS"), [(1003,)])
        session.close()


def test_a_second_signal_does_not_corrupt():
    for _ in range(5):
        with lib.Daemon() as daemon:
            connections = [daemon.plain() for _ in range(10)]
            for connection in connections:
                connection.send(HEADER + 'Marker, 1, "a"\n' * 2000)
            daemon.process.send_signal(signal.SIGTERM)
            daemon.tell_to_stop(signal.SIGINT)
            daemon.wait()
            lib.equal(daemon.query("PRAGMA integrity_check"), [("ok",)])
            for connection in connections:
                connection.close()


def test_a_sender_that_never_stops_does_not_hold_the_stop_up():
    with lib.Daemon() as daemon:
        connection = daemon.plain()
        connection.socket.setblocking(False)
        line = (HEADER + 'Marker, 1, "flood"\n' * 1000).encode()
        daemon.tell_to_stop()

        def flood():
            try:
                connection.socket.send(line)
            except (BlockingIOError, BrokenPipeError, ConnectionResetError):
                pass
            return daemon.process.poll() is not None
        lib.wait_for(flood, "the daemon stopped")
        daemon.wait()
        connection.close()


lib.run(globals())
