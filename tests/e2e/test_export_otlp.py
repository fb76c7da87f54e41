# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export --format otlp: read back as a collector reads it, it is the store."""
import json
import math
import os
import random
import re
import sqlite3
import subprocess

from client import ENV, Folder, contains, run_client
from lib import SANITIZERS, Daemon, Skip, equal, program, run

from test_export import (NVTX_STREAM, TID, create, export, make_export, many_ranges, peak,
                         timeline)

REQUEST_BYTES = 512 * 1024
EVENTS_BYTES = 64 * 1024  # of one span


# ---- Reading ------------------------------------------------------------------------------------

def value_of(value):
    """What an AnyValue holds. Numbers of 64 bits are strings."""
    (kind, held), = value.items() or [(None, None)]
    if kind == "intValue":
        equal(re.fullmatch("-?[0-9]+", held) is not None and -2**63 <= int(held) < 2**63, True)
        return int(held)
    if kind == "kvlistValue":
        return {member["key"]: value_of(member["value"]) for member in held["values"]}
    if kind == "arrayValue":
        return [value_of(item) for item in held["values"]]
    if kind == "doubleValue":
        return float(held)
    equal(kind in (None, "stringValue", "boolValue"), True, kind)
    return held


def attributes_of(thing):
    found = {item["key"]: value_of(item["value"]) for item in thing["attributes"]}
    equal(len(found), len(thing["attributes"]), "keys differ")
    return found


class Span:
    def __init__(self, resource, scope, span):
        self.resource, self.scope, self.name = resource, scope, span["name"]
        self.trace, self.id = span["traceId"], span["spanId"]
        self.around = span.get("parentSpanId")
        self.start, self.end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        self.more = attributes_of(span)
        self.events = span.get("events", [])
        self.bytes = len(json.dumps(span))
        for text, digits in ((self.trace, 32), (self.id, 16), (self.around or self.id, 16)):
            equal(re.fullmatch("[0-9a-f]{%d}" % digits, text) is not None and int(text, 16) != 0,
                  True, text)
        for number in ("startTimeUnixNano", "endTimeUnixNano"):
            equal(type(span[number]), str)
        equal(span["kind"], 1)
        equal(0 <= self.start <= self.end < 2**64, True)


def read(text):
    """The spans, by their ids, of the requests that are the lines."""
    spans = {}
    equal(text == "" or text.endswith("\n"), True)
    for line in text.split("\n")[:-1]:
        (resource,) = json.loads(line)["resourceSpans"]
        (scope,) = resource["scopeSpans"]
        equal(len(scope["spans"]) > 0, True, "no request is empty")
        found = [Span(attributes_of(resource["resource"]), scope["scope"].get("name"), span)
                 for span in scope["spans"]]
        equal(len(line.encode()) <= REQUEST_BYTES or len(found) == 1, True)
        equal(found[0].id in spans, False)
        spans.update((span.id, span) for span in found)
        equal(len({span.id for span in found}), len(found), "ids differ")
    for span in spans.values():
        outer = spans[span.around] if span.around else None
        equal(outer is None or outer.trace == span.trace, True, "a trace is all that nests")
    return spans


def exported(store, *filters, status=0, **more):
    got, out, err = export("--store", store, "--format", "otlp", *filters, **more)
    equal(got, status, err)
    return out


def figures(spans):
    """Each event once: what it is, and what it is in. A mark in a span may be an event of it."""
    found = []
    for span in spans.values():
        outer = spans.get(span.around)
        in_what = outer and (outer.name, outer.start, outer.end)
        found.append((span.more["nvtx.kind"], span.name, span.more.get("nvtx.start", span.start),
                      span.more.get("nvtx.end", span.end), span.resource["process.pid"],
                      span.more["thread.id"], span.scope or "", in_what))
        for event in span.events:
            more = attributes_of(event)
            at = more.get("nvtx.start", int(event["timeUnixNano"]))
            found.append(("mark", event["name"], at, None, span.resource["process.pid"],
                          span.more["thread.id"], more.get("nvtx.domain", ""),
                          (span.name, span.start, span.end)))
    return sorted((row[:3] + (row[3] if row[0] != "mark" else row[2],) + row[4:]
                   for row in found), key=repr)


def clipped(row):
    start = max(row["start"], 0)
    return row["message"], start, max(row["end"], start)


def around(rows, inner):
    """The push/pop range around a row that started last."""
    found = None
    length = inner["end"] > inner["start"] and inner["kind"] == "push/pop"
    end = inner["end"] if length else inner["start"]
    for row in rows:
        if (row["kind"] != "push/pop" or row is inner or row["end"] <= row["start"] or
                row["globalTid"] != inner["globalTid"] or row["start"] > inner["start"] or
                row["end"] < end or inner["kind"] == "start/end"):
            continue
        same = length and (row["start"], row["end"]) == (inner["start"], inner["end"])
        if row["end"] == inner["start"] or same and row["eventRow"] < inner["eventRow"]:
            continue
        order = (row["start"], -row["end"], -row["eventRow"])
        if found is None or order > found[0]:
            found = (order, row)
    return found and found[1]


def wanted_figures(rows):
    found = []
    for row in rows:
        outer = around(rows, row)
        end = row["start"] if row["kind"] == "mark" else row["end"]
        found.append((row["kind"], row["message"], row["start"], end, row["pid"], row["tid"],
                      row.get("domain") or "", outer and clipped(outer)))
    return sorted(found, key=repr)


# ---- It is the store ----------------------------------------------------------------------------

def test_every_event_is_there_with_all_that_it_has():
    with Folder() as folder:
        store = create(folder, NVTX_STREAM)
        rows = timeline(store)
        spans = read(exported(store))
        equal(figures(spans), wanted_figures(rows))
        by_name = {}
        for span in spans.values():
            by_name.setdefault(span.name, []).append(span)
        outer, inner = by_name["outer it's"][0], by_name["inner"][0]
        equal((inner.around, inner.trace), (outer.id, outer.trace))
        equal(outer.around, None)
        equal(outer.more, {"thread.id": 8, "thread.name": "worker", "nvtx.kind": "push/pop",
                           "nvtx.category": "io", "nvtx.category_id": 3,
                           "nvtx.color": "#FFFF0000"})
        equal((outer.scope, by_name["crossing"][0].around), ("shop", None))
        equal(by_name["crossing"][0].trace == outer.trace, False, "one of its own")
        equal({key: value for key, value in outer.resource.items() if key != "host.name"},
              {"service.name": "prog, x", "process.pid": 7, "process.executable.name": "prog, x"})
        equal(outer.resource["host.name"], os.uname().nodename)
        other = by_name["other"][0]
        equal({key: value for key, value in other.resource.items() if key != "host.name"},
              {"service.name": "Process 9", "process.pid": 9})
        equal((other.scope, other.more["nvtx.category_id"]), (None, 4))
        payloads = {name: [span.more.get("nvtx.payload") for span in by_name[name]]
                    for name in ("u64", "small u64", "u32", "i32", "f32", "loss", "json")}
        equal(payloads, {"u64": ["18446744073709551615"], "small u64": [5], "u32": [4294967295],
                         "i32": [-7], "f32": [0.25], "json": [None],
                         "loss": payloads["loss"]})
        equal(sorted(payloads["loss"]), [0.5, 3, 3, 3, math.inf])
        equal(by_name["json"][0].more["nvtx.json"], {"step": 3, "deep": {"a": [1, {}]}})
        equal(by_name["i64"][0].more["nvtx.json"], None)
        equal(by_name["C"][0].more["nvtx.json"], {"begin": None, "end": "end"})
        equal((by_name["C"][0].more["nvtx.end_pid"], by_name["C"][0].more["nvtx.end_tid"]), (7, 9))
        equal((by_name["A"][0].scope, by_name["B"][0].scope), ("gpu", "cpu"))


def nested_stream(rng, events, now):
    """Pushes, pops, marks and start/end ranges on three threads, times that are often equal, and
    texts and domains of all kinds."""
    lines = ["@Marker, Time, ProcessId, ThreadId, Message, Domain",
             "@RangePush, Time, ProcessId, ThreadId, Message, Domain",
             "@RangePop, Time, ProcessId, ThreadId, Domain",
             "@RangeStartEnd, Start, End, ProcessId, ThreadId, Message, Domain"]
    texts = ["plain", "it's", "", "\u00e4\u20ac\U0001F600", "a,b", "x" * 300, "tab\there"]
    for number in range(events):
        now += rng.randrange(rng.choice([1, 2, 40]))
        text = '"%s%s"' % (rng.choice(texts), rng.choice(["", str(number)]))
        thread = rng.choice(["7, 8", "7, 9", "11, 11"])
        domain = rng.choice(['""', '"gpu"'])
        kind = rng.randrange(10)
        if kind < 3:
            lines.append("Marker, %d, %s, %s, %s" % (now, thread, text, domain))
        elif kind < 6:
            lines.append("RangePush, %d, %s, %s, %s" % (now, thread, text, domain))
        elif kind < 9:
            at = now - rng.choice([0, 0, 0, 0, 5, 100])
            lines.append("RangePop, %d, %s, %s" % (at, thread, domain))
        else:
            lines.append("RangeStartEnd, %d, %d, %s, %s, %s" % (
                now, now + rng.randrange(-3, 90), thread, text, domain))
    return '#nvtxt-session {"protocol":1,"nvtx":1}\n' + "\n".join(lines) + "\n"


def test_random_stores_come_back():
    long = os.environ.get("NVTXT_TEST_LONG")
    kinds = set()
    for seed in range(100 if long else 6):
        with Folder() as folder:
            store = create(folder, nested_stream(random.Random(seed), 300,
                                                 (-300, 0, 10**18)[seed % 3]))
            rows = timeline(store)
            status = int(any(row["start"] < 0 for row in rows))
            spans = read(exported(store, status=status))
            equal(figures(spans), wanted_figures(rows), "seed %d" % seed)
            kinds |= {"event" for span in spans.values() if span.events}
            kinds |= {"backward" for row in rows if row["end"] < row["start"]}
            kinds |= {"before" for row in rows if row["start"] < 0}
            kinds |= {"deep" for span in spans.values() if span.around and spans[span.around].around}
    equal(kinds, {"event", "backward", "before", "deep"})


# ---- Ids ----------------------------------------------------------------------------------------

def test_a_second_export_is_the_same_also_of_a_part():
    with Folder() as folder:
        text = nested_stream(random.Random(2), 300, 0)
        store = create(folder, text)
        whole = exported(store)
        equal(exported(store), whole, "byte for byte")
        everything = read(whole)
        deep = [span for span in everything.values()
                if span.around and everything[span.around].around]
        for filters in (["--match", "[0-9]$"], ["--pid", "7"], ["--since", str(deep[-1].start)],
                        ["--until", str(deep[len(deep) // 2].start)], ["--match", "x"]):
            part = read(exported(store, *filters))
            equal(len(part) > 0 and len(part) < len(everything), True, str(filters))
            for span in part.values():
                if span.more["nvtx.kind"] == "mark":
                    continue  # it may be an event in the whole
                whole = everything[span.id]
                equal((span.trace, span.name, span.start, span.end),
                      (whole.trace, whole.name, whole.start, whole.end), str(filters))
                if filters[0] != "--match":
                    equal(span.around, whole.around, str(filters))
        copy = create(folder, text, "another")
        equal(set(read(exported(copy))) & set(everything), set(), "another store has other ids")


def test_a_range_that_is_left_out_leaves_its_trace():
    text = ("@RangePush, Time, Message\n@RangePop, Time\n@Marker, Time, Message\n"
            "RangePush, 1, 'keep outer'\nRangePush, 2, 'drop'\nRangePush, 3, 'keep inner'\n"
            "Marker, 4, 'keep mark'\nRangePop, 5\nMarker, 6, 'keep second'\nRangePop, 7\n"
            "RangePop, 8\n")
    with Folder() as folder:
        store = create(folder, text)
        spans = {span.name: span for span in read(exported(store, "--match", "keep")).values()}
        equal(sorted(spans), ["keep inner", "keep outer"])
        equal(spans["keep inner"].around, spans["keep outer"].id)
        equal([event["name"] for span in ("keep inner", "keep outer")
               for event in spans[span].events], ["keep mark", "keep second"])
        whole = {span.name: span for span in read(exported(store)).values()}
        inner, = read(exported(store, "--match", "inner")).values()
        equal((inner.around, inner.trace, inner.id),
              (None, whole["drop"].trace, whole["keep inner"].id))


def test_segments_keep_their_ids():
    with Daemon() as daemon:
        daemon.send("RangePush, 1, Manual, 7, 8, 0, 0, 'outer'\nMarker, 2, Manual, 7, 8, 0, 0, "
                    "'first', 1\n")
        before = read(exported(daemon.store))
        daemon.control("rotate")
        daemon.send("Marker, 3, Manual, 7, 8, 0, 0, 'second', 1\n")
        equal(set(before) <= set(read(exported(daemon.store))), True)
        daemon.stop()
        after = {span.name: span for span in read(exported(daemon.store)).values()}
        equal(sorted(after), ["first", "second"])


# ---- Bounds -------------------------------------------------------------------------------------

def test_marks_become_events_while_there_is_room():
    lines = ["@RangePush, Time, Message", "@RangePop, Time", "@Marker, Time, Message",
             "RangePush, 1, 'busy'"]
    lines += ["Marker, %d, '%s'" % (2 + i, "m" * 200) for i in range(1000)] + ["RangePop, 2000"]
    with Folder() as folder:
        spans = read(exported(create(folder, "\n".join(lines) + "\n")))
        busy, = (span for span in spans.values() if span.name == "busy")
        marks = [span for span in spans.values() if span is not busy]
        equal(len(marks) + len(busy.events), 1000)
        equal(len(busy.events) > 100 and busy.bytes < EVENTS_BYTES * 5 // 4, True)
        equal({(span.around, span.trace) for span in marks}, {(busy.id, busy.trace)})


def hostile_store(folder, texts):
    """A store with texts that no source can send."""
    store = create(folder, "@RangePush, Time, Message\n@RangePop, Time\n" + "".join(
        "RangePush, %d, 'text'\nRangePop, %d\n" % (2 * i + 1, 2 * i + 2)
        for i in range(len(texts))))
    db = sqlite3.connect(store)
    with db:
        rows = [row for row, in db.execute("SELECT rowid FROM NVTX_EVENTS WHERE eventType = 59")]
        for row, text in zip(rows, texts):
            db.execute("UPDATE NVTX_EVENTS SET text = CAST(? AS TEXT) WHERE rowid = ?", (text, row))
    db.close()
    return store


def test_hostile_texts_are_escaped():
    texts = [b"\xff\xfe", b"a\x00b", b"\xed\xa0\x80", b'"\\\n\r\x1b[0m\x7f', b"\xe2\x80\xa8",
             b"m" * (16 << 20)]
    with Folder() as folder:
        store = hostile_store(folder, texts)
        done = subprocess.run([program("client", "nvtxt-export"), "--store", store, "--format",
                               "otlp"], stdout=subprocess.PIPE, env=ENV, check=True)
        spans = read(done.stdout.decode("utf-8"))
        lines = done.stdout.split(b"\n")
        names = [span.name for span in sorted(spans.values(), key=lambda span: span.start)]
        equal(names, ["\ufffd\ufffd", "a\0b", "\ufffd" * 3, '"\\\n\r\x1b[0m\x7f', "\u2028",
                      "m" * (16 << 20)])
        equal(sum(len(line) > REQUEST_BYTES for line in lines), 1, "only the long one")


def test_nothing_is_written_of_nothing():
    with Folder() as folder:
        equal(exported(create(folder, "")), "")
        status, out, err = export("--store", create(folder, NVTX_STREAM, "some"), "--format", "otlp",
                                  "--match", "nothing like it")
        equal((status, out), (0, ""))
        contains(err, "no event is as you asked for")


def test_what_otlp_cannot_hold_is_counted():
    text = "@Marker, Time, Message\nMarker, -5, 'before'\nMarker, 5, 'after'\n"
    with Folder() as folder:
        status, out, err = export("--store", create(folder, text), "--format", "otlp")
        equal(status, 1)
        contains(err, "1 events are before 1970, which OTLP cannot hold")
        before, = (span for span in read(out).values() if span.name == "before")
        equal((before.start, before.end, before.more["nvtx.start"]), (0, 0, -5))


def test_memory_grows_by_44_bytes_a_range():
    if SANITIZERS:
        raise Skip("a sanitizer's memory grows")
    with Folder() as folder:
        few, many = (many_ranges(folder, name, count) for name, count in (("few", 2000),
                                                                        ("many", 102000)))
        grown = (peak(folder, many, "otlp") - peak(folder, few, "otlp")) * 1024
        # 100,000 ranges, an array that doubles, and 12 MiB for requests that are full.
        equal(grown < 100000 * 44 * 2 + (12 << 20), True, "%d bytes" % grown)


# ---- Exports of Nsight Systems ------------------------------------------------------------------

def test_an_export_says_its_host():
    with Folder() as folder:
        for name, more, host in (("with", ["CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value)",
                                           "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES "
                                           "('Hostname', 'gpu17'), ('OsName', 'Linux')"], "gpu17"),
                                 ("without", [], None)):
            path = folder.name(name)
            make_export(path, "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
                        "text TEXT, globalTid INTEGER", [
                            {"start": 10, "end": 20, "eventType": 59, "text": "range",
                             "globalTid": TID},
                            {"start": 12, "eventType": 34, "text": "mark", "globalTid": TID}], more)
            mark, span = sorted(read(exported(path)).values(), key=lambda span: span.name)
            equal((span.resource.get("host.name"), span.resource["process.pid"]), (host, 7))
            equal((mark.around, mark.start), (span.id, 12), "its row comes after the range's")


if __name__ == "__main__":
    run(globals())
