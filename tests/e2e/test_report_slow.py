# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report says of random events what report/slow.py computes of them, one event at a time: every
table, every filter, from a store and from exports of all kinds."""
import json
import math
import os
import subprocess
import sys

from client import ENV
from lib import DEADLINE, equal, program, run
from report_random import NAMES, captures

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report"))
import slow  # noqa: E402

REPORT = program("client", "nvtxt-report")


def report(*words):
    done = subprocess.run([REPORT, *words], env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=DEADLINE)
    equal(done.returncode, 0, "%r: %s" % (words, done.stderr.decode()))
    return json.loads(done.stdout)


# ---- Comparing ------------------------------------------------------------------------------------

def same(found, wanted):
    if isinstance(wanted, float) and isinstance(found, (int, float)):
        return math.isclose(found, wanted, rel_tol=1e-12, abs_tol=1e-9)
    return found == wanted


def compare(found, wanted, columns=None):
    """`columns`: the titles that `wanted` has, where it does not have all."""
    titles, name = found["columns"], found["report"]
    places = range(len(titles)) if columns is None else [titles.index(title) for title in columns]
    rows = [[row[place] for place in places] for row in found["rows"]]
    equal(len(rows), len(wanted), "%s: %r\n%r" % (name, rows, wanted))
    for row, other in zip(rows, wanted):
        if len(row) != len(other) or not all(map(same, row, other)):
            raise AssertionError("%s:\n  got    %r\n  wanted %r" % (name, row, other))


PERCENTILES = ["50", "90", "99.9"]
BOTH = slow.PUSH_POP, slow.START_END
TABLES = {
    "nvtx_sum": (lambda capture: slow.range_sum(capture, BOTH, PERCENTILES), None),
    "nvtx_pushpop_sum": (lambda capture: slow.range_sum(capture, BOTH[:1], PERCENTILES), None),
    "nvtx_startend_sum": (lambda capture: slow.range_sum(capture, BOTH[1:], PERCENTILES), None),
    "nvtx_mark_sum": (slow.mark_sum, None),
    "nvtx_tree": (slow.tree, None),
    "nvtx_folded": (slow.folded, None),
    "nvtx_thread_sum": (slow.thread_sum, ("Busy (%)", "Busy (ns)", "Ranges", "Marks", "Max Lvl", "PID", "TID")),
    "nvtx_gap_sum": (slow.gap_sum, ("Total Gap (ns)", "Gaps", "Avg (ns)", "Med (ns)", "Max (ns)",
                                    "Longest At (ns)", "PID", "TID")),
    "nvtx_concurrency": (slow.concurrency, None),
    "nvtx_pushpop_trace": (slow.trace, ("Start (ns)", "End (ns)", "Duration (ns)", "DurChild (ns)",
                                        "DurNonChild (ns)", "NameTree", "PID", "TID", "Lvl", "NumChild",
                                        "RangeId")),
}


def check_tables(path, capture, words=()):
    found = report("stats", "-r", ",".join(TABLES), "--percentiles", ",".join(PERCENTILES), "--format", "json",
                   *words, path)["tables"]
    equal([one["report"] for one in found], list(TABLES))
    for one in found:
        make, columns = TABLES[one["report"]]
        if make is not slow.trace or not any(event.open for event in capture.events):
            compare(one, make(capture), columns)


def test_every_table_is_what_a_slow_computation_says():
    for _, path, capture in captures():
        check_tables(path, capture)


# ---- Filters --------------------------------------------------------------------------------------

def escaped(name):
    return "".join("\\" + c if c in slow.SPECIAL else c for c in name)


def random_expression(chance):
    domain = chance.choice(("", "", "", "Net@", "a\\@b@", "Domain 3@", "<default domain>@"))
    names = [name for name in NAMES if name]
    if chance.random() < 0.3:
        return domain + ",".join(escaped(chance.choice(names)) for _ in range(chance.choice((1, 1, 2))))
    if chance.random() < 0.2:
        return "regex:" + chance.choice(("", "N.t@", ".@", "^<default domain>$@")) + chance.choice(
            ("^(load|kernel)$/", "e]", "[s", "^.{4}$/", "l/e", "[kernel/+]", "^$/", "st,l"))
    items = [chance.choice(("+", "*") if chance.random() < 0.3 else names) for _ in range(chance.choice((1, 1, 2, 3)))]
    part = "/".join(item if item in ("*",) or item == "+" and chance.random() < 0.5 else escaped(item)
                    for item in items)
    top = chance.random() < 0.3
    return domain + ("[" if chance.random() < 0.3 else "") + part + ("]" if top else "/")


def test_filters_select_what_a_slow_matcher_selects():
    for chance, path, capture in captures(4):
        for _ in range(6):
            include = [random_expression(chance) for _ in range(chance.choice((0, 1, 1, 2)))]
            exclude = [random_expression(chance) for _ in range(chance.choice((0, 0, 1)))]
            slow.select(capture, include, exclude)
            words = ["--nvtx-include=" + text for text in include] + ["--nvtx-exclude=" + text for text in exclude]
            found = [event["row"] for event in report("events", "--format", "json", *words, path)["events"]]
            equal(found, [event.row for event in capture.events if event.selected], "%r" % words)


def test_tables_are_of_what_is_selected():
    for chance, path, capture in captures(2):
        for include in "step/", "regex:.@./", "[*]":
            slow.select(capture, [include])
            check_tables(path, capture, ["--nvtx-include", include])


run(globals())
