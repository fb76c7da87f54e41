# SPDX-License-Identifier: Apache-2.0
"""Bounds: memory, connections, descriptors, replies that nobody reads."""
import os
import resource
import threading

import lib

HEADER = 'TimeBase = Manual\n@Marker, Time, Message\n'


def rss_bytes(daemon, field="VmHWM:"):
    with open("/proc/%d/status" % daemon.process.pid, encoding="utf-8") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    raise AssertionError("no " + field)


# System calls that wait, by machine; the fourth argument of each says how long.
TIMED_WAITS = {"x86_64": {"epoll": (232, 281), "futex": (202,)},
               "aarch64": {"epoll": (22,), "futex": (98,)}}


def sleeps(pid, task, least_ms=10000):
    """Whether a thread waits for something that happens, or for a time that is far away."""
    calls = TIMED_WAITS.get(os.uname().machine)
    try:
        with open("/proc/%d/task/%s/syscall" % (pid, task), encoding="ascii") as file:
            fields = file.read().split()
    except PermissionError:
        calls = None
    if not calls:
        raise lib.Skip("the system does not tell what a thread waits for")
    if fields[0] == "running":
        return False
    number, arguments = int(fields[0]), [int(field, 16) for field in fields[1:7]]
    if number in calls["epoll"]:
        milliseconds = arguments[3] & 0xffffffff
        return milliseconds >= least_ms  # -1, for ever, is the largest
    return number in calls["futex"] and arguments[3] == 0


def test_a_store_that_cannot_be_written_stops_the_senders_and_loses_nothing():
    lines = 400000
    with lib.Daemon(config="MemoryBudget=2M\n", shared=True) as daemon:
        with daemon.session() as session:
            daemon.flush()
            lock = lib.LockedStore(daemon)
            text = HEADER + "".join('Marker, %d, "message number %d"\n' % (i, i)
                                    for i in range(lines))
            sender = threading.Thread(target=session.send, args=(text,))
            sender.start()
            status = lib.wait_for(lambda: (lambda s: s["pauses"] > 0 and s["in_trouble"] and s)
                                  (daemon.control("status")), "reading stopped")
            assert "lock" in status["last_error"] or "busy" in status["last_error"], status
            assert status["bytes_in_flight"] < 8 << 20, status
            assert sender.is_alive(), "the socket must block the sender"
            lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(0,)])
            with daemon.plain() as other:  # new connections wait as well
                other.send(HEADER + 'Marker, 1, "other"\n')
                lock.release()
                sender.join()
                lib.equal(session.end()["events"], lines)
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTX_EVENTS "
                               "WHERE text LIKE 'message number %'"), [(lines, lines)])
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'other'"), [(1,)])
        status = daemon.control("status")
        lib.equal((status["in_trouble"], status["bytes_in_flight"]), (False, 0))
        log = daemon.log_text()
        lib.equal(log.count("trying again"), 1, log)
        lib.equal(log.count("written again"), 1, log)


def test_stops_while_the_store_cannot_be_written():
    with lib.Daemon(config="StopTimeout=1s\n", shared=True) as daemon:
        with daemon.session() as session:
            session.send(HEADER)
            session.ack(2)
            lock = lib.LockedStore(daemon)
            session.send('Marker, 1, "never acknowledged"\n')
            plain = daemon.plain()
            plain.send(HEADER + 'Marker, 2, "lost"\nMarker, 3, "lost"\n')
            plain.close()
            lib.wait_for(lambda: daemon.control("status")["in_trouble"], "trouble")
            health = daemon.control("health")
            lib.equal((health["healthy"], health["in_trouble"], health["losses"]),
                      (False, True, None))
            assert "lock" in health["last_error"], health
            daemon.stop(status=74)
            lib.equal([(reply["type"], reply.get("code")) for reply in session.replies()],
                      [("error", "shutting-down")])
        assert "are lost events=2" in daemon.log_text(), daemon.log_text()
        last = daemon.log_text().splitlines()[-1]
        assert last.endswith("stopped lines=7 events=0 uncommitted=3"), last
        lib.equal(os.readlink(daemon.store + ".lost").split()[1], "2")
        lock.release()
        daemon.start()
        lib.equal(os.path.lexists(daemon.store + ".lost"), False)
        lib.equal(daemon.query("SELECT reason, count, atNs > 1e18 FROM NVTXT_LOSSES"),
                  [("unwritten", 2, 1)])
        lib.equal(daemon.control("health")["healthy"], False)
        with daemon.session(session.id) as again:
            lib.equal(again.welcome["line"], 2)
            again.send('Marker, 1, "never acknowledged"\n')
            again.end()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(1,)])


def test_memory_stays_bounded_under_many_fast_senders():
    with lib.Daemon() as daemon:
        lines = 4000 if lib.SANITIZERS else 40000  # memory is looked at without sanitizers only
        text = (HEADER + 'Marker, 1, "%s"\n' % ("x" * 60) * lines).encode()
        connections = [daemon.plain() for _ in range(30)]
        threads = [threading.Thread(target=connection.send, args=(text,))
                   for connection in connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()
        daemon.settled()
        lib.equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS"), [(30 * lines,)])
        if not lib.SANITIZERS:
            assert rss_bytes(daemon) < 96 << 20, rss_bytes(daemon)


def test_a_client_that_never_reads_is_given_up_and_can_resume():
    with lib.Daemon(config="DiagnosticsPerSource=100000\n") as daemon:
        session = daemon.session()
        try:
            while True:
                session.send("bad " + "x" * 150 + "\n")
        except OSError:
            pass
        session.close()
        lib.equal(daemon.control("status")["slow_readers"], 1)
        with daemon.session(session.id) as again:
            assert again.welcome["line"] > 1000, again.welcome
            assert again.end()["line"] == again.welcome["line"]


def test_a_line_without_end_is_skipped_in_bounded_memory():
    with lib.Daemon() as daemon:
        before = rss_bytes(daemon)
        with daemon.plain() as connection:
            for _ in range(160):
                connection.send(b"x" * 65536)
            connection.send("\n" + HEADER + 'Marker, 1, "after"\n')
        daemon.settled()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("after",)])
        lib.equal(daemon.query("SELECT code FROM NVTXT_DIAGNOSTICS"), [("line-too-long",)])
        assert rss_bytes(daemon) - before < 8 << 20, rss_bytes(daemon) - before


def test_connections_over_the_quota_are_refused():
    with lib.Daemon(config="MaxConnectionsPerUser=5\n") as daemon:
        lib.wait_for(lambda: daemon.control("status")["connections"] == 0, "the probe is gone")
        held = [daemon.session() for _ in range(5)]
        with daemon.session() as over:
            lib.equal((over.welcome["type"], over.welcome["code"]), ("error", "quota"))
        with daemon.plain() as plain:
            lib.equal(plain.reply()["code"], "quota")
        lib.equal(daemon.control("status")["connections_refused"], 2)
        held.pop().close()
        lib.wait_for(lambda: daemon.control("status")["connections"] == 4, "one left")
        with daemon.session() as again:
            lib.equal(again.welcome["type"], "welcome")
        for session in held:
            session.close()


def test_more_connections_than_descriptors_wait_without_a_spin():
    def few_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    def cpu_ticks():
        with open("/proc/%d/stat" % daemon.process.pid, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    with lib.Daemon(limits=few_descriptors) as daemon:
        good = daemon.session()
        crowd = []
        for _ in range(600):
            connection = lib.socket.socket(lib.socket.AF_UNIX)
            connection.setblocking(False)
            try:
                connection.connect(daemon.socket)
            except BlockingIOError:  # the backlog is full too
                connection.close()
                break
            crowd.append(connection)
        lib.wait_for(lambda: "connections wait" in daemon.log_text(), "the daemon says so")
        before = cpu_ticks()
        for _ in range(20):
            good.send("# still served\n")
            good.expect("ack")
        # Twenty commits of one line cost a few ticks; a spin would take all of the time they take.
        assert cpu_ticks() - before < 100, cpu_ticks() - before
        daemon.control("status")
        for connection in crowd:
            connection.close()
        good.end()
        daemon.settled()
        daemon.send(HEADER + 'Marker, 1, "afterwards"\n')
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS"), [("afterwards",)])


def test_an_idle_daemon_does_not_wake_up():
    if lib.SANITIZERS or lib.WRAPPER:
        raise lib.Skip("what wraps the program has threads and waits of its own")
    with lib.Daemon() as daemon:
        held = [daemon.plain() for _ in range(25)] + [daemon.session() for _ in range(25)]
        daemon.flush()
        pid = daemon.process.pid
        lib.wait_for(lambda: all(sleeps(pid, task) for task in os.listdir("/proc/%d/task" % pid)),
                     "all threads wait until something happens")
        for connection in held:
            connection.close()


lib.run(globals())
