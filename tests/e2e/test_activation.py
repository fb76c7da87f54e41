# SPDX-License-Identifier: Apache-2.0
"""Under a service manager: sockets handed over, readiness, watchdog."""
import os
import socket
import sqlite3
import stat
import tempfile

import lib
import manager

LINES = "TimeBase = Manual\n@Marker, Time, Message\nMarker, 1, first\n"


def test_both_sockets_by_name_and_a_client_before_the_daemon():
    with manager.Activated() as daemon:
        before = [os.stat(path) for path in daemon.sockets()]
        with open("/proc/%d/comm" % daemon.process.pid, encoding="utf-8") as file:
            lib.equal(file.read(15), "systemd-socket-", "nobody has connected yet")
        with daemon.plain() as client:  # this one starts the daemon
            client.send(LINES)
        daemon.notify.expect("READY=1")
        with open("/proc/%d/comm" % daemon.process.pid, encoding="utf-8") as file:
            assert not file.read().startswith("systemd-socket-"), "it has become the daemon"
        daemon.settled()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("first",)])
        lib.equal(daemon.control("status")["socket"], daemon.socket)
        with daemon.session() as session:
            session.send(LINES)
            lib.equal(session.end()["events"], 1)
        daemon.stop()
        daemon.notify.expect("STOPPING=1")
        for path, was in zip(daemon.sockets(), before):
            now = os.stat(path)
            lib.equal((now.st_ino, now.st_mode, now.st_gid), (was.st_ino, was.st_mode, was.st_gid),
                      path + " is as it was")
        lib.equal(os.path.exists(daemon.socket + ".lock"), False)


def test_a_control_connection_starts_the_daemon_as_well():
    with manager.Activated() as daemon:
        daemon.control("status")
        daemon.notify.expect("READY=1")


def test_mode_and_group_of_a_socket_handed_over_are_the_managers():
    with manager.Activated(config="SocketMode=0600\nSocketGroup=no-such-group\n") as daemon:
        os.chmod(daemon.socket, 0o666)
        daemon.control("status")
        lib.equal(stat.S_IMODE(os.stat(daemon.socket).st_mode), 0o666)


def test_the_other_socket_is_made_when_only_one_is_handed_over():
    class DataOnly(manager.Activated):
        names = "data"

        def sockets(self):
            return [self.socket]

        def command(self):
            return super().command() + ["--control-socket", self.control_socket]

    with DataOnly() as daemon:
        daemon.plain().close()
        daemon.notify.expect("READY=1")
        lib.equal(daemon.control("status")["socket"], daemon.socket)
        daemon.stop()
        lib.equal((os.path.exists(daemon.socket), os.path.exists(daemon.control_socket)),
                  (True, False))


def test_a_single_socket_that_nobody_named_is_the_data_socket():
    class Unnamed(manager.Activated):
        name = []

        def sockets(self):
            return [self.socket]

        def command(self):
            words = [word for word in super().command() if not word.startswith("--fdname")]
            return words[:1] + self.name + words[1:] + ["--control-socket", self.control_socket]

    class UnitsOwn(Unnamed):  # as of a unit without FileDescriptorName=
        name = ["--fdname=collector.socket"]

    for kind in (Unnamed, UnitsOwn):
        with kind() as daemon:
            with daemon.plain() as client:
                client.send(LINES)
            daemon.notify.expect("READY=1")
            daemon.settled()
            lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"),
                      [("first",)])
            lib.equal(daemon.control("status")["socket"], daemon.socket)


def listening(folder, name):
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(os.path.join(folder, name))
    sock.listen()
    return sock


def test_what_is_no_socket_of_ours_is_refused_with_a_sentence():
    with tempfile.TemporaryDirectory() as folder:
        good, second = listening(folder, "good"), listening(folder, "second")
        quiet = socket.socket(socket.AF_UNIX)
        quiet.bind(os.path.join(folder, "quiet"))
        datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagram.bind(os.path.join(folder, "datagram"))
        internet = socket.socket(socket.AF_INET)
        internet.bind(("127.0.0.1", 0))
        internet.listen()
        pair = socket.socketpair()
        with open(os.path.join(folder, "file"), "wb") as file:
            cases = [
                ([good], ["log"], "'log'", "only 'data' and 'control'"),
                ([good, second], None, "'unknown'", "FileDescriptorName="),
                ([good], ["a\nb"], "'a\\x0ab'"),
                ([good, second], ["data", "data"], "two descriptors 'data'"),
                ([good, second, second], ["data", "control", "more"], "'more'"),
                ([quiet], ["data"], "'data'", "not listening", "Accept=no"),
                ([pair[0]], ["control"], "'control'", "not listening"),
                ([datagram], ["data"], "no stream socket"),
                ([internet], ["data"], "no Unix socket"),
                ([file.fileno()], ["data"], "no socket"),
                ([good], ["data", "control"], "cannot be understood"),
            ]
            for descriptors, names, *words in cases:
                store = os.path.join(folder, "store.sqlite")
                result = manager.hand_over([fd if isinstance(fd, int) else fd.fileno()
                                            for fd in descriptors], names, ["--store", store])
                if not manager.has_libsystemd():
                    words = ["LISTEN_FDS", "libsystemd"]
                lib.equal(result.returncode, 78, (names, result.stderr))
                lib.equal(len(result.stderr.splitlines()), 1, result.stderr)
                for word in words:
                    assert word in result.stderr, (word, result.stderr)
                lib.equal(os.path.exists(store), False)
        for sock in (good, second, quiet, datagram, internet, *pair):
            sock.close()


def test_ready_is_said_when_clients_can_connect():
    with manager.Managed(start=False) as daemon:
        daemon.start()
        message = daemon.notify.expect("READY=1")
        assert any(word.startswith("STATUS=") for word in message), message
        daemon.stop()
        daemon.notify.expect("STOPPING=1")
        assert "WATCHDOG=1" not in daemon.notify.seen, daemon.notify.seen


def test_a_start_that_fails_is_never_ready():
    with manager.Managed(start=False) as daemon:
        daemon.options += ["--store", "/nonexistent/x.sqlite"]
        try:
            daemon.start()
        except AssertionError:
            pass
        lib.equal(daemon.process.wait(), 73)
        lib.equal(daemon.notify.next(0), None)


def test_watchdog_pings_stop_while_the_writer_hangs():
    with manager.Managed(watchdog=0.6) as daemon:
        daemon.notify.expect("READY=1")
        for _ in range(3):
            daemon.notify.expect("WATCHDOG=1")
        with manager.hanging_thread(daemon.process.pid, "writer"):
            while daemon.notify.next(0):  # what was said before the writer hung
                pass
            pings = 0
            while daemon.notify.next(1.5):  # silence of more than the whole watchdog time
                pings += 1
                assert pings <= 4, "pings though the writer hangs"  # on their way before
            with daemon.plain() as client:  # the loop answers all the same
                client.send(LINES)
            daemon.control("status")
            while daemon.notify.next(0):  # it was not the writer alone that stood still
                pings += 1
            assert pings <= 4, "%d pings though the writer hangs" % pings
        daemon.notify.expect("WATCHDOG=1")
        daemon.settled()
        daemon.stop()
        daemon.notify.expect("STOPPING=1")


def test_watchdog_pings_go_on_while_the_store_is_locked():
    with manager.Managed(watchdog=0.6, shared=True) as daemon:
        store = sqlite3.connect(daemon.store, isolation_level=None, timeout=lib.DEADLINE)
        store.execute("BEGIN IMMEDIATE")
        with daemon.plain() as client:
            client.send(LINES)
        lib.wait_for(lambda: daemon.control("status")["in_trouble"], "the writer is in trouble")
        while daemon.notify.next(0):
            pass
        daemon.notify.expect("WATCHDOG=1")
        daemon.notify.expect("WATCHDOG=1")
        store.execute("ROLLBACK")
        store.close()
        daemon.settled()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("first",)])


lib.run(globals())
