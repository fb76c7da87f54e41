# SPDX-License-Identifier: Apache-2.0
"""What nvtxt-report shows on a terminal: pictures of it, no line wider than it, and pipes as ever.

NVTXT_TEST_WRITE=1 writes the pictures of tests/golden/terminal again; look at them then."""
import csv
import json
import os
import random
import re
import shlex
import sqlite3
import unicodedata

from client import Folder
from lib import equal, run
from report import F1, f1, make_store, on_terminal, report
from report_random import captures, make_export

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "terminal")
SECOND = 10 ** 9
BEGIN = 1795428000 * SECOND  # 2026-11-23 10:00:00 UTC
SCRIPT = "set -e;\n\tfor file in a b c; do\n\t\tcc -O2 -c $file.c -o $file.o;\n\tdone"
NAMES = ["gcc lib/quotearg.c", "ld tool", "\u65e5\u672c\u8a9e\u306e\u540d\u524d", "tiny",
         "config.status: executing depfiles commands, whose name is long"]
REPORTS = "nvtx_sum,nvtx_mark_sum,nvtx_pushpop_trace,nvtx_thread_sum,nvtx_gap_sum,nvtx_concurrency"
SECTIONS = "RangeSummary,Markers,RangeDistribution,RangeTree,ThreadActivity"


def build(folder, name="build", slower=1, step=SECOND // 100, script=SCRIPT):
    """Steps of a build on three threads, and marks; one name is a whole script."""
    lines = ["@RangeStartEnd, Start, End, ThreadId, ProcessId, Message",
             "@RangePush, Time, ThreadId, ProcessId, Message", "@RangePop, Time, ThreadId, ProcessId",
             "@Marker, Time, ThreadId, ProcessId, Message"]
    names = NAMES + ["step %d" % i for i in range(25)]
    for i in range(120):
        start, length = BEGIN + i * step, slower * (7 ** (i % 9) * 100 + i * 1000)
        lines.append('RangeStartEnd, %d, %d, %d, 10, "%s"' % (start, start + length, 11 + i % 3,
                                                              names[i * 7 % len(names)]))
        if i % 5 == 0:
            lines.append('Marker, %d, 11, 10, "line %d of a log"' % (start + 5, i % 4))
        if i % 10 == 0:
            lines.append('RangePush, %d, 14, 10, "phase"' % start)
            lines.append('RangePush, %d, 14, 10, "part %d"' % (start + step, i % 3))
            lines.append("RangePop, %d, 14, 10" % (start + 5 * step))
            lines.append("RangePop, %d, 14, 10" % (start + 8 * step))
    store = make_store(folder, name + ".sqlite", folder.write(name + ".nvtxt", "\n".join(lines) + "\n"))
    db = sqlite3.connect(store)
    with db:
        db.execute("UPDATE NVTX_EVENTS SET text = ? WHERE text = 'tiny'", (script,))
        db.execute("UPDATE NVTXT_SOURCES SET name = ?, openedNs = ?, closedNs = ?",
                   (name + ".nvtxt", BEGIN, BEGIN + 90 * 60 * SECOND))
    db.close()
    return name + ".sqlite"


def width_of(line):
    """Columns on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


PICTURES = {
    "stats": ["stats", "-r", REPORTS, "build.sqlite"],
    "events": ["events", "build.sqlite"],
    "metrics": ["metrics", "--metrics", "regex:^range__(time|count)", "build.sqlite"],
    "summary": ["summary", "build.sqlite"],
    "check": ["check", "--rule", "IdleGaps,MixedKinds,TinyRanges,WarmUp", "--print-rule-details",
              "build.sqlite"],
    "diff": ["diff", "build.sqlite", "slow.sqlite"],
    "source": ["source", "--resolve-source-file", "lines.nvtxt", "lines.sqlite"],
    "report": ["report", "--section", SECTIONS, "--apply-rules", "no", "build.sqlite"],
    "list": ["list", "sections", "--section", SECTIONS],
    "alone": ["build.sqlite"],
    "utc": ["events", "--utc", "--limit", "3", "build.sqlite"],
}


def compare(name, text):
    text = text.split("\nRules without a section")[0]  # a new rule changes no picture
    path = os.path.join(GOLDEN, name)
    if os.environ.get("NVTXT_TEST_WRITE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    with open(path, encoding="utf-8") as file:
        equal(text, file.read(), name)


def test_pictures_at_three_widths():
    with Folder() as folder:
        build(folder)
        build(folder, "slow", slower=2)
        build(folder, "lines", script="tiny")
        for name, args in PICTURES.items():
            for columns in (60, 80, 120):
                text = on_terminal(columns, *args, cwd=folder.path, status=None)
                too_wide = [line for line in text.splitlines() if width_of(line) > columns]
                equal(too_wide, [], name)
                compare("%s.%d.txt" % (name, columns), text)


COMMANDS = [[], ["stats", "-r", REPORTS + ",nvtx_tree"], ["events"], ["summary"], ["check"],
            ["report", "--set", "full"], ["metrics"], ["report", "--scope", "thread"]]


def check_widths(store, chance):
    for args in COMMANDS:
        for columns in (20, chance.randrange(8, 160)):
            limit = ["--limit", str(chance.choice((0, 3)))] if args != ["check"] else []
            text = on_terminal(columns, *args, *limit, store, status=None)
            too_wide = [line for line in text.splitlines() if width_of(line) > columns]
            equal(too_wide, [], (columns, args))


def test_no_line_is_wider_than_the_terminal():
    for chance, path, _ in captures(1):
        check_widths(path, chance)
    strange = ["\u4e2d" * 70, "e\u0301" * 90, "\U0001f642 smile " * 9, "a\tb\nc" * 30, "x" * 300,
               "\x1b[31m" * 20, " lead", "\u202e" * 80, "\x01\x02\x03" * 30]
    chance = random.Random(7)
    with Folder() as folder:
        path = folder.name("strange.sqlite")
        make_export(path, chance, 60, "ids")
        db = sqlite3.connect(path)
        with db:
            for number in range(7, 16):
                db.execute("UPDATE StringIds SET value = ? WHERE id = ?", (strange[number - 7], number))
        db.close()
        check_widths(path, chance)


PIPES = [["stats", "-r", REPORTS + ",nvtx_tree,nvtx_folded"], ["events"], ["metrics"], ["summary"],
         ["stats", "--timeunit", "msec"], ["report", "--section", SECTIONS], ["check"], ["list", "sets"]]


def test_a_pipe_gets_what_it_always_got():
    """A terminal's settings change nothing; and the bytes are those of version 0.1.0."""
    settings = {"TERM": "xterm-256color", "COLUMNS": "33", "TZ": "CET-1"}
    with Folder() as folder:
        build(folder)
        for args in PIPES:
            store = [] if args[0] == "list" else ["build.sqlite"]
            plain = report(*args, *store, cwd=folder.path)
            equal(plain[0], 0, plain)
            equal(report(*args, "--format", "text", *store, cwd=folder.path), plain)
            equal(report(*args, "--utc", *store, cwd=folder.path, env=settings), plain)
            assert "\u2026 (" not in plain[1] and "\x1b" not in plain[1], plain[1]
        for name, args in (("stats", ["stats", "-r", REPORTS]), ("events", ["events"]),
                           ("metrics", PICTURES["metrics"][:-1]),
                           ("report", PICTURES["report"][:-1])):
            compare("pipe.%s.txt" % name, report(*args, "build.sqlite", cwd=folder.path)[1])


def test_other_formats_are_the_same_on_a_terminal():
    with Folder() as folder:
        store = f1(folder)
        for form in ("csv", "tsv", "json", "jsonl", "markdown"):
            for command in ("stats", "events", "metrics", "summary"):
                status, text, _ = report(command, "--format", form, store)
                if status == 0:
                    equal(on_terminal(40, command, "--format", form, store, env={"TERM": "xterm"}),
                          text, (command, form))


def test_without_a_command_a_screen_says_what_to_ask_next():
    """What it is, what took longest, what is wrong; and the commands that it names run."""
    bad = "@RangeStartEnd, Start, End, Message\nRangeStartEnd, 0, 7, \"a\"\nNothing, 1\n"
    with Folder() as folder:
        build(folder)
        make_store(folder, "it's.sqlite", folder.write("bad.nvtxt", bad), status=1)
        for store in ("build.sqlite", "it's.sqlite"):
            text = on_terminal(80, store, cwd=folder.path)
            lines = text.splitlines()
            equal(len(lines) <= 25, True, text)
            equal([line for line in lines if line.startswith("What ")],
                  ["What took longest", "What is wrong", "What to ask next"])
            next_ones = [line.split("  ")[1] for line in lines if line.startswith("  nvtxt-report ")]
            equal(len(next_ones), 4, text)
            for command in next_ones:
                words = shlex.split(command)
                equal(words[-1], store)
                output = ["-o", "page.html"] if words[1] == "html" else []
                status, _, errors = report(*words[1:], *output, cwd=folder.path)
                equal((status, errors), (0, ""), command)
        assert "\n  nothing that a rule knows\n" not in text and "error" in text, text
        marks = folder.write("m.nvtxt", "@Marker, Time, Message\nMarker, 5, \"tick\"\n")
        text = on_terminal(80, make_store(folder, "m.sqlite", marks))
        assert "What came most often" in text and "nvtxt-report stats" not in text, text
        text = on_terminal(80, cwd=folder.path, env={"NVTXT_STORE": folder.name("build.sqlite")})
        assert "What took longest" in text and "\n  nvtxt-report stats  " in text, text
        equal(text.count(folder.name("build.sqlite")), 1, "the store is named once")


def test_iterations_that_were_asked_for_are_on_the_screen():
    with Folder() as folder:
        text = on_terminal(80, "--iterations", "phase", build(folder), cwd=folder.path)
        assert "Section: Iterations (IterationStats)" in text, text


def test_the_screen_without_a_command_has_25_lines():
    lines = "".join('RangeStartEnd, %d, %d, "%s"\n' % (n, n + 7 ** (n % 9), "abcdef"[n % 6]) for n in range(99))
    with Folder() as folder:
        stores = [make_store(folder, name + ".sqlite", folder.write(name, (
            "@RangeStartEnd, Start, End, Message\n@RangePush, Time, Message\n@RangePop, Time\n"
            "%sNothing, 1\nRangePush, 1, a\nRangePop, 2\nRangePush, 5000000, b\nRangePop, 5000001\n"
            "RangePush, 5000002, open\n" % lines)), status=1) for name in "pqr"]
        for columns in (60, 80, 120):
            for some in (stores[:1], stores[:2], stores):
                env = {"NVTXT_STORE": stores[0]}
                text = on_terminal(columns, *([] if len(some) == 1 else some), env=env)
                equal(len(text.splitlines()) <= 25, True, text)
                for part in ("What took longest\n", "  error: ", " more (nvtxt-report check)\n", "  nvtxt-report "):
                    assert part in text, text


def test_the_sections_stay_with_report_in_pipes_and_with_their_options():
    with Folder() as folder:
        build(folder)
        shown = report("report", "build.sqlite", cwd=folder.path)
        equal(report("build.sqlite", cwd=folder.path), shown)
        equal(on_terminal(80, "build.sqlite", "--format", "text", cwd=folder.path), shown[1])
        for args in (["report"], ["--section", "Markers"], ["--scope", "thread"]):
            text = on_terminal(80, *args, "build.sqlite", cwd=folder.path)
            assert "Section: Marks (Markers)" in text, text


def test_colours_are_for_terminals_that_want_them():
    with Folder() as folder:
        build(folder)
        for args in (["stats", "build.sqlite"], ["summary", "--limit", "1", "build.sqlite"]):
            plain = on_terminal(80, *args, cwd=folder.path)
            assert "\x1b" not in plain
            coloured = on_terminal(80, *args, cwd=folder.path, env={"TERM": "xterm"})
            assert "\x1b[1m" in coloured, coloured
            equal(re.sub("\x1b\\[[0-9]+m", "", coloured), plain)
            equal(on_terminal(80, *args, cwd=folder.path, env={"TERM": "xterm", "NO_COLOR": "1"}), plain)
            for line in coloured.splitlines():
                styles = re.findall("\x1b\\[([0-9]+)m", line)
                equal(styles[-1:] in ([], ["0"]), True, line)


def test_columns_of_the_environment_are_taken():
    with Folder() as folder:
        build(folder)
        args = ["stats", "build.sqlite"]
        equal(on_terminal(120, *args, cwd=folder.path, env={"COLUMNS": "60"}),
              on_terminal(60, *args, cwd=folder.path))
        for wrong in ("0", "wide", "-3", "100x"):
            equal(on_terminal(60, *args, cwd=folder.path, env={"COLUMNS": wrong}),
                  on_terminal(60, *args, cwd=folder.path))


def test_rows_have_a_limit():
    with Folder() as folder:
        build(folder)
        text = on_terminal(100, "events", "build.sqlite", cwd=folder.path)
        equal(len(text.splitlines()), 2 + 20 + 1)
        equal(text.splitlines()[-1], "\u2026 148 more (--limit 0)")
        text = on_terminal(100, "events", "--limit", "0", "build.sqlite", cwd=folder.path)
        equal((len(text.splitlines()), "more" in text), (2 + 168, False))
        piped = report("events", "--limit", "3", "build.sqlite", cwd=folder.path)[1].splitlines()
        equal((len(piped), piped[-1]), (2 + 3 + 1, "\u2026 165 more (--limit 0)"))
        rows = report("stats", "--csv", "--limit", "3", "build.sqlite", cwd=folder.path)[1]
        equal(len(list(csv.reader(rows.splitlines()))), 1 + 3)
        table = json.loads(report("stats", "--format", "json", "--limit", "3", "build.sqlite",
                                  cwd=folder.path)[1])["tables"][0]
        equal((len(table["rows"]), table["more"]), (3, 31))
        for form, count in (("jsonl", 3), ("csv", 4)):
            text = report("events", "--limit", "3", "--format", form, "build.sqlite", cwd=folder.path)[1]
            equal(len(text.splitlines()), count)
        equal(report("stats", "--limit", "-1", "build.sqlite", cwd=folder.path)[0], 64)


def test_a_summary_of_many_sources_has_a_limit():
    with Folder() as folder:
        files = [folder.write("s%02d.nvtxt" % n, "Nonsense\n@Marker, Time, Message\nMarker, %d, m\n" % n)
                 for n in range(23)]
        store = make_store(folder, "many.sqlite", *files, status=1)
        db = sqlite3.connect(store)
        with db:
            db.execute("INSERT INTO NVTXT_LOSSES SELECT openedNs, id, 1, 1, 'full', 1 FROM NVTXT_SOURCES")
        db.close()
        for text, rows, more in ((on_terminal(80, "summary", store), 20, 3),
                                 (on_terminal(80, "summary", "--limit", "22", store), 22, 1),
                                 (report("summary", "--limit", "5", store)[1], 5, 18),
                                 (report("summary", store)[1], 23, 0)):
            text = " ".join(text.split())  # long lines are folded
            equal([text.count(part) for part in ("errors, see Session", "1 event lost at ", ": 1 error and ")],
                  [rows] * 3)
            equal(text.count("\u2026 %d more (--limit 0)" % more), 3 if more else 0)


def test_sources_that_are_not_selected_are_not_said_to_be_missing():
    with Folder() as folder:
        page = folder.name("page.html")
        args = ("--until", "1960-01-01", f1(folder))
        assert "no source of it is selected" in report("summary", *args)[1]
        equal(report("html", "-o", page, *args)[0], 0)
        with open(page, encoding="utf-8") as file:
            assert "no source of it is selected." in file.read()


def test_times_of_day_have_their_day_once():
    with Folder() as folder:
        build(folder, step=3 * 3600 * SECOND)
        text = on_terminal(100, "events", "--limit", "12", "build.sqlite", cwd=folder.path)
        equal(re.findall("^-- (.*) --$", text, re.M), ["2026-11-23", "2026-11-24"])
        assert "\n11:00:00.000 " in text and "\n14:00:00.000 " in text, text
        text = on_terminal(100, "events", "--limit", "12", "--utc", "build.sqlite", cwd=folder.path)
        equal(re.findall("^-- (.*) --$", text, re.M), ["2026-11-23 UTC", "2026-11-24 UTC"])
        assert "\n10:00:00.000 " in text, text
        text = on_terminal(100, "stats", "-r", "nvtx_mark_sum", "build.sqlite", cwd=folder.path)
        assert "2026-11-23 11:00:00" in on_terminal(160, "stats", "-r", "nvtx_mark_sum",
                                                    "build.sqlite", cwd=folder.path), text


def test_the_start_of_a_capture_is_a_time_of_day():
    with Folder() as folder:
        store, exact = build(folder), "2026-11-23T10:00:00.000000000Z"
        for args in (["report", "--section", "CaptureStats"], ["metrics", "--metrics", "capture__attribute_start_time"]):
            for more, wanted in (([], "2026-11-23 11:00:00.000"), (["--utc"], "2026-11-23 UTC 10:00:00.000"),
                                 (["--print-units", "base"], exact), (["--format", "text"], exact)):
                assert wanted in on_terminal(80, *args, *more, store, cwd=folder.path), (args, more)
            assert exact in report(*args, store, cwd=folder.path)[1]


def test_a_name_is_one_line_and_is_shortened_in_its_middle():
    with Folder() as folder:
        build(folder)
        whole = SCRIPT.replace(";\n\t\t", "; ").replace("\n\t\t", " ").replace("\n\t", " ")
        text = on_terminal(60, "stats", "--limit", "0", "build.sqlite", cwd=folder.path)
        assert re.search("  :set -e; .*\u2026.*; done$", text, re.M), text
        text = on_terminal(250, "stats", "--limit", "0", "build.sqlite", cwd=folder.path)
        assert ":" + whole in text, text
        text = on_terminal(40, "stats", "--limit", "0", "--full-names", "build.sqlite", cwd=folder.path)
        assert "whose name is long" in text and "no room" not in text and "\u2026" not in text, text


def test_units_that_were_asked_for():
    with Folder() as folder:
        store = f1(folder)
        text = on_terminal(160, "stats", "--timeunit", "usec", store)
        assert " us " in text.splitlines()[3], text
        assert re.search(r"^34\.3 .* 0\.2 .*:step$", text, re.M), text


def test_times_that_are_not_of_the_calendar():
    with Folder() as folder:
        text = on_terminal(80, "events", f1(folder))
        equal([line.split()[0] for line in text.splitlines()[:5]], ["Start", "ns", "0", "0", "5"])
        path = folder.write("s.nvtxt", "@Marker, Time, Message\nMarker, 5000000000, \"a\"\n"
                                       "Marker, 7250000000, \"b\"\n")
        text = on_terminal(80, "events", make_store(folder, "s.sqlite", path))
        equal([line.split()[0] for line in text.splitlines()], ["Start", "s", "5.000", "7.250"])


def test_the_fixture_of_the_manual_has_the_same_figures():
    with Folder() as folder:
        text = on_terminal(120, "stats", make_store(folder, "f.sqlite", F1))
        row = [line for line in text.splitlines() if line.endswith(":kernel")][0].split()
        equal(row[:1] + row[2:], ["12.9", "90", "3", "30.0", "20.0", "20", "50", "17.3", "PushPop",
                                  ":kernel"])


if __name__ == "__main__":
    run(globals())
