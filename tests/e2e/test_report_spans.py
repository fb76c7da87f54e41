# SPDX-License-Identifier: Apache-2.0
"""Figures of spans in the page of nvtxt-report html against a slow computation over the same events, in
random stores and exports: ranges that cross, never end, or end before they start; on many threads; merged.
Without a span they are those of nvtxt-report stats. Skipped without Chromium, its driver or selenium."""
import json
import math
import os
import random
import re
import sys

import browser
import builds
from client import Folder
from lib import equal, run
from report import make_store, report
from report_random import captures
from report_window import flame_walk, opened

browser.need()

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import slow  # noqa: E402

SPANS = 10
STORES = 2 if os.environ.get("NVTXT_TEST_LONG") else 1  # of each shape
# What the table of names shows: of each row its name and kind, and the numbers behind what people read.
TABLE = """return [...document.querySelectorAll('#names-table tbody tr')].map((row) =>
    [...row.cells].map((cell, i) => i < 2 ? cell.textContent.trim() : cell.dataset.value ?? null));"""
SAID = "return document.getElementById('names-said').textContent"
DESCRIBED = "return document.getElementById('flame-canvas').getAttribute('aria-label')"
HIDDEN = "return document.getElementById('names-table').closest('[role=region]').hidden"
KINDS = {slow.MARK: "mark", slow.PUSH_POP: "push/pop", slow.START_END: "start/end"}


def is_in(event, span):
    start, end = span
    if event.start < event.end:
        return event.start < end and event.end > start
    return start <= event.start < end


def self_within(event, lane, span):
    """The time of the span in which an event is the last of the open ranges of its lane."""
    start, end = max(event.start, span[0]), min(event.end, span[1])
    bounds = sorted({start, end} | {time for other in lane for time in (other.start, other.end) if start < time < end})
    total = 0
    for begin, until in zip(bounds, bounds[1:]):
        if [other for other in lane if other.start <= begin < other.end][-1] is event:
            total += until - begin
    return total


def figures(capture, span):
    """By name and kind: count, total, self, share, avg, med, p90, p99, min, max, deviation; and whether a
    range was clipped."""
    rows, clipped = {}, False
    for event in capture.events:
        if not is_in(event, span) or event.open:
            continue
        name = event.domain + ":" + event.message if event.domain else event.message
        row = rows.setdefault((name, KINDS[event.kind]), ([], []))
        row[0].append(min(event.end, span[1]) - max(event.start, span[0]))
        clipped |= event.start < span[0] or event.end > span[1]
        if event.kind == slow.PUSH_POP:
            row[1].append(self_within(event, capture.lanes[event.store, event.tid, event.domain], span))
    total = sum(sum(lengths) for (_, kind), (lengths, _) in rows.items() if kind != "mark")
    found = {}
    for (name, kind), (lengths, selfs) in rows.items():
        if kind == "mark":
            found[name, kind] = [len(lengths)] + [None] * 10
            continue
        ordered = sorted(lengths)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        found[name, kind] = [
            len(lengths), sum(lengths), sum(selfs) if kind == "push/pop" else None, 100 * sum(lengths) / total if total else 0,
            sum(lengths) / len(lengths), median, slow.percentile(lengths, "90"), slow.percentile(lengths, "99"), ordered[0], ordered[-1],
            slow.deviation(lengths)]
    return found, clipped


def same(got, wanted, what):
    """Rows of the table against those that were computed; what is no integer may differ in its last bits."""
    equal(sorted((row[0], row[1]) for row in got), sorted(wanted), what)
    for name, kind, *cells in got:
        for at, (cell, number) in enumerate(zip(cells, wanted[name, kind])):
            if number is None or cell is None:
                equal(cell, None if number is None else number, "%s: %s %s, column %d" % (what, name, kind, at))
            elif isinstance(number, int):
                equal(cell, str(number), "%s: %s %s, column %d" % (what, name, kind, at))
            else:
                assert math.isclose(float(cell), number, rel_tol=1e-12, abs_tol=1e-9), (what, name, kind, at, cell, number)


def set_span(at, span):
    """Returns when the pictures are those of the span: they come a moment after it."""
    equal(at.run("document.getElementById('flame-canvas').setAttribute('aria-label', ''); nvtxtReport.setSpan(...arguments)", *span), None)
    at.wait(DESCRIBED + " !== ''")


def random_span(chance, capture):
    first = min(event.start for event in capture.events)
    last = max(max(event.start, event.end) for event in capture.events)
    edges = [time for event in capture.events for time in (event.start, event.end)]
    pick = lambda: chance.choice(edges) if chance.random() < 0.4 else chance.randrange(first, last + 1)  # noqa: E731
    start, end = sorted((pick(), pick()))
    return start, end if end > start else start + 1


def dense_store(folder, chance):
    """Hundreds of ranges of few names, below one another, so that percentiles differ."""
    lines = ["ProcessId = 7", "@RangePush, Time, ThreadId, Message", "@RangePop, Time, ThreadId"]
    open_ones, now = [0, 0, 0], 0
    for _ in range(900):
        thread, now = chance.randrange(3), now + chance.randrange(1, 2 ** chance.randrange(1, 12))
        if open_ones[thread] and (open_ones[thread] > 3 or chance.random() < 0.5):
            lines.append(f"RangePop, {now}, {thread}")
            open_ones[thread] -= 1
        else:
            lines.append(f'RangePush, {now}, {thread}, "{chance.choice("abc")}"')
            open_ones[thread] += 1
    lines += [f"RangePop, {now + 1}, {thread}" for thread, count in enumerate(open_ones) for _ in range(count)]
    store = make_store(folder, "dense.sqlite", folder.write("dense.nvtxt", "\n".join(lines) + "\n"))
    return store, slow.Capture([(store, True)])


def random_and_dense():
    yield from captures(STORES)
    for seed in range(STORES):
        with Folder() as folder:
            chance = random.Random(seed)
            yield (chance, *dense_store(folder, chance))


def test_figures_of_random_spans_are_exact():
    seen = 0
    for chance, path, capture in random_and_dense():
        with Folder() as folder:
            at = opened(folder, path)
            for _ in range(SPANS):
                span = random_span(chance, capture)
                at.run("nvtxtReport.setSpan(arguments[0], arguments[1])", *map(str, span))
                wanted, clipped = figures(capture, span)
                what = "%s %s" % (path, span)
                same(at.run(TABLE), wanted, what)
                said = at.run(SAID)
                equal("clipped at the span's ends" in said, clipped, said)
                count = sum(is_in(event, span) for event in capture.events)
                assert said.startswith("%d event" % count), (said, count)
                seen += len(wanted)
            equal(at.said(), [])
    assert seen > 150 * STORES, seen


def test_figures_without_a_span_are_those_of_stats():
    for _, path, capture in captures(STORES):
        with Folder() as folder:
            at = opened(folder, path)
            status, out, err = report("stats", "--format", "json", "--percentiles", "90,99", "-r", "nvtx_sum,nvtx_mark_sum", path)
            equal(status, 0, err)
            sums, marks = json.loads(out)["tables"]
            wanted = {}
            for row in sums["rows"]:
                share, total, count, avg, med, low, high, deviation, p90, p99, style, name = row
                wanted[name.lstrip(":") if name.startswith(":") else name, {"PushPop": "push/pop", "StartEnd": "start/end"}[style]] = [
                    count, total, None, share, avg, med, p90, p99, low, high, deviation]
            for row in marks["rows"]:
                name = row[-1]
                wanted[name[1:] if name.startswith(":") else name, "mark"] = [row[0]] + [None] * 10
            got = at.run(TABLE)
            whole = figures(capture, (min(event.start for event in capture.events), max(max(event.start, event.end) for event in capture.events) + 1))[0]
            for row in got:
                equal(row[4], None if whole[row[0], row[1]][2] is None else str(whole[row[0], row[1]][2]), "self time, which stats has not")
                row[4] = None
            same(got, wanted, path)


def clustered_store(folder, chance):
    """Short ranges and marks close to each other, then long ones that stand alone."""
    lines = ["ProcessId = 7", "@RangePush, Time, ThreadId, Message", "@RangePop, Time, ThreadId", "@Marker, Time, ThreadId, Message"]
    now = 0
    for _ in range(12):
        many = chance.random() < 0.5
        for _ in range(40 if many else 3):
            length = chance.randrange(1, 9) if many else chance.randrange(5000, 9000)
            thread, name = chance.randrange(1, 4), chance.choice("abc")
            lines += [f'RangePush, {now}, {thread}, "{name}"', f"RangePop, {now + length}, {thread}", f'Marker, {now}, {thread}, "{name}"']
            now += length + chance.randrange(3)
        now += 100000
    source, store = folder.write("events.nvtxt", "\n".join(lines) + "\n"), folder.name("store.sqlite")
    make_store(folder, "store.sqlite", source)
    return store, slow.Capture([(store, True)])


def test_merged_events_have_figures_where_all_are_drawn_singly():
    offered = refused = 0
    for seed in range(6):
        chance = random.Random(seed)
        with Folder() as folder:
            path, capture = clustered_store(folder, chance)
            at = opened(folder, "--max-events", "20", path)
            assert re.search(r"Some events of this page are merged", at.run(SAID)), at.run(SAID)
            equal(at.run("return getComputedStyle(document.getElementById('names-static')).display"), "block", "those of all events")
            for _ in range(SPANS):
                start = chance.randrange(capture.last)
                span = start, start + chance.randrange(1, 200000)
                at.run("nvtxtReport.setSpan(arguments[0], arguments[1])", *map(str, span))
                if at.run(HIDDEN):
                    assert re.search(r"Some events of the span are merged, .*--max-events", at.run(SAID)), at.run(SAID)
                    refused += 1
                else:
                    same(at.run(TABLE), figures(capture, span)[0], "%s %s" % (path, span))
                    offered += 1
            at.run("nvtxtReport.setSpan(arguments[0], arguments[1])", "0", str(capture.last + 1))
            equal(at.run(HIDDEN), True)
    assert offered > 5 and refused > 5, (offered, refused)


def test_callers_and_callees_are_those_of_the_paths():
    """In stores where ranges do not cross: each range and the one below it. Of a name that lies in itself, or is called
    again below, the time counts once."""
    compared = 0
    for chance, path, capture in captures(3):
        if not path.endswith("store.sqlite"):
            continue
        with Folder() as folder:
            at = opened(folder, path)
            spans = [None] + [random_span(chance, capture) for _ in range(3)]
            for span in spans:
                whole = (min(e.start for e in capture.events), capture.last + 1)
                if span:
                    set_span(at, map(str, span))
                wanted, called = {}, {}
                for event in capture.counted(slow.PUSH_POP):
                    if is_in(event, span or whole):
                        length = min(event.end, (span or whole)[1]) - max(event.start, (span or whole)[0])
                        caller = event.parent.message if event.parent else "nobody: it is outermost"
                        row = wanted.setdefault(event.message, {}).setdefault(caller, [0, 0])
                        row[0] += 1
                        row[1] += 0 if any(other.message == event.message for other in event.stack[:-1]) else length
                        if event.parent:
                            row = called.setdefault(caller, {}).setdefault(event.message, [0, 0])
                            row[0] += 1
                            steps = [other.message for other in event.stack]
                            is_counted = caller == event.message or (caller, event.message) in zip(steps[:-2], steps[1:-1])
                            row[1] += 0 if is_counted else length
                for name, callers in wanted.items():
                    longest = max((e for e in capture.counted(slow.PUSH_POP) if e.message == name and is_in(e, span or whole)), key=lambda e: e.duration)
                    at.run("nvtxtReport.select(arguments[0])", str(longest.row))
                    got = at.run("""return [...document.querySelectorAll('#callers table')].map((table) => [...table.querySelectorAll('tbody tr')].map(
                        (row) => [row.cells[0].textContent, row.cells[1].dataset.value, row.cells[2].dataset.value]))""")
                    equal(sorted(got[0]), sorted([caller, str(count), str(total)] for caller, (count, total) in callers.items()), (path, name, span))
                    callees = called.get(name, {})
                    equal(sorted(got[1]), sorted([callee, str(count), str(total)] for callee, (count, total) in callees.items()), (path, name, span))
                    compared += 1
    assert compared > 5, compared


def flame_of(at, span):
    """What the flame graph says of each path, and the sum that its description names."""
    set_span(at, span)
    return at.run(DESCRIBED), sorted(flame_walk(at))  # paths of one width may stand in any order


def test_paths_of_a_span_over_everything_are_those_of_everything():
    """Also where ranges cross, and where other processes are below a range; in that the program finds paths."""
    walked = 0
    for number, (_, path, capture) in enumerate(captures(1)):
        if number in (1, 4, 5):  # an export with few ranges, one with many, a store
            with Folder() as folder:
                at = opened(folder, path)
                first, last = min(e.start for e in capture.events), max(max(e.start, e.end) for e in capture.events)
                whole = flame_of(at, ())
                equal(flame_of(at, (str(first), str(last + 1))), whole, path)
                walked += len(whole[1])
    with Folder() as folder:
        store = builds.Store()
        builds.Build(store, 7, jobs=2, deep=2, width=3)
        at = opened(folder, store.save(folder, "build.sqlite"))
        whole = flame_of(at, ())
        equal(flame_of(at, (at.view()["start"], at.view()["end"])), whole, "a build")
        walked += len(whole[1])
        at.quiet()
    assert walked > 20, walked


if __name__ == "__main__":
    run(globals())
