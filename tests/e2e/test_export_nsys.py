# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export --format nsys: a copy with the times of an export. What is in it, what is selected,
who reads it, and that a merge into it gives what a merge into the store gives."""
import contextlib
import csv
import datetime
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nsight"))

from client import ENV, Folder, Running, contains, run_client  # noqa: E402
from exports import SHAPES, make, query  # noqa: E402
from lib import DEADLINE, SANITIZERS, Daemon, Skip, equal, program, run  # noqa: E402
from small_disk import SmallDisk  # noqa: E402

LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
T = 1795242240 * 10**9  # 2026-11-21T06:24:00Z
HELLO = '#nvtxt-session {"protocol":1,"nvtx":1,"escapes":1}\n'
DEFINITIONS = """\
@RangePush, Time, ProcessId, ThreadId, CategoryId, Color, Message
@RangePop, Time, ProcessId, ThreadId
@RangeStart, Time, ProcessId, ThreadId, RangeId, Message
@RangeEnd, Time, ProcessId, ThreadId, RangeId
@Marker, Time, ProcessId, ThreadId, CategoryId, Message, Payload
@SetCategoryName, CategoryId, Name
@SetThreadName, ProcessId, ThreadId, Name
@SetProcessName, ProcessId, Name
TimeBase = ClockRealtime
"""
STREAM = DEFINITIONS + """\
SetFileDisplayName, "shop"
SetCategoryName, 3, "io"
SetProcessName, 7, "prog, x"
SetThreadName, 7, 8, "worker"
SetThreadName, 9, 9, "worker"
RangePush, %d, 7, 8, 3, Red, "outer"
RangePush, %d, 7, 8, 0, 0, "inner"
RangePop, %d, 7, 8
RangePop, %d, 7, 8
Marker, %d, 7, 8, 3, "worker", "5.25"
SetFileDisplayName, ""
RangeStart, %d, 9, 9, 1, "io"
RangeEnd, %d, 9, 10, 1
Marker, %d, 9, 11, 4, "last", 7
""" % tuple(T + ns for ns in (1000, 1000, 2000, 2000, 2500, 3000, 3700, 9000))
EVENTS = ("SELECT e.start + %d, e.end + %d, eventType, rangeId, text, category, color, globalTid, "
          "domainId, endGlobalTid, uint64Value, int64Value, doubleValue, uint32Value, int32Value, "
          "floatValue, jsonText, (SELECT value FROM StringIds WHERE id = textId) FROM NVTX_EVENTS e")


def export(*args, **more):
    return run_client("nvtxt-export", *args, **more)


def create(folder, text, name="store.sqlite"):
    source = folder.write(name + ".nvtxt", text)
    status, _, err = run_client("nvtxt-import", "create", "-q", "-n", source, "-o",
                                folder.name(name))
    equal(status in (0, 1), True, err)
    return folder.name(name)


def copy(folder, store, *args, name="copy.sqlite", said=""):
    path = folder.name(name)
    if os.path.exists(path):
        os.unlink(path)
    equal(export("--store", store, "--format", "nsys", "-o", path, *args), (0, "", said))
    return path


def session_of(path):
    return query(path, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0][0]


def events_of(path, ranges=True):
    """Every row of NVTX_EVENTS in Unix time."""
    zero = session_of(path)
    rows = [row if ranges else row[:3] + row[4:] for row in query(path, EVENTS % (zero, zero))]
    return sorted(rows, key=repr)


def names_of(path):
    return (sorted(query(path, "SELECT globalTid, value FROM ThreadNames JOIN StringIds "
                               "ON id = nameId")),
            sorted(query(path, "SELECT globalPid, pid, name FROM PROCESSES")))


def refuses(status, part, *args):
    got = export(*args)
    equal(got[:2], (status, ""), got[2])
    contains(got[2], part)
    return got[2]


# ---- What is in it ------------------------------------------------------------------------------

def test_the_times_are_those_of_an_export():
    with Folder() as folder:
        store = create(folder, STREAM)
        path = copy(folder, store)
        equal(query(path, "SELECT start, end, text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"),
              [(0, 1000, "outer"), (0, 1000, "inner"), (1500, 1500, "worker"), (2000, 2700, "io"),
               (8000, 8000, "last")], "in the order of time, the outer range first")
        equal(query(path, "SELECT * FROM ANALYSIS_DETAILS"), [(0, 8000, 0, 8000)])
        local = datetime.datetime.fromtimestamp(T // 10**9).isoformat()
        equal(query(path, "SELECT * FROM TARGET_INFO_SESSION_START_TIME"),
              [(T + 1000, "2026-11-21T06:24:00", local)])
        equal((events_of(path), names_of(path)), (events_of(store), names_of(store)))


def test_it_has_what_an_export_has_and_nothing_else():
    with Folder() as folder:
        path = copy(folder, create(folder, STREAM))
        plain = ["ANALYSIS_DETAILS", "ENUM_NSYS_EVENT_TYPE", "META_DATA_EXPORT", "NVTX_EVENTS",
                 "PROCESSES", "StringIds", "TARGET_INFO_SESSION_START_TIME",
                 "TARGET_INFO_SYSTEM_ENV", "ThreadNames"]
        schema = "SELECT type, name FROM sqlite_master ORDER BY name"
        equal(query(path, schema), [("table", name) for name in plain])
        equal(query(path, "SELECT * FROM pragma_application_id, pragma_user_version, "
                          "pragma_journal_mode, pragma_freelist_count"), [(0, 0, "delete", 0)])
        equal(query(path, "PRAGMA integrity_check"), [("ok",)])
        equal(query(path, "SELECT id, label FROM ENUM_NSYS_EVENT_TYPE WHERE label = name"),
              [(33, "NvtxCategory"), (34, "NvtxMark"), (39, "NvtxThread"),
               (59, "NvtxPushPopRange"), (60, "NvtxStartEndRange"), (75, "NvtxDomainCreate")])
        equal(query(path, "SELECT value FROM StringIds GROUP BY value HAVING count(*) > 1"), [])
        equal(query(path, "SELECT count(*), count(DISTINCT nameId) FROM ThreadNames"), [(4, 3)])
        equal(query(path, "SELECT count(*) FROM NVTX_EVENTS e LEFT JOIN ThreadNames t USING "
                          "(globalTid) LEFT JOIN PROCESSES p ON p.globalPid >> 24 = "
                          "e.globalTid >> 24 WHERE t.nameId IS NULL OR p.name IS NULL"), [(0,)])
        equal(query(path, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'"),
              [(os.uname().nodename,)])
        equal(query(path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'PRODUCT_NAME'"),
              [("nvtxtd",)])
        gpu = copy(folder, folder.name("store.sqlite"), "--with-gpu-tables")
        more = ["CUPTI_ACTIVITY_KIND_" + name for name in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME")]
        equal(query(gpu, schema), [("table", name) for name in sorted(plain + more)])
        equal([query(gpu, "SELECT count(*) FROM " + name) for name in more], [[(0,)]] * 4)


def test_a_copy_of_a_copy_and_of_an_export_is_one():
    with Folder() as folder:
        store = create(folder, STREAM)
        first = copy(folder, store)
        second = copy(folder, first, name="second.sqlite")
        named = "SELECT start, end, text, globalTid, rangeId FROM NVTX_EVENTS WHERE eventType <> 39"
        equal(query(second, named), query(first, named))
        machine = "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV"
        equal((query(second, machine), len(query(first, machine))), (query(first, machine), 5))
        equal((names_of(second), session_of(second)), (names_of(first), session_of(first)))
        for shape in SHAPES:
            path = make(folder.name(shape), shape)
            made = copy(folder, path)
            equal(query(made, machine), [], "not known")
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.executescript("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value);"
                                 "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Driver', '1'), "
                                 "('CpuCores', 64), ('Hostname', 'gpu17');")
            equal(query(copy(folder, path, name=shape + ".said"), machine),
                  [("Hostname", "gpu17"), ("CpuCores", "64")])
            _, out, _ = export("--store", folder.name(shape), "--format", "jsonl")
            _, back, _ = export("--store", made, "--format", "jsonl")
            keys = ("start", "end", "message", "kind", "globalTid", "thread", "category", "domain")
            lists = [sorted([repr(event.get(key)) for key in keys]
                            for event in map(json.loads, text.splitlines()))
                     for text in (out, back)]
            equal((lists[0] == lists[1], len(lists[0]) > 0), (True, True), shape)


def test_the_json_of_an_export_may_be_a_string_by_its_id():
    with Folder() as folder:
        path = make(folder.name("2022"), "2022")
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.executescript("INSERT INTO StringIds (id, value) VALUES (900, '{\"a\":1}');"
                             "UPDATE NVTX_EVENTS SET jsonTextId = 900 WHERE text = 'ready';")
        equal(query(copy(folder, path), "SELECT text, jsonText FROM NVTX_EVENTS WHERE jsonText "
                                        "IS NOT NULL"), [("ready", '{"a":1}')])


def test_hostile_texts_are_exact():
    texts = ["", "[Unknown]", "a\\u0007b", "\\\"'\\\\", "\\u2028", "x" * 5000, "DROP TABLE", "%s%n"]
    with Folder() as folder:
        store = create(folder, HELLO + DEFINITIONS + "".join(
            'Marker, %d, 1, 1, 0, "%s", 1\nSetCategoryName, %d, "%s"\n' % (T + i, text, i + 1, text)
            for i, text in enumerate(texts * 2)))
        database = sqlite3.connect(store)
        database.execute("UPDATE NVTX_EVENTS SET text = CAST(x'ff41' AS TEXT) WHERE start = ? "
                         "AND eventType = 34", (T + 3,))
        database.commit()
        database.close()
        path = copy(folder, store)
        hexed = ("SELECT start + %d, eventType, hex(text) FROM NVTX_EVENTS "
                 "ORDER BY start, eventType, category")
        equal(query(path, hexed % session_of(path)), query(store, hexed % 0))
        equal(query(path, "SELECT count(*) FROM NVTX_EVENTS JOIN StringIds ON id = textId "
                          "WHERE value <> text"), [(0,)])
        equal(query(path, "SELECT hex(value) FROM StringIds GROUP BY 1 HAVING count(*) > 1"), [])


def test_segments_become_one_file():
    with Folder() as folder, Daemon() as daemon:
        place = STREAM.index("RangePush, %d, 7, 8, 0" % (T + 1000))
        with daemon.session("6ba7b810-9dad-11d1-80b4-00c04fd430c8") as session:
            session.send(STREAM[:place])
            daemon.flush()
            daemon.control("rotate")
            session.send(STREAM[place:] + 'SetCategoryName, 3, "again"\n')
            session.end()
        daemon.flush()
        path = copy(folder, daemon.store)
        equal(query(path, "SELECT start, end, text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"),
              [(0, 1000, "outer"), (0, 1000, "inner"), (1500, 1500, "worker"), (2000, 2700, "io"),
               (8000, 8000, "last")])
        equal(query(path, "SELECT eventType, count(*) FROM NVTX_EVENTS WHERE eventType NOT IN "
                          "(34, 59, 60) GROUP BY 1"), [(33, 2), (39, 2), (75, 1)])
        equal(query(path, "SELECT text FROM NVTX_EVENTS WHERE eventType = 33 AND domainId > 0"),
              [("io",)])


# ---- What is selected ---------------------------------------------------------------------------

def test_zero_is_the_beginning_of_what_is_selected():
    with Folder() as folder:
        store = create(folder, STREAM)
        for args, zero, wanted in (
                (("--since", str(T + 2100)), 2500, [(0, "worker"), (500, "io"), (6500, "last")]),
                (("--until", str(T + 1000)), 1000, [(0, "outer"), (0, "inner")]),
                (("--pid", "9"), 3000, [(0, "io"), (6000, "last")]),
                (("--category", "4"), 9000, [(0, "last")]),
                (("--match", "^w"), 2500, [(0, "worker")]),
                (("--match", "^w", "--origin", str(T)), 0, [(2500, "worker")]),
                (("--source", "store.sqlite.nvtxt", "--pid", "7"), 1000,
                 [(0, "outer"), (0, "inner"), (1500, "worker")])):
            path = copy(folder, store, *args) if args[0] != "--source" else copy(
                folder, store, "--source", store + ".nvtxt", "--pid", "7")
            equal(query(path, "SELECT start, text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"),
                  wanted, args)
            equal(session_of(path), T + zero, args)
            equal(query(path, "SELECT min(start) >= 0, max(end) FROM NVTX_EVENTS"),
                  [(1, query(path, "SELECT stopTime FROM ANALYSIS_DETAILS")[0][0])], args)


def test_names_that_nobody_bears_are_left_out():
    with Folder() as folder:
        store = create(folder, STREAM)
        path = copy(folder, store, "--match", "last")
        equal(query(path, "SELECT eventType, text FROM NVTX_EVENTS"), [(34, "last")])
        equal(names_of(path), ([((9 << 24) + 11, "Thread 11")], [(9 << 24, 9, "Process 9")]))
        equal(query(path, "SELECT value FROM StringIds ORDER BY id"),
              [("[Unknown]",), ("last",), ("Thread 11",)])
        path = copy(folder, store, "--match", "^outer")
        equal(sorted(query(path, "SELECT eventType, start, text FROM NVTX_EVENTS")),
              [(33, 0, "io"), (39, 0, "worker"), (59, 0, "outer"), (75, 0, "shop")])


def test_an_empty_selection_is_an_empty_export():
    with Folder() as folder:
        store = create(folder, STREAM)
        equal(export("--store", store, "--format", "nsys", "-o", folder.name("x"), "--match", "none",
                     "--origin", "5")[:2], (0, ""))
        equal(query(folder.name("x"), "SELECT count(*) FROM NVTX_EVENTS"), [(0,)])
        equal(query(folder.name("x"), "SELECT * FROM ANALYSIS_DETAILS"), [(0, 0, 0, 0)])
        equal(session_of(folder.name("x")), 5)


def test_times_that_do_not_fit_are_refused_with_their_event():
    wide = DEFINITIONS + ('Marker, -9000000000000000000, 1, 2, 0, "early", 1\n'
                          'Marker, 9000000000000000000, 1, 2, 0, "late", 1\n')
    with Folder() as folder:
        store = create(folder, STREAM)
        far = create(folder, wide, "wide.sqlite")
        before = sorted(os.listdir(folder.path))
        said = refuses(65, "before time 0, which is %d" % (T + 1001), "--store", store, "--format",
                       "nsys", "-o", folder.name("x"), "--origin", str(T + 1001))
        contains(said, "'inner' of process 7, thread 8, from %d to %d" % (T + 1000, T + 2000))
        refuses(65, "more than 292 years after", "--store", far, "--format", "nsys", "-o",
                folder.name("x"))
        refuses(65, "'early' of process 1", "--store", far, "--format", "nsys", "-o",
                folder.name("x"), "--origin", "0")
        refuses(65, "'worker'", "--store", store, "--format", "nsys", "-o", folder.name("x"),
                "--match", "worker", "--origin", "-9000000000000000000")
        equal(sorted(os.listdir(folder.path)), before, "nothing was written")
        path = copy(folder, far, "--match", "late", "--origin", "0")
        equal(query(path, "SELECT start FROM NVTX_EVENTS WHERE eventType = 34"), [(9 * 10**18,)])


def test_a_range_that_ends_before_it_starts_has_no_negative_time():
    with Folder() as folder:
        store = create(folder, DEFINITIONS + "@RangeStartEnd, Start, End, ProcessId, Message\n"
                       'Marker, %d, 1, 1, 0, "m", 1\nRangeStartEnd, %d, %d, 1, "back"\n' % (
                           T + 450, T + 500, T + 100))
        path = copy(folder, store)
        equal(query(path, "SELECT start, end FROM NVTX_EVENTS WHERE eventType = 60"), [(400, 0)])
        equal(query(path, "SELECT * FROM ANALYSIS_DETAILS"), [(0, 400, 0, 400)])
        equal(events_of(path), events_of(store))


# ---- Merges -------------------------------------------------------------------------------------

def some_lines(seed):
    """Events of a few processes in few nanoseconds, with names that change."""
    dice = random.Random(seed)
    lines, depth, at, is_open = [], {}, T + dice.randrange(2000), set()
    texts = ["a", "main", "[Unknown]", "", "x" * 40, "\u00fc"] + ["GET /%d" % i for i in range(9)]
    for _ in range(250):
        at += dice.randrange(3)
        where = (dice.randrange(1, 4), dice.randrange(1, 4))
        name, text = dice.choice(("main", "[Unknown]", "a", "w")), dice.choice(texts)
        kind, number = dice.random(), dice.randrange(4)
        if kind < .3:
            depth[where] = depth.get(where, 0) + 1
            lines.append('RangePush, %d, %d, %d, %d, Red, "%s"' % (at, *where, number, text))
        elif kind < .6 and depth.get(where):
            depth[where] -= 1
            lines.append("RangePop, %d, %d, %d" % (at, *where))
        elif kind < .7:
            lines.append('Marker, %d, %d, %d, %d, "%s", %s' % (
                at, *where, number, text, dice.choice(("1", "'2.5'", "-7"))))
        elif kind < .8 and number in is_open:
            is_open.discard(number)
            lines.append("RangeEnd, %d, %d, %d, %d" % (at, *where, number))
        elif kind < .8:
            is_open.add(number)
            lines.append('RangeStart, %d, %d, %d, %d, "%s"' % (at, *where, number, text))
        elif kind < .85:
            lines.append('SetCategoryName, %d, "%s"' % (number, name))
        elif kind < .9:
            lines.append('SetThreadName, %d, %d, "%s"' % (*where, name))
        elif kind < .93:
            lines.append('SetProcessName, %d, "%s"' % (where[0], name))
        elif kind < .97:
            lines.append('SetFileDisplayName, "%s"' % dice.choice(("D1", "D2", "D3", "")))
        else:
            lines.append("ProcessId = %d" % dice.randrange(1, 5))
    return DEFINITIONS + "\n".join(lines) + "\n"


def test_a_merge_into_the_copy_is_one_into_the_store():
    with Folder() as folder:
        for seed in range(200 if LONG else 12):
            store = create(folder, some_lines(seed), "s%d" % seed)
            path = copy(folder, store)
            equal((events_of(path), names_of(path)), (events_of(store), names_of(store)), seed)
            more = folder.write("more", some_lines(-1 - seed))
            got = []
            for number, target in enumerate((store, path)):
                out = folder.name("m%d-%d" % (seed, number))
                got.append(run_client("nvtxt-import", "merge", "-q", "-i", target, "-n", more, "-o",
                                      out)[::2])
                got.append((events_of(out, ranges=False), names_of(out)))
            equal(got[2:], got[:2], seed)
            equal(query(out, "SELECT value FROM StringIds GROUP BY value HAVING count(*) > 1"), [])
            equal(query(out, "SELECT startTime <= (SELECT min(start) FROM NVTX_EVENTS), stopTime >= "
                             "(SELECT max(end) FROM NVTX_EVENTS), duration = stopTime - startTime "
                             "FROM ANALYSIS_DETAILS"), [(1, 1, 1)])


def test_a_copy_of_an_export_keeps_the_domains_of_each_process_apart():
    with Folder() as folder:
        path = make(folder.name("e"), "2022")
        database = sqlite3.connect(path)
        (tid,), = database.execute("SELECT globalTid FROM NVTX_EVENTS WHERE eventType = 75")
        for kind, text in ((75, "other"), (59, "b")):
            database.execute("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
                             "VALUES (1, 2, ?, ?, ?, 1)", (kind, text, tid + (1 << 24)))
        database.commit()
        database.close()
        made = copy(folder, path)
        pid = tid >> 24 & 0xFFFFFF
        more = folder.write("more", DEFINITIONS + 'SetFileDisplayName, "other"\n'
                            'Marker, %d, %d, 1, 0, "new", 1\n' % (session_of(made), pid))
        equal(run_client("nvtxt-import", "merge", "-q", "-i", made, "-n", more, "-o",
                         folder.name("out"))[0], 0)
        equal(query(folder.name("out"), "SELECT d.text FROM NVTX_EVENTS e JOIN NVTX_EVENTS d ON "
                                        "d.domainId = e.domainId AND d.globalTid >> 24 = "
                                        "e.globalTid >> 24 WHERE e.text = 'new' AND "
                                        "d.eventType = 75"), [("other",)])


def test_other_programs_of_ours_read_the_same():
    with Folder() as folder:
        store = create(folder, some_lines(99))
        path = copy(folder, store)
        keys = ("utcTime", "duration", "kind", "message", "category", "process", "thread", "domain",
                "payload", "start", "end", "globalTid")
        lists = []
        for file in (store, path):
            _, out, _ = export("--store", file, "--format", "jsonl")
            lists.append(sorted([repr(event.get(key)) for key in keys]
                                for event in map(json.loads, out.splitlines())))
        equal(lists[1], lists[0])
        report = program("client", "nvtxt-report")
        if not os.path.exists(report):
            raise Skip("nvtxt-report is not built")
        traces = []
        for file in (store, path):
            done = subprocess.run([report, "stats", "-r", "nvtx_pushpop_trace", "--format", "csv",
                                   file], stdout=subprocess.PIPE, check=True, env=ENV)
            rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
            zero = min(int(row["Start (ns)"]) for row in rows)
            traces.append([(int(row["Start (ns)"]) - zero, row["Lvl"], row["NameTree"])
                           for row in rows])
        equal((traces[1], len(traces[0]) > 20), (traces[0], True), "the nesting, too")


# ---- Readers ------------------------------------------------------------------------------------
# What three kinds of programs for such exports do, in our own words: on a store each of them fails
# or says nonsense, because its times are Unix times or because its facts are views.

def read_with_an_upper_bound(path):
    """A window that is open at its end is written as 10^16 ns, 115 days after the session began."""
    return query(path, "SELECT count(*), sum(end - start) FROM NVTX_EVENTS WHERE eventType IN "
                       "(59, 60) AND start >= 0 AND end <= ?", 10**16)[0]


def read_in_doubles(path):
    """JavaScript: an integer that a double does not hold is an error, as in sql.js' bindings."""
    total = 0.0
    for start, end in query(path, "SELECT start, end FROM NVTX_EVENTS WHERE eventType IN (59, 60)"):
        if max(abs(start), abs(end)) > 2**53 - 1:
            raise ValueError("%d is no safe integer" % end)
        total += float(end) - float(start)
    return total


def read_by_the_second(path):
    """A row for each second since the session began, which the table ANALYSIS_DETAILS bounds."""
    tables = {name for name, in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"ANALYSIS_DETAILS", "TARGET_INFO_SYSTEM_ENV", "NVTX_EVENTS"} <= tables:
        raise ValueError("not an export: a table is missing")
    (host,), = query(path, "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'")
    (duration,), = query(path, "SELECT duration FROM ANALYSIS_DETAILS")
    seconds = [0] * (duration // 10**9 + 1)
    for start, in query(path, "SELECT start FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"):
        seconds[start // 10**9] += 1
    (began,), = query(path, "SELECT utcTime FROM TARGET_INFO_SESSION_START_TIME")
    if datetime.datetime.fromisoformat(began).year < 2000:
        raise ValueError("the session began before there were exports")
    return host, seconds


def test_readers_that_fail_on_a_store_read_the_copy():
    with Folder() as folder:
        store = create(folder, STREAM)
        path = copy(folder, store)
        equal(read_with_an_upper_bound(store), (0, None))
        equal(read_with_an_upper_bound(path), (3, 2700))
        for reader, wanted in ((read_in_doubles, 2700.0),
                               (read_by_the_second, (os.uname().nodename, [5]))):
            equal(reader(path), wanted)
            try:
                equal(reader(store), "nothing")
            except ValueError:
                pass


# ---- Whole or not at all ------------------------------------------------------------------------

def test_command_lines_that_are_wrong():
    with Folder() as folder:
        store = create(folder, STREAM)
        nsys = ("--store", store, "--format", "nsys")
        refuses(64, "name its file with -o", *nsys)
        refuses(64, "name its file with -o", *nsys, "-o", "-")
        refuses(64, "--origin takes nanoseconds since 1970, not '1s'", *nsys, "--origin", "1s")
        refuses(64, "--origin is for --format nsys", "--store", store, "--format", "csv", "--origin",
                "1")
        refuses(64, "--with-gpu-tables is for --format nsys", "--store", store, "--format", "csv",
                "--with-gpu-tables")
        refuses(64, "belongs to the store itself", *nsys, "-o", store)
        refuses(73, "is a database; it is not replaced", *nsys, "-o", copy(folder, store))
        refuses(73, "it is no regular file", *nsys, "-o", "/dev/null")
        os.mkfifo(folder.name("pipe"))
        refuses(73, "it is no regular file", *nsys, "-o", folder.name("pipe"))
        refuses(73, "No such file", *nsys, "-o", folder.name("no/where"))
        text = folder.write("text", "some text")
        equal(export(*nsys, "-o", text), (0, "", ""))
        equal(query(text, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), [(2,)])
        refuses(66, "does not exist", "--store", folder.name("none"), "--format", "nsys", "-o",
                folder.name("x"))
        equal([name for name in os.listdir(folder.path) if "part" in name or name == "x"], [])


def many(folder, name, events):
    with open(folder.name(name), "w", encoding="ascii") as file:
        file.write(DEFINITIONS)
        for i in range(events):
            file.write('Marker, %d, %d, 1, 0, "m%d", 1\n' % (T + i, i % 9 + 1, i))
    equal(run_client("nvtxt-import", "create", "-q", "-n", folder.name(name), "-o",
                     folder.name(name + ".sqlite"))[0], 0)
    return folder.name(name + ".sqlite")


def test_a_full_disk_leaves_nothing_behind():
    with Folder() as folder:
        store = many(folder, "n", 9000)
        before = sorted(os.listdir(folder.path))
        for blocks in (0, 20, 400):
            done = subprocess.run(["sh", "-c", 'ulimit -f %d; exec "$@"' % blocks, "sh",
                                   program("client", "nvtxt-export"), "--store", store, "--format",
                                   "nsys", "-o", folder.name("out")], stderr=subprocess.PIPE,
                                  env=ENV)
            equal(done.returncode, 74, done.stderr)
            contains(done.stderr.decode(), "cannot write %s: " % folder.name("out"))
            equal(sorted(os.listdir(folder.path)), before)


def test_a_file_system_that_is_full_is_said():
    with Folder() as folder:
        store = many(folder, "n", 9000)
        with SmallDisk(folder.path, "size=256k") as disk:
            refuses(74, "out: no room is left", "--store", store, "--format", "nsys", "-o",
                    os.path.join(disk.folder, "out"))
            equal(os.listdir(disk.folder), [])


def test_a_kill_leaves_no_half_file():
    with Folder() as folder:
        store = many(folder, "n", 30000)
        dice = random.Random(7)
        finished = 0
        for number in range(100 if LONG else 8):
            out = folder.name("out%d" % number)
            with Running("nvtxt-export", "--store", store, "--format", "nsys", "-o", out) as client:
                try:
                    client.process.wait(dice.random() * 0.15 if number else DEADLINE)
                except subprocess.TimeoutExpired:
                    client.signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
                client.wait()
            if os.path.exists(out):
                finished += 1
                equal(query(out, "SELECT count(*), count(DISTINCT text), max(end) FROM NVTX_EVENTS"),
                      [(30000, 30000, 29999)])
                equal(query(out, "PRAGMA quick_check"), [("ok",)])
        equal(finished > 0, True)
        equal([name for name in os.listdir(folder.path) if name.endswith(("-journal", "-wal"))], [])


def peak_kb(*args):
    process = subprocess.Popen([program("client", "nvtxt-export"), "-q", *args])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    equal(process.returncode, 0)
    return usage.ru_maxrss


def test_memory_stays_flat():
    if SANITIZERS:
        raise Skip("sanitizers keep freed memory")
    few, lots = (1000000, 4000000) if LONG else (200000, 600000)
    with Folder() as folder:
        peaks = [peak_kb("--store", many(folder, "n%d" % count, count), "--format", "nsys", "-o",
                         folder.name("out%d" % count)) for count in (few, lots)]
        equal(peaks[1] < peaks[0] + 16384, True, "%d and %d KiB" % tuple(peaks))


if __name__ == "__main__":
    run(globals())
