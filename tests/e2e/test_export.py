# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export: a store out in every format, filtered, from stores of every state."""
import csv
import io
import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import stored

from client import ENV, Folder, Running, contains, run_client, run_in_terminal
from lib import SANITIZERS, Daemon, Skip, equal, program, run, wait_for

COLUMNS = ("utcTime duration kind message category color process thread source domain payload pid "
           "tid start end globalTid domainId categoryId sourceId eventRow "
           "level").split()
MORE_COLUMNS = ("endGlobalTid uint64Value int64Value doubleValue uint32Value int32Value floatValue "
                "jsonText").split()

STREAM = """\
@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload
@RangePush, Time, ProcessId, ThreadId, CategoryId, Color, Message
@RangePop, Time, ProcessId, ThreadId
@RangeStartEnd, Start, End, ProcessId, ThreadId, CategoryId, Color, Message
SetFileDisplayName, "shop"
SetCategoryName, 3, "io"
SetProcessName, 7, "prog, x"
SetThreadName, 7, 8, "worker"
Marker, 1000, 7, 8, 3, Blue, 'a "quoted", message', "5.25"
RangePush, 2000, 7, 8, 3, Red, "outer it's"
RangePush, 2100, 7, 8, 0, 0, "inner"
RangePop, 2200, 7, 8
RangePop, 2500, 7, 8
RangeStartEnd, 2400, 2700, 7, 8, 0, Green, "crossing"
SetFileDisplayName, ""
RangeStartEnd, 3000, 3700, 9, 9, 4, 0, "other"
"""
HELLO = '#nvtxt-session {"protocol":1,"nvtx":1}\n'
NVTX_STREAM = HELLO + STREAM + """\
@Marker, Time, ProcessId, ThreadId, Message, Payload, Domain, Json
Marker, 4000, 7, 8, "u64", "u64:18446744073709551615", "gpu", ""
Marker, 4001, 7, 8, "small u64", "u64:5", "gpu", ""
Marker, 4002, 7, 8, "u32", "u32:4294967295", "gpu", "[1, \\"a,b\\"]"
Marker, 4003, 7, 8, "i32", "i32:-7", "", ""
Marker, 4004, 7, 8, "i64", "i64:-7", "", "null"
Marker, 4005, 7, 8, "f32", "f32:0.25", "", ""
Marker, 4006, 7, 8, "json", "", "", '{"step":3,\t"deep":{"a":[1,{}]}}'
@RangePush, Time, ProcessId, ThreadId, Message, Domain, Json
@RangePop, Time, ProcessId, ThreadId, Domain, Json
@RangeStart, Time, RangeId, ProcessId, ThreadId, Message, Json
@RangeEnd, Time, RangeId, ProcessId, ThreadId, Json
RangePush, 4100, 7, 8, "A", "gpu", '{"x":1}'
RangePush, 4101, 7, 8, "B", "cpu", ""
RangePop, 4102, 7, 8, "gpu", "[2]"
RangePop, 4103, 7, 8, "cpu", "7"
RangeStart, 4200, 1, 7, 8, "C", ""
RangeEnd, 4201, 1, 7, 9, '"end"'
RangeStart, 4300, 2, 7, 8, "D", "1"
RangeEnd, 4301, 2, 7, 8, "2"
@SetCounter, Name, Domain, Json
ProcessId = 7
SetCounter, "loss", "gpu", '{"unit":"J","description":"it\\u0027s"}'
SetCounter, "loss", "", ""
SetCounter, "group", "gpu", ""
@SetResourceName, ProcessId, Kind, Handle, Name, Domain
SetResourceName, 7, cuStream, 0x7FFF, "stream 1", "gpu"
SetResourceName, 8, cuStream, "0xFFFFFFFFFFFFFFFF", "it's \\"last\\"\\n", ""
Marker, 4400, 7, 8, "loss", "f64:0.5", "gpu", ""
Marker, 4401, 7, 8, "loss", 3, "", ""
Marker, 4402, 7, 8, "loss", 3, "cpu", ""
Marker, 4403, 9, 8, "loss", 3, "", ""
Marker, 4404, 7, 8, "group", "", "gpu", '{"a" : 1.5, "b":-2, "c":{"d":3}, "e":"f"}'
Marker, 4405, 7, 8, "group", "", "gpu", '{"a":null}'
Marker, 4406, 7, 8, "loss", "f32:inf", "gpu", ""
"""


def export(*args, **more):
    return run_client("nvtxt-export", *args, **more)


def create(folder, text, name="store.sqlite", *args):
    """A store of these lines. Lines with errors are no fault of it."""
    source = folder.write(name + ".nvtxt", text)
    status, _, err = run_client("nvtxt-import", "create", "-q", "-n", source, "-o",
                                folder.name(name), *args)
    equal(status in (0, 1), True, err)
    return folder.name(name)


def messages(store, *filters):
    status, out, err = export("--store", store, "--format", "jsonl", *filters)
    equal(status, 0, err)
    return [json.loads(line)["message"] for line in out.splitlines()]


# ---- Formats ------------------------------------------------------------------------------------

def timeline(store):
    """What csv and jsonl have the columns of: the view, and columns of the events."""
    with stored.reading(store) as reader:
        rows = [dict(row) for row in reader.execute(
            "SELECT t.*, %s FROM NVTXT_TIMELINE t JOIN NVTX_EVENTS e ON e.rowid = t.eventRow "
            "ORDER BY eventRow" % ", ".join("e." + name for name in MORE_COLUMNS))]
    for row in rows:
        for name in ("payload", "floatValue"):
            row[name] = "Infinity" if row[name] == math.inf else row[name]
        for name in ("payload", "uint64Value"):
            if row["uint64Value"] is not None:
                row[name] = int(row[name]) % 2 ** 64
    return rows


def test_csv_is_the_timeline():
    with Folder() as folder:
        store = create(folder, NVTX_STREAM)
        done = subprocess.run([program("client", "nvtxt-export"), "--store", store, "--format",
                               "csv"], stdout=subprocess.PIPE, check=True, env=ENV)
        text = done.stdout.decode()
        equal(text.count("\r\n"), text.count("\n"), "lines end with CR LF")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        equal(rows[0], COLUMNS + MORE_COLUMNS)
        wanted = [["" if row[name] is None else str(row[name]) for name in rows[0]]
                  for row in timeline(store)]
        equal(rows[1:], wanted)


def test_jsonl_is_the_timeline():
    with Folder() as folder:
        store = create(folder, NVTX_STREAM)
        _, out, _ = export("--store", store, "--format", "jsonl")
        wanted = [{name: value for name, value in row.items() if value is not None}
                  for row in timeline(store)]
        found = [json.loads(line) for line in out.splitlines()]
        for row in found:  # one without a name: in the view its number stands for it
            if row["categoryId"]:
                row.setdefault("category", row["categoryId"])
        equal(found, wanted)


def test_chrome_has_every_event_and_its_names():
    with Folder() as folder:
        store = create(folder, STREAM)
        _, out, _ = export("--store", store, "--format", "chrome")
        trace = json.loads(out)
        equal(trace["otherData"]["baseTimeNs"], "1000")
        events = trace["traceEvents"]
        equal(sorted((e["ph"], e["name"], e["ts"], e.get("dur"), e["cat"], e["pid"])
                     for e in events if e["ph"] != "M"),
              [("X", "crossing", 1.4, 0.3, "", 7), ("X", "inner", 1.1, 0.1, "", 7),
               ("X", "other", 2.0, 0.7, "4", 9), ("X", "outer it's", 1.0, 0.5, "io", 7),
               ("i", 'a "quoted", message', 0.0, None, "io", 7)])
        equal({(e["name"], e["pid"], e["tid"], e["args"]["name"]) for e in events
               if e["ph"] == "M" and e["name"] != "thread_sort_index"},
              {("process_name", 7, 0, "prog, x"), ("process_name", 9, 0, "Process 9"),
               ("thread_name", 7, 8, "worker"), ("thread_name", 9, 9, "Thread 9"),
               ("thread_name", 7, 0x1000000, "worker (2)")})
        crossing, = (e for e in events if e["name"] == "crossing")
        equal(crossing["args"], {"startNs": "2400", "endNs": "2700", "kind": "start/end",
                                 "color": "#FF008000", "domain": "shop", "tid": 8})


def random_stream(rng, events):
    """Anything that the language can say, and some lines that it cannot."""
    lines, open_ranges = [], []
    texts = ["plain", "it's", 'say "x"', "", "\u00e4\u20ac\U0001F600", "back\\slash\\", "a,b", "#",
             "x" * 200, "tab\there", "$x @y", "\r cr", "\ufeffbom"]
    for _ in range(events):
        text = rng.choice(texts) + rng.choice(["", str(rng.randrange(9))])
        quoted = "'%s'" % text if '"' in text else '"%s"' % text
        thread = "%d, %d" % (rng.choice([0, 7, 0xFFFFFF]), rng.choice([0, 8, 9, 0xFFFFFF]))
        at = rng.choice([rng.randrange(-10**6, 10**6), rng.randrange(-2**62, 2**62)])
        rest = "%s, %d, %s, %s" % (thread, rng.choice([0, 1, 2, 0xFFFFFFFF]), rng.choice(
            ["0", "Red", '"#12345678"', "0xFFFFFFFF"]), quoted)
        payload = rng.choice(["5", "-9223372036854775808", "'0.1'", "'-1e-300'", "'1e999'", "'7'"])
        kind = rng.randrange(12)
        if kind < 3:
            lines.append("@Marker, Time, ProcessId, ThreadId, CategoryId, Color, Message, Payload")
            lines.append("Marker, %d, %s, %s" % (at, rest, payload))
        elif kind < 5:
            lines.append("@RangePush, Time, ProcessId, ThreadId, CategoryId, Color, Message")
            lines.append("RangePush, %d, %s" % (at, rest))
        elif kind < 7:
            lines.append("RangePop, %d, Manual, %s" % (at, thread))
        elif kind == 7:
            lines.append("@RangeStartEnd, Start, End, ProcessId, ThreadId, CategoryId, Color, "
                         "Message, Payload")
            lines.append("RangeStartEnd, %d, %d, %s, %s" % (at, at + rng.randrange(-5, 10**6), rest,
                                                         payload))
        elif kind == 8:
            lines.append("@RangeStart, Time, RangeId, ProcessId, ThreadId, CategoryId, Color, "
                         "Message")
            open_ranges.append(len(lines))
            lines.append("RangeStart, %d, %d, %s" % (at, open_ranges[-1], rest))
        elif kind == 9 and open_ranges:
            number = open_ranges.pop(rng.randrange(len(open_ranges)))
            lines.append("RangeEnd, %d, %d, Manual, %s" % (at, number, thread))
        elif kind == 10:
            lines.append("SetFileDisplayName, %s" % rng.choice(['""', '"one"', "'t\"wo'"]))
        else:
            lines.append(rng.choice([
                "SetCategoryName, %d, %s" % (rng.randrange(3), quoted),
                "SetThreadName, %s, %s" % (thread, quoted),
                "SetProcessName, %d, %s" % (rng.choice([0, 7]), quoted)]))
    return "\n".join(lines) + "\n"


def content(path):
    """Events in order, and names. A domain has a name row for each process that used it, and for
    that of the event before the change of the display name: the domains themselves count."""
    with stored.reading(path) as store:
        source = stored.source(store, "kind", "file")
        events = [row[:11] for row in stored.events(store, source["id"])]
        names = {json.dumps(row if row[0] != "domain" else ["domain", row[4]])
                 for row in stored.names(store, source["openedNs"])}
        equal(stored.broken_rules(store), [])
        return events, sorted(names)


def test_random_streams_come_back_the_same():
    long = os.environ.get("NVTXT_TEST_LONG")
    for seed in range(200 if long else 3):
        rng = random.Random(seed)
        with Folder() as folder:
            first = create(folder, random_stream(rng, 400), "first")
            status, _, err = export("--store", first, "--format", "nvtxt", "-o", folder.name("out"))
            equal((status, err), (0, ""), "seed %d" % seed)
            status, _, err = run_client("nvtxt-import", "create", "-q", "-n", folder.name("out"),
                                        "-o", folder.name("second"))
            equal((status, err), (0, ""), "seed %d" % seed)
            events, names = content(first)
            found, found_names = content(folder.name("second"))
            equal(len(found), len(events))
            for a, b in zip(events, found):
                equal(json.dumps(b), json.dumps(a), "seed %d" % seed)
            equal(found_names, names, "seed %d" % seed)


def test_two_processes_that_name_a_category_keep_both():
    text = ("@Marker, Time, ProcessId, ThreadId, CategoryId, Message\n"
            "Marker, 10, 7, 1, 5, a\nSetCategoryName, 5, seven\n"
            "Marker, 20, 8, 1, 5, b\nSetCategoryName, 5, eight\nMarker, 30, 9, 1, 5, c\n"
            "ProcessId = 10\nSetCategoryName, 5, ten\nMarker, 40, 10, 1, 5, d\n")
    wanted = [("a", "seven"), ("b", "eight"), ("c", 5), ("d", "ten")]
    with Folder() as folder:
        first = create(folder, text, "first")
        status, out, err = export("--store", first, "--format", "nvtxt")
        equal((status, err), (0, ""))
        for store in (first, create(folder, out, "second")):
            db = sqlite3.connect(store)
            equal(db.execute("SELECT message, category FROM NVTXT_TIMELINE").fetchall(), wanted)
            db.close()
            status, out, err = export("--store", store, "--format", "jsonl")
            equal([(row["message"], row.get("category", row["categoryId"]))
                   for row in map(json.loads, out.splitlines())], wanted)
        equal(messages(first, "--category", "seven"), ["a"])


def put_message(path, message):
    """A message that no NVTXT can say, as another program would store it."""
    store = sqlite3.connect(path)
    store.execute("INSERT INTO StringIds (id, value) VALUES (1000, ?)", (message,))
    store.execute("UPDATE NVTX_EVENTS SET text = ?, textId = 1000 WHERE text = 'inner'", (message,))
    store.commit()
    store.close()


def test_what_nvtxt_cannot_say_is_counted():
    with Folder() as folder:
        store = create(folder, STREAM)
        put_message(store, "can't \"open\"\nit")
        status, out, err = export("--store", store, "--format", "nvtxt")
        equal(status, 1)
        contains(err, "nvtxt-export: 1 texts or payloads were changed")
        contains(out, ", 'can\u2019t \"open\"\u240ait'\n")
        for form in ("csv", "jsonl", "chrome"):
            equal(export("--store", store, "--format", form)[0], 0)
        equal(messages(store)[1], "can't \"open\"\nit")


# ---- Filters ------------------------------------------------------------------------------------

def test_filters_combine():
    with Folder() as folder:
        store = create(folder, STREAM)
        everything = ['a "quoted", message', "inner", "outer it's", "crossing", "other"]
        equal(messages(store), everything)
        equal(messages(store, "--pid", "9"), ["other"])
        equal(messages(store, "--pid", "7", "--pid", "9"), everything)
        equal(messages(store, "--category", "io"), [everything[0], "outer it's"])
        equal(messages(store, "--category", "3"), [everything[0], "outer it's"])
        equal(messages(store, "--category", "io", "--category", "4"),
              [everything[0], "outer it's", "other"])
        equal(messages(store, "--match", "^o"), ["outer it's", "other"])
        equal(messages(store, "--match", "cross|inn"), ["inner", "crossing"])
        equal(messages(store, "--since", "2500"), ["outer it's", "crossing", "other"])
        equal(messages(store, "--since", "2501"), ["crossing", "other"])
        equal(messages(store, "--until", "2100"), [everything[0], "inner", "outer it's"])
        equal(messages(store, "--until", "2099"), [everything[0], "outer it's"])
        equal(messages(store, "--since", "1970-01-01T00:00:00.0000024Z", "--until",
                       "@0.000002500"), ["outer it's", "crossing"])
        equal(messages(store, "--until", "3700", "--last", "700ns"), ["other"])
        equal(messages(store, "--since", "2150", "--pid", "7", "--match", "r$|s"),
              ["inner", "outer it's", "crossing"])
        equal(messages(store, "--source", "1"), everything)
        equal(messages(store, "--source", folder.name("store.sqlite.nvtxt")), everything)


def test_the_base_of_a_trace_is_the_stores_first_event():
    with Folder() as folder:
        store = create(folder, STREAM)
        _, out, _ = export("--store", store, "--format", "chrome", "--pid", "9")
        equal([e["ts"] for e in json.loads(out)["traceEvents"] if e["ph"] == "X"], [2.0])


def test_names_of_what_is_left_out_are_left_out():
    with Folder() as folder:
        store = create(folder, STREAM)
        _, out, _ = export("--store", store, "--format", "nvtxt", "--pid", "9")
        for word in ("Category", "worker", "prog", "Display"):
            equal("Set" + word in out or word == out, False, out)
        _, out, _ = export("--store", store, "--format", "nvtxt", "--match", "outer")
        for line in ('SetCategoryName, 3, "io"', 'SetThreadName, 7, 8, "worker"',
                     'SetProcessName, 7, "prog, x"', 'SetFileDisplayName, "shop"'):
            contains(out, line + "\n")


def test_sources_are_told_apart():
    with Folder() as folder:
        for name in "abc":
            folder.write(name, "Marker, 1, Manual, 7, 8, 0, 0, %s, 5\n" % name)
        run_client("nvtxt-import", "create", "-n", "a", "b", "c", "-o", "out", cwd=folder.path)
        store = folder.name("out")
        equal(messages(store, "--source", "b"), ["b"])
        equal(messages(store, "--source", "3", "--source", "a"), ["a", "c"])
        status, out, err = export("--store", store, "--format", "csv", "--source", "d")
        equal((status, out.count("\n")), (0, 1))
        contains(err, "%s has no such source" % store)


def test_nothing_is_said_to_be_nothing():
    with Folder() as folder:
        store = create(folder, STREAM)
        status, out, err = export("--store", store, "--format", "chrome", "--last", "5m")
        equal((status, err), (0, "nvtxt-export: no event is as you asked for; those of %s are from "
                                 "1970-01-01T00:00:00.000001000Z to "
                                 "1970-01-01T00:00:00.000003700Z\n" % store))
        equal(json.loads(out)["traceEvents"], [])
        empty = create(folder, "", "empty")
        equal(export("--store", empty, "--format", "jsonl"), (0, "", ""))
        equal(export("--store", empty, "--format", "jsonl", "--pid", "7"),
              (0, "", "nvtxt-export: %s holds no event\n" % empty))
        _, out, _ = export("--store", empty, "--format", "chrome")
        equal(json.loads(out)["otherData"]["baseTimeNs"], "0")


# ---- Stores of every state ----------------------------------------------------------------------

def test_a_live_store_is_read_up_to_the_last_commit():
    with Daemon() as daemon:
        daemon.send(STREAM)
        equal(len(messages(daemon.store)), 5)
        equal(messages(daemon.store, "--last", "99999d", "--category", "4"), ["other"])
        before = sorted(os.listdir(daemon.folder))
        daemon.send(STREAM)
        equal(len(messages(daemon.store)), 10)
        equal(sorted(os.listdir(daemon.folder)), before)
        daemon.stop()
        equal(len(messages(daemon.store)), 10)


def test_a_link_is_all_segments_in_order():
    with Folder() as folder:
        names = ["nvtxt-20261121T0624%02dZ-%d.sqlite" % (n, n) for n in (1, 2, 10)]
        for number, name in enumerate(names):
            create(folder, STREAM.replace("other", "other %d" % number)
                   .replace("worker", "worker %d" % (number // 2)), name)
        link = folder.name("nvtxt.sqlite")
        os.symlink(names[-1], link)
        create(folder, STREAM, "stranger.sqlite")
        equal(messages(link, "--category", "4"), ["other 0", "other 1", "other 2"])
        equal(messages(folder.name(names[1]), "--category", "4"), ["other 1"])
        equal(messages(link, "--source", "1", "--category", "4"), ["other 0", "other 1", "other 2"])
        _, out, _ = export("--store", link, "--format", "nvtxt")
        equal(out.count("SetCategoryName"), 1, "said once")
        equal([line for line in out.splitlines() if "SetThread" in line],
              ['SetThreadName, 7, 8, "worker 0"', 'SetThreadName, 7, 8, "worker 1"'])
        _, out, _ = export("--store", link, "--format", "chrome")
        equal(json.loads(out)["otherData"]["baseTimeNs"], "1000")
        os.unlink(folder.name(names[0]))
        equal(messages(link, "--category", "4"), ["other 1", "other 2"])


def test_a_store_that_rotates_stays_whole():
    numbered = ["%d" % number for number in range(9)]
    with Daemon() as daemon:
        for number in numbered:
            daemon.send('Marker, 5, Manual, 7, 8, 0, 0, "%s", 1\n' % number)
            if int(number) % 3 == 2:
                daemon.control("rotate")
        equal(len([name for name in os.listdir(daemon.folder) if name.endswith("Z-1.sqlite")]), 1)
        equal(messages(daemon.store), numbered)
        daemon.kill()
        equal(messages(daemon.store), numbered, "after a kill")
        daemon.start()
        equal(messages(daemon.store), numbered)


def emptied(daemon):
    """Whether the daemon could empty its log now; a reader with a snapshot of it prevents that."""
    return not daemon.control("checkpoint")["pinned"]


# 200 ranges of three messages: ten ns each, of which an inner one has four.
SUMS = ("@RangePush, Time, ProcessId, ThreadId, Message, Color, Payload\n"
        "@RangePop, Time, ProcessId, ThreadId\nSetProcessName, 7, 'shop'\n"
        "SetThreadName, 7, 8, 'work; er'\n" + "".join(
            "RangePush, {0}, 7, 8, '{1}', Red, {0}\n{2}RangePop, {3}, 7, 8\n".format(
                100 * i, "ab"[i % 2], "RangePush, %d, 7, 8, 'in', Blue, %d\nRangePop, %d, 7, 8\n" % (
                    100 * i + 3, i, 100 * i + 7), 100 * i + 10) for i in range(100)))


def exported(folder, text, form):
    out = folder.name("out")
    equal(run_client("nvtxt-export", "--store", create(folder, text), "--format", form, "-o", out),
          (0, "", ""))
    with open(out, encoding="utf-8") as file:
        return file.read()


def test_folded_stacks_add_up():
    with Folder() as folder:
        equal(sorted(exported(folder, SUMS, "folded").splitlines()), [
            "shop;work: er;a 300", "shop;work: er;a;in 200",
            "shop;work: er;b 300", "shop;work: er;b;in 200"])


def test_frames_of_speedscope_add_up():
    with Folder() as folder:
        trace = json.loads(exported(folder, SUMS, "speedscope"))
        equal([frame["name"] for frame in trace["shared"]["frames"]], ["in", "a", "b"])
        profile, = trace["profiles"]
        equal((profile["name"], profile["unit"], profile["startValue"], profile["endValue"]),
              ("shop / work; er", "nanoseconds", 0, 9910))
        total, open_frames, now = [0, 0, 0], [], 0
        for event in profile["events"]:
            assert event["at"] >= now, "time goes on"
            now = event["at"]
            if event["type"] == "O":
                open_frames.append(event)
            else:
                begun = open_frames.pop()
                equal(begun["frame"], event["frame"])
                total[event["frame"]] += now - begun["at"]
        equal((total, open_frames), ([400, 500, 500], []))


def test_formats_of_ranges_say_when_there_is_none():
    with Folder() as folder:
        store = create(folder, "@Marker, Time\nMarker, 5\n")
        for form in ("speedscope", "folded"):
            status, _, err = run_client("nvtxt-export", "--store", store, "--format", form)
            equal(status, 0)
            contains(err, "there is no range")


def test_a_slow_reader_does_not_hold_a_snapshot():
    lines = "@Marker, Time, Message\n" + "".join(
        'Marker, %d, "%s"\n' % (i, "x" * 500) for i in range(20000))
    with Daemon() as daemon:
        daemon.send(lines)
        with Running("nvtxt-export", "--store", daemon.store, "--format", "csv") as slow:
            equal(slow.process.stdout.read(9), b"utcTime,d", "it is under way")
            daemon.send(lines)
            wait_for(lambda: emptied(daemon), "the log can be emptied: nobody reads it")
            equal(slow.process.stdout.read().count(b"\n"), 20001)
            slow.expect(0)


def test_a_store_is_read_where_nothing_can_be_written():
    with Folder() as folder, Daemon() as daemon:
        daemon.send(STREAM)
        daemon.stop()
        alone = folder.write("alone", open(os.path.realpath(daemon.store), "rb").read())
        os.chmod(alone, 0o444)
        os.chmod(folder.path, 0o555)
        try:
            equal(len(messages(alone)), 5)
        finally:
            os.chmod(folder.path, 0o755)
        equal(os.listdir(folder.path), ["alone"], "and nothing is left behind")


def make_export(path, columns, rows, more=()):
    """A genuine export as other versions of Nsight Systems write it."""
    store = sqlite3.connect(path)
    store.execute("CREATE TABLE NVTX_EVENTS (%s)" % columns)
    store.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    store.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "by id"), (2, "thread")])
    for sql in more:
        store.execute(sql)
    for row in rows:
        store.execute("INSERT INTO NVTX_EVENTS (%s) VALUES (%s)" % (
            ", ".join('"%s"' % name for name in row), ", ".join("?" * len(row))),
            tuple(row.values()))
    store.commit()
    store.close()


TID = (0x0100 << 48 | 7 << 24 | 8)


def test_an_export_of_nsight_systems_can_be_read():
    with Folder() as folder:
        path = folder.name("report.sqlite")
        make_export(path, "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
                    "rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid "
                    "INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, "
                    "uint64Value INTEGER, int32Value INTEGER, floatValue REAL, jsonText TEXT", [
            {"start": 5, "eventType": 75, "text": "dom", "globalTid": TID, "domainId": 2},
            {"start": 5, "eventType": 33, "text": "cat", "globalTid": TID, "domainId": 2,
             "category": 3},
            {"start": 10, "end": 20, "eventType": 59, "textId": 1, "globalTid": TID,
             "domainId": 2, "category": 3, "int32Value": -4},
            {"start": 30, "eventType": 34, "text": "mark", "globalTid": TID, "domainId": 0,
             "uint64Value": -1},
        ], ["CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)",
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000)",
            "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER)",
            "INSERT INTO ThreadNames VALUES (2, 0, %d)" % TID,
            "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)",
            "INSERT INTO PROCESSES VALUES (%d, 7, 'prog')" % (TID >> 24 << 24)])
        _, out, _ = export("--store", path, "--format", "jsonl")
        wanted = ["start end message category process thread domain payload pid tid".split()] * 2
        equal([[json.loads(line).get(name) for name in names]
               for names, line in zip(wanted, out.splitlines())],
              [[1010, 1020, "by id", "cat", "prog", "thread", "dom", -4, 7, 8],
               [1030, 1030, "mark", None, "prog", "thread", None, 2**64 - 1, 7, 8]])
        equal(messages(path, "--category", "cat"), ["by id"])
        equal(messages(path, "--since", "1025"), ["mark"])
        status, out, err = export("--store", path, "--format", "nvtxt")
        equal((status, err), (0, ""))
        contains(out, 'SetCategoryName, 3, "cat"\n')
        back = create(folder, out, "back")
        with stored.reading(back) as reader:
            equal([tuple(row) for row in reader.execute(
                "SELECT start, end, int32Value, uint64Value FROM NVTX_EVENTS WHERE eventType < 60 "
                "AND eventType NOT IN (33, 39) ORDER BY rowid")],
                  [(1010, 1020, -4, None), (1030, 1030, None, -1)])


def test_an_old_export_can_be_read():
    with Folder() as folder:
        path = folder.name("old.sqlite")
        make_export(path, "start INT NOT NULL, end INT NOT NULL, eventType INT NOT NULL, rangeId "
                    "INT NOT NULL, text TEXT NOT NULL, globalTid INT NOT NULL", [
            {"start": 10, "end": 20, "eventType": 60, "rangeId": 1, "text": "old",
             "globalTid": TID}])
        equal(messages(path), ["old"])
        equal(export("--store", path, "--format", "nvtxt")[0], 0)


# ---- Faults -------------------------------------------------------------------------------------

def refuses(status, part, *args, **more):
    got, out, err = export(*args, **more)
    equal((got, out), (status, ""), err)
    contains(err, part)
    equal(err.startswith("nvtxt-export: "), True, err)
    return err


def test_command_lines_that_are_wrong():
    refuses(64, "is missing: --format chrome, perfetto, speedscope, folded, csv, jsonl, nvtxt, otlp or nsys",
            "--store", "x")
    refuses(64, "no format 'crome', did you mean 'chrome'?; there", "--format", "crome")
    refuses(64, "no format 'xml'; there are chrome, perfetto, speedscope, folded, csv, jsonl, nvtxt, otlp "
            "and nsys", "--format", "xml")
    refuses(64, "what is 'x'", "--store", "s", "--format", "csv", "x")
    refuses(64, "'soon' is no time", "--since", "soon")
    refuses(64, "'5x' is no length", "--last", "5x")
    refuses(64, "--since is later", "--store", "s", "--format", "csv", "--since", "5", "--until",
            "4")
    refuses(64, "give one of them", "--store", "s", "--format", "csv", "--since", "5", "--last",
            "4")
    refuses(64, "no regular expression", "--match", "(")
    refuses(64, "99999999", "--pid", "99999999")


def test_stores_that_are_none():
    with Folder() as folder:
        def sentence(path, status, part):
            err = refuses(status, part, "--store", path, "--format", "csv")
            contains(err, path)
            equal(err.count("\n"), 1, err)
        sentence(folder.name("none"), 66, "does not exist")
        sentence(folder.path, 66, "is a folder")
        sentence("/dev/null", 66, "is not a regular file")
        sentence(folder.write("text", "hello" * 100), 65, "is not a database")
        sentence(folder.write("empty", ""), 65, "is empty")
        os.symlink("nowhere", folder.name("link"))
        sentence(folder.name("link"), 66, "is a link to nowhere")
        other = folder.name("other.sqlite")
        with sqlite3.connect(other) as store:
            store.execute("CREATE TABLE t (x)")
        sentence(other, 65, "a database without a table of NVTX events")
        good = create(folder, STREAM)
        data = open(good, "rb").read()
        sentence(folder.write("cut", data[:len(data) // 2]), 65, "broken or cut off")
        newer = bytearray(data)
        newer[60:64] = (99).to_bytes(4, "big")
        sentence(folder.write("newer", bytes(newer)), 65, "newer version")
        if os.geteuid() != 0:
            os.chmod(good, 0)
            sentence(good, 66, "may not be read by you")


def test_a_locked_store_is_said():
    with Folder() as folder:
        store = create(folder, STREAM)
        lock = sqlite3.connect(store, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        refuses(75, "%s is locked by another process" % store, "--store", store, "--format", "csv")
        lock.close()


def test_the_output_appears_whole_or_not_at_all():
    with Folder() as folder:
        store = create(folder, STREAM)
        out = folder.write("out", "old")
        os.chmod(out, 0o600)
        before = sorted(os.listdir(folder.path))
        refuses(66, "does not exist", "--store", folder.name("none"), "--format", "csv", "-o", out)
        equal((open(out).read(), sorted(os.listdir(folder.path))), ("old", before))
        equal(export("--store", store, "--format", "csv", "-o", out), (0, "", ""))
        equal((open(out).read(7), os.stat(out).st_mode & 0o777), ("utcTime", 0o600))
        os.symlink("out", folder.name("link"))
        equal(export("--store", store, "--format", "jsonl", "-o", folder.name("link"))[0], 0)
        equal((os.path.islink(folder.name("link")), open(out).read(2)), (True, '{"'))
        refuses(64, "belongs to the store itself", "--store", store, "--format", "csv", "-o", store)
        log = folder.write("store.sqlite-wal", "")
        refuses(64, "belongs to the store itself", "--store", store, "--format", "csv", "-o", log)
        os.unlink(log)
        other = create(folder, STREAM, "other")
        refuses(73, "it is not replaced", "--store", store, "--format", "csv", "-o", other)
        refuses(73, "Is a directory", "--store", store, "--format", "csv", "-o", folder.path)
        refuses(73, "No such file", "--store", store, "--format", "csv", "-o",
                folder.name("no/where"))


def test_what_a_killed_export_left_is_taken_away():
    with Folder() as folder:
        store = create(folder, STREAM)
        for name, age in (("out.part-0123abcd", 3600), ("out.part-89abcdef", 0),
                          ("out.part-old", 3600), ("other.part-0123abcd", 3600)):
            path = folder.write(name, "half")
            os.utime(path, (time.time() - age,) * 2)
        equal(export("--store", store, "--format", "csv", "-o", folder.name("out"))[0], 0)
        equal(sorted(name for name in os.listdir(folder.path) if "part" in name),
              ["other.part-0123abcd", "out.part-89abcdef", "out.part-old"])


def test_a_hyphen_is_stdout():
    with Folder() as folder:
        store = create(folder, STREAM)
        before = sorted(os.listdir(folder.path))
        args = ("--store", store, "--format", "csv")
        equal(export(*args, "-o", "-", cwd=folder.path), export(*args))
        equal(sorted(os.listdir(folder.path)), before)


def test_a_full_disk_is_said():
    with Folder() as folder:
        store = create(folder, STREAM)
        refuses(74, "cannot write to /dev/full: No space left", "--store", store, "--format", "csv",
                "-o", "/dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program("client", "nvtxt-export"), "--store", store, "--format",
                                   "csv"], stdout=full, stderr=subprocess.PIPE, env=ENV)
        equal((done.returncode, done.stderr),
              (74, b"nvtxt-export: cannot write to stdout: No space left on device\n"))
        command = ["sh", "-c", 'ulimit -f 0; exec "$@" >out', "sh"]
        done = subprocess.run([*command, program("client", "nvtxt-export"), "--store", store,
                               "--format", "csv"], cwd=folder.path, stderr=subprocess.PIPE, env=ENV)
        equal((done.returncode, done.stderr),
              (74, b"nvtxt-export: cannot write to stdout: File too large\n"))


def many(folder, events):
    return create(folder, "@Marker, Time, Message\n" + "".join(
        'Marker, %d, "message %d"\n' % (i, i) for i in range(events)))


def test_a_reader_that_goes_away_is_no_fault():
    with Folder() as folder:
        store = many(folder, 20000)
        with Running("nvtxt-export", "--store", store, "--format", "jsonl") as running:
            running.process.stdout.read(100)
            running.process.stdout.close()
            equal(running.expect(0), "")


def test_a_signal_leaves_nothing_behind():
    with Folder() as folder:
        store = many(folder, 20000)
        with Running("nvtxt-export", "--store", store, "--format", "csv") as running:
            running.process.stdout.read(100)  # it waits for us then, or will soon
            running.signal(signal.SIGINT)
            wait_for(lambda: interrupted(running.process), "it ends")
            equal(running.expect(130), "")
        before = os.listdir(folder.path)
        with Running("nvtxt-export", "--store", store, "--format", "csv", "-o",
                     folder.name("out")) as running:
            running.signal(signal.SIGTERM)
            equal(running.wait() in (143, 0, -15), True)
        equal(sorted(set(os.listdir(folder.path)) - {"out"}), sorted(before))


def interrupted(process):
    """Whether it has ended. A signal that comes just before a write begins to wait is not seen by
    that write; people press Ctrl-C again, and so does this."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    return process.poll() is not None


def test_progress_is_for_a_terminal():
    with Folder() as folder:
        store = many(folder, 20000)
        args = ("nvtxt-export", "--store", store, "--format", "csv", "-o", folder.name("out"))
        status, shown = run_in_terminal(*args)
        equal(status, 0)
        contains(shown, " events, ")
        status, shown = run_in_terminal(*args, "--quiet")
        equal((status, shown), (0, ""))


# ---- Size ---------------------------------------------------------------------------------------

def peak(folder, store, form):
    """KiB that an export takes at most."""
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen([program("client", "nvtxt-export"), "--store", store,
                                    "--format", form], stdout=null, env=ENV)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    equal(status, 0)
    return usage.ru_maxrss


def test_memory_does_not_grow_with_the_store():
    if SANITIZERS:
        raise Skip("a sanitizer's memory grows")
    long = os.environ.get("NVTXT_TEST_LONG")
    with Folder() as folder:
        few, many_events = (many_ranges(folder, name, count)
                            for name, count in (("few", 20000), ("many", 1000000 if long else 80000)))
        for form in ("chrome", "perfetto", "csv", "jsonl", "nvtxt"):
            small, large = peak(folder, few, form), peak(folder, many_events, form)
            equal(large < small + 4096, True, "%s: %d KiB, then %d KiB" % (form, small, large))


def many_ranges(folder, name, events):
    return create(folder, "@RangePush, Time, Message\n@RangePop, Time\n" + "".join(
        'RangePush, %d, "message %d"\nRangePop, %d\n' % (3 * i, i % 100, 3 * i + 2)
        for i in range(events)), name)


if __name__ == "__main__":
    run(globals())
