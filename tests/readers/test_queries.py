# SPDX-License-Identifier: Apache-2.0
"""The ready queries of doc/queries: each gives what it says without reading what it need not."""
import os
import re

from pages import names, query
from story import COMM, NS, TOP, Told, tell_log
from lib import equal, run

PARAMETERS = ("from_ns", "to_ns", "rows", "minutes")
OLD_EVENTS = 20000


def ask(told, name, **values):
    """Rows as tuples; a parameter that is not given is NULL, as in the shell."""
    reader = told.reader()
    try:
        return reader.execute(query(name), {**dict.fromkeys(PARAMETERS), **values}).fetchall()
    finally:
        reader.close()


def utc(told, seconds):
    (text,), = told.query("SELECT strftime('%Y-%m-%dT%H:%M:%S', ?, 'unixepoch') || "
                          "printf('.%09dZ', ?)", told.at(seconds) // NS, told.at(seconds) % NS)
    return text


def test_what_happened():
    with Told() as told:
        start = {"from_ns": told.at(0)}
        the_queries_of_events(told, start)
        the_queries_of_ranges(told, start)
        the_queries_of_sources(told)
        parameters_may_be_missing_empty_or_text(told)
        ranges_of_all_time_end_no_query(told)


def the_queries_of_events(told, start):
    minute = told.at(0) // NS
    equal(ask(told, "events_per_minute", **start), [(minute, 13, 4, 9), (minute + 60, 1, 1, 0)])
    equal(ask(told, "events_per_minute", to_ns=told.at(0), **start), [(minute, 1, 0, 1)])
    web, disk = ("web", "Thread 100", "web.nvtxt"), ("backup", "Thread 200", COMM)
    worker = ("web", "worker one", "web.nvtxt")
    latest = [
        (utc(told, 5), 60000.0, "push/pop", "request", "http", None) + worker,
        (utc(told, 61), 0.0, "mark", "slow", "http", 3.5) + worker,
        (utc(told, 52), 0.0, "mark", "guest", None, 0.0, "Process 300", "Thread 301", COMM),
        (utc(told, 51), 0.0, "mark", "'bye'", None, -1.0) + disk,
        (utc(told, 50), 0.0, "mark", "done", "7", 7.0) + disk,
        (utc(told, 20), 30000.0, "push/pop", "copy", "disk", None) + disk,
        (utc(told, 6), 20000.0, "push/pop", "query", "db", None) + worker,
        (utc(told, 5), 7000.0, "start/end", "download", None, None) + web,
        (utc(told, 0), 10000.0, "push/pop", "request", "http", None) + web,
        (utc(told, 2), 6000.0, "start/end", "upload", None, None) + web,
        (utc(told, 4), 1000.0, "push/pop", "parse", None, None) + web,
        (utc(told, 1), 2000.0, "push/pop", "query", "db", None) + web,
        (utc(told, 1.5), 1000.0, "push/pop", "fetch", None, None) + web,
        (utc(told, 1), 0.0, "mark", "login", "http", 42.0) + web]
    equal(ask(told, "last_five_minutes", **start), latest)
    equal(ask(told, "last_five_minutes", rows=2, **start), latest[:2])
    equal(ask(told, "last_five_minutes", from_ns=told.at(50), to_ns=told.at(51)),
          [latest[0]] + latest[3:6])
    equal(sorted(ask(told, "recent", minutes=50), key=str), sorted(latest, key=str))


def test_errors_of_logs():
    with Told() as told:
        start, minute = {"from_ns": told.at(0)}, told.at(0) // NS
        equal(ask(told, "errors_per_minute", **start), [])
        tell_log(told)
        equal(ask(told, "errors_per_minute", **start), [(minute, 1, 1), (minute + 60, 1, 0)])
        equal(ask(told, "errors_per_minute", to_ns=told.at(3), **start), [(minute, 1, 0)])


def the_queries_of_ranges(told, start):
    web, worker = ("web", "Thread 100", "web.nvtxt"), ("web", "worker one", "web.nvtxt")
    equal(ask(told, "slowest_ranges", rows=3, **start), [
        (utc(told, 5), 60000.0, "request", "http") + worker,
        (utc(told, 20), 30000.0, "copy", "disk", "backup", "Thread 200", COMM),
        (utc(told, 6), 20000.0, "query", "db") + worker])
    equal(len(ask(told, "slowest_ranges", **start)), 9)
    equal(ask(told, "slowest_ranges", from_ns=told.at(0), to_ns=told.at(1)), [
        (utc(told, 0), 10000.0, "request", "http") + web,
        (utc(told, 1), 2000.0, "query", "db") + web])
    equal(ask(told, "time_per_category", **start), [
        ("web", 100, "shop", "http", 2, 70.0), ("backup", 200, None, "disk", 1, 30.0),
        ("web", 100, "shop", "db", 2, 22.0), ("web", 100, "shop", None, 4, 15.0)])
    equal(ask(told, "time_per_category", from_ns=told.at(9), to_ns=told.at(21)), [
        ("web", 100, "shop", "http", 2, 13.0), ("web", 100, "shop", "db", 1, 12.0),
        ("web", 100, "shop", None, 1, 3.0), ("backup", 200, None, "disk", 1, 1.0)])
    nested = [
        (100, 100, 1, "request", None, told.at(0), 10000.0),
        (100, 100, 2, "query", "request", told.at(1), 2000.0),
        (100, 100, 3, "fetch", "query", told.at(1.5), 1000.0),
        (100, 100, 2, "parse", "request", told.at(4), 1000.0),
        (100, 100, 1, "serving", None, told.at(70), None),
        (100, 101, 1, "request", None, told.at(5), 60000.0),
        (100, 101, 2, "query", "request", told.at(6), 20000.0),
        (200, 200, 1, "copy", None, told.at(20), 30000.0)]
    equal(ask(told, "nesting", **start), nested)
    equal(ask(told, "nesting", rows=3, **start), nested[:3])
    equal(ask(told, "tree", rows=6), [
        ("copy", 1, 30000.0, 30000.0, "copy"), ("download", 1, 7000.0, 7000.0, "download"),
        ("request", 2, 70000.0, 60000.0, "request"), ("  parse", 1, 1000.0, 1000.0, "request;parse"),
        ("  query", 2, 22000.0, 20000.0, "request;query"),
        ("    fetch", 1, 1000.0, 1000.0, "request;query;fetch")])
    equal(ask(told, "busy", **start), [
        ("web", "worker one", 100, 101, 2, 60.0, 70.0),
        ("backup", "Thread 200", 200, 200, 1, 30.0, 30.0),
        ("web", "Thread 100", 100, 100, 4, 10.0, 70.0)])
    equal(ask(told, "busy", from_ns=told.at(9), to_ns=told.at(21)), [
        ("web", "worker one", 100, 101, 2, 12.0, 13.0),
        ("web", "Thread 100", 100, 100, 1, 1.0, 13.0),
        ("backup", "Thread 200", 200, 200, 1, 1.0, 1.0)])
    equal(ask(told, "range_totals"), [
        ("request", "http", "shop", 2, 70.0, 35000.0, 60000.0),
        ("copy", "disk", None, 1, 30.0, 30000.0, 30000.0),
        ("query", "db", "shop", 2, 22.0, 11000.0, 20000.0),
        ("download", None, "shop", 1, 7.0, 7000.0, 7000.0),
        ("upload", None, "shop", 1, 6.0, 6000.0, 6000.0),
        ("fetch", None, "shop", 1, 1.0, 1000.0, 1000.0),
        ("parse", None, "shop", 1, 1.0, 1000.0, 1000.0)])


def the_queries_of_sources(told):
    pid, uid = os.getpid(), os.getuid()
    running = ask(told, "running_now")
    equal([row[1:] for row in running], [
        ("serving", "web", "Thread 100", 100, 100, "push/pop"),
        ("transfer", "web", "worker one", 100, 101, "start/end")])
    (now,), = told.query("SELECT unixepoch('now')")
    for row, began in zip(running, (70, 71)):
        assert 0 <= now - told.at(began) // NS - row[0] < 3600, (row, now)
    equal(ask(told, "errors_per_source"), [
        ("web.nvtxt", "session", pid, uid, 2, 1, 10, 37, "36: unknown command 'Oops'"),
        (COMM, "plain", pid, uid, 1, 0, 4, 17,
         "17: thread 200 of process 200 has no range to pop")])
    equal([row[1:3] for row in ask(told, "diagnostics")], [
        ("error", "web.nvtxt:36:1: error: unknown command 'Oops' [unknown-command]"),
        ("error", "web.nvtxt:35:9: error: undefined variable '$Undefined' [undefined-variable]"),
        ("warning", "web.nvtxt:32:43: warning: no such colour: Mauve; the event has colour 0 "
                    "[bad-color]"),
        ("error", COMM + ":17:1: error: thread 200 of process 200 has no range to pop "
                  "[pop-without-push]")])
    equal(len(ask(told, "diagnostics", rows=1)), 1)
    equal([row[1:] for row in ask(told, "losses")], [("full", 12, "web.nvtxt", pid, uid)])


def parameters_may_be_missing_empty_or_text(told):
    """The shell leaves them NULL, forms send text, which is empty when nothing was put in."""
    for name in names():
        if "older." in query(name):
            continue
        as_numbers = ask(told, name, from_ns=told.at(0), rows=3, minutes=50)
        as_text = ask(told, name, from_ns=str(told.at(0)), to_ns="", rows="3", minutes="50")
        if name != "running_now":  # its seconds go on
            equal(as_text, as_numbers, name)
        ask(told, name, **dict.fromkeys(PARAMETERS, ""))


def ranges_of_all_time_end_no_query(told):
    """Six of them are more than an Int64 of nanoseconds: a few pushes of a forgotten time base."""
    now = told.at(80)
    told.daemon.send("@RangePush, Time, Message\n@RangePop, Time\nProcessId = 300\n"
                     + "RangePush, 5, ages\n" * 6 + "RangePop, %d\n" % now * 6)
    seconds = 6 * (now - 5) / 1e9
    equal(ask(told, "range_totals", rows=1),
          [("ages", None, None, 6, seconds, seconds * 1e3 / 6, seconds * 1e3 / 6)])
    equal([row[4:] for row in ask(told, "time_per_category", from_ns=0)][0], (6, seconds))
    for name in ("busy", "events_per_minute", "last_five_minutes", "nesting", "slowest_ranges"):
        assert ask(told, name, from_ns=0), name


def test_the_default_is_the_last_five_minutes():
    with Told() as told:
        now = told.at(0) // NS * NS  # at most three minutes ago, when this began
        told.daemon.send("@Marker, Time, Message\nProcessId = 5\nTimeBase = ClockRealtime\n"
                         "Marker, %d, old\n" % (now - 3000 * NS))
        (recent,), = told.query("SELECT unixepoch('now') * 1000000000 - ?", now)
        texts = [row[3] for row in ask(told, "last_five_minutes", to_ns="")]
        assert "old" not in texts, texts
        if recent < 280 * NS:
            equal(len(texts), 14)
        equal("old" in [row[2] for row in ask(told, "recent", minutes=5)], False)
        equal(ask(told, "events_per_minute", from_ns=now - 3000 * NS, to_ns=now - 2900 * NS)[0][1], 1)


def reads_all_events(details):
    """Does a plan walk NVTX_EVENTS (e; c in the views) other than by rowid?"""
    return [detail for detail in details
            if re.match(r"(SCAN|SEARCH) (e|c|NVTX_EVENTS)\b", detail)
            and "INTEGER PRIMARY KEY" not in detail]


def steps_of(told, sql, **values):
    """What SQL costs: hundreds of steps of SQLite's machine."""
    steps = [0]

    def count():
        steps[0] += 1

    reader = told.reader()
    try:
        reader.execute("SELECT count(*) FROM sqlite_master").fetchall()
        reader.set_progress_handler(count, 100)
        reader.execute(sql, values).fetchall()
    finally:
        reader.close()
    return steps[0]


def work(told, name, **values):
    """What a ready query costs."""
    return steps_of(told, query(name), **{**dict.fromkeys(PARAMETERS), "from_ns": told.at(0),
                                          "minutes": 50, **values})


def test_a_query_reads_no_event_that_it_need_not():
    with Told() as told:
        few = {name: work(told, name) for name in names() if "older." not in query(name)}
        told.daemon.send("@RangeStartEnd, Start, End, Message\nProcessId = 5\n" +
                         "".join("RangeStartEnd, %d, %d, a\n" % (i, i + 1)
                                 for i in range(OLD_EVENTS)))
        reader = told.reader()
        for name, before in few.items():
            plan = [row[3] for row in reader.execute("EXPLAIN QUERY PLAN " + query(name),
                                                     dict.fromkeys(PARAMETERS))]
            scans = "-- Reads every event" in query(name)
            equal(bool(reads_all_events(plan)), scans, "%s: %r" % (name, plan))
            grown = work(told, name) - before
            equal(grown > OLD_EVENTS / 100, scans, "%s: %d more" % (name, grown))
        reader.close()


def test_the_latest_events_in_words_cost_what_they_show():
    with open(os.path.join(TOP, "man/nvtxt-store.5"), encoding="utf-8") as page:
        page = page.read()
    printed = re.findall(r"^SELECT \* FROM NVTXT_TIMELINE [^;]*", page, re.MULTILINE)
    equal(len(printed), 2)
    slow = "SELECT * FROM NVTXT_TIMELINE ORDER BY start DESC LIMIT 10"
    with Told() as told:
        told.daemon.send("@RangeStartEnd, Start, End, Message\nProcessId = 5\n" +
                         "".join("RangeStartEnd, %d, %d, a\n" % (told.at(100) + i, told.at(100) + i)
                                 for i in range(OLD_EVENTS)))
        wanted = told.query(slow)
        costly = steps_of(told, slow)
        for sql in printed:
            equal(told.query(sql), wanted)
            cost = steps_of(told, sql)
            assert cost < costly / 4, (sql, cost, costly)


def test_no_page_orders_the_view_by_start():
    for folder, ends in (("", "README.md"), ("doc", ".md"), ("man", (".in", "1", "3", "5", "7")), ("doc/queries", ".sql")):
        for name in os.listdir(os.path.join(TOP, folder)):
            path = os.path.join(TOP, folder, name)
            if not name.endswith(ends) or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8") as page:
                for found in re.findall(r"FROM NVTXT_TIMELINE\b[^;\"]*", page.read()):
                    ordered = re.search(r"ORDER BY (\w+\.)?start\b", found)
                    assert not ordered or "eventRow" in found, (path, found)


def test_nesting_sorts_no_more_than_it_shows():
    with Told() as told:
        told.daemon.send("@RangePush, Time, Message\n@RangePop, Time\nProcessId = 5\n"
                         "TimeBase = ClockRealtime\n" +
                         "".join("RangePush, %d, a\nRangePop, %d\n" % (at, at + 5)
                                 for at in range(told.at(10), told.at(10) + 30000, 10)))
        few, all_of_them = work(told, "nesting", rows=10), work(told, "nesting", rows=10000)
        assert few < all_of_them / 4, (few, all_of_them)


def test_segments_are_asked_together():
    with Told() as told:
        previous = told.rotate()
        reader = told.reader()
        reader.execute("ATTACH ? AS older", ("file:%s?mode=ro" % previous,))
        rows = reader.execute(query("over_segments")).fetchall()
        reader.close()
        equal(rows, [(100, "web", 13, told.at(0), told.at(82)),
                     (200, "backup", 3, told.at(20), told.at(51)),
                     (300, "Process 300", 1, told.at(52), told.at(52))])


def test_what_is_running_and_what_went_wrong_outlast_a_rotation():
    with Told() as told:
        before = [row[1:] for row in ask(told, "running_now")]
        told.daemon.control("rotate")
        equal([row[1:] for row in ask(told, "running_now")], before)
        equal([row[0:1] + row[4:6] for row in ask(told, "errors_per_source")],
              [("web.nvtxt", 2, 1)])
        for name in names():
            if "older." not in query(name):
                ask(told, name, from_ns=told.at(0), minutes=50)


def test_each_file_says_what_it_gives_takes_and_costs():
    for name in names():
        head = [line for line in query(name).splitlines() if line.startswith("-- ")]
        text = "\n".join(head)
        assert re.search(r"^-- Parameters: ", text, re.M), name
        assert re.search(r"^-- (Quick|Grows with the span|Reads every event)\b", text, re.M), name
        used = set(re.findall(r"(?<!\w):(\w+)", re.sub(r"--[^\n]*", "", query(name))))
        said = set(re.findall(r"(?<!\w):(\w+)", re.search(r"^-- Parameters: (.*)$", text, re.M)[1]))
        equal(said, used, name)


if __name__ == "__main__":
    run(globals())
