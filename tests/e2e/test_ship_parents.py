# SPDX-License-Identifier: Apache-2.0
"""Parents in other processes in a fleet: keys and parents are shipped with their events, once each; the
view that makes a tree of them; the step of the schema that brings them."""
import contextlib
import os
import random
import sqlite3
import tempfile

from client import Folder
from lib import Daemon, equal, run, wait_for
from parents import PARENTS, SESSIONS, changed, make_build, make_store, token
from parents import run as run_line
from postgres import database, one_server
from ship import TODAY, Shipper, compare_store, good, role, rows_of, texts, version_2
from test_export_parents import LINES, keyed, parents_of, random_build
from test_report_parents import paths

def make_version_2(server):
    server.rows("BEGIN; %s; SELECT nvtxt.make_partitions(%s, %s + 7); COMMIT" % (version_2(), TODAY, TODAY))


def tree(server, host=None):
    """{message: (parent's message, depth, path)} of the view."""
    where = "WHERE t.host = '%s'" % host if host else ""
    return {row[0]: (row[1], int(row[2]), row[3]) for row in server.rows(
        "SELECT e.text, u.text, t.depth, t.path FROM nvtxt.tree AS t JOIN nvtxt.events AS e USING (store_id, "
        "segment, row_id) LEFT JOIN nvtxt.events AS u ON u.store_id = t.store_id AND u.segment = "
        "t.parent_segment AND u.row_id = t.parent_row " + where)}


def wanted_tree(parents, messages):
    """The same of {message: its parent's message}."""
    found = {}
    for message in messages:
        path = [message]
        while path[0] in parents:
            path.insert(0, parents[path[0]])
        found[message] = (parents.get(message), len(path) - 1, ";".join(path))
    return found


def messages_of(store):
    return [row[0] for row in rows_of(store, "SELECT text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)")]


def ship(server, store, host="one"):
    good("--once", "--target", server.target(), "--store", store, "--host", host)


@contextlib.contextmanager
def a_build():
    """A daemon that records a build; (daemon, session). Its make and one step are still to end."""
    with Daemon() as daemon, daemon.session(SESSIONS[0]) as make:
        make.send(LINES)
        with daemon.session(parent=token(1, "k1")) as program:
            program.send(LINES + run_line("program", 30, 40, 3))
            program.end()
        make.send(keyed("k0", run_line("early", 21, 22, 2), token(1, "run")))
        make.ack(4)
        daemon.flush()
        yield daemon, make


def end_build(daemon, make):
    make.send(keyed("k1", run_line("step", 20, 50, 2), token(1, "run")) +
              keyed("run", run_line("make", 10, 60, 1)))
    make.end()
    daemon.settled()


BUILD = {"program": "step", "step": "make", "early": "make"}


# ---- Shipping -----------------------------------------------------------------------------------

def test_keys_and_parents_are_shipped_over_segments_and_shippers():
    with database() as server, a_build() as (daemon, make):
        good("init", "--target", server.target())
        ship(server, daemon.store)
        equal(tree(server), wanted_tree({}, ["program", "early"]))
        daemon.control("rotate")
        end_build(daemon, make)
        for _ in range(2):  # a second time nothing is left
            ship(server, daemon.store)
            compare_store(server, daemon.segments())
            equal(tree(server), wanted_tree(BUILD, ["make", "early", "step", "program"]))


def test_a_shipper_that_follows_ships_keys_with_their_events():
    with database() as server, a_build() as (daemon, make):
        target = ("--target", server.target(), "--store", daemon.store, "--host", "one")
        good("init", "--target", server.target())
        with Shipper(*target, "--interval", "50ms") as shipper:
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.range_keys") == "1", "the first key")
            shipper.kill()
            end_build(daemon, make)
            shipper.start()
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == "4", "the rest")
            equal(server.one("SELECT count(*) FROM nvtxt.range_keys"), "3")
        good("--once", *target)
        compare_store(server, daemon.segments())


def test_two_hosts_have_trees_of_their_own():
    with database() as server, Folder() as folder:
        good("init", "--target", server.target())
        build = make_build(folder)
        with changed(build) as there:  # the session of another host is not known here
            there.execute("UPDATE META_DATA_EXPORT SET value = '11111111-1111-4111-8111-111111111111' "
                          "WHERE name = 'STORE_ID'")
        other = make_store(folder, {"far.nvtxt": (2, token(1, "run"))}, {}, {"far.nvtxt": run_line("far", 1, 2, 3)},
                           name="other.sqlite")
        ship(server, build, "one")
        ship(server, other, "two")
        equal(tree(server, "one"),
              wanted_tree({**PARENTS, "inner": "outer", "mark inside": "inner"}, messages_of(build)))
        equal(tree(server, "two"), wanted_tree({}, ["far"]))
        equal(server.rows("SELECT parent FROM nvtxt.source_parents JOIN nvtxt.stores USING (store_id) "
                          "WHERE host = 'two'"), [(token(1, "run"),)])


# ---- The tree -----------------------------------------------------------------------------------

def test_the_tree_is_that_of_nvtxt_export():
    for seed in range(4):
        with database() as server, Folder() as folder:
            files, sources, keys, wanted = random_build(random.Random(seed))
            store = make_store(folder, sources, keys, files)
            good("init", "--target", server.target())
            ship(server, store)
            above = {name: parent for name, parent in parents_of(store).items() if ":" not in parent}
            equal(above, {name: parent for name, parent in wanted.items() if ":" not in parent})
            for name in messages_of(store):
                if name.endswith(" inner"):
                    above[name] = name[:-6]
                elif name.endswith(" mark"):
                    above[name] = name[:-5] + " inner"
            equal(tree(server), wanted_tree(above, messages_of(store)), seed)
            # As the store says it of its one segment.
            equal(sorted(server.rows("SELECT row_id, parent_row, depth, path FROM nvtxt.tree")),
                  sorted(texts(rows_of(store, "SELECT row, parentRow, depth, path FROM NVTXT_TREE"))), seed)


def test_circles_are_cut():
    with database() as server, Folder() as folder:
        names = "abcdx"
        files = {"%s.nvtxt" % name: run_line(name, 10 + at, 90 - at, at + 1) for at, name in enumerate(names)}
        # a, b, c are a circle, d is under it, x is its own parent.
        sources = {"a.nvtxt": (1, token(3, "run")), "b.nvtxt": (2, token(1, "run")), "c.nvtxt": (3, token(2, "run")),
                   "d.nvtxt": (4, token(2, "run")), "x.nvtxt": (5, token(5, "run"))}
        store = make_store(folder, sources, {name: ("run", None) for name in names}, files)
        good("init", "--target", server.target())
        ship(server, store)
        equal(tree(server), wanted_tree({"b": "a", "c": "b", "d": "b"}, names))


def test_a_long_chain_of_sessions_without_ranges_is_followed_as_far_as_nvtxt_report_does():
    with database() as server, Folder() as folder:
        looks = (1, 2, 99, 100, 101)  # so many sessions are looked at for what is under it
        store = make_store(folder, {"command.nvtxt": (1, None)}, {"command": ("run", None)},
                           {"command.nvtxt": run_line("command", 10, 90, 1),
                            **{"%d.nvtxt" % count: run_line("%d looks" % count, 20, 30, 1 + count)
                               for count in looks}})
        sessions = [SESSIONS[0]] + ["%08x-0000-4000-8000-000000000000" % (100 + hop) for hop in range(1, 101)]
        with changed(store) as there:
            for above, session in zip(sessions, sessions[1:]):  # of each the range is not there
                there.execute("INSERT INTO NVTXT_SOURCES (kind, sessionId, peerUid, parent, openedNs, lines, events, "
                              "warnings, errors) VALUES ('unix', ?, 1000, ?, 0, 0, 0, 0, 0)", (session, above + ":run"))
            for count in looks:
                there.execute("UPDATE NVTXT_SOURCES SET peerUid = 1000, parent = ? WHERE name LIKE ?",
                              (sessions[count - 1] + ":run", "%%/%d.nvtxt" % count))
        good("init", "--target", server.target())
        ship(server, store)
        above = {"%d looks" % count: "command" for count in looks if count <= 100}
        equal(tree(server), wanted_tree(above, messages_of(store)))
        in_processes = [row[0] for row in server.rows("SELECT path FROM nvtxt.tree WHERE depth > 0")]
        equal(sorted(in_processes), sorted(path for path in paths(store) if ";" in path))


def test_a_tree_of_a_span_of_time_has_no_other_rows():
    one_server("it joins without the store")
    with database() as server, Folder() as folder:
        good("init", "--target", server.target())
        ship(server, make_build(folder))
        count = "SELECT count(*) FROM nvtxt.tree_of((SELECT store_id FROM nvtxt.stores), %s, 'infinity')"
        equal([server.one(count % since) for since in ("'-infinity'", "now() + interval '1 day'")], ["12", "0"])
        server.rows("DELETE FROM nvtxt.events WHERE text = 'make -j2'")  # a day that went
        equal(tree(server)["cc a"], (None, 0, "cc a"))
        equal(tree(server)["cc b"], ("make sub", 1, "make sub;cc b"))


# ---- Back again ---------------------------------------------------------------------------------

def test_a_pull_brings_keys_and_parents_back():
    with database() as server, Folder() as folder:
        store = make_build(folder)
        good("init", "--target", server.target())
        ship(server, store)
        good("pull", "--target", server.target(), "--host", "one", "-o", folder.name("back"))
        for sql in ("SELECT e.text, k.key, k.parent, s.sessionId FROM NVTXT_RANGE_KEYS k JOIN NVTX_EVENTS e ON "
                    "e.rowid = k.eventRow JOIN NVTXT_SOURCES s ON s.id = k.sourceId ORDER BY 1",
                    "SELECT id, parent FROM NVTXT_SOURCES ORDER BY id"):
            equal(rows_of(folder.name("back"), sql), rows_of(store, sql))
        equal(parents_of(folder.name("back")), parents_of(store))


# ---- Versions -----------------------------------------------------------------------------------

def test_a_schema_of_version_2_is_brought_up_while_a_host_ships():
    one_server("it is one of one server")
    with database() as server, a_build() as (daemon, make):
        role(server, "a")
        make_version_2(server)
        target = ("--target", server.target(user="a"), "--store", daemon.store, "--host", "one")
        good("--dry-run", *target)
        with Shipper(*target, "--interval", "50ms"):
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == "2", "what was there")
            with tempfile.TemporaryDirectory() as place:  # of an older schema
                good("pull", "--target", server.target(), "--host", "one", "-o", os.path.join(place, "back"))
                equal(rows_of(os.path.join(place, "back"), "SELECT count(*) FROM NVTXT_RANGE_KEYS"), [(0,)])
            good("init", "--target", server.target())
            equal(server.rows("SELECT version, compatible FROM nvtxt.meta"), [("4", "4")])
            # What the segment has of before is brought, too.
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.range_keys") == "1", "the key of before")
            end_build(daemon, make)
            wait_for(lambda: server.one("SELECT count(*) FROM nvtxt.events") == "4", "the rest")
        good("--once", *target)
        compare_store(server, daemon.segments())
        equal(tree(server), wanted_tree(BUILD, ["make", "early", "step", "program"]))


def test_the_step_gives_what_a_new_schema_has():
    with database() as server, database() as fresh:
        make_version_2(server)
        good("init", "--target", server.target())
        good("init", "--target", fresh.target())
        for sql in ("SELECT relname, relkind, relrowsecurity FROM pg_class WHERE relnamespace = "
                    "'nvtxt'::regnamespace AND relname !~ '^events_' ORDER BY 1",
                    "SELECT table_name, grantee, privilege_type FROM information_schema.table_privileges WHERE "
                    "table_schema = 'nvtxt' AND table_name !~ '^events_' ORDER BY 1, 2, 3",
                    "SELECT tablename, policyname, cmd, qual FROM pg_policies WHERE schemaname = 'nvtxt' "
                    "ORDER BY 1, 2",
                    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'nvtxt'::regnamespace ORDER BY 1"):
            equal(server.rows(sql), fresh.rows(sql), sql)


def test_a_store_of_an_older_version_is_shipped():
    one_server("it is one of one server")
    with database() as server, Folder() as folder:
        store = make_store(folder, {}, {}, {"a.nvtxt": run_line("a", 1, 2, 3)})
        with contextlib.closing(sqlite3.connect(store)) as there:
            for (name,) in there.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
                there.execute("DROP VIEW %s" % name)
            there.executescript("DROP TABLE NVTXT_RANGE_KEYS; ALTER TABLE NVTXT_SOURCES DROP COLUMN parent; "
                                "PRAGMA user_version = 6")
        good("init", "--target", server.target())
        ship(server, store)
        equal(server.rows("SELECT text FROM nvtxt.events"), [("a",)])
        equal(server.one("SELECT count(*) FROM nvtxt.range_keys"), "0")
        equal(tree(server), wanted_tree({}, ["a"]))


def test_a_host_adds_keys_and_parents_of_its_own_store_alone():
    with database() as server, Folder() as folder:
        good("init", "--target", server.target())
        for name in ("a", "b"):
            role(server, name)
        good("--once", "--target", server.target(user="a"), "--store", make_build(folder), "--host", "a")
        number = server.one("SELECT store_id FROM nvtxt.stores")
        for sql in ("INSERT INTO nvtxt.range_keys VALUES (%s, 0, 99, 1, 'k', NULL)",
                    "INSERT INTO nvtxt.source_parents VALUES (%s, 99, 'x')"):
            status, _, said = server.psql(sql % number, user="b")
            equal((status != 0, "row-level security" in said), (True, True), said)
            equal(server.psql(sql % number, user="a")[0], 0)
        for sql in ("UPDATE nvtxt.range_keys SET key = 'x'", "DELETE FROM nvtxt.source_parents",
                    "UPDATE nvtxt.source_parents SET parent = 'x'", "TRUNCATE nvtxt.range_keys"):
            equal(server.psql(sql, user="a")[0] != 0, True, sql)
        equal(server.rows("SELECT count(*) FROM nvtxt.range_keys", user="b"), [("0",)])
        server.rows("CREATE ROLE reader LOGIN IN ROLE nvtxt_read")
        equal(server.rows("SELECT count(*) FROM nvtxt.tree", user="reader"), [("12",)])


if __name__ == "__main__":
    run(globals())
