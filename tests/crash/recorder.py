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

    def events_until(self, line):
        return max(0, line - 2)

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
        wanted = self.events_until(acked)
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
        wanted = self.events_until(self.lines)
        lib.equal((self.is_alive(), self.finished and self.finished["events"]), (False, wanted),
                  "the session ended; %r" % self.fault)
        starts = self.starts(" AND text LIKE s.sessionId || '%'")
        lib.equal((len(starts), len(set(starts)), max(starts)), (wanted, wanted, self.lines), "every line")


class Keeper(Recorder):
    """A client whose variables are its state: the lines by threes are an assignment of half a KiB, a
    marker with the value of another variable, and a comment. So the state is saved and folded all the
    time, and a wrong one gives a wrong message."""
    VARIABLES = 40

    def text(self, first, last):
        return "".join(self.line(n) for n in range(first, last + 1))

    def line(self, n):
        if n <= 2:
            return HEADER[n - 1]
        if n % 3 == 0:
            return 'V%d = "%s line %d %s"\n' % (n // 3 % self.VARIABLES, self.id, n, "v" * 500)
        if n % 3 == 1 and n > 3 * self.VARIABLES:
            return "Marker, %d, $V%d\n" % (n, 7 * n % self.VARIABLES)
        return "# nothing\n"

    def message(self, n):
        """The value of the variable of line n, at that line."""
        back = (n // 3 - 7 * n) % self.VARIABLES
        return "%s line %d " % (self.id, 3 * (n // 3 - back))

    def markers(self, line):
        first = 3 * self.VARIABLES + 1
        return range(first, line + 1, 3)

    def events_until(self, line):
        return len(self.markers(line))

    def check_lines(self):
        self.join(lib.DEADLINE)
        lib.equal((self.is_alive(), self.finished and self.finished["events"]),
                  (False, self.events_until(self.lines)), "the session ended; %r" % self.fault)
        rows = sorted(self.peer.everywhere("SELECT start, substr(text, 1, instr(text, ' v'))" + EVENTS, self.id))
        lib.equal(rows, [(n, self.message(n)) for n in self.markers(self.lines)], "every message")
