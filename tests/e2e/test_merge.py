# SPDX-License-Identifier: Apache-2.0
"""nvtxt-import merge: files into a copy of a store, or of an SQLite export of Nsight Systems."""
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "nsight"))

from client import Folder, Running, contains  # noqa: E402
from exports import (SESSION_NS, SHAPES, added, bytes_of, categories,  # noqa: E402
                     load, make, query, ranges, tables, thread_names)
from lib import DEADLINE, SANITIZERS, Daemon, Skip, equal, program, run, wait_for  # noqa: E402

LOW, HIGH = -2**63, 2**63 - 1
LONG = bool(os.environ.get("NVTXT_TEST_LONG"))
MARKER = 'Marker, %d, Manual, 4242, 4243, 1, Blue, "%s", 5\n'

SERVICE = """
@SetCategoryName, CategoryId, Name
@SetThreadName, ThreadId, Name
@SetProcessName, Name
@RangePush, Time, CategoryId, Message, Payload
@RangePop, Time
@Marker, Time, Message
ProcessId = 4242
ThreadId = 4243
TimeBase = ClockRealtime
SetFileDisplayName, "requests"
SetCategoryName, 7, "http"
SetThreadName, 4243, "front"
SetThreadName, 4250, "assistant"
SetThreadName, 4251, "third"
SetProcessName, "the service"
RangePush, %d, 7, "GET /a", 11
Marker, %d, "half way"
RangePop, %d
RangeStartEnd, %d, %d, ClockRealtime, 4242, 4251, 7, Red, "whole", '2.5'
""" % tuple(SESSION_NS + ns for ns in (1000000, 1100000, 1500000, 900000, 7500000))

# What an export without a table about its session must be told.
ORIGIN = {"old": ("--origin", str(SESSION_NS))}


def merged(folder, shape, text=SERVICE, *args, status=0):
    """An export, and what comes of merging `text` into it."""
    export = make(folder.name("export.sqlite"), shape)
    before = bytes_of(export)
    if os.path.exists(folder.name("out.sqlite")):
        os.unlink(folder.name("out.sqlite"))
    folder.write("service.nvtxt", text)
    got = load("merge", "-i", export, "-n", folder.name("service.nvtxt"), "-o",
               folder.name("out.sqlite"), *ORIGIN.get(shape, ()), *args)
    equal(got[:2], (status, ""), got[2])
    equal(bytes_of(export), before, "the input is not changed")
    return export, folder.name("out.sqlite"), got[2]


def test_readers_find_old_and_new_rows_in_every_shape():
    for shape in SHAPES:
        with Folder() as folder:
            export, out, _ = merged(folder, shape)
            equal(sorted(os.listdir(folder.path)), ["export.sqlite", "out.sqlite", "service.nvtxt"])
            mine = [("requests:whole", 900000, 6600000, 4242, 4251),
                    ("requests:GET /a", 1000000, 500000, 4242, 4243)]
            equal(ranges(out), sorted(ranges(export) + mine, key=lambda row: row[1]), shape)
            equal(categories(out), categories(export) +
                  [("whole", "http"), ("GET /a", "http")], shape)
            equal(thread_names(out), thread_names(export) + [(4251, "third")], shape)
            equal(query(out, "SELECT start, end, text FROM NVTX_EVENTS WHERE eventType = 34 "
                             "AND start = 1100000"), [(1100000, 1100000, "half way")])
            equal(query(out, "PRAGMA integrity_check"), [("ok",)])


def test_the_rows_of_the_input_stay_as_they_are():
    for shape in SHAPES:
        with Folder() as folder:
            export, out, _ = merged(folder, shape)
            new = added(export, out)
            equal(sorted(new), ["NVTX_EVENTS", "StringIds", "ThreadNames"], shape)
            # 3 events; the domain in two processes' worth of one, a category, three threads
            equal(len(new["NVTX_EVENTS"]), 3 + 1 + 1 + 3, new)
            equal(len(new["ThreadNames"]), 1)


def test_a_column_that_is_there_is_filled():
    for shape in SHAPES[1:]:
        with Folder() as folder:
            _, out, said = merged(folder, shape)
            equal(said, "nvtxt-import: 1 name was not taken: %s names the same otherwise, and its "
                        "names stand\n" % folder.name("export.sqlite"))
            equal(query(out, "SELECT e.text, s.value, int64Value, doubleValue, rangeId, category, "
                             "color, domainId FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId "
                             "WHERE e.text IN ('GET /a', 'whole') ORDER BY 1"),
                  [("GET /a", "GET /a", 11, None, 0, 7, 0, 2),
                   ("whole", "whole", None, 2.5, 4, 7, 0xFFFF0000, 2)])
    with Folder() as folder:
        _, _, said = merged(folder, "old")
        equal(said, "nvtxt-import: 2 payloads could not be kept: %s has no column for them\n"
              % folder.name("export.sqlite"))


def test_what_the_extension_nvtx_brings_is_filled_too():
    text = ('#nvtxt-session {"protocol":1,"nvtx":1}\n@Marker, Time, Message, Payload, Json\n'
            "@SetCounter, Name, Json\nSetResourceName, cuStream, 1, s\nSetCounter, c, ''\n" +
            "".join('Marker, %d, "%s", "%s", \'%s\'\n' % (SESSION_NS + at, kind, kind + value, json)
                    for at, (kind, value, json) in enumerate([
                        ("u64:", "18446744073709551615", ""), ("i64:", "-5", ""), ("f64:", "nan", "[1]"),
                        ("u32:", "7", '{"a":1}'), ("i32:", "-7", ""), ("f32:", "0.5", ""), ("", "", "[1]")])))
    columns = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue")
    for shape in SHAPES[1:]:
        with Folder() as folder:
            export, out, said = merged(folder, shape, text)
            equal(said, "nvtxt-import: 2 names of resources and counters could not be kept: an export "
                        "has no table for them\n")
            payload = "coalesce(%s)" % ", ".join(columns)
            filled = " || ".join("iif(%s IS NULL, '', '%s ')" % (name, name) for name in columns)
            equal(query(out, "SELECT text, %s, %s, jsonText FROM NVTX_EVENTS WHERE text LIKE '___:' OR "
                             "text = '' ORDER BY start" % (filled, payload)),
                  [("u64:", "uint64Value ", -1, None), ("i64:", "int64Value ", -5, None),
                   ("f64:", "", None, "[1]"), ("u32:", "uint32Value ", 7, '{"a":1}'),
                   ("i32:", "int32Value ", -7, None), ("f32:", "floatValue ", 0.5, None),
                   ("", "", None, "[1]")])
            if "jsonTextId" in columns_of(out):
                equal(query(out, "SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.jsonTextId "
                                 "WHERE s.value = e.jsonText"), [(3,)])
                equal(query(out, "SELECT count(DISTINCT jsonTextId) FROM NVTX_EVENTS"), [(2,)])
            equal(tables(out), tables(export))
    with Folder() as folder:
        _, _, said = merged(folder, "old", text)
        contains(said, "nvtxt-import: 9 payloads could not be kept: ")


def test_a_payload_that_is_no_number_is_0_where_a_number_must_stand():
    with Folder() as folder:
        export = make(folder.name("export.sqlite"), "old")
        with contextlib.closing(sqlite3.connect(export)) as database:
            database.execute("ALTER TABLE NVTX_EVENTS ADD COLUMN doubleValue REAL NOT NULL DEFAULT 1")
        text = folder.write("in.nvtxt", '#nvtxt-session {"protocol":1,"nvtx":1}\n'
                            'Marker, 1, Manual, 1, 1, 0, 0, "m", "f64:nan"\n')
        got = load("merge", "-i", export, "-n", text, "-o", folder.name("out"), *ORIGIN["old"])
        equal(got[0], 0, got[2])
        equal(query(folder.name("out"), "SELECT doubleValue FROM NVTX_EVENTS WHERE text = 'm'"), [(0.0,)])


def columns_of(path):
    return [name for name, in query(path, "SELECT name FROM pragma_table_info('NVTX_EVENTS')")]


def test_names_of_the_export_stand():
    with Folder() as folder:
        text = ("@SetCategoryName, CategoryId, Name\nSetFileDisplayName, app\n"
                "SetCategoryName, 1, mine\nSetCategoryName, 2, second\nSetCategoryName, 2, last\n" +
                MARKER % (SESSION_NS + 5, "m"))
        export, out, said = merged(folder, "2026", text)
        contains(said, "1 name was not taken")
        # the domain that the process has already is the one of that name
        equal(query(out, "SELECT domainId FROM NVTX_EVENTS WHERE text = 'm'"), [(1,)])
        equal(query(out, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 75"), [(1,)])
        equal(query(out, "SELECT category, text FROM NVTX_EVENTS WHERE eventType = 33 ORDER BY 1"),
              [(1, "phase"), (2, "last")])
        equal(len(added(export, out)["NVTX_EVENTS"]), 2)


def test_the_target_is_that_of_the_export():
    for target in (0x0001, 0x0000, 0x0203, 0xFF01):
        with Folder() as folder:
            export = make(folder.name("e"), "2022", target)
            path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
            equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out")), (0, "", ""))
            equal(query(folder.name("out"), "SELECT (globalTid >> 48) & 65535 FROM NVTX_EVENTS "
                                            "WHERE text = 'm'"), [(target,)])


def test_the_target_may_stand_with_the_session_alone():
    with Folder() as folder:
        export = make(folder.name("e"), "2022", 0x0102)
        database = sqlite3.connect(export)
        for table in tables(export):
            columns = [name for _, name, *_ in database.execute('PRAGMA table_info("%s")' % table)]
            if {"globalTid", "globalPid"} & set(columns):
                database.execute('DELETE FROM "%s"' % table)
        database.commit()
        database.close()
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out")), (0, "", ""))
        equal(query(folder.name("out"), "SELECT globalTid >> 48 FROM NVTX_EVENTS WHERE text = 'm'"),
              [(0x0102,)])


def test_a_domain_is_named_once_in_a_process():
    text = "@Marker, Time, ProcessId, Message\nTimeBase = Manual\n" + "".join(
        "SetFileDisplayName, '%s'\nMarker, %d, %d, '%s'\n" % (name, SESSION_NS + 5, pid, name)
        for _ in range(3) for pid in (7, 8, 4242) for name in ("one", "app"))
    with Folder() as folder:
        _, out, _ = merged(folder, "2022", text)
        equal(query(out, "SELECT text, domainId, globalTid / 0x1000000 % 0x1000000 FROM NVTX_EVENTS "
                         "WHERE eventType = 75 ORDER BY 1, 3"),
              [("app", 3, 7), ("app", 3, 8), ("app", 1, 4242), ("one", 2, 7), ("one", 2, 8),
               ("one", 2, 4242)])
        equal(query(out, "SELECT text, domainId, count(*) FROM NVTX_EVENTS WHERE eventType = 34 AND "
                         "text <> 'ready' GROUP BY 1, 2"), [("app", 1, 3), ("app", 3, 6), ("one", 2, 9)])


def test_several_targets_are_a_question():
    with Folder() as folder:
        export = make(folder.name("e"), "2026", change="INSERT INTO OSRT_API (start, end, eventClass,"
                      " globalTid, nameId, returnValue, callchainId) VALUES (1, 2, 0, "
                      "((2 << 8 | 3) << 48) | (9 << 24) | 9, 1, 0, 0)")
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
        status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name("out"))
        equal(status, 64)
        contains(said, "%s has rows of several targets (0:1, 2:3): say" % export)
        equal(sorted(os.listdir(folder.path)), ["e", "n"])
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out"), "--target", "2:3"),
              (0, "", ""))
        equal(query(folder.name("out"), "SELECT globalTid >> 48 FROM NVTX_EVENTS WHERE text = 'm'"),
              [(0x0203,)])
        for wrong in ("1", "1:", ":1", "1:256", "-1:1", "1:x", "0:1:2"):
            equal(load("merge", "-i", export, "-n", path, "-o", "x", "--target", wrong)[0], 64, wrong)


def test_times_go_to_the_exports_own_time():
    cases = (
        ("Manual", SESSION_NS + 700, (), 700),
        ("ClockRealtime", SESSION_NS + 700, (), 700),
        ("Relative", 700, (), 700),
        ("Relative", 700, ("--origin", str(SESSION_NS + 5)), 705),
        ("Qpc", 1000, ("--mode", "lin", "--ns-a", "50", "--freq", "1000000000", "--nvtxt-a", "0"),
         1050),
        ("Manual", 30, ("--mode", "lerp", "--ns-a", "100", "--ns-b", "200", "--nvtxt-a", "10",
                        "--nvtxt-b", "50"), 150),
    )
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        for number, (base, time, args, wanted) in enumerate(cases):
            path = folder.write("n", 'Marker, %d, %s, 4242, 4243, 1, Blue, "m", 5\n' % (time, base))
            out = folder.name("out%d" % number)
            status, _, said = load("merge", "-i", export, "-n", path, "-o", out, *args)
            equal((status, said), (0, ""))
            equal(query(out, "SELECT start, end FROM NVTX_EVENTS WHERE text = 'm'"),
                  [(wanted, wanted)], base)


def test_times_stand_where_an_export_does_not_say_when_it_began():
    mapping = ("--mode", "lin", "--ns-a", "5", "--freq", "1000000000")
    for shape, change in (("old", ""), ("2022", "DELETE FROM TARGET_INFO_SESSION_START_TIME"),
                          ("2026", "DROP TABLE TARGET_INFO_SESSION_START_TIME")):
        with Folder() as folder:
            export = make(folder.name("e"), shape, change=change)
            own = folder.write("own", MARKER % (5, "m") + MARKER.replace("Manual", "Relative") %
                               (5, "r"))
            unix = folder.write("unix", MARKER % (SESSION_NS + 5, "m"))
            for path, args in ((own, ()), (unix, ("--origin", str(SESSION_NS))), (unix, mapping)):
                status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name("out"),
                                       *args)
                equal(status, 0, said)
                equal(query(folder.name("out"), "SELECT DISTINCT start FROM NVTX_EVENTS WHERE text "
                                                "IN ('m', 'r')"), [(5,)])
                equal("%s does not say when its session began" % export in said, not args, said)
                equal("--origin NS" in said, not args, said)
                os.unlink(folder.name("out"))


OUTSIDE = "".join(MARKER % (SESSION_NS + ns, "m%d" % i)
                  for i, ns in enumerate((-1, 0, 5, 20000000, 20000001, 90000000)))


def test_times_that_the_export_cannot_hold_are_said_to_be_so():
    with Folder() as folder:
        text = MARKER % (-2**63, "first") + MARKER % (SESSION_NS + 5, "m")
        for shape, args in (("2022", ("--update-report-time",)), ("old", ())):
            _, out, said = merged(folder, shape, text, *args)
            contains(said, "1 event was left out: in the time of %s" % folder.name("export.sqlite"))
            equal("--update-report-time" in said, False, said)
            equal(query(out, "SELECT start FROM NVTX_EVENTS WHERE text IN ('first', 'm')"), [(5,)])


def test_events_outside_the_session_are_left_out_and_counted():
    with Folder() as folder:
        export, out, said = merged(folder, "2022", OUTSIDE)
        contains(said, "3 events outside the session of %s, 0 to 20000000 in its own time, were left "
                       "out" % export)
        contains(said, "--update-report-time")
        equal([text for text, in query(out, "SELECT text FROM NVTX_EVENTS WHERE text LIKE 'm_' "
                                            "ORDER BY start")], ["m1", "m2", "m3"])
        equal(query(out, "SELECT * FROM ANALYSIS_DETAILS"),
              query(export, "SELECT * FROM ANALYSIS_DETAILS"))
        _, _, said = merged(folder, "2022", MARKER % (5, "far"))
        contains(said, "1 event outside")
        contains(said, "they lie between 5 and 5; is the clock right?")


def test_the_session_is_prolonged_on_demand():
    with Folder() as folder:
        export, out, said = merged(folder, "2026", OUTSIDE, "--update-report-time")
        equal(said, "")
        equal(query(out, "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE 'm_'"), [(6,)])
        equal(query(out, "SELECT startTime, stopTime, duration FROM ANALYSIS_DETAILS"),
              [(-1, 90000000, 90000001)])
        equal(sorted(added(export, out, unless=("ANALYSIS_DETAILS",))),
              ["ANALYSIS_DETAILS", "NVTX_EVENTS", "StringIds"])
        equal(load("info", "-i", out)[1], "Analysis start (ns)\t-1\nAnalysis end (ns)\t90000000\n")
        inside = MARKER % (SESSION_NS + 5, "m")
        export, out, _ = merged(folder, "2026", inside, "--update_report_time")
        equal(query(out, "SELECT * FROM ANALYSIS_DETAILS"),
              query(export, "SELECT * FROM ANALYSIS_DETAILS"))


def test_a_session_that_counts_from_the_boot_is_understood():
    change = "UPDATE ANALYSIS_DETAILS SET startTime = 83501026500000, stopTime = 83501046500000"
    with Folder() as folder:
        export = make(folder.name("e"), "2022", change=change)
        path = folder.write("n", OUTSIDE)
        status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name("out"))
        equal(status, 0)
        contains(said, "3 events outside the session of %s, 0 to 20000000" % export)
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out2"),
                   "--update-report-time"), (0, "", ""))
        equal(query(folder.name("out2"), "SELECT startTime, stopTime FROM ANALYSIS_DETAILS"),
              [(83501026499999, 83501116500000)])


def kept(folder, change, *times):
    """Which of the events at these times of the session a merge keeps."""
    export = make(folder.name("e"), "2026", change=change)
    path = folder.write("n", "".join(MARKER % (SESSION_NS + ns, "at %d" % ns) for ns in times))
    equal(load("merge", "-i", export, "-n", path, "-o", folder.name("o"))[:2], (0, ""))
    return [ns for ns, in query(folder.name("o"), "SELECT start FROM NVTX_EVENTS "
                                                  "WHERE text LIKE 'at %' ORDER BY start")]


def test_the_session_counts_as_its_events_do():
    details = "UPDATE ANALYSIS_DETAILS SET startTime = %d, stopTime = %d"
    boot = "; UPDATE TARGET_INFO_SESSION_START_TIME SET systemClockNs = %d"
    for change, wanted in (
            # The machine booted 4 ms before the session began: the events lie in both windows.
            (details % (4000000, 24000000), [1, 2000000, 19000000]),
            (details % (4000000, 24000000) + boot % 4000000, [1, 2000000, 19000000]),
            # Events up to the very end of the machine's clock, and no others, but it says so.
            (details % (9000000, 29000000) + boot % 9000000 +
             "; UPDATE OSRT_API SET end = 28000000", [1, 2000000, 19000000]),
            # They count from the boot as well.
            (details % (100, 20000100) + boot % 1 + "; UPDATE OSRT_API SET end = 20000100",
             [2000000, 19000000, 20000050])):
        with Folder() as folder:
            equal(kept(folder, change, 1, 2000000, 19000000, 20000050), wanted, change)


def test_messages_of_the_profiler_are_of_no_target():
    with Folder() as folder:
        equal(kept(folder, "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT, globalPid INT); "
                   "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, %d)" % (5 << 48), 7), [7])


def test_names_have_the_nulls_of_those_of_the_export():
    columns = "end, rangeId, category, color, domainId"
    for change in ("", "UPDATE NVTX_EVENTS SET end = start, rangeId = 0, color = 0 "
                       "WHERE eventType IN (33, 75)"):
        with Folder() as folder:
            export = make(folder.name("e"), "2022", change=change)
            path = folder.write("service.nvtxt", SERVICE)
            equal(load("merge", "-i", export, "-n", path, "-o", folder.name("o"))[0], 0)
            for kind in (33, 75):
                names = query(folder.name("o"), "SELECT end IS NULL, end = start, rangeId, color, "
                              "category IS NULL, domainId > 0 FROM NVTX_EVENTS WHERE eventType = ?",
                              kind)
                equal(len(names), 2)
                equal(names[1], names[0], (kind, columns))


def test_an_export_without_nvtx_gets_the_table():
    with Folder() as folder:
        export = make(folder.name("e"), "2022", change="DROP TABLE NVTX_EVENTS")
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out")), (0, "", ""))
        equal(sorted(tables(folder.name("out"))), sorted(tables(export) + ["NVTX_EVENTS"]))
        equal(query(folder.name("out"), "SELECT start, end, eventType, text FROM NVTX_EVENTS"),
              [(5, 5, 34, "m")])


def test_the_numbers_of_the_export_are_used():
    with Folder() as folder:
        export = make(folder.name("e"), "2022", change="UPDATE ENUM_NSYS_EVENT_TYPE SET id = id + "
                      "1000; UPDATE NVTX_EVENTS SET eventType = eventType + 1000; "
                      "UPDATE NVTX_EVENTS SET rangeId = %d WHERE rangeId = 3; "
                      "INSERT INTO StringIds VALUES (%d, 'last')" % (HIGH, HIGH))
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m") + "RangeStartEnd, %d, %d, Manual, "
                            "1, 1, 1, Red, r, 1\n" % (SESSION_NS + 1, SESSION_NS + 2) * 2)
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out")), (0, "", ""))
        equal(query(folder.name("out"), "SELECT eventType FROM NVTX_EVENTS WHERE text = 'm'"),
              [(1034,)])
        equal(query(folder.name("out"), "SELECT count(*), count(DISTINCT rangeId) FROM NVTX_EVENTS "
                                        "WHERE eventType = 1060"), [(3, 3)])


def test_a_merge_can_be_merged_again():
    with Folder() as folder:
        export, out, _ = merged(folder, "2026")
        path = folder.write("more", SERVICE)
        status, _, said = load("merge", "-i", out, "-n", path, "-o", folder.name("twice"))
        equal(status, 0, said)
        new = added(out, folder.name("twice"))
        equal(len(new["NVTX_EVENTS"]), 3, "names and domains are there already")
        equal(sorted(new), ["NVTX_EVENTS", "StringIds"])


def test_a_store_is_merged_into():
    with Folder() as folder:
        folder.write("a", "SetFileDisplayName, one\n" + MARKER % (1, "a"))
        folder.write("b", "SetFileDisplayName, two\n" + MARKER % (2, "b"))
        equal(load("create", "-n", "a", "-o", "store", cwd=folder.path), (0, "", ""))
        before = bytes_of(folder.name("store"))
        equal(load("merge", "-i", "store", "-n", "b", "-o", "out", "--target", "1:1",
                   "--update-report-time", cwd=folder.path),
              (0, "", "nvtxt-import: a store holds one machine: --target is ignored\n"))
        equal(bytes_of(folder.name("store")), before)
        out = folder.name("out")
        equal(query(out, "SELECT start, text, domainId FROM NVTX_EVENTS WHERE eventType = 34 "
                         "ORDER BY rowid"), [(1, "a", 1), (2, "b", 2)])
        equal(query(out, "SELECT id, name, ended FROM NVTXT_SOURCES"),
              [(1, "a", "end"), (2, "b", "end")])
        equal(query(out, "PRAGMA journal_mode"), [("delete",)])
        ids = [query(path, "SELECT value FROM META_DATA_EXPORT WHERE name = 'STORE_ID'")
               for path in (folder.name("store"), out)]
        equal([len(rows) for rows in ids], [1, 1])
        assert ids[0] != ids[1], "a merge makes a new store"
        equal(load("info", "-i", out)[1], "Analysis start (ns)\t1\nAnalysis end (ns)\t2\n")


def test_a_store_with_a_trigger_is_refused():
    with Folder() as folder:
        folder.write("a", MARKER % (1, "a"))
        equal(load("create", "-n", "a", "-o", "store", cwd=folder.path), (0, "", ""))
        with contextlib.closing(sqlite3.connect(folder.name("store"))) as db, db:
            db.execute("CREATE TRIGGER t AFTER INSERT ON NVTX_EVENTS BEGIN SELECT 1; END")
        equal(load("merge", "-i", "store", "-n", "a", "-o", "out", cwd=folder.path),
              (65, "", "nvtxt-import: store has a trigger, 't', that would change what is merged: "
                       "drop it in a copy of the store, and merge into that\n"))
        equal(os.path.exists(folder.name("out")), False)


def test_a_live_store_is_merged_into_through_its_link():
    with Daemon() as daemon, Folder() as folder:
        daemon.send(MARKER % (1, "a"))
        link = folder.name("link.sqlite")
        os.symlink(daemon.store, link)
        path = folder.write("b", MARKER % (2, "b"))
        folder.write("out", "")
        beside = sorted(os.listdir(os.path.dirname(os.path.realpath(daemon.store))))
        equal(load("merge", "-i", link, "-n", path, "-o", folder.name("out")), (0, "", ""))
        equal(sorted(os.listdir(os.path.dirname(os.path.realpath(daemon.store)))), beside)
        equal(query(folder.name("out"), "SELECT text FROM NVTX_EVENTS WHERE eventType = 34"),
              [("a",), ("b",)])
        daemon.send(MARKER % (3, "c"))
        equal(daemon.query("SELECT text FROM NVTX_EVENTS WHERE eventType = 34"), [("a",), ("c",)])
        equal(sorted(os.listdir(folder.path)), ["b", "link.sqlite", "out"])


def test_a_store_that_is_written_without_a_pause_is_copied_as_of_one_moment():
    with Folder() as folder:
        path = write_many(folder, "many", 120000)  # several steps of the copy
        store = folder.name("store")
        equal(load("create", "-n", path, "-o", store), (0, "", ""))
        writer = sqlite3.connect(store, isolation_level=None)
        writer.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        small = folder.write("small", MARKER % (1, "last"))
        with Running("nvtxt-import", "merge", "-i", store, "-n", small, "-o",
                     folder.name("out")) as client:
            for number in range(10**6):
                writer.execute("BEGIN")
                writer.execute("INSERT INTO NVTXT_CLOCKS (clock, clockNs) VALUES ('a', ?)", (number,))
                writer.execute("UPDATE StringIds SET value = ? WHERE id = 0", (str(number),))
                writer.execute("COMMIT")
                if client.process.poll() is not None:
                    break
            client.expect(0)
        writer.close()
        out = folder.name("out")
        equal(query(out, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34"), [(120001,)])
        last, written = query(out, "SELECT max(clockNs), count(*) FROM NVTXT_CLOCKS")[0]
        equal(last is None or last == written - 1, True)
        if written:
            equal(query(out, "SELECT value FROM StringIds WHERE id = 0"), [(str(last),)])
        equal(query(out, "PRAGMA quick_check"), [("ok",)])


def test_a_wal_that_nobody_has_open_leaves_no_trace():
    with Folder() as folder:
        os.mkdir(folder.name("in"))
        export = make(folder.name("in/e%20?.sqlite"), "2022", change="PRAGMA journal_mode = WAL")
        equal(os.listdir(folder.name("in")), ["e%20?.sqlite"])
        before = bytes_of(export)
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
        equal(load("merge", "-i", export, "-n", path, "-o", folder.name("out")), (0, "", ""))
        equal(load("info", "-i", export)[0], 0)
        equal((os.listdir(folder.name("in")), bytes_of(export)), (["e%20?.sqlite"], before))
        equal(query(folder.name("out"), "PRAGMA journal_mode"), [("delete",)])
        equal(sorted(os.listdir(folder.path)), ["in", "n", "out"])


def bad_inputs(folder):
    """(path, exit status, part of the sentence)"""
    export = bytes_of(make(folder.name("export"), "2022"))
    locked = make(folder.name("locked"), "2022")
    other = sqlite3.connect(folder.name("other"))
    other.execute("CREATE TABLE StringIds (id INTEGER, value TEXT)")
    other.commit()
    other.close()
    os.mkdir(folder.name("folder"))
    os.symlink("nowhere", folder.name("link"))
    os.mkfifo(folder.name("pipe"))
    return [
        (folder.name("none"), 66, "does not exist"),
        (folder.name("folder"), 66, "is a folder"),
        (folder.name("link"), 66, "is a link to nowhere"),
        (folder.name("pipe"), 66, "is not a regular file"),
        (folder.write("empty", ""), 65, "is empty"),
        (folder.write("text", "a report, but not as SQLite\n" * 99), 65, "is not an SQLite database"),
        (folder.write("short", export[:50]), 65, "is not an SQLite database"),
        (folder.write("cut", export[:len(export) // 2]), 65, "or a broken one"),
        (folder.name("other"), 65, "is another application's database"),
        (locked, 75, "is locked by another process"),
    ]


def test_bad_input_gets_a_sentence():
    with Folder() as folder:
        path = folder.write("n", MARKER % (1, "m"))
        for name, wanted, part in bad_inputs(folder):
            lock = sqlite3.connect(name, isolation_level=None) if part[3:9] == "locked" else None
            if lock:
                lock.execute("BEGIN EXCLUSIVE")
            status, out, said = load("merge", "-i", name, "-n", path, "-o", folder.name("out"))
            if lock:
                lock.close()
            equal((status, out), (wanted, ""), said)
            equal(said.count("\n"), 1, said)
            contains(said, "nvtxt-import: %s " % name)
            contains(said, part)
        equal([name for name in os.listdir(folder.path) if name.startswith("out")], [])
        if os.geteuid() != 0:
            os.chmod(folder.name("export"), 0)
            status, _, said = load("merge", "-i", folder.name("export"), "-n", path, "-o", "x")
            equal(status, 66)
            contains(said, "Permission denied")


def test_a_table_that_is_not_fit_is_named():
    for change, part in (("ALTER TABLE NVTX_EVENTS DROP COLUMN globalTid", "no column 'globalTid'"),
                         ("ALTER TABLE NVTX_EVENTS RENAME TO n; CREATE VIEW NVTX_EVENTS AS "
                          "SELECT * FROM n", "NVTX_EVENTS is no table"),
                         ("ALTER TABLE NVTX_EVENTS ADD COLUMN c CHECK (text <> 'm')", "CHECK")):
        with Folder() as folder:
            export = make(folder.name("e"), "2022", change=change)
            path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
            status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name("out"))
            equal(status in (65, 74), True, said)
            contains(said, export)
            contains(said, part)
            equal(sorted(os.listdir(folder.path)), ["e", "n"])


def test_tables_that_are_not_there_or_not_tables_are_done_without():
    for change in ("DROP TABLE ThreadNames; DROP TABLE PROCESSES; DROP TABLE ENUM_NSYS_EVENT_TYPE",
                   "ALTER TABLE ThreadNames RENAME TO t; CREATE VIEW ThreadNames AS SELECT * FROM t",
                   "ALTER TABLE NVTX_EVENTS DROP COLUMN text",
                   "ALTER TABLE NVTX_EVENTS DROP COLUMN textId",
                   "ALTER TABLE NVTX_EVENTS DROP COLUMN domainId",
                   "ALTER TABLE NVTX_EVENTS ADD COLUMN length GENERATED ALWAYS AS (end - start)",
                   "CREATE TRIGGER t AFTER INSERT ON NVTX_EVENTS BEGIN DELETE FROM OSRT_API; END",
                   "CREATE TABLE s AS SELECT * FROM StringIds; DROP TABLE StringIds; "
                   "ALTER TABLE s RENAME TO StringIds"):
        with Folder() as folder:
            export = make(folder.name("e"), "2022", change=change)
            path = folder.write("n", SERVICE)
            status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name("out"))
            equal(status, 0, said)
            equal(len(added(export, folder.name("out"))["NVTX_EVENTS"]) >= 6, True, change)


def test_the_input_is_never_the_output():
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        os.link(export, folder.name("hard"))
        os.symlink("e", folder.name("soft"))
        before = bytes_of(export)
        path = folder.write("n", MARKER % (SESSION_NS + 5, "m"))
        for out in ("e", "hard", "soft"):
            status, _, said = load("merge", "-i", export, "-n", path, "-o", folder.name(out),
                                   "--force")
            equal(status, 64, said)
            contains(said, "the same file")
        equal(bytes_of(export), before)


def test_files_that_cannot_be_read_do_not_keep_the_others_out():
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        good = folder.write("good", MARKER % (SESSION_NS + 5, "m"))
        junk = folder.write("junk", b"\x7fELF\x00\x01\n" * 9)
        status, _, said = load("merge", "-i", export, "-n", folder.name("none"), folder.path, good,
                               junk, "-o", folder.name("out"))
        equal(status, 1)
        contains(said, "%s: No such file or directory\n" % folder.name("none"))
        contains(said, "%s is a folder: name its files" % folder.path)
        contains(said, "%s: nothing came of it, and most of its lines are wrong: is it NVTXT?" % junk)
        equal(query(folder.name("out"), "SELECT count(*) FROM NVTX_EVENTS WHERE text = 'm'"), [(1,)])
        status, _, _ = load("merge", "-i", export, "-n", folder.name("none"), "-o",
                            folder.name("x"))
        equal((status, os.path.exists(folder.name("x"))), (66, False))


def test_the_spelling_of_ImportNvtxt_is_understood():
    with Folder() as folder:
        make(folder.name("e"), "2026")
        folder.write("n", MARKER % (10, "a") + MARKER % (30, "b"))
        equal(load("--cmd", "merge", "-i", "e", "--nvtxt", "n", "--output", "out", "-m", "lerp",
                   "--ns_a", "100", "--ns_b", "200", "--target", "0:1", "--update_report_time",
                   cwd=folder.path), (0, "", ""))
        equal(query(folder.name("out"), "SELECT start FROM NVTX_EVENTS WHERE text IN ('a', 'b')"),
              [(100,), (200,)])
        equal(load("--cmd", "info", "--input", "e", cwd=folder.path)[1],
              "Analysis start (ns)\t0\nAnalysis end (ns)\t20000000\n")
        equal(load("--cmd", "create", "--nvtxt", "n", "-o", "store", "--target", "0:0",
                   "--update_report_time", cwd=folder.path), (0, "", ""))


def test_bad_usage_is_status_64_and_a_sentence():
    for args in (["merge"], ["merge", "-i", "a"], ["merge", "-i", "a", "-n", "b"],
                 ["merge", "-n", "b", "-o", "c"], ["merge", "-i", "a", "-o", "c"],
                 ["merge", "a", "-i", "a", "-n", "b", "-o", "c"],
                 ["merge", "-i", "a", "-n", "b", "-o", "c", "--target", "x"],
                 ["merge", "-i", "a", "-n", "b", "-o", "c", "--mode", "lin", "--ns-a", "1"]):
        status, out, said = load(*args)
        equal((status, out), (64, ""), args)
        contains(said, "nvtxt-import: ")


# ---- Mappings against Python's integers ---------------------------------------------------------

def lerp(t, ns_a, ns_b, a, b):
    return ns_a + (t - a) * (ns_b - ns_a) // (b - a)


def lin(t, ns_a, freq, a):
    return ns_a + (t - a) * 10**9 // freq


def random_value(dice):
    if dice.random() < 0.25:
        return dice.choice((LOW, LOW + 1, HIGH, HIGH - 1, 0, 1, -1, 10**9))
    return dice.randrange(-2**dice.randrange(1, 64), 2**dice.randrange(1, 64))


def random_mapping(dice, times):
    """Options, and the function from time to nanoseconds, of a mapping that is possible."""
    while True:
        ns_a, ns_b = random_value(dice), random_value(dice)
        a, b = random_value(dice), random_value(dice)
        given = dice.random() < 0.6
        if not given:
            a, b = min(times), max(times)
        if dice.random() < 0.5 and ns_b > ns_a and a != b:
            args = ["--mode", "lerp", "--ns-a", ns_a, "--ns-b", ns_b]
            args += ["--nvtxt-a", a, "--nvtxt-b", b] if given else []
            return args, lambda t: lerp(t, ns_a, ns_b, a, b)
        freq = random_value(dice)
        if freq > 0:
            args = ["--mode", "lin", "--ns-a", ns_a, "--freq", freq]
            return args + (["--nvtxt-a", a] if given else []), lambda t: lin(t, ns_a, freq, a)


def test_mappings_are_the_formulas_for_every_value():
    dice = random.Random(20)
    with Folder() as folder:
        out = folder.name("out")
        for _ in range(1000 if LONG else 24):
            times = [random_value(dice) for _ in range(100)]
            path = folder.write("n", "".join('Marker, %d, Qpc, 1, 1, 0, 0, "%d", 0\n' % (t, i)
                                             for i, t in enumerate(times)))
            args, mapped = random_mapping(dice, times)
            wanted = {i: mapped(t) for i, t in enumerate(times)}
            wanted = {i: ns for i, ns in wanted.items() if LOW <= ns <= HIGH}
            status, _, said = load("create", "--force", "-q", "-n", path, "-o", out, *map(str, args))
            equal(status, 0 if len(wanted) == len(times) else 1, said)
            got = {int(text): start for text, start in
                   query(out, "SELECT text, start FROM NVTX_EVENTS WHERE eventType = 34")}
            equal(got, wanted, args)


def test_impossible_mappings_are_refused():
    with Folder() as folder:
        path = folder.write("n", MARKER % (10, "a") + MARKER % (10, "b"))
        for args in ("lerp --ns-a 5 --ns-b 5 --nvtxt-a 1 --nvtxt-b 2",
                     "lerp --ns-a 5 --ns-b 4", "lerp --ns-a 5 --ns-b 9 --nvtxt-a 7 --nvtxt-b 7",
                     "lerp --ns-a 5 --ns-b 9", "lin --ns-a 5 --freq 0", "lin --ns-a 5 --freq -3",
                     "lerp --ns-a 5 --ns-b 9 --nvtxt-b 10"):
            status, _, said = load("create", "-n", path, "-o", folder.name("out"), "--mode",
                                   *args.split())
            equal(status, 64, args)
            contains(said, "the time mapping is impossible")
        equal(os.listdir(folder.path), ["n"])


# ---- Kills and full disks -----------------------------------------------------------------------

def test_a_kill_leaves_no_half_file():
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        many = folder.write("n", "".join(MARKER % (SESSION_NS + i, "m%d" % i) for i in range(30000)))
        before = bytes_of(export)
        dice = random.Random(7)
        finished = 0
        for number in range(200 if LONG else 8):
            out = folder.name("out%d" % number)
            with Running("nvtxt-import", "merge", "-i", export, "-n", many, "-o", out) as client:
                at = dice.random() * 0.12 if number else DEADLINE
                try:
                    client.process.wait(at)
                except subprocess.TimeoutExpired:
                    client.signal(dice.choice((signal.SIGKILL, signal.SIGTERM)))
                client.wait()
            equal(bytes_of(export), before)
            if os.path.exists(out):
                finished += 1
                equal(query(out, "SELECT count(*), count(DISTINCT text) FROM NVTX_EVENTS "
                                 "WHERE text LIKE 'm%'"), [(30000, 30000)])
                equal(query(out, "PRAGMA quick_check"), [("ok",)])
        equal(finished > 0, True)


def peak_kb(*args):
    """The most memory that a run of the importer took."""
    process = subprocess.Popen([program("client", "nvtxt-import"), "-q", *args])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    equal(process.returncode, 0)
    return usage.ru_maxrss


def write_many(folder, name, count):
    with open(folder.name(name), "w", encoding="ascii") as file:
        for i in range(count):
            file.write(MARKER % (SESSION_NS + i, "m%d" % i))
    return folder.name(name)


def test_memory_stays_flat():
    if SANITIZERS:
        raise Skip("sanitizers keep freed memory")
    few, many = (1000000, 10000000) if LONG else (20000, 200000)
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        first = write_many(folder, "few", few)
        second = write_many(folder, "many", many)
        commands = [("merge", "-i", export)] + ([("create",)] if LONG else [])
        for command in commands:
            small = peak_kb(*command, "-n", first, "-o", folder.name("out1"))
            large = peak_kb(*command, "-n", second, "-o", folder.name("out2"))
            equal(large < small + 8192, True, "%s: %d and %d KiB" % (command[0], small, large))
            equal(query(folder.name("out2"), "SELECT count(*) FROM NVTX_EVENTS WHERE start = end "
                                             "AND text GLOB 'm[0-9]*'"), [(many,)])
            os.unlink(folder.name("out1"))
            os.unlink(folder.name("out2"))


def test_a_signal_leaves_nothing_behind():
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        for number in (signal.SIGTERM, signal.SIGINT):
            with Running("nvtxt-import", "merge", "-i", export, "-n", "-", "-o",
                         folder.name("out")) as client:
                client.say(MARKER % (SESSION_NS + 1, "a"))
                wait_for(lambda: len(os.listdir(folder.path)) > 1, "it has begun")
                client.signal(number)
                equal(client.wait(), 128 + number)
            equal(os.listdir(folder.path), ["e"])


def test_a_full_disk_leaves_nothing_behind():
    with Folder() as folder:
        export = make(folder.name("e"), "2022")
        path = folder.write("n", "".join(MARKER % (SESSION_NS + i, "m%d" % i) for i in range(9000)))
        command = "ulimit -f %d; exec %s merge -i %s -n %s -o %s"
        for blocks in (20, 400):
            done = subprocess.run(["sh", "-c", command % (
                blocks, program("client", "nvtxt-import"), export, path, folder.name("out"))],
                stderr=subprocess.PIPE)
            equal(done.returncode, 74, done.stderr)
            equal(sorted(os.listdir(folder.path)), ["e", "n"])


if __name__ == "__main__":
    run(globals())
