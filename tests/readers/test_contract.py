# SPDX-License-Identifier: Apache-2.0
"""What programs that read the SQLite exports of Nsight Systems count on, asked of our file the way
they ask: doc/readers.md names them. The store is the story's, stopped in order, its main file alone
copied away and opened as immutable."""
import atexit
import os
import shutil
import sqlite3
import tempfile

from story import Told
from lib import Daemon, equal, run

DOCUMENTED = {
    "StringIds": [("id", "INTEGER", 0, 1), ("value", "TEXT", 1, 0)],
    "ThreadNames": [("nameId", "INTEGER", 0, 1), ("globalTid", "INT", 1, 0)],
    "NVTX_EVENTS": [(name, "TEXT" if name == "text" else "INT", 1, 0) for name in (
        "start", "end", "eventType", "rangeId", "text", "category", "color", "globalTid",
        "domainId")],
}
MORE_OF_EVENTS = ["endGlobalTid", "textId", "uint64Value", "int64Value", "doubleValue",
                  "uint32Value", "int32Value", "floatValue", "jsonText"]
KERNEL = ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
          "demangledName", "shortName", "launchType", "cacheConfig", "registersPerThread", "gridX",
          "gridY", "gridZ", "blockX", "blockY", "blockZ", "staticSharedMemory",
          "dynamicSharedMemory", "localMemoryPerThread", "localMemoryTotal", "gridId",
          "sharedMemoryExecuted"]
RUNTIME = ["start", "end", "globalTid", "correlationId", "nameId", "returnValue"]
PID = "globalTid / 0x1000000 % 0x1000000"
TID = "globalTid % 0x1000000"
T100, T101, T200, T301 = (100 << 24) + 100, (100 << 24) + 101, (200 << 24) + 200, (300 << 24) + 301


def copy_of(told, folder):
    """Ends the daemon in order and takes the main file only."""
    told.daemon.stop()
    path = os.path.join(folder, "copy.sqlite")
    shutil.copy(os.path.realpath(told.daemon.store), path)
    told.daemon.start()
    return path


class Copy:
    """The story's store, made once."""
    path = None
    story = None

    @classmethod
    def ask(cls, sql, *values):
        if cls.path is None:
            folder = tempfile.mkdtemp(prefix="nvtxtd-test-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            with Told() as told:
                cls.path = copy_of(told, folder)
                cls.story = told.story
        reader = sqlite3.connect("file:%s?immutable=1" % cls.path, uri=True)
        try:
            return reader.execute(sql, values).fetchall()
        finally:
            reader.close()


ask = Copy.ask


def columns(table):
    return [(name, kind, not_null, key) for _, name, kind, not_null, _, key in
            ask("PRAGMA table_info(%s)" % table)]


def test_the_documented_columns_come_first():
    for table, wanted in DOCUMENTED.items():
        equal(columns(table)[:len(wanted)], wanted, table)
    equal([name for name, *_ in columns("NVTX_EVENTS")][9:], MORE_OF_EVENTS)
    equal([not_null for _, _, not_null, _ in columns("NVTX_EVENTS")], [1] * 9 + [0] * 9)


def test_the_tables_are_plain_ones():
    """Published queries join StringIds and the like without saying whose column they mean."""
    forbidden = {"id", "value", "pid", "processId", "name"}
    equal(forbidden & {name for name, *_ in columns("NVTX_EVENTS")}, set())
    exported = list(DOCUMENTED) + ["PROCESSES", "ENUM_NSYS_EVENT_TYPE", "META_DATA_EXPORT",
                                   "TARGET_INFO_SESSION_START_TIME"]
    for table in exported:
        equal(ask("SELECT type FROM sqlite_master WHERE name = ?", table), [("table",)], table)
        equal(ask("SELECT wr, strict FROM pragma_table_list(?)", table), [(0, 0)], table)
        equal(ask("PRAGMA index_list(%s)" % table), [], table)
    equal(ask("SELECT name FROM sqlite_master WHERE type = 'trigger'"), [])
    equal(ask("SELECT name FROM sqlite_master WHERE name NOT LIKE 'NVTXT%' AND name NOT LIKE "
              "'sqlite_autoindex_NVTXT%' AND type <> 'view' ORDER BY name"),
          [(name,) for name in sorted(exported)])


def test_nothing_claims_that_the_profiler_wrote_it():
    equal(ask("SELECT value FROM META_DATA_EXPORT WHERE name = 'PRODUCT_NAME'"), [("nvtxtd",)])
    equal(ask("SELECT * FROM META_DATA_EXPORT WHERE value LIKE '%nsight%' OR value LIKE '%nsys%'"),
          [])


def test_process_and_thread_ids_are_decoded_with_the_documented_recipe():
    wanted = [(100, 100), (100, 101), (200, 200), (300, 301)]
    equal(ask("SELECT DISTINCT %s AS PID, %s AS TID FROM NVTX_EVENTS ORDER BY 1, 2" % (PID, TID)),
          wanted)
    equal(ask("SELECT DISTINCT (globalTid >> 24) & 0xFFFFFF, globalTid & 0xFFFFFF FROM ThreadNames "
              "ORDER BY 1, 2"), wanted)
    equal(ask("SELECT globalPid / 0x1000000 % 0x1000000, pid, name FROM PROCESSES ORDER BY pid"),
          [(100, 100, "web"), (200, 200, "backup"), (300, 300, "Process 300")])
    equal(ask("SELECT %s, %s FROM NVTX_EVENTS WHERE endGlobalTid IS NOT NULL" % (
        PID.replace("globalTid", "endGlobalTid"), TID.replace("globalTid", "endGlobalTid"))),
          [(100, 101)])


def test_each_event_type_has_its_name():
    equal(ask("SELECT t.name, count(*) FROM NVTX_EVENTS e JOIN ENUM_NSYS_EVENT_TYPE t "
              "ON e.eventType = t.id GROUP BY t.id ORDER BY t.id"),
          [("NvtxCategory", 3), ("NvtxMark", 5), ("NvtxThread", 1), ("NvtxPushPopRange", 7),
           ("NvtxStartEndRange", 2), ("NvtxDomainCreate", 1)])


def test_categories_are_named_by_domain_and_number():
    equal(ask("""
        WITH categories AS (SELECT category, text AS name, domainId FROM NVTX_EVENTS
                            WHERE eventType = 33)
        SELECT e.text, c.name FROM NVTX_EVENTS e LEFT JOIN categories c
        ON e.category = c.category AND e.domainId = c.domainId
        WHERE e.eventType IN (34, 59, 60) ORDER BY e.rowid"""), [
            ("copy", "disk"), ("done", None), ("'bye'", None), ("guest", None), ("fetch", None),
            ("query", "db"), ("parse", None), ("request", "http"), ("query", "db"),
            ("request", "http"), ("upload", None), ("download", None), ("login", "http"),
            ("slow", "http")])


def test_the_recipe_that_joins_categories_without_the_process_gives_a_row_a_process():
    recipe = """SELECT e.text, c.text FROM NVTX_EVENTS e LEFT JOIN NVTX_EVENTS c ON c.eventType = 33
                AND e.category = c.category AND e.domainId = c.domainId %s
                WHERE e.text = 'both' AND e.eventType = 34 ORDER BY 2"""
    with Daemon() as daemon:
        for pid, name, text in ((7, "seven", "both"), (8, "eight", "other")):
            daemon.send("@SetCategoryName, CategoryId, Name\n@Marker, Time, CategoryId, Message\n"
                        "ProcessId = %d\nSetCategoryName, 1, %s\nMarker, 1, 1, %s\n" % (pid, name, text))
        equal(daemon.query(recipe % ""), [("both", "eight"), ("both", "seven")])
        equal(daemon.query(recipe % "AND e.globalTid >> 24 = c.globalTid >> 24"), [("both", "seven")])


def test_a_text_has_one_id_but_for_names_of_threads():
    with Daemon() as daemon:
        source = ("@SetThreadName, ProcessId, ThreadId, Name\n@Marker, Time, ProcessId, ThreadId, Message\n"
                  "SetThreadName, 7, 1, same\nSetThreadName, 7, 2, same\nMarker, 1, 7, 1, same\nMarker, 2, 7, 2, same\n")
        for _ in range(2):
            daemon.send(source)
        ids = {row[0] for row in daemon.query("SELECT textId FROM NVTX_EVENTS WHERE text = 'same' AND eventType = 34")}
        names = [row[0] for row in daemon.query("SELECT nameId FROM ThreadNames ORDER BY 1")]
        equal((len(ids), len(set(names) | ids), len(names)), (1, 3, 2))
        equal(daemon.query("SELECT count(*) FROM StringIds WHERE value = 'same'"), [(3,)])
        daemon.send("@SetThreadName, ProcessId, ThreadId, Name\nSetThreadName, 7, 1, other\n"
                    "@Marker, Time, ProcessId, ThreadId, Message\nMarker, 3, 7, 1, same\n")
        equal(daemon.query("SELECT count(*) FROM NVTX_EVENTS e JOIN StringIds s ON s.id = e.textId "
                           "WHERE e.eventType = 34 AND s.value = 'same'"), [(5,)])


def test_domains_are_named_by_number_and_process():
    equal(ask("""
        WITH domains AS (SELECT domainId, globalTid >> 24 AS process, text AS name
                         FROM NVTX_EVENTS WHERE eventType = 75)
        SELECT coalesce(d.name || ':', '') || e.text FROM NVTX_EVENTS e LEFT JOIN domains d
        ON e.domainId = d.domainId AND e.globalTid >> 24 = d.process
        WHERE e.eventType = 59 ORDER BY e.rowid"""), [
            ("copy",), ("shop:fetch",), ("shop:query",), ("shop:parse",), ("shop:request",),
            ("shop:query",), ("shop:request",)])


def test_a_payload_is_the_one_column_that_is_not_null():
    equal(ask("""
        SELECT text, coalesce(uint64Value, int64Value, doubleValue, uint32Value, int32Value,
                              floatValue)
        FROM NVTX_EVENTS WHERE eventType = 34 ORDER BY rowid"""),
          [("done", 7), ("'bye'", -1), ("guest", 0), ("login", 42), ("slow", 3.5)])
    equal(ask("SELECT count(*) FROM NVTX_EVENTS WHERE (uint64Value IS NOT NULL) + (int64Value IS "
              "NOT NULL) + (doubleValue IS NOT NULL) + (uint32Value IS NOT NULL) + (int32Value IS "
              "NOT NULL) + (floatValue IS NOT NULL) > 1 OR jsonText IS NOT NULL"), [(0,)])


def test_text_and_text_id_say_the_same():
    equal(ask("SELECT e.text FROM NVTX_EVENTS e LEFT JOIN StringIds s ON e.textId = s.id "
              "WHERE s.value IS NOT e.text"), [])
    total, = ask("SELECT count(*) FROM NVTX_EVENTS")
    for name in ("coalesce(text, value)", "coalesce(value, text)", "text", "value"):
        equal(ask("SELECT count(%s) FROM NVTX_EVENTS JOIN StringIds ON textId = id" % name),
              [total], name)
    equal(ask("SELECT value FROM StringIds WHERE id = 0"), [("[Unknown]",)])


def test_every_row_has_an_end():
    """Readers filter on `end IS NOT NULL` and `end > start`, and subtract without looking."""
    equal(ask("SELECT count(*) FROM NVTX_EVENTS WHERE \"end\" IS NULL OR \"end\" < start OR "
              "start = 0"), [(0,)])
    equal(ask("SELECT eventType, count(*), sum(end - start) / 1000000000 FROM NVTX_EVENTS "
              "WHERE end > start GROUP BY 1"), [(59, 7, 124), (60, 2, 13)])
    equal(ask("SELECT count(*) FROM NVTX_EVENTS WHERE eventType NOT IN (59, 60) AND end <> start"),
          [(0,)])
    equal(ask("SELECT text, rangeId > 0 FROM NVTX_EVENTS WHERE eventType = 60 GROUP BY rangeId"),
          [("upload", 1), ("download", 1)])
    equal(ask("SELECT count(*) FROM NVTX_EVENTS WHERE eventType <> 60 AND rangeId <> 0"), [(0,)])


def test_names_stand_at_events_and_widen_no_window():
    equal(ask("SELECT min(start), max(end) FROM NVTX_EVENTS"),
          [(Copy.story.at(0), Copy.story.at(65))])
    equal(ask("SELECT startTime, stopTime, duration, globalVid FROM ANALYSIS_DETAILS"),
          [(Copy.story.at(0), Copy.story.at(65), 65 * 10**9, 0)])
    equal(ask("SELECT n.text FROM NVTX_EVENTS n WHERE n.eventType IN (33, 39, 75) AND NOT EXISTS "
              "(SELECT 1 FROM NVTX_EVENTS e WHERE e.start = n.start AND e.eventType IN "
              "(34, 59, 60) AND e.globalTid >> 24 = n.globalTid >> 24)"), [])


def test_the_timeline_begins_at_the_epoch():
    equal(ask("SELECT utcEpochNs, utcTime, localTime FROM TARGET_INFO_SESSION_START_TIME"),
          [(0, "1970-01-01 00:00:00", "1970-01-01 00:00:00")])
    equal(ask("SELECT e.start + t.utcEpochNs FROM NVTX_EVENTS e, TARGET_INFO_SESSION_START_TIME t "
              "WHERE e.text = 'login'"), [(Copy.story.at(1),)])


def test_each_thread_has_one_name():
    equal(ask("SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s ON s.id = t.nameId "
              "ORDER BY 1"),
          [(T100, "Thread 100"), (T101, "worker one"), (T200, "Thread 200"), (T301, "Thread 301")])
    total, = ask("SELECT count(*) FROM NVTX_EVENTS")
    equal(ask("""
        SELECT count(*) FROM NVTX_EVENTS AS ne JOIN ThreadNames AS tname
        ON ne.globalTid == tname.globalTid JOIN StringIds AS rname ON ne.textId = rname.id
        JOIN StringIds AS rname2 ON tname.nameId = rname2.id"""), [total])


def test_converters_of_gpu_traces_find_their_tables():
    """Each process has its one device, a kernel that is named and lasts no time, and no call."""
    equal([name for name, *_ in columns("CUPTI_ACTIVITY_KIND_KERNEL")], KERNEL)
    equal([name for name, *_ in columns("CUPTI_ACTIVITY_KIND_RUNTIME")], RUNTIME)
    equal(ask("SELECT DISTINCT deviceId, globalPid / 0x1000000 % 0x1000000 AS PID "
              "FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY PID"), [(0, 100), (0, 200), (0, 300)])
    equal(ask("SELECT k.start, k.end - k.start, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k "
              "JOIN StringIds s ON k.shortName = s.id JOIN StringIds d ON k.demangledName = d.id"),
          [(Copy.story.at(0), 0, "[Unknown]")] * 3)
    equal(ask("SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME"), [])
    equal(ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN CUPTI_ACTIVITY_KIND_RUNTIME "
              "USING (correlationId)"), [(0,)])
    # who looks for tables only takes the file for one without a GPU
    equal(ask("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'CUPTI%'"), [])


def test_the_gpu_views_can_be_left_out():
    with Told(config="CuptiViews=no\n") as told:
        equal(told.query("SELECT name FROM sqlite_master WHERE name LIKE 'CUPTI%'"), [])
        equal(told.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59"), [(7,)])


def test_outer_ranges_sort_before_what_they_hold():
    equal(ask("SELECT text FROM NVTX_EVENTS WHERE eventType = 59 AND globalTid = ? "
              "ORDER BY start ASC, end DESC", T100),
          [("request",), ("query",), ("fetch",), ("parse",)])


def test_a_new_name_doubles_no_row():
    with Told() as told:
        before, = told.query("SELECT count(*) FROM NVTX_EVENTS")
        told.daemon.send('@SetThreadName, ProcessId, ThreadId, Name\nProcessId = 200\n'
                         'SetCategoryName, 1, files\n'
                         '@SetProcessName, ProcessId, Name\nSetProcessName, 200, archive\n'
                         'SetThreadName, 100, 101, "worker two"\nSetThreadName, 100, 100, '
                         '"worker two"\n')
        equal(told.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType <> 39"),
              [(before[0] - 1,)])
        equal(told.query("SELECT category, text FROM NVTX_EVENTS WHERE eventType = 33 AND "
                         "domainId = 0"), [(1, "files")])
        equal(told.query("SELECT name FROM PROCESSES WHERE pid = 200"), [("archive",)])
        equal(told.query("SELECT t.globalTid, s.value FROM ThreadNames t JOIN StringIds s "
                         "ON s.id = t.nameId WHERE t.globalTid IN (?, ?) ORDER BY 1", T100, T101),
              [(T100, "worker two"), (T101, "worker two")])
        equal(told.query("SELECT globalTid, text FROM NVTX_EVENTS WHERE eventType = 39 "
                         "ORDER BY globalTid"), [(T100, "worker two"), (T101, "worker two")])


def more(told, count):
    told.daemon.send("@Marker, Time, Message\nProcessId = 9\nTimeBase = ClockRealtime\n" + "".join(
        "Marker, %d, later\n" % told.at(i) for i in range(count)))
    equal(told.query("SELECT count(*) FROM NVTX_EVENTS WHERE text = 'later' AND globalTid >> 24 = 9"),
          [(count,)])


def test_a_store_in_use_can_be_attached():
    with Told() as told:
        reader = sqlite3.connect(":memory:", uri=True)
        reader.execute("ATTACH ? AS live", ("file:%s?mode=ro" % told.daemon.store,))
        equal(reader.execute("SELECT count(*) FROM live.NVTX_EVENTS").fetchall(), [(19,)])
        more(told, 3)
        equal(reader.execute("SELECT count(*) FROM live.NVTX_EVENTS").fetchall(), [(22,)])
        try:
            reader.execute("DELETE FROM live.NVTX_EVENTS")
            raise AssertionError("a read-only reader could write")
        except sqlite3.OperationalError:
            pass
        reader.close()


def test_somebody_elses_index_is_survived():
    with Told(shared=True) as told:
        writer = sqlite3.connect(told.daemon.store, timeout=10)
        writer.execute("CREATE INDEX theirs ON NVTX_EVENTS (start)")
        writer.commit()
        writer.close()
        more(told, 5)
        told.daemon.stop()
        told.daemon.start()
        equal(told.query("SELECT count(*) FROM sqlite_master WHERE name = 'theirs'"), [(1,)])
        equal(told.query("SELECT count(*) FROM NVTX_EVENTS INDEXED BY theirs WHERE start >= 0"),
              told.query("SELECT count(*) FROM NVTX_EVENTS NOT INDEXED"))
        equal(told.query("PRAGMA integrity_check"), [("ok",)])


def test_the_segment_after_a_rotation_reads_like_the_first():
    with Told() as told:
        schema = "SELECT type, name, sql FROM sqlite_master ORDER BY name"
        first = told.query(schema)
        told.rotate()
        equal(told.query(schema), first)
        equal(told.query("""
            WITH categories AS (SELECT category, text AS name, domainId FROM NVTX_EVENTS
                                WHERE eventType = 33),
                 domains AS (SELECT domainId, globalTid >> 24 AS process, text AS name
                             FROM NVTX_EVENTS WHERE eventType = 75)
            SELECT e.eventType, d.name || ':' || e.text, c.name, s.value, p.name, e.start, e.end
            FROM NVTX_EVENTS e JOIN domains d ON e.domainId = d.domainId
            AND e.globalTid >> 24 = d.process LEFT JOIN categories c ON e.category = c.category
            AND e.domainId = c.domainId JOIN ThreadNames t ON t.globalTid = e.globalTid
            JOIN StringIds s ON s.id = t.nameId JOIN PROCESSES p
            ON p.globalPid >> 24 = e.globalTid >> 24
            WHERE e.eventType IN (34, 59, 60) ORDER BY e.start"""), [
                (59, "shop:serving", None, "Thread 100", "web", told.at(70), told.at(80)),
                (60, "shop:transfer", None, "worker one", "web", told.at(71), told.at(82)),
                (34, "shop:again", "db", "worker one", "web", told.at(81), told.at(81))])
        equal(told.query("SELECT text FROM NVTX_EVENTS e LEFT JOIN StringIds s ON e.textId = s.id "
                         "WHERE s.value IS NOT e.text"), [])
        equal(told.query("SELECT globalTid, count(*) FROM ThreadNames GROUP BY 1 HAVING "
                         "count(*) > 1"), [])
        equal(told.query("SELECT e.text FROM NVTX_EVENTS e LEFT JOIN ThreadNames t ON "
                         "t.globalTid = e.globalTid LEFT JOIN PROCESSES p ON p.globalPid >> 24 = "
                         "e.globalTid >> 24 WHERE t.nameId IS NULL OR p.pid IS NULL"), [])
        equal(told.query("SELECT count(*) FROM NVTX_EVENTS WHERE start < ?", told.at(65)), [(0,)])
        equal(told.query("SELECT startTime, stopTime FROM ANALYSIS_DETAILS"),
              [(told.at(70), told.at(82))])
        equal(told.query("SELECT DISTINCT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL"),
              [(told.at(70), told.at(70))])


if __name__ == "__main__":
    run(globals())
