# SPDX-License-Identifier: Apache-2.0
"""What the clients' tests share: running a program and looking at it, a daemon that follows a
script, a terminal."""
import contextlib
import fcntl
import json
import os
import pty
import resource
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import termios
import time

from lib import DEADLINE, equal, program

ENV = {key: value for key, value in os.environ.items()
       if key not in ("NVTXT_SOCKET", "NO_COLOR", "XDG_RUNTIME_DIR")}


def contains(text, part):
    if part not in text:
        raise AssertionError("%r lacks %r" % (text, part))


def version_in(said):
    """The version in what --version prints. A program that was built in a checkout says its commit, too."""
    return said.split()[2]


def files(folder, without=()):
    """What each file below a folder has: its bytes, or where a link leads. `without`: endings of names that
    do not count."""
    found = {}
    for at, folders, names in os.walk(folder):
        for name in folders + names:
            path = os.path.join(at, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isfile(path) and not name.endswith(without):
                with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:  # gone since
                    found[path] = file.read()
    return found


class Folder:
    """A folder for one case, gone after it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="nvtxt-client-")
        return self

    def __exit__(self, kind, value, trace):
        shutil.rmtree(self.path, ignore_errors=True)

    def name(self, name):
        return os.path.join(self.path, name)

    def write(self, name, text):
        path = self.name(name)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return path


class Running:
    """A client that runs. stderr goes into a file, so that it can be read at any moment."""

    def __init__(self, name, *args, stdin=subprocess.PIPE, cwd=None, env=None):
        self.err = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program("client", name), *args], stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=self.err, cwd=cwd,
                                        env={**ENV, **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        if self.process.stdin:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        self.err.close()

    def stderr(self):
        """What it has said up to now. The place in the file is the program's, too: it is not moved,
        else the program would write over what it had said before."""
        descriptor = self.err.fileno()
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")

    def say(self, text):
        self.process.stdin.write(text.encode() if isinstance(text, str) else text)
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        """Exit status; a signal's is negative."""
        return self.process.wait(DEADLINE)

    def expect(self, status):
        equal(self.wait(), status, "exit status; stderr:\n" + self.stderr())
        return self.stderr()


def run_client(name, *args, stdin="", cwd=None, env=None):
    """Runs to the end; returns (exit status, stdout, stderr)."""
    done = subprocess.run([program("client", name), *args], cwd=cwd, env={**ENV, **(env or {})},
                          input=stdin.encode() if isinstance(stdin, str) else stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE)
    return (done.returncode, done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"))


def patience(daemon, args=()):
    """For who sends what a command does: else a daemon that a busy machine holds up for 5 s is given up
    after the command's end. One that is not there is not waited for."""
    is_there = daemon.process and daemon.process.poll() is None
    return ("--timeout", "60") if is_there and "--timeout" not in args else ()


def small_files():
    """For preexec_fn: the program can write ten bytes into a file, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def run_in_terminal(name, *args, stdin=subprocess.DEVNULL, env=None, until=None, columns=None,
                    cwd=None):
    """Runs with stdout and stderr on a terminal; returns (exit status, what the terminal got)."""
    ours, theirs = pty.openpty()
    if columns:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([program("client", name), *args], stdin=stdin, stdout=theirs,
                               stderr=theirs, cwd=cwd, env={**ENV, "TERM": "xterm", **(env or {})})
    os.close(theirs)
    text = b""
    end = time.monotonic() + DEADLINE
    try:
        while time.monotonic() < end:
            if until and until(process, text):
                until = None
            if select.select([ours], [], [], 0.05)[0]:
                try:
                    text += os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
        return process.wait(DEADLINE), text.decode(errors="replace")
    finally:
        os.close(ours)
        if process.poll() is None:
            process.kill()
            process.wait()


class Fake:
    """A daemon that does what the test says, step by step."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="nvtxt-fake-")
        self.path = os.path.join(self.folder, "s")
        self.listener = None
        self.listen()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.vanish()
        shutil.rmtree(self.folder, ignore_errors=True)

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.listener.settimeout(DEADLINE)

    def vanish(self):
        if self.listener:
            self.listener.close()
            self.listener = None
            os.unlink(self.path)

    def accept(self, welcome=None):
        """The next connection, its hello read; welcomed at line `welcome` unless None."""
        peer = Peer(self.listener.accept()[0])
        if welcome is not None:
            peer.welcome(welcome)
        return peer


class Peer:
    def __init__(self, sock):
        self.socket = sock
        self.socket.settimeout(DEADLINE)
        self.file = sock.makefile("rb", buffering=1 << 20)
        line = self.file.readline().decode()
        prefix = "#nvtxt-session "
        equal(line[:len(prefix)], prefix, "the first line is a hello")
        self.hello = json.loads(line[len(prefix):])

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def reply(self, **members):
        self.socket.sendall(json.dumps(members).encode() + b"\n")

    def welcome(self, line, **more):
        """What the hello asks for is there."""
        more = {**{key: self.hello[key] for key in ("nvtx", "levels", "escapes") if key in self.hello}, **more}
        if "nvtx" in more:
            more.setdefault("escapes", True)
        self.old_welcome(line, version="9.9.9", **more)

    def old_welcome(self, line, **more):
        """As a daemon before 0.2.0 says it."""
        self.reply(type="welcome", protocol=1, session=self.hello["session"], source=1, line=line,
                   limits={"line": 65536}, synchronous="full", **more)

    def ack(self, line):
        self.reply(type="ack", line=line)

    def diagnostic(self, line, column=1, severity="error", code="stray-byte", message="stray"):
        self.reply(type="diagnostic", line=line, column=column, severity=severity, stage="lexing",
                   code=code, message=message)

    def end(self, line, events=0, warnings=0, errors=0):
        self.reply(type="end", line=line, events=events, warnings=warnings, errors=errors)

    def error(self, code, message="because"):
        self.reply(type="error", code=code, message=message)

    def line(self):
        """The next line without its LF; None at the end."""
        line = self.file.readline()
        return line[:-1].decode() if line.endswith(b"\n") else None

    def lines(self, count):
        return [self.line() for _ in range(count)]
