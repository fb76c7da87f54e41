# SPDX-License-Identifier: Apache-2.0
"""Levels of logs: from a line to the store, its view, and what nvtxt-export takes of it."""
import json
import os

from client import Folder, Running, contains, run_client
from lib import Daemon, equal, rows, run, wait_for

ID = "0c8a4e1c-5b0e-4d0b-93a5-7d0ff7d2c611"
HEADER = "TimeBase = Manual\n@Marker, Time, Message, Payload\n"
LEVELS = "SELECT message, payload, level FROM NVTXT_TIMELINE ORDER BY eventRow"


# ---- Sessions -------------------------------------------------------------------------------------

def test_a_session_has_levels_through_a_resume_a_restart_and_a_rotation():
    with Daemon() as daemon, Folder() as folder:
        with daemon.session(ID, levels=True) as session:
            session.send(HEADER + "Marker, 1, 'a', 3\nMarker, 2, 'b', ''\nMarker, 3, 'c', 8\n"
                         "Marker, 4, 'd', '3.0'\nMarker, 5, 'e', 'x'\n"
                         "RangePush, 6, Manual, 1, 1, 0, 0, 'range', 3\nRangePop, 7, Manual, 1, 1\n")
            equal([one["code"] for one in session.ack(9)], ["bad-payload"])
        equal(daemon.query("SELECT levels FROM NVTXT_SOURCES"), [(1,)])
        first = [("a", 3, "err"), ("b", None, None), ("c", 8, None), ("d", 3.0, None), ("range", 3, None)]
        equal(daemon.query(LEVELS), first)
        equal([row[1] for row in daemon.query("PRAGMA table_info(NVTXT_TIMELINE)")][-2:],
              ["eventRow", "level"])
        merged = folder.name("merged")
        text = folder.write("more.nvtxt", HEADER + "Marker, 1, 'more', 3\n")
        equal(run_client("nvtxt-import", "merge", "-i", daemon.store, "-n", text, "-o", merged, "-q")[:2],
              (0, ""))
        equal(rows(merged, LEVELS), first + [("more", 3, None)])
        daemon.stop()
        daemon.start()
        daemon.control("rotate")
        with daemon.session(ID) as session:
            session.send("Marker, 8, 'f', 0\nMarker, 9, 'g', ''\n#nvtxt-end\n")
            equal(session.ack(11), [])
        equal(daemon.query("SELECT levels FROM NVTXT_SOURCES"), [(1,)])
        equal(daemon.query(LEVELS), [("f", 0, "emerg"), ("g", None, None)])


def test_without_levels_a_payload_is_none():
    with Daemon() as daemon:
        with daemon.session(ID) as session:
            session.send(HEADER + "Marker, 1, 'a', 3\nMarker, 2, 'b', ''\n#nvtxt-end\n")
            equal([one["code"] for one in session.ack(4)], ["bad-payload"])
        equal(daemon.query("SELECT levels FROM NVTXT_SOURCES"), [(None,)])
        equal(daemon.query(LEVELS), [("a", 3, None)])


# ---- Logs -----------------------------------------------------------------------------------------

LOG = "ERROR a\nplain\n<34>b\nwarn: c\nTraceback (most recent call last):\nTypeError: d\nINFO e\n"
OF_LOG = [("ERROR a", 3, "err"), ("plain", None, None), ("<34>b", 2, "crit"), ("warn: c", 4, "warning"),
          ("Traceback (most recent call last):", 3, "err"), ("TypeError: d", 3, "err"), ("INFO e", 6, "info")]


def send(daemon, *args, **more):
    return run_client("nvtxt-send", "--socket", daemon.socket, *args, **more)


def test_lines_of_a_log_have_levels():
    with Daemon() as daemon:
        equal(send(daemon, "--text", stdin=LOG), (0, "", ""))
        equal(daemon.query(LEVELS), OF_LOG)
        equal(daemon.query("SELECT lines, errors, levels FROM NVTXT_SOURCES"), [(7, 0, 1)])


def test_pieces_of_a_line_have_its_level_and_its_time():
    with Daemon(config="MaxLine = 4096\n") as daemon, \
            Running("nvtxt-send", "--socket", daemon.socket, "--text") as client:
        client.say("ERROR " + "x" * 100000)
        wait_for(lambda: daemon.query("SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 34")[0][0] > 20,
                 "pieces are stored")
        client.say("x" * 50000 + "\n")
        client.close()
        client.expect(0)
        equal(daemon.query("SELECT DISTINCT level FROM NVTXT_TIMELINE"), [("err",)])
        (pieces, times), = daemon.query("SELECT count(*), count(DISTINCT start) FROM NVTXT_TIMELINE")
        equal((pieces > 36, times), (True, 1))


def test_a_repeated_log_and_one_of_a_spool_keep_their_levels():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("app.log", LOG)
        for _ in range(2):
            equal(send(daemon, "--text", "--session", ID, path), (0, "", ""))
        equal(daemon.query(LEVELS), OF_LOG)
        daemon.stop()
        spool = folder.name("spool")
        equal(send(daemon, "--text", "--spool", spool, path)[0], 0)
        daemon.start()
        equal(send(daemon, "--resume", spool)[0], 0)
        equal(daemon.query(LEVELS), 2 * OF_LOG)
        equal(daemon.query("SELECT levels FROM NVTXT_SOURCES"), [(1,), (1,)])


def test_lines_of_a_command_have_levels_and_its_range_has_its_status():
    with Daemon() as daemon:
        equal(send(daemon, "--", "sh", "-c", "echo ERROR a; echo b; exit 3")[0], 3)
        equal(daemon.query("SELECT message, payload, level FROM NVTXT_TIMELINE WHERE kind = 'mark' "
                           "ORDER BY eventRow"), [("ERROR a", 3, "err"), ("b", None, None)])
        equal(daemon.query("SELECT payload, level FROM NVTXT_TIMELINE WHERE kind <> 'mark'"), [(3, None)])


# ---- Logs without --text ----------------------------------------------------------------------------

def test_a_file_that_is_a_log_is_not_sent_as_nvtxt():
    with Daemon() as daemon, Folder() as folder:
        path = folder.write("app.log", LOG)
        for args in ((), ("-q",), ("--spool", folder.name("spool"))):
            equal(send(daemon, *args, path), (65, "", "nvtxt-send: %s: no line of its beginning is NVTXT: "
                                                      "is it a log? use --text\n" % path))
        equal(os.path.exists(folder.name("spool")), False)
        equal(send(daemon, "--session-name", "log", path)[0], 65)
        equal(daemon.query("SELECT count(*) FROM NVTXT_SOURCES"), [(0,)])
        few = folder.write("few.nvtxt", "bad\n" * 5 + "x = 1\n")
        equal(send(daemon, "-q", few), (1, "", ""))
        equal(send(daemon, folder.write("empty", "# c\n"))[0], 0)


def test_a_log_on_standard_input_is_warned_of_once():
    with Daemon() as daemon:
        for text in (LOG, "some line of a log\n" * 10000):
            status, _, err = send(daemon, stdin=text)
            equal((status, err.count("<stdin>: no line of its beginning is NVTXT: is it a log? use --text\n")),
                  (1, 1))
        equal(daemon.query("SELECT lines, errors FROM NVTXT_SOURCES"), [(7, 7), (10000, 10000)])
        equal("is it a log" in send(daemon, stdin="bad\nx = 1\n")[2], False)
        equal(send(daemon, "-q", stdin=LOG), (1, "", ""))


# ---- Exports --------------------------------------------------------------------------------------

def test_an_export_takes_a_level_and_worse():
    with Daemon() as daemon:
        daemon.send(HEADER + "Marker, 1, 'not of a log', 3\n")
        equal(send(daemon, "--text", stdin=LOG), (0, "", ""))

        def export(*args, form="jsonl"):
            status, out, err = run_client("nvtxt-export", "--store", daemon.store, "--format", form, "-q", *args)
            equal((status, err), (0, ""))
            return out

        def messages(*args):
            return [json.loads(line)["message"] for line in export(*args).splitlines()]

        bad = ["ERROR a", "<34>b", "Traceback (most recent call last):", "TypeError: d"]
        equal(messages("--level", "err"), bad)
        equal(messages("--level", "Error"), bad)
        equal(messages("--level", "crit"), ["<34>b"])
        equal(messages("--level", "warn"), bad[:2] + ["warn: c"] + bad[2:])
        equal(len(messages("--level", "debug")), 6)
        equal(messages("--level", "4..warn"), ["warn: c"])
        equal(len(messages()), 8)
        equal([json.loads(line).get("level") for line in export().splitlines()][:4],
              [None, "err", None, "crit"])
        table = [line.split(",") for line in export(form="csv").splitlines()]
        at = table[0].index("level")
        equal(table[0][at - 1:at + 2], ["eventRow", "level", "endGlobalTid"])
        equal([row[at] for row in table[1:]], ["", "err", "", "crit", "warning", "err", "err", "info"])
        status, _, err = run_client("nvtxt-export", "--store", daemon.store, "--format", "csv", "--level", "bad")
        equal(status, 64)
        contains(err, "there is no level 'bad'")


if __name__ == "__main__":
    run(globals())
