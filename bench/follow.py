# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report html --follow beside a daemon: what the daemon notices, what it costs, and how old what
a browser shows is."""
import json
import os
import subprocess
import sys
import threading
import time

import kit as shared

RATE = 20_000  # events a second
PIECES = 50    # a second
INTERVAL = 1   # seconds between two pages, or two reads
HEAD = b"ProcessId = 1234\n@RangeStartEnd, Start, End, ThreadId, Message\n"
TICKS = os.sysconf("SC_CLK_TCK")
LAST = "SELECT * FROM NVTX_EVENTS WHERE rowid > (SELECT max(rowid) FROM NVTX_EVENTS) - %d"


class Source(threading.Thread):
    """A session that sends RATE ranges a second, whose times are now, and notes when each piece was
    acknowledged."""

    def __init__(self, daemon, seconds):
        super().__init__(daemon=True)
        self.connection = daemon.connect()
        self.pieces, self.lines, self.acks = seconds * PIECES, [], []
        self.reader = threading.Thread(target=self.read, daemon=True)

    def read(self):
        at = 0
        for line in self.connection.makefile("rb"):
            reply, now = json.loads(line), time.monotonic()
            while reply["type"] == "ack" and at < len(self.lines) and self.lines[at][0] <= reply["line"]:
                self.acks.append((now - self.lines[at][1]) * 1e3)
                at += 1

    def run(self):
        self.connection.sendall(b'#nvtxt-session {"protocol":1,"session":"0190c0f6-7d3a-7b41-9f36-12cbb0f1a002"}\n' + HEAD)
        self.reader.start()
        count, started, sent = RATE // PIECES, time.monotonic(), 2
        for piece in range(self.pieces):
            now = time.time_ns()
            lines = ["%d, %d, %d, \"message number %d\"\n" % (now - 2000 * (count - i), now - 2000 * (count - i) + 1500, i % 8, i % 100)
                     for i in range(count)]
            sent += count
            self.lines.append((sent, time.monotonic()))
            self.connection.sendall("".join("RangeStartEnd, " + line for line in lines).encode())
            time.sleep(max(0, started + (piece + 1) / PIECES - time.monotonic()))
        self.rate = self.pieces * count / (time.monotonic() - started)
        shared.wait_for(lambda: len(self.acks) == self.pieces, "all is acknowledged", pause=0.01)
        self.connection.sendall(b"#nvtxt-end\n")
        self.reader.join()


def cpu(process):
    """Seconds of a process, with the threads and processes of it that have ended."""
    with open("/proc/%d/stat" % process.pid) as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:15])) / TICKS


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def gaps(daemon):
    times = [ns for ns, in daemon.everywhere("SELECT committedNs FROM NVTXT_BATCHES ORDER BY id")]
    return [(b - a) / 1e6 for a, b in zip(times, times[1:])]


def reads(daemon, done):
    """A plain reader of as many rows as each page has."""
    while not done.wait(INTERVAL):
        subprocess.run(["sqlite3", "-readonly", daemon.store, LAST % (10 * RATE)], stdout=subprocess.DEVNULL, check=True)


def begin_follower(kit, daemon, interval=INTERVAL):
    page = kit.path("follow.html")
    if os.path.exists(page):
        os.unlink(page)
    command = [kit.program("nvtxt-report"), "html", "--follow=%ds" % interval, "--last", "10s", "-o", page, daemon.store]
    return page, kit.spawn(command, stdout=subprocess.DEVNULL)


def end_follower(kit, follower):
    seconds = cpu(follower)
    follower.terminate()
    status = follower.wait()
    kit.processes.remove(follower)
    if status != 0:
        raise RuntimeError("nvtxt-report html --follow: status %d" % status)
    return seconds


def beside(kit, seconds, who):
    """Gaps between commits, times from line to ack, and the share of a processor that a follower takes."""
    with kit.daemon() as daemon:
        source, done, used = Source(daemon, seconds), threading.Event(), 0
        reader = threading.Thread(target=reads, args=(daemon, done), daemon=True)
        source.start()
        if who == "follower":
            follower = begin_follower(kit, daemon)[1]
        elif who == "reader":
            reader.start()
        source.join()
        if who == "follower":
            used = end_follower(kit, follower) / seconds
        elif who == "reader":
            done.set()
            reader.join()
        daemon.check(source.pieces * RATE // PIECES)
        return gaps(daemon), source.acks, used


def ages(kit, seconds):
    """How old the newest event is that Chromium shows, and how long a page took to write at most."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "follow_times.py")
    with kit.daemon() as daemon:
        source = Source(daemon, seconds + 15)
        source.start()
        page, follower = begin_follower(kit, daemon)
        shared.wait_for(lambda: os.path.exists(page), "there is a page", pause=0.05)
        done = subprocess.run([sys.executable, script, page, str(seconds)], stdout=subprocess.PIPE, text=True, check=False)
        source.join()
        end_follower(kit, follower)
    if done.returncode == 77:
        shared.warn("follow: no browser, " + done.stdout.strip())
        return
    found = json.loads(done.stdout)
    note = "{:,} events/s for {:d} s, {:d} pages; an interval of {:g} s at most".format(RATE, seconds, found["pages"], found["interval"])
    kit.tell("follow: age of the newest event shown", "s", ("median", found["median"]), ("most", found["most"]),
             ("2 intervals + writing", found["bound"]), note=note)


def follow(kit):
    """html --follow --last 10s beside a daemon that takes 20,000 events a second, and a plain reader"""
    seconds = 10 if kit.quick else 60
    found = {who: [] for who in ("follower", "reader", "nobody")}
    for turn in range(2 if kit.quick else 3):
        for who in list(found)[:: -1 if turn % 2 else 1]:
            found[who].append(beside(kit, seconds, who))
    note = "{:,} events/s for {:d} s".format(RATE, seconds)
    for what, which in (("from commit to commit", 0), ("line to ack", 1)):
        for title, share in (("median", 0.5), ("p99", 0.99)):
            values = {who: [percentile(run[which], share) for run in runs] for who, runs in found.items()}
            for other in ("reader", "nobody"):
                kit.compare("follow: %s, %s" % (what, title), "ms", ("follower", values["follower"]), (other, values[other]), note)
    kit.tell("follow: CPU of the follower", "%", ("of one processor", [100 * run[2] for run in found["follower"]]), note=note)
    ages(kit, seconds)
