# SPDX-License-Identifier: Apache-2.0
"""A client that writes down what was acknowledged, and what the store must hold of it."""
import os
import random
import sys
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import lib  # noqa: E402

# Through the rows that say where a session's events lie: a long soak makes large stores.
EVENTS = (" FROM NVTXT_SOURCES s JOIN NVTXT_EVENT_SOURCES x ON x.sourceId = s.id"
          " JOIN NVTX_EVENTS e ON e.rowid BETWEEN x.firstRow AND x.lastRow"
          " WHERE s.sessionId = ? AND e.eventType = 34")
HEADER = ("TimeBase = Manual\n", "@Marker, Time, Message\n")


class Recorder(threading.Thread):
    """Sends `lines` lines; each but the first two is an event whose time is its line number."""

    def __init__(self, daemon, lines, seed):
        super().__init__(daemon=True)
        self.peer = daemon
        self.lines = lines
        self.rng = random.Random(seed)
        self.id = str(uuid.uuid4())
        self.acked = 0
        self.finished = None
        self.fault = None
        self.stopped = False

    def text(self, first, last):
        return "".join(HEADER[n - 1] if n <= 2 else 'Marker, %d, "%s line %d"\n' % (n, self.id, n)
                       for n in range(first, last + 1))

    def run(self):
        try:
            while not self.finished and not self.stopped:
                try:
                    self.connect()
                except (OSError, ConnectionError):
                    time.sleep(0.005)  # nobody there: it is started again
        except Exception as fault:  # told by check()
            self.fault = fault

    def connect(self):
        with lib.Session(self.peer, self.id) as session:
            if session.welcome is None or session.welcome["type"] == "error":
                return
            line = session.welcome["line"]
            if line < self.acked:
                raise AssertionError("welcome at line %d, acknowledged %d" % (line, self.acked))
            self.acked = line
            while line < self.lines:
                last = min(self.lines, line + self.rng.randrange(1, 400))
                session.send(self.text(line + 1, last))
                line = last
                while self.acked < line - 2000:
                    if not self.take(session.reply()):
                        return
            session.send("#nvtxt-end\n")
            while self.take(session.reply()):
                pass

    def take(self, reply):
        if reply is None or reply["type"] == "error":
            return False
        if reply["type"] == "end":
            self.finished = reply
            return False
        self.acked = max(self.acked, reply["line"])
        return True

    def check(self):
        """Every line acknowledged before this call is in the store, once."""
        if self.fault:
            raise self.fault
        acked = self.acked
        wanted = max(0, acked - 2)
        starts = self.starts(" AND start <= %d" % acked)
        lib.equal((len(starts), len(set(starts))), (wanted, wanted),
                  "acknowledged up to line %d" % acked)

    def starts(self, condition):
        """Of its events in all segments."""
        return [start for start, in self.peer.everywhere("SELECT start" + EVENTS + condition,
                                                         self.id)]

    def check_all(self):
        self.check_lines()
        lib.equal(set(self.peer.everywhere("PRAGMA integrity_check")), {("ok",)},
                  "the store is sound")

    def check_lines(self):
        """Every line is there, once."""
        self.join(lib.DEADLINE)
        lib.equal((self.is_alive(), self.finished and self.finished["events"]),
                  (False, self.lines - 2), "the session ended; %r" % self.fault)
        starts = self.starts(" AND text LIKE s.sessionId || '%'")
        lib.equal((len(starts), len(set(starts)), max(starts)),
                  (self.lines - 2, self.lines - 2, self.lines), "every line")
