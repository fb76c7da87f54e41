# SPDX-License-Identifier: Apache-2.0
"""Parents of ranges in other processes, as nvtxt-report shows them: over sessions, segments and stores."""
import collections
import json
import os
import random

from builds import MARK, PUSH_POP, START_END, Store
from client import Folder, run_client
from lib import equal, run
from report import f1, query, report


def table(name, *stores):
    status, text, errors = report("stats", "-r", name, "--format", "json", *stores)
    equal((status, errors), (0, ""))
    return json.loads(text)["tables"][0]


def paths(*stores):
    """{path: (total, self, instances)}"""
    return {row[5]: tuple(row[:3]) for row in table("nvtx_tree", *stores)["rows"]}


def run_and_program(store, **more):
    """A command that ran a program: the program's ranges are under the run."""
    outer = store.source(**more)
    store.range(outer, 100, 200, "run prog", 10, key="run")
    inner = store.source(parent=store.token(outer, "run"))
    store.event(inner, PUSH_POP, 110, 190, "main", 11)
    store.event(inner, PUSH_POP, 120, 150, "load", 11)
    return outer, inner


def test_outermost_ranges_stand_under_what_started_their_process():
    with Folder() as folder:
        store = Store()
        _, inner = run_and_program(store)
        store.range(inner, 195, 197, "request", 11)
        store.event(inner, MARK, 130, 130, "tick", 11)
        path = store.save(folder, "a.sqlite")
        equal(paths(path), {"run prog": (100, 18, 1), "run prog;main": (80, 50, 1),
                            "run prog;main;load": (30, 30, 1), "run prog;request": (2, 2, 1)})
        folded = report("stats", "-r", "nvtx_folded", path)[1]
        equal(folded, "run prog 18\nrun prog;main 50\nrun prog;main;load 30\nrun prog;request 2\n")
        # The figures of lanes are as without parents.
        trace = table("nvtx_pushpop_trace", path)["rows"]
        equal([(row[5], row[8], row[11]) for row in trace], [(":main", 0, None), (":load", 1, 2)])


def test_stores_without_parents_are_as_before():
    with Folder() as folder:
        store = Store()
        source = store.source()
        store.range(source, 100, 200, "run prog", 10, key="run")
        store.event(source, PUSH_POP, 110, 120, "main", 10)
        equal(paths(store.save(folder, "a.sqlite")), {"main": (10, 10, 1)})
        equal(len(paths(f1(folder))), 5)


def test_a_key_that_has_no_row_leads_to_the_run_and_on():
    with Folder() as folder:
        store = Store()
        first = store.source()
        store.range(first, 100, 300, "outer", 10, key="run")
        second = store.source(parent=store.token(first, "run"))
        third = store.source(parent=store.token(second, "killed"))
        store.event(third, PUSH_POP, 150, 160, "under outer", 12)
        fourth = store.source(parent=store.token(first, "killed"))
        store.event(fourth, PUSH_POP, 170, 180, "under the run", 13)
        path = store.save(folder, "a.sqlite")
        equal(paths(path), {"outer": (200, 180, 1), "outer;under outer": (10, 10, 1),
                            "outer;under the run": (10, 10, 1)})


def test_start_end_ranges_of_a_killed_session_stand_in_trees():
    with Folder() as folder:
        store = Store()
        killed = store.source()
        steps = store.source(parent=store.token(killed, "run"))
        store.range(steps, 10, 50, "cc", 11, key="cc")
        store.range(steps, 20, 40, "ld", 12, key="ld", parent=store.token(killed, "gone"))
        store.range(killed, 30, 45, "no parent", 13)
        path = store.save(folder, "a.sqlite")
        equal(paths(path), {"cc": (40, 40, 1), "ld": (20, 20, 1)})
        equal(report("stats", "-r", "nvtx_folded", path)[1], "cc 40\nld 20\n")
        folded = run_client("nvtxt-export", "--store", path, "--format", "folded")[1]
        equal(sorted(line.split(";")[-1] for line in folded.splitlines()), ["cc 40", "ld 20", "no parent 15"])


def test_an_unknown_parent_is_said_and_is_no_fault():
    with Folder() as folder:
        store = Store()
        outer = store.source(uid=0)
        store.range(outer, 100, 200, "of root", 10, key="run")
        stranger = store.source(parent=store.token(outer, "run"))
        store.event(stranger, PUSH_POP, 110, 120, "other user", 11)
        nowhere = store.source(parent="0a0b0c0d-0000-4000-8000-000000000000:run")
        store.event(nowhere, START_END, 130, 140, "no session", 12)
        odd = store.source(parent="what is this")
        store.event(odd, PUSH_POP, 150, 160, "no token", 13)
        path = store.save(folder, "a.sqlite")
        made = table("nvtx_tree", path)
        equal([row[5] for row in made["rows"]], ["no session", "no token", "other user"])
        equal(made["notes"],
              ["the parent of 3 events in another process is unknown: they are outermost here"])


def test_a_cycle_is_cut_and_said_once():
    with Folder() as folder:
        store = Store()
        one, two = store.source(), store.source()
        for source, other, text in ((one, two, "one"), (two, one, "two")):
            store.range(source, 100 + source, 200, text, source, key="run", parent=store.token(other, "run"))
        itself = store.source()
        store.range(itself, 300, 310, "itself", 9, key="own", parent=store.token(itself, "own"))
        path = store.save(folder, "a.sqlite")
        made = table("nvtx_tree", path)
        equal([row[5] for row in made["rows"]], ["itself", "one", "one;two"])
        equal(made["notes"], ["parents in other processes form a cycle, which was cut"])


def test_of_several_tables_the_first_has_the_notes_of_parents():
    with Folder() as folder:
        store = Store()
        source = store.source(parent="0a0b0c0d-0000-4000-8000-000000000000:run")
        store.range(source, 10, 50, "own", 11, key="own", parent=store.token(source, "own"))
        store.event(source, PUSH_POP, 60, 70, "unknown", 12)
        path = store.save(folder, "a.sqlite")
        wanted = ["the parent of 1 event in another process is unknown: it is outermost here",
                  "parents in other processes form a cycle, which was cut"]
        for names in ("nvtx_sum,nvtx_tree,nvtx_tree,step_tree", "slots,critical_path,nvtx_folded"):
            options = ("stats", "-r", names)
            tables = json.loads(report(*options, "--format", "json", path)[1])["tables"]
            told = [note for made in tables for note in made["notes"] if "parent" in note]
            equal(told, wanted)
            first = [made for made in tables if made["report"] != "nvtx_sum"][0]
            equal([note for note in first["notes"] if "parent" in note], wanted)
            shown = " ".join("".join(report(*options, path)[1:]).split())
            equal([shown.count(note) for note in wanted], [1, 1], shown)


def test_a_parent_may_be_younger_than_its_child():
    with Folder() as folder:
        store = Store()
        source = store.source()
        inner = store.source(parent=store.token(source, "c"))
        store.event(inner, PUSH_POP, 10, 90, "child", 11)
        store.range(source, 50, 60, "c", 12, key="c", parent=store.token(source, "b"))
        store.range(source, 60, 70, "b", 13, key="b", parent=store.token(source, "run"))
        store.range(source, 80, 95, "a", 14, key="run")
        path = store.save(folder, "a.sqlite")
        equal(sorted(paths(path)), ["a", "a;b", "a;b;c", "a;b;c;child"])
        equal(paths(path)["a;b;c"], (10, 0, 1))


def test_what_crosses_in_a_lane_stays_under_its_parent():
    with Folder() as folder:
        store = Store()
        source = store.source()
        store.range(source, 0, 100, "run", 10, key="run")
        inner = store.source(parent=store.token(source, "run"))
        for start, end, text in ((10, 40, "a"), (20, 60, "b"), (50, 70, "c"), (80, 90, "d")):
            store.event(inner, PUSH_POP, start, end, text, 11)
        equal(sorted(paths(store.save(folder, "a.sqlite"))),
              ["run", "run;a", "run;a;b", "run;b;c", "run;d"])


def test_parents_are_found_in_other_segments_and_stores():
    with Folder() as folder:
        store = Store()
        outer, inner = run_and_program(store)
        first, second = Store(), Store()
        for half in (first, second):
            half.sources = store.sources
        second.range(outer, 100, 200, "run prog", 10, key="run")
        first.event(inner, PUSH_POP, 110, 190, "main", 11)
        wanted = {"run prog": (100, 20, 1), "run prog;main": (80, 80, 1)}
        names = ["s-20261122T06240%dZ-%d.sqlite" % (number, number) for number in (1, 2)]
        for half, name in zip((first, second), names):
            half.save(folder, name)
        os.symlink(names[1], folder.name("s.sqlite"))
        equal(paths(folder.name("s.sqlite")), wanted)
        # As stores of two hosts.
        one, two = first.save(folder, "one.sqlite"), second.save(folder, "two.sqlite")
        equal(paths(one, two), wanted)
        equal(paths(two, one), wanted)
        equal(paths(one), {"main": (80, 80, 1)})


def test_a_window_goes_on_to_what_is_loaded():
    with Folder() as folder:
        store = Store()
        source = store.source()
        store.range(source, 0, 1000, "run", 10, key="run")
        store.range(source, 0, 100, "step", 11, key="step", parent=store.token(source, "run"))
        inner = store.source(parent=store.token(source, "step"))
        store.event(inner, PUSH_POP, 500, 600, "late", 12)
        path = store.save(folder, "a.sqlite")
        equal(sorted(paths(path)), ["run", "run;step", "run;step;late"])
        text = report("stats", "-r", "nvtx_folded", "--since", "1970-01-01T00:00:00.0000004Z", path)
        equal(text[1], "run 900\nrun;late 100\n", text[2])


def random_store(seed):
    """Sessions below sessions: keys that are there or not, lanes, marks, tokens of others and of none."""
    rng = random.Random(seed)
    store = Store()
    tokens = [None, "0a0b0c0d-0000-4000-8000-000000000000:run", "no token"]
    for number in range(rng.randrange(3, 9)):
        source = store.source(parent=rng.choice(tokens), uid=rng.choice((1000, 1000, 1001)))
        keys = ["run"] + ["k%d" % i for i in range(3)]
        tokens += [store.token(source, key) for key in keys + ["killed"]]
        for i in range(rng.randrange(1, 9)):
            start = rng.randrange(1000)
            end = start + rng.randrange(1, 300)
            kind = rng.choice((PUSH_POP, START_END, START_END, MARK))
            key = keys.pop(rng.randrange(len(keys))) if kind == START_END and keys and rng.random() < 0.7 else None
            store.event(source, kind, start, start if kind == MARK else end, "e%d" % rng.randrange(5),
                        100 + number, key=key, parent=rng.choice(tokens) if key and rng.random() < 0.5 else None)
    return store


def test_the_view_of_a_segment_has_the_same_paths():
    looked = cycles = 0
    for seed in range(60):
        with Folder() as folder:
            path = random_store(seed).save(folder, "a.sqlite")
            cycles += "cycle" in str(table("nvtx_tree", path)["notes"])
            stacks = {row[10]: (row[11], row[12]) for row in table("nvtx_pushpop_trace", path)["rows"]}
            if any(stack != (stacks[parent][1] if parent else "") + ":%d" % row
                   for row, (parent, stack) in stacks.items()):
                continue  # ranges of a lane cross: what is over is in no path here
            looked += 1
            rows = query(path, "SELECT t.row, t.parentRow, t.path, e.eventType FROM NVTXT_TREE t JOIN NVTX_EVENTS e "
                               "ON e.rowid = t.row")
            above = {parent for _, parent, _, kind in rows if kind != MARK}
            wanted = collections.Counter(text for row, parent, text, kind in rows if kind == PUSH_POP or (
                kind == START_END and (parent is not None or row in above)))
            got = {row[5]: row[2] for row in table("nvtx_tree", path)["rows"]}
            unknown = set(got) - set(wanted)  # start/end ranges whose parent is unknown
            equal([text for text in unknown if ";" in text], [], seed)
            equal({text: count for text, count in got.items() if text in wanted and ";" in text},
                  {text: count for text, count in wanted.items() if ";" in text}, seed)
    assert looked > 10 and cycles > 3, (looked, cycles)


if __name__ == "__main__":
    run(globals())
