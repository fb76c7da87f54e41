# SPDX-License-Identifier: Apache-2.0
"""nvtxt-ship pull: a host's rows back as a store, which says the same as the host's own."""
import contextlib
import csv
import io
import os
import shutil
import signal
import sqlite3
import tempfile

from client import run_client
from lib import Daemon, equal, run, wait_for
from postgres import database, one_server
from ship import Shipper, good, refused, rows_of, write

HEAD = 'TimeBase = Manual\n' \
       '@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload, Domain, Json\n' \
       '@RangePush, Time, ProcessId, ThreadId, Message\n@RangePop, Time, ProcessId, ThreadId\n'
TEXTS = ("tab\\there", "back\\\\slash", "\\\\N", "gr\u00fc\u00df \U0001F600", "x" * 3000)
PAYLOADS = ("u64:18446744073709551615", "i64:-9", "u32:4294967295", "i32:-2147483648", "f64:0.1",
            "f32:-inf", "f64:inf")


def lines(first):
    text = HEAD + 'SetCategoryName, 1, "one"\nSetThreadName, 7, 8, "eight"\nSetProcessName, 7, "seven"\n'
    for number, message in enumerate(TEXTS):
        text += 'Marker, %d, 7, 8, %d, 0xFF00FF00, "%s", %d, "%s", ""\n' % (
            first + number, number % 2, message, number, "dom" if number % 2 else "")
    for number, payload in enumerate(PAYLOADS):
        text += 'Marker, %d, 7, 9, 0, Red, "p", "%s", "", "{}"\n' % (first + 100 + number, payload)
    return text + 'RangePush, %d, 7, 8, "outer"\nRangePush, %d, 7, 8, "never closed"\n' \
        'RangePop, %d, 7, 8\nnonsense, "a\n' % (first + 200, first + 201, first + 210)


def exported(path):
    """The rows that nvtxt-export writes of a store, without their numbers there."""
    status, out, said = run_client("nvtxt-export", "--store", path, "--format", "csv", "-q")
    equal(status, 0, said)
    rows = list(csv.DictReader(io.StringIO(out)))
    for row in rows:
        del row["eventRow"]
    return rows


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="nvtxt-pull-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def is_sound(path):
    """What nvtxt-ctl verify says of the store."""
    with Daemon(start=False) as daemon:
        shutil.copy(path, daemon.store)
        daemon.start()
        found = daemon.control("verify")
        equal((found["sound"], found["problems"]), (True, []))


def test_a_store_comes_back_as_it_was():
    with database() as server, Daemon() as daemon, folder() as place:
        target = ("--target", server.target(), "--store", daemon.store, "--host", "one")
        good("init", *target)
        for number in range(3):
            with daemon.session(escapes=True, nvtx=1, name="source %d" % number) as session:
                session.send(lines(1000 * number))
            daemon.flush()
        daemon.settled()
        good("--once", *target)
        out = os.path.join(place, "back.sqlite")
        equal(good("pull", "--target", server.target(), "--host", "one", "-o", out), "")
        equal(os.listdir(place), ["back.sqlite"])
        wanted = exported(daemon.store)
        equal(len(wanted) > 30, True)
        equal(exported(out), wanted)
        equal(rows_of(out, "SELECT severity, code, message FROM NVTXT_DIAGNOSTICS ORDER BY rowid"),
              rows_of(daemon.store, "SELECT severity, code, message FROM NVTXT_DIAGNOSTICS ORDER BY rowid"))
        equal(rows_of(out, "SELECT count(*) FROM NVTXT_UNCLOSED"),
              rows_of(daemon.store, "SELECT count(*) FROM NVTXT_UNCLOSED"))
        own, = rows_of(daemon.store, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        new, = rows_of(out, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
        assert own != new and len(new[0]) == 36, (own, new)
        is_sound(out)


CATEGORIES = '''TimeBase = Manual
@Marker, Time, ProcessId, ThreadId, CategoryId, Message
@SetCategoryName, CategoryId, Name
ProcessId = 0
SetCategoryName, 5, "five of 0"
ProcessId = 7
SetCategoryName, 5, "five of 7"
ProcessId = 9
SetCategoryName, 6, "six of all"
SetCategoryName, 0, "none of 9"
Marker, 1, 0, 0, 5, "a"
Marker, 2, 7, 7, 5, "b"
Marker, 3, 8, 8, 5, "c"
Marker, 4, 9, 9, 6, "d"
Marker, 5, 8, 8, 6, "e"
Marker, 6, 8, 8, 0, "f"
Marker, 7, 9, 9, 0, "g"
'''


def test_categories_of_process_0_and_of_all_processes_come_back():
    """Those of all processes (kind 33) are from older versions."""
    with database() as server, folder() as place:
        store, out = (os.path.join(place, name) for name in ("store", "out"))
        text = write(place, "text", CATEGORIES)
        equal(run_client("nvtxt-import", "create", "-n", text, "-o", store)[0], 0)
        with contextlib.closing(sqlite3.connect(store)) as db, db:
            db.execute("UPDATE NVTXT_NAME_ROWS SET kind = 33, key = 6 WHERE kind = 3 AND key % 256 = 6")
        wanted = exported(store)
        equal([row["category"] for row in wanted],
              ["five of 0", "five of 7", "5", "six of all", "six of all", "", "none of 9"])
        good("init", "--target", server.target())
        good("--once", "--target", server.target(), "--store", store, "--host", "all")
        equal(server.rows("SELECT category FROM nvtxt.timeline ORDER BY row_id"),
              [(row["category"] or None,) for row in wanted])
        equal(server.rows("SELECT pid, category, name FROM nvtxt.categories ORDER BY 1, 2"),
              [("-1", "6", "six of all"), ("0", "5", "five of 0"), ("7", "5", "five of 7"),
               ("9", "0", "none of 9")])
        good("pull", "--target", server.target(), "--host", "all", "-o", out)
        equal(exported(out), wanted)
        names = "SELECT category FROM NVTXT_TIMELINE ORDER BY eventRow"
        equal(rows_of(out, names), rows_of(store, names))


LINE = "TimeBase = Manual\n@Marker, Time, Message, Payload\n"
LOG = LINE + 'Marker, 1, "broken", 3\nMarker, 2, "no level", ""\nMarker, 3, "chatter", 7\n'


ERRORS = "SELECT text FROM nvtxt.events JOIN nvtxt.logs USING (store_id, source_id) WHERE " \
    "event_type = 34 AND payload_type = 2 AND int64_value BETWEEN 0 AND 3"


def test_a_pull_takes_its_time():
    with database() as server, Daemon() as daemon, folder() as place:
        target = ("--target", server.target(), "--store", daemon.store, "--host", "slow")
        good("init", *target)
        daemon.send(lines(0))
        daemon.settled()
        good("--once", *target)
        server.rows("CREATE FUNCTION nvtxt.slow(text) RETURNS text LANGUAGE plpgsql AS "
                    "'BEGIN PERFORM pg_sleep(3); RETURN $1; END'; "
                    "ALTER TABLE nvtxt.domains RENAME TO d; CREATE VIEW nvtxt.domains AS SELECT "
                    "store_id, domain_id, nvtxt.slow(name) AS name FROM nvtxt.d; "
                    "ALTER DATABASE %s SET statement_timeout = '2s'" % server.database)
        good("pull", *target, "-o", os.path.join(place, "back"))


def test_levels_of_a_log_come_back():
    one_server("it puts an older table in place")
    with database() as server, Daemon() as daemon, folder() as place:
        target = ("--target", server.target(), "--store", daemon.store, "--host", "log")
        out = [os.path.join(place, name) for name in "abc"]
        good("init", *target)
        with daemon.session(levels=True) as session:
            session.send(LOG)
            session.ack(5)
        with daemon.session() as session:  # not a log, with the payload of an error
            session.send(LINE + 'Marker, 4, "third", 3\n')
            session.ack(3)
        daemon.settled()
        good("--once", *target)
        equal(server.rows(ERRORS), [("broken",)])
        wanted = exported(daemon.store)
        equal([(row["message"], row["level"]) for row in wanted],
              [("broken", "err"), ("no level", ""), ("chatter", "debug"), ("third", "")])
        good("pull", *target, "-o", out[0])
        equal(exported(out[0]), wanted)
        server.rows("ALTER TABLE nvtxt.logs RENAME TO gone")  # as in a schema that was made before
        good("pull", *target, "-o", out[1])
        equal({row["level"] for row in exported(out[1])}, {""})
        daemon.send(LINE + 'Marker, 5, "more", 1\n')
        good("--once", *target)
        good("init", *target)
        daemon.send(LINE + 'Marker, 6, "and more", 1\n')
        good("--once", *target)
        good("pull", *target, "-o", out[2])
        equal(exported(out[2]), exported(daemon.store))


def test_a_span_and_several_segments_come_back():
    with database() as server, Daemon() as daemon, folder() as place:
        target = ("--target", server.target(), "--store", daemon.store, "--host", "two")
        good("init", *target)
        for number in range(3):
            daemon.send("TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, CategoryId, Message\n"
                        'SetProcessName, 7, "p%d"\nSetThreadName, 7, 8, "t%d"\nProcessId = 7\n'
                        'SetCategoryName, 1, "c%d"\n' % (number, number, number) + "".join(
                'Marker, %d, 7, 8, 1, "%d of %d"\n' % (n, n, number) for n in range(50)))
            if number < 2:
                daemon.control("rotate")
        daemon.settled()
        good("--once", *target)
        everything = [row for path in daemon.segments() for row in exported(path)]
        out = os.path.join(place, "all")
        good("pull", "--target", server.target(), "--host", "two", "-o", out)
        equal([row["message"] for row in exported(out)], [row["message"] for row in everything])
        is_sound(out)
        (middle,), = rows_of(daemon.segments()[1], "SELECT committedNs FROM NVTXT_BATCHES LIMIT 1")
        out = os.path.join(place, "middle")
        good("pull", "--target", server.target(), "--host", "two", "-o", out, "--since", str(middle),
             "--until", str(middle))
        equal(exported(out), exported(daemon.segments()[1]))
        equal(rows_of(out, "SELECT count(*) FROM NVTXT_SOURCES"), [(1,)])
        is_sound(out)
        out = os.path.join(place, "none")
        good("pull", "--target", server.target(), "--host", "two", "-o", out, "--until", "1970-01-02")
        equal(exported(out), [])
        is_sound(out)


def test_bad_input():
    with database() as server, Daemon() as one, Daemon() as two, folder() as place:
        target = ("--target", server.target())
        out = ("-o", os.path.join(place, "out"))
        refused(76, "run nvtxt-ship init", "pull", *target, "--host", "x", *out)
        good("init", *target)
        for daemon in (one, two):
            daemon.send('TimeBase = Manual\n@Marker, Time, Message\nMarker, 1, "of %s"\n' % daemon.folder)
            daemon.flush()
            good("--once", *target, "--store", daemon.store, "--host", "twin")
        ids = [row[0] for row in server.rows("SELECT store FROM nvtxt.stores ORDER BY store")]
        refused(64, "--store-id: " + ", ".join(ids), "pull", *target, "--host", "twin", *out)
        refused(66, "of the host nobody", "pull", *target, "--host", "nobody", *out)
        refused(64, "-o FILE", "pull", *target, "--host", "twin")
        refused(64, "-o FILE", "pull", *target, "--host", "twin", "-o", "-")
        equal(os.listdir(place), [])
        for text in ("", "mine"):
            with open(out[1], "w", encoding="utf-8") as file:
                file.write(text)
            refused(73, out[1] + " exists; choose another name\n", "pull", *target, "--store-id",
                    ids[0], *out)
            with open(out[1], encoding="utf-8") as file:
                equal(file.read(), text)
        refused(73, "/nonexistent/", "pull", *target, "--store-id", ids[0], "-o", "/nonexistent/out")
        for number, store in enumerate(ids):
            path = os.path.join(place, str(number))
            good("pull", *target, "--store-id", store.upper(), "-o", path)
            equal(len(exported(path)), 1)


def test_a_reader_may_pull_and_a_shipper_may_not():
    with database() as server, Daemon() as daemon, folder() as place:
        good("init", "--target", server.target(), "--schema", "pulled")
        server.rows("CREATE ROLE pull_reader LOGIN IN ROLE pulled_read; "
                    "CREATE ROLE pull_shipper LOGIN IN ROLE pulled_ship")
        daemon.send('TimeBase = Manual\n@Marker, Time, Message\nMarker, 1, "x"\n')
        daemon.flush()
        ship = ("--target", server.target(user="pull_shipper"), "--schema", "pulled", "--host", "r")
        good("--once", *ship, "--store", daemon.store)
        read = ("--target", server.target(user="pull_reader"), "--schema", "pulled", "--host", "r")
        good("pull", *read, "-o", os.path.join(place, "a"))
        for host in ("r", "of_another"):
            refused(77, "permission denied for table events: GRANT pulled_read TO pull_shipper\n",
                    "pull", *ship, "--host", host, "-o", os.path.join(place, "b"))
        equal(os.listdir(place), ["a"])
        server.rows("DROP ROLE pull_reader; DROP ROLE pull_shipper")


def test_a_pull_that_a_signal_ends_makes_no_file():
    with database() as server, Daemon() as daemon, folder() as place:
        good("init", "--target", server.target())
        args = ("--target", server.target(), "--host", "h")
        good("--once", *args, "--store", daemon.store)
        with server.held("LOCK nvtxt.domains IN ACCESS EXCLUSIVE MODE"), \
                Shipper("pull", *args, "-o", os.path.join(place, "a")) as puller:
            wait_for(lambda: server.rows("SELECT 1 FROM pg_stat_activity WHERE application_name = "
                                         "'nvtxt-ship' AND wait_event_type = 'Lock'"), "it waits")
            equal(puller.stop(), 128 + signal.SIGTERM, puller.said())
            equal(puller.said(), "")
        equal(os.listdir(place), [])


run(globals())
