#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a page of report/page/assets without nvtxt-report, so that the page can be tried alone.

    make_page.py f1|random:N|hostile|empty|ends OUTPUT

Events are dicts: kind (0 mark, 1 push/pop, 2 start/end), start, end, pid, tid, name, and if wanted
domain, flags, row. The depths, parents and self times are computed here, slowly and by definition.
"""
import base64
import hashlib
import html
import json
import os
import random
import sys
import zlib

ASSETS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "report", "page", "assets")
MARK, PUSH_POP, START_END = 0, 1, 2
WORD = (1 << 64) - 1


def varints(values):
    out = bytearray()
    for value in values:
        value &= WORD
        while value >= 128:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
    return bytes(out)


def zigzag(value):
    value &= WORD
    if value >> 63:
        value -= 1 << 64
    return ((value << 1) ^ (value >> 63)) & WORD


def column(values):
    if not any(values):
        return None
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(varints(values)) + packer.flush()).decode()


def differences(values):
    return [value - before for before, value in zip([0] + values, values)]


def lane_of(event):
    if event["kind"] == MARK:
        return (event["pid"], 1, event["tid"], 0, "")
    if event["kind"] == START_END:
        return (event["pid"], 0, event.get("category", 0), 0, "")
    return (event["pid"], 1, event["tid"], 1, event.get("domain", ""))


def stacks(events, lanes):
    """Depth, parent and self time of each event, in order."""
    depth, parent, self_ns = [0] * len(events), [None] * len(events), [0] * len(events)
    open_ranges = {}
    for i, event in enumerate(events):
        if event["kind"] != PUSH_POP:
            continue
        stack = open_ranges.setdefault(lanes[i], [])
        stack[:] = [j for j in stack if events[j]["end"] > event["start"]]
        depth[i] = len(stack)
        if stack:
            parent[i] = stack[-1]
            if not events[stack[-1]].get("flags", 0) & 1:
                self_ns[stack[-1]] -= event["end"] - event["start"]
        if not event.get("flags", 0) & 1:
            self_ns[i] += event["end"] - event["start"]
        stack.append(i)
    return depth, parent, self_ns


def told_parents(events, lanes, depth, parent):
    latest, told = {}, []
    for i, event in enumerate(events):
        if event["kind"] != PUSH_POP:
            told.append(0)
            continue
        guess = latest.get((lanes[i], depth[i] - 1)) if depth[i] else None
        told.append(0 if guess == parent[i] else 1 if parent[i] is None else i - parent[i] + 1)
        latest[lanes[i], depth[i]] = i
    return told


def table(keys):
    """Distinct keys, most frequent first, and their indexes."""
    counts = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    order = sorted(counts, key=lambda key: -counts[key])
    return order, {key: i for i, key in enumerate(order)}


def page_data(events):
    events.sort(key=lambda e: (e["start"], e["tid"], -e["end"], -e["row"]))
    keys = [lane_of(event) for event in events]
    lanes = sorted(set(keys))
    lane_index = {key: i for i, key in enumerate(lanes)}
    lane = [lane_index[key] for key in keys]
    depth, parent, _ = stacks(events, lane)
    domains = [""] + sorted({e.get("domain", "") for e in events} - {""})
    name_keys = [(domains.index(e.get("domain", "")), e["name"]) for e in events]
    names, name_index = table(name_keys)
    colors, color_index = table([e["color"] for e in events if "color" in e])
    processes = sorted({e["pid"] for e in events})
    threads = sorted({(e["pid"], e["tid"]) for e in events})
    described = []
    for pid, inner, which, after_marks, domain in lanes:
        one = {"kind": START_END, "process": processes.index(pid)}
        if inner:
            one.update(kind=after_marks, thread=threads.index((pid, which)))
            if after_marks:
                one["domain"] = domains.index(domain)
        described.append(one)
    starts = [e["start"] for e in events]
    columns = {
        "start": [b - a for a, b in zip(starts[:1] + starts, starts)],
        "duration": [e["end"] - e["start"] for e in events],
        "row": [zigzag(d) for d in differences([e["row"] for e in events])],
        "name": [name_index[key] for key in name_keys],
        "lane": lane,
        "flags": [e.get("flags", 0) for e in events],
        "depth": depth,
        "parent": told_parents(events, lane, depth, parent),
        "color": [color_index[e["color"]] + 1 if "color" in e else 0 for e in events],
    }
    packed = {name: column(values) for name, values in columns.items()}
    return {
        "version": 1, "events": len(events), "items": len(events),
        "first": str(min(starts, default=0)), "last": str(max((e["end"] for e in events), default=0)),
        "utcBase": "0", "domains": domains, "names": names, "colors": colors, "categories": [],
        "processes": [{"store": 0, "pid": pid, "name": None} for pid in processes],
        "threads": [{"process": processes.index(pid), "tid": tid, "name": None} for pid, tid in threads],
        "lanes": described, "iterations": None,
        "columns": {name: text for name, text in packed.items() if text},
    }


def hidden_json(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, "\\u%04x" % ord(character))
    return text


def asset(name):
    with open(os.path.join(ASSETS, name), encoding="utf-8") as file:
        return file.read()


def hash_of(text):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page_text(events):
    style = asset("report.css")
    script = '"use strict";\n{\n' + "".join(asset(name) for name in asset("order").split()) + "}\n"
    missing = "The timeline needs JavaScript." if events else "No events."
    places = {
        "html-attributes": "", "title": "NVTX report", "style": style, "script": script, "banner": "",
        "csp": "default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; "
                  "form-action 'none'" % (hash_of(script), hash_of(style)),
        "data": hidden_json(page_data(events)), "timeline-message": missing, "flame-graph-message": missing,
    }
    for word in ("report-summary", "session-summary", "findings", "flame-table", "sections", "source", "about"):
        places[word] = "<p>Made without nvtxt-report: %s is left out.</p>" % html.escape(word)
    parts = asset("page.html").split("{{")
    return parts[0] + "".join(places[word] + rest for word, rest in (part.split("}}", 1) for part in parts[1:]))


def event(kind, start, end, tid, name, **more):
    return dict(kind=kind, start=start, end=end, tid=tid, pid=100, name=name, **more)


def numbered(events):
    """Rows as a store has them: an event is written when it ends."""
    for row, one in enumerate(sorted(events, key=lambda e: e["end"]), 1):
        one["row"] = row
    return events


def f1():
    ranges = [(0, 100, "step"), (10, 30, "load"), (30, 90, "compute"), (40, 60, "kernel"), (60, 80, "kernel"),
              (120, 260, "step"), (130, 140, "load"), (140, 250, "compute"), (150, 200, "kernel")]
    events = [event(PUSH_POP, start, end, 1, name) for start, end, name in ranges]
    events.append(event(PUSH_POP, 0, 50, 2, "wait"))
    events += [event(MARK, at, at, 2, "tick") for at in (20, 60, 120)]
    events += [event(START_END, 5, 105, 1, "request"), event(START_END, 50, 70, 2, "request")]
    return numbered(events)


def random_events(count, seed=1):
    """Nested ranges of 8 threads, marks and start/end ranges, as a program with phases makes them."""
    rand, events, base = random.Random(seed), [], 1763829901234567890
    kinds = ["parse request", "read cache", "decode", "matrix multiply", "sort", "write", "lock", "compress block"]
    each = count // 8
    for tid in range(1, 9):
        now, stack = base + rand.randrange(10000), []
        made = 0
        while made < each:
            now += int(rand.expovariate(1 / 800)) + 1
            choice = rand.random()
            if choice < 0.04:
                events.append(event(MARK, now, now, tid, "tick %d" % rand.randrange(20)))
                made += 1
            elif choice < 0.06:
                events.append(event(START_END, now, now + rand.randrange(40000), tid, "request"))
                made += 1
            elif len(stack) < 6 and (not stack or choice < 0.52):
                stack.append((now, kinds[len(stack) + rand.randrange(3)]))
            else:
                start, name = stack.pop()
                events.append(event(PUSH_POP, start, now, tid, name))
                made += 1
                if not stack and rand.random() < 0.02:
                    now += rand.randrange(200000)
        while stack:
            start, name = stack.pop()
            events.append(event(PUSH_POP, start, now, tid, name))
    return numbered(events)


HOSTILE = ["</script><b id=evil>x", "<!--<script>", "\"quotes' & <i id=evil2>", "line\u2028separator\u2029", "\u202eright to left",
           "\u0645\u0631\u062d\u0628\u0627", "x" * 60000, "", "\x1b[31mred\n"]


def hostile():
    return numbered([event(PUSH_POP, i * 100, i * 100 + 90, 1, name, domain=name[:20]) for i, name in enumerate(HOSTILE)])


def ends():
    """Times at the ends of Int64; open, backward, crossing and empty ranges; colours."""
    low, high = -(1 << 63), (1 << 63) - 1
    return numbered([
        event(PUSH_POP, low, high, 1, "all time", color="#FF204080"), event(PUSH_POP, low, low, 1, "empty"),
        event(PUSH_POP, 0, 10, 2, "crossing a"), event(PUSH_POP, 5, 15, 2, "crossing b"), event(PUSH_POP, 12, 20, 2, "crossing c"),
        event(PUSH_POP, 100, high, 2, "open", flags=1), event(PUSH_POP, 200, 200, 2, "backward", flags=2),
        event(MARK, high, high, 2, "last"), event(PUSH_POP, high - 3, high, 3, "three ns", color="#FFFFEE00")])


def make(what):
    kind, _, count = what.partition(":")
    if kind == "random":
        return random_events(int(count))
    return {"f1": f1, "hostile": hostile, "empty": list, "ends": ends}[kind]()


def main():
    events = make(sys.argv[1])
    text = page_text(events)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
    size = len(text.encode())
    print("%d events, %d bytes, %.2f an event above 200 KB" % (len(events), size, max(0, size - 200000) / max(1, len(events))))


if __name__ == "__main__":
    main()
