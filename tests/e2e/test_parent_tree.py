# SPDX-License-Identifier: Apache-2.0
"""The view NVTXT_TREE against a slow second computation, on stores that are made by chance: ranges
that nest and cross, tokens that lead to ranges, to nobody, to another user, and in circles."""
import random
import sqlite3

from client import Folder, run_client
from lib import equal, run

MARK, PUSH_POP, START_END = 34, 59, 60


class Made:
    """A store of nvtxt-import whose rows are ours."""

    def __init__(self, folder):
        path = folder.name("made.sqlite")
        equal(run_client("nvtxt-import", "create", "-n", folder.write("a.nvtxt", "A = 1\n"), "-o", path)[0], 0)
        self.db = sqlite3.connect(":memory:")
        disk = sqlite3.connect(path)
        disk.backup(self.db)
        disk.close()
        self.clear()

    def clear(self):
        self.row = 0
        self.db.executescript("DELETE FROM NVTX_EVENTS; DELETE FROM NVTXT_SOURCES; DELETE FROM NVTXT_EVENT_SOURCES;"
                              "DELETE FROM NVTXT_RANGE_KEYS;")

    def source(self, number, uid=1, parent=None):
        self.db.execute("INSERT INTO NVTXT_SOURCES (id, sessionId, peerUid, parent) VALUES (?, ?, ?, ?)",
                        (number, "s%d" % number, uid, parent))

    def events(self, source, events):
        """(type, start, end, text[, thread, domain]) each; returns their rows."""
        first = self.row + 1
        for kind, start, end, text, *lane in events:
            self.row += 1
            thread, domain = lane or (1, 0)
            self.db.execute("INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, "
                            "globalTid, domainId) VALUES (?, ?, ?, ?, 0, ?, 0, 0, ?, ?)",
                            (self.row, start, end, kind, text, thread, domain))
        if source is not None and self.row >= first:
            self.db.execute("INSERT INTO NVTXT_EVENT_SOURCES VALUES (?, ?, ?)", (first, self.row, source))
        return list(range(first, self.row + 1))

    def key(self, row, source, key, parent=None):
        self.db.execute("INSERT INTO NVTXT_RANGE_KEYS VALUES (?, ?, ?, ?)", (row, source, key, parent))

    def tree(self):
        return self.db.execute("SELECT row, parentRow, depth, path FROM NVTXT_TREE ORDER BY row").fetchall()


# ---- The second computation ---------------------------------------------------------------------

class Slow:
    def __init__(self, db):
        self.events = {row: values for row, *values in db.execute(
            "SELECT rowid, eventType, start, end, text, globalTid, domainId FROM NVTX_EVENTS")}
        self.sources = {number: values for number, *values in db.execute(
            "SELECT id, sessionId, peerUid, parent FROM NVTXT_SOURCES")}
        self.runs = db.execute("SELECT firstRow, lastRow, sourceId FROM NVTXT_EVENT_SOURCES").fetchall()
        self.keys = {row: values for row, *values in db.execute(
            "SELECT eventRow, sourceId, key, parent FROM NVTXT_RANGE_KEYS")
            if row in self.events and self.events[row][0] == START_END}

    def order(self, row):
        _, start, end, *_ = self.events[row]
        return (start, -end, -row)

    def around(self, row):
        """The range around it in its lane."""
        kind, start, _, _, *lane = self.events[row]
        if kind == START_END:
            return None
        open_ones = [other for other, (of, _, end, _, *its) in self.events.items()
                     if of == PUSH_POP and its == lane and end > start and self.order(other) < self.order(row)]
        return max(open_ones, key=self.order) if open_ones else None

    def rows_of(self, sessions, key):
        return [row for row, (source, its, _) in self.keys.items() if source in sessions and its == key]

    def meaning(self, token, uid, child=None, seen=()):
        if token is None or uid is None or ":" not in token:
            return None
        session, key = token.split(":", 1)
        sessions = [number for number, (its, user, _) in self.sources.items() if its == session and user == uid]
        rows = [] if key == "run" else self.rows_of(sessions, key)
        rows = rows or [row for row in [min(self.rows_of(sessions, "run"), default=None)] if row not in (None, child)]
        if rows or not sessions:
            return min(rows, default=None)
        return self.under(max(sessions), seen)

    def under(self, source, seen=()):
        if source in seen or source not in self.sources:
            return None
        _, uid, parent = self.sources[source]
        return self.meaning(parent, uid, None, (*seen, source))

    def link(self, row):
        source, _, parent = self.keys[row]
        _, uid, its = self.sources.get(source, (None, None, None))
        return self.meaning(parent if parent is not None else its, uid, row)

    def ends(self, row):
        seen = set()
        while row is not None and row not in seen:
            seen.add(row)
            row = self.link(row)
        return row is None

    def parent(self, row):
        if row in self.keys:
            parent = self.link(row)
            is_before = parent is not None and (self.events[parent][1], parent) < (self.events[row][1], row)
            return parent if is_before or self.ends(row) else None
        around = self.around(row)
        if around is not None:
            return around
        return next((self.under(source) for first, last, source in self.runs if first <= row <= last), None)

    def tree(self):
        result = []
        for row in sorted(self.events):
            path, at = [], row
            while at is not None:
                path.append(self.events[at][3].replace(";", ","))
                at = self.parent(at)
            result.append((row, self.parent(row), len(path) - 1, ";".join(reversed(path))))
        return result


# ---- By chance ----------------------------------------------------------------------------------

def chance_events(rng, count, late):
    events = []
    for _ in range(count):
        kind = rng.choice((MARK, PUSH_POP, PUSH_POP, START_END))
        start = rng.randrange(late)
        end = start if kind == MARK else start + rng.choice((0, 1, 2, 3, 5, 9, late, -1))
        events.append((kind, start, end, rng.choice("abc;"), rng.choice((1, 1, 2)), rng.choice((0, 0, 1))))
    return events


def chance_token(rng, sources):
    return rng.choice((None, "s%d:%s" % (rng.randrange(sources + 1), rng.choice(("run", "a", "b", "c", "gone"))),
                       "s%d:run" % rng.randrange(sources), "nonsense"))


def by_chance(made, rng):
    sources = rng.randrange(1, 7)
    made.clear()
    for number in range(sources):
        made.source(number, rng.choice((1, 1, 1, 2, None)), chance_token(rng, sources))
    for _ in range(rng.randrange(1, 9)):
        source = rng.randrange(sources + 1)
        rows = made.events(source if rng.random() < 0.9 else None,
                           chance_events(rng, rng.randrange(6), rng.choice((4, 12, 40))))
        for row in rows:
            if rng.random() < 0.4:
                made.key(row, source, rng.choice(("run", "a", "b", "c")), chance_token(rng, sources))
    if rng.random() < 0.2:
        made.key(made.row + 7, 0, "a")  # of a row that is not there


def test_stores_made_by_chance_have_the_tree_of_a_second_computation():
    with Folder() as folder:
        made = Made(folder)
        seen = {"deep": 0, "into another": 0}
        for seed in range(600):
            by_chance(made, random.Random(seed))
            got = made.tree()
            equal(got, Slow(made.db).tree(), "seed %d" % seed)
            seen["deep"] += any(depth > 2 for _, _, depth, _ in got)
            keyed = {row for row, in made.db.execute("SELECT eventRow FROM NVTXT_RANGE_KEYS")}
            seen["into another"] += any(parent in keyed for _, parent, *_ in got)
        assert min(seen.values()) > 50, seen


# ---- What the page says -------------------------------------------------------------------------

def test_a_build_is_one_tree():
    with Folder() as folder:
        made = Made(folder)
        made.source(1)
        run_row, = made.events(1, [(START_END, 0, 100, "make -j2")])
        made.key(run_row, 1, "run")
        step, other = made.events(1, [(START_END, 5, 50, "sub; make", 7, 0), (START_END, 10, 20, "gcc a.c", 8, 0)])
        made.key(step, 1, "7.5", "s1:run")
        made.key(other, 1, "8.10", "s1:7.5")
        made.source(2, parent="s1:8.10")
        made.events(2, [(PUSH_POP, 11, 19, "outer", 9, 0), (PUSH_POP, 12, 13, "inner", 9, 0), (MARK, 18, 18, "m", 9, 0),
                        (MARK, 19, 19, "after", 9, 0)])
        equal(made.tree(), [
            (1, None, 0, "make -j2"), (2, 1, 1, "make -j2;sub, make"), (3, 2, 2, "make -j2;sub, make;gcc a.c"),
            (4, 3, 3, "make -j2;sub, make;gcc a.c;outer"), (5, 4, 4, "make -j2;sub, make;gcc a.c;outer;inner"),
            (6, 4, 4, "make -j2;sub, make;gcc a.c;outer;m"), (7, 3, 3, "make -j2;sub, make;gcc a.c;after")])


def test_a_range_that_was_killed_gives_way_to_what_is_around_it():
    with Folder() as folder:
        made = Made(folder)
        made.source(1)
        made.source(2, parent="s1:step")    # the step was killed
        made.source(3, parent="s2:run")     # so was all that recorded in s2
        made.source(4, uid=2, parent="s1:run")
        made.source(5, parent="s9:run")
        outer, = made.events(1, [(START_END, 0, 9, "run")])
        made.key(outer, 1, "run")
        for number in (2, 3, 4, 5):
            made.events(number, [(MARK, number, number, "m", number, 0)])
        made.source(6, parent="s1:run")
        own, = made.events(6, [(START_END, 1, 8, "its own run")])
        made.key(own, 6, "run", "s6:step")
        equal([row[1] for row in made.tree()], [None, outer, outer, None, None, outer])


def test_a_circle_is_cut_before_the_range_that_began_first():
    with Folder() as folder:
        made = Made(folder)
        made.source(1, parent="s1:a")
        rows = made.events(1, [(START_END, start, 99, text) for start, text in ((5, "a"), (1, "b"), (7, "c"), (8, "d"))])
        for row, key, parent in zip(rows, "abcd", ("s1:c", "s1:a", "s1:b", "s1:d")):
            made.key(row, 1, key, parent)
        made.events(1, [(MARK, 0, 0, "m")])
        equal([row[1:] for row in made.tree()],
              [(None, 0, "a"), (None, 0, "b"), (2, 1, "b;c"), (None, 0, "d"), (1, 1, "a;m")])


def steps_of(count, made, chain):
    """`count` keyed ranges: all under one, or each under the one before."""
    made.clear()
    made.source(1)
    made.db.executemany(
        "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, rangeId, text, category, color, globalTid, domainId) "
        "VALUES (?, ?, 9, 60, 0, '', 0, 0, 1, 0)", ((row, row) for row in range(1, count + 1)))
    made.db.executemany("INSERT INTO NVTXT_RANGE_KEYS VALUES (?, 1, ?, ?)",
                        ((row, "k%d" % row, "s1:k%d" % (row % count + 1 if chain else 1)) for row in range(1, count + 1)))
    made.db.execute("INSERT INTO NVTXT_EVENT_SOURCES VALUES (1, ?, 1)", (count,))


def operations(made):
    """Steps of SQLite's machine that reading the tree takes, in thousands."""
    count = [0]

    def step():
        count[0] += 1

    made.db.set_progress_handler(step, 1000)
    made.db.execute("SELECT count(*), max(depth) FROM NVTXT_TREE").fetchone()
    made.db.set_progress_handler(None, 0)
    return count[0]


def test_four_times_the_ranges_are_about_four_times_the_work():
    with Folder() as folder:
        made = Made(folder)
        for chain in (False, True):  # a circle of all of them is the worst that a stranger can write
            steps_of(1000, made, chain)
            few = operations(made)
            steps_of(4000, made, chain)
            many = operations(made)
            assert many < 6 * few + 10, "%d thousand steps, then %d (chain: %s)" % (few, many, chain)
        made.clear()
        lane = [(PUSH_POP, n, 10 ** 6 + n if n % 2 else 2 * 10 ** 6 - n, "r") for n in range(400)]  # half of them cross
        made.events(1, lane)
        few = operations(made)
        made.clear()
        made.events(1, [(PUSH_POP, n, 10 ** 6 + n if n % 2 else 2 * 10 ** 6 - n, "r") for n in range(1600)])
        many = operations(made)
        assert many < 6 * few + 10, "%d thousand steps, then %d" % (few, many)


if __name__ == "__main__":
    run(globals())
