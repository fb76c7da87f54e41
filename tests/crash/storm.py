# SPDX-License-Identifier: Apache-2.0
"""Senders under a daemon that is killed again and again: every line takes effect exactly once.

    storm.py [--senders N] [--lines N] [--kills N] [--seed N] [--segment SIZE]

NVTXT_TEST_LONG takes 8 senders of 100,000 lines and 30 kills.

Two more senders have a spool each and are killed and resumed themselves, again and again, while the
daemon is. Each sender is an nvtxt-send with a file of its own: unique messages, nested ranges, assignments in
the middle of the stream, a bad line now and then. The daemon is killed with SIGKILL at random
moments while they run and started again on the same store. In the end every event must be there
once with the attributes that a plain model of the language gives it, every bad line must have its
one diagnostic under its own number, and the store must be sound.

Segments of the store are small, so that it goes on in a new one again and again, also while it is
killed. Meanwhile a reader opens it by its link, over and over: it must find a whole store each time.
"""
import argparse
import collections
import fcntl
import os
import random
import struct
import subprocess
import sys
import tempfile
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib  # noqa: E402

BAD_LINE_EVERY = 997
ASSIGNMENT_EVERY = 101
MORTALS = 2
LONG = bool(os.environ.get("NVTXT_TEST_LONG"))


class Stream:
    """One sender's lines and what they must become."""

    def __init__(self, number, lines, rng):
        self.pid = 1000 + number
        self.text = []
        self.events = collections.Counter()
        self.bad_lines = []
        self.name = "stream-%d" % number
        self.category = 0
        self.stacks = collections.defaultdict(list)
        self.time = 10**15
        self.started = {}
        for command in ("Marker", "RangePush"):
            self.add("@%s, Time, ThreadId, Message" % command)
        self.add("@RangePop, Time, ThreadId")
        self.add("@RangeStart, Time, RangeId, Message")
        self.add("@RangeEnd, Time, RangeId")
        self.add("ProcessId = %d" % self.pid)
        while len(self.text) < lines:
            self.step(rng)
        for thread in self.stacks:
            while self.stacks[thread]:
                self.pop(thread)
        for range_id in list(self.started):
            self.end(range_id)

    def add(self, line):
        self.text.append(line)
        return len(self.text)

    def event(self, kind, start, end, thread, message, category):
        self.events[(kind, start, end, self.pid, thread, message, category)] += 1

    def unique(self):
        return "%s line %d" % (self.name, len(self.text) + 1)

    def step(self, rng):
        self.time += rng.randrange(1, 1000)
        number = len(self.text) + 1
        thread = rng.randrange(1, 4)
        depth = len(self.stacks[thread])
        choice = rng.random()
        if number % BAD_LINE_EVERY == 0:
            self.bad_lines.append(self.add("Marker, $NotThere, 1, 'bad'"))
        elif number % ASSIGNMENT_EVERY == 0:
            self.category = number
            self.add("CategoryId = %d" % number)
        elif choice < 0.3:
            message = self.unique()
            self.event(34, self.time, self.time, thread, message, self.category)
            self.add('Marker, %d, %d, "%s"' % (self.time, thread, message))
        elif choice < 0.36 and len(self.started) < 20:
            message = self.unique()
            self.started[number] = (self.time, message, self.category)
            self.add('RangeStart, %d, %d, "%s"' % (self.time, number, message))
        elif choice < 0.42 and self.started:
            self.end(rng.choice(list(self.started)))
        elif choice < 0.75 and depth < 6 or depth == 0:
            message = self.unique()
            self.stacks[thread].append((self.time, message, self.category))
            self.add('RangePush, %d, %d, "%s"' % (self.time, thread, message))
        else:
            self.pop(thread)

    def pop(self, thread):
        start, message, category = self.stacks[thread].pop()
        self.event(59, start, self.time, thread, message, category)
        self.add("RangePop, %d, %d" % (self.time, thread))

    def end(self, range_id):
        start, message, category = self.started.pop(range_id)
        self.event(60, start, self.time, self.pid, message, category)
        self.add("RangeEnd, %d, %d" % (self.time, range_id))


def start_sender(daemon, stream):
    path = os.path.join(daemon.folder, stream.name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(stream.text) + "\n")
    return subprocess.Popen(
        [lib.program("client", "nvtxt-send"), "--socket", daemon.socket, "--wait=60", path],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Mortal:
    """A sender with a spool that is killed and resumed. It reads a pipe, so what it has not spooled
    yet would be gone with it: it is killed for the first time when it has spooled all."""

    def __init__(self, daemon, stream):
        self.daemon = daemon
        self.stream = stream
        self.spool = os.path.join(daemon.folder, "spool of " + stream.name)
        self.killed = 0
        self.errors = tempfile.TemporaryFile()
        self.process = self.begin("--spool", self.spool, "--name", self.name(), stdin=subprocess.PIPE)
        text = ("\n".join(stream.text) + "\n").encode()
        threading.Thread(target=self.feed, args=(self.process.stdin, text)).start()

    def name(self):
        return os.path.join(self.daemon.folder, self.stream.name)

    def begin(self, *args, stdin=subprocess.DEVNULL):
        return subprocess.Popen([lib.program("client", "nvtxt-send"), "--socket", self.daemon.socket,
                                 "--wait=60", *args],
                                stdin=stdin, stdout=subprocess.DEVNULL, stderr=self.errors)

    def feed(self, pipe, text):
        """Kills it once it has emptied the pipe and waits."""
        pipe.write(text)
        pipe.flush()
        waiting = b"1234"
        while struct.unpack("i", waiting)[0] or not self.sleeps():
            waiting = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"1234")
        self.kill()
        pipe.close()

    def sleeps(self):
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            return file.read().split()[2] == "S"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process = self.begin("--resume", self.spool)
        self.killed += 1

    def step(self):
        """Kills it if it is one of those that can be killed."""
        if self.killed and self.process.poll() is None:
            self.kill()

    def finish(self):
        """Until nothing is left. The exit status of the last one that found something."""
        lib.wait_for(lambda: self.killed, "its input was spooled")
        status = self.process.wait(300)
        self.errors.seek(0)
        lib.equal(os.listdir(self.spool), [], "spool; said: %r" % self.errors.read()[-2000:])
        self.errors.close()
        return status


def storm(daemon, senders, mortals, kills, rng):
    """Kills and starts the daemon while senders run. Returns how often it was done under load."""
    done = 0
    while done < kills and any(sender.poll() is None for sender in
                               senders + [mortal.process for mortal in mortals]):
        try:
            senders[0].wait(rng.uniform(0.02, 0.3))
        except subprocess.TimeoutExpired:
            pass
        if mortals:
            mortals[done % len(mortals)].step()
        daemon.kill()
        done += 1
        daemon.start()
    return done


class Follower(threading.Thread):
    """Reads the store through its link, whatever happens to the daemon."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.peer = daemon
        self.done = threading.Event()
        self.reads = 0
        self.segments = set()
        self.fault = None

    def run(self):
        try:
            while not self.done.wait(0.002):
                (name, rows, newest), = self.peer.query(
                    "SELECT (SELECT name FROM NVTXT_SEGMENT), count(*), ifnull(max(rowid), 0)"
                    " FROM NVTX_EVENTS")
                lib.equal(rows, newest, "rows without gaps in " + name)
                self.reads += 1
                self.segments.add(name)
        except Exception as fault:  # told by check()
            self.fault = fault

    def check(self):
        self.done.set()
        self.join(lib.DEADLINE)
        if self.fault:
            raise self.fault
        print("# a reader opened the link %d times and met %d segments"
              % (self.reads, len(self.segments)))


def stored_events(daemon):
    rows = daemon.everywhere(
        "SELECT eventType, start, end, globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000,"
        " text, category FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)")
    return collections.Counter(rows)


def check(daemon, streams):
    wanted = collections.Counter()
    for stream in streams:
        wanted += stream.events
    got = stored_events(daemon)
    lost, doubled = wanted - got, got - wanted
    lib.equal((sum(lost.values()), sum(doubled.values())), (0, 0),
              "lost %r doubled or wrong %r" % (list(lost)[:3], list(doubled)[:3]))
    for stream in streams:
        lines = daemon.everywhere(
            "SELECT line, code FROM NVTXT_DIAGNOSTICS JOIN NVTXT_SOURCES ON id = sourceId"
            " WHERE name = ? ORDER BY line", os.path.join(daemon.folder, stream.name))
        lib.equal(lines, [(line, "undefined-variable") for line in stream.bad_lines],
                  "diagnostics of " + stream.name)
    lib.wait_for(lambda: set(daemon.everywhere("SELECT count(*) FROM NVTXT_OPEN_RANGES")) == {(0,)},
                 "no open ranges")
    lib.equal(set(daemon.everywhere("SELECT count(*) FROM NVTXT_LOSSES")), {(0,)}, "losses")
    lib.equal(daemon.query("SELECT count(*), count(DISTINCT sessionId), sum(ended = 'end')"
                           " FROM NVTXT_SOURCES WHERE kind = 'session'"),
              [(len(streams),) * 3], "one row a session")
    lib.equal(set(daemon.everywhere("PRAGMA integrity_check")), {("ok",)}, "the store is sound")
    ids = daemon.everywhere("SELECT rangeId FROM NVTX_EVENTS WHERE eventType = 60")
    lib.equal(len(ids), len(set(ids)), "range ids are given once")
    print("# %d segments" % len(daemon.segments()))


def run(senders, lines, kills, seed, segment):
    rng = random.Random(seed)
    streams = [Stream(number, lines, rng) for number in range(senders + MORTALS)]
    with lib.Daemon(config="RotateSize=%s\n" % segment) as daemon:
        follower = Follower(daemon)
        follower.start()
        processes = [start_sender(daemon, stream) for stream in streams[:senders]]
        mortals = [Mortal(daemon, stream) for stream in streams[senders:]]
        done = storm(daemon, processes, mortals, kills, rng)
        if LONG:  # the short form may be sent before the last of them
            lib.equal(done, kills, "kills while something was sent")
        for mortal in mortals:
            mortal.finish()
            print("# a sender was killed %d times" % mortal.killed)
        for process, stream in zip(processes, streams):
            _, errors = process.communicate(timeout=300)
            lib.equal(process.returncode, 1, "exit of %s: %s" % (stream.name, errors[-2000:]))
            shown = [line for line in errors.splitlines() if "[undefined-variable]" in line]
            lib.equal([int(line.split(":")[1]) for line in shown], stream.bad_lines,
                      "diagnostics printed for " + stream.name)
        follower.check()
        check(daemon, streams)
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--senders", type=int, default=8 if LONG else 4)
    parser.add_argument("--lines", type=int, default=100000 if LONG else 20000)
    parser.add_argument("--kills", type=int, default=30 if LONG else 6)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--segment", default="1M")
    options = parser.parse_args()
    print("# seed %d" % options.seed, flush=True)
    done = run(options.senders, options.lines, options.kills, options.seed, options.segment)
    print("# %d senders, %d lines each, daemon killed %d times"
          % (options.senders, options.lines, done))
    print("1..1\nok 1 - every line takes effect exactly once")


if __name__ == "__main__":
    main()
