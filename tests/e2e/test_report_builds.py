# SPDX-License-Identifier: Apache-2.0
"""Builds in nvtxt-report: the tree of the steps, the path that the end waited for, the slots. The second
computation looks at each moment of a build."""
import collections
import json
import os
import shutil
import subprocess

from builds import PUSH_POP, Build, Store
from client import Folder, program, run_client
from lib import Daemon, Skip, equal, run
from report import f1, report


def rows(name, *args):
    status, text, errors = report("stats", "-r", name, "--format", "json", *args)
    equal((status, errors), (0, ""))
    made = json.loads(text)["tables"][0]
    return [dict(zip(made["columns"], row)) for row in made["rows"]]


def a_build(store):
    """make -j2: gen, then a and sub { b, c }, then link."""
    source = store.source()
    run = store.token(source, "run")
    sub = store.token(source, "k2")
    for start, end, text, key, parent in (
            (10, 30, "gen", "k1", run), (30, 60, "cc a.c", "k3", run), (35, 50, "cc b.c", "k4", sub),
            (50, 75, "cc c.c", "k5", sub), (30, 80, "make -C sub", "k2", run), (85, 100, "ld", "k6", run)):
        store.range(source, start, end, text, start + end, key=key, parent=parent,
                    details={"command": text, "target": key, "status": 0})
    store.range(source, 0, 104, "make -j2", 5, key="run")
    return source


def test_steps_are_a_tree_of_their_build():
    with Folder() as folder:
        store = Store()
        a_build(store)
        path = store.save(folder, "a.sqlite")
        status, text, errors = report("stats", "-r", "step_tree", "--format", "csv", path)
        equal((status, errors), (0, ""))
        equal(text.splitlines(), [
            "Time (%),Total (ns),Self (ns),Count,Slot,Step",
            '100.0,104,,1,1-2,make -j2',
            '43.47826086956522,50,10,1,,"  make -C sub"',
            '21.73913043478261,25,25,1,2,"    cc c.c"',
            '13.043478260869565,15,15,1,2,"    cc b.c"',
            '26.08695652173913,30,30,1,1,"  cc a.c"',
            '17.391304347826086,20,20,1,1,"  gen"',
            '13.043478260869565,15,15,1,1,"  ld"'])


def test_the_path_says_what_the_end_waited_for():
    with Folder() as folder:
        store = Store()
        a_build(store)
        path = rows("critical_path", store.save(folder, "a.sqlite"))
        equal([(row["At (ns)"], row["On Path (ns)"], row["Slot"], row["Step"]) for row in path], [
            (0, 19, None, "make -j2"), (10, 20, 1, "  gen"), (30, 10, None, "  make -C sub"),
            (35, 15, 2, "    cc b.c"), (50, 25, 2, "    cc c.c"), (85, 15, 1, "  ld")])


def test_slots_say_what_ran_alone():
    with Folder() as folder:
        store = Store()
        a_build(store)
        made = rows("slots", store.save(folder, "a.sqlite"))
        equal([(row["Busy"], row["Time (ns)"], row["Alone"], row["Build"]) for row in made], [
            (0, 19, None, "make -j2"), (1, 55, None, "make -j2"), (1, 20, "gen", "make -j2"),
            (1, 15, "cc c.c", "make -j2"), (1, 15, "ld", "make -j2"), (1, 5, "make -C sub", "make -j2"),
            (2, 30, None, "make -j2")])


def test_a_step_without_length_is_no_time_of_a_slot():
    with Folder() as folder:
        store = Store()
        source = store.source()
        for start, end, text, key in ((10, 10, "true", "k1"), (20, 30, "cc a.c", "k2")):
            store.range(source, start, end, text, start, key=key, parent=store.token(source, "run"))
        store.range(source, 0, 40, "make", 5, key="run")
        made = rows("slots", store.save(folder, "a.sqlite"))
        equal([(row["Busy"], row["Time (ns)"], row["Alone"]) for row in made],
              [(0, 30, None), (1, 10, None), (1, 10, "cc a.c")])


def own_times(build):
    """{key: the moments in which the step has no step directly below it that runs}"""
    below = collections.defaultdict(list)
    for step in build.steps:
        below[step["under"]].append(step)
    return {step["key"]: [moment for moment in range(step["start"], step["end"])
                          if not any(one["start"] <= moment < one["end"] for one in below[step["key"]])]
            for step in build.steps}


def test_random_builds_agree_with_each_moment():
    for seed in range(1, 13):
        with Folder() as folder:
            store = Store()
            build = Build(store, seed, jobs=1 + seed % 4)
            path = store.save(folder, "a.sqlite")
            own = own_times(build)
            busy = collections.Counter(moment for moments in own.values() for moment in moments)
            tree = rows("step_tree", path)
            # The tree's own times are the slots' busy time.
            total = sum(row["Self (ns)"] for row in tree[1:])
            equal(total, sum(busy.values()), seed)
            counts = collections.Counter(busy.values())
            levels = {row["Busy"]: row["Time (ns)"] for row in rows("slots", path) if row["Alone"] is None}
            elapsed = build.end - build.start
            equal({number: time for number, time in levels.items() if number and time}, dict(counts), seed)
            equal(sum(levels.values()), elapsed, seed)
            equal(sum(number * time for number, time in levels.items()), total, seed)
            # The lowest slots are taken, so there are as many as were held at once.
            equal(tree[0]["Slot"], "1-%d" % max(counts) if max(counts) > 1 else "1", seed)
            # By name: own times, totals, counts.
            wanted = collections.Counter()
            for step in build.steps:
                wanted[step["text"], "Count"] += 1
                wanted[step["text"], "Total (ns)"] += step["end"] - step["start"]
                wanted[step["text"], "Self (ns)"] += len(own[step["key"]])
            got = collections.Counter()
            for row in tree[1:]:
                for column in ("Count", "Total (ns)", "Self (ns)"):
                    got[row["Step"].strip(), column] += row[column]
            equal(got, wanted, seed)
            check_path(build, rows("critical_path", path), seed)


def check_path(build, path, seed):
    """Each moment of the build belongs to one row, and is one of that step's own times or of a wait."""
    equal(sum(row["On Path (ns)"] for row in path), build.end - build.start, seed)
    equal(path[0]["Step"], "make -j%d" % build.jobs)
    wanted = collections.Counter()

    def walk(key, text, start, end):
        waited, at = 0, end
        below = [step for step in build.steps if step["under"] == key]
        while True:
            over = [step for step in below if step["end"] <= at]
            if not over:
                break
            last = max(over, key=lambda step: (step["end"], -step["start"], step["row"]))
            walk(last["key"], last["text"], last["start"], last["end"])
            waited += last["end"] - last["start"]
            at = last["start"]
        wanted[text] += end - start - waited

    walk(None, path[0]["Step"], build.start, build.end)
    got = collections.Counter()
    for row in path:
        got[row["Step"].strip()] += row["On Path (ns)"]
    equal(+got, +wanted, seed)


def test_a_selection_says_what_counts():
    with Folder() as folder:
        store = Store()
        a_build(store)
        path = store.save(folder, "a.sqlite")
        tree = rows("step_tree", "--match", "^cc", path)
        equal([(row["Step"], row["Count"], row["Self (ns)"], row["Slot"]) for row in tree], [
            ("make -j2", None, None, "1-2"), ("  make -C sub", None, 0, None), ("    cc c.c", 1, 25, "2"),
            ("    cc b.c", 1, 15, "2"), ("  cc a.c", 1, 30, "1")])
        equal(tree[0]["Time (%)"], 100)


def test_each_build_has_its_slots():
    with Folder() as folder:
        store = Store()
        one = a_build(store)
        inner = store.source(parent=store.token(one, "k6"))
        for number in (1, 2):
            store.range(inner, 86, 90, "inner %d" % number, 900 + number, key="n%d" % number,
                        parent=store.token(inner, "run"))
        store.range(inner, 85, 95, "make check", 900, key="run")
        running = store.source(name="still running")
        store.range(running, 200, 210, "cc x.c", 950, key="x", parent=store.token(running, "run"))
        path = store.save(folder, "a.sqlite")
        equal([(row["Step"], row["Slot"]) for row in rows("step_tree", path) if row["Step"][0] != " "],
              [("make -j2", "1-2"), ("make check", "1-2"), ("still running", "1")])
        equal([row["Self (ns)"] for row in rows("step_tree", path) if row["Step"] == "  ld"], [15])


def findings(path, *args):
    """{title: (text, rows of its table)} of the rule about builds; and the rule."""
    rule = json.loads(report("check", "--format", "json", "--rule", "Builds", *args, path)[1])["rules"][0]
    return {message["title"]: (message["text"], table["rows"])
            for message, table in zip(rule["messages"], rule["tables"])}, rule


def test_times_of_findings_have_three_digits():
    with Folder() as folder:
        store = Store()
        source = store.source()
        for start, end, text in ((0, 300674123, "long"), (10, 300000000, "beside"), (300674123, 300674805, "short")):
            store.range(source, start, end, text, start + 9, key=text, parent=store.token(source, "run"),
                        details={"command": text, "target": text, "status": 0})
        store.range(source, 0, 900000000, "make", 5, key="run")
        store.range(source, 400000000, 812345678, "alone", 6, key="alone", parent=store.token(source, "run"),
                    details={"command": "alone", "target": "alone", "status": 0})
        text, table = findings(store.save(folder, "a.sqlite"))[0]["Idle slots"]
        equal(text, "'make': only one of 2 slots was busy for 413 ms, 45.9% of the time. 'alone' ran alone for 412 ms: "
                    "begin @range:5:it@ earlier, or make it shorter.")
        # In its table they are exact, as in others: a screen and the page choose a unit.
        equal([(row[0], row[2]) for row in table],
              [("@range:5:alone@", 412345678), ("@range:1:long@", 674133), ("@range:3:short@", 682)])


def test_findings_speak_of_builds():
    with Folder() as folder:
        store = Store()
        a_build(store)
        again = store.source()
        for number in range(12):
            # The same command in two folders is not the same step; that of a sub-make is none.
            store.range(again, 1000 + 10 * number, 1010 + 10 * number, "cc y.c", 800 + number, key="y%d" % number,
                        parent=store.token(again, "run"),
                        details={"command": "cc y.c", "target": "y.o", "directory": "/%d" % min(number, 9),
                                 "status": 0})
        store.range(again, 1000, 1120, "make again", 799, key="run")
        path = store.save(folder, "a.sqlite")
        found, rule = findings(path, "--source", "2")
        equal(rule["status"], "findings")
        equal(found, {"Idle slots": (
            "'make -j2': only one of 2 slots was busy for 55 ns, 52.9% of the time. 'gen' ran alone for 20 ns: "
            "begin @range:1:it@ earlier, or make it shorter.",
            [["@range:1:gen@", 1, 20, 100 * 20 / 104], ["@range:4:cc c.c@", 1, 15, 100 * 15 / 104],
             ["@range:6:ld@", 1, 15, 100 * 15 / 104], ["@range:5:make -C sub@", 1, 5, 100 * 5 / 104]])})
        equal(rule["speedups"][0]["percent"], 100 * (55 - 27) / 104)
        found, rule = findings(path, "--match", "y")
        first = int(found["Longest steps"][1][0][0].split(":")[1])
        equal(found["Longest steps"][0], "'make again': ten of 12 steps take 100 ns, 83.3%% of all. Look at @range:%d:the longest one@ "
              "first: can it be split, or left out?" % first)
        equal(len(found["Longest steps"][1]), 10)
        for form, row in (("text", "      cc y.c"), ("markdown", "    | cc y.c")):
            for limit, rows_, more in ((["--limit", "3"], 3, 1), ([], 10, 0)):
                text = report("check", "--format", form, "--rule", "Builds", "--match", "y", *limit, path)[1]
                text = text[text.index("Steps by time"):]
                equal((text[:text.index("Commands that ran again")].count(row), text.count("\u2026 7 more (--limit 0)")),
                      (rows_, more), form)
        equal(found["Repeated steps"],
              ("'make again': 1 command ran more than once with the same target in the same folder, 'cc y.c' 3 "
               "times. The repetitions take 20 ns: look at what asks for @range:%d:the first run@." % (first + 9),
               [["@range:%d:cc y.c@" % (first + 9), 3, 20, 100 * 20 / 120]]))
        equal(findings(f1(folder))[1]["reason"], "no build was recorded with --steps")
        status, text, errors = report("report", "--scope", "process", "--format", "json", path)
        equal((status, errors), (0, ""))
        equal({rule["reason"] for scope in json.loads(text)["scopes"] for rule in scope["rules"]
               if rule["identifier"] == "Builds"}, {"it speaks of the whole capture"})


def test_each_run_of_a_session_is_a_build():
    with Folder() as folder:
        store = Store()
        source = store.source()
        for number in (1, 2):
            key = "run-%d" % number
            for step in (1, 2):
                store.range(source, 100 * number, 100 * number + 10 * step, "cc %d.c" % step, 10 * number + step,
                            key="s%d-%d" % (number, step), parent=store.token(source, key))
            store.range(source, 100 * number, 100 * number + 30, "make %d" % number, 5, key=key)
        path = store.save(folder, "a.sqlite")
        equal([(row["Step"], row["Total (ns)"], row["Slot"]) for row in rows("step_tree", path)], [
            ("make 1", 30, "1-2"), ("  cc 2.c", 20, "2"), ("  cc 1.c", 10, "1"),
            ("make 2", 30, "1-2"), ("  cc 2.c", 20, "2"), ("  cc 1.c", 10, "1")])
        equal([(row["Build"], row["Busy"], row["Time (ns)"]) for row in rows("slots", path) if row["Alone"] is None],
              [(make, busy, 10) for make in ("make 1", "make 2") for busy in (0, 1, 2)])


def test_no_build_is_said():
    with Folder() as folder:
        path = f1(folder)
        for name in ("step_tree", "critical_path", "slots"):
            made = json.loads(report("stats", "-r", name, "--format", "json", path)[1])["tables"][0]
            equal((made["rows"], made["notes"]),
                  ([], ["there is no build: nvtxt-send --steps -- make records one"]))


def test_ranges_of_a_program_take_no_slot():
    with Folder() as folder:
        store = Store()
        source = a_build(store)
        inner = store.source(parent=store.token(source, "k6"))
        store.event(inner, PUSH_POP, 88, 95, "main", 700)
        path = store.save(folder, "a.sqlite")
        equal([row["Self (ns)"] for row in rows("step_tree", path) if row["Step"] == "  ld"], [15])
        folded = report("stats", "-r", "nvtx_folded", path)[1].splitlines()
        equal([line for line in folded if ";ld" in line], ["make -j2;ld 8", "make -j2;ld;main 7"])


def exported(path, name):
    status, text, errors = run_client("nvtxt-export", "--format", name, "--store", path)
    equal((status, errors), (0, ""))
    return text


def test_an_export_has_the_same_folded_stacks():
    for seed in (2, 5, 9):
        with Folder() as folder:
            store = Store()
            build = Build(store, seed)
            inner = store.source(parent=store.token(build.source, build.steps[-1]["key"]))
            start, end = build.steps[-1]["start"], build.steps[-1]["end"]
            store.event(inner, PUSH_POP, start, end, "main", 60000)
            store.event(inner, PUSH_POP, start, start + 1, "load", 60000)
            path = store.save(folder, "a.sqlite")
            wanted = report("stats", "-r", "nvtx_folded", path)[1]
            equal(sorted(exported(path, "folded").splitlines()), sorted(wanted.splitlines()), seed)
    with Folder() as folder:
        store = Store()
        outer = store.source()
        store.range(outer, 0, 100, "run", 7, key="run")
        inner = store.source(parent=store.token(outer, "run"))
        store.event(inner, PUSH_POP, 10, 90, "main", 7)  # in the thread of the run
        store.event(inner, PUSH_POP, 15, 95, "beside", 9)
        unknown = store.source(parent="0a0b0c0d-0000-4000-8000-000000000000:run")
        store.event(unknown, PUSH_POP, 20, 30, "lost", 8)
        equal(sorted(exported(store.save(folder, "a.sqlite"), "folded").splitlines()),
              ["Process 8;Thread 8;lost 10", "run 15", "run;beside 80", "run;main 80"])


def test_speedscope_opens_the_parents_around_what_is_outermost():
    with Folder() as folder:
        store = Store()
        source = a_build(store)
        inner = store.source(parent=store.token(source, "k6"))
        for start, end, text in ((86, 99, "main"), (88, 90, "load"), (99, 100, "exit")):
            store.event(inner, PUSH_POP, start, end, text, 700)
        made = json.loads(exported(store.save(folder, "a.sqlite"), "speedscope"))
        frames = [frame["name"] for frame in made["shared"]["frames"]]
        events = {profile["name"]: " ".join("%s%d" % (frames[event["frame"]].replace(" ", "_")
                                                      if event["type"] == "O" else "-", event["at"])
                                            for event in profile["events"]) for profile in made["profiles"]}
        equal(events["Process 700 / Thread 700"],
              "make_-j286 ld86 main86 load88 -90 -99 -99 -99 make_-j299 ld99 exit99 -100 -100 -100")
        equal(events["Process 125 / Thread 125"], "make_-j250 make_-C_sub50 cc_c.c50 -75 -75 -75")


def test_a_build_of_make_is_a_tree():
    if not shutil.which("make"):
        raise Skip("no make")
    with Folder() as folder, Daemon() as daemon:
        os.mkdir(folder.name("sub"))
        folder.write("Makefile", "all: one sub\n\t: last\none:\n\t: first\nsub:\n\t$(MAKE) -C sub\n"
                                 ".PHONY: all one sub\n")
        folder.write("sub/Makefile", "all:\n\t: inner; sleep 0.01\n\t: inner\n")
        env = {name: text for name, text in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GPATH")}
        done = subprocess.run([program("client", "nvtxt-send"), "--socket", daemon.socket, "--steps", "--",
                               "make", "-j2"], cwd=os.path.dirname(folder.name("Makefile")), env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        equal((done.returncode, done.stderr), (0, b""))
        daemon.stop()
        tree = rows("step_tree", daemon.store)
        equal((tree[0]["Step"], sum(row["Count"] for row in tree[1:])), ("make -j2", 5))
        depths = collections.Counter(len(row["Step"]) - len(row["Step"].lstrip()) for row in tree)
        equal(depths[4] > 0, True, tree)
        busy = sum(row["Busy"] * row["Time (ns)"] for row in rows("slots", daemon.store) if row["Alone"] is None)
        equal(sum(row["Self (ns)"] for row in tree[1:]), busy)
        path = rows("critical_path", daemon.store)
        equal((path[0]["Step"], sum(row["On Path (ns)"] for row in path)), ("make -j2", tree[0]["Total (ns)"]))


def test_the_tree_fits_80_columns():
    with Folder() as folder:
        store = Store()
        Build(store, 3)
        status, text, _ = report("stats", "-r", "step_tree", "--timeunit", "msec", store.save(folder, "a.sqlite"))
        equal(status, 0)
        equal([line for line in text.splitlines() if len(line) > 80], [])


if __name__ == "__main__":
    run(globals())
