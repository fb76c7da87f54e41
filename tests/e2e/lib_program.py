# SPDX-License-Identifier: Apache-2.0
"""Programs that annotate themselves with libnvtxt, for the tests of the library: tests/nvtx/lib_client
under a daemon, or without one."""
import os
import subprocess

from lib import DEADLINE, SANITIZERS, Skip, equal, program

PATH = program("tests/nvtx", "lib_client")

# How its end waits, so that a busy machine decides nothing.
PATIENT = {"NVTXT_EXIT_WAIT": "60"}
# LeakSanitizer looks in a child for the threads of its parent, and needs descriptors and threads.
NO_LEAKS = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
TEXTS = "SELECT text, count(*) FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) GROUP BY text"


class Program:
    """A run of lib_client. What it prints comes line by line; it goes on when it is told to."""

    def __init__(self, socket, *arguments, patient=True, command=None, **environment):
        names = {**os.environ, "NVTXT_SOCKET": socket, "NVTXT_NAME": "lib_client",
                 **(PATIENT if patient else {}), **environment}
        self.process = subprocess.Popen(command or [PATH, *map(str, arguments)], env=names,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def line(self, wanted=None):
        """The next line that it prints."""
        got = self.process.stdout.readline().rstrip("\n")
        if wanted is not None:
            equal(got, wanted, "the program says")
        return got

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def do(self, *steps):
        """Of `steps`: does these, one after the other."""
        for step in steps:
            self.process.stdin.write(step + "\n")
            self.process.stdin.flush()
            self.line("ok")

    def end(self, status=0):
        """Lets it end; returns the lines that it printed."""
        out, errors = self.process.communicate(timeout=DEADLINE)
        equal((self.process.returncode, errors), (status, ""), "exit status and stderr")
        return out.splitlines()


def needs_threads_in_children():
    if "thread" in SANITIZERS:
        raise Skip("ThreadSanitizer does not know threads in a child")


def needs_a_table_of_the_sender():
    if "thread" in SANITIZERS:
        raise Skip("the sender shares the program's descriptors under ThreadSanitizer")


def texts(daemon):
    """How often each text is in the store: all segments, when all is committed."""
    daemon.settled()
    return dict(daemon.query(TEXTS))


def dropped(daemon):
    """Calls that the store knows to be lost."""
    return daemon.query("SELECT coalesce(sum(count), 0) FROM NVTXT_LOSSES")[0][0]


def no_diagnostics(daemon, *but):
    """No line of ours may draw one."""
    rows = daemon.query("SELECT DISTINCT code, message FROM NVTXT_DIAGNOSTICS")
    equal([row for row in rows if row[0] not in but], [])
