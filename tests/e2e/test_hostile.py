# SPDX-License-Identifier: Apache-2.0
"""Two users: a hostile one does what it can, an ordinary one sends a session. All that the ordinary
one sent is stored, unchanged, and `status` answers.

With NVTXT_TEST_LONG=1 each load lasts, and the ordinary user's acknowledgements and `status` have
limits, which grow with what the daemon itself had to wait for a processor. Without it a load lasts
a moment, and only what is stored is looked at.
"""
import contextlib
import fcntl
import itertools
import json
import os
import resource
import socket
import time
import uuid

import lib

HOSTILE, ORDINARY = 65534, 65533
LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
LOAD_S = 75 if LONG else 0.5
OPEN_MIB = 64  # MaxOpenBytesPerUser, by default
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
    while time.monotonic() < until or count == 0:  # it may start late
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)  # a full backlog is no reason to stay longer
            try:
                connection.connect(path)
                count += 1
            except OSError:
                pass
    return count


# What the tables were built on before their hash had a key, turned round: all numbers that it makes
# of multiples of 2^32 fell into one bucket.
GOLDEN, SECOND, MASK = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 2**64 - 1


def unshift(number, bits):
    result, shift = number, bits
    while shift < 64:
        result ^= number >> shift
        shift += bits
    return result


def chosen(number):
    number = unshift(number, 32) * pow(SECOND, -1, 2**64) & MASK
    number = unshift(number, 29) * pow(GOLDEN, -1, 2**64) & MASK
    return unshift(number, 32)


def range_lines(first, count):
    """Ranges that stay open, with RangeIds that were chosen."""
    ids = (chosen(number << 32) for number in range(first, first + count))
    return "".join("RangeStart, 1, %d, 'r'\n" % (number - 2**64 if number >= 2**63 else number)
                   for number in ids)


def send_until(connection, texts, until):
    """Sends as long as time lasts and the daemon reads. Returns how many were sent whole."""
    count = 0
    connection.settimeout(0.5)
    for text in texts:
        data = memoryview(text.encode())
        while data and time.monotonic() < until:
            try:
                data = data[connection.send(data):]
            except TimeoutError:
                pass  # it is not read now
        if data:
            break
        count += 1
    return count


def choose_range_ids(path, until):
    """Returns whether all of them were taken."""
    text = "@RangeStart, Time, RangeId, Message\n" + range_lines(0, 60000 if LONG else 3000)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        sent = send_until(connection, [text], max(until, time.monotonic() + 60))
        time.sleep(max(0, until - time.monotonic()))  # they stay open
    return sent


def flood_with_markers(path, until):
    header = "@Marker, Time, Message\n"
    text = "".join("Marker, %d, 'not mine'\n" % number for number in range(1000))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return send_until(connection, itertools.chain([header], itertools.repeat(text)), until)


def flood_with_names(path, until):
    """A name a line, each for another category: with texts that are the ordinary user's, too."""
    header = "@SetCategoryName, CategoryId, Name\n"
    texts = ("".join("SetCategoryName, %d, 'line %d'\n" % (number, number)
                     for number in range(first, first + 500)) for first in itertools.count(1, 500))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        return send_until(connection, itertools.chain([header], texts), until)


def hold_open_ranges(path, until):
    """40 connections and 100 sessions that were left, each full of open ranges."""
    text = "@RangeStart, Time, RangeId, Message\n" + range_lines(0, 5000 if LONG else 100)
    for _ in range(100):
        hello = {"protocol": 1, "session": str(uuid.uuid4())}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            send_until(connection, ["#nvtxt-session %s\n" % json.dumps(hello), text],
                       max(until, time.monotonic() + 1))
    with contextlib.ExitStack() as stack:
        sent = 0
        for _ in range(40):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(path)
            sent += send_until(connection, [text], max(until, time.monotonic() + 1))
        time.sleep(max(0, until - time.monotonic()))
    return sent


def hold_variables(path, until):
    """20 sessions with as many variables as a source may have, full of text, and a line every 20 ms:
    events, and assignments that copy one variable to another."""
    sessions = []
    text = HEADER + "".join("v%d = '%s'\n" % (number, "x" * 245) for number in range(4000 if LONG else 400))
    for _ in range(20):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        hello = {"protocol": 1, "session": str(uuid.uuid4()), "diagnostics": False}
        send_until(connection, ["#nvtxt-session %s\n" % json.dumps(hello), text],
                   max(until, time.monotonic() + 30))
        connection.setblocking(False)
        sessions.append(connection)
    lines = 0
    while time.monotonic() < until or lines == 0:
        for number, connection in enumerate(sessions):
            with contextlib.suppress(BlockingIOError):  # it is not read now
                connection.send(b"Marker, 1, $v7\n" if number % 2 else b"v%d = $v%d\n" % (lines % 400, lines % 399))
            with contextlib.suppress(BlockingIOError):
                while connection.recv(1 << 16):
                    pass
        lines += 1
        time.sleep(0.02)
    return lines


def lock_for_reading(path, until):
    """Every byte of -shm that SQLite locks, of every segment that comes."""
    folder = os.path.dirname(path)
    held = {}
    while time.monotonic() < until or not held:
        for name in os.listdir(folder):
            if name.endswith("-shm") and name not in held:
                held[name] = os.open(os.path.join(folder, name), os.O_RDONLY)
        for fd in held.values():
            for byte in range(120, 128):
                with contextlib.suppress(OSError):
                    fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, byte)
        time.sleep(0.01)
    return len(held)


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


def check_memory(daemon):
    """MemoryBudget, 64 MiB, and MaxOpenBytesPerUser for each of the two users."""
    with open("/proc/%d/status" % daemon.process.pid, encoding="ascii") as file:
        most, = [int(row.split()[1]) << 10 for row in file if row.startswith("VmHWM:")]
    bound = (16 + 64 + 2 * OPEN_MIB) << 20
    print("# RSS at most %.1f MiB of %d MiB" % (most / 2**20, bound >> 20))
    if LONG and not lib.SANITIZERS and not lib.WRAPPER:
        assert most < bound, most


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
        check_memory(daemon)
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


def test_who_is_refused_in_a_loop_holds_up_nobody():
    counts = under(connect_and_close, 4, "MaxConnectionsPerUser=1\n")
    print("# connections: %s" % counts)


def test_chosen_range_ids_hold_up_nobody():
    lib.equal(under(choose_range_ids, 14), [1] * 14, "connections whose lines were all taken")


def test_a_flood_of_lines_holds_up_nobody():
    counts = under(flood_with_markers, 4)
    print("# thousands of lines: %s" % counts)


def test_names_at_full_speed_hold_up_nobody_and_change_no_text():
    counts = under(flood_with_names, 4)
    print("# half thousands of names: %s" % counts)


def test_parked_sessions_full_of_open_ranges_hold_up_nobody():
    counts = under(hold_open_ranges, 1)
    print("# connections whose lines were all taken: %s" % counts)


def test_sessions_full_of_variables_hold_up_nobody():
    counts = under(hold_variables, 3)
    print("# rounds of lines: %s" % counts)


def test_locks_on_the_log_of_the_store_hold_up_nobody():
    segments = under(lock_for_reading, 2, "StoreMode=0644\n")
    print("# locked: %s" % segments)


lib.run(globals())
