# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: a daemon in a folder of its own, connections by hand, TAP.

Nothing here sleeps to let something happen: every wait is for a condition and has a deadline.
A daemon is ended by its own process id, and its exit status is looked at, so a sanitizer's finding
fails the test that caused it.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import uuid

import rest

DEADLINE = float(os.environ.get("NVTXT_TEST_DEADLINE", "240"))
TOP_BUILD = os.environ.get("top_builddir") or os.path.join(os.path.dirname(__file__), "..", "..")
SANITIZERS = os.environ.get("SANITIZERS", "")  # as in configure --enable-sanitizers
WRAPPER = os.environ.get("NVTXT_TEST_WRAPPER")  # valgrind, when it watches our programs
SHORT = bool(os.environ.get("NVTXT_TEST_SHORT"))  # scripts/test: a part of what takes long
# Tests that the same run of scripts/test has in a build with sanitizers as well.
AGAIN = os.environ.get("NVTXT_TEST_AGAIN", "").split()
WRAPPED = os.path.join(os.environ.get("NVTXT_TEST_FINDINGS", ""), "programs")

# Runs under valgrind the program whose name it was called by. It has all it needs in itself,
# because tests start programs in environments of their own.
WRAP = """\
#!/bin/sh
export NVTXT_TEST_FINDINGS='%s'
exec %s '%s'/"${0##*/findings/programs/}" "$@"
"""


def make_wrap():
    os.makedirs(WRAPPED)
    path = os.path.join(WRAPPED, "wrap")
    with open(path, "w", encoding="utf-8") as file:
        file.write(WRAP % (os.path.dirname(WRAPPED), WRAPPER, os.path.abspath(TOP_BUILD)))
    os.chmod(path, 0o755)


def program(folder, name):
    """The path of a file of the build; of a program what runs it under valgrind, if that is on."""
    path = os.path.join(TOP_BUILD, folder, name)
    if not WRAPPER or not os.access(path, os.X_OK):
        return path
    link = os.path.join(WRAPPED, folder, name)
    os.makedirs(os.path.dirname(link), exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.symlink(os.path.join(WRAPPED, "wrap"), link)
    return link


if WRAPPER and not os.path.exists(WRAPPED):  # now: later there may be threads
    make_wrap()


class Skip(Exception):
    """The machine lacks what the case needs."""


def wait_for(condition, what, deadline=DEADLINE):
    """Returns the first true value of condition(); fails after the deadline. The longer it waits
    the less often it looks: what it waits for needs the processor more."""
    started = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - started
        if waited > deadline:
            raise AssertionError("not within %g s: %s" % (deadline, what))
        time.sleep(min(max(waited / 8, 0.02 if WRAPPER else 0.002), 0.05))


def tell(process, number, has_heard):
    """Sends a signal. ThreadSanitizer takes signals itself and hands them on later; on a busy
    machine one sent right after the start may never come through (7 of 600; 0 of 1,600 without
    it). The daemon catches signals before it listens; a debugger showed each time that the kernel
    had delivered the signal and that libuv's handler, which was in place, was not called. So it is
    sent again there until it was heard."""
    process.send_signal(number)
    if "thread" not in SANITIZERS:
        return
    for _ in range(10):
        end = time.monotonic() + 2
        while time.monotonic() < end:
            if process.poll() is not None or has_heard():
                return
            time.sleep(0.01)
        process.send_signal(number)


def halt(process):
    """Stops a program that the test has started; SIGCONT lets it go on. Returns when each of its
    threads stands still: on a busy machine that may be some time after the signal."""
    process.send_signal(signal.SIGSTOP)
    how = os.WSTOPPED | os.WNOWAIT | os.WNOHANG
    wait_for(lambda: os.waitid(os.P_PID, process.pid, how), "it stands still")


def terminate(process):
    """Ends a program in order, else by force; returns its exit status."""
    tell(process, signal.SIGTERM, lambda: False)
    try:
        return process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError("%s\n  got    %r\n  wanted %r" % (what, got, wanted))


def rows(path, sql, *values):
    """Rows of a store as a reader sees them."""
    store = sqlite3.connect("file:%s?mode=ro" % path, uri=True, timeout=DEADLINE)
    try:
        return store.execute(sql, values).fetchall()
    finally:
        store.close()


class Daemon:
    """A daemon with sockets and store in a temporary folder; a context manager. `shared`: others
    can write to its store, or lock it, between two transactions."""

    def __init__(self, options=(), config=None, env=None, start=True, limits=None, shared=False):
        self.folder = tempfile.mkdtemp(prefix="nvtxtd-test-")
        self.socket = os.path.join(self.folder, "data.sock")
        self.control_socket = os.path.join(self.folder, "ctl.sock")
        self.store = os.path.join(self.folder, "store.sqlite")
        self.log = os.path.join(self.folder, "log")
        with open(self.log, "wb"):
            pass
        self.program = program("tests/fault", "nvtxtd-faulty") if shared \
            else program("daemon", "nvtxtd")
        self.options = list(options)
        self.env = {**(env or os.environ), "NVTXT_SHARED_STORE": "1"} if shared else env
        self.limits = limits
        self.process = None
        if config is not None:
            path = os.path.join(self.folder, "nvtxtd.conf")
            with open(path, "w", encoding="utf-8") as file:
                file.write("[nvtxtd]\n" + config)
            self.options += ["-c", path]
        if start:
            self.start()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            if self.process and self.process.poll() is None:
                if kind:
                    self.kill()
                else:
                    self.stop()
        finally:
            if kind:
                sys.stdout.write("".join("# log: " + line for line in self.log_text().splitlines(True)))
            shutil.rmtree(self.folder, ignore_errors=True)

    def command(self):
        return [self.program, "--socket", self.socket, "--control-socket",
                self.control_socket, "--store", self.store] + self.options

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.env, preexec_fn=self.limits)
        wait_for(self.is_ready, "the daemon is ready")

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError("the daemon ended with %r at its start:\n%s" %
                                 (self.process.returncode, self.log_text()))
        probe = socket.socket(socket.AF_UNIX)
        try:  # the data socket is made last: then all is there
            probe.connect(self.socket)
            return True
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        finally:
            probe.close()

    def log_text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self, number=signal.SIGTERM, status=0):
        self.tell_to_stop(number)
        self.wait(status)

    def tell_to_stop(self, number=signal.SIGTERM):
        self.tell(number, "stopping")

    def tell_to_reload(self):
        self.tell(signal.SIGHUP, "configuration")

    def tell(self, number, answer):
        before = self.log_text().count(answer)
        tell(self.process, number, lambda: self.log_text().count(answer) > before)

    def wait(self, status=0):
        try:
            code = self.process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the daemon did not stop") from None
        equal(code, status, "exit status of the daemon; log:\n" + self.log_text())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def control(self, command, **arguments):
        reply = self.control_raw(json.dumps({"id": 1, "command": command, **arguments}).encode())
        if not reply["ok"]:
            raise AssertionError(reply)
        return reply["result"]

    def control_raw(self, line):
        with Connection(self.control_socket) as connection:
            connection.send(line + b"\n")
            return connection.reply()

    def flush(self):
        self.control("flush")

    def settled(self):
        """Waits until no connection is left, then until all is committed."""
        wait_for(lambda: self.control("status")["connections"] == 0, "all connections are closed")
        self.flush()

    def query(self, sql, *values):
        """Rows as a reader sees them while the daemon runs (or after it)."""
        return rows(self.store, sql, *values)

    def segments(self):
        """The files of the store up to the one in use, oldest first. The daemon may go on in
        another one between the two looks; then both are taken again."""
        stem = self.store[:-len(".sqlite")]

        def look():
            used = os.path.join(os.path.dirname(self.store), os.readlink(self.store))
            numbers = {path: int(path[:-len(".sqlite")].rsplit("-", 1)[1])
                       for path in glob.glob(glob.escape(stem) + "-*Z-*.sqlite")}
            return (numbers, numbers[used]) if used in numbers else None

        numbers, last = wait_for(look, "the segment in use is there")
        return sorted((path for path in numbers if numbers[path] <= last), key=numbers.get)

    def everywhere(self, sql, *values):
        """The rows of all segments, oldest first."""
        return [row for path in self.segments() for row in rows(path, sql, *values)]

    def plain(self):
        return Connection(self.socket)

    def session(self, session=None, **hello):
        return Session(self, session, **hello)

    def send(self, text):
        """A whole plain source, read and committed."""
        with self.plain() as connection:
            connection.send(text)
        self.settled()


class FaultyDaemon(Daemon):
    """A daemon that begins a fault when it is told to; tests/fault/nvtxtd-faulty.c lists them."""

    def __init__(self, fault, config=None):
        super().__init__(env={**os.environ, "NVTXT_FAULT": fault}, config=config, start=False)
        self.program = program("tests/fault", "nvtxtd-faulty")
        self.start()

    def tell_fault(self):
        """It begins; or ends, if it is one that does. Returns when the daemon has done so."""
        before = self.log_text().count("SIGUSR1")
        self.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: self.log_text().count("SIGUSR1") > before, "the daemon has taken SIGUSR1")

    def restart_without(self):
        self.program = program("daemon", "nvtxtd")
        self.start()


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def reply(self):
        """The next reply; None at the end."""
        try:
            line = self.file.readline()
        except ConnectionResetError:
            return None
        if not line:
            return None
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def replies(self):
        """All replies up to the end."""
        return list(iter(self.reply, None))

    def expect(self, kind):
        reply = self.reply()
        assert reply is not None and reply["type"] == kind, "%s expected, got %r" % (kind, reply)
        return reply

    def expect_end_of_stream(self):
        equal(self.reply(), None, "the daemon closes")


class Session(Connection):
    """A session connection; sends the hello. `welcome` is the reply, or another first reply."""

    def __init__(self, daemon, session=None, **hello):
        super().__init__(daemon.socket)
        self.id = session or str(uuid.uuid4())
        members = {"protocol": 1, "session": self.id}
        members.update(hello)
        try:
            self.send("#nvtxt-session " + json.dumps(members) + "\n")
        except BrokenPipeError:
            pass  # refused before it was read: the reason can still be read
        self.welcome = self.reply()

    def ack(self, line):
        """Reads up to the ack of this line; returns the diagnostics on the way."""
        diagnostics = []
        while True:
            reply = self.reply()
            assert reply is not None, "ended before the ack of line %d" % line
            if reply["type"] == "diagnostic":
                diagnostics.append(reply)
                continue
            equal(reply["type"], "ack", reply)
            if reply["line"] >= line:
                equal(reply["line"], line, "acknowledged line")
                return diagnostics

    def end(self):
        """Ends the session; returns the end reply."""
        self.send("#nvtxt-end\n")
        last = [reply for reply in self.replies() if reply["type"] != "ack"][-1]
        equal(last["type"], "end", last)
        return last


class LockedStore:
    """Keeps a daemon with a shared store from writing: somebody else holds the write lock."""

    def __init__(self, daemon):
        self.store = sqlite3.connect(daemon.store, isolation_level=None, check_same_thread=False,
                                     timeout=DEADLINE)  # the daemon may stand still with its lock
        self.store.execute("BEGIN IMMEDIATE")

    def release(self):
        self.store.execute("ROLLBACK")
        self.store.close()


TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def own_path():
    """As in the lists of the tests."""
    return os.path.relpath(os.path.abspath(sys.argv[0]), TESTS)


def left_out(tests):
    """The cases of this file that make no sense under valgrind, with the reason."""
    if not WRAPPER:
        return {}
    path = own_path()
    with open(os.path.join(TESTS, "valgrind.out"), encoding="utf-8") as file:
        out = dict(re.findall("^%s (test_[a-z0-9_]+): (.+)$" % re.escape(path), file.read(), re.M))
    unknown = set(out) - {name for name, case in tests}
    if unknown:
        raise AssertionError("valgrind.out names cases that are not there: %s" % sorted(unknown))
    return out


def run(cases):
    """Runs the functions test_* of a module's globals() as TAP; a case is a sentence."""
    tests = [(name, case) for name, case in cases.items() if name.startswith("test_")]
    out = left_out(tests)
    chosen = sys.argv[1:]
    same = rest.same(sys.argv[0]) if own_path() in AGAIN else ()
    tests = [(name, case) for name, case in tests if (name in chosen if chosen else name not in same)]
    print("1..%d" % len(tests))
    failed = 0
    for number, (name, case) in enumerate(tests, 1):
        title = name[len("test_"):].replace("_", " ")
        begun = time.monotonic()
        try:
            if name in out:
                raise Skip("not under valgrind: " + out[name])
            case()
            print("ok %d - %s" % (number, title))
        except Skip as reason:
            print("ok %d - %s # SKIP %s" % (number, title, reason))
        except Exception:  # a failed case must not keep the others from running
            failed += 1
            print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), end="")
            print("not ok %d - %s" % (number, title))
        if time.monotonic() - begun > 2:  # for who looks for what makes the suite slow
            print("# it took %.1f s" % (time.monotonic() - begun))
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
