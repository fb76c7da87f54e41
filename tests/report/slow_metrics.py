# SPDX-License-Identifier: Apache-2.0
"""The metrics of nvtxt-metrics(7) once more, slowly: each is a list of numbers for each group of events, and
a roll-up of them. Tests compare the program with it."""
import statistics

import slow
from slow import MARK, PUSH_POP, START_END

COUNTED = ["sum", "sum.per_second"]
TIMED = ["sum", "avg", "min", "max", "med", "stddev", "p90", "p95", "p99", "sum.pct_of_elapsed"]
PARTS = ["name", "thread", "process", "domain", "category", "iteration"]
COUNTS = {"event__count": lambda e: True, "range__count": slow.Event.is_range,
          "pushpop__count": lambda e: e.kind == PUSH_POP, "startend__count": lambda e: e.kind == START_END,
          "mark__count": lambda e: e.kind == MARK}
TIMES = {"range__time_duration": slow.Event.is_range, "pushpop__time_duration": lambda e: e.kind == PUSH_POP,
         "startend__time_duration": lambda e: e.kind == START_END}
# "Exact integers, rounded once": sums and what is chosen of them are integers, the rest are doubles.
REAL = ("avg", "med", "stddev", "sum.per_second", "sum.pct_of_elapsed", "ratio")

NO_RANGES = "no ranges"


def ids_of(event, key):
    """The groups that an event belongs to."""
    if key == "name":
        return [event.name]
    if key == "thread":
        return ["%d:%d" % (event.pid, event.tid & 0xFFFFFF)]
    if key == "process":
        return [event.pid]
    if key == "domain":
        return [event.domain or "<default domain>"]
    if key == "category":
        return [event.category] if event.category else []
    if key == "source":
        return [] if event.source is None else [event.source]
    if key == "event":
        return [event.row]
    raise AssertionError(key)


def in_order(ids):
    return sorted(ids, key=lambda one: one.encode("utf-8", "surrogateescape") if isinstance(one, str) else one)


def roll(numbers, rollup, elapsed):
    if rollup == "sum":
        return sum(numbers)
    if rollup == "sum.per_second":
        return sum(numbers) * 1e9 / elapsed if elapsed else None
    if rollup == "sum.pct_of_elapsed":
        return sum(numbers) * 100 / elapsed if elapsed else None
    if rollup == "avg":
        return sum(numbers) / len(numbers)
    if rollup in ("min", "max"):
        return min(numbers) if rollup == "min" else max(numbers)
    if rollup == "med":
        return statistics.median(numbers)
    if rollup == "stddev":
        return slow.deviation(numbers)
    if rollup == "last":
        return numbers[-1]
    return slow.percentile(numbers, rollup[1:])


class Metrics:
    """metrics[name] = (value, {id: value} in order or None, reason or None)"""

    def __init__(self, capture, markers=None, ours=False):
        """`markers`: the events that are iterations, None without a declaration."""
        self.capture, self.markers, self.ours = capture, markers, ours
        self.chosen = [e for e in capture.events if e.selected]
        self.elapsed = capture.elapsed()
        self.all = {}
        self._counts()
        self._times()
        self._names()
        self._unions()
        self._iterations()

    def groups(self, events, key):
        if key == "iteration":
            return {number: [e for e in events if marker.start <= e.start < marker.end]
                    for number, marker in enumerate(self.markers)}
        found = {}
        for event in events:
            for one in ids_of(event, key):
                found.setdefault(one, []).append(event)
        return found

    def _missing(self, key):
        if key == "iteration" and self.markers is None:
            return "no iterations declared"
        if key == "line":
            return "no source file"
        if key == "source" and not self.ours:
            return "not in an export"
        return None

    def _add(self, name, rollups, key, everything, grouped, empty):
        """`everything`: all numbers; `grouped`: of each id; None without a key."""
        for rollup in rollups:
            full = name + ("_per_" + key if key else "") + "." + rollup
            missing = self._missing(key)
            if not missing and not everything and not rollup.startswith("sum"):
                missing = empty
            if missing:
                self.all[full] = None, None, missing
                continue
            instances = None
            if grouped is not None:
                instances = {one: roll(grouped[one], rollup, self.elapsed) for one in in_order(grouped)
                             if grouped[one]}
            self.all[full] = roll(everything, rollup, self.elapsed), instances, None

    def _of_events(self, name, rollups, keys, events, number, empty):
        everything = [number(e) for e in events]
        self._add(name, rollups, None, everything, None, empty)
        for key in keys:
            grouped = {}
            if not self._missing(key):
                grouped = {one: [number(e) for e in mine] for one, mine in self.groups(events, key).items()}
            self._add(name, rollups, key, everything, grouped, empty)

    def _of_items(self, name, rollups, key, items, empty=NO_RANGES, bare=True):
        """`items`: (id, number), in order."""
        grouped = {}
        for one, number in items:
            grouped.setdefault(one, []).append(number)
        everything = [number for _, number in items]
        if bare:
            self._add(name, rollups, None, everything, None, empty)
        if key:
            self._add(name, rollups, key, everything, grouped, empty)

    def _counts(self):
        for name, fits in COUNTS.items():
            self._of_events(name, COUNTED, PARTS + ["source", "line"], [e for e in self.chosen if fits(e)],
                            lambda e: 1, NO_RANGES)
        for name, flag in ("open", "open"), ("backward", "backward"):
            events = [e for e in self.chosen if e.is_range() and getattr(e, flag)]
            self._of_events("range__%s_count" % name, ["sum"], ["name"], events, lambda e: 1, NO_RANGES)

    def _times(self):
        ranges = [e for e in self.chosen if e.is_range() and not e.open]
        for name, fits in TIMES.items():
            self._of_events(name, TIMED, PARTS + ["line", "event"], [e for e in ranges if fits(e)],
                            lambda e: e.duration, NO_RANGES)
        pushes = [e for e in ranges if e.kind == PUSH_POP]
        keys = ["name", "thread", "iteration", "event"]
        self._of_events("pushpop__self_time", TIMED, keys, pushes, lambda e: e.self_time, NO_RANGES)
        self._of_events("pushpop__child_time", TIMED, keys, pushes, lambda e: e.duration - e.self_time, NO_RANGES)
        pushes = [e for e in self.chosen if e.kind == PUSH_POP]
        self._of_events("pushpop__depth", ["min", "avg", "max"], ["name"], pushes, lambda e: e.depth, NO_RANGES)
        self._of_events("pushpop__child_count", ["sum", "avg", "max"], ["name"], pushes, lambda e: e.children,
                        NO_RANGES)

    def _names(self):
        ranges = [e for e in self.chosen if e.is_range() and not e.open]
        names = self.groups(ranges, "name")
        variations, outliers, overlaps = {}, {}, {}
        for name in in_order(names):
            times = [e.duration for e in names[name]]
            if len(times) >= 2:
                mean = sum(times) / len(times)
                variations[name] = slow.deviation(times) / mean if mean else 0.0
            if len(times) >= 10:
                middle = statistics.median(times)
                apart = statistics.median([abs(time - middle) for time in times])
                outliers[name] = sum(time > middle + 5 * 1.4826 * apart for time in times)
            overlaps[name] = self._at_a_time(names[name])[2]
        for base, rollup, found, whole, least in (("range__variation", "ratio", variations, max, 2),
                                                  ("range__outlier_count", "sum", outliers, sum, 10)):
            why = NO_RANGES if not ranges else "fewer than %d instances" % least
            value = (whole(found.values()), None, None) if found else (None, None, why)
            self.all["%s.%s" % (base, rollup)] = value
            self.all["%s_per_name.%s" % (base, rollup)] = value[0], found if found else None, value[2]
        self._of_items("range__overlap_time", ["sum"], "name", list(overlaps.items()))
        self._at_a_time_of("range__concurrency", ranges, None)
        self._at_a_time_of("range__concurrency", ranges, names)
        intervals, latest = [], {}
        for mark in self.chosen:
            if mark.kind == MARK:
                place = mark.name, mark.store, mark.pid
                if place in latest:
                    intervals.append((mark.name, mark.start - latest[place]))
                latest[place] = mark.start
        self._of_items("mark__interval", ["avg", "min", "max", "med", "p90", "p99"], "name", intervals,
                       "fewer than 2 instances")

    @staticmethod
    def _at_a_time(spans):
        """(area, largest number, time with two or more) of events or (start, end)."""
        spans = [(s.start, s.end) if isinstance(s, slow.Event) else s for s in spans]
        bounds = sorted({time for span in spans for time in span})
        area = most = overlap = 0
        for begin, end in zip(bounds, bounds[1:]):
            count = sum(s[0] <= begin < s[1] for s in spans)
            area, most = area + count * (end - begin), max(most, count)
            overlap += end - begin if count > 1 else 0
        return area, most, overlap

    def _at_a_time_of(self, base, ranges, names):
        area, most, _ = self._at_a_time(ranges)
        why = None if ranges else NO_RANGES
        figures = {"avg": lambda a, m: a / self.elapsed if self.elapsed else None, "max": lambda a, m: m}
        for rollup, figure in figures.items():
            instances = None
            if names is not None and ranges:
                instances = {one: figure(*self._at_a_time(names[one])[:2]) for one in in_order(names)}
            full = base + ("_per_name." if names is not None else ".") + rollup
            self.all[full] = figure(area, most) if ranges else None, instances, why

    def _unions(self):
        ranges = [e for e in self.chosen if e.is_range() and not e.open]
        pushes = [e for e in ranges if e.kind == PUSH_POP]
        self._of_items("capture__time_elapsed", ["sum"], None, [(None, self.elapsed)])
        self._of_items("capture__busy_time", ["sum", "sum.pct_of_elapsed"], None,
                       [(None, slow.union([(e.start, e.end) for e in ranges]))])
        for key, events, place in (("thread", pushes, lambda e: (e.store, e.tid)),
                                   ("process", ranges, lambda e: (e.store, e.pid))):
            parts = {}
            for event in events:
                parts.setdefault(place(event), []).append(event)
            items = [(ids_of(mine[0], key)[0], slow.union([(e.start, e.end) for e in mine]))
                     for mine in parts.values()]
            self._of_items(key + "__busy_time", ["sum", "avg", "min", "max"], key, items, bare=False)
            if key == "thread":
                self._threads(parts)
        self._chain(ranges)

    def _threads(self, parts):
        lengths, counts, spans = [], [], []
        for mine in parts.values():
            thread, reached, count = ids_of(mine[0], "thread")[0], None, 0
            for event in [e for e in mine if e.duration > 0]:
                if reached is not None and event.start > reached:
                    lengths.append((thread, event.start - reached))
                    count += 1
                reached = event.end if reached is None else max(reached, event.end)
            counts.append((thread, count))
            bounds = sorted({time for e in mine for time in (e.start, e.end)})
            spans += [(b, e) for b, e in zip(bounds, bounds[1:]) if any(r.start <= b < r.end for r in mine)]
        empty = "fewer than 1 instances" if parts else NO_RANGES
        self._of_items("gap__time_duration", ["sum", "avg", "min", "max", "med", "p90", "p99"], "thread", lengths,
                       empty)
        self._of_items("gap__count", ["sum"], "thread", counts)
        self._at_a_time_of("thread__concurrency", spans if parts else [], None)
        if parts and not spans:
            self.all["thread__concurrency.avg"] = 0.0 if self.elapsed else None, None, None
            self.all["thread__concurrency.max"] = 0, None, None

    def _chain(self, ranges):
        links, before = [], None
        ranges = [e for e in ranges if e.duration > 0]
        while True:
            possible = [e for e in ranges if before is None or e.end <= before]
            if not possible:
                break
            link = max(possible, key=lambda e: (e.end, -e.at))
            links.append((link.name, link.duration))
            before = link.start
        self._of_items("chain__time_duration", ["sum"], "name", links)

    def _iterations(self):
        markers = list(enumerate(self.markers or []))
        numbers = [(number, 1) for number, _ in markers]
        times = [(number, e.duration) for number, e in markers]
        middle = statistics.median([time for _, time in times]) if times else 0
        outliers = [(number, int(2 * time > 3 * middle)) for number, time in times]
        intervals, latest = [], {}
        for number, e in markers:
            place = e.store, e.pid
            if place in latest:
                intervals.append((number, e.start - latest[place]))
            latest[place] = e.start
        for base, rollups, items, empty in (
                ("iteration__count", ["sum"], numbers, ""), ("iteration__outlier_count", ["sum"], outliers, ""),
                ("iteration__time_duration", TIMED, times, "fewer than 1 instances"),
                ("iteration__interval", TIMED, intervals, "fewer than 2 instances")):
            self._of_items(base, rollups, "iteration", items, empty)
            if self.markers is None:
                for rollup in rollups:
                    self.all["%s.%s" % (base, rollup)] = None, None, "no iterations declared"
