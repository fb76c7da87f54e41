# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export --format perfetto: the trace read back is the store."""
import collections
import json
import os
import random
import shutil
import sqlite3
import subprocess

from client import Folder, contains
from lib import Skip, equal, run
from perfetto import NO_MERGING, SCHEMA, Trace, packets
from report import F1, make_store
from test_export import HELLO, NVTX_STREAM, STREAM, create, export, random_stream, timeline

RANGES = ("@RangePush, Time, ProcessId, ThreadId, Message\n@RangePop, Time, ProcessId, ThreadId\n"
          "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message\n"
          "@Marker, Time, ProcessId, ThreadId, Message\n")


def exported(folder, store, name="trace", *options):
    status, out, err = export("-q", "--store", store, "--format", "perfetto", "-o",
                              folder.name(name), *options)
    equal((status, out, err), (0, "", ""))
    return folder.name(name)


def trace_of(folder, store, *options):
    return Trace(exported(folder, store, "trace", *options))


def thread_of(track):
    thread = track.owner("thread")
    equal(track.owner("process")["pid"], thread["pid"])
    return thread["pid"] % 2 ** 32, thread["tid"]


def kind_of(track):
    if track.thread:
        return "push/pop"
    equal(track.parent.thread is not None, True)
    name, thread = track.name, track.parent.thread
    label = thread.get("thread_name", "Thread %d" % thread["tid"])
    equal(name.startswith(label), True, name)
    if name == label + " start/end":
        return "start/end"
    equal(int(name[len(label) + 2:-1]) > 1, True, name)
    return "push/pop"


def events_of(trace):
    """What the store has, as often as it has it."""
    found = collections.Counter()
    for track, _, name, start, end, category, arguments in trace.slices:
        found[json.dumps([kind_of(track), *thread_of(track), name,
                          arguments.pop("startNs", start), arguments.pop("endNs", end), category,
                          arguments])] += 1
    for track, name, at, category, arguments in trace.instants:
        equal(track.thread is not None, True)
        found[json.dumps(["mark", *thread_of(track), name, arguments.pop("startNs", at), None,
                          category, arguments])] += 1
    return found


def wanted_of(store, leave_out=()):  # starts of events
    found = collections.Counter()
    for row in timeline(store):
        if row["start"] in leave_out:
            continue
        arguments = {}
        if row["categoryId"]:
            arguments["category"] = row["categoryId"]
        for name in ("color", "domain"):
            if row[name] is not None:
                arguments[name] = row[name]
        if row["endGlobalTid"] is not None:
            arguments["endPid"] = row["endGlobalTid"] >> 24
            arguments["endTid"] = row["endGlobalTid"] & 0xFFFFFF
        if any(row[name + "Value"] is not None for name in
               ("uint64", "int64", "double", "uint32", "int32", "float")):
            payload = row["payload"]
            arguments["payload"] = float("inf") if payload == "Infinity" else payload
        if row["jsonText"] is not None:
            arguments["json"] = json.loads(row["jsonText"])
        mark = row["kind"] == "mark"
        category = row["category"] if row["category"] is not None else ""
        found[json.dumps([row["kind"], row["pid"], row["tid"], row["message"], row["start"],
                          None if mark else row["end"], str(category), arguments])] += 1
    return found


def same(found, wanted):
    equal(sorted((found - wanted).elements()), [], "not in the store")
    equal(sorted((wanted - found).elements()), [], "not in the trace")


# ---- What is written ----------------------------------------------------------------------------

def test_the_trace_is_the_store():
    with Folder() as folder:
        for text in (STREAM, NVTX_STREAM):
            store = create(folder, text, str(len(text)))
            trace = trace_of(folder, store)
            equal(trace.ordered, True)
            equal(trace.clocks, {6: 1000, 1: 1000})
            same(events_of(trace), wanted_of(store, {4400, 4401, 4404}))  # samples of counters
        processes = [(t.process["pid"], t.process["process_name"]) for t in trace.tracks.values()
                     if t.process]
        equal(processes, [(7, "prog, x"), (9, "Process 9")])


def test_counters_have_tracks_of_their_own():
    with Folder() as folder:
        trace = trace_of(folder, create(folder, NVTX_STREAM))
        equal({(track.name, track.domain, track.counter.get("unit_name"), at, value)
               for track, at, value, _ in trace.samples},
              {("loss", "gpu", "J", 4400, 0.5), ("loss", None, None, 4401, 3),
               ("group a", "gpu", None, 4404, 1.5), ("group b", "gpu", None, 4404, -2)})
        equal(len(trace.samples), 4)
        for track, _, _, _ in trace.samples:
            equal((track.merging, track.parent.process["pid"]), (NO_MERGING, 7))


def test_numbers_and_texts_of_json():
    values = {"": 0, "deep": [[[]], {}, {"a": {"b": [None, True, False]}}], "neg": -2 ** 63,
              "big": 2 ** 64 - 1, "beyond": 1e30, "more": 2.0 ** 64, "half": -0.5, "text": "\u0000\n\"\\/\U0001F600",
              "same": {"same": "same"}}
    texts = [json.dumps(values), json.dumps(values, indent=2) + " \n", '" a\\u00e4\\ud83d\\ude00\\/"',
             " 7 ", "null", "[]", "{}", "true"]
    with Folder() as folder:
        store = create(folder, HELLO + RANGES + "".join("Marker, %d, 7, 8, m\n" % i
                                                for i in range(len(texts) + 2)))
        db = sqlite3.connect(store)
        rows = [row for row, in db.execute("SELECT rowid FROM NVTX_EVENTS WHERE eventType = 34 "
                                           "ORDER BY rowid")]
        for row, text in zip(rows, texts + ['"\\ud800x\\udc00\\ud800\\u0041"', "{no json"]):
            db.execute("UPDATE NVTX_EVENTS SET jsonText = ? WHERE rowid = ?", (text, row))
        db.commit()
        db.close()
        found = [arguments["json"] for _, _, _, _, arguments in trace_of(folder, store).instants]
        equal(json.dumps(found), json.dumps([json.loads(text) for text in texts] +
                                            ["\ufffdx\ufffd\ufffdA", "{no json"]))


def test_random_stores():
    for seed in range(100 if os.environ.get("NVTXT_TEST_LONG") else 4):
        rng = random.Random(seed)
        with Folder() as folder:
            store = create(folder, random_stream(rng, 400))
            same(events_of(trace_of(folder, store)), wanted_of(store))


# ---- Nesting ------------------------------------------------------------------------------------

def nest(trace):
    return sorted((kind_of(track), track.name or "", depth, name, start, end)
                  for track, depth, name, start, end, _, _ in trace.slices)


def test_ranges_nest_and_those_that_cross_have_further_tracks():
    with Folder() as folder:
        trace = trace_of(folder, create(folder, RANGES + (
            "SetThreadName, 7, 8, worker\n"
            "RangePush, 10, 7, 8, outer\nRangePush, 10, 7, 8, inner\nRangePush, 20, 7, 8, point\n"
            "RangePop, 20, 7, 8\nRangePop, 30, 7, 8\nRangePush, 30, 7, 8, next\nRangePop, 40, 7, 8\n"
            "RangePop, 40, 7, 8\n"
            "RangeStartEnd, 10, 30, 7, 8, a\nRangeStartEnd, 20, 40, 7, 8, b\n"
            "RangeStartEnd, 30, 40, 7, 8, c\nRangeStartEnd, 40, 35, 7, 8, back\n")))
        equal(nest(trace), [
            ("push/pop", "", 0, "outer", 10, 40), ("push/pop", "", 1, "inner", 10, 30),
            ("push/pop", "", 1, "next", 30, 40), ("push/pop", "", 2, "point", 20, 20),
            ("start/end", "worker start/end", 0, "a", 10, 30),
            ("start/end", "worker start/end", 0, "b", 20, 40),
            ("start/end", "worker start/end", 0, "back", 40, 40),
            ("start/end", "worker start/end", 0, "c", 30, 40)])
        lanes = {name: track.uuid for track, _, name, *_ in trace.slices}
        equal((lanes["a"] == lanes["c"], lanes["a"] == lanes["b"]), (True, False))
        back, = (arguments for *_, arguments in trace.slices if "endNs" in arguments)
        equal(back, {"endNs": 35})


def test_pushes_that_cross_as_those_of_two_sources_do():
    with Folder() as folder:
        first, second = (folder.write(name, RANGES + lines) for name, lines in (
            ("a", "SetThreadName, 7, 8, w\nRangePush, 10, 7, 8, a\nRangePop, 30, 7, 8\n"),
            ("b", "RangePush, 20, 7, 8, b\nRangePop, 40, 7, 8\n")))
        trace = trace_of(folder, make_store(folder, "s", first, second))
        equal(nest(trace), [("push/pop", "", 0, "a", 10, 30),
                            ("push/pop", "w (2)", 0, "b", 20, 40)])


def test_more_crossing_ranges_than_lanes():
    with Folder() as folder:
        store = create(folder, RANGES + "".join("RangeStartEnd, %d, %d, 7, 8, r%d\n" % (
            i, 10000 + i, i) for i in range(1100)))
        same(events_of(trace_of(folder, store)), wanted_of(store))


def test_what_ends_in_a_later_segment_nests_too():
    """Each segment is a batch: what a later one has stands after it in the file."""
    inner = "RangeStartEnd, 10, 20, 7, 8, inner\nRangeStartEnd, 30, 40, 7, 8, inner\n"
    outer = ("RangeStartEnd, 10, 50, 7, 8, outer\nRangeStartEnd, 25, 30, 7, 8, before\n"
             "RangeStartEnd, 30, 35, 7, 8, inside\nRangeStartEnd, 20, 25, 7, 8, after\n")
    rng = random.Random(5)
    pairs = [(inner, outer)] + [tuple("".join(
        "RangeStartEnd, %d, %d, 7, 8, r%d\n" % (at, at + rng.randrange(12), rng.randrange(99))
        for at in (rng.randrange(40) for _ in range(60))) for _ in range(2)) for _ in range(8)]
    for pair in pairs:
        with Folder() as folder:
            names = [make_store(folder, "s-20261122T06240%dZ-%d.sqlite" % (n, n),
                                folder.write("%d.nvtxt" % n, RANGES + lines))
                     for n, lines in enumerate(pair, 1)]
            os.symlink(os.path.basename(names[1]), folder.name("s.sqlite"))
            same(events_of(trace_of(folder, folder.name("s.sqlite"))),
                 wanted_of(names[0]) + wanted_of(names[1]))


# ---- Times, names, bounds -----------------------------------------------------------------------

def test_times_before_1970_count_from_the_first_event():
    with Folder() as folder:
        store = create(folder, RANGES + "Marker, -5, 7, 8, m\nRangeStartEnd, -3, 4, 7, 8, r\n")
        trace = trace_of(folder, store)
        equal([(at, arguments) for _, _, at, _, arguments in trace.instants], [(0, {"startNs": -5})])
        equal([entry[3:5] + entry[6:] for entry in trace.slices],
              [(2, 9, {"startNs": -3, "endNs": 4})])
        equal(trace.clocks, {})


def test_names_that_are_no_text():
    with Folder() as folder:
        store = create(folder, STREAM)
        for message, wanted in ((b"\xff\xc3(\x00end", "\ufffd\ufffd(\0end"), (b"", "")):
            db = sqlite3.connect(store)
            db.execute("UPDATE NVTX_EVENTS SET text = CAST(? AS TEXT) WHERE start = 2100", (message,))
            db.execute("UPDATE NVTX_EVENTS SET textId = NULL WHERE start = 2100")
            db.commit()
            db.close()
            equal([name for _, _, name, start, *_ in trace_of(folder, store).slices
                   if start == 2100], [wanted])


def test_names_that_are_very_long():
    with Folder() as folder:
        store = create(folder, STREAM)
        db = sqlite3.connect(store)
        db.execute("UPDATE NVTX_EVENTS SET textId = NULL, text = ? WHERE start = 2100",
                   ("n" * (16 << 20),))
        db.commit()
        db.close()
        trace = trace_of(folder, store)
        equal([len(name) for _, _, name, start, *_ in trace.slices if start == 2100], [16 << 20])
        equal(trace.cleared, 2)


def test_texts_are_forgotten_and_written_again():
    count, different = 70000, 65536  # a batch of them has more than 16 MiB
    with Folder() as folder:
        store = create(folder, "@Marker, Time, Message\n" + "".join(
            'Marker, %d, "%d%s"\n' % (i, i % different, "m" * 250) for i in range(count)))
        trace = trace_of(folder, store)
        equal(trace.cleared, 2)
        equal([name for _, name, *_ in trace.instants],
              ["%d%s" % (i % different, "m" * 250) for i in range(count)])


def test_filters_and_stores_without_events():
    with Folder() as folder:
        store = create(folder, STREAM)
        equal([entry[2] for entry in trace_of(folder, store, "--pid", "9").slices], ["other"])
        status, _, err = export("--store", store, "--format", "perfetto", "--pid", "1", "-o",
                                folder.name("none"))
        equal(status, 0)
        contains(err, "no event is as you asked for")
        trace = Trace(folder.name("none"))
        equal((trace.tracks, trace.slices), ({}, []))


# ---- Other readers, and size --------------------------------------------------------------------

def parsed(text):
    """The text format of protoc as decode() gives it, but with all values as texts."""
    root = {}
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = {}
            stack[-1].setdefault(line[:-2], []).append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        else:
            name, _, value = line.partition(": ")
            stack[-1].setdefault(name, []).append(value)
    return root


def as_text(message):
    found = {}
    for name, value in message.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                one = as_text(one)
            elif isinstance(one, str):
                one = '"%s"' % "".join(
                    {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}
                    .get(chr(byte), chr(byte) if 32 <= byte < 127 else "\\%03o" % byte)
                    for byte in one.encode())
            elif isinstance(one, float):
                one = "inf" if one == float("inf") else "%g" % one
            else:
                one = str(one).lower()
            found.setdefault(name, []).append(one)
    return found


def test_protoc_reads_the_same():
    if not shutil.which("protoc"):
        raise Skip("there is no protoc (protobuf-compiler)")
    with Folder() as folder:
        path = exported(folder, create(folder, NVTX_STREAM))
        with open(path, "rb") as file:
            done = subprocess.run(["protoc", "--decode=Trace", "-I", os.path.dirname(SCHEMA),
                                   os.path.basename(SCHEMA)], stdin=file, check=True,
                                  stdout=subprocess.PIPE)
        equal(parsed(done.stdout.decode()), {"packet": [as_text(p) for p in packets(path)]})


def test_it_is_smaller_than_json():
    with Folder() as folder:
        many = "@RangePush, Time, Message\n@RangePop, Time\n" + "".join(
            'RangePush, %d, "message %d"\nRangePop, %d\n' % (i * 10 ** 9, i % 100, i * 10 ** 9 + 2)
            for i in range(20000))
        for store, most in ((make_store(folder, "f1", F1), 0.6),
                            (create(folder, many), 0.4)):
            sizes = []
            for form in ("chrome", "perfetto"):
                equal(export("-q", "--store", store, "--format", form, "-o",
                             folder.name("out"))[0], 0)
                sizes.append(os.path.getsize(folder.name("out")))
            equal(sizes[1] < most * sizes[0], True, sizes)


if __name__ == "__main__":
    run(globals())
