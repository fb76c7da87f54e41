# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship --once, --dry-run and --from: what the engine has is what the store has."""
import os
import shutil
import sqlite3
import tempfile

from client import run_client
from lib import Daemon, equal, run, wait_for
from postgres import database, one_server
from ship import (compare_store, events_in, good, marker, refused, run_ship, segment_number,
                  snapshot)

HEAD = "TimeBase = Manual\n"
MARKER = '@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload\n'
RANGES = '@RangePush, Time, ProcessId, ThreadId, Message\n@RangePop, Time, ProcessId, ThreadId\n' \
         '@RangeStart, Time, RangeId, Message\n@RangeEnd, Time, RangeId\n'
ODD = ["tab\there", "back\\slash", "\\N", "NULL", "", "{a,\"b\"}", "gr\u00fc\u00df \U0001F600",
       "x" * 5000, "two\nlines", "\r cr"]


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def fill(daemon):
    """Three segments: odd texts, faults, names, payloads of every type, unclosed ranges, and a
    session that stays open."""
    session = daemon.session(escapes=True, nvtx=1, name="open")
    lines = [HEAD.strip(), "@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload, "
             "Domain, Json"]
    for number, text in enumerate(ODD):
        lines.append("Marker, %d, 7, 8, %d, 0xFF00FF00, %s, %d, \"%s\", \"\""
                     % (number, number % 3, quoted(text), number, "dom" if number % 2 else ""))
    for number, payload in enumerate(('"u64:18446744073709551615"', '"i64:-9"', '"u32:4294967295"',
                                      '"i32:-2147483648"', '"f64:0.1"', '"f32:-inf"', '"f64:inf"')):
        lines.append('Marker, %d, 7, 9, 0, Red, "p", %s, "", "{}"' % (100 + number, payload))
    session.send("\n".join(lines) + "\n")
    session_lines = len(lines) + 8
    session.send(RANGES + 'RangePush, 200, 7, 8, "outer"\nRangePush, 201, 7, 8, "inner"\n'
                 'RangePop, 210, 7, 8\nRangeStart, 220, 5, "started"\n')
    with daemon.plain() as connection:
        connection.send(HEAD + MARKER + 'SetProcessName, 7, "seven"\nMarker, 1, 7, 8, 1, Red, "x", 5\n'
                'nonsense, "a\n')
    with daemon.plain() as connection:
        connection.send((HEAD + RANGES).encode() + b'RangePush, 1, 3, 4, "never closed"\n'
                        b'broken \xff\xfe \x00 line, "q\n')
    wait_for(lambda: daemon.control("status")["connections"] == 1, "only the session is left")
    session.ack(session_lines)
    daemon.flush()
    daemon.control("rotate")
    session.send('SetCategoryName, 1, "one"\nSetThreadName, 7, 8, "eight"\n'
                 'RangeEnd, 230, 5\nMarker, 231, 7, 8, 1, Red, "after", 5, "dom", ""\n')
    daemon.flush()
    daemon.control("rotate")
    session.send('SetThreadName, 7, 8, "eight again"\nMarker, 240, 7, 8, 2, Red, "last", 5, "", ""\n'
                 'RangePush, 250, 7, 8, "still open"\n')
    wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'last'") == [(1,)]
             and daemon.query("SELECT count(*) FROM NVTXT_OPEN_RANGES") == [(2,)],
             "the last line is committed")
    daemon.flush()
    return session


def test_every_row_of_every_table_is_there():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        with fill(daemon):
            paths = daemon.segments()
            equal(len(paths), 3)
            wanted = "".join("%d events of segment %d\n" % (len(events_in(path)),
                                                            segment_number(path)) for path in paths)
            before = snapshot(server)
            equal(good("--dry-run", *target), wanted)
            equal(snapshot(server), before)
            equal(good("--once", *target, "--label", "rack=7", "--label", "a=\"q\""), "")
            compare_store(server, paths)
            equal(server.rows("SELECT labels->>'rack', labels->>'a' FROM nvtxt.stores"),
                  [("7", '"q"')])
            equal(server.rows("SELECT shipper FROM nvtxt.cursors"), [(None,)])
            before = snapshot(server)
            good("--once", *target, "--label", "rack=7", "--label", "a=\"q\"")
            equal(good("--dry-run", *target), "0 events of segment 3\n")
            good("init", *target)
            equal(snapshot(server), before)
            equal(server.rows("SELECT message, pid, tid FROM nvtxt.running ORDER BY seq"),
                  [("outer", "7", "8"), ("still open", "7", "8")])
        daemon.settled()
        good("--once", *target, "--label", "rack=7", "--label", "a=\"q\"")
        compare_store(server, paths)


def test_arrays_have_nulls_whatever_the_database_says():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        server.rows("ALTER DATABASE %s SET array_nulls = off" % server.database)
        daemon.send(marker("a"))
        daemon.settled()
        good("--once", *target)
        compare_store(server, daemon.segments())


def test_rows_that_need_more_columns_than_those_before_them():
    plain = "@Marker, Time, Message\n" + 2500 * 'Marker, 1, "plain"\n'
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        lines = (HEAD + RANGES + plain + '@Marker, Time, Color, Message\nMarker, 1, Red, "red"\n' + plain +
                 '@Marker, Time, Payload, Domain, Json, Message\n'
                 'Marker, 1, "f64:0.5", "far", "{}", "real"\n' + plain +
                 'RangeStart, 3002, 5, "range"\nRangeEnd, 3003, 5\n')
        with daemon.session(nvtx=1) as session:
            session.send(lines)
            session.ack(lines.count("\n"))
        daemon.flush()
        good("--once", *target)
        compare_store(server, daemon.segments())
        equal(server.rows("SELECT count(*), count(color), count(double_value), count(domain_id), "
                          "count(json_text), count(range_id), count(DISTINCT xmin::text) "
                          "FROM nvtxt.events"), [("7503", "1", "1", "1", "1", "1", "1")])


def test_timeline_says_what_the_view_of_the_store_says():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        with fill(daemon):
            good("--once", *target)
            for path in daemon.segments():
                store = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
                wanted = store.execute(
                    'SELECT eventRow, duration, kind, message, category, color, process, thread, '
                    'source, domain, pid, tid, start, "end", sourceId FROM NVTXT_TIMELINE '
                    'ORDER BY eventRow').fetchall()
                store.close()
                got = server.rows(
                    "SELECT row_id, duration, kind, message, category, color, process, thread, source, "
                    "domain, pid, tid, start_ns, end_ns, source_id FROM nvtxt.timeline WHERE segment = "
                    "%d ORDER BY row_id" % segment_number(path))
                equal(got, [tuple(None if value is None else str(value) for value in row)
                            for row in wanted], path)
            equal(server.rows("SELECT payload FROM nvtxt.timeline WHERE message = 'p' ORDER BY row_id"),
                  [("18446744073709551615",), ("-9",), ("4294967295",), ("-2147483648",), ("0.1",),
                   ("-Infinity",), ("Infinity",)])


def test_what_is_committed_later_comes_with_the_next_run():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        good("--once", *target)
        for number in range(4):
            daemon.send(HEAD + MARKER + 'Marker, %d, 7, 8, 1, Red, "m%d", 5\n' % (number, number))
            if number % 2:
                daemon.control("rotate")
            good("--once", *target)
            compare_store(server, daemon.segments())
        equal(server.rows("SELECT message FROM nvtxt.timeline ORDER BY segment, row_id"),
              [("m%d" % number,) for number in range(4)])


def test_from_says_where_a_new_store_begins():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "old", 5\n')
        good("--once", *target, "--from", "now")
        daemon.send(HEAD + MARKER + 'Marker, 2, 7, 8, 1, Red, "new", 5\n')
        good("--once", *target, "--from", "beginning")
        equal(server.rows("SELECT text FROM nvtxt.events"), [("new",)])
        (second,), = daemon.query("SELECT committedNs FROM NVTXT_BATCHES ORDER BY id DESC LIMIT 1")
        for schema, when, wanted in (("a", second, ["new"]), ("b", second + 1, []),
                                     ("c", second - 1, ["new"]), ("d", 0, ["old", "new"])):
            good("init", "--target", server.target(), "--schema", schema)
            good("--once", *target, "--schema", schema, "--from", str(when))
            equal(server.rows("SELECT text FROM %s.events ORDER BY row_id" % schema),
                  [(text,) for text in wanted], schema)


def test_a_plain_file_is_segment_0():
    with database() as server, tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as folder:
        good("init", "--target", server.target())
        source, store = os.path.join(folder, "s.nvtxt"), os.path.join(folder, "store.sqlite")
        with open(source, "w", encoding="utf-8") as file:
            file.write(HEAD + MARKER)
            file.writelines('Marker, %d, 7, 8, 1, Red, "m", 5\n' % number for number in range(9000))
        equal(run_client("nvtxt-import", "create", "-q", "-n", source, "-o", store)[0], 0)
        equal(good("--dry-run", "--target", server.target(), "--store", store),
              "9000 events of segment 0\n")
        good("--once", "--target", server.target(), "--store", store, "--host", "imported")
        compare_store(server, [store])
        equal(server.rows("SELECT host, events, behind_rows, lost FROM nvtxt.fleet"),
              [("imported", "9000", "0", "0")])


def test_days_that_are_not_kept_are_passed_over_and_told():
    one_server("what is in the way of a day is not told")
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target, "--keep-days", "2")
        for number in range(3):
            daemon.send(HEAD + MARKER + 'Marker, %d, 7, 8, 1, Red, "m%d", 5\n' % (number, number))
        daemon.stop()
        store = sqlite3.connect(daemon.store)
        store.execute("UPDATE NVTXT_BATCHES SET committedNs = committedNs - 3 * 86400000000000 "
                      "WHERE id < 3")
        store.execute("UPDATE NVTXT_BATCHES SET committedNs = committedNs - 86400000000000 "
                      "WHERE id = 3")
        store.commit()
        store.close()
        day = server.one("SELECT to_char((now() AT TIME ZONE 'UTC')::date - 1, 'YYYYMMDD')")
        server.rows("CREATE TABLE nvtxt.events_%s (i integer)" % day)
        refused(69, "); a table events_YYYYMMDD of that day may be in the way", "--once", *target)
        server.rows("DROP TABLE nvtxt.events_" + day)
        good("--once", *target)
        equal(server.rows("SELECT text FROM nvtxt.events"), [("m2",)])
        equal(server.rows("SELECT segment, row_id, reason, count FROM nvtxt.losses"),
              [("1", "-2", "expired", "2")])
        good("--once", *target)
        equal(server.one("SELECT count(*) FROM nvtxt.losses"), "1")
        daemon.start()


def test_a_clock_that_leapt_ahead_holds_nothing_up():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        for number in range(2):
            daemon.send(HEAD + MARKER + 'Marker, %d, 7, 8, 1, Red, "m%d", 5\n' % (number, number))
        daemon.stop()
        store = sqlite3.connect(daemon.store)
        store.execute("UPDATE NVTXT_BATCHES SET committedNs = committedNs + 10 * 86400000000000 "
                      "WHERE id = 1")
        store.commit()
        store.close()
        good("--once", *target)
        equal(server.rows("SELECT text, committed = ((now() AT TIME ZONE 'UTC')::date + 3)::timestamp "
                          "AT TIME ZONE 'UTC' - interval '1 us' FROM nvtxt.events ORDER BY row_id"),
              [("m0", "t"), ("m1", "f")])
        before = snapshot(server)
        good("--once", *target)
        equal(snapshot(server), before)
        daemon.start()


def test_what_is_no_store_of_ours():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target())
        good("init", *target)
        missing = os.path.join(daemon.folder, "missing.sqlite")
        refused(66, missing, "--once", *target, "--store", missing)
        link = os.path.join(daemon.folder, "link")
        os.symlink(missing, link)
        refused(66, link + " is a link to nowhere", "--once", *target, "--store", link)
        refused(66, "/dev/null is not a regular file", "--once", *target, "--store", "/dev/null")
        for name, data in (("text", b"no database at all, but longer than a header " * 9),
                           ("empty", b"")):
            path = os.path.join(daemon.folder, name)
            with open(path, "wb") as file:
                file.write(data)
            refused(65, path, "--once", *target, "--store", path)
        path = os.path.join(daemon.folder, "foreign")
        foreign = sqlite3.connect(path)
        foreign.execute("CREATE TABLE t (x)")
        foreign.commit()
        foreign.close()
        refused(65, "%s is a database without a table of NVTX events: name a store\n" % path, "--once",
                *target, "--store", path)
        daemon.stop()
        old = sqlite3.connect(daemon.store)
        old.execute("DELETE FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        old.commit()
        old.close()
        refused(65, "start nvtxtd", "--once", *target, "--store", daemon.store)
        given = "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001"
        good("--once", *target, "--store", daemon.store, "--store-id", given)
        equal(server.one("SELECT store FROM nvtxt.stores"), given)
        daemon.start()


def test_a_clone_is_refused_and_nothing_is_written():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "one", 5\n')
        daemon.stop()
        clone = os.path.join(daemon.folder, "clone")
        shutil.copytree(daemon.folder, clone, symlinks=True)
        daemon.start()
        daemon.send(HEAD + MARKER + 'Marker, 2, 7, 8, 1, Red, "two", 5\n')
        good("--once", *target, "--host", "original")
        before = snapshot(server, but=())
        cloned = ("--target", server.target(), "--store",
                  os.path.join(clone, os.path.basename(daemon.store)), "--host", "copy")
        said = refused(65, "it was cloned or restored; give it an identity of its own with "
                       "--store-id", "--once", *cloned)
        (identity,), = daemon.query("SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        equal(identity in said, True, said)
        refused(65, "--store-id", "--dry-run", *cloned)
        equal(snapshot(server, but=()), before)
        good("--once", *cloned, "--store-id", "0190c0f6-7d3a-7b41-9f36-12cbb0f1a001")
        equal(server.rows("SELECT host, message FROM nvtxt.timeline ORDER BY 1, 2"),
              [("copy", "one"), ("original", "one"), ("original", "two")])


def test_a_transaction_is_bounded():
    with database() as server, Daemon() as daemon:
        target = ("--target", server.target(), "--store", daemon.store)
        good("init", *target)
        with daemon.plain() as connection:
            connection.send("@Marker, Time, Message\n" + 150 * ('Marker, 1, "%s"\n' % (64000 * "x")) +
                            40000 * 'Marker, 1, "m"\n')
        daemon.settled()
        good("--once", *target)
        equal(server.rows(
            "SELECT sum(rows), max(rows) <= 32768, max(bytes) <= 8 << 20 FROM (SELECT count(*) "
            "AS rows, sum(octet_length(text)) AS bytes FROM nvtxt.events GROUP BY xmin::text) AS t"),
              [("40150", "t", "t")])


def test_names_that_are_no_text():
    with database() as server, Daemon() as daemon, \
            tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as folder:
        args = ("--once", "--target", server.target(), "--store")
        good("init", "--target", server.target())
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "one", 5\n')
        link = os.path.join(folder.encode(), b"x\xff")
        os.symlink(daemon.folder, link)
        store = os.path.join(link, os.path.basename(daemon.store).encode())
        good(*args, store)
        equal(server.one("SELECT path FROM nvtxt.stores"),
              os.path.join(folder, "x\ufffd", os.path.basename(daemon.store)))
        for option, value in (("--host", b"h\xff"), ("--label", b"a=\xff"), ("--host", b"h" * 256)):
            refused(64, "UTF-8 is expected", *args, store, option, value)
        path = os.path.join(folder, "c.conf")
        with open(path, "wb") as file:
            file.write(b"[nvtxt-ship]\nHost=h\xff\n")
        refused(78, "c.conf:2: ", *args, store, "-c", path)


def test_what_the_engine_refuses_is_named():
    with database() as server, Daemon() as daemon, \
            tempfile.TemporaryDirectory(prefix="nvtxt-ship-") as folder:
        args = ("--target", server.target(), "--store", daemon.store)
        good("init", *args)
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "one", 5\n')
        server.rows("CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now' "
                    "USING DETAIL = 'It is full.', HINT = 'Come again.'; END $$; "
                    "CREATE TRIGGER no BEFORE INSERT OR DELETE ON nvtxt.segments FOR EACH STATEMENT "
                    "EXECUTE FUNCTION no(); CREATE SCHEMA full_; CREATE TABLE full_.events (i int)")
        why = ": not now: It is full.; Come again.\n"
        refused(69, "the engine refused the rows of segment 1" + why, "--once", *args)
        refused(69, "the engine refused to remove the segments of old days" + why, "maintain", *args)
        refused(69, "the engine refused to make the schema full_: relation ", "init", *args,
                "--schema", "full_")
        server.rows("DROP FUNCTION no CASCADE; ALTER TABLE nvtxt.cursors RENAME segment TO s")
        refused(69, "the engine refused to say how far the store is shipped: column ", "status", *args)
        server.rows("ALTER TABLE nvtxt.cursors RENAME s TO segment")
        good("--once", *args, "--host", "h")
        server.rows("ALTER TABLE nvtxt.domains RENAME name TO n")
        refused(69, "the engine refused to give the rows of the store: column ", "pull", *args[:2],
                "--host", "h", "-o", os.path.join(folder, "a"))


def test_roles():
    with database() as server, Daemon() as daemon:
        good("init", "--target", server.target())
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "one", 5\n')
        server.rows("CREATE ROLE plain LOGIN; CREATE ROLE \"odd-1.x\" LOGIN; CREATE ROLE a LOGIN IN ROLE nvtxt_ship; "
                    "CREATE ROLE b LOGIN IN ROLE nvtxt_ship")
        store = ("--store", daemon.store)
        for who, name in (("plain", "plain"), ("odd-1.x", '"odd-1.x"')):
            refused(77, "GRANT nvtxt_ship TO " + name, "--once", "--target", server.target(user=who),
                    *store)
        good("--dry-run", "--target", server.target(user="a"), *store)
        good("--once", "--target", server.target(user="a"), *store)
        said = refused(77, "belongs to another role than b", "--once", "--target",
                       server.target(user="b"), *store)
        (identity,), = daemon.query("SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        equal(identity in said, True, said)
        for command in ("--dry-run", "status"):
            equal(refused(77, identity, command, "--target", server.target(user="b"), *store), said)
        server.rows("CREATE ROLE c LOGIN IN ROLE nvtxt_ship, nvtxt_read")
        for who in ("c", "postgres"):  # who sees the store all the same
            for command in ("--dry-run", "--once"):
                refused(77, "%s belongs to another role than %s" % (identity, who), command, "--target",
                        server.target(user=who), *store, "--host", "other")
            good("status", "--target", server.target(user=who), *store)
        compare_store(server, daemon.segments())
        equal(run_ship("--once", "--target", server.target(dbname="none"), *store)[0], 77)
        server.rows("DELETE FROM nvtxt.cursors")
        refused(77, identity + " has no row in cursors", "--once", "--target", server.target(user="a"),
                *store)
        refused(76, "run nvtxt-ship init", "--once", "--target", server.target(), "--schema", "no",
                *store)
        server.rows("UPDATE nvtxt.meta SET version = 7, compatible = 5")
        refused(76, "has version 7, ", "--once", "--target", server.target(), *store)


def test_a_dry_run_checks_what_shipping_needs():
    one_server("rights are of tables")
    with database() as server, Daemon() as daemon:
        args = ("--store", daemon.store, "--target", server.target(user="dry"))
        good("init", "--target", server.target())
        server.rows("CREATE ROLE dry LOGIN IN ROLE nvtxt_ship")
        daemon.send(HEAD + MARKER + 'Marker, 1, 7, 8, 1, Red, "one", 5\n')
        rights = (("INSERT ON", "nvtxt.sources"), ("UPDATE (name, started, events, last, complete) ON", "nvtxt.segments"),
                  ("UPDATE (source_id, seq, global_tid, event_type, start_ns, domain_id, category, "
                   "color, text) ON", "nvtxt.open_ranges"),
                  ("EXECUTE ON FUNCTION", "nvtxt.make_partitions(date, date)"),
                  ("EXECUTE ON FUNCTION", "nvtxt.mine(integer)"),
                  ("EXECUTE ON FUNCTION", "nvtxt.check_store(uuid, text)"))
        for right, on in rights:
            server.rows("REVOKE %s %s FROM nvtxt_ship" % (right, on))
            lacks = "lacks %s on %s: " % (right.split()[0], on.split(".")[1].split("(")[0])
            missing = "GRANT %s %s TO nvtxt_ship" % (right, on)
            for command in ("--dry-run", "--once"):
                refused(77, lacks + missing + "\n", command, *args)
            server.rows("REVOKE nvtxt_ship FROM dry; GRANT USAGE ON SCHEMA nvtxt TO dry; "
                        "GRANT SELECT ON nvtxt.meta TO dry")
            refused(77, ": GRANT nvtxt_ship TO dry\n", "--once", *args)
            server.rows("GRANT nvtxt_ship TO dry; " + missing)
        server.rows("ALTER ROLE dry SET default_transaction_read_only = on")
        for command in ("--dry-run", "--once"):
            refused(69, "read-only", command, *args)
        server.rows("ALTER ROLE dry SET default_transaction_read_only = off")
        good("--once", *args)
        server.rows("ALTER ROLE dry SET default_transaction_read_only = on")
        good("status", *args)
        refused(69, "read-only", "--dry-run", *args)


run(globals())
