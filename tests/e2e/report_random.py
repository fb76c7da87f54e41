# SPDX-License-Identifier: Apache-2.0
"""Random events in exports and stores, for tests that compare nvtxt-report with slow computations."""
import os
import random
import sqlite3
import subprocess
import sys

from client import ENV, Folder
from lib import DEADLINE, program

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import slow  # noqa: E402

NAMES = ["step", "load", "compute", "kernel", "a/b", "x;y", "[i]", "ünï", "+", ""]
DOMAINS = {0: "", 1: "Net", 2: "a@b", 3: "Domain 3"}  # 3 has no name of its own


def make_export(path, chance, count, variant):
    """Rows as no program would write them: ranges cross, end before they start, never end."""
    types = {"old": (65, 70, 71), "mixed": None}.get(variant, (34, 59, 60))
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    db.execute("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"
               " rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"
               " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER NOT NULL)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(i + 7, name) for i, name in enumerate(NAMES)])
    threads = [(17 << 48) | pid << 24 | pid + i for pid in (100, 200) for i in range(2)]
    for pid in 100, 200:
        for number, name in DOMAINS.items():
            if number in (1, 2):
                db.execute("INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, NULL, NULL, NULL, ?, ?, NULL, NULL, ?)",
                           (name, (17 << 48) | pid << 24, number))
    span = chance.choice((20, 200, 10 ** 9))
    rows = []
    for _ in range(count):
        kind = chance.choice((0, 1, 1, 1, 2))
        start = chance.randrange(span)
        end = start + chance.randrange(span // 3 + 1)
        if chance.random() < 0.03:
            end = start - chance.randrange(5)
        if kind == 0:
            end = chance.choice((None, start)) if variant != "full" else start
        elif chance.random() < 0.03:
            end = None
        name = chance.randrange(len(NAMES))
        by_id = variant == "ids" or variant == "mixed" and chance.random() < 0.5
        one_of = (types or chance.choice(((34, 59, 60), (65, 70, 71))))[kind]
        rows.append((start, end, one_of, kind == 2 and 1 or None, chance.choice((None, 0, 4)), None,
                     None if by_id else NAMES[name], chance.choice(threads), None, name + 7 if by_id else None,
                     chance.choice((0, 0, 0, 1, 2, 3))))
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.commit()
    db.close()


def make_store(folder, chance, count):
    """A store as nvtxt-import makes it of lines with random nesting."""
    lines = ["@RangePush, Time, ThreadId, ProcessId, Message", "@RangePop, Time, ThreadId, ProcessId",
             "@Marker, Time, ThreadId, ProcessId, Message"]
    depth, now = [0, 0, 0], 1000

    def add(command, thread, *rest):
        lines.append(", ".join([command, str(now), str(11 + thread), str(5 + thread // 2), *rest]))

    for _ in range(count):
        thread, now = chance.randrange(3), now + chance.choice((0, 0, 1, 7, 50))
        what, message = chance.random(), '"%s"' % chance.choice(NAMES[:6])
        if what < 0.45 and depth[thread] < 6:
            add("RangePush", thread, message)
            depth[thread] += 1
        elif what < 0.85 and depth[thread]:
            add("RangePop", thread)
            depth[thread] -= 1
        else:
            add("Marker", thread, message)
    now += 9
    for thread, left in enumerate(depth):
        for _ in range(left):
            add("RangePop", thread)
    source, store = folder.write("events.nvtxt", "\n".join(lines) + "\n"), folder.name("store.sqlite")
    subprocess.run([program("client", "nvtxt-import"), "create", "-n", source, "-o", store], env=ENV, check=True, timeout=DEADLINE)
    return store


def captures(seeds=6):
    for seed in range(seeds):
        for variant in "text", "ids", "mixed", "old", "full":
            with Folder() as folder:
                chance = random.Random("%s %d" % (variant, seed))
                path = folder.name("export.sqlite")
                make_export(path, chance, chance.choice((1, 5, 30, 90)), variant)
                yield chance, path, slow.Capture([(path, False)])
        with Folder() as folder:
            chance = random.Random("store %d" % seed)
            path = make_store(folder, chance, chance.choice((5, 40, 120)))
            yield chance, path, slow.Capture([(path, True)])
