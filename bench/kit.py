# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: a daemon of their own, programs and their times, rows of the table.

A benchmark is a function that takes a Kit and adds rows to it. What is compared takes turns, round
by round, so that both sides of a round have the same neighbours on the machine: a ratio is the
median of the ratios of the rounds. Everything lies in a folder that is removed at the end, however
it comes.
"""
import glob
import json
import os
import resource
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

DEADLINE = 120


def wait_for(condition, what, pause=0.001):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("not within %d s: %s" % (DEADLINE, what))
        time.sleep(pause)


def figure(value):
    """Two digits or three, all of those before the point, for people."""
    if value == int(value) and value < 1e6:
        return "{:,}".format(int(value))
    for limit, form in ((100, "{:,.0f}"), (10, "{:.1f}"), (0.1, "{:.2f}")):
        if abs(value) >= limit:
            return form.format(value)
    return "%.2g" % value


def high_water(pid):
    """VmHWM of a process, 0 when it has ended. Of the program itself, not of who started it."""
    try:
        with open("/proc/%d/status" % pid) as status:
            return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


class Kit:
    def __init__(self, build, quick, rounds=None, big_events=None, report=None, top=".", older=None):
        self.build = build
        self.top = top
        self.quick = quick
        self.rounds = rounds or (3 if quick else 5)
        self.events = 100_000 if quick else 1_000_000
        self.big_events = big_events or (1_000_000 if quick else 10_000_000)
        self.report = report or (lambda row: None)
        self.older = older  # another nvtxt-report
        self.work = tempfile.mkdtemp(prefix="bench.", dir=build)
        self.sockets = tempfile.mkdtemp(prefix="nvtxtd-bench.")
        self.processes = []
        self.big = None

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)

    # ---- Rows of the table ---------------------------------------------------------------------

    def compare(self, what, unit, one, other, note=""):
        """`one` and `other` are (name, values), a value a round; the ratio is one / other."""
        ratios = [mine / theirs for mine, theirs in zip(one[1], other[1], strict=True)]
        self.report({"what": what, "unit": unit,
                     "columns": [self.summary(*one), self.summary(*other)],
                     "ratio": self.summary("", ratios), "note": note})

    def tell(self, what, unit, *columns, note=""):
        """Facts that are not compared: (name, values) each."""
        self.report({"what": what, "unit": unit, "columns": [self.summary(*c) for c in columns],
                     "ratio": None, "note": note})

    @staticmethod
    def summary(name, values):
        values = values if isinstance(values, (list, tuple)) else [values]
        return {"name": name, "median": statistics.median(values), "min": min(values),
                "max": max(values), "rounds": len(values)}

    # ---- Programs ------------------------------------------------------------------------------

    def program(self, name):
        for folder in ("bench", "daemon", "client", "ship"):
            path = os.path.join(self.build, folder, name)
            if os.access(path, os.X_OK):
                return path
        raise RuntimeError("%s is not built" % name)

    def spawn(self, command, **options):
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def run(self, name, *arguments):
        """The words that a program prints."""
        command = [self.program(name)] + [str(argument) for argument in arguments]
        process = self.spawn(command, stdout=subprocess.PIPE)
        output, _ = process.communicate()
        self.processes.remove(process)
        if process.returncode != 0:
            raise RuntimeError("%s: status %d" % (" ".join(command), process.returncode))
        return output.decode().split()

    def seconds(self, command, **options):
        """How long a command takes, from its start to its end."""
        started = time.monotonic()
        process = self.spawn(command, **options)
        status = process.wait()
        ended = time.monotonic()
        self.processes.remove(process)
        if status != 0:
            raise RuntimeError("%s: status %d" % (" ".join(command), status))
        return ended - started

    def times(self, command, **options):
        """Seconds that a command takes by the clock, and of the processor, by all its threads."""
        started = time.monotonic()
        process = self.spawn(command, **options)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        self.processes.remove(process)
        if process.returncode != 0:
            raise RuntimeError("%s: status %d" % (" ".join(command), process.returncode))
        return seconds, used.ru_utime + used.ru_stime

    def watched(self, command, **options):
        """Seconds that a command takes, and the KiB that it was seen to hold at most (VmHWM)."""
        started = time.monotonic()
        process = self.spawn(command, **options)
        most = 0
        while process.poll() is None:
            most = max(most, high_water(process.pid))
            time.sleep(0.02)
        seconds = time.monotonic() - started
        self.processes.remove(process)
        if process.returncode != 0:
            raise RuntimeError("%s: status %d" % (" ".join(command), process.returncode))
        return seconds, most

    # ---- Files ---------------------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.work, name)

    def remove_store(self, path):
        stem = glob.escape(path[:-len(".sqlite")])
        for file in glob.glob(glob.escape(path) + "*") + glob.glob(stem + "-*Z-*.sqlite*"):
            os.unlink(file)

    def input(self, kind, events):
        """A file of NVTXT; made once."""
        path = self.path("%s-%d.nvtxt" % (kind, events))
        if not os.path.exists(path):
            with open(path, "wb") as file:
                self.seconds([self.program("make_lines"), kind, str(events)], stdout=file)
        return path

    def big_store(self):
        """A store of many push/pop ranges, spread over the 24 hours before now; made once. Returns
        the path and the time that its last event is at."""
        if not self.big:
            now = time.time_ns()
            path = self.path("big.sqlite")
            self.run("fill_store", "pushpop", self.big_events, path, now - 86400 * 10**9, now)
            self.big = (path, now)
        return self.big

    def daemon(self, **options):
        return Daemon(self, **options)


class Daemon:
    """A daemon with a store in the work folder; a context manager. The store is removed at the end
    unless it was given."""

    def __init__(self, kit, store=None, options=(), under=()):
        self.kit = kit
        self.given = store is not None
        self.store = store or kit.path("store.sqlite")
        self.socket = os.path.join(kit.sockets, "data.sock")
        self.control_socket = os.path.join(kit.sockets, "ctl.sock")
        self.log = kit.path("daemon.log")
        self.options = list(options)
        self.under = list(under)  # the command that runs it, such as valgrind
        self.process = None
        self.start_seconds = 0

    def __enter__(self):
        if not self.given:
            self.kit.remove_store(self.store)
        command = self.under + [self.kit.program("nvtxtd"), "--socket", self.socket, "--control-socket",
                   self.control_socket, "--store", self.store] + self.options
        started = time.monotonic()
        with open(self.log, "wb") as log:
            self.process = self.kit.spawn(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self.is_ready, "the daemon is ready", pause=0.0002)
        self.start_seconds = time.monotonic() - started
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            with open(self.log, errors="replace") as log:
                raise RuntimeError("the daemon did not start: " + log.read())
        try:  # the data socket is made last
            self.connect().close()
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill() if kind else self.process.terminate()
        status = self.process.wait()
        self.kit.processes.remove(self.process)
        if not self.given:
            self.kit.remove_store(self.store)
        if not kind and status != 0:
            raise RuntimeError("the daemon ended with status %d" % status)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.socket)
        except OSError:
            connection.close()
            raise
        return connection

    def control(self, command):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.control_socket)
            connection.sendall(json.dumps({"id": 1, "command": command}).encode() + b"\n")
            reply = json.loads(connection.makefile("rb").readline())
        if not reply["ok"]:
            raise RuntimeError(reply)
        return reply["result"]

    def query(self, sql):
        reader = sqlite3.connect("file:%s?mode=ro" % self.store, uri=True, timeout=60)
        try:
            return reader.execute(sql).fetchall()
        finally:
            reader.close()

    def segments(self):
        """The files of the store, oldest first; the store itself when it is one plain file."""
        stem = self.store[:-len(".sqlite")]
        return sorted(glob.glob(glob.escape(stem) + "-*Z-*.sqlite"),
                      key=lambda path: int(path[:-len(".sqlite")].rsplit("-", 1)[1])) or [self.store]

    def everywhere(self, sql):
        """The rows of all segments."""
        rows = []
        for path in self.segments():
            reader = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=60)
            try:
                rows += reader.execute(sql).fetchall()
            finally:
                reader.close()
        return rows

    def wait_visible(self, events):
        """Returns when a reader sees so many events, polling."""
        reader = sqlite3.connect("file:%s?mode=ro" % self.store, uri=True, timeout=60)
        try:
            wait_for(lambda: (reader.execute("SELECT max(rowid) FROM NVTX_EVENTS").fetchone()[0]
                              or 0) >= events, "%d events are visible" % events)
        finally:
            reader.close()

    def check(self, events):
        """Fails unless so many events are stored: a figure for less work would be none."""
        stored = sum(count for count, in self.everywhere(
            "SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"))
        if stored != events:
            raise RuntimeError("%d events are stored where %d were sent" % (stored, events))

    def memory(self):
        """KiB: VmRSS and VmHWM."""
        found = {}
        with open("/proc/%d/status" % self.process.pid) as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    found[name] = int(value.split()[0])
        return found

    def activity(self):
        return activity(self.process)


def activity(process):
    """Of all threads together: voluntary and other context switches, seconds of CPU."""
    switches, forced, ns = 0, 0, 0
    for task in glob.glob("/proc/%d/task/*" % process.pid):
        with open(task + "/status") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name == "voluntary_ctxt_switches":
                    switches += int(value)
                elif name == "nonvoluntary_ctxt_switches":
                    forced += int(value)
        with open(task + "/schedstat") as stat:
            ns += int(stat.read().split()[0])
    return switches, forced, ns / 1e9


def raise_descriptors(count):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def warn(text):
    print(text, file=sys.stderr)
