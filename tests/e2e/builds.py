# SPDX-License-Identifier: Apache-2.0
"""Stores whose ranges have parents in other processes, written row by row, and builds among them."""
import json
import random
import sqlite3
import uuid

from client import run_client

MARK, PUSH_POP, START_END = 34, 59, 60
SECOND = 1000000000


class Store:
    """What a daemon would have stored; save() writes it."""

    def __init__(self):
        self.sources, self.events, self.keys = [], [], []

    def source(self, session=None, parent=None, uid=1000, name=None):
        self.sources.append((len(self.sources) + 2, session or str(uuid.uuid4()), parent, uid, name))
        return len(self.sources) + 1

    def session(self, source):
        return self.sources[source - 2][1]

    def token(self, source, key):
        return "%s:%s" % (self.session(source), key)

    def event(self, source, kind, start, end, text, pid, key=None, parent=None, details=None, status=None):
        """Returns the row."""
        row = len(self.events) + 1
        self.events.append((row, source, kind, start, end, text, pid << 24 | pid,
                            json.dumps(details) if details else None, status))
        if key is not None:
            self.keys.append((row, source, key, parent))
        return row

    def range(self, source, start, end, text, pid, **more):
        return self.event(source, START_END, start, end, text, pid, **more)

    def save(self, folder, name):
        path = folder.name(name)
        empty = folder.write(name + ".nvtxt", "")
        status, _, errors = run_client("nvtxt-import", "create", "-n", empty, "-o", path)
        assert status == 0, errors
        db = sqlite3.connect(path)
        with db:
            # What schema 7 adds, where the program makes an older store.
            columns = [row[1] for row in db.execute("PRAGMA table_info(NVTXT_SOURCES)")]
            if "parent" not in columns:
                db.execute("ALTER TABLE NVTXT_SOURCES ADD COLUMN parent TEXT")
                db.execute("CREATE TABLE NVTXT_RANGE_KEYS (eventRow INTEGER PRIMARY KEY, sourceId "
                           "INTEGER NOT NULL, key TEXT NOT NULL, parent TEXT)")
            self.fill(db)
        db.close()
        return path

    def fill(self, db):
        for number, session, parent, uid, name in self.sources:
            db.execute("INSERT INTO NVTXT_SOURCES (id, kind, sessionId, name, peerUid, openedNs, lines, events, "
                       "warnings, errors, parent, nvtx) VALUES (?, 'session', ?, ?, ?, 0, 0, 0, 0, 0, ?, 1)",
                       (number, session, name, uid, parent))
        for row, source, kind, start, end, text, tid, details, status in self.events:
            db.execute("INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
                       "globalTid, domainId, jsonText, int64Value) VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, 0, ?, ?)",
                       (row, start, end, kind, row, text, tid, details, status))
            db.execute("INSERT INTO NVTXT_EVENT_SOURCES VALUES (?, ?, ?)", (row, row, source))
        if self.events:
            db.execute("INSERT INTO NVTXT_BATCHES (firstRow, lastRow, minStart, maxEnd, committedNs, events) "
                       "VALUES (1, ?, ?, ?, 1, ?)",
                       (len(self.events), min(event[3] for event in self.events),
                        max(event[4] for event in self.events), len(self.events)))
        db.executemany("INSERT INTO NVTXT_RANGE_KEYS VALUES (?, ?, ?, ?)", self.keys)


class Build:
    """A build of `make -jN`, made up. steps: dicts of row, start, end, text, under (a row or None)."""

    def __init__(self, store, seed, jobs=3, text=None, parent=None, deep=3, width=6):
        self.random = random.Random(seed)
        self.store, self.jobs, self.steps = store, jobs, []
        self.source = store.source(parent=parent, name="make")
        self.slots = [1000 * seed] * jobs
        self.pid = 1000 + seed * 500
        self.start = 1000 * seed
        self.run_make(None, self.start, deep, width)
        self.end = max([self.start] + [step["end"] for step in self.steps]) + self.random.randrange(5)
        self.head = store.range(self.source, self.start, self.end, text or "make -j%d" % jobs, self.pid, key="run",
                                parent=parent)

    def add(self, start, end, under, key, text):
        self.pid += 1
        self.steps.append({"start": start, "end": end, "under": under, "key": key, "text": text,
                           "row": self.store.range(self.source, start, end, text, self.pid, key=key,
                                                   parent=self.store.token(self.source, under or "run"),
                                                   details={"command": text, "target": key, "status": 0})})

    def run_make(self, under, start, deep, width):
        """Steps below one make; returns when the last one ends."""
        end = start
        for _ in range(self.random.randrange(1, width + 1)):
            slot = min(range(self.jobs), key=lambda number: self.slots[number])
            begin = max(start, self.slots[slot]) + self.random.randrange(4)
            key = "k%d" % len(self.store.events) + "-%d" % self.random.randrange(10 ** 6)
            if deep > 0 and self.random.random() < 0.3:
                inner = self.run_make(key, begin + self.random.randrange(3), deep - 1, width)
                over = inner + self.random.randrange(3)
                self.add(begin, over, under, key, "make -C sub%d" % self.random.randrange(4))
            else:
                over = begin + self.random.randrange(1, 60)
                self.add(begin, over, under, key, "cc f%d.c" % self.random.randrange(8))
            self.slots[slot] = over
            end = max(end, over)
        return end
