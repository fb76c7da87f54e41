# SPDX-License-Identifier: Apache-2.0
"""The power goes while nvtxt-send --spool --spool-sync=0 runs: of what its disk may have then
(crash/disk.py) nvtxt-send --resume sends the lines behind those that are acknowledged, in order,
without a hole, and all that were synced. NVTXT_TEST_LONG looks at more moments."""
import os
import random
import re
import shutil
import signal
import threading

import io_log
from io_log import lib

import disk
from client import Fake, Folder, Running, run_client

LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
SEEDS = 40 if LONG else 4  # of a moment
HEADS = 80  # bytes of a segment before its first record
RECORD = 12  # and of a record before its lines
SIZE = 1000  # of a line


def text(first, last):
    return "".join("# %d %s\n" % (n, "x" * (SIZE - 4 - len(str(n)))) for n in range(first, last + 1))


class Receiver(threading.Thread):
    """A daemon that knows the first `known` lines, and takes the rest of a session."""

    def __init__(self):
        super().__init__(daemon=True)
        self.fake = Fake()
        self.known = 0
        self.sessions = []
        self.fault = None
        self.start()

    def run(self):
        try:
            while True:
                try:
                    peer = self.fake.accept()
                except OSError:
                    return
                with peer:
                    peer.welcome(self.known)
                    lines = list(iter(peer.line, "#nvtxt-end"))
                    self.sessions.append(lines)
                    peer.end(self.known + len(lines))
        except Exception as fault:  # told by the test
            self.fault = fault


def record(folder):
    """One run: lines that are acknowledged late, soon and never; segments begun, begun anew and
    removed. Returns its calls and all lines."""
    log = folder.name("calls")
    os.mkdir(folder.name("spool"))
    sent = 0

    def spooled():
        return sum(call.data.count(b"# ") for call in io_log.read(log)
                   if call.what == "write" and call.path.endswith(".segment"))

    with Fake() as fake, Running("nvtxt-send", "--socket", fake.path, "--spool",
                                 folder.name("spool"), "--spool-limit", "4M", "--spool-sync", "0",
                                 env=io_log.recording(log, data=1 << 30)) as client:

        def say(lines):
            nonlocal sent
            client.say(text(sent + 1, sent + lines))
            sent += lines
            lib.wait_for(lambda: spooled() >= sent, "%d lines are in the spool" % sent)

        with fake.accept(0) as peer:
            for lines, left in ((3, 3), (200, 0), (20, 5), (200, 0), (7, 7), (700, 500), (60, 0),
                                (150, 0), (30, 9)):
                say(lines)
                peer.lines(sent - getattr(peer, "taken", 0))
                peer.taken = sent
                if left < lines:
                    peer.ack(sent - left)
                    lib.wait_for(lambda: acknowledged(io_log.read(log)) == sent - left, "the ack")
            fake.vanish()
        say(40)
        client.signal(signal.SIGTERM)
        client.expect(128 + signal.SIGTERM)
        fake.listen()
    return io_log.read(log), text(1, sent).splitlines()


def acknowledged(calls):
    """The last line that the client had heard of as committed."""
    received = b"".join(call.data for call in calls if call.what == "receive")
    return max([0] + [int(n) for n in re.findall(rb'"ack", "line": (\d+)}\n', received)])


class Promise:
    """How many lines must be on the disk."""

    def __init__(self, folder):
        self.folder = folder
        self.written = {}  # lines in each segment, up to its last write
        self.synced = 0
        self.pending = 0  # bytes are synced, their name is not
        self.last = 0
        self.named = True

    def take(self, call):
        if call.what == "sync" and call.path == self.folder:
            self.named = True
        elif call.what == "create" and call.path.endswith(".segment"):
            self.named = False
        elif call.what == "write" and call.path.endswith(".segment") and call.at >= HEADS:
            self.last += call.data[RECORD:].count(b"\n")
        elif call.what == "sync" and call.path.endswith(".segment"):
            self.pending = self.last
        if self.named:
            self.synced = self.pending


def look(calls, chosen, folder, all_lines, receiver):
    """Every disk of these moments; (number of the moment, seed) makes one."""
    spool = folder.name("spool")
    state, promise = disk.Disk(spool), Promise(spool)
    there = folder.name("there")
    for i, call in enumerate(calls):
        while chosen and chosen[0][0] == i:
            seed = chosen.pop(0)
            kept = state.kept(random.Random("%d %d" % seed))
            check(kept, there, acknowledged(calls[:i]), promise.synced, all_lines, receiver,
                  "moment %d, seed %d" % seed)
        state.take(call)
        promise.take(call)


def check(kept, there, known, promised, all_lines, receiver, what):
    os.mkdir(there, 0o700)
    for name, data in kept.items():
        with open(os.path.join(there, name), "wb") as file:
            file.write(data)
    receiver.known = known
    receiver.sessions.clear()
    status, _, err = run_client("nvtxt-send", "--socket", receiver.fake.path, "--resume", there)
    what += "; known %d, promised %d, files %s: %s" % (
        known, promised, {name: len(data) for name, data in kept.items()}, err)
    if not any(name.endswith(".session") for name in kept):
        lib.equal(promised, 0, what)
        shutil.rmtree(there)
        return
    lib.equal((status, receiver.fault), (0, None), what)
    lines = receiver.sessions[0] if receiver.sessions else []
    lib.equal(lines, all_lines[known:known + len(lines)], what)
    assert known + len(lines) >= promised, what
    lib.equal([name for name in os.listdir(there) if not name.startswith(".")], [], what)
    shutil.rmtree(there)


def moments(calls):
    """Anywhere, and more of them where the files change their beginning, size or name, most where a
    segment begins anew."""
    here = [i for i, call in enumerate(calls)
            if call.path.endswith((".segment", ".session", "/spool"))]
    rare = [i + 1 for i in here if calls[i].what in ("create", "rename", "unlink", "truncate") or
            calls[i].what == "write" and calls[i].at < HEADS]
    anew = [n for n, i in enumerate(here) if calls[i].what == "truncate"]
    assert len(anew) >= 3, "segments begin anew"
    found = {(here[n + near] + 1, seed) for n in anew for near in range(-4, 4) for seed in range(SEEDS)
             if n + near < len(here)}
    rng = random.Random(11)
    for seed in range(5 * SEEDS):
        found |= {(rng.choice(rare), seed), (rng.randrange(len(calls)), seed)}
    return sorted(moment for moment in found if moment[0] < len(calls))


def test_what_was_synced_is_sent_after_a_loss_of_power():
    io_log.need_recorder()
    with Folder() as folder:
        calls, all_lines = record(folder)
        receiver = Receiver()
        chosen = moments(calls)
        print("# %d disks after %d calls" % (len(chosen), len(calls)))
        look(calls, chosen, folder, all_lines, receiver)
        receiver.fake.vanish()
        # At the end nothing is lost, whatever the disk did with the rest.
        state, promise = disk.Disk(folder.name("spool")), Promise(folder.name("spool"))
        for call in calls:
            state.take(call)
            promise.take(call)
        lib.equal(promise.synced, len(all_lines))


lib.run(globals())
