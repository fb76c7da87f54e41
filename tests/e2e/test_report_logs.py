# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report over logs: levels that select, patterns of lines, the lines of a pattern."""
import json
import os
import random
import subprocess
import sys
from collections import Counter

from client import contains, run_client
from lib import SANITIZERS, Daemon, Skip, equal, program, run
from report import FIXTURES, report
from schema import INSTALLED, Schema

sys.path.insert(0, FIXTURES)
import slow_patterns  # noqa: E402

SCHEMA = Schema(INSTALLED)
HEADER = "TimeBase = Manual\n@Marker, Time, Message, Payload\n@RangePush, Time, Message, Payload\n" \
         "@RangePop, Time\n"


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def send_lines(daemon, lines, **hello):
    """Sends (time, level or '', message) as a log in a session with levels."""
    text = HEADER + "".join("Marker, %d, %s, %s\n" % (time, quoted(message), level if level != "" else "''")
                            for time, level, message in lines)
    with daemon.session(**{"levels": True, "escapes": True, **hello}) as session:
        session.send(text)
        session.end()


def messages(store, *args):
    status, out, err = report("events", "--format", "jsonl", *args, store)
    equal(status, 0, err)
    return [json.loads(line)["message"] for line in out.splitlines()]


# ---- --level --------------------------------------------------------------------------------------

LOG = [(10, 3, "a"), (20, "", "b"), (30, 2, "c"), (40, 4, "d"), (50, 6, "e"), (60, 7, "f")]


def test_a_level_selects_lines_of_that_level_and_worse():
    with Daemon() as daemon:
        send_lines(daemon, LOG)
        daemon.send(HEADER + "Marker, 15, 'no level', 1\nRangePush, 25, 'range', 3\nRangePop, 35\n")
        daemon.flush()
        store = daemon.store
        for level, wanted in (("err", "ac"), ("Error", "ac"), ("3", "ac"), ("crit", "c"), ("0", ""),
                              ("debug", "acdef"), ("warning..info", "de"), ("6..4", "de"), ("7..7", "f")):
            equal("".join(messages(store, "--level", level)), wanted, level)
        equal(messages(store, "--level", "err", "--match", "c"), ["c"])
        status, out, err = report("summary", "--format", "json", "--level", "err", store)
        equal((status, json.loads(out)["stores"][0]["events"]), (0, 2), err)
        for command in "report", "stats", "metrics", "check", "html", "source":
            status, _, err = report(command, "--level", "err", "-o", "/dev/null", store)
            equal(status in (0, 2), True, (command, status, err))


def test_a_level_that_is_none_is_told_with_those_that_are():
    with Daemon() as daemon:
        send_lines(daemon, LOG[:1])
        for level in "bad", "8", "", "err..", "..", "err..bad":
            status, _, err = report("events", "--level", level, daemon.store)
            equal(status, 64, err)
            contains(err, "emerg, alert, crit, err, warning, notice, info and debug")
        status, out, err = report("events", "--level", "crit", "--format", "csv", daemon.store)
        equal((status, len(out.splitlines())), (0, 1), err)
        contains(err, "--level selects nothing: no line of a log has such a level")


# ---- Patterns -------------------------------------------------------------------------------------

def logs(store, *args):
    status, out, err = report("logs", "--format", "json", *args, store)
    equal((status, err), (0, ""))
    equal(SCHEMA.faults(json.loads(out)), [])
    return json.loads(out)


def random_lines(chance, count):
    pieces = slow_patterns.PIECES
    lines = []
    for number in range(count):
        kind = chance.randrange(4)
        if kind == 0:
            text = "request %d took %.3f ms from 10.0.0.%d" % (number, chance.random(), chance.randrange(256))
        elif kind == 1:
            text = " ".join(chance.choice(pieces) for _ in range(chance.randrange(1, 8)))
        elif kind == 2:
            text = "".join(chance.choice("0123456789abcdefxTZ:.-,/ \"'`‘’“”\\{}=+_#") for _ in
                           range(chance.randrange(1, 50)))
        else:
            text = "x" * chance.choice((990, 998, 999, 1000, 1001)) + "ü " + chance.choice(pieces)
        lines.append((number * chance.choice((1, 1000)), chance.choice(("", 3, 4, 6, 9)), text))
    return lines


def test_patterns_are_those_of_a_slow_second_computation():
    chance = random.Random(29)
    lines = random_lines(chance, 4000)
    with Daemon() as daemon:
        send_lines(daemon, lines)
        sent = [(one["start"], one.get("level"), one["message"]) for one in
                json.loads(report("events", "--format", "json", daemon.store)[1])["events"]]
        equal(len(sent), len(lines))
        for level, args in ((8, ()), (3, ("--level", "err")), (8, ("--nvtx-include", "*/"))):
            names = "emerg alert crit err warning notice info debug".split()
            wanted = {}
            for start, name, message in sent:
                if level == 8 or (name and names.index(name) <= level):
                    wanted.setdefault(slow_patterns.pattern_of(message)[0], []).append((start, name or "none"))
            got = logs(daemon.store, *args)
            equal({one["pattern"]: (one["count"], one["levels"], one["firstNs"], one["lastNs"], sum(one["counts"]))
                   for one in got["patterns"]},
                  {text: (len(rows), dict(Counter(name for _, name in rows)), min(rows)[0], max(rows)[0], len(rows))
                   for text, rows in wanted.items()}, args)
            equal((got["lines"], got["others"]), (sum(map(len, wanted.values())), 0))
            counts = [one["count"] for one in got["patterns"]]
            equal(counts, sorted(counts, reverse=True))


def test_counts_over_time_lie_where_the_lines_do():
    second = 10 ** 9
    with Daemon() as daemon:
        send_lines(daemon, [(second * at, 6, "tick %d" % at) for at in (0, 1, 1, 7, 59)])
        got = logs(daemon.store)
        equal((got["beginNs"], got["stepNs"]), (0, second))
        equal({at: count for at, count in enumerate(got["patterns"][0]["counts"]) if count}, {0: 1, 1: 2, 7: 1, 59: 1})
        send_lines(daemon, [(-second, 6, "tick"), (3600 * second, 6, "tick 9")])
        got = logs(daemon.store)
        equal((got["beginNs"], got["stepNs"]), (-120 * second, 120 * second))
        equal([[at for at, count in enumerate(one["counts"]) if count] for one in got["patterns"]], [[1, 31], [0]])


def test_sources_of_one_name_are_named_once():
    with Daemon() as daemon:
        for number, name in enumerate(("mac", "other", "mac", "", "mac")):
            send_lines(daemon, [(number, 6, "job %d" % number)], name=name)
        rows = report("logs", "--csv", daemon.store)[1].splitlines()
        contains(rows[1], ',"mac (3), other, ')
        equal(rows[1].count("mac"), 1, rows)


def test_a_step_over_time_is_told_in_a_unit_that_fits():
    for last, told in ((10 ** 3, "1 us"), (10 ** 8, "2 ms"), (10 ** 11, "2 s"), (3600 * 10 ** 9, "2 min"),
                       (35 * 3600 * 10 ** 9, "1 h"), (40 * 86400 * 10 ** 9, "1 d")):
        with Daemon() as daemon:
            send_lines(daemon, [(0, 6, "a"), (last, 6, "b")])
            contains(report("logs", "--csv", daemon.store)[2], "a step of Over Time is %s\n" % told)


def test_tables_have_the_patterns_their_levels_and_sources():
    with Daemon() as daemon:
        send_lines(daemon, [(1000, 6, "job 1 done"), (2000, 3, "job 2 done"), (3000, "", "started")], name="first")
        send_lines(daemon, [(4000, 6, "job 3 done")], name="second")
        status, out, err = report("logs", "--csv", daemon.store)
        equal((status, out.splitlines()),
              (0, ["Count,Level,Levels,First (ns),Last (ns),Over Time,Sources,Pattern",
                   '3,err,"err 1, info 2",1000,4000,1 1 0 1,"first, second",job # done',
                   "1,,,3000,3000,0 0 1 0,first,started"]))
        contains(err, "note: logs: a step of Over Time is 1 us")
        status, out, _ = report("logs", daemon.store)
        contains(out, "██·█")
        contains(out, "err 1, info 2")
        equal("info 1" in report("logs", "--source", "second", daemon.store)[1], False)
        equal(status, 0)
        contains(report("logs", "--format", "markdown", daemon.store)[1], "| first, second | job # done |")
        equal(logs(daemon.store, "--source", "second")["lines"], 1)
        equal(logs(daemon.store, "--match", "start")["patterns"][0]["pattern"], "started")
        status, _, err = report("logs", "--source", "third", daemon.store)
        equal(status, 64, err)
        contains(err, "there is no such source")


def test_a_store_without_logs_is_told():
    with Daemon() as daemon:
        daemon.send(HEADER + "Marker, 15, 'no level', 1\n")
        daemon.flush()
        status, out, err = report("logs", "--format", "json", daemon.store)
        equal((status, json.loads(out)["patterns"]), (0, []))
        contains(err, "there are no logs: no source has levels")
        equal(report("logs", "--expect-some", daemon.store)[0], 1)
        send_lines(daemon, LOG[:1])
        status, _, err = report("logs", "--level", "crit", daemon.store)
        equal(status, 0)
        contains(err, "note: no line of a log is selected")


def test_a_log_of_ever_new_patterns_is_bounded():
    count = 60000
    with Daemon() as daemon:
        lines = [(at, 6, "".join(chr(ord("g") + at // 10 ** digit % 10) for digit in range(5)))
                 for at in range(count)]
        for at in range(0, count, 100):
            lines[at] = (at, 3, "often %d" % at)
        send_lines(daemon, lines)
        got = logs(daemon.store)
        equal((got["lines"], len(got["patterns"])), (count, 10000))
        equal((got["patterns"][0]["pattern"], got["patterns"][0]["count"]), ("often #", count // 100))
        equal(got["others"] + sum(one["count"] for one in got["patterns"]), count)
        equal({one["count"] for one in got["patterns"][1:]}, {1}, "none has the lines of the one whose place it took")
        equal(max(one["missed"] for one in got["patterns"]) > 0, True, "what it may have had before is told")
        last = report("logs", "--csv", daemon.store)[1].splitlines()[-1]
        equal(last, "%d,,,,,,,others" % got["others"])


def test_memory_does_not_grow_with_the_log():
    if SANITIZERS or os.environ.get("NVTXT_TEST_WRAPPER"):
        raise Skip("a sanitizer's memory is not the program's")
    with Daemon() as daemon:
        # Texts fill a part after some lines; where they are the same, their number does.
        send_lines(daemon, [(at, 6, "request %d took %d ms" % (at, at * 7)) for at in range(150000)])
        send_lines(daemon, [(at, 6, "nothing to do") for at in range(300000)])

        def in_little_memory(*args):
            return subprocess.run(["sh", "-c", 'ulimit -v 32000; exec "$@"', "sh", program("client", "nvtxt-report"),
                                   "logs", "--csv", *args, daemon.store], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)

        equal(in_little_memory().returncode, 0)
        equal(in_little_memory("--nvtx-include", "*/").returncode, 71, "all events loaded need more")


def test_lines_of_any_bytes_have_patterns():
    with Daemon() as daemon:
        lines = b"ERROR a\0b 5\nERROR a\0b 6\n\xff\xfe 7\n" + b"WARN " + b"x" * 60000 + b" 1\n\n\n"
        equal(run_client("nvtxt-send", "--socket", daemon.socket, "--text",
                         stdin=lines)[0], 0)
        patterns = {one["pattern"]: one["count"] for one in logs(daemon.store)["patterns"]}
        equal(patterns["ERROR a\\x#b #"], 2)
        equal(len([text for text in patterns if text.startswith("WARN xxx") and text.endswith("…")]), 1)


# ---- ErrorBurst -----------------------------------------------------------------------------------

HOUR = 3600 * 10 ** 9


def spread(count, since, until, level, text):
    return [(since + (until - since) * at // count, level, text % at) for at in range(count)]


def burst(store, *args):
    """The result of the rule: its status, and of its message the type and the rows of the table."""
    status, out, err = report("check", "--rule", "ErrorBurst", "--format", "json", *args, store)
    one, = json.loads(out)["rules"]
    if not one["messages"]:
        return one["status"], one["reason"], status
    rows = [row[:1] + row[2:] for row in one["tables"][0]["rows"]]
    return one["messages"][0]["type"], rows, status


def test_a_burst_of_errors_is_found_in_a_span():
    window = ("--since", "@%d" % (9 * 3600), "--until", "@%d" % (10 * 3600))
    quiet = spread(90, 0, 9 * HOUR, 3, "job %d failed") + spread(900, 0, 9 * HOUR, 6, "job %d done")
    with Daemon() as daemon:
        send_lines(daemon, quiet + spread(49, 9 * HOUR + 1, 10 * HOUR, 3, "job %d failed"))
        equal(burst(daemon.store, *window), ("no-issue", None, 0), "4.9 times as often")
        equal(burst(daemon.store), ("no-issue", None, 0), "the same without a span")
        send_lines(daemon, [(9 * HOUR + 1, 3, "job 49 failed")])
        wanted = "warning", [["5 times", 50, 90, "job # failed"]], 2
        equal(burst(daemon.store, *window), wanted)
        equal(burst(daemon.store, *window, "--match", "done"), ("no-issue", None, 0))
        equal(burst(daemon.store, *window, "--nvtx-include", "*/")[0], "not-applicable",
              "what is before is not read there")
        send_lines(daemon, [(9 * HOUR + 7, 3, "lost peer 10.0.0.1"), (9 * HOUR + 8, 4, "a warning")])
        wanted = "warning", [["5 times", 50, 90, "job # failed"], ["new", 1, 0, "lost peer #"]], 2
        equal(burst(daemon.store, *window), wanted)
        send_lines(daemon, [(9 * HOUR + 9, 2, "disk sda1 is gone")])
        equal(burst(daemon.store, *window)[0], "error")
        equal(burst(daemon.store, "--since", "@3600", "--until", "@%d" % (9 * 3600))[:2],
              ("not-applicable", "lines are known of a shorter time before the span than the span is"))
        equal(burst(daemon.store, "--source", "1", "--since", "@0", "--until", "@%d" % (9 * 3600))[:2],
              ("not-applicable", "lines are known of a shorter time before the span than the span is"))


def test_without_a_span_the_last_tenth_of_the_time_is_it():
    with Daemon() as daemon:
        send_lines(daemon, spread(90, 0, 90000, 3, "job %d failed") + [(90000, 3, "job 1 failed"), (100000, 6, "end")])
        equal(burst(daemon.store)[0], "no-issue")
        send_lines(daemon, spread(60, 90000, 100000, 3, "job %d failed") + [(95000, 3, "new")])
        equal(burst(daemon.store)[1], [["6.1 times", 61, 90, "job # failed"], ["new", 1, 0, "new"]])
        status, out, _ = report("report", "--rule", "ErrorBurst", daemon.store)
        equal(status, 0)
        contains(" ".join(out.split()), "that are new: 1,")
        contains(" ".join(out.split()), "The most frequent one: 'job # failed'.")


def test_few_lines_are_no_burst():
    with Daemon() as daemon:  # twice in the span, once before: 18 times as often, by chance in 2.8 %
        send_lines(daemon, [(0, 6, "begin"), (50000, 3, "job 1 failed"), (91000, 3, "job 2 failed"),
                            (92000, 3, "job 3 failed"), (100000, 6, "end")])
        equal(burst(daemon.store)[0], "no-issue")


# ---- The lines of a pattern -----------------------------------------------------------------------

def test_a_pattern_has_its_lines_and_their_values():
    with Daemon() as daemon:
        lines = [(at, 6, "request %d took %.1f ms from %s" % (at, at * 2.5, "10.0.0.%d" % at)) for at in range(1, 12)]
        send_lines(daemon, lines + [(100, 3, "request lost")])
        pattern = "request # took # ms from #"
        equal(logs(daemon.store)["patterns"][0]["pattern"], pattern)
        got = logs(daemon.store, "--pattern", pattern)
        equal(got["pattern"], pattern)
        equal(got["places"], [{"numbers": 11, "min": 1.0, "median": 6.0, "p90": 10.0, "max": 11.0},
                              {"numbers": 11, "min": 2.5, "median": 15.0, "p90": 25.0, "max": 27.5},
                              {"numbers": 0}])
        equal([(one["start"], one["level"], one["values"]) for one in got["matches"]],
              [(at, "info", [float(at), at * 2.5, "10.0.0.%d" % at]) for at in range(1, 12)])
        equal(logs(daemon.store, "--pattern", lines[3][2]), got, "a line of it says the same")
        send_lines(daemon, [(7, 6, "step %d" % at) for at in (3, 1, 2)])
        equal([one["values"] for one in logs(daemon.store, "--pattern", "step #")["matches"]], [[3.0], [1.0], [2.0]],
              "lines of one time stand as they came")
        table = report("logs", "--csv", "--pattern", pattern, daemon.store)[1].splitlines()
        equal(table[:6], ["Place,Numbers,Min,Med,P90,Max", "#1,11,1,6,10,11", "#2,11,2.5,15,25,27.5", "#3,0,,,,", "",
                          "Start (ns),Level,#1,#2,#3,Source"])
        equal(table[6].split(",")[:5], ["1", "info", "1", "2.5", "10.0.0.1"])
        equal(len(logs(daemon.store, "--pattern", pattern, "--match", "request 1")["matches"]), 3)
        status, out, err = report("logs", "--pattern", "nothing #", daemon.store)
        equal(status, 0, out)
        contains(err, "note: --pattern 'nothing #' matches no selected line; 'nvtxt-report logs' lists the patterns")
        equal(report("logs", "--expect-some", "--pattern", "nothing #", daemon.store)[0], 1)


if __name__ == "__main__":
    run(globals())
