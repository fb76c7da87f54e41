# SPDX-License-Identifier: Apache-2.0
"""What one user may have: bytes, sessions, events a second, unfinished lines."""
import json
import os
import signal
import socket
import threading
import time
import uuid

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'
OTHER_USER = 65534


def lines(count, text="x" * 100):
    return HEADER + "".join('Marker, %d, "%s"\n' % (number, text) for number in range(count))


def send_as_other_user(path, text):
    """Returns the process that does it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(OTHER_USER)
            os.setuid(OTHER_USER)
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.sendall(text)
            status = 0
        finally:
            os._exit(status)
    return child


def test_a_user_over_its_bytes_waits_and_loses_nothing():
    with lib.Daemon(config="MaxBytesPerUser=1M\nMemoryBudget=64M\n", shared=True) as daemon:
        with daemon.session() as session:
            daemon.flush()
            lock = lib.LockedStore(daemon)
            sender = threading.Thread(target=session.send, args=(lines(100000),))
            sender.start()
            status = lib.wait_for(lambda: (lambda s: s["pauses"] > 0 and s)
                                  (daemon.control("status")), "it is paused")
            assert status["bytes_in_flight"] < 4 << 20, status
            lock.release()
            sender.join()
            lib.equal(session.end()["events"], 100000)
        lib.equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS"),
                  [(100000, 100000)])


def test_a_user_over_its_bytes_does_not_hold_up_another():
    if os.getuid() != 0:
        raise lib.Skip("only root can be somebody else")
    with lib.Daemon(config="MaxBytesPerUser=1M\nSocketMode=0666\n", shared=True) as daemon:
        os.chmod(daemon.folder, 0o755)
        with daemon.session() as session:
            daemon.flush()
            lock = lib.LockedStore(daemon)
            other = send_as_other_user(daemon.socket, lines(100000).encode())
            lib.wait_for(lambda: daemon.control("status")["pauses"] > 0, "the other is paused")
            session.send(HEADER + 'Marker, 1, "mine"\n')
            lib.wait_for(lambda: [row for row in daemon.control("sources")["sources"]
                                  if row["kind"] == "session" and row["lines"] == 3],
                         "this one is read")
            lock.release()
            session.ack(3)
            lib.equal(os.waitpid(other, 0)[1], 0)
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(100001,)])


def test_more_sessions_than_a_user_may_keep_are_refused():
    with lib.Daemon(config="MaxSessionsPerUser=2\n") as daemon:
        kept = []
        for _ in range(2):
            with daemon.session() as session:
                session.send(HEADER)
                session.ack(2)
                kept.append(session.id)
        with daemon.session() as third:
            lib.equal((third.welcome["type"], third.welcome["code"]), ("error", "quota"))
        with daemon.session(kept[0]) as again:  # those that it has go on
            lib.equal((again.welcome["type"], again.welcome["line"]), ("welcome", 2))
            again.end()
        with daemon.session() as third:
            lib.equal(third.welcome["type"], "welcome")


def held_ranges(first, count):
    return ("TimeBase = Manual\n@RangeStart, Time, RangeId, Message\n@RangeEnd, Time, RangeId\n" +
            "".join('RangeStart, 1, %d, "%s"\n' % (first + number, "r" * 300)
                    for number in range(count)))


def test_what_all_sources_of_a_user_keep_open_is_bounded_together():
    with lib.Daemon(config="MaxOpenBytesPerUser=1M\n") as daemon:
        with daemon.session() as first, daemon.session() as second:
            first.send(held_ranges(0, 1000))  # more than half of it
            lib.equal(first.ack(1003), [])
            second.send(held_ranges(0, 4000))
            faults = {row["code"] for row in second.ack(4003)}
            lib.equal(faults, {"limit-exceeded"})
            second.send("RangeEnd, 2, 0\nRangeStart, 2, 0, \"again\"\n")
            lib.equal(second.ack(4005), [])
            first.send('x = "%s"\n' % ("v" * 60000))
            lib.equal([row["code"] for row in first.ack(1004)], ["limit-exceeded"])
            second.end()
            first.send('x = "%s"\n' % ("v" * 60000))  # there is room again
            lib.equal(first.ack(1005), [])
            lib.equal(first.end()["events"], 1000)
        with daemon.session() as third:
            third.send(held_ranges(0, 1000))
            lib.equal(third.ack(1003), [])
            third.end()


def park(daemon, session=None, count=300):
    """Opens ranges in a session and breaks it off. Returns its id and the codes that it drew."""
    with daemon.session(session) as session:
        session.send(held_ranges(0, count))
        return session.id, {row["code"] for row in session.ack(count + 3)}


def test_parked_sessions_count_over_a_rotation_and_a_restart():
    with lib.Daemon(config="MaxOpenBytesPerUser=1M\nSocketMode=0666\n", shared=True) as daemon:
        parked = [park(daemon) for _ in range(12)]
        refused = [number for number, (_, codes) in enumerate(parked) if codes]
        assert 2 <= refused[0] <= 10 and refused == list(range(refused[0], 12)), refused
        lib.equal(parked[-1][1], {"limit-exceeded"})
        held = "SELECT sum(openBytes) FROM NVTXT_SESSIONS"
        assert daemon.query(held)[0][0] <= 1 << 20, daemon.query(held)
        before = daemon.query(held)
        daemon.send(HEADER + "Marker, 1, x\n")  # else there is nothing to leave
        daemon.flush()
        daemon.control("rotate")
        lib.equal(daemon.query(held), before)
        daemon.kill()
        daemon.start()
        lib.equal(park(daemon)[1], {"limit-exceeded"})
        for session, _ in parked:
            with daemon.session(session) as again:
                lib.equal(again.welcome["line"], 303)
                again.send("RangeEnd, 2, 0\n")  # what is there can be closed
                lib.equal([code for code in again.ack(304) if code["code"] == "limit-exceeded"], [])
                again.end()
        lib.equal(park(daemon)[1], set())  # there is room again


def test_parked_sessions_of_one_user_are_not_anothers():
    if os.getuid() != 0:
        raise lib.Skip("only root can be somebody else")
    with lib.Daemon(config="MaxOpenBytesPerUser=1M\nSocketMode=0666\n", shared=True) as daemon:
        os.chmod(daemon.folder, 0o755)
        lib.equal(park(daemon, count=4000)[1], {"limit-exceeded"})
        other = send_as_other_user(daemon.socket, held_ranges(0, 1000).encode())
        lib.equal(os.waitpid(other, 0)[1], 0)
        daemon.settled()
        lib.equal(daemon.query("SELECT d.code, count(*) FROM NVTXT_DIAGNOSTICS d JOIN NVTXT_SOURCES s "
                               "ON s.id = d.sourceId WHERE s.peerUid = ? GROUP BY d.code", OTHER_USER),
                  [("never-closed", 1000)])


def test_an_expired_session_gives_back_what_it_kept_open():
    with lib.Daemon(config="MaxOpenBytesPerUser=1M\nSessionExpiry=1s\n") as daemon:
        lib.equal(park(daemon, count=4000)[1], {"limit-exceeded"})
        lib.wait_for(lambda: daemon.query("SELECT ended FROM NVTXT_SOURCES") == [("expired",)],
                     "it expires")
        lib.equal(park(daemon)[1], set())


def test_events_above_the_rate_come_later_and_all():
    with lib.Daemon(config="MaxEventsPerSecond=500\n") as daemon:
        started = time.monotonic()
        with daemon.session() as session:
            session.send(lines(1500, "y" * 200))
            lib.equal(session.end()["events"], 1500)
        # A second's worth and one read come at once.
        assert time.monotonic() - started > 1, time.monotonic() - started
        assert daemon.control("status")["pauses"] > 0
        lib.equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS"),
                  [(1500, 1500)])


def test_a_reload_that_raises_the_rate_frees_who_waits():
    with lib.Daemon(config="MaxEventsPerSecond=1\n") as daemon:
        with daemon.session() as session:
            session.send(lines(500))
            lib.wait_for(lambda: daemon.control("status")["pauses"] > 0, "it is paused")
            with open(os.path.join(daemon.folder, "nvtxtd.conf"), "w", encoding="utf-8") as file:
                file.write("[nvtxtd]\nMaxEventsPerSecond=0\n")
            lib.equal(daemon.control("reload")["applied"], ["MaxEventsPerSecond"])
            lib.equal(session.end()["events"], 500)


def test_too_many_unfinished_lines_are_refused():
    with lib.Daemon(config="MaxBytesPerUser=256K\n") as daemon:
        crowd = [daemon.plain() for _ in range(12)]
        for connection in crowd:
            connection.send(HEADER + 'Marker, 1, "' + "z" * 40000)
        lib.wait_for(lambda: daemon.control("status")["connections_refused"] > 0, "one is refused")
        lib.wait_for(lambda: len(daemon.control("sources")["sources"]) == 6, "six remain")
        for connection in crowd:
            try:
                connection.send('"\n')
            except (BrokenPipeError, ConnectionResetError):
                pass
            connection.close()
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(6,)])
        lib.equal(daemon.query("SELECT reason, sum(count) FROM NVTXT_LOSSES"), [("quota", 6)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE ended = 'quota'"), [(6,)])


def test_a_line_of_the_longest_kind_is_within_the_quota():
    with lib.Daemon(config="MaxBytesPerUser=256K\nMaxLine=1M\n") as daemon:
        with daemon.session() as session:
            session.send(lines(3, "z" * 900000))
            lib.equal(session.end()["events"], 3)
        lib.equal(daemon.query("SELECT count(*), min(length(text)) FROM NVTX_EVENTS"), [(3, 900000)])


def test_who_is_refused_on_and_on_is_told_so_a_hundred_times_a_second():
    with lib.Daemon(config="MaxConnectionsPerUser=1\n") as daemon:
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "the probe is gone")
        held = daemon.session()
        before = daemon.control("status")

        def refused():
            for _ in range(300):
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(daemon.socket)
            return daemon.control("status")["connections_unheard"]
        lib.wait_for(refused, "some hear nothing")
        lib.wait_for(lambda: (lambda s: s["connections_total"] - before["connections_total"] ==
                              s["connections_refused"] + s["connections_unheard"])
                     (daemon.control("status")), "each was taken, and refused")
        assert "nvtxtd_connections_unheard_total" in daemon.control("metrics")["text"]
        held.send("# it is served\n")
        held.expect("ack")
        held.end()


def test_what_a_refused_plain_connection_sent_is_a_loss():
    with lib.Daemon(config="MaxConnectionsPerUser=1\n") as daemon:
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "the probe is gone")
        with daemon.session() as held:
            for number in range(5):  # the kernel has taken it before the daemon looks
                lib.halt(daemon.process)
                with daemon.plain() as connection:
                    connection.send(HEADER + 'Marker, 1, "gone"\n')
                os.kill(daemon.process.pid, signal.SIGCONT)
                lib.wait_for(lambda wanted=number + 1: daemon.control("status")
                             ["connections_refused"] == wanted, "it was refused")
            with daemon.session() as over:  # nothing of it is lost: it comes again
                lib.equal(over.welcome["code"], "quota")
            held.end()
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(0,)])
        lib.equal(daemon.query("SELECT reason, uid, sum(count) FROM NVTXT_LOSSES GROUP BY 1, 2"),
                  [("quota", os.getuid(), 5)])
        lib.equal(daemon.control("health")["healthy"], False)


def hello(session):
    return b'#nvtxt-session {"protocol":1,"session":"%s"}\n' % session.encode()


def first_reply(connection):
    return json.loads(connection.makefile("rb").readline())


def test_sessions_that_are_loaded_together_are_not_more_than_a_user_may_keep():
    with lib.Daemon(config="MaxSessionsPerUser=3\n") as daemon:
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
        lib.halt(daemon.process)
        crowd = []
        for _ in range(20):  # all of them are there when the first is looked at
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(daemon.socket)
            connection.sendall(hello(str(uuid.uuid4())))
            crowd.append(connection)
        os.kill(daemon.process.pid, signal.SIGCONT)
        replies = [first_reply(connection) for connection in crowd]
        lib.equal(sorted((reply["type"], reply.get("code")) for reply in replies),
                  [("error", "quota")] * 18 + [("welcome", None)] * 2)
        for connection in crowd:
            connection.close()
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["type"], "welcome")
            again.end()


def ask_for(path, session):
    """Another user's process that asks for the session on and on, once it may."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(OTHER_USER)
            os.setuid(OTHER_USER)
            while True:
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(path)
                    connection.sendall(hello(session))
                    reply = first_reply(connection)
                    # busy: another process of this user asks at the same time
                    assert reply.get("code") == "busy-session" or reply.get("line") == 0, reply
                os.write(theirs, b".")
        finally:
            os._exit(1)
    os.close(theirs)
    lib.equal(os.read(ours, 1), b".", "it has one of its own")
    return child, ours


def test_nobody_keeps_anothers_session_busy():
    if os.getuid() != 0:
        raise lib.Skip("only root can be somebody else")
    with lib.Daemon(config="SocketMode=0666\n") as daemon:
        os.chmod(daemon.folder, 0o755)
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
        hostile = [ask_for(daemon.socket, session.id) for _ in range(3)]
        for number in range(25):
            with daemon.session(session.id) as again:
                lib.equal(again.welcome["type"], "welcome", again.welcome)
                again.send('Marker, %d, "mine"\n' % number)
                again.ack(number + 3)
        for child, pipe in hostile:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(pipe)
        with daemon.session(session.id) as again:
            lib.equal(again.end()["events"], 25)


lib.run(globals())
