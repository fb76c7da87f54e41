# SPDX-License-Identifier: Apache-2.0
"""The figures of nvtxt-report once more, slowly: each function is the sentence of nvtxt-report(1) or
nvtxt-filter(7) that it stands for, in loops over all events. Tests compare the program with it."""
import math
import re
import sqlite3
import statistics
from fractions import Fraction

MARK, PUSH_POP, START_END = "mark", "push/pop", "start/end"
KINDS = {34: MARK, 65: MARK, 59: PUSH_POP, 70: PUSH_POP, 60: START_END, 71: START_END}


class Event:
    def __init__(self, **fields):
        self.__dict__.update(fields)

    def is_range(self):
        return self.kind != MARK

    @property
    def name(self):
        return self.domain + ":" + self.message

    @property
    def duration(self):
        return self.end - self.start

    @property
    def pid(self):
        return self.tid >> 24


class Capture:
    """All events of some files, in order; an export's rows ascend, those of a store descend."""

    def __init__(self, files):
        self.events = []
        self.domains = {""}
        for store, (path, ours) in enumerate(files):
            self._read(store, path, ours)
        times = [time for event in self.events for time in (event.start, event.end) if time is not None]
        self.last = max(times) if times else 0
        for event in self.events:
            event.open = event.is_range() and event.end is None
            if event.end is None:
                event.end = self.last if event.open else event.start
            event.backward, event.given_end = event.end < event.start, event.end
            if event.backward:
                event.end = event.start
        self.events.sort(key=lambda e: (e.start, e.store, e.tid, -e.end, -e.row if e.ours else e.row))
        for at, event in enumerate(self.events):
            event.at = at
            event.selected = True
        self.lanes = {}
        for event in self.events:
            if event.kind == PUSH_POP:
                self.lanes.setdefault((event.store, event.tid, event.domain), []).append(event)
        for lane in self.lanes.values():
            for event in lane:
                event.stack = self.stack(event, lane)
                event.depth = len(event.stack) - 1
                event.parent = event.stack[-2] if event.depth else None
                event.children = 0
                event.self_time = 0
            for event in lane:
                if event.parent:
                    event.parent.children += 1
            self._self_times(lane)

    def _read(self, store, path, ours):
        db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        strings = dict(db.execute("SELECT id, value FROM StringIds"))
        columns = [row[1] for row in db.execute("PRAGMA table_info(NVTX_EVENTS)")]
        rows = [dict(zip(columns, row[1:]), rowid=row[0])
                for row in db.execute("SELECT rowid, * FROM NVTX_EVENTS")]
        named = {}
        for row in rows:
            if row["eventType"] == 75:
                named[row["globalTid"] >> 24 & 0xFFFFFF, row["domainId"]] = _text(row, strings)
                named.setdefault(row["domainId"], _text(row, strings))
                self.domains.add(_text(row, strings))
        for row in rows:
            if row["eventType"] in KINDS:
                tid, domain = row["globalTid"] & 0xFFFFFFFFFFFF, row.get("domainId") or 0
                name = named.get((tid >> 24, domain), named.get(domain, "Domain %d" % domain)) if domain else ""
                self.domains.add(name)
                self.events.append(Event(store=store, ours=ours, row=row["rowid"], tid=tid, domain=name,
                                         kind=KINDS[row["eventType"]], message=_text(row, strings),
                                         start=row["start"], end=row["end"],
                                         category=row.get("category") or 0, color=row.get("color") or 0))
        db.close()

    @staticmethod
    def stack(event, lane):
        """The ranges of a lane that are open at the start of an event."""
        found = [r for r in lane if r.start <= event.start < r.end and (event not in lane or r.at < event.at)]
        return found + [event] if event in lane else found

    @staticmethod
    def _self_times(lane):
        bounds = sorted({time for event in lane for time in (event.start, event.end)})
        for begin, end in zip(bounds, bounds[1:]):
            open_ones = [event for event in lane if event.start <= begin < event.end]
            if open_ones:
                open_ones[-1].self_time += end - begin

    def open_startend(self, event, domain):
        return [r for r in self.events
                if r.kind == START_END and r.store == event.store and r.pid == event.pid and r.domain == domain and
                (r is event or r.start <= event.start < r.end or r.start == event.start == r.end)]

    def counted(self, *kinds):
        return [e for e in self.events if e.selected and e.kind in kinds and not e.open]

    def elapsed(self):
        chosen = [e for e in self.events if e.selected]
        return max(max(e.start, e.end) for e in chosen) - min(e.start for e in chosen) if chosen else 0


def _text(row, strings):
    return row["text"] if row.get("text") is not None else strings.get(row.get("textId"), "")


# ---- Statistics -----------------------------------------------------------------------------------

def percentile(values, rank):
    """Nearest rank; `rank` is a text such as "99.9"."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(Fraction(rank) / 100 * len(ordered))) - 1]


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else 0


def _share(part, whole):
    return 100 * part / whole if whole else 0


def _name_order(rows, first, name):
    return sorted(rows, key=lambda row: (-row[first], row[name].encode("utf-8", "surrogateescape")))


def union(spans):
    total, reached = 0, None
    for start, end in sorted(spans):
        if reached is None or start > reached:
            total, reached = total + end - start, end
        elif end > reached:
            total, reached = total + end - reached, end
    return total


# ---- The reports ----------------------------------------------------------------------------------

def range_sum(capture, kinds, percentiles=()):
    styles = {PUSH_POP: "PushPop", START_END: "StartEnd"}
    groups = {}
    for event in capture.counted(*kinds):
        groups.setdefault((event.name, styles[event.kind]), []).append(event.duration)
    whole = sum(sum(times) for times in groups.values())
    rows = [[_share(sum(times), whole), sum(times), len(times), sum(times) / len(times),
             statistics.median(times), min(times), max(times), deviation(times)] +
            [percentile(times, rank) for rank in percentiles] + [style, name]
            for (name, style), times in groups.items()]
    rows.sort(key=lambda row: (-row[1], row[-1].encode(), row[-2]))
    return rows if len(kinds) > 1 else [row[:-2] + row[-1:] for row in rows]


def mark_sum(capture):
    groups = {}
    for event in capture.counted(MARK):
        groups.setdefault(event.name, []).append(event)
    rows = []
    for name, marks in groups.items():
        intervals, latest = [], {}
        for mark in marks:
            place = mark.store, mark.pid
            if place in latest:
                intervals.append(mark.start - latest[place])
            latest[place] = mark.start
        first, last = marks[0].start, marks[-1].start
        figures = [sum(intervals) / len(intervals), statistics.median(intervals), min(intervals),
                   max(intervals)] if intervals else [None] * 4
        rows.append([len(marks), (len(marks) - 1) * 1e9 / (last - first) if last > first else None] + figures +
                    [first, last, name])
    return _name_order(rows, 0, -1)


def _path(event):
    steps = [(e.message if not e.domain else e.name).replace(";", ",") for e in event.stack]
    return ";".join(steps)


def tree(capture):
    groups = {}
    for event in capture.counted(PUSH_POP):
        groups.setdefault(_path(event), []).append(event)
    rows = [[sum(e.duration for e in ranges), sum(e.self_time for e in ranges), len(ranges),
             sum(e.duration for e in ranges) / len(ranges), ranges[0].depth, path]
            for path, ranges in groups.items()]
    return sorted(rows, key=lambda row: row[-1].encode())


def folded(capture):
    return [[row[-1], row[1]] for row in tree(capture) if row[1] > 0]


def trace(capture):
    return [[e.start, e.given_end, e.duration, e.duration - e.self_time, e.self_time, "  " * e.depth + e.name, e.pid,
             e.tid & 0xFFFFFF, e.depth, e.children, e.row] for e in capture.counted(PUSH_POP)]


def _threads(capture):
    return sorted({(e.store, e.tid) for e in capture.events if e.selected},
                  key=lambda thread: (thread[1], thread[0]))


def thread_sum(capture):
    rows = []
    for store, tid in _threads(capture):
        mine = [e for e in capture.events if e.selected and (e.store, e.tid) == (store, tid)]
        pushes = [e for e in mine if e.kind == PUSH_POP]
        busy = union([(e.start, e.end) for e in pushes if not e.open])
        rows.append([_share(busy, capture.elapsed()), busy, sum(e.is_range() for e in mine),
                     sum(e.kind == MARK for e in mine), max((e.depth for e in pushes), default=None),
                     tid >> 24, tid & 0xFFFFFF])
    return rows


def gap_sum(capture):
    rows = []
    for store, tid in _threads(capture):
        mine = [e for e in capture.counted(PUSH_POP)
                if (e.store, e.tid) == (store, tid) and e.duration > 0]
        gaps, reached = [], None
        for event in mine:
            if reached is not None and event.start > reached:
                gaps.append((event.start - reached, reached))
            reached = event.end if reached is None else max(reached, event.end)
        if gaps:
            lengths = [length for length, _ in gaps]
            rows.append([sum(lengths), len(gaps), sum(lengths) / len(gaps), statistics.median(lengths),
                         max(lengths), next(at for length, at in gaps if length == max(lengths)),
                         tid >> 24, tid & 0xFFFFFF])
    return sorted(rows, key=lambda row: (-row[0], row[-2], row[-1]))


def concurrency(capture):
    groups = {}
    for event in capture.counted(PUSH_POP, START_END):
        groups.setdefault(event.name, []).append(event)
    rows = []
    for name, ranges in groups.items():
        bounds = sorted({time for e in ranges for time in (e.start, e.end)})
        most = overlap = area = 0
        for begin, end in zip(bounds, bounds[1:]):
            count = sum(e.start <= begin < e.end for e in ranges)
            most, area = max(most, count), area + count * (end - begin)
            overlap += end - begin if count > 1 else 0
        rows.append([area / capture.elapsed() if capture.elapsed() else None, most, overlap, name])
    return sorted(rows, key=lambda row: row[-1].encode())


# ---- Filters --------------------------------------------------------------------------------------

SPECIAL = "@,[]/*+\\"


def _split(text, at, regex):
    """Cuts at unescaped characters `at`; escapes stay."""
    pieces, piece, i = [], "", 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            piece, i = piece + text[i:i + 2], i + 2
        elif text[i] == at:
            pieces, piece, i = pieces + [piece], "", i + 1
        else:
            piece, i = piece + text[i], i + 1
    return pieces + [piece]


def _plain(text, regex):
    bare = "@,/" if regex else SPECIAL
    return re.sub(r"\\(.)", lambda m: m.group(1) if m.group(1) in bare else m.group(0), text, flags=re.S)


def _test(text, regex):
    if not regex and text in ("+", "*"):
        return text
    plain = _plain(text, regex)
    return (lambda name: re.search(plain, name) is not None) if regex else (lambda name: name == plain)


def parse(expression):
    """(domain test or None, bottom, top, items) or (domain test or None, names)."""
    regex = expression.startswith("regex:")
    pieces = _split(expression[6:] if regex else expression, "@", regex)
    part = pieces[-1]
    domain = _test(pieces[0], regex) if len(pieces) > 1 else None
    if domain and not regex and _plain(pieces[0], False) == "<default domain>":
        domain = None
    bottom = top = literal_first = literal_last = False
    if regex and part.startswith("/["):
        part, literal_first = part[1:], True
    elif part.startswith("["):
        part, bottom = part[1:], True
    if regex and part.endswith("/]"):
        part, literal_last = part[:-2] + "]", True
    elif part.endswith("]") and not part.endswith("\\]"):
        part, top = part[:-1], True
    items = _split(part, "/", regex)
    if len(items) > 1 or bottom or top:
        if items[-1] == "" and not top:
            items.pop()
        tests = [item if item in ("+", "*") else _test(item, regex) for item in items]
        return domain, (["*"] if not bottom else []) + tests + (["*"] if not top else [])
    return domain, None, [_test(name, regex) for name in _split(part, ",", regex)]


def _fits(items, stack):
    if not items:
        return not stack
    if items[0] == "*":
        return any(_fits(items[1:], stack[i:]) for i in range(len(stack) + 1))
    return bool(stack) and (items[0] == "+" or items[0](stack[0])) and _fits(items[1:], stack[1:])


def matches(capture, parsed, event):
    for domain in capture.domains:
        if parsed[0] is None and domain or parsed[0] is not None and not parsed[0](domain or "<default domain>"):
            continue
        if parsed[1] is None:
            names = [e.message for e in capture.open_startend(event, domain)]
            if all(any(test(name) for name in names) for test in parsed[2]):
                return True
        else:
            lane = capture.lanes.get((event.store, event.tid, domain), [])
            if _fits(parsed[1], [e.message for e in capture.stack(event, lane)]):
                return True
    return False


def select(capture, include=(), exclude=()):
    include, exclude = [parse(text) for text in include], [parse(text) for text in exclude]
    for event in capture.events:
        event.selected = ((not include or any(matches(capture, one, event) for one in include)) and
                          not any(matches(capture, one, event) for one in exclude))
