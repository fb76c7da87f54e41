# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report nvtx-state: files of Nsight Compute, composed by tests/report/ncurep.py."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

from client import ENV, Folder, Running, contains
from lib import SHORT, Skip, equal, program, run, wait_for
from report import FIXTURES, report
from schema import INSTALLED, Schema, parse

sys.path.insert(0, FIXTURES)
import ncurep as n  # noqa: E402  (its folder is named above)

SCHEMA = Schema(INSTALLED)


def write(folder, name, data):
    path = folder.name(name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def states(path, *args, status=0):
    got, out, err = report("nvtx-state", "--format", "json", path, *args)
    equal(got, status, err)
    whole = json.loads(out)
    equal(SCHEMA.faults(parse(out)), [])
    equal(list(whole), ["schema", "command", "files"])
    equal([whole["schema"], whole["command"]], ["nvtxt-report/1", "nvtx-state"])
    return whole["files"]


def results(path, *args):
    (file,) = states(path, *args)
    return file["results"]


def stack(*names, default=0, tid=1):
    """The state with a stack in the default domain."""
    return n.state(threads=[(tid, [(default, [n.push(name) for name in names])])], default=default)


def names_of(folder, nvtx, *args):
    """The results that are taken of one for each state."""
    data = n.report(n.block([n.result("k%d" % i, nvtx=one) for i, one in enumerate(nvtx)]))
    return [one["index"] for one in results(write(folder, "a.ncu-rep", data), *args)]


RANGE = {"category": 0, "color": None, "payload": None}


def test_a_file_without_blocks_and_one_without_results():
    with Folder() as folder:
        empty = {"path": None, "version": 7, "providers": [], "processes": [], "results": []}
        for data in (n.report(), n.report(n.block()), n.report(n.block(), n.block())):
            path = write(folder, "a.ncu-rep", data)
            equal(states(path), [dict(empty, path=path)])


def test_a_result_with_all_it_has():
    with Folder() as folder:
        one = n.result("saxpy", 42, [n.metric(0, ("uint64", 1)), n.metric(1)],
                       n.state([n.domain(3, "default"), n.domain(9, "Lib")],
                               [(41, [(3, [n.push("other thread")])]),
                                (42, [(3, [n.push("bottom"), n.push("top")]),
                                      (9, [n.push("in lib")])])],
                               [(9, [n.start(5, "open", 41)])], default=3), 11, 12)
        (got,) = results(write(folder, "a.ncu-rep", n.report(n.block([one]))))
        equal(list(got), ["index", "name", "demangledName", "mangledName", "tid", "context",
                          "stream", "metrics", "domains"])
        equal(got, {
            "index": 0, "name": "saxpy", "demangledName": "saxpy(int)", "mangledName": "_Zsaxpy",
            "tid": 42, "context": 11, "stream": 12, "metrics": 2, "domains": [
                {"id": 3, "name": "<default domain>",
                 "pushPop": [dict(RANGE, name="bottom"), dict(RANGE, name="top")], "startEnd": []},
                {"id": 9, "name": "Lib", "pushPop": [dict(RANGE, name="in lib")],
                 "startEnd": [dict(RANGE, name="open", id=5, tid=41)]}]})


def test_three_results_and_none_without_a_state():
    with Folder() as folder:
        path = write(folder, "a.ncu-rep", n.report(
            n.block([n.result("a", nvtx=stack("x")), n.result("b")]), n.block(),
            n.block([n.result("c", nvtx=stack("y"))])))
        got = results(path)
        equal([(one["index"], one["name"], len(one["domains"])) for one in got],
              [(0, "a", 1), (1, "b", 0), (2, "c", 1)])
        equal([one["index"] for one in results(path, "--nvtx-include", "y/")], [2])


def test_payloads_colours_categories_and_registered_messages():
    cases = [("uint64", 18446744073709551615, "18446744073709551615"), ("int64", -5, -5),
             ("double", 2.5, 2.5), ("uint32", 4294967295, 4294967295), ("int32", -7, -7),
             ("float", 0.5, 0.5), ("double", float("inf"), None), ("float", float("nan"), None)]
    with Folder() as folder:
        ranges = [n.push(kind, payload=(kind, number)) for kind, number, _ in cases]
        ranges += [n.push("styled", category=4, color=0x80FF0001),
                   n.push(handle=6), n.push(text="own text"), n.push("named", text="not this"),
                   n.push(handle=99), n.push()]
        nvtx = n.state([n.domain(0, None, [(5, "five"), (6, "six")]),
                        n.domain(1, "Other", [(6, "of another domain")])],
                       [(1, [(0, ranges)])])
        (got,) = results(write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=nvtx)]))))
        equal(len(got["domains"]), 1)
        found = got["domains"][0]["pushPop"]
        equal([one["payload"] for one in found[:len(cases)]], [wanted for _, _, wanted in cases])
        members = ["name", "category", "color", "payload"]
        equal([list(one) for one in found],
              [members] * (len(cases) - 2) + [members + ["na"]] * 2 +
              [members] * (len(found) - len(cases)))
        equal([one.get("na") for one in found[len(cases) - 2:len(cases)]], ["inf", "nan"])
        equal(found[len(cases)], {"name": "styled", "category": 4, "color": "#80FF0001",
                                  "payload": None})
        equal([one["name"] for one in found[len(cases) + 1:]],
              ["six", "own text", "named", "", ""])


def test_the_first_payload_that_is_there_counts():
    with Folder() as folder:
        attributes = [(4, [(1, 1), (6, 3), (5, 2), (2, n.Wire(b"\x15\0\0\0\0"))])]
        nvtx = n.state(threads=[(1, [(0, [[(1, "a"), (2, attributes)]])])])
        (got,) = results(write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=nvtx)]))))
        equal(got["domains"][0]["pushPop"][0]["payload"], 2)


def test_session_details_are_merged_over_blocks():
    with Folder() as folder:
        path = write(folder, "a.ncu-rep", n.report(
            n.block(header=[(3, n.session(1, None, [("Compute", "2024.1")])),
                            (6, n.process(1, "host", "app"))]),
            n.block(header=[(3, n.session(None, 5, [("CUDA", "12.4"), ("Driver", "550")]))]),
            n.block(header=[(6, n.process(1, "host", "app")), (6, n.process(2, "host", "child"))]),
            n.block(header=[(6, n.process(1, "host", "app")), (6, n.process(1, "other", "app"))])))
        (got,) = states(path)
        equal(got["providers"], [{"name": "Compute", "version": "2024.1"},
                                 {"name": "CUDA", "version": "12.4"},
                                 {"name": "Driver", "version": "550"}])
        equal(got["processes"], [{"pid": 1, "host": "host", "name": "app"},
                                 {"pid": 2, "host": "host", "name": "child"},
                                 {"pid": 1, "host": "other", "name": "app"}])
        lines = report("nvtx-state", path)[1].splitlines()
        equal([line for line in lines if line.startswith("process")],
              ["process 1 app on host", "process 2 child on host", "process 1 app on other"])


def test_unknown_fields_sources_and_other_entries_are_passed_over():
    with Folder() as folder:
        nvtx = n.UNKNOWN + stack("a") + n.UNKNOWN
        plain = n.report(n.block([n.result(nvtx=stack("a"))]))
        full = n.report(n.block([n.result(nvtx=nvtx, more=n.UNKNOWN)], [b"\xff" * 9, b""],
                                n.UNKNOWN + [(7, 3)], b"range results, whatever they are"),
                        header=n.UNKNOWN)
        equal(results(write(folder, "full.ncu-rep", full)),
              results(write(folder, "plain.ncu-rep", plain)))


def test_a_known_field_of_another_wire_type_is_an_unknown_one():
    with Folder() as folder:
        odd = [(1, "text"), (6, 5), (7, 2.5), (13, 6), (22, n.Float(1)), (23, b"")]
        plain = n.report(n.block([n.result(nvtx=stack("a"))]))
        both = n.report(n.block([odd + n.result(nvtx=stack("a")) + odd + [(21, 1)]],
                                header=[(1, "x"), (5, n.Float(3))]))
        equal(results(write(folder, "odd.ncu-rep", both)),
              results(write(folder, "plain.ncu-rep", plain)))


def test_the_stack_is_that_of_the_threads_own_or_of_any():
    with Folder() as folder:
        nvtx = n.state(threads=[(8, [(0, [n.push("eight")])]), (9, [(0, [n.push("nine")])])])
        data = n.report(n.block([n.result(tid=8, nvtx=nvtx), n.result(tid=1, nvtx=nvtx)]))
        path = write(folder, "a.ncu-rep", data)
        equal([[one["name"] for one in got["domains"][0]["pushPop"]] for got in results(path)],
              [["eight"], ["eight", "nine"]])
        equal([got["index"] for got in results(path, "--nvtx-include", "[nine]")], [1])
        equal([got["index"] for got in results(path, "--nvtx-include", "eight/nine")], [])


def test_domains_are_those_in_which_something_is_open():
    with Folder() as folder:
        nvtx = n.state([n.domain(1, "One"), n.domain(2, "Two"), n.domain(3, "Three")],
                       [(1, [(2, []), (7, [n.push("unlisted")]), (3, [n.push("three")])])],
                       [(1, [n.start(1, "one")]), (2, []), (3, [n.start(2, "also three")])])
        (got,) = results(write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=nvtx)]))))
        equal([(one["id"], one["name"]) for one in got["domains"]],
              [(1, "One"), (3, "Three"), (7, "Domain 7")])
        equal([len(one["startEnd"]) for one in got["domains"]], [1, 1, 0])


def truth():
    """The rows of the table of truth: (include, exclude, numbers of the states)."""
    path = os.path.join(FIXTURES, "filters", "truth.tsv")
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(include, exclude, [int(name[1:]) for name in names.split()])
            for include, exclude, names in rows]


STACKS = [
    n.state(threads=[(1, [(0, [n.push(one) for one in names])])]) for names in (
        ["A_range"], ["A_range", "B range"], ["A_range", "Range C", "B range"],
        ["A_range", "Range C", "Range D", "B range"], ["B range", "A_range"],
        ["X", "A_range", "B range", "Range Z"])] + [
    n.state(start_end=[(0, [n.start(1, "A_range")])]),
    n.state(start_end=[(0, [n.start(1, "A_range"), n.start(2, "B range")])]),
    n.state([n.domain(1, "Domain-A")], [(1, [(1, [n.push("A_range")])])],
            [(1, [n.start(1, "A_range")])]),
    n.state(threads=[(1, [(0, [n.push("A_range[i]")])])],
            start_end=[(0, [n.start(1, "A_range[i]")])])]

MORE = [("*/", "", list(range(1, 11))), ("Nothing@*/", "", list(range(1, 11))),
        ("regex:Nothing@*/", "", []), ("regex:default@*/", "", list(range(1, 11))),
        ("<default domain>@A_range", "", [7, 8]), ("", "regex:./", [7, 8, 9]),
        ("regex:default@A_range/", "", [1, 2, 3, 4, 5, 6, 10]), ("[A_range/+]", "", [2])]


def test_filters_mean_what_the_table_of_truth_says():
    with Folder() as folder:
        table = truth()
        equal(len(table) > 15, True)
        for include, exclude, wanted in table + MORE:
            options = ["--nvtx-include", include] * bool(include) + \
                ["--nvtx-exclude", exclude] * bool(exclude)
            got = names_of(folder, STACKS, *options)
            equal([index + 1 for index in got], wanted, options)


def test_a_filter_that_selects_nothing_is_told():
    with Folder() as folder:
        path = write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=stack("a"))])))
        status, _, err = report("nvtx-state", path, "--nvtx-include", "b/")
        equal(status, 0)
        contains(err, "note: --nvtx-include 'b/' selects nothing")
        status, out, err = report("nvtx-state", path, "--nvtx-include", "a/,b")
        equal((status, out), (64, ""))
        contains(err, "',' in a push/pop expression")
        status, _, err = report("nvtx-state", path, "--nvtx-include", "regex:(a+)+$]")
        equal(status, 0, err)
        long = write(folder, "long.ncu-rep", n.report(n.block([n.result(nvtx=stack("a" * 60 + "!"))])))
        status, out, err = report("nvtx-state", long, "--nvtx-include", "regex:^(a+)+$]")
        equal(status, 64, err)
        contains(err, "too costly")


def test_a_note_on_a_filter_names_what_is_near():
    with Folder() as folder:
        lib = n.state([n.domain(1, "Lib")], [(1, [(1, [n.push("inner")]), (0, [n.push("step"), n.push("load")])])], [(1, [n.start(4, "req")])])
        path = write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=lib), n.result(nvtx=lib), n.result()])))
        other = write(folder, "b.ncu-rep", n.report(n.block([n.result(nvtx=stack("other"))])))
        for option, wanted in (
                ("stpe/", "no push/pop range 'stpe' in the default domain: did you mean 'step/'?"),
                ("step", "no start/end range 'step' in the default domain, but push/pop ranges of that name: did you mean 'step/'?"),
                ("inner/", "no push/pop range 'inner' in the default domain, but push/pop ranges of that name in domain 'Lib': "
                           "did you mean 'Lib@inner/'?"),
                ("Lob@inner/", "there is no domain 'Lob': did you mean 'Lib@inner/'?"),
                ("Lib@req,reg", "no start/end range 'reg' in domain 'Lib': did you mean 'Lib@req,req'?"),
                ("load/step", "there are such ranges, but no such stack in the default domain"),
                ("[load]", "there are such ranges, but no such stack in the default domain: did you mean 'load/'?"),
                ("othre/", "no push/pop range 'othre' in the default domain: did you mean 'other/'?"),
                ("other/step", "there are such ranges, but no such stack in the default domain"),
                ("nothing like it/", "no push/pop range 'nothing like it' in the default domain")):
            status, _, err = report("nvtx-state", path, other, "--nvtx-include", option, "--nvtx-include", "step/")
            equal((status, err), (0, "nvtxt-report: note: --nvtx-include '%s' selects nothing: %s\n" % (option, wanted)))
        status, _, err = report("nvtx-state", path, "--nvtx-exclude", "lod/")
        equal(err, "nvtxt-report: note: --nvtx-exclude 'lod/' selects nothing: no push/pop range 'lod' in the default domain: "
                   "did you mean 'load/'?\n")
        none = write(folder, "none.ncu-rep", n.report(n.block([n.result()])))
        equal(report("nvtx-state", none, "--nvtx-include", "a/")[2],
              "nvtxt-report: note: --nvtx-include 'a/' selects nothing: no result has it\n")


def test_scripts_read_what_nvtx_state_reads():
    """Very many results of no length: an index of them is larger than the file."""
    count = 1000000
    with Folder() as folder:
        path = write(folder, "a.ncu-rep", n.report(n.block(rest=n.sized(b"") * count, counts=(0, count))))
        done = subprocess.run([program("client", "nvtxt-report"), "serve", path], env=ENV, capture_output=True, text=True, check=False,
                              input='{"id":1,"method":"range","params":{"range":0}}\n')
        equal([done.returncode, done.stderr], [0, ""])
        equal(json.loads(done.stdout)["result"]["actions"], count)


def test_text_and_markdown():
    with Folder() as folder:
        nvtx = n.state([n.domain(1, "Lib")], [(1, [(0, [n.push("a\nb", payload=("int32", -1))])])],
                       [(1, [n.start(4, "req", 3, color=0xFF00FF00, category=2)])])
        path = write(folder, "a.ncu-rep", n.report(
            n.block([n.result("k", nvtx=nvtx), n.result("none")],
                    header=[(3, n.session(1, 2, [("Compute", "1.0")])),
                            (6, n.process(3, "h", "p"))])))
        equal(report("nvtx-state", path)[:2], (0, """\
%s: version 7, 2 results
written by Compute 1.0
process 3 p on h

0: k, thread 1, context 1, stream 7, 0 metrics
  Lib
    start/end req, category 2, #FF00FF00, id 4, thread 3
  <default domain>
    push/pop a b, payload -1

1: none, thread 1, context 1, stream 7, 0 metrics
  no range is open
""" % path))
        status, out, _ = report("nvtx-state", path, "--format", "markdown")
        equal(status, 0)
        contains(out, "### 0: k\n\n")
        contains(out, "  - start/end req, category 2")
        equal(report("nvtx-state", path, "--csv")[0], 64)
        equal(report("nvtx-state")[0], 64)
        equal(report("nvtx-state", path, "-o", path)[0], 64)


SAMPLE = n.report(
    n.block([n.result("a", 1, [n.metric(0, ("uint64", 5), [(("uint32", 1), ("double", 2.5))])],
                      n.state([n.domain(0, "x", [(1, "one")])],
                              [(1, [(0, [n.push(handle=1, payload=("float", 1.5), color=1)])])],
                              [(0, [n.start(2, "s", 1)])]))],
            [b"source"], [(3, n.session(1, 2, [("p", "v")])), (4, n.strings("m")),
                          (6, n.process(1, "h", "n"))] + n.UNKNOWN),
    n.block([n.result("b")], header=[(4, n.strings("later"))]))


def broken(err, path):
    """The offset that a message names."""
    found = re.fullmatch(r"nvtxt-report: %s: offset (\d+): \S.*\n" % re.escape(path), err)
    equal(bool(found), True, err)
    return int(found.group(1))


def truncated(folder, name, sizes, data):
    """Writes the first bytes of the data, a file for each size; their paths by size."""
    return {size: write(folder, "%d%s" % (size, name), data[:size]) for size in sizes}


def test_every_truncation():
    first = SAMPLE.index(n.block([n.result("b")], header=[(4, n.strings("later"))]))
    whole = [len(n.report()), first, len(SAMPLE)]
    with Folder() as folder:
        paths = truncated(folder, ".ncu-rep", range(len(SAMPLE) + 1), SAMPLE)
        status, out, err = report("nvtx-state", "--format", "json", *paths.values())
        equal(status, 65)
        equal([file["path"] for file in json.loads(out)["files"]], [paths[size] for size in whole])
        cut = [size for size in paths if size not in whole]
        for size, line in zip(cut, err.splitlines(True), strict=True):
            equal(broken(line, paths[size]) <= size, True, line)


def test_what_is_no_report_or_of_another_version():
    with Folder() as folder:
        for data, what in ((b"", "no report"), (b"NVR", "no report"), (b"\x7fELF" * 9, "no report"),
                           (n.report(version=8), "version 8 is not supported, only 7"),
                           (n.report(version=1 << 40), "is not supported, only 7"),
                           (b"NVR\0" + n.sized(b""), "version 0 is not supported")):
            path = write(folder, "a.ncu-rep", data)
            status, out, err = report("nvtx-state", path)
            equal((status, out), (65, ""), err)
            contains(err, what)
            broken(err, path)
        equal(report("nvtx-state", folder.name("none.ncu-rep"))[0], 66)
        good = write(folder, "good.ncu-rep", n.report())
        bad = write(folder, "bad.ncu-rep", b"")
        status, out, err = report("nvtx-state", bad, good, "--format", "json")
        equal(status, 65)
        equal([one["path"] for one in json.loads(out)["files"]], [good])


def hostile():
    """Lengths and counts that are larger than the file."""
    one = n.message(n.result(nvtx=stack("a")))
    for count in (1, 2, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 64) - 1):
        yield n.report(n.block(counts=(0, count)))
        yield n.report(n.block(counts=(count, 0)))
    for size in (1, 1 << 31, 1 << 62, (1 << 64) - 1):
        yield n.report(n.block(size=size))
    for length in (1, (1 << 31) - 1, 1 << 32, (1 << 63), (1 << 64) - 1):
        data = n.varint(21 << 3 | 2) + n.varint(length)
        yield n.report(n.block([[(0, n.Wire(data))]]))
        yield n.report(n.block(header=[(4, [(0, n.Wire(n.varint(1 << 3 | 2) + n.varint(length)))])]))
    yield n.report(n.block(counts=(0, 1), rest=b"\xff\xff\xff\xff" + one))
    yield n.report() + b"\xff\xff\xff\xff"
    yield b"NVR\0\xff\xff\xff\xff\x08\x07"
    yield n.report(n.block([[(0, n.Wire(b"\x80" * 11 + b"\0"))]]))  # a number of 12 bytes
    yield n.report(n.block([[(0, n.Wire(b"\0\0"))]]))               # field 0
    yield n.report(n.block([[(0, n.Wire(b"\x0e"))]]))               # wire type 6
    yield n.report(n.block([[(0, n.Wire(b"\x0c"))]]))               # the end of no group
    yield n.report(n.block([[(0, n.Wire(b"\x0b\x14"))]]))           # the end of another group
    yield n.report(n.block([[(0, n.Wire(b"\x0b" * 40 + b"\x0c" * 40))]]))


def test_of_broken_files_no_output_is_left():
    with Folder() as folder:
        bad, good = write(folder, "bad", b"x" * 99), write(folder, "good", SAMPLE)
        out = folder.name("out")
        equal(report("nvtx-state", bad, "-o", out)[0], 65)
        equal(os.path.exists(out), False)
        equal(report("nvtx-state", bad, good, "-o", out)[0], 65)
        equal(os.path.exists(out), True)
        contains(report("stats", good)[2], "nvtx-state and serve read it")
        for most in ("1", "2", "100"):
            status, printed, err = report("nvtx-state", "--max-memory", most, good)
            equal((status, printed), (71, ""), err)


def sleeps_and_takes_signals(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        said = dict(line.rstrip("\n").split(":\t", 1) for line in file)
    return said["State"].startswith("S") and int(said["SigCgt"], 16) >> signal.SIGTERM - 1 & 1


def test_a_pipe_is_read_and_waited_for_until_a_signal_comes():
    with Folder() as folder:
        pipe = folder.name("pipe")
        os.mkfifo(pipe)
        with Running("nvtxt-report", "nvtx-state", pipe) as state:
            with open(pipe, "wb") as file:
                file.write(SAMPLE)
            equal(state.expect(0), "")
        with Running("nvtxt-report", "nvtx-state", pipe) as state:
            wait_for(lambda: sleeps_and_takes_signals(state.process.pid), "it waits for a writer")
            state.signal(signal.SIGTERM)
            equal(state.expect(128 + signal.SIGTERM), "")


def test_lengths_and_counts_that_exceed_the_file():
    with Folder() as folder:
        for i, data in enumerate(hostile()):
            path = write(folder, "a.ncu-rep", data)
            status, out, err = report("nvtx-state", path, "--format", "json")
            equal((status, out), (65, ""), "%d: %s" % (i, err))
            equal(broken(err, path) <= len(data), True, err)


def timed(seconds, *args):
    """The status and output of a run that ends in so many seconds of its own time."""
    got = subprocess.run([program("client", "nvtxt-report"), *args], capture_output=True, check=False,
                         env=ENV, preexec_fn=lambda: resource.setrlimit(
                             resource.RLIMIT_CPU, (seconds, seconds)))
    return got.returncode, got.stdout


def test_the_time_grows_with_the_file_only():
    count = 20000 if SHORT else 60000
    nvtx = n.state([n.domain(i, "d%d" % i) for i in range(count)] +
                   [n.domain(count, "last", [(i, "s%d" % i) for i in range(count)])],
                   [(1, [(i, [n.push("p")]) for i in range(count)] +
                     [(count, [n.push(handle=count - 1 - i) for i in range(count)])])],
                   [(i, [n.start(i, "s")]) for i in range(count)])
    with Folder() as folder:
        path = write(folder, "a.ncu-rep", n.report(n.block([n.result(nvtx=nvtx)])))
        status, out = timed(60, "nvtx-state", "--format", "json", path)
        equal(status, 0)
        (got,) = json.loads(out)["files"][0]["results"]
        equal(len(got["domains"]), count + 1)
        equal([got["domains"][-1]["pushPop"][i]["name"] for i in (0, -1)],
              ["s%d" % (count - 1), "s0"])
        for option in ("regex:no@s", "regex:no@p/", "last@s0]"):
            equal(timed(60, "nvtx-state", "--nvtx-include", option, path)[0], 0)


def test_what_has_no_end_is_not_read_to_its_end():
    with Folder() as folder:
        for path in ("/dev/zero", "/dev/null"):
            status, out, err = report("nvtx-state", path)
            equal((status, out), (65, ""))
            equal(broken(err, path), 0)
        equal(report("nvtx-state", folder.name("."))[:2], (66, ""))
        sparse = write(folder, "sparse.ncu-rep", b"no report")
        os.truncate(sparse, 1 << 40)
        equal(report("nvtx-state", sparse)[:2], (65, ""))


def test_a_compressed_file():
    zstd = shutil.which("zstd")
    if not zstd:
        raise Skip("there is no zstd")
    with Folder() as folder:
        plain = write(folder, "a.ncu-rep", SAMPLE)
        packed = folder.name("a.ncu-repz")
        subprocess.run([zstd, "-q", plain, "-o", packed], check=True)
        status, out, err = report("nvtx-state", packed, "--format", "json")
        if status == 65 and "built without libzstd" in err:
            equal(broken(err, packed), 0)
            return
        equal(status, 0, err)
        equal(json.loads(out)["files"][0]["results"], results(plain))
        with open(packed, "rb") as file:
            data = file.read()
        paths = truncated(folder, ".ncu-repz", range(4, len(data)), data)
        status, out, err = report("nvtx-state", *paths.values())
        equal((status, out), (65, ""))
        for path, line in zip(paths.values(), err.splitlines(True), strict=True):
            broken(line, path)
        path = write(folder, "more.ncu-repz", data + b"more")
        equal(report("nvtx-state", path)[:2], (65, ""))


if __name__ == "__main__":
    run(globals())
