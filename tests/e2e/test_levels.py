# SPDX-License-Identifier: Apache-2.0
"""Levels of logs: from a line to the store, its view, and what nvtxt-export takes of it."""
from client import Folder, run_client
from lib import Daemon, equal, rows, run

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


if __name__ == "__main__":
    run(globals())
