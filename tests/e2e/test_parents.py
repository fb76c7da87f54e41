# SPDX-License-Identifier: Apache-2.0
"""Parents of ranges in other processes: what the daemon keeps of the tokens and keys that clients
give, whatever breaks between a key and its range."""
import sqlite3
import uuid

from client import Folder, run_client
from lib import Daemon, equal, rows, run

PARENT = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001:run"
OTHER = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a002:1844.5"
HEADER = "TimeBase = Manual\n@RangeStartEnd, Start, End, Message\n@Marker, Time, Message\n"
KEYS = "SELECT e.text, k.key, k.parent FROM NVTXT_RANGE_KEYS k JOIN NVTX_EVENTS e ON e.rowid = k.eventRow " \
       "JOIN NVTXT_SOURCES s ON s.id = k.sourceId AND s.sessionId = ? ORDER BY k.eventRow"
PARENTS = "SELECT parent FROM NVTXT_SOURCES WHERE sessionId = ?"


def key(name, parent=None):
    return '#nvtxt-range {"key":"%s"%s}\n' % (name, ',"parent":"%s"' % parent if parent else "")


def span(start, end, name):
    return 'RangeStartEnd, %d, %d, "%s"\n' % (start, end, name)


def make_older(store):
    """As version 6 of the schema had it."""
    db = sqlite3.connect(store)
    db.executescript("DROP VIEW IF EXISTS NVTXT_TREE; DROP TABLE NVTXT_RANGE_KEYS;"
                     "ALTER TABLE NVTXT_SOURCES DROP COLUMN parent; PRAGMA user_version = 6;")
    db.close()


def test_a_session_keeps_its_parent_and_the_keys_of_its_ranges():
    with Daemon() as daemon:
        with daemon.session(parent=PARENT.upper().replace("RUN", "run")) as session:
            session.send(HEADER + key("run") + span(1, 9, "a") + span(2, 3, "b") + key("x-1", OTHER) + span(4, 5, "c") +
                         key("lost") + "Marker, 1, m\n" + key("twice") + key("taken") + span(6, 7, "d"))
            equal(session.end()["warnings"], 0)
        daemon.settled()
        equal(daemon.query(PARENTS, session.id), [(PARENT,)])
        equal(daemon.query(KEYS, session.id),
              [("a", "run", None), ("c", "x-1", OTHER), ("d", "taken", None)])
        equal(daemon.query("SELECT lines FROM NVTXT_SOURCES WHERE sessionId = ?", session.id), [(13,)])


def test_a_key_holds_over_a_break_before_its_range():
    with Daemon() as daemon:
        with daemon.session(parent=PARENT) as session:
            session.send(HEADER + key("k", OTHER))
            session.ack(4)
        with daemon.session(session.id, parent=OTHER) as again:  # the first hello counts
            equal(again.welcome["line"], 4)
            again.send(span(1, 2, "a") + span(3, 4, "b"))
            again.end()
        daemon.settled()
        equal(daemon.query(KEYS, session.id), [("a", "k", OTHER)])
        equal(daemon.query(PARENTS, session.id), [(PARENT,)])


def test_a_key_holds_over_the_kill_of_the_daemon():
    with Daemon() as daemon:
        with daemon.session(parent=PARENT) as session:
            session.send(HEADER + key("k", OTHER))
            session.ack(4)
            daemon.kill()
        daemon.start()
        with daemon.session(session.id) as again:
            again.send(span(1, 2, "a") + key("l") + span(3, 4, "b"))
            again.ack(7)
            daemon.kill()
        daemon.start()
        equal(daemon.query(KEYS, session.id), [("a", "k", OTHER), ("b", "l", None)])
        equal(daemon.query(PARENTS, session.id), [(PARENT,)])


def test_a_rotation_between_a_key_and_its_range_loses_neither():
    with Daemon() as daemon:
        with daemon.session(parent=PARENT) as session:
            session.send(HEADER + key("old") + span(1, 2, "a") + key("k", OTHER))
            session.ack(6)
            daemon.control("rotate")
            session.send(span(3, 4, "b"))
            session.ack(7)
            daemon.control("rotate")
        with daemon.session(session.id) as again:  # it is loaded of the segment before
            again.send(key("new") + span(5, 6, "c"))
            again.end()
        daemon.settled()
        equal([rows(path, KEYS, session.id) for path in daemon.segments()],
              [[("a", "old", None)], [("b", "k", OTHER)], [("c", "new", None)]])
        equal([rows(path, PARENTS, session.id) for path in daemon.segments()], [[(PARENT,)]] * 3)


def test_a_parent_in_another_segment_is_none_for_the_view():
    with Daemon() as daemon:
        with daemon.session() as outer, daemon.session(parent=outer.id + ":run") as inner:
            inner.send(HEADER + span(1, 2, "early"))
            inner.ack(4)
            daemon.control("rotate")
            inner.send(span(3, 4, "late"))
            inner.end()
            outer.send(HEADER + key("run") + span(0, 9, "make"))
            outer.end()
        daemon.settled()
        equal([rows(path, "SELECT path, depth FROM NVTXT_TREE ORDER BY row") for path in daemon.segments()],
              [[("early", 0)], [("make;late", 1), ("make", 0)]])


def test_a_parent_that_cannot_be_read_is_none_with_one_warning():
    with Daemon() as daemon:
        for parent in ("what", "x" * 300, 7, PARENT + " "):
            with daemon.session(parent=parent) as session:
                session.send(HEADER + key("k", "nowhere") + span(1, 2, "a") + key("l", PARENT) + span(1, 2, "b"))
                diagnostics = session.ack(7)
                equal([(d["code"], d["severity"], d["line"]) for d in diagnostics], [("bad-parent", "warning", 1)])
                equal(session.end()["warnings"], 1)
            equal(daemon.query(PARENTS, session.id), [(None,)])
            equal(daemon.query(KEYS, session.id), [("a", "k", None), ("b", "l", PARENT)])
        with daemon.session() as session:
            session.send(HEADER + key("k", "nowhere") + span(1, 2, "a"))
            equal([(d["code"], d["line"]) for d in session.ack(5)], [("bad-parent", 4)])


def test_a_key_is_a_comment_outside_a_session():
    text = HEADER + key("k", PARENT) + span(1, 2, "a")
    with Daemon() as daemon, Folder() as folder:
        daemon.send(text)
        equal(daemon.query("SELECT count(*) FROM NVTXT_RANGE_KEYS"), [(0,)])
        store = folder.name("s.sqlite")
        equal(run_client("nvtxt-import", "create", "-n", folder.write("a.nvtxt", text), "-o", store)[0], 0)
        equal(rows(store, "SELECT (SELECT count(*) FROM NVTXT_RANGE_KEYS), (SELECT count(*) FROM NVTX_EVENTS)"),
              [(0, 1)])


def test_a_merge_and_a_snapshot_keep_keys_and_parents():
    with Daemon() as daemon, Folder() as folder:
        with daemon.session(parent=PARENT) as session:
            session.send(HEADER + key("k", OTHER) + span(1, 2, "a"))
            session.end()
        daemon.settled()
        snapshot, merged = folder.name("snapshot.sqlite"), folder.name("merged.sqlite")
        equal(run_client("nvtxt-ctl", "--socket", daemon.control_socket, "snapshot", "-o", snapshot)[0], 0)
        more = folder.write("more.nvtxt", HEADER + span(3, 4, "b"))
        equal(run_client("nvtxt-import", "merge", "-i", snapshot, "-n", more, "-o", merged)[0], 0)
        for store in (snapshot, merged):
            equal(rows(store, KEYS, session.id), [("a", "k", OTHER)])
            equal(rows(store, PARENTS, session.id), [(PARENT,)])
        equal(rows(merged, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 60"), [(2,)])


def test_a_store_of_before_gets_the_tables_when_the_daemon_starts():
    with Daemon() as daemon:
        first = str(uuid.uuid4())
        with daemon.session(first) as session:
            session.send(HEADER + span(1, 2, "a"))
            session.ack(4)
        daemon.stop()
        make_older(daemon.store)
        daemon.start()
        with daemon.session(first) as session:
            session.send(key("k", PARENT) + span(3, 4, "b"))
            session.end()
        daemon.settled()
        equal(daemon.query(KEYS, first), [("b", "k", PARENT)])
        equal(daemon.query(PARENTS, first), [(None,)])


if __name__ == "__main__":
    run(globals())
