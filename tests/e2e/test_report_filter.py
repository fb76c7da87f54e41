# SPDX-License-Identifier: Apache-2.0
"""Selections of nvtxt-report from outside: what they count, what they say, and how it ends."""
import json
import os

from client import Folder, contains
from lib import equal, run
from report import f1, make_store, report

FILTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report", "filters")


def rows(name):
    with open(os.path.join(FILTERS, name), encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def count(store, *options):
    got = report("events", "--format", "json", *options, store)
    equal(got[0], 0, got[2])
    return len(json.loads(got[1])["events"])


def test_options_select_as_many_events_as_the_table_says():
    with Folder() as folder:
        store = f1(folder)
        for *options, wanted in rows("f1.tsv"):
            equal((options, count(store, *["--" + option for option in options])),
                  (options, int(wanted)))


def test_the_same_counts_from_two_stores_side_by_side():
    with Folder() as folder:
        one, two = f1(folder), f1(folder, "second.sqlite")
        for *options, wanted in rows("f1.tsv"):
            if any(option.startswith("within") for option in options):
                continue  # it looks at ranges of all stores
            got = report("events", "--format", "json", *["--" + o for o in options], one, two)
            equal((options, len(json.loads(got[1])["events"])), (options, 2 * int(wanted)))


def test_a_bad_expression_is_usage_with_a_caret_under_the_place():
    with Folder() as folder:
        store = f1(folder)
        got = report("stats", "--nvtx-include", "A/,B", store)
        equal(got[:2], (64, ""))
        equal(got[2].splitlines()[:3],
              ["nvtxt-report: --nvtx-include 'A/,B': ',' in a push/pop expression; write '\\,' if "
               "it belongs to the name", "  A/,B", "    ^"])
        for expression, column, sentence in rows("errors.tsv"):
            got = report("stats", "--nvtx-exclude", expression, store)
            lines = got[2].splitlines()
            equal(got[:2], (64, ""), expression)
            equal(lines[0], "nvtxt-report: --nvtx-exclude '%s': %s" % (expression, sentence))
            equal(lines[1:3], ["  " + expression, " " * (int(column) + 1) + "^"])


def test_what_is_selected_by_nobody_is_said():
    with Folder() as folder:
        store = f1(folder)
        note = ("nvtxt-report: note: --nvtx-include 'step' selects nothing: no start/end range "
                "'step' in the default domain, but 2 push/pop ranges of that name: did you mean "
                "'step/'?\n")
        got = report("stats", "--nvtx-include", "step", store)
        equal((got[0], got[2]), (0, note))
        got = report("stats", "--expect-some", "--nvtx-include", "step", store)
        equal(got[0], 1)
        contains(got[2], note)
        got = report("stats", "--expect-some", "--nvtx-include", "step/", store)
        equal((got[0], got[2]), (0, ""))


def test_a_source_that_is_not_there_is_usage():
    with Folder() as folder:
        store = f1(folder)
        got = report("stats", "--source", "nobody", store)
        equal(got[:2], (64, ""))
        contains(got[2], "--source 'nobody': there is no such source")
        equal(count(store, "--source", "1"), 15)


def test_an_expression_that_is_too_costly_is_refused():
    with Folder() as folder:
        path = folder.name("costly.nvtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("@RangeStartEnd, Start, End, Message\nRangeStartEnd, 1, 2, \"%s!\"\n"
                       % ("a" * 60))
        store = make_store(folder, "costly.sqlite", path)
        for option, text in (("--nvtx-include", "regex:(a+)+$"), ("--match", "(a+)+$")):
            got = report("stats", option, text, store)
            equal(got[:2], (64, ""))
            contains(got[2], "too costly")


def test_categories_colours_and_payloads():
    with Folder() as folder:
        path = folder.name("more.nvtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""SetCategoryName, 3, "requests"
@Marker, Time, CategoryId, Color, Message, Payload
Marker, 1, 3, Blue, "a", 5
Marker, 2, 4, "#80FF0000", "b", "-2.5"
Marker, 3, 3, 0xFF0000FF, "c", -1
""")
        store = make_store(folder, "more.sqlite", path)
        for options, wanted in ((("--category", "3"), 2), (("--category", "requests"), 2),
                                (("--category", "4", "--category", "requests"), 3),
                                (("--color", "blue"), 2), (("--color", "#0000FF"), 2),
                                (("--color", "#80FF0000"), 1), (("--color", "0x80FF0000"), 1),
                                (("--payload", "> 0"), 1), (("--payload", "< 0"), 2),
                                (("--payload", "<= -2.5"), 1), (("--payload", "!= 5"), 2)):
            equal((options, count(store, *options)), (options, wanted))
            csv = report("stats", "--csv", "-r", "nvtx_mark_sum", *options, store)[1]
            equal((options, len(csv.splitlines()) - 1), (options, wanted), csv)


if __name__ == "__main__":
    run(globals())
