# SPDX-License-Identifier: Apache-2.0
"""The JSON of every command of nvtxt-report fits its schema, and is the same on a second run.
Texts that are hostile: test_report_hostile.py."""
import copy
import re

from client import Folder
from lib import SANITIZERS, equal, run
from report import F1, f1, make_store, report
from schema import INSTALLED, Schema, parse

SCHEMA = Schema(INSTALLED)
COMMANDS = ["report", "summary", "events", "stats", "logs", "metrics", "source", "check", "diff", "list"]
LISTS = ("sections", "sets", "rules", "metrics", "reports")


def commands():
    status, said, _ = report("--help")
    equal(status, 0)
    table = said.split("Commands", 1)[1].split("\n\n")[0]
    found = [name for name in re.findall(r"^  ([a-z]+) ", table, re.M)
             if name not in ("html", "serve")]
    equal(set(COMMANDS) - set(found), set(), "commands that --help lacks")
    return found


def command_lines(store, other):
    """Each command with stores, and the options that give more."""
    names = commands()
    lines = [[name, store] for name in names if name not in ("list", "diff")]
    lines += [[name, store, other, "--iterations", "step"] for name in names
              if name not in ("list", "diff")]
    reports = [item["name"] for item in parse(report("list", "reports", "--format", "json")[1])["items"]]
    return lines + [
        ["diff", store, other], ["diff", store, store],
        *(["list", what] for what in LISTS),
        ["report", "--set", "full", store], ["--scope", "thread", "--set", "full", store],
        ["--scope", "name", store], ["--scope", "iteration", "--iterations", "step", store],
        *(["stats", "-r", name, store] for name in reports),
        ["stats", "-r", ",".join(reports), "--percentiles", "50,99.9", "--timeunit", "sec", store, other],
        ["metrics", "--metrics", "regex:.", store], ["metrics", "--scope", "process", store],
        ["metrics", "--define", "x=event__count.sum / 0.", "--metrics", "x,no_such", store]]


def lines_of_fixture(store):
    return [["source", store, "--resolve-source-file", F1, "--all-lines"],
            ["source", "--set", "full", store, "--resolve-source-file", F1],
            ["metrics", "--metrics", "regex:_per_line", store, "--resolve-source-file", F1],
            ["source", store]]


def check(line):
    status, said, err = report(*line, "--format", "json")
    assert status < 4, "%r ends with %d: %s" % (line, status, err)
    faults = SCHEMA.faults(parse(said))
    assert not faults, "%r:\n  %s" % (line, "\n  ".join(faults[:10]))
    if not SANITIZERS:  # which learn nothing from a second run
        again = report(*line, "--format", "json")
        assert again[:2] == (status, said), "%r: a second run gives other bytes" % line


def test_every_command_fits_on_the_fixture():
    with Folder() as folder:
        store = f1(folder)
        for line in command_lines(store, f1(folder, "other.sqlite")) + lines_of_fixture(store):
            check(line)


def test_every_command_fits_without_any_event():
    with Folder() as folder:
        store = make_store(folder, "empty.sqlite", folder.write("empty.nvtxt", "# nothing\n"))
        for line in command_lines(store, store):
            check(line)


def test_lines_of_events_are_the_events_of_the_object():
    with Folder() as folder:
        store = f1(folder)
        whole = parse(report("events", "--format", "json", store)[1])
        lines = report("events", "--format", "jsonl", store)[1].splitlines(True)
        equal([parse(line) for line in lines], whole["events"])
        equal(len(lines), 15)


def test_the_validator_finds_faults():
    with Folder() as folder:
        good = parse(report("stats", "--format", "json", f1(folder))[1])
    equal(SCHEMA.faults(good), [])
    for change, wanted in (
            (lambda o: o["tables"][0].pop("notes"), "no member 'notes'"),
            (lambda o: o["tables"][0]["columns"].append(7), "7 is no string"),
            (lambda o: o.update(more=1), "the schema has no member 'more'"),
            (lambda o: o.update(schema="nvtxt-report/2"), "is not 'nvtxt-report/1'"),
            (lambda o: o.update(tables=o.pop("tables"), command=o.pop("command")), "in the order")):
        bad = copy.deepcopy(good)
        change(bad)
        faults = SCHEMA.faults(bad)
        assert any(wanted in fault for fault in faults), (wanted, faults)


if __name__ == "__main__":
    run(globals())
