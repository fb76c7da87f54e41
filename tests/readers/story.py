# SPDX-License-Identifier: Apache-2.0
"""What the tests of readers share: a small story that a daemon stores, whose every row is known.

Two sources tell it. `web`, a session in the domain `shop`: process 100 with nested push/pop ranges
on two threads, start/end ranges that cross, one of them ended by another thread, marks with
payloads, two ranges left open, three diagnostics, a loss. `disk`, a plain connection without a
domain: process 200, two marks, a range, an error; and process 300 with one mark. Times are seconds
after Story.base.
"""
import os
import re
import sqlite3
import sys
import time

TOP = os.environ.get("top_srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                   "..", "..")
sys.path.insert(0, os.path.join(TOP, "tests", "e2e"))

from lib import Daemon  # noqa: E402  (the path above comes first)

NS = 10**9
with open("/proc/self/comm", encoding="utf-8") as comm:
    COMM = comm.read().rstrip("\n")  # what a source without a name is called

HEAD = """TimeBase = ClockRealtime
@SetThreadName, ProcessId, ThreadId, Name
@SetProcessName, ProcessId, Name
@SetCategoryName, CategoryId, Name
@RangePush, Time, ProcessId, ThreadId, CategoryId, Message
@RangePop, Time, ProcessId, ThreadId
@RangeStart, Time, RangeId, ProcessId, ThreadId, CategoryId, Message
@RangeEnd, Time, RangeId, ProcessId, ThreadId
@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload
"""

WEB = HEAD + """SetFileDisplayName, shop
SetProcessName, 100, web
SetThreadName, 100, 101, "worker one"
SetCategoryName, 1, http
SetCategoryName, 2, db
RangePush, {0}, 100, 100, 1, "request"
RangePush, {1}, 100, 100, 2, "query"
RangePush, {1.5}, 100, 100, 0, "fetch"
RangePop, {2.5}, 100, 100
RangePop, {3}, 100, 100
RangePush, {4}, 100, 100, 0, "parse"
RangePop, {5}, 100, 100
RangePop, {10}, 100, 100
RangePush, {5}, 100, 101, 1, "request"
RangePush, {6}, 100, 101, 2, "query"
RangePop, {26}, 100, 101
RangePop, {65}, 100, 101
RangeStart, {2}, 7, 100, 100, 0, "upload"
RangeStart, {5}, 8, 100, 100, 0, "download"
RangeEnd, {8}, 7, 100, 100
RangeEnd, {12}, 8, 100, 101
Marker, {1}, 100, 100, 1, Blue, "login", 42
Marker, {61}, 100, 101, 1, Mauve, "slow", "3.5"
RangePush, {70}, 100, 100, 0, "serving"
RangeStart, {71}, 9, 100, 101, 0, "transfer"
Marker, $Undefined
Oops
#nvtxt-lost {"lines":12,"reason":"full"}
"""

DISK = HEAD + """SetProcessName, 200, backup
SetCategoryName, 1, disk
RangePush, {20}, 200, 200, 1, "copy"
RangePop, {50}, 200, 200
Marker, {50}, 200, 200, 7, 0x80FF0000, "done", 7
Marker, {51}, 200, 200, 0, 0, "'bye'", -1
Marker, {52}, 300, 301, 0, 0, "guest", 0
RangePop, {53}, 200, 200
"""

REST = """RangePop, {80}, 100, 100
RangeEnd, {82}, 9, 100, 101
Marker, {81}, 100, 101, 2, Red, "again", 1
"""


class Story:
    """base: ns, the start of a minute, by default of two minutes ago."""

    def __init__(self, base=None):
        self.base = base or (time.time_ns() // (60 * NS) - 2) * 60 * NS

    def at(self, seconds):
        return self.base + int(seconds * NS)

    def lines(self, text):
        return re.sub(r"\{([0-9.]+)\}", lambda found: str(self.at(float(found[1]))), text)

    def tell(self, daemon):
        """Sends both sources; returns the id of the session. All is committed then; the session did
        not end, only its connection did, so that its two ranges stay open."""
        daemon.send(self.lines(DISK))
        with daemon.session(name="web.nvtxt", pid=100) as session:
            session.send(self.lines(WEB))
            session.ack(WEB.count("\n"))
        daemon.settled()
        return session.id


LOG = (("INFO", 2), ("ERROR", 3), ("WARN", 4), ("CRIT", 63), ("plain", 64))
LEVELS = {"INFO": 6, "ERROR": 3, "WARN": 4, "CRIT": 2}


def tell_log(told):
    """A log of five lines, as nvtxt-send --text sends it; not part of the story."""
    with told.daemon.session(name="app.log", pid=400, levels=True) as session:
        session.send("".join("Marker, %d, Manual, 400, 400, 0, 0, '%s', %s\n"
                             % (told.at(at), word, LEVELS.get(word, "''")) for word, at in LOG))
        session.ack(len(LOG))
    told.daemon.settled()


class Told:
    """A daemon that was told the story and goes on running; a context manager."""

    def __init__(self, **options):
        self.daemon = Daemon(**options)
        self.story = Story()
        self.session = None

    def __enter__(self):
        self.daemon.__enter__()
        self.session = self.story.tell(self.daemon)
        return self

    def __exit__(self, kind, value, trace):
        self.daemon.__exit__(kind, value, trace)

    def at(self, seconds):
        return self.story.at(seconds)

    def query(self, sql, *values):
        return self.daemon.query(sql, *values)

    def rotate(self):
        """Begins a new segment and tells in it how the open ranges end; returns the path of the one
        before."""
        previous = self.daemon.control("rotate")["previous"]
        with self.daemon.session(self.session) as session:
            session.send(self.story.lines(REST))
            session.end()
        return os.path.join(self.daemon.folder, previous)

    def reader(self, options="mode=ro"):
        """A connection as a reader has it, to be closed."""
        return sqlite3.connect("file:%s?%s" % (self.daemon.store, options), uri=True, timeout=10)
