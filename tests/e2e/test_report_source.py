# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report source: the lines of NVTXT files, with what came of each."""
import csv
import io
import json
import os

from client import Folder, contains
from lib import equal, run
from report import F1, f1, make_store, report

BAD = """\
ProcessId = 1
@Marker, Time, Message
Marker, 5, "x"
Marker, soon, "y"
Bogus, 5
Marker, 7, "z"
"""


def source(*args, status=0):
    got, out, err = report("source", "--format", "json", *args)
    equal(got, status, err)
    return json.loads(out)["files"], err


def lines_of(file):
    """{line: values} of a file."""
    return {line["line"]: line["values"] for line in file["lines"]}


def f1_lines():
    """{line: [events, total time]} as the lines of F1 say it, by the calls that open something."""
    wanted = {}
    pushed, started = {}, {}
    with open(F1, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            call, *fields = [field.strip() for field in line.split(",")]
            if call == "Marker":
                wanted[number] = [1, None]
            elif call == "RangePush":
                pushed.setdefault(fields[1], []).append((number, int(fields[0])))
            elif call == "RangePop":
                opened, start = pushed[fields[1]].pop()
                wanted[opened] = [1, int(fields[0]) - start]
            elif call == "RangeStart":
                started[fields[1]] = (number, int(fields[0]))
            elif call == "RangeEnd":
                opened, start = started.pop(fields[1])
                wanted[opened] = [1, int(fields[0]) - start]
    return wanted


def test_each_event_has_the_line_that_opened_it():
    with Folder() as folder:
        store = f1(folder)
        (file,), err = source(store, "--resolve-source-file", F1)
        equal(err, "")
        equal((file["source"], file["name"]), (1, F1))
        equal([column["label"] for column in file["columns"]],
              ["Events", "Total Time", "Diagnostics"])
        equal([column["unit"] for column in file["columns"]], ["event", "ns", "diagnostic"])
        equal({line: values[:2] for line, values in lines_of(file).items()}, f1_lines())
        with open(F1, encoding="utf-8") as text:
            lines = text.read().splitlines()
        for line in file["lines"]:
            equal(line["text"], lines[line["line"] - 1])
        (file,), _ = source(store, "--resolve-source-file", F1, "--all-lines")
        equal([line["text"] for line in file["lines"]], lines)


def test_a_selection_counts_its_events_only():
    with Folder() as folder:
        store = f1(folder)
        (file,), _ = source(store, "--resolve-source-file", F1, "--match", "kernel")
        equal(len(file["lines"]), 3)
        (file,), _ = source(store, "--resolve-source-file", F1, "--since",
                            "1970-01-01T00:00:00.000000130Z")
        wanted = {line: values for line, values in f1_lines().items() if line >= 21}
        equal({line: values[:2] for line, values in lines_of(file).items() if values[0]},
              {line: values for line, values in wanted.items() if values[1]})


def test_a_file_is_known_by_its_name():
    with Folder() as folder:
        store = f1(folder)
        copy = folder.write(os.path.basename(F1), open(F1, encoding="utf-8").read())
        equal(len(source(store, "--resolve-source-file", copy)[0]), 1, "the last component")
        other = folder.write("other", open(F1, encoding="utf-8").read())
        equal(len(source(store, "--resolve-source-file", "%s=%s" % (F1, other))[0]), 1)
        for what, status, part in ((other, 64, "no source is called"),
                                   ("nobody=" + other, 64, "no source is called 'nobody'"),
                                   (F1 + "=" + folder.name("none"), 66, "No such file")):
            got, out, err = report("source", store, "--resolve-source-file", what)
            equal((got, out), (status, ""))
            contains(err, part)


def test_a_file_that_does_not_match_gives_no_lines():
    with open(F1, encoding="utf-8") as file:
        text = file.read()
    with Folder() as folder:
        store = f1(folder)

        def refused(lines, reason):
            path = folder.write(os.path.basename(F1), lines)
            files, err = source(store, "--resolve-source-file", path, status=1)
            equal(files, [])
            contains(err, "%s does not match source 1: " % path)
            contains(err, reason)

        refused(text.replace('"tick"', '"tock"'), "the message of event 1, line 13,")
        refused(text.replace("RangePop, 260", "RangePop, 261"), "the times of event 15, line 29,")
        refused(text.replace("RangePush, 130", "RangePush, 131"), "the times of event 12,")
        refused(text + 'Marker, 300, 2, "tick"\n', "it has 16 events, and the source 15")
        refused("", "it has 0 events, and the source 15")
        refused(text.replace('Marker, 20, 2, "tick"',
                             '@RangeStartEnd, Start, End, ThreadId, Message\n'
                             'RangeStartEnd, 20, 20, 2, "tick"'), "is a start/end range, and row")


def test_a_constant_shift_of_the_times_is_allowed():
    with Folder() as folder:
        store = make_store(folder, "s.sqlite", folder.write(
            "a.nvtxt", "ProcessId = 1\n@Marker, Time, Message\nMarker, 100, a\nMarker, 130, a\n"))
        moved = folder.write(
            "b.nvtxt", "ProcessId = 1\n@Marker, Time, Message\n\nMarker, -50, a\nMarker, -20, a\n")
        name = folder.name("a.nvtxt")
        (file,), _ = source(store, "--resolve-source-file", "%s=%s" % (name, moved))
        equal([line for line, values in lines_of(file).items() if values[0]], [4, 5])


def test_without_a_file_the_lines_with_messages_are_known():
    with Folder() as folder:
        path = folder.write("bad.nvtxt", BAD)
        store = make_store(folder, "bad.sqlite", path, status=1)
        (file,), _ = source(store)
        equal(lines_of(file), {4: [None, None, 1], 5: [None, None, 1]})
        equal([line["text"] for line in file["lines"]], ['Marker, soon, "y"', "Bogus, 5"])
        equal([line["diagnostics"][0]["code"] for line in file["lines"]],
              ["wrong-type", "unknown-command"])
        (file,), _ = source(store, "--resolve-source-file", path)
        equal(lines_of(file), {3: [1, None, None], 4: [None, None, 1], 5: [None, None, 1],
                               6: [1, None, None]})
        equal(source(f1(folder))[0], [])


def test_the_other_formats():
    with Folder() as folder:
        path = folder.write("bad.nvtxt", BAD)
        store = make_store(folder, "bad.sqlite", path, status=1)
        _, out, _ = report("source", store, "--csv", "--resolve-source-file", path)
        equal(list(csv.reader(io.StringIO(out)))[:3],
              [["File", "Line", "Events", "Total Time (ns)", "Diagnostics", "Source"],
               [path, "3", "1", "", "", 'Marker, 5, "x"'],
               [path, "4", "", "", "1", 'Marker, soon, "y"']])
        _, out, _ = report("source", store, "--format", "tsv")
        equal(len(out.splitlines()), 3)
        _, out, _ = report("source", store)
        contains(out, "%s:4:9: error: " % path)
        contains(out, "[wrong-type]\n")
        _, out, _ = report("source", store, "--format", "markdown")
        contains(out, "| Marker, soon,")
        status, out, _ = report("source", f1(folder))
        equal(status, 0)
        contains(out, "--resolve-source-file")


if __name__ == "__main__":
    run(globals())
