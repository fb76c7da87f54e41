# SPDX-License-Identifier: Apache-2.0
"""Commands of nvtxt-report that write rows: stats, events, summary and diff, in each format."""
import csv
import json
import os
import sqlite3
import subprocess

from client import Folder, program, run_client
from lib import DEADLINE, equal, run
from report import F1, f1, make_store, on_terminal, report

RICH = """\
ProcessId = 7
@Marker, Time, ThreadId, CategoryId, Color, Message, Payload
SetProcessName, 7, "a process"
SetThreadName, 7, 3, "a thread"
SetCategoryName, 5, "a category"
Marker, 10, 3, 5, Red, "one, 'two'", -4
@RangeStartEnd, Start, End, ThreadId, Message
RangeStartEnd, 20, 40, 3, "long"
"""


def rich(folder):
    path = folder.name("rich.nvtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(RICH)
    return make_store(folder, "rich.sqlite", path)


def open_range(path):
    """A range of thread 3 that is open, as a daemon that runs leaves it."""
    store = sqlite3.connect(path)
    with store:
        store.execute("INSERT INTO NVTXT_OPEN_RANGES (sourceId, globalTid, kind, start, text, "
                      "domainId, seq) VALUES (1, 7 << 24 | 3, 59, 15, 'open', 0, 1)")
    store.close()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def ours(event):
    """What nvtxt-export does not write."""
    return {name: event.pop(name) for name in ("store", "row", "name", "open", "depth", "parent",
                                               "selfTime") if name in event}


def test_events_have_the_members_of_an_export():
    with Folder() as folder:
        for store in (f1(folder), rich(folder)):
            exported = run_client("nvtxt-export", "--format", "jsonl", "--store", store)
            status, text, errors = report("events", "--format", "jsonl", store)
            equal((status, errors, exported[0]), (0, "", 0))
            events = lines(text)
            for event in events:
                extra = ours(event)
                equal(extra["row"], event["eventRow"])
                equal(extra["store"], 0)
            wanted = {event["eventRow"]: event for event in lines(exported[1])}
            equal(len(events), len(wanted))
            for event in events:
                equal(list(event.items()), list(wanted[event["eventRow"]].items()))


def test_json_has_the_events_of_jsonl():
    with Folder() as folder:
        store = f1(folder)
        text = report("events", "--format", "json", store)[1]
        document = json.loads(text)
        equal(list(document), ["schema", "command", "events"])
        equal((document["schema"], document["command"]), ("nvtxt-report/1", "events"))
        equal(document["events"], lines(report("events", "--format", "jsonl", store)[1]))
        equal(text, report("events", "--format", "json", store)[1])
        compute = [event for event in document["events"] if event["message"] == "compute"][0]
        equal((compute["depth"], compute["selfTime"]), (1, 20))
        step = [event for event in document["events"] if event["row"] == compute["parent"]][0]
        equal((step["name"], step["depth"], "parent" in step), (":step", 0, False))
        request = [event for event in document["events"] if event["message"] == "request"][0]
        equal(("depth" in request, "parent" in request), (False, False))


def test_events_of_an_export_at_the_ends_of_time():
    with Folder() as folder:
        path = folder.name("ends.sqlite")
        store = sqlite3.connect(path)
        with store:
            store.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
            store.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
                          " globalTid INTEGER, domainId INTEGER, uint64Value INTEGER)")
            store.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, 1 << 24 | 1, 0, ?)",
                              [(-2 ** 63, 2 ** 63 - 1, b"A\xffB", -1), (5, None, b"open", 7)])
            store.execute("UPDATE NVTX_EVENTS SET text = CAST(text AS TEXT)")
        store.close()
        longest, other = json.loads(report("events", "--format", "json", path)[1])["events"]
        equal((longest["duration"], longest["selfTime"], longest["payload"], longest["uint64Value"]),
              (str(2 ** 64 - 1), str(5 + 2 ** 63), str(2 ** 64 - 1), str(2 ** 64 - 1)))
        equal((other["eventRow"], other["row"], other["open"], other["payload"]), (2, 2, True, 7))
        tsv = subprocess.run([program("client", "nvtxt-report"), "events", "--format", "tsv", path],
                             stdout=subprocess.PIPE, check=True, timeout=DEADLINE).stdout
        equal(tsv.decode().split("\n")[1].split("\t")[6], ":A\ufffdB")


def test_a_backward_range_has_its_end_and_no_duration():
    text = ("ProcessId = 7\n@RangeStartEnd, Start, End, ThreadId, Message\n"
            "RangeStartEnd, 50, 40, 3, \"backward\"\n@RangePush, Time, ThreadId, Message\n"
            "@RangePop, Time, ThreadId\nRangePush, 90, 3, \"pushed\"\nRangePop, 60, 3\n")
    with Folder() as folder:
        store = make_store(folder, "b.sqlite", folder.write("b.nvtxt", text))
        wanted = [("backward", 50, 40, 0), ("pushed", 90, 60, 0)]
        for lines in (report("events", "--format", "jsonl", store)[1].splitlines(),
                      map(json.dumps, json.loads(report("events", "--format", "json",
                                                        store)[1])["events"])):
            equal([tuple(event[name] for name in ("message", "start", "end", "duration"))
                   for event in map(json.loads, lines)], wanted)
        rows = list(csv.DictReader(report("stats", "-r", "nvtx_pushpop_trace", "--format", "csv",
                                          store)[1].splitlines()))
        equal([list(row.values())[:3] for row in rows], [["90", "60", "0"]])
        export = [json.loads(line) for line in
                  run_client("nvtxt-export", "--format", "jsonl", "--store", store)[1].splitlines()]
        equal([(event["end"], event["duration"]) for event in export], [(40, -10), (60, -30)])


def test_events_are_rows():
    with Folder() as folder:
        store = f1(folder)
        rows = list(csv.reader(report("events", "--csv", store)[1].splitlines()))
        equal(rows[0], ["Start (ns)", "Duration (ns)", "Kind", "Depth", "PID", "TID", "Name",
                        "Row"])
        equal(len(rows), 16)
        equal(rows[3][:7], ["5", "100", "start/end", "", "100", "1", ":request"])
        tabs = [row.split("\t") for row in
                report("events", "--format", "tsv", store)[1].splitlines()]
        equal(tabs, rows)
        words = [row.split() for row in report("events", store)[1].splitlines()]
        equal(words[2], ["0", "100", "push/pop", "0", "100", "1", ":step", rows[1][7]])
        equal(len(words), 17)


def test_text_cuts_a_long_name_and_says_how_long_it_is():
    long, usual = 500 * "\u00e4b", 200 * "x"
    with Folder() as folder:
        path = folder.name("long.nvtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("TimeBase = Manual\n@RangePush, Time, ThreadId, Message\n"
                       "@RangePop, Time, ThreadId\n")
            for time, name in ((1, long), (3, usual)):
                file.write('RangePush, %d, 1, "%s"\nRangePop, %d, 1\n' % (time, name, time + 1))
        store = make_store(folder, "long.sqlite", path)
        for command in (["stats"], ["events"], ["report"],
                        ["metrics", "--print-metric-instances", "details"]):
            status, text, errors = report(*command, store)
            equal((status, errors), (0, ""), command)
            assert long[:200] + "\u2026 (1,000 characters)" in text, (command, text)
            assert long[:201] not in text and usual + "\u2026" not in text, (command, text)
            status, text, errors = report(*command, "--full-names", store)
            equal((status, errors), (0, ""), command)
            assert long in text and "characters)" not in text, (command, text)
            for form in ("json", "csv", "tsv", "markdown"):
                if command[0] == "events" and form == "markdown":
                    continue
                if command[0] == "report" and form in ("csv", "tsv"):
                    continue
                text = report(*command, "--format", form, store)[1]
                assert long in text, (command, form)


def test_a_reader_that_goes_away_is_no_error():
    with Folder() as folder:
        path = folder.name("many.nvtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("@Marker, Time, Message\n")
            file.writelines('Marker, %d, "a message of some length"\n' % i for i in range(20000))
        store = make_store(folder, "many.sqlite", path)
        for form in ("text", "csv", "json", "jsonl"):
            writer = subprocess.Popen([program("client", "nvtxt-report"), "events", "--format",
                                       form, store],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            os.read(writer.stdout.fileno(), 100)
            writer.stdout.close()
            equal(writer.stderr.read(), b"")
            writer.stderr.close()
            equal(writer.wait(), 0)


def cells(store, *args):
    status, text, errors = report("stats", "--csv", *args, store)
    equal((status, errors), (0, ""))
    return list(csv.reader(text.splitlines()))


def test_sums_have_the_figures_of_the_manual():
    with Folder() as folder:
        rows = cells(f1(folder))
        equal([[row[9], round(float(row[0]), 1), *row[1:3], *[float(x) for x in row[3:7]],
                round(float(row[7]), 3), row[8]] for row in rows[1:]],
              [[":step", 34.3, "240", "2", 120, 120, 100, 140, 28.284, "PushPop"],
               [":compute", 24.3, "170", "2", 85, 85, 60, 110, 35.355, "PushPop"],
               [":request", 17.1, "120", "2", 60, 60, 20, 100, 56.569, "StartEnd"],
               [":kernel", 12.9, "90", "3", 30, 20, 20, 50, 17.321, "PushPop"],
               [":wait", 7.1, "50", "1", 50, 50, 50, 50, 0, "PushPop"],
               [":load", 4.3, "30", "2", 15, 15, 10, 20, 7.071, "PushPop"]])


def test_percentiles_are_columns_and_times_are_divided():
    with Folder() as folder:
        rows = cells(f1(folder), "-r", "nvtx_pushpop_sum,nvtx_mark_sum", "--percentiles",
                     "90,99.9", "--timeunit", "usec")
        equal(rows[0], ["Time (%)", "Total Time (us)", "Instances", "Avg (us)", "Med (us)",
                        "Min (us)", "Max (us)", "StdDev (us)", "P90 (us)", "P99.9 (us)", "Range"])
        equal([round(float(row[0]), 1) for row in rows[1:6]], [41.4, 29.3, 15.5, 8.6, 5.2])
        equal(rows[3][8:], ["0.05", "0.05", ":kernel"])
        equal(rows[6], [])
        equal(rows[7], ["Instances", "Rate (1/s)", "Avg Interval (us)", "Med Interval (us)",
                        "Min Interval (us)", "Max Interval (us)", "First (us)", "Last (us)",
                        "Mark"])
        equal(rows[8], ["3", "20000000.0", "0.05", "0.05", "0.04", "0.06", "0.02", "0.12",
                        ":tick"])


def test_tables_are_json():
    with Folder() as folder:
        store = f1(folder)
        text = report("stats", "-r", "nvtx_sum,nvtx_mark_sum", "--format", "json", store)[1]
        document = json.loads(text)
        equal((document["schema"], document["command"]), ("nvtxt-report/1", "stats"))
        sums, marks = document["tables"]
        equal(list(sums), ["report", "columns", "rows", "notes"])
        equal((sums["report"], marks["report"], sums["notes"]), ("nvtx_sum", "nvtx_mark_sum", []))
        equal(sums["rows"][3][1:3], [90, 3])
        equal(marks["rows"], [[3, 20000000.0, 50.0, 50.0, 40, 60, 20, 120, ":tick"]])


def test_open_ranges_are_told_and_not_counted():
    with Folder() as folder:
        store = rich(folder)
        open_range(store)
        table = json.loads(report("stats", "--format", "json", store)[1])["tables"][0]
        equal([row[9] for row in table["rows"]], [":long"])
        note = "1 open range is left out: it has no end"
        equal(table["notes"], [note])
        equal(report("stats", "--csv", store)[2], "nvtxt-report: note: nvtx_sum: %s\n" % note)
        equal(report("stats", store)[1].splitlines()[-1], "note: " + note)
        event = [event for event in lines(report("events", "--format", "jsonl", store)[1])
                 if event["message"] == "open"][0]
        equal([event.get(name) for name in ("start", "end", "duration", "open", "depth",
                                            "eventRow")], [15, 40, 25, True, 0, None])


def test_a_report_that_does_not_exist_is_refused():
    with Folder() as folder:
        status, text, errors = report("stats", "-r", "nvtx_summ", f1(folder))
        equal((status, text), (64, ""))
        equal(errors, "nvtxt-report: there is no report 'nvtx_summ'; did you mean 'nvtx_sum'?\n")


FAULTY = """\
@Marker, Time, Message
Marker, 7, "good"
Marker, 2
Marker, $Pid, "y"
RangePush, 5
"""


def faulty(folder):
    path = folder.name("faulty.nvtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(FAULTY)
    store = folder.name("faulty.sqlite")
    equal(run_client("nvtxt-import", "create", "-n", path, "-o", store)[0], 1)
    return path, store


def test_a_summary_counts_what_is_in_the_stores():
    with Folder() as folder:
        path, store = faulty(folder)
        first = f1(folder)
        text = report("summary", "--format", "json", first, store)[1]
        document = json.loads(text)
        equal(list(document), ["schema", "command", "stores", "sources", "losses"])
        counts = ("kind", "events", "marks", "pushpop", "startend", "open", "firstNs", "lastNs",
                  "processes", "threads", "domains", "losses", "errors", "filesWithErrors")
        equal([[row[name] for name in counts] for row in document["stores"]],
              [["nvtxt", 15, 3, 10, 2, 0, 0, 260, 1, 2, 1, 0, 0, 0],
               ["nvtxt", 1, 1, 0, 0, 0, 7, 7, 1, 1, 1, 0, 3, 1]])
        equal([(row["store"], row["name"], row["lines"], row["errors"])
               for row in document["sources"]],
              [(0, document["sources"][0]["name"], 37, 0), (1, path, 5, 3)])
        equal([(row["line"], row["column"], row["severity"], row["stage"], row["code"])
               for row in document["sources"][1]["diagnostics"]],
              [(3, 10, "error", "parsing", "wrong-value-count"),
               (4, 9, "error", "lexing", "undefined-variable"),
               (5, 13, "error", "parsing", "wrong-value-count")])
        equal(report("summary", "--format", "json", "--kind", "mark", first)[0], 0)


def test_a_summary_prints_errors_as_nvtxt_check():
    with Folder() as folder:
        path, store = faulty(folder)
        checked = run_client("nvtxt-check", path)[2].splitlines()[:-1]
        equal(len(checked), 3)
        text = report("summary", store)[1]
        first, second = text.split("Session Summary")[0], text.split("Session Summary")[-1]
        equal(path + ": warning: 3 errors, see " in first, True)
        equal([line for line in second.splitlines() if ": error: " in line], checked)


def test_an_export_has_no_sources():
    with Folder() as folder:
        store = folder.name("export.sqlite")
        export = sqlite3.connect(store)
        with export:
            export.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, "
                           "eventType INTEGER, text TEXT, globalTid INTEGER)")
            export.execute("INSERT INTO NVTX_EVENTS VALUES (10, 30, 59, 'a', 7 << 24 | 8)")
        export.close()
        text = report("summary", store)[1]
        equal("an export of Nsight Systems has no sources" in text, True)
        document = json.loads(report("summary", "--format", "json", store)[1])
        row = document["stores"][0]
        equal((row["kind"], row["schemaVersion"], row["events"]), ("nsys", None, 1))
        equal((document["sources"], document["losses"]), ([], []))


GOLDEN = os.path.join(os.path.dirname(F1), "tables")
REPORTS = "nvtx_sum,nvtx_pushpop_trace,nvtx_mark_sum,nvtx_gap_sum,nvtx_concurrency"


def test_tables_look_as_they_did():
    with Folder() as folder:
        store = f1(folder)
        for form in ("text", "csv", "json", "markdown"):
            with open(os.path.join(GOLDEN, "f1." + form), encoding="utf-8") as file:
                equal(report("stats", "-r", REPORTS, "--percentiles", "90", "--format", form,
                             store), (0, file.read(), ""))


def test_folded_stacks_are_for_flame_graph_programs():
    with Folder() as folder:
        store = f1(folder)
        equal(report("stats", "-r", "nvtx_folded", store),
              (0, "step 40\nstep;compute 80\nstep;compute;kernel 90\nstep;load 30\nwait 50\n", ""))
        equal(report("stats", "-r", "nvtx_folded", "--kind", "mark", store),
              (0, "", "nvtxt-report: note: nvtx_folded has no rows\n"))
        equal("no rows\n" in report("stats", "--kind", "mark", store)[1], True)


def test_a_terminal_gets_neither_long_names_nor_control_characters():
    with Folder() as folder:
        path = folder.name("long.nvtxt")
        with open(path, "wb") as file:
            file.write(b'@RangeStartEnd, Start, End, Message\nRangeStartEnd, 0, 1234, "\x1b[31m\xc2\x9b'
                       + b"long " * 300 + b'"\n')
        store = make_store(folder, "long.sqlite", path)
        for args in (["stats"], ["events"], ["stats", "-r", "nvtx_concurrency"]):
            text = on_terminal(80, *args, store)
            assert "\u2026" in text, text
            equal([byte for byte in text if byte != "\n" and (ord(byte) < 32 or
                                                              127 <= ord(byte) < 160)], [])
            equal(max(len(line) for line in text.splitlines()) <= 80, True, text)
            whole = report(*args, "--full-names", store)[1]
            equal("long " * 299 in whole and "\x1b" not in whole, True)


if __name__ == "__main__":
    run(globals())
