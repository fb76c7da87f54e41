# SPDX-License-Identifier: Apache-2.0
"""nvtxt-send --nvtx: what a program had recorded when it was killed is stored, once, by who started
it or by who comes later; and the program is what it is alone."""
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

from client import ENV, Folder, contains, run_client
from lib import DEADLINE, Daemon, Skip, equal, program, run, wait_for

CLIENT = program("tests/nvtx", "run_client")
SEND = program("client", "nvtxt-send")
MARKS, PUSHES = 34, 59


class Place:
    """A folder with the notes of a client, a spool, and a place that stands for $XDG_RUNTIME_DIR."""

    def __enter__(self):
        self.folder = Folder().__enter__()
        self.spool = self.folder.name("spool")
        self.notes = self.folder.name("notes")
        return self

    def __exit__(self, *why):
        return self.folder.__exit__(*why)

    def noted(self):
        with open(self.notes, "rb") as file:
            return struct.unpack("64Q", file.read(512))

    def rings(self):
        return sorted(name for name in os.listdir(self.spool) if name.endswith(".ring"))

    def files(self):
        return sorted(os.listdir(self.spool))


def texts(daemon, kind=MARKS):
    return sorted(row[0] for row in daemon.query(
        "SELECT coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS"
        " WHERE eventType = ?", kind))


def send(daemon, *args, env=None, socket=None, **more):
    done = subprocess.run([SEND, "--socket", socket or daemon.socket, *args], stdin=subprocess.DEVNULL,
                          env={**ENV, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=DEADLINE, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def each_once(found, noted, what):
    """Each call that had returned is there once; the one under way may be."""
    for thread, count in enumerate(noted):
        mine = sorted(int(text.split()[1]) for text in found if text.split()[0] == str(thread))
        assert mine in (list(range(count)), list(range(count + 1))), \
            "%s: thread %d: %d calls had returned, %d rows, missing %r, too many %r" % (
                what, thread, count, len(mine), sorted(set(range(count)) - set(mine))[:5],
                [n for n in set(mine) if mine.count(n) > 1][:5])


def killed_client(place, daemon, end="kill", threads=2, count=300, socket=None):
    """A client without a runner that leaves its ring file."""
    os.makedirs(place.spool, exist_ok=True)
    env = {**ENV, "NVTXT_SPOOL": place.spool, "NVTXT_SOCKET": socket or daemon.socket}
    return subprocess.run([CLIENT, place.notes, str(threads), str(count), end], env=env,
                          timeout=DEADLINE).returncode


def test_what_a_killed_program_had_recorded_is_stored_once():
    with Daemon() as daemon, Place() as place:
        equal(send(daemon, "--nvtx", "--", CLIENT, place.notes, "4", "500", "kill")[0], -9)
        each_once(texts(daemon), place.noted(), "marks")
        daemon.settled()
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES WHERE ended != 'end'"), [(0,)])
        equal(daemon.query("SELECT count(*) FROM NVTXT_DIAGNOSTICS"), [(0,)])


def test_a_session_of_a_program_that_is_gone_is_resumed_by_hand():
    with Daemon() as daemon, Place() as place:
        for end in "kill", "_exit":
            killed_client(place, daemon, end)
            equal(len(place.rings()), 1)
            equal(run_client("nvtxt-send", "--socket", daemon.socket, "--resume", place.spool), (0, "", ""))
            equal(place.files(), [])
        found = texts(daemon)
        equal(len(found), 1200)
        each_once(found[::2], place.noted(), "marks")


if __name__ == "__main__":
    run(globals())
