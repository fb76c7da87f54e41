# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --text: lines of logs become markers, whatever their bytes, through breaks and kills."""
import os
import random
import re
import signal
import time

from client import Folder, Running, contains, run_client
from lib import SANITIZERS, Daemon, equal, run, wait_for

NS = 10 ** 9


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, "--text", *args, **more)


def running(daemon, *args, **more):
    return Running("nvtxt-send", "--socket", daemon.socket, "--text", *args, **more)


def rows(daemon, columns):
    return daemon.query("SELECT %s FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid" % columns)


def names(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def texts(daemon):
    return [text for text, in rows(daemon, "text")]


def decode(text):
    """The way back that nvtxt-send(1) describes."""
    return re.sub(rb"\\x(00|5c|[89a-f][0-9a-f])", lambda match: bytes([int(match[1], 16)]),
                  text.encode())


def log_of(daemon):
    """The bytes of the one log in the store, without the ends of lines."""
    return b"".join(decode(text) for text in texts(daemon))


def some_bytes(seed, size):
    """Random bytes, those that mean something more often."""
    chance = random.Random(seed)
    special = [b"'", b'"', b"\\", b"\\x80", b"\\x5c", b"\0", b"\r", b"\n", b"\n", "\u20ac".encode(), b"\xe2"]
    parts = [chance.choice(special) if chance.random() < .5 else bytes([chance.randrange(256)])
             for _ in range(size)]
    return b"".join(parts) + b"\n"


# ---- What comes of lines --------------------------------------------------------------------------

def test_lines_become_markers_as_they_are():
    lines = ["plain", "", "can't open \"x\"", "C:\\tmp\\", "'\"\\", "it's C:\\new", "\u20ac\t\x1b[1m",
             "#nvtxt-end", "Marker, 1", "trailing\r", "last"]
    with Daemon() as daemon:
        before = time.time_ns()
        with running(daemon, "--category", "it's a \"log\"", "--color", "#010203") as client:
            pid = client.process.pid
            client.say("\n".join(lines))
            client.close()
            equal(client.expect(0), "")
        equal(texts(daemon), lines)
        for start, end, tid, color in rows(daemon, "start, end, globalTid, color"):
            assert before <= start == end <= time.time_ns(), start
            equal((tid, color), (pid << 24 | pid, 0xff010203))
        equal(daemon.query("SELECT DISTINCT n.text FROM NVTX_EVENTS n JOIN NVTX_EVENTS m USING (category)"
                           " WHERE n.eventType = 33 AND m.eventType = 34"), [("it's a \"log\"",)])
        equal(daemon.query("SELECT name, lines, events, warnings, errors, ended FROM NVTXT_SOURCES"
                           " WHERE kind = 'session'"), [("<stdin>", 12, 11, 0, 0, "end")])


def test_any_bytes_can_be_read_back_from_the_store():
    data = some_bytes(5, 60000)
    with Daemon() as daemon:
        equal(send(daemon, stdin=data), (0, "", ""))
        equal(b"".join(decode(text) + b"\n" for text in texts(daemon)), data)


def test_lines_longer_than_a_line_of_nvtxt_are_split_and_lose_nothing():
    data = b"x" * 200000 + b"\n" + some_bytes(6, 100000).replace(b"\n", b"") + b"\nend\n"
    with Daemon(config="MaxLine = 4096\n") as daemon:
        equal(send(daemon, stdin=data), (0, "", ""))
        equal(log_of(daemon), data.replace(b"\n", b""))
        assert len(texts(daemon)) > 75, len(texts(daemon))
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_an_endless_line_does_not_grow_the_memory():
    size = 32 << 20
    with Daemon() as daemon, running(daemon) as client:
        for _ in range(size >> 20):
            client.say(b"x" * (1 << 20))
        with open("/proc/%d/status" % client.process.pid) as file:
            peak = [int(row.split()[1]) for row in file if row.startswith("VmHWM")][0]
        if not SANITIZERS:
            assert peak < 28 << 10, "%d KiB" % peak
        client.close()
        client.expect(0)
        equal(rows(daemon, "sum(length(text)), count(DISTINCT start), count(int64Value)"), [(size, 1, 0)])


def test_each_file_is_a_session_of_its_own():
    with Daemon() as daemon, Folder() as folder:
        one = folder.write("one.log", "a\nb\n")
        two = folder.write("two.log", "c")
        equal(send(daemon, "--pid", "7", one, two), (0, "", ""))
        equal(rows(daemon, "text, globalTid, int64Value"),
              [("a", 7 << 24 | 7, None), ("b", 7 << 24 | 7, None), ("c", 7 << 24 | 7, None)])
        equal(daemon.query("SELECT name FROM NVTXT_SOURCES WHERE kind = 'session' ORDER BY id"),
              [(one,), (two,)])


def test_levels_have_colours_also_ones_own():
    with Daemon() as daemon:
        equal(send(daemon, "--level-pattern", "^GET .* 5[0-9]{2}$=Red", "--color", "0x1",
                   stdin="GET / 503\nGET / 200\nWARN x\n<7>x\n"), (0, "", ""))
        equal(rows(daemon, "printf('%08x', color)"),
              [("ffff0000",), ("00000001",), ("ffffa500",), ("ff808080",)])
        equal(send(daemon, "--level-pattern", "none", stdin="WARN x\n"), (0, "", ""))
        equal(rows(daemon, "color")[-1], (0,))


# ---- Times ----------------------------------------------------------------------------------------

def test_times_are_read_from_the_lines():
    with Daemon() as daemon:
        status, _, err = send(daemon, "--time-format", "auto", env={"TZ": "UTC"},
                              stdin="2025-11-21T14:00:00.25+01:00 a\n  at b\n1763730001 c\n  at d\n"
                                    "[2025-11-21 13:00:02,000000001] e\n")
        equal(status, 0)
        contains(err, "<stdin>: line 2 does not begin with a time")
        contains(err, "<stdin>: 2 lines did not begin with a time")
        equal([start - 1763730000 * NS for start, in rows(daemon, "start")],
              [NS // 4, NS // 4, NS, NS, 2 * NS + 1])


def test_a_format_of_ones_own_may_be_anywhere_in_the_line():
    with Daemon() as daemon:
        line = '::1 - - [21/Nov/2025:13:00:00 +0000] "GET / HTTP/1.1" 200'
        equal(send(daemon, "--time-format", "%*[%d/%b/%Y:%T %z]", stdin=line), (0, "", ""))
        equal(rows(daemon, "start, text"), [(1763730000 * NS, line)])


def test_a_partial_line_is_held_and_sent_when_a_signal_comes():
    with Daemon() as daemon, running(daemon) as client:
        client.say("whole\npart")
        wait_for(lambda: texts(daemon) == ["whole"], "the whole line is committed")
        now = time.time_ns()
        client.signal(signal.SIGTERM)
        contains(client.expect(128 + signal.SIGTERM), "stopped: <stdin> is stored up to line 2")
        equal(texts(daemon), ["whole", "part"])
        assert rows(daemon, "start")[1][0] < now, "the time is when it was read"


# ---- Breaks ---------------------------------------------------------------------------------------

def test_a_killed_daemon_doubles_and_loses_nothing():
    with Daemon() as daemon, running(daemon, "-q") as client:
        for number in range(5):
            client.say(b"".join(b"%d 'x\" \\\n" % (number * 2000 + i) for i in range(1000)))
            wait_for(lambda: number or texts(daemon), "it is connected")
            daemon.kill()
            client.say(b"".join(b"%d 'x\" \\\n" % (number * 2000 + 1000 + i) for i in range(1000)))
            daemon.start()
        client.close()
        client.expect(0)
        equal(texts(daemon), ["%d 'x\" \\" % i for i in range(10000)])


def whole_records(spool):
    """The lines of a spool that a resume finds: one may be half written. See spool_segment.h."""
    lines = b""
    for name in names(spool):
        if name.endswith(".segment"):
            with open(os.path.join(spool, name), "rb") as file:
                data = file.read()
            at = 80
            while at + 12 <= len(data) and at + 12 + int.from_bytes(data[at:at + 4], "little") <= len(data):
                size = int.from_bytes(data[at:at + 4], "little")
                lines += data[at + 12:at + 12 + size]
                at += 12 + size
    return lines


def test_with_a_spool_no_daemon_is_needed_and_the_death_of_the_sender_is_survived():
    daemon = Daemon(start=False)
    with daemon, Folder() as folder:
        spool = folder.name("spool")
        with running(daemon, "--spool", spool, "--category", "c") as client:
            client.say("can't \"x\"\n" * 1000)
            wait_for(lambda: whole_records(spool).count(b"can't") == 1000, "the lines are in the spool")
            client.signal(signal.SIGKILL)
            client.wait()
        daemon.start()
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", spool), (0, "", ""))
        equal(texts(daemon), ["can't \"x\""] * 1000)
        equal(os.listdir(spool), [])


# ---- The command line -----------------------------------------------------------------------------

def test_wrong_options_are_refused_with_one_sentence():
    wrong = [["--category", "x"], ["--color", "Red", "f"], ["--time-format", "iso"],
             ["--level-pattern", "x=Red"], ["--text", "--time-format", "%Q"],
             ["--text", "--time-format", "%Y"], ["--text", "--color", "Blau"], ["--text", "--category", ""],
             ["--text", "--level-pattern", "x"], ["--text", "--level-pattern", "(=Red"],
             ["--text", "--mode", "lin", "--ns-a", "1", "--freq", "1", "--nvtxt-a", "1"],
             ["--text", "--resume", "d"]]
    for args in wrong:
        status, out, err = run_client("nvtxt-send", *args)
        equal((status, out, err.count("\n")), (64, "", 1), "%r: %s" % (args, err))


run(globals())
