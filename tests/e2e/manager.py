# SPDX-License-Identifier: Apache-2.0
"""A service manager for tests: hands sockets over, hears what the daemon says, stops a thread."""
import contextlib
import ctypes
import fcntl
import os
import shutil
import socket
import subprocess
import sys

import lib

PASSED_ON = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "CONFIGURATION_DIRECTORY", "ASAN_OPTIONS",
             "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")


def has_libsystemd():
    with open(lib.program(".", "config.h"), encoding="utf-8") as file:
        return "#define HAVE_LIBSYSTEMD 1" in file.read()


class Notify:
    """The socket that sd_notify(3) speaks to."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.seen = []

    def next(self, timeout=lib.DEADLINE):
        """The next message as a list of assignments; None when none comes in time."""
        self.socket.settimeout(timeout)
        try:
            message = self.socket.recv(65536).decode().splitlines()
        except (TimeoutError, BlockingIOError):
            return None
        self.seen += message
        return message

    def expect(self, word):
        """Passes over messages until one has the word."""
        while True:
            message = self.next()
            assert message is not None, "%s expected, seen were %r" % (word, self.seen)
            if word in message:
                return message


class Managed(lib.Daemon):
    """A daemon that has a manager to tell, sockets its own. `watchdog` is in seconds."""

    def __init__(self, watchdog=None, config=None, start=True, **more):
        if not has_libsystemd():
            raise lib.Skip("built without libsystemd")
        super().__init__(config=config, start=False, **more)
        self.notify = Notify(self.folder)
        self.env = {**os.environ, **(self.env or {}), "NOTIFY_SOCKET": self.notify.path}
        if watchdog:
            self.env["WATCHDOG_USEC"] = str(int(watchdog * 1e6))
        if start:
            self.start()

    def __exit__(self, kind, value, trace):
        super().__exit__(kind, value, trace)
        self.notify.socket.close()


class Activated(Managed):
    """A daemon whose sockets systemd-socket-activate makes, by name; it begins when one connects."""

    names = "data:control"

    def __init__(self, **more):
        if not shutil.which("systemd-socket-activate"):
            raise lib.Skip("systemd-socket-activate is not installed")
        super().__init__(**more)

    def sockets(self):
        return [self.socket, self.control_socket]

    def command(self):
        command = ["systemd-socket-activate", "--fdname=" + self.names]
        for path in self.sockets():
            command += ["-l", path]
        for name in PASSED_ON:
            if name in self.env:
                command += ["-E", name]
        return command + [lib.program("daemon", "nvtxtd"), "--store", self.store] + self.options

    def is_ready(self):
        return all(os.path.exists(path) for path in self.sockets()) and self.can_connect()

    def can_connect(self):
        """Whether the sockets listen, without a connection that would start the daemon."""
        with open("/proc/net/unix", encoding="utf-8") as table:
            rows = [line.split() for line in table]
        listening = {row[7] for row in rows if len(row) > 7 and row[3] == "00010000"}
        return all(path in listening for path in self.sockets())


def hand_over(descriptors, names, arguments, env=None):
    """Runs nvtxtd to its end with these descriptors from 3 on."""
    code = ("import os, sys\n"
            "n = int(sys.argv[1])\n"
            "for i, fd in enumerate(sys.argv[2:2 + n]): os.dup2(int(fd), 3 + i)\n"
            "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(n))\n"
            "os.execv(sys.argv[2 + n], sys.argv[2 + n:])\n")
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 100) for fd in descriptors]
    env = {**os.environ, **(env or {})}
    if names is not None:
        env["LISTEN_FDNAMES"] = ":".join(names)
    try:
        return subprocess.run(
            [sys.executable, "-c", code, str(len(high)), *map(str, high),
             lib.program("daemon", "nvtxtd"), *arguments],
            pass_fds=high, capture_output=True, text=True, timeout=lib.DEADLINE, check=False,
            env=env)
    finally:
        for fd in high:
            os.close(fd)


PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000


def thread_of(pid, name):
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(OSError), \
                open("/proc/%d/task/%s/comm" % (pid, tid), encoding="utf-8") as file:  # it may have ended
            if file.read() == name + "\n":
                return int(tid)
    return None


@contextlib.contextmanager
def hanging_thread(pid, name):
    """One thread of a process stands still, as a debugger would stop it, while the others run."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    tid = lib.wait_for(lambda: thread_of(pid, name), "there is a thread %s" % name)
    if libc.ptrace(PTRACE_SEIZE, tid, None, None) != 0:
        raise lib.Skip("no thread can be stopped here: " + os.strerror(ctypes.get_errno()))
    lib.equal(libc.ptrace(PTRACE_INTERRUPT, tid, None, None), 0, "the thread is told to stop")
    os.waitpid(tid, WALL)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, tid, None, None)
