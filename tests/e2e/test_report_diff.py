# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report diff: what changed between two captures, how sure that is, and the exit status."""
import json

from client import Folder
from lib import equal, run
from report import f1, make_store, report

FAST = (100, 101, 102, 103, 104)
SLOW = (150, 151, 152, 153, 154)


def runs(folder, name, **lengths):
    """A store with ranges of these names: one after the other, with these lengths."""
    path, time = folder.name(name + ".nvtxt"), 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("ProcessId = 7\n@RangeStartEnd, Start, End, ThreadId, Message\n")
        for range_name, of_name in lengths.items():
            for length in of_name:
                file.write('RangeStartEnd, %d, %d, 3, "%s"\n' % (time, time + length, range_name))
                time += length
    return make_store(folder, name + ".sqlite", path)


def compared(status, *args):
    got, text, errors = report("diff", "--format", "json", *args)
    equal((got, errors), (status, ""), text)
    return json.loads(text)


def test_a_diff_against_itself_is_neutral():
    with Folder() as folder:
        store = f1(folder)
        status, text, errors = report("diff", "--format", "json", store, store)
        document = json.loads(text)
        equal((status, errors),
              (0, "nvtxt-report: warning: BASE and NEW are the same file\n"))
        equal(list(document), ["schema", "command", "base", "new", "gate", "verdict", "reason",
                               "rows", "warnings"])
        equal((document["base"], document["new"], document["verdict"], document["warnings"]),
              (store, store, "neutral", ["BASE and NEW are the same file"]))
        equal([row["verdict"] for row in document["rows"]], ["same"] * 6)


def test_runs_that_are_longer_are_a_regression():
    with Folder() as folder:
        base, new = runs(folder, "base", work=FAST), runs(folder, "new", work=SLOW)
        document = compared(0, base, new)
        row = document["rows"][0]
        equal((document["verdict"], row["name"], row["kind"], row["verdict"], row["deltaPct"],
               row["z"], row["runsNeeded"]),
              ("regression", ":work", "start/end", "slower", 100 * 50 / 102, None, None))
        equal(row["base"], {"count": 5, "total": 510, "avg": 102.0, "med": 102.0, "self": 510})
        equal(row["new"], {"count": 5, "total": 760, "avg": 152.0, "med": 152.0, "self": 760})
        equal(document["reason"], ":work got slower (+49.0 %)")
        equal(report("diff", "--gate", "2", base, new)[0], 2)
        equal(report("diff", "--gate", "60", base, new)[0], 0)
        text = report("diff", "--format", "markdown", base, new)[1]
        equal(text.startswith("**regression**: :work got slower"), True)
        text = report("diff", new, base)[1]
        equal((text.startswith("improvement: :work got faster"), "Runs Needed" in text), (True, False))


def test_a_kind_is_a_name_of_its_own():
    with Folder() as folder:
        rows = compared(3, f1(folder), runs(folder, "new", step=(50, 50)))["rows"]
        equal([(one["kind"], one["verdict"]) for one in rows if one["name"] == ":step"],
              [("start/end", "added"), ("push/pop", "removed")])


def test_few_runs_that_may_be_chance_are_inconclusive():
    """Three runs of gzip and three others, one of which was disturbed."""
    with Folder() as folder:
        base = runs(folder, "base", gzip=(1000, 1020, 1015))
        new = runs(folder, "new", gzip=(1010, 1195, 1205))
        document = compared(3, "--gate", "2", base, new)
        row = document["rows"][0]
        equal((document["verdict"], row["verdict"], row["runsNeeded"]),
              ("inconclusive", "inconclusive", 10))
        equal(document["reason"], ":gzip differs by +17.7 %, which may be chance: it ran 3 and 3 "
                                  "times, 10 on each side would decide")
        text = report("diff", base, new)[1].splitlines()
        equal(("Runs Needed" in text[2], text[-1].split()[-3:]), (True, ["10", "start/end", ":gzip"]))


def test_a_diff_without_ranges_is_inconclusive():
    with Folder() as folder:
        status, text, errors = report("diff", "--gate", "2", "--kind", "mark", f1(folder),
                                      f1(folder, "new.sqlite"))
        equal((status, errors, text.splitlines()[0]), (3, "", "inconclusive: BASE has no ranges"))


def test_names_that_differ_are_told():
    with Folder() as folder:
        base = runs(folder, "base", one=(100,), two=(90,), three=(80,), four=(70,))
        document = compared(3, base, runs(folder, "new", other=(100,)))
        equal(document["reason"],
              "the names that both have are 0.0 % of the time of BASE: less than 50 %; only BASE "
              "has :one, :two and 2 more; only NEW has :other")


if __name__ == "__main__":
    run(globals())
