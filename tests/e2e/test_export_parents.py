# SPDX-License-Identifier: Apache-2.0
"""nvtxt-export: parents in other processes, in each format that has them, read back as its readers
do."""
import collections
import json
import os
import random
import shutil

from client import Folder, run_client
from lib import Daemon, Skip, equal, run
from parents import PARENTS, SESSIONS, UNKNOWN, changed, make_build, make_store, token
from parents import run as run_line
from perfetto import Trace
from test_export import export
from test_export_otlp import read


def exported(store, form, *options, words=""):
    status, out, err = export("--store", store, "--format", form, *options)
    equal((status, err if not words else words in err), (0, words and True), err)
    return out


def rows_of(store, *options, **more):
    return [json.loads(line) for line in exported(store, "jsonl", *options, **more).splitlines()]


def parents_of(store, **more):
    """{message: message of the parent, or its token}"""
    rows = rows_of(store, **more)
    by_row = {row["eventRow"]: row["message"] for row in rows}
    found = {}
    for row in rows:
        parent = row.get("parent")
        if parent and "token" in parent:
            equal(list(parent), ["token"])
            found[row["message"]] = parent["token"]
        elif parent:
            equal(list(parent), ["eventRow", "message"])
            equal(by_row[parent["eventRow"]], parent["message"])
            found[row["message"]] = parent["message"]
    return found


# ---- JSON lines ---------------------------------------------------------------------------------

def test_jsonl_has_the_parent_of_what_is_outermost():
    with Folder() as folder:
        equal(parents_of(make_build(folder)), {**PARENTS, **UNKNOWN})


def test_without_parents_nothing_is_other():
    with Folder() as folder:
        store = make_build(folder)
        formats = ("jsonl", "csv", "chrome", "otlp", "nvtxt")
        with_parents = {form: exported(store, form) for form in formats}
        with changed(store) as there:
            there.executescript("UPDATE NVTXT_SOURCES SET parent = NULL; "
                                "UPDATE NVTXT_RANGE_KEYS SET parent = NULL")
        without = {form: exported(store, form) for form in formats}
        with changed(store) as there:
            there.execute("DROP TABLE NVTXT_RANGE_KEYS")
        equal({form: exported(store, form) for form in formats}, without)
        equal([form for form in formats if with_parents[form] != without[form]],
              ["jsonl", "chrome", "otlp"])
        equal("parent" in without["jsonl"] or "parent" in without["chrome"], False)


def test_a_session_without_the_key_leads_to_what_it_began_under():
    with Folder() as folder:
        texts = {"last.nvtxt": run_line("last", 30, 40, 3), "killed.nvtxt": run_line("x", 20, 21, 2),
                 "first.nvtxt": run_line("first", 1, 90, 1)}
        sources = {"first.nvtxt": (1, None), "killed.nvtxt": (2, token(1, "run")),
                   "last.nvtxt": (3, token(2, "run"))}
        store = make_store(folder, sources, {"first": ("run", None)}, texts)
        equal(parents_of(store), {"x": "first", "last": "first"})


def test_only_a_user_who_is_known_has_parents():
    with Folder() as folder:
        texts = {"child.nvtxt": run_line("child", 25, 28, 2), "run.nvtxt": run_line("run", 10, 30, 1)}
        store = make_store(folder, {"child.nvtxt": (2, token(1, "run")), "run.nvtxt": (1, None)},
                           {"run": ("run", None)}, texts, uid=None)
        equal(parents_of(store), {"child": token(1, "run")})


def test_tokens_that_lead_nowhere_are_told_as_they_are():
    texts, sources, wanted = {}, {}, {}
    odd = ["", ":", "x", token(1, ""), token(1, "a b"), token(9, "run") + ":x", "x" * 300,
           token(1, "run")[1:], token(4, "run")]
    for number, text in enumerate(odd):
        texts["%d.nvtxt" % number] = run_line("event %d" % number, 10, 20, number + 1)
        sources["%d.nvtxt" % number] = (min(number + 1, 9), text)
        wanted["event %d" % number] = text
    with Folder() as folder:
        store = make_store(folder, {**sources, "3.nvtxt": (None, odd[3])}, {}, texts)
        equal(parents_of(store), wanted)
        read(exported(store, "otlp"))


def test_a_circle_is_cut_and_said_once():
    with Folder() as folder:
        texts = {"a.nvtxt": run_line("a", 10, 50, 1), "b.nvtxt": run_line("b", 20, 40, 2),
                 "c.nvtxt": run_line("c", 30, 35, 3), "self.nvtxt": run_line("self", 1, 2, 4)}
        sources = {"a.nvtxt": (1, token(3, "run")), "b.nvtxt": (2, token(1, "run")),
                   "c.nvtxt": (3, token(2, "run")), "self.nvtxt": (4, token(4, "run"))}
        store = make_store(folder, sources, {name: ("run", None) for name in ("a", "b", "c", "self")},
                           texts)
        said = "go round in a circle"
        found = parents_of(store, words=said)
        equal((len(found), "self" in found), (2, False))
        equal(exported(store, "chrome", words=said) != "", True)
        status, out, err = export("--store", store, "--format", "otlp")
        equal((status, err.count(said)), (0, 1))
        spans = read(out)
        equal(len({span.trace for span in spans.values()}), 2)
        for span in spans.values():
            for _ in range(4):
                span = spans[span.around] if span.around else None
                if not span:
                    break
            equal(span, None, "no span is around itself")


# ---- Traces -------------------------------------------------------------------------------------

def chrome_flows(text):
    """{(from, to)}, as Perfetto's trace processor finds the slices of flows of the first version."""
    events = json.loads(text)["traceEvents"]
    begun, flows = {}, []
    open_slices = collections.defaultdict(list)
    for event in sorted((e for e in events if e["ph"] in "Xsf"), key=lambda e: e["ts"]):
        slices = open_slices[event["pid"], event["tid"]]
        slices[:] = [one for one in slices if one["ts"] + one["dur"] > event["ts"]]
        if event["ph"] == "X":
            slices.append(event)
            continue
        equal((event["cat"], event["name"], len(slices) > 0), ("parent", "parent", True), event)
        if event["ph"] == "s":
            equal(event["id"] in begun, False)
            begun[event["id"]] = slices[-1]["name"]
        else:
            equal(event["bp"], "e")
            flows.append((begun[event["id"]], slices[-1]["name"]))
    return sorted(flows)


def test_chrome_has_flows_and_the_name_of_the_parent():
    with Folder() as folder:
        text = exported(make_build(folder), "chrome")
        wanted = sorted((parent, name) for name, parent in PARENTS.items() if "mark" not in name)
        equal(chrome_flows(text), wanted)
        events = [e for e in json.loads(text)["traceEvents"] if e["ph"] in "Xi"]
        equal({e["name"]: e["args"]["parent"] for e in events if "parent" in e["args"]}, PARENTS)
        equal({e["name"]: e["args"]["unknownParent"] for e in events if "unknownParent" in e["args"]},
              UNKNOWN)


def test_chrome_has_the_flow_of_what_began_with_its_parent():
    with Folder() as folder:
        texts = {"in.nvtxt": run_line("in", 10, 20, 2) + run_line("short", 10, 11, 3) +
                 run_line("early", 5, 20, 4), "out.nvtxt": run_line("out", 10, 30, 1)}
        store = make_store(folder, {"in.nvtxt": (2, token(1, "run")), "out.nvtxt": (1, None)},
                           {"out": ("run", None)}, texts)
        equal(chrome_flows(exported(store, "chrome")), [("out", "early"), ("out", "in")])


def test_chrome_finds_a_parent_on_a_further_lane():
    with Folder() as folder:
        texts = {"child.nvtxt": run_line("child", 25, 28, 2),
                 "run.nvtxt": run_line("crossing", 5, 20, 1) + run_line("run", 10, 30, 1)}
        store = make_store(folder, {"child.nvtxt": (2, token(1, "run")), "run.nvtxt": (1, None)},
                           {"run": ("run", None)}, texts)
        equal(chrome_flows(exported(store, "chrome")), [("run", "child")])


def test_perfetto_has_flows_and_the_name_of_the_parent():
    with Folder() as folder:
        store = make_build(folder)
        exported(store, "perfetto", "-q", "-o", folder.name("trace"))
        trace = Trace(folder.name("trace"))
        equal(sorted(trace.flows), sorted((parent, name) for name, parent in PARENTS.items()))
        arguments = {name: args for _, _, name, _, _, _, args in trace.slices}
        arguments.update((name, args) for _, name, _, _, args in trace.instants)
        equal({name: args["parent"] for name, args in arguments.items() if "parent" in args}, PARENTS)
        equal({name: args["unknownParent"] for name, args in arguments.items()
               if "unknownParent" in args}, UNKNOWN)


# ---- OpenTelemetry ------------------------------------------------------------------------------

def around_of(spans):
    return {span.name: spans[span.around].name for span in spans.values() if span.around}


def test_a_build_is_one_trace():
    with Folder() as folder:
        spans = read(exported(make_build(folder), "otlp"))
        equal(around_of(spans), {**PARENTS, "inner": "outer"})
        by_name = {span.name: span for span in spans.values()}
        build = by_name["make -j2"]
        equal({span.name for span in spans.values() if span.trace == build.trace},
              {*PARENTS, "inner", "make -j2"})
        equal(build.trace.endswith(build.id), True)
        equal({span.name: span.more["nvtxt.parent"] for span in spans.values()
               if "nvtxt.parent" in span.more}, UNKNOWN)
        equal(len({span.trace for span in spans.values()}), 3)
        equal([event["name"] for event in by_name["inner"].events], ["mark inside"])


def test_a_parent_in_a_lane_has_the_trace_of_its_lane():
    with Folder() as folder:
        texts = {"child.nvtxt": run_line("child", 25, 28, 2),
                 "run.nvtxt": 'RangePush, 1, 1, 1, "outer"\nRangePush, 20, 1, 1, "run"\n'
                              'RangePop, 30, 1, 1\nRangePop, 40, 1, 1\n' + run_line("top", 0, 90, 3)}
        sources = {"child.nvtxt": (2, token(1, "run")), "run.nvtxt": (1, token(1, "top"))}
        store = make_store(folder, sources, {"run": ("run", None), "top": ("top", token(9, "x"))}, texts)
        spans = read(exported(store, "otlp"))
        equal(around_of(spans), {"child": "run", "run": "outer", "outer": "top"})
        equal(len({span.trace for span in spans.values()}), 1)
        alone = read(exported(store, "otlp", "--match", "child|outer"))
        equal(around_of(alone), {"child": "outer"})
        with changed(store) as there:
            there.execute("UPDATE NVTXT_SOURCES SET parent = NULL WHERE sessionId = ?", (SESSIONS[0],))
        spans = {span.name: span for span in read(exported(store, "otlp")).values()}
        equal({name for name, span in spans.items() if span.trace == spans["outer"].trace},
              {"child", "run", "outer"})


def test_a_filter_leaves_spans_under_the_next_parent_that_is_written():
    with Folder() as folder:
        store = make_build(folder)
        whole = {span.name: span for span in read(exported(store, "otlp")).values()}
        some = read(exported(store, "otlp", "--match", "^(make -j2|inner|cc b|aside)$"))
        equal(around_of(some), {"inner": "cc b", "aside": "cc b", "cc b": "make -j2"})
        for span in some.values():
            equal((span.id, span.trace), (whole[span.name].id, whole[span.name].trace))
        alone = read(exported(store, "otlp", "--match", "^inner$"))
        equal([(span.around, span.trace) for span in alone.values()],
              [(None, whole["make -j2"].trace)])


# ---- Stores of daemons --------------------------------------------------------------------------

LINES = "TimeBase = Unix\n@RangeStartEnd, Start, End, ProcessId, ThreadId, Message\n"


def keyed(key, line, parent=None):
    own = ',"parent":"%s"' % parent if parent else ""
    return '#nvtxt-range {"key":"%s"%s}\n%s' % (key, own, line)


def test_a_parent_is_found_over_a_rotation():
    with Daemon() as daemon, daemon.session(SESSIONS[0]) as make:
        make.send(LINES)
        with daemon.session(parent=token(1, "k1")) as program:
            program.send(LINES + run_line("program", 30, 40, 3))
            program.end()
        make.send(keyed("k0", run_line("early step", 21, 22, 2), token(1, "run")))
        make.ack(4)
        daemon.control("rotate")
        make.send(keyed("k1", run_line("step", 20, 50, 2), token(1, "run")) +
                  keyed("run", run_line("make", 10, 60, 1)))
        make.end()
        daemon.settled()
        rows = {row["message"]: row for row in rows_of(daemon.store)}
        store = os.path.basename(daemon.segments()[1])
        equal({name: row.get("parent") for name, row in rows.items()}, {
            "make": None,
            "step": {"eventRow": rows["make"]["eventRow"], "message": "make"},
            "program": {"eventRow": rows["step"]["eventRow"], "store": store, "message": "step"},
            "early step": {"eventRow": rows["make"]["eventRow"], "store": store, "message": "make"}})
        spans = read(exported(daemon.store, "otlp"))
        equal(around_of(spans), {"step": "make", "early step": "make", "program": "step"})
        equal(len({span.trace for span in spans.values()}), 1)
        equal(chrome_flows(exported(daemon.store, "chrome")),
              [("make", "early step"), ("make", "step"), ("step", "program")])
        # Of one segment alone what is in the other one is unknown.
        equal({row["message"]: row.get("parent") for row in rows_of(daemon.segments()[0])},
              {"program": {"token": token(1, "k1")}, "early step": {"token": token(1, "run")}})
        read(exported(daemon.segments()[0], "otlp"))


def test_a_merge_keeps_parents():
    with Daemon() as daemon, Folder() as folder:
        with daemon.session(SESSIONS[1], parent=token(1, "run")) as remote:
            remote.send(LINES + keyed("run", run_line("child", 20, 50, 2)))
            with daemon.session(SESSIONS[0]) as make:
                make.send(LINES + run_line("before", 1, 2, 1) + keyed("run", run_line("make", 10, 60, 1)))
                make.end()
            remote.end()
        daemon.settled()
        store, merged = folder.name("snapshot.sqlite"), folder.name("merged.sqlite")
        equal(run_client("nvtxt-ctl", "--socket", daemon.control_socket, "snapshot", "-o", store)[0], 0)
        more = folder.write("more.nvtxt", LINES + run_line("more", 5, 90, 3))
        equal(run_client("nvtxt-import", "merge", "-q", "-i", store, "-n", more, "-o", merged)[0], 0)
        equal(parents_of(merged), {"child": "make"})
        equal(around_of(read(exported(merged, "otlp"))), {"child": "make"})
        equal(len(rows_of(merged)), 4)


MAKEFILE = """\
all: one two below
one two:
\t@: $@
below:
\t@$(MAKE) --no-print-directory -C sub
"""


def test_steps_of_make_are_one_trace():
    if not shutil.which("make"):
        raise Skip("make is not installed")
    with Daemon() as daemon, Folder() as folder:
        os.mkdir(folder.name("sub"))
        folder.write("Makefile", MAKEFILE)
        folder.write("sub/Makefile", "all: three\nthree:\n\t@: $@\n")
        status, _, err = run_client("nvtxt-send", "--socket", daemon.socket, "--steps", "--", "make", "-s",
                                    cwd=folder.path)
        equal(status, 0, err)
        daemon.settled()
        spans = read(exported(daemon.store, "otlp"))
        depths = collections.Counter()
        for span in spans.values():
            depth = 0
            while span.around:
                span, depth = spans[span.around], depth + 1
            depths[depth] += 1
        equal((depths, len({span.trace for span in spans.values()})), ({0: 1, 1: 3, 2: 1}, 1))


# ---- Random stores ------------------------------------------------------------------------------

def random_build(generator):
    """Sources of start/end ranges and push/pop ranges with parents among all that have keys; and what
    nvtxt-export has to find: {message: parent's message or token}."""
    texts, sources, keys, wanted = {}, {}, {}, {}
    known = [(token(9, "run"), None)]  # of ranges that can be parents: token, message
    for session in range(1, 9):
        token_of, parent = generator.choice(known)
        name = "%d.nvtxt" % session
        lines, mine = [], []
        for number in range(generator.randrange(1, 5)):
            message = "s%d r%d" % (session, number)
            start = generator.randrange(1000)
            lines.append(run_line(message, start, start + generator.randrange(1, 500), session))
            keys[message] = ("run" if number == 0 else "k%d" % number, None)
            mine.append((token(session, keys[message][0]), message))
            wanted[message] = parent or token_of
            if number > 0 and generator.random() < 0.7:  # a parent of its own
                own, message_above = generator.choice(mine[:-1] + known)
                keys[message] = (keys[message][0], own)
                wanted[message] = message_above or own
        at = generator.randrange(1000)
        for number in range(generator.randrange(4)):  # a stack of two, and marks
            message = "s%d p%d" % (session, number)
            for line in ('RangePush, %d, 100, %d, "%s"', 'RangePush, %d, 100, %d, "%s inner"',
                         'Marker, %d, 100, %d, "%s mark"', 'RangePop, %d, 100, %d', 'RangePop, %d, 100, %d',
                         'Marker, %d, 100, %d, "%s after"'):
                values = (at, session) if line.count("%") == 2 else (at, session, message)
                lines.append(line % values + "\n")
                at += 1
            wanted[message] = wanted[message + " after"] = parent or token_of
        texts[name] = "".join(lines)
        sources[name] = (session, token_of)
        known += mine
    order = list(texts)
    generator.shuffle(order)
    return {name: texts[name] for name in order}, sources, keys, wanted


def test_random_stores():
    for seed in range(8):
        with Folder() as folder:
            texts, sources, keys, wanted = random_build(random.Random(seed))
            store = make_store(folder, sources, keys, texts)
            equal(parents_of(store), wanted, seed)
            spans = read(exported(store, "otlp"))
            known = {name: above for name, above in wanted.items() if ":" not in above}
            found = around_of(spans)
            equal({name: above for name, above in found.items() if "inner" not in name}, known, seed)
            traces = {span.name: span.trace for span in spans.values()}
            for name in traces:
                top = name
                while top in found:
                    top = found[top]
                equal(traces[name], traces[top], seed)


if __name__ == "__main__":
    run(globals())
