# SPDX-License-Identifier: Apache-2.0
"""Two users: a hostile one does what it can, an ordinary one sends a session. All that the ordinary
one sent is stored, unchanged, and `status` answers.

With NVTXT_TEST_LONG=1 each load lasts, and the ordinary user's acknowledgements and `status` have
limits, which grow with what the daemon itself had to wait for a processor. Without it a load lasts
a moment, and only what is stored is looked at.
"""
import json
import os
import resource
import socket
import time
import uuid

import lib

HOSTILE, ORDINARY = 65534, 65533
LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
LOAD_S = 75 if LONG else 1.5
ACK_P99_S, ACK_WORST_S, STATUS_S = 1, 3, 1
HEADER = "TimeBase = Manual\n@Marker, Time, Message\n"


def as_user(uid, act, *args):
    """Runs act(*args) in a process of that user; its result comes from join()."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(ours)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            result = json.dumps(act(*args)).encode()
            while result:
                result = result[os.write(theirs, result):]
            status = 0
        finally:
            os._exit(status)
    os.close(theirs)
    return child, ours


def join(process):
    child, pipe = process
    with os.fdopen(pipe, "rb") as file:
        result = file.read()
    lib.equal(os.waitpid(child, 0)[1], 0, "exit status of a user's process")
    return json.loads(result)


def scheduled(pid):
    """Nanoseconds that a process's first thread ran, and waited for a processor."""
    with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
        ran, waited, _ = file.read().split()
    return int(ran), int(waited)


def connect_and_close(path, until):
    count = 0
    while time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)  # a full backlog is no reason to stay longer
            try:
                connection.connect(path)
                count += 1
            except OSError:
                pass
    return count


class Ordinary:
    """What the ordinary user's process does: a session, a line now and then."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.sent = 2
        hello = {"protocol": 1, "session": str(uuid.uuid4()), "name": "ordinary"}
        self.socket.sendall(("#nvtxt-session %s\n%s" % (json.dumps(hello), HEADER)).encode())
        self.wait_for_ack()

    def wait_for_ack(self):
        while True:
            reply = json.loads(self.file.readline())
            assert reply["type"] in ("welcome", "ack"), reply
            if reply["type"] == "ack" and reply["line"] == self.sent:
                return

    def run(self, until):
        waits = []
        while time.monotonic() < until or not waits:
            started = time.monotonic()
            self.socket.sendall(('Marker, %d, "line %d"\n' % (len(waits), len(waits))).encode())
            self.sent += 1
            self.wait_for_ack()
            waits.append(time.monotonic() - started)
        self.socket.sendall(b"#nvtxt-end\n")
        end = [json.loads(line) for line in self.file][-1]
        assert end["type"] == "end" and end["events"] == len(waits), end
        return waits


def ordinary(path, until):
    return Ordinary(path).run(until)


def ask_status(daemon, until):
    """How long `status` took, in seconds, again and again."""
    waits = []
    while time.monotonic() < until or not waits:
        started = time.monotonic()
        daemon.control("status")
        waits.append(time.monotonic() - started)
        time.sleep(0.05)
    return waits


def check_waits(daemon, before, acks, status):
    ran, waited = (now - then for now, then in zip(scheduled(daemon.process.pid), before))
    factor = 1 + waited / max(ran, 1)
    acks, status = sorted(acks), sorted(status)
    p99 = acks[int(len(acks) * 0.99)]
    print("# %d lines: wait for the ack p50 %.3f s, p99 %.3f s, longest %.3f s; status %.3f s; "
          "load factor %.1f" % (len(acks), acks[len(acks) // 2], p99, acks[-1], status[-1], factor))
    if LONG and not lib.SANITIZERS and not lib.WRAPPER:
        assert p99 < ACK_P99_S * factor, p99
        assert acks[-1] < ACK_WORST_S * factor, acks[-1]
        assert status[-1] < STATUS_S * factor, status[-1]


def under(load, count, config=""):
    """Lets `count` processes of the hostile user run load(path, until) beside the ordinary one.
    Returns what the loads returned."""
    if os.getuid() != 0:
        raise lib.Skip("only root can be two other users")
    if "thread" in lib.SANITIZERS:
        raise lib.Skip("under ThreadSanitizer it takes too long")
    with lib.Daemon(config="SocketMode=0666\n" + config) as daemon:
        os.chmod(daemon.folder, 0o755)
        before = scheduled(daemon.process.pid)
        until = time.monotonic() + LOAD_S
        good = as_user(ORDINARY, ordinary, daemon.socket, until)
        loads = [as_user(HOSTILE, load, daemon.socket, until) for _ in range(count)]
        status = ask_status(daemon, until)
        acks = join(good)
        results = [join(process) for process in loads]
        check_waits(daemon, before, acks, status)
        daemon.settled()
        lib.equal(daemon.query("SELECT text FROM NVTX_EVENTS JOIN NVTXT_EVENT_SOURCES ON "
                               "NVTX_EVENTS.rowid BETWEEN firstRow AND lastRow JOIN NVTXT_SOURCES "
                               "ON id = sourceId WHERE peerUid = ? AND eventType = 34 "
                               "ORDER BY NVTX_EVENTS.rowid", ORDINARY),
                  [("line %d" % number,) for number in range(len(acks))])
    return results


def test_who_connects_and_closes_in_a_loop_holds_up_nobody():
    counts = under(connect_and_close, 4)
    print("# connections: %s" % counts)
    assert all(counts), counts


def test_who_is_refused_in_a_loop_holds_up_nobody():
    counts = under(connect_and_close, 4, "MaxConnectionsPerUser=1\n")
    print("# connections: %s" % counts)
    assert all(counts), counts


lib.run(globals())
