# SPDX-License-Identifier: Apache-2.0
"""nvtxt-report over logs: levels that select, patterns of lines, the lines of a pattern."""
import json

from client import Folder, contains
from lib import Daemon, equal, run
from report import report

HEADER = "TimeBase = Manual\n@Marker, Time, Message, Payload\n@RangePush, Time, Message, Payload\n" \
         "@RangePop, Time\n"


def quoted(text):
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "\\'")


def send_lines(daemon, lines, **hello):
    """Sends (time, level or '', message) as a log in a session with levels."""
    text = HEADER + "".join("Marker, %d, %s, %s\n" % (time, quoted(message), level if level != "" else "''")
                            for time, level, message in lines)
    with daemon.session(**{"levels": True, **hello}) as session:
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


if __name__ == "__main__":
    run(globals())
